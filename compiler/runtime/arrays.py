"""Arrays coming in and results going out: what a call needs to know of them, and the NumPy side.

An argument is *adopted* (never copied unless it is not contiguous): ``View`` says where its bytes are and which
framework (``Kind``) it belongs to. Results are handed to the same framework, which frees them through the runtime.
"""
from __future__ import annotations

import ctypes
import dataclasses
import math
import sys
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

import numpy as np

from kc.runtime import dtypes
from kc.runtime.errors import ArgumentError, ExecutionError
from kc.runtime.library import last_error, library
from kc.runtime.signature import Spec, describe_argument

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

CPU, CUDA = "cpu", "cuda"


@dataclasses.dataclass(frozen=True, slots=True)
class Result:
    """A buffer that the program handed over.

    ``strides`` in elements, ``None``: row-major; ``stream``: the one on which it becomes ready (CUDA).
    """

    dtype: dtypes.DType
    base: int
    data: int
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None
    device_type: str = CPU
    device: int = 0
    stream: int = 0

    def free(self) -> None:
        if self.device_type == CPU:
            library().kc_free(self.base)
        else:
            library().kc_gpu_free(self.device, self.stream, self.base)


class Kind(Protocol):
    """A framework whose arrays callers pass."""

    name: str

    def stream(self, device: int) -> int | None:
        """The CUDA stream its work is on now; ``None``: it has none to share, use the runtime's and wait for it."""
        ...

    def wrap(self, result: Result) -> Any:
        """The framework's array over a result's buffer, which it owns from here on."""
        ...


@dataclasses.dataclass(slots=True)
class View:
    """An argument's memory. ``keep`` is what has to live while the call uses it."""

    kind: Kind
    dtype: dtypes.DType | None  # None: an element type that kc does not have; dtype_text says which
    dtype_text: str
    shape: tuple[int, ...]
    pointer: int
    keep: object
    device_type: str = CPU
    device: int = 0


def _probe_data_offset() -> int | None:
    """Where ``PyArrayObject`` keeps its data pointer: right after the object header, in every NumPy so far.

    ``None`` if a look at two arrays does not confirm it. Reading it there takes a tenth of the time that
    ``__array_interface__`` takes (3 µs on a slow core), and is most of the cost of a small call.
    """
    offset = object.__basicsize__
    for probe in (np.zeros((3, 5), np.float32), np.arange(7)):
        if ctypes.c_size_t.from_address(id(probe) + offset).value != probe.__array_interface__["data"][0]:
            return None
    return offset


DATA_OFFSET = _probe_data_offset()
word_at = ctypes.c_size_t.from_address


def data_pointer(array: NDArray[Any]) -> int:
    """The address of an array's first element."""
    if DATA_OFFSET is None:
        return int(array.__array_interface__["data"][0])
    return word_at(id(array) + DATA_OFFSET).value


class NumpyKind:
    """NumPy arrays and Python scalars."""

    name = "numpy"

    def stream(self, device: int) -> int | None:
        return None

    def wrap(self, result: Result) -> NDArray[Any]:
        if result.device_type == CUDA:
            return _download(result)
        return own_array(result.dtype, result.base, result.data, result.shape, result.strides)


NUMPY = NumpyKind()

_buffer_types: dict[int, type] = {}


def _buffer_type(nbytes: int) -> type:
    """A ctypes array of ``nbytes`` whose instances, made by ``from_address``, free that address when they die."""
    found = _buffer_types.get(nbytes)
    if found is None:
        if len(_buffer_types) >= 512:
            _buffer_types.clear()

        free, address = library().kc_free, ctypes.addressof  # at exit the module's globals go before the last arrays

        def release(self: Any) -> None:
            free(self.base or address(self))

        found = type("KcBuffer", (ctypes.c_char * max(nbytes, 1),), {"__del__": release, "base": None})
        _buffer_types[nbytes] = found
    return found


