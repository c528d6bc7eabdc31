"""Element types: one table from kc's names (those of MLIR) to NumPy, DLPack, torch and JAX.

Types narrower than a byte (i4, ui4, i2, ui2, f6, f4) take one byte per element, as ``ml_dtypes`` and MLIR's memrefs do.
i1 is NumPy's bool: a byte that is 0 or 1. ``numpy`` is imported when a NumPy type is first asked for.
"""
from __future__ import annotations

import dataclasses
import functools
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

# DLDataTypeCode of dlpack.h
INT, UINT, FLOAT, BFLOAT, COMPLEX, BOOL = 0, 1, 2, 4, 5, 6


@dataclasses.dataclass(frozen=True)
class DType:
    """An element type. ``bits`` are those of the value, ``itemsize`` the bytes it takes in an array."""

    name: str
    bits: int
    itemsize: int
    code: int  # DLPack
    numpy_name: str  # attribute of numpy, or of ml_dtypes
    torch_name: str | None = None  # attribute of torch; None: torch has no such type

    @property
    def is_narrow(self) -> bool:
        """Whether a value has fewer bits than its byte in memory (i4, f6 …; not i1, whose byte is 0 or 1)."""
        return self.bits < 8 and self.code != BOOL

    @property
    def is_small_float(self) -> bool:
        return self.code >= 7

    @functools.cached_property
    def numpy(self) -> np.dtype[Any]:
        """The NumPy type. Raises ``ImportError`` when it is one of ml_dtypes and that is not installed."""
        import numpy as np

        if self.numpy_name in _NUMPY:
            return np.dtype(self.numpy_name)
        try:
            import ml_dtypes
        except ImportError as error:
            raise ImportError(f"arrays of {self.name} in NumPy need the package ml_dtypes") from error
        return np.dtype(getattr(ml_dtypes, self.numpy_name))


_NUMPY = frozenset((
    "float64", "float32", "float16", "int64", "int32", "int16", "int8", "uint64", "uint32", "uint16", "uint8", "bool",
    "complex64", "complex128",
))

_TABLE = (
    DType("f64", 64, 8, FLOAT, "float64", "float64"),
    DType("f32", 32, 4, FLOAT, "float32", "float32"),
    DType("f16", 16, 2, FLOAT, "float16", "float16"),
    DType("bf16", 16, 2, BFLOAT, "bfloat16", "bfloat16"),
    DType("f8E3M4", 8, 1, 7, "float8_e3m4"),
    DType("f8E4M3", 8, 1, 8, "float8_e4m3"),
    DType("f8E4M3B11FNUZ", 8, 1, 9, "float8_e4m3b11fnuz"),
    DType("f8E4M3FN", 8, 1, 10, "float8_e4m3fn", "float8_e4m3fn"),
    DType("f8E4M3FNUZ", 8, 1, 11, "float8_e4m3fnuz", "float8_e4m3fnuz"),
    DType("f8E5M2", 8, 1, 12, "float8_e5m2", "float8_e5m2"),
    DType("f8E5M2FNUZ", 8, 1, 13, "float8_e5m2fnuz", "float8_e5m2fnuz"),
    DType("f8E8M0FNU", 8, 1, 14, "float8_e8m0fnu", "float8_e8m0fnu"),
    DType("f6E2M3FN", 6, 1, 15, "float6_e2m3fn"),
    DType("f6E3M2FN", 6, 1, 16, "float6_e3m2fn"),
    DType("f4E2M1FN", 4, 1, 17, "float4_e2m1fn"),
    DType("i64", 64, 8, INT, "int64", "int64"),
    DType("i32", 32, 4, INT, "int32", "int32"),
    DType("i16", 16, 2, INT, "int16", "int16"),
    DType("i8", 8, 1, INT, "int8", "int8"),
    DType("i4", 4, 1, INT, "int4"),
    DType("i2", 2, 1, INT, "int2"),
    DType("i1", 1, 1, BOOL, "bool", "bool"),
    DType("ui64", 64, 8, UINT, "uint64", "uint64"),
    DType("ui32", 32, 4, UINT, "uint32", "uint32"),
    DType("ui16", 16, 2, UINT, "uint16", "uint16"),
    DType("ui8", 8, 1, UINT, "uint8", "uint8"),
    DType("ui4", 4, 1, UINT, "uint4"),
    DType("ui2", 2, 1, UINT, "uint2"),
    DType("complex64", 64, 8, COMPLEX, "complex64", "complex64"),
    DType("complex128", 128, 16, COMPLEX, "complex128", "complex128"),
)

_BY_NAME = {dtype.name: dtype for dtype in _TABLE}
_BY_NAME |= {f"u{bits}": _BY_NAME[f"ui{bits}"] for bits in (64, 32, 16, 8, 4, 2)}
_BY_NAME |= {
    "index": _BY_NAME["i64"],
    "bool": _BY_NAME["i1"],
    "complex<f32>": _BY_NAME["complex64"],
    "complex<f64>": _BY_NAME["complex128"],
}
_BY_NUMPY_NAME = {dtype.numpy_name: dtype for dtype in _TABLE}
_BY_CODE = {(dtype.code, 8 if dtype.code == BOOL else dtype.bits): dtype for dtype in _TABLE}


def by_name(name: str) -> DType:
    """The type of a name in kc's spelling (``f32``, ``ui8``, ``complex64``) or MLIR's (``complex<f32>``, ``index``).

    Raises ``KeyError`` with the list of names for any other.
    """
    try:
        return _BY_NAME[name]
    except KeyError:
        raise KeyError(f"unknown element type {name!r}; known: {', '.join(_BY_NAME)}") from None


@functools.lru_cache(maxsize=256)
def of_numpy(dtype: np.dtype[Any]) -> DType | None:
    """The type of a NumPy dtype in native byte order; ``None`` when kc has none (strings, records …)."""
    return _BY_NUMPY_NAME.get(dtype.name) if dtype.isnative else None


def of_dlpack(code: int, bits: int, lanes: int) -> DType | None:
    """The type of a DLPack triple; ``None`` when kc has none."""
    return _BY_CODE.get((code, bits)) if lanes == 1 else None


def all_types() -> tuple[DType, ...]:
    """Every type, widest floats first."""
    return _TABLE
