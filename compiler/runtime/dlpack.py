"""DLPack (https://dmlc.github.io/dlpack/latest/): reading other frameworks' capsules, making our own."""
from __future__ import annotations

import ctypes
import functools
from typing import Any

from kc.runtime import dtypes
from kc.runtime.arrays import CPU, CUDA, Kind, Result, View, contiguous_strides, refuse
from kc.runtime.library import last_error, library
from kc.runtime.signature import Spec

_CPU_TYPES = {1, 3}  # host, pinned host
_CUDA_TYPES = {2, 13}  # device, managed


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device", ctypes.c_int32),
        ("rank", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype = ctypes.py_object
_new_capsule.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype = ctypes.c_void_p
_capsule_pointer.argtypes = (ctypes.py_object, ctypes.c_char_p)


def _strides(result: Result) -> tuple[int, ...]:
    return result.strides or contiguous_strides(result.shape)


@functools.cache
def _destructor() -> ctypes.c_void_p:
    return ctypes.cast(library().kc_dlpack_capsule_destructor, ctypes.c_void_p)


class Exported:
    """A result on its way to another framework: gives its buffer away once, by ``__dlpack__``."""

    def __init__(self, result: Result, dtype: dtypes.DType | None = None) -> None:
        self._result: Result | None = result
        self._device = (1, 0) if result.device_type == CPU else (2, result.device)
        self._dtype = dtype or result.dtype

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._device

    def __dlpack__(self, *, stream: int | None = None, **_: Any) -> object:
        """A capsule with the unversioned struct, which every consumer has to take (keyword arguments of later versions
        of the protocol are requests). ``stream`` is made to wait for the result."""
        result = self._result
        if result is None:
            raise BufferError("this result has been given away")
        lib = library()
        if result.device_type == CUDA and stream not in (None, -1):  # -1 asks for no synchronisation
            waiting = 0 if stream == 1 else stream  # the protocol's 1 is the driver's legacy default stream
            if waiting != result.stream and lib.kc_gpu_stream_wait(result.device, waiting, result.stream):
                raise BufferError(last_error())
        rank = len(result.shape)
        dims = ctypes.c_int64 * max(rank, 1)
        bits = 8 if self._dtype.code == dtypes.BOOL else self._dtype.bits
        tensor = lib.kc_dlpack_new(
            result.base, result.data, rank, dims(*result.shape), dims(*_strides(result)), self._dtype.code, bits,
            self._device[0], self._device[1], result.stream,
        )
        if not tensor:
            raise MemoryError("no memory for a DLPack tensor")
        self._result = None
        return _new_capsule(tensor, b"dltensor", _destructor())

    def __del__(self) -> None:
        if self._result is not None:
            self._result.free()


class DeviceArray(Exported):
    """A result on a GPU for a caller whose library has no ``from_dlpack``: shape, dtype, and the two protocols."""

    def __init__(self, result: Result) -> None:
        super().__init__(result)
        self.shape = result.shape
        self.dtype = result.dtype.name

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        result = self._result
        if result is None:
            raise BufferError("this result has been given away")
        size = result.dtype.itemsize
        return {
            "shape": result.shape,
            "typestr": result.dtype.numpy.str,
            "data": (result.data, False),
            "strides": tuple(stride * size for stride in _strides(result)),
            "stream": result.stream or 1,
            "version": 3,
        }


def device_of(pointer: int) -> int:
    """The CUDA device that an address belongs to."""
    device = library().kc_gpu_pointer_device(pointer)
    return int(device) if device >= 0 else 0


def adopt(value: Any, kind: Kind, spec: Spec, index: int) -> View:
    """The view of an array with the DLPack protocol."""
    device_type, device = value.__dlpack_device__()
    if device_type not in _CPU_TYPES | _CUDA_TYPES:
        refuse(spec, index, f"got an array on a device of DLPack type {int(device_type)}")
    on_gpu = device_type in _CUDA_TYPES
    try:
        if on_gpu:
            stream = kind.stream(device)
            if stream is None:
                holder = ctypes.c_void_p()
                if library().kc_gpu_own_stream(device, ctypes.byref(holder)):
                    refuse(spec, index, f"got an array on a GPU that the runtime cannot use ({last_error()})")
                stream = holder.value or 0
            capsule = value.__dlpack__(stream=stream or 1)
        else:
            capsule = value.__dlpack__()
    except (BufferError, TypeError, RuntimeError) as error:
        refuse(spec, index, f"got an array that does not export its memory ({error})")
    address = _capsule_pointer(capsule, b"dltensor")
    tensor = _Tensor.from_address(address)
    shape = tuple(tensor.shape[: tensor.rank])
    if tensor.strides and 0 not in shape:
        strides = tensor.strides[: tensor.rank]
        if any(s > 1 and a != b for s, a, b in zip(shape, strides, contiguous_strides(shape), strict=True)):
            refuse(spec, index, "got an array that is not contiguous")
    dtype = dtypes.of_dlpack(tensor.code, tensor.bits, tensor.lanes)
    text = dtype.name if dtype else f"DLPack type (code {tensor.code}, {tensor.bits} bits, {tensor.lanes} lanes)"
    if dtype is not None and dtype.is_narrow:
        refuse(spec, index, f"got {text} by DLPack, which packs it; pass a NumPy array")
    # The capsule is not consumed: it frees its tensor when it dies, after the call.
    pointer = (tensor.data or 0) + tensor.byte_offset
    return View(kind, dtype, text, shape, pointer, capsule, CUDA if on_gpu else CPU, device if on_gpu else 0)
