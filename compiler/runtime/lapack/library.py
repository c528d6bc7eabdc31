"""LAPACK's routines from SciPy: Fortran functions, called with the address of every argument."""
from __future__ import annotations

import ctypes
import functools
import importlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from kc.runtime.errors import ExecutionError

Array = np.ndarray[Any, Any]
_TYPES = {"s": np.float32, "d": np.float64, "c": np.complex64, "z": np.complex128}

_capsule_name = ctypes.pythonapi.PyCapsule_GetName
_capsule_name.restype, _capsule_name.argtypes = ctypes.c_char_p, (ctypes.py_object,)
_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype, _capsule_pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)


@functools.cache
def routine(name: str, library: str = "lapack") -> Any:
    """A routine of LAPACK (``dgetrf``) or of ``blas`` as a ctypes function; raises ``ExecutionError`` without SciPy."""
    try:
        exported = importlib.import_module(f"scipy.linalg.cython_{library}")
    except ImportError as error:
        raise ExecutionError(
            f"{library.upper()}'s {name} comes from SciPy, which cannot be imported ({error}): pip install 'kc[linalg]'"
        ) from None
    capsule = exported.__pyx_capi__[name]
    signature = _capsule_name(capsule)
    count = signature.count(b",") + 1
    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * count)(_capsule_pointer(capsule, signature))


def call(name: str, *arguments: bytes | int | Array | None) -> int:
    """Calls a routine whose last argument is ``info``, which it gives back. Bytes are characters, ints are passed by
    address, arrays are Fortran's (columns are contiguous)."""
    info = ctypes.c_int(0)
    keep: list[Any] = []
    passed: list[Any] = []
    for argument in arguments:
        if isinstance(argument, np.ndarray):
            passed.append(argument.ctypes.data)
            continue
        if argument is None:
            passed.append(None)
            continue
        box = ctypes.c_char(argument) if isinstance(argument, bytes) else ctypes.c_int(argument)
        keep.append(box)
        passed.append(ctypes.addressof(box))
    routine(name)(*passed, ctypes.addressof(info))
    return info.value


def with_workspace(name: str, *arguments: bytes | int | Array | None, dtype: Any) -> int:
    """``call`` of a routine whose last arguments are ``work, lwork, info``: asks for the best size first."""
    query = np.zeros(1, dtype)
    info = call(name, *arguments, query, -1)
    if info:
        return info
    size = max(1, int(query[0].real))
    return call(name, *arguments, np.empty(size, dtype), size)


def dtype_of(prefix: str) -> Any:
    """NumPy's type for LAPACK's letter."""
    return _TYPES[prefix]


def real_of(prefix: str) -> Any:
    """The type of the real numbers that belong to LAPACK's letter."""
    return {"s": np.float32, "d": np.float64, "c": np.float32, "z": np.float64}[prefix]


def letter(attributes: Any, name: str, default: str) -> bytes:
    """An option of LAPACK, which JAX passes as the number of the character."""
    value = attributes.get(name, ord(default))
    return bytes([int(value)]) if not isinstance(value, str) else value.encode()


def split(name: str) -> tuple[str, str]:
    """``lapack_dgetrf_ffi`` to ("d", "getrf")."""
    core = name.removeprefix("lapack_").removesuffix("_ffi")
    return core[0], core[1:]


def leading(rows: int) -> int:
    """The leading dimension of a matrix with so many rows."""
    return max(1, rows)


def stack(*arrays: tuple[Array, int]) -> Iterator[list[Array]]:
    """The members of stacks, one after the other: each array is given with the rank of its members.

    Members of arrays that are written have to be columns-first in memory, else they come as copies that are written
    back afterwards.
    """
    first, rank = arrays[0]
    for at in np.ndindex(first.shape[: first.ndim - rank]):
        views = [array[(*at, ...)] for array, _ in arrays]
        held = [v if v.flags.f_contiguous else np.asfortranarray(v) for v in views]
        yield held
        for view, used in zip(views, held, strict=True):
            if used is not view and view.flags.writeable:
                view[...] = used


def copy_in(outputs: Sequence[Array], inputs: Sequence[Array]) -> None:
    """Fill the first outputs with the inputs, which LAPACK overwrites; no copy where they are the same memory."""
    for output, given in zip(outputs, inputs, strict=False):
        if output.ctypes.data != given.ctypes.data or output.strides != given.strides:
            output[...] = given
