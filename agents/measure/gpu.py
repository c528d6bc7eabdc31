"""A GPU under measurement, through the CUDA driver: device arrays, events on kc's stream, full synchronisation, limits.

The events are recorded on the runtime's own stream, the one on which kc queues its work for arrays that belong to no
framework. Work that a program moves to another stream escapes the events, but not the synchronisation of the whole
context after which the host's clock is read (``kc.agents.measure.rounds`` compares the two).
"""
from __future__ import annotations

import ctypes
import math
import os
from typing import Any

import numpy as np

from kc.agents.measure.machine import Machine
from kc.runtime import cuda, dtypes
from kc.runtime.dlpack import DeviceArray
from kc.runtime.errors import DeviceError
from kc.runtime.library import library

# CUdevice_attribute of cuda.h
_CLOCK, _PROCESSORS, _MEMORY_CLOCK, _BUS_WIDTH, _L2_BYTES = 13, 16, 36, 37, 38
_MAJOR, _MINOR = 75, 76
#: compute capability -> operations per clock and multiprocessor: (f64, f32, narrowest type on the tensor cores), dense.
#: f64 and narrow are those of the tensor cores (CUDA C++ Programming Guide, throughput of native instructions; white
#: papers of A100, H100 and B200)
_RATES = {
    (8, 0): (256, 256, 4096), (8, 6): (4, 256, 2048), (8, 9): (4, 256, 4096), (9, 0): (256, 256, 8192),
    (10, 0): (128, 256, 32768),
}
#: tensor cores take f32 as tf32: half the rate of 16-bit numbers, which is half that of 8-bit ones
_TF32_SHARE = 0.25
#: bytes that a multiprocessor can read from the second-level cache in a clock
_L2_BYTES_PER_CLOCK = 128
#: before each window a GPU is kept busy so long (ns): one that has idled runs at a fraction of its clock
WAKE_NS = 3_000_000
#: the stream holds about a thousand entries; programs need room in it, too
MOST_FILLS = 500
#: clocks are told as they are at most; some drivers tell the base clock, which boost exceeds
_BOOST = 1.25


def _fills(spent: int, each: float) -> int:
    """How many fills of ``each`` ns take so many nanoseconds together."""
    return min(MOST_FILLS, math.ceil(spent / max(each, 1.0)))


class _Tensor(ctypes.Structure):
    """DLManagedTensor of dlpack.h."""

    _fields_ = (
        ("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device", ctypes.c_int32),
        ("rank", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.c_void_p), ("byte_offset", ctypes.c_uint64),
        ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p),
    )


_capsule = ctypes.pythonapi.PyCapsule_New
_capsule.restype = ctypes.py_object
_capsule.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)


class Uploaded:
    """An array in device memory that lends itself to the runtime as often as it is passed."""

    def __init__(self, array: np.ndarray[Any, Any], device: int, stream: int):
        found = dtypes.of_numpy(array.dtype)
        assert found is not None
        self.dtype, self.shape, self._place = array.dtype, array.shape, (device, stream)
        source = np.ascontiguousarray(array)
        self._buffer = cuda.Buffer(device, stream, source.ctypes.data, max(source.nbytes, 1))
        cuda.synchronize(device, stream)  # the source may go away now
        self._sizes = (ctypes.c_int64 * max(len(self.shape), 1))(*self.shape)
        self.pointer = self._buffer.pointer
        bits = 8 if found.code == dtypes.BOOL else found.bits
        self._tensor = _Tensor(
            self.pointer, 2, device, len(self.shape), found.code, bits, 1, self._sizes, None, 0, None, None
        )

    def __dlpack_device__(self) -> tuple[int, int]:
        return (2, self._place[0])

    def __dlpack__(self, **_: Any) -> object:
        """A capsule that owns nothing: this object does."""
        return _capsule(ctypes.addressof(self._tensor), b"dltensor", None)

    def download(self) -> np.ndarray[Any, Any]:
        """The bytes as they are now."""
        return _download(self._place, self.pointer, self.shape, self.dtype)


