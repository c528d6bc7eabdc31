"""GPUs as the CUDA driver shows them, and device memory for a program's parameters and host-side arguments."""
from __future__ import annotations

import ctypes
import dataclasses
import re

from kc.runtime.errors import DeviceError, LoadError
from kc.runtime.library import last_error, library

HOST_TO_DEVICE, DEVICE_TO_HOST, DEVICE_TO_DEVICE = 0, 1, 2


@dataclasses.dataclass(frozen=True)
class Gpu:
    """One device. ``capability`` is (9, 0) for sm_90; ``driver`` the CUDA version it supports, (13, 0); ``memory`` in
    bytes."""

    index: int
    name: str
    capability: tuple[int, int]
    multiprocessors: int
    memory: int
    driver: tuple[int, int]


def device_count() -> int:
    """The number of CUDA devices. Raises ``DeviceError`` when there is no usable driver."""
    count: int = library().kc_gpu_count()
    if count < 0:
        raise DeviceError(last_error())
    return count


def describe(index: int) -> Gpu:
    """What the driver tells about a device. Raises ``DeviceError``."""
    name = ctypes.create_string_buffer(256)
    out = (ctypes.c_int64 * 4)()
    if library().kc_gpu_describe(index, name, len(name), out):
        raise DeviceError(last_error())
    version, capability, processors, memory = out
    return Gpu(
        index, name.value.decode(errors="replace"), divmod(capability, 10), processors, memory,
        (version // 1000, version % 1000 // 10),
    )


def check_chip(chip: str, device: int) -> None:
    """Raises ``LoadError`` when a device cannot run code for ``chip``, ``DeviceError`` when there is no such device.

    "sm_90a" is for that chip only, "sm_80" for all from there on.
    """
    match = re.fullmatch(r"sm_(\d+)(\d)([af]?)", chip)
    if match is None:
        return
    gpu = describe(device)
    wanted = (int(match[1]), int(match[2]))
    if gpu.capability < wanted or (match[3] == "a" and gpu.capability != wanted):
        major, minor = gpu.capability
        raise LoadError(f"this program is made for {chip}; GPU {device} ({gpu.name}) is sm_{major}{minor}")


def own_stream(device: int) -> int:
    """The runtime's own stream on a device. Raises ``DeviceError``."""
    stream = ctypes.c_void_p()
    if library().kc_gpu_own_stream(device, ctypes.byref(stream)):
        raise DeviceError(last_error())
    return stream.value or 0


def synchronize(device: int, stream: int) -> None:
    """Waits for a stream. Raises ``DeviceError``, also for a fault in the work that was waited for."""
    if library().kc_gpu_synchronize(device, stream):
        raise DeviceError(last_error())


class Buffer:
    """Device memory with a copy of host bytes; freed with the object."""

    def __init__(self, device: int, stream: int, source: int, nbytes: int) -> None:
        self._lib = library()
        self._place = (device, stream)
        self.pointer: int = self._lib.kc_gpu_alloc(device, stream, nbytes) or 0
        if not self.pointer or self._lib.kc_gpu_copy(device, stream, self.pointer, source, nbytes, HOST_TO_DEVICE):
            raise DeviceError(last_error())

    def __del__(self) -> None:
        if getattr(self, "pointer", 0):
            self._lib.kc_gpu_free(*self._place, self.pointer)