def contiguous_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Row-major strides in elements."""
    strides = []
    step = 1
    for size in reversed(shape):
        strides.append(step)
        step *= size
    return tuple(reversed(strides))


def _extent(shape: tuple[int, ...], strides: tuple[int, ...]) -> int:
    """Elements from the first to the last of an array that is not empty."""
    return 1 + sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True))


def own_array(
    dtype: dtypes.DType, base: int, data: int, shape: tuple[int, ...], strides: tuple[int, ...] | None
) -> NDArray[Any]:
    """A NumPy array over runtime memory that it owns. ``strides`` in elements; ``None``: row-major."""
    extent = math.prod(shape)
    byte_strides = None
    if strides is not None and extent:
        byte_strides = tuple(stride * dtype.itemsize for stride in strides)
        extent = _extent(shape, strides)
    buffer = _buffer_type(extent * dtype.itemsize).from_address(data)  # type: ignore[attr-defined]
    if base != data:
        buffer.base = base
    return np.ndarray(shape, dtype.numpy, buffer, 0, byte_strides)


def _download(result: Result) -> NDArray[Any]:
    """Copies a device result into a NumPy array of its own, and frees the device memory."""
    dtype = result.dtype.numpy
    strides = result.strides if math.prod(result.shape) else None
    flat = np.empty(math.prod(result.shape) if strides is None else _extent(result.shape, strides), dtype)
    failed = library().kc_gpu_copy(result.device, result.stream, data_pointer(flat), result.data, flat.nbytes, 1)
    message = last_error() if failed else ""
    result.free()
    if failed:
        raise ExecutionError(message)
    if strides is None:
        return flat.reshape(result.shape)
    return np.ndarray(result.shape, dtype, flat, 0, tuple(stride * dtype.itemsize for stride in strides)).copy()


_adopters: dict[type, Callable[[Any, Spec, int], View]] = {}


def adopt(value: object, spec: Spec, index: int) -> View:
    """The view of an argument of any supported kind. Raises ``ArgumentError`` for what is no such array."""
    found = _adopters.get(type(value))
    if found is None:
        found = _adopter(value)
        if found is None:
            refuse(
                spec, index,
                f"got {type(value).__name__}, which is no array (NumPy, PyTorch and JAX arrays are taken, and objects "
                "with __dlpack__, __array_interface__ or __cuda_array_interface__; numpy.asarray makes one of a list)",
            )
        _adopters[type(value)] = found
    return found(value, spec, index)


def _adopter(value: object) -> Callable[[Any, Spec, int], View] | None:
    """The function that adopts arrays of this value's type."""
    if isinstance(value, np.ndarray):
        return adopt_numpy
    if isinstance(value, (bool, int, float, complex, np.generic)):
        return lambda value, spec, index: adopt_numpy(_from_scalar(value, spec, index), spec, index)
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        from kc.runtime import interop_torch

        return interop_torch.adopt
    jax = sys.modules.get("jax")
    if jax is not None and isinstance(value, jax.Array):
        from kc.runtime import interop_jax

        return interop_jax.adopt
    if hasattr(value, "__cuda_array_interface__") or hasattr(value, "__dlpack__"):
        from kc.runtime import interop_dlpack

        return interop_dlpack.adopt
    if hasattr(value, "__array_interface__"):
        return lambda value, spec, index: adopt_numpy(np.asarray(value), spec, index)
    return None


def adopt_numpy(array: NDArray[Any], spec: Spec, index: int, kind: Kind = NUMPY) -> View:
    masked = sys.modules.get("numpy.ma")
    if masked is not None and isinstance(array, masked.MaskedArray):
        refuse(spec, index, "got a masked array; its mask would be lost (use .filled(value))")
    dtype = dtypes.of_numpy(array.dtype)
    text = dtype.name if dtype else f"{array.dtype} (byte order {array.dtype.byteorder})"
    shape = array.shape
    if dtype is not None:
        if dtype.is_narrow:
            # Machine code wants zeros above the value (and leaves them); ml_dtypes also takes copies of the sign.
            array = np.ascontiguousarray(array).view(np.uint8) & ((1 << dtype.bits) - 1)
        elif not (array.flags.c_contiguous and array.flags.aligned):
            array = array.copy(order="C")
    return View(kind, dtype, text, shape, data_pointer(array), array)


def _from_scalar(value: bool | int | float | complex | np.generic, spec: Spec, index: int) -> NDArray[Any]:
    """A Python or NumPy number as an array of rank 0 of the type that the argument has."""
    if isinstance(value, np.generic):
        return np.asarray(value)
    kinds: dict[type, tuple[int, ...]] = {
        bool: (dtypes.BOOL,),
        int: (dtypes.INT, dtypes.UINT, dtypes.FLOAT, dtypes.BFLOAT, dtypes.COMPLEX),
        float: (dtypes.FLOAT, dtypes.BFLOAT, dtypes.COMPLEX),
        complex: (dtypes.COMPLEX,),
    }
    kind = next(kind for kind in (bool, int, float, complex) if isinstance(value, kind))
    if spec.shape != ():
        refuse(spec, index, f"got the Python number {value!r}; only arguments of rank 0 take one")
    if spec.dtype.code not in kinds[kind] and not (spec.dtype.is_small_float and kind in (int, float)):
        refuse(spec, index, f"got the Python {kind.__name__} {value!r}")
    if kind is int and spec.dtype.code in (dtypes.INT, dtypes.UINT):
        low = -(1 << (spec.dtype.bits - 1)) if spec.dtype.code == dtypes.INT else 0
        if not low <= value < low + (1 << spec.dtype.bits):  # type: ignore[operator]
            refuse(spec, index, f"got {value!r}, which it cannot hold")
    return np.array(value, spec.dtype.numpy)


def refuse(spec: Spec, index: int, got: str) -> NoReturn:
    raise ArgumentError(f"{describe_argument(index, spec)}: expected {spec}, {got}", index, spec.name)