class Gpu:
    """See ``kc.agents.measure.serve.Host``, whose interface this is."""

    def __init__(self, device: int, flush: int):
        self._device, self._stream = device, cuda.own_stream(device)
        self._driver = _driver()
        context = ctypes.c_void_p()  # the runtime's, which it makes current only while it needs it
        self._call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self._call("cuCtxSetCurrent", context)
        self._scratch = Uploaded(np.zeros(flush, np.uint8), device, self._stream)
        self._events = (ctypes.c_void_p(), ctypes.c_void_p())
        for event in self._events:
            self._call("cuEventCreate", ctypes.byref(event), 0)
        self._fill_ns = math.inf
        self._fill_ns = min(self._timed_fill() for _ in range(3))

    def put(self, array: np.ndarray[Any, Any]) -> Uploaded:
        """The array in device memory."""
        return Uploaded(array, self._device, self._stream)

    def get(self, array: Any) -> np.ndarray[Any, Any]:
        """An array of the device, or a scalar of the host, in NumPy."""
        if isinstance(array, Uploaded):
            return array.download()
        if isinstance(array, DeviceArray):
            interface = array.__cuda_array_interface__
            pointer, kind = interface["data"][0], dtypes.by_name(array.dtype).numpy
            if any(s < 0 for s in interface["strides"]) or not _row_major(array.shape, interface["strides"], kind):
                raise DeviceError("a result that is not row-major cannot be compared")
            return _download((self._device, self._stream), pointer, array.shape, kind)
        return np.asarray(array)

    def finish(self, result: Any) -> Any:
        """The result: ``end`` waits for all of them."""
        return result

    def prepare(self) -> None:
        """Overwrite scratch memory, larger than the second-level cache, until the clocks have risen, and wait."""
        for _ in range(_fills(WAKE_NS, self._fill_ns)):
            self._fill()
        self._call("cuCtxSynchronize")

    def begin(self, ahead: int = 0) -> None:
        """Record the first event, after work that keeps the stream busy for about ``ahead`` nanoseconds.

        What a program queues in this time runs without a pause for the host: the events then tell the time of the
        device alone.
        """
        for _ in range(_fills(ahead, self._fill_ns)):
            self._fill()
        self._call("cuEventRecord", self._events[0], self._on_stream)

    def end(self) -> float:
        """Record the second event, wait for every stream of the context; nanoseconds between the events."""
        self._call("cuEventRecord", self._events[1], self._on_stream)
        self._call("cuCtxSynchronize")
        spent = ctypes.c_float()
        self._call("cuEventElapsedTime", ctypes.byref(spent), *self._events)
        return 1e6 * spent.value

    def _fill(self) -> None:
        """Queue the overwriting of scratch memory."""
        pointer, size = self._scratch.pointer, self._scratch.shape[0]
        if size:
            self._call("cuMemsetD8Async", ctypes.c_uint64(pointer), 0, ctypes.c_size_t(size), self._on_stream)

    def _timed_fill(self) -> float:
        """Nanoseconds that one ``_fill`` takes."""
        self.prepare()
        self._call("cuEventRecord", self._events[0], self._on_stream)
        self._fill()
        return self.end()

    @property
    def _on_stream(self) -> ctypes.c_void_p:
        return ctypes.c_void_p(self._stream)

    def _call(self, name: str, *arguments: Any) -> None:
        code = getattr(self._driver, name)(*arguments)
        if code:
            raise DeviceError(f"{name} gave CUDA error {code}")


def limits(device: int) -> Machine:
    """What the driver's attributes say that a GPU can do. Raises DeviceError for one that is not in the table."""
    gpu = cuda.describe(device)
    driver = _driver()

    def attribute(number: int) -> int:
        value = ctypes.c_int()
        if driver.cuDeviceGetAttribute(ctypes.byref(value), number, device):
            raise DeviceError(f"the driver does not tell attribute {number} of GPU {device}")
        return value.value

    rates = _RATES.get(gpu.capability)
    if rates is None:
        known = ", ".join(f"sm_{a}{b}" for a, b in _RATES)
        chip = "sm_{}{}".format(*gpu.capability)
        raise DeviceError(f"no roofline is known for {gpu.name} ({chip}); known: {known}")
    clocks = _BOOST * 1e3 * attribute(_CLOCK) * gpu.multiprocessors
    f64, f32, narrow = rates
    return Machine(
        gpu.name, 2 * 1e3 * attribute(_MEMORY_CLOCK) * attribute(_BUS_WIDTH) / 8, clocks * _L2_BYTES_PER_CLOCK,
        attribute(_L2_BYTES),
        {"f64": clocks * f64, "f32": clocks * max(f32, _TF32_SHARE * narrow), "narrow": clocks * narrow},
    )


def _row_major(shape: tuple[int, ...], strides: tuple[int, ...], kind: np.dtype[Any]) -> bool:
    step = kind.itemsize
    for size, stride in zip(reversed(shape), reversed(strides), strict=True):
        if size > 1 and stride != step:
            return False
        step *= size
    return True


def _download(
    place: tuple[int, int], pointer: int, shape: tuple[int, ...], kind: np.dtype[Any]
) -> np.ndarray[Any, Any]:
    found = np.empty(shape, kind)
    if found.nbytes and library().kc_gpu_copy(*place, found.ctypes.data, pointer, found.nbytes, 1):
        raise DeviceError("device memory could not be read")
    return found


def _driver() -> Any:
    """The CUDA driver that the runtime uses, with what the runtime itself does not need: events that keep time."""
    return ctypes.CDLL(os.environ.get("KC_LIBCUDA", "libcuda.so.1"))
