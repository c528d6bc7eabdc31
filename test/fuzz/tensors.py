"""Types of the fuzzer's programs: shapes whose dimensions may be unknown to the compiler, and element types."""

from __future__ import annotations

import dataclasses
import functools
import math

import ml_dtypes
import numpy as np


class Dyn(int):
    """A size that the oracle sees and the compiled module does not: ``?`` in its types."""

    def __repr__(self) -> str:
        return f"?{int(self)}"

    __str__ = __repr__


@dataclasses.dataclass(frozen=True)
class Tensor:
    """A tensor type. ``str`` writes an unknown dimension as ``?size``, see ``program.render``."""

    shape: tuple[int, ...]
    element: str

    def __str__(self) -> str:
        return f"tensor<{''.join(f'{n!s}x' for n in self.shape)}{self.element}>"

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    def of(self, element: str) -> Tensor:
        """The same shape with another element type."""
        return Tensor(self.shape, element)

    def shaped(self, *shape: int) -> Tensor:
        """The same element type with another shape."""
        return Tensor(tuple(shape), self.element)


def same(a: Tensor, b: Tensor) -> bool:
    """Equal to the compiler too: unknown dimensions stand in the same places."""
    return str(a) == str(b)


SIGNED = ("i32", "i64", "i8", "i16", "i4", "i2")
UNSIGNED = ("ui32", "ui8", "ui64", "ui16", "ui4", "ui2")
INTEGERS = SIGNED + UNSIGNED
WIDE_FLOATS = ("f32", "f64")
HALVES = ("bf16", "f16")
FLOATS8 = (
    "f8E4M3FN",
    "f8E5M2",
    "f8E4M3FNUZ",
    "f8E5M2FNUZ",
    "f8E4M3B11FNUZ",
    "f8E3M4",
    "f8E4M3",
)
FLOATS = WIDE_FLOATS + HALVES
ALL_FLOATS = FLOATS + FLOATS8
COMPLEX = ("complex<f32>", "complex<f64>")
ARITHMETIC = FLOATS + INTEGERS + COMPLEX
REAL = FLOATS + INTEGERS
ELEMENTS = ("f32", "i32", "i1", "f64", "bf16", "f16", *INTEGERS[1:], *COMPLEX, *FLOATS8)

_NAMES = {"i1": "bool", "complex<f32>": "complex64", "complex<f64>": "complex128"}


@functools.cache
def dtype(element: str) -> np.dtype:
    """The NumPy type of an MLIR element type."""
    if element in _NAMES:
        return np.dtype(_NAMES[element])
    if element.startswith("f8"):
        return np.dtype(getattr(ml_dtypes, "float8_" + element[2:].lower()))
    if element == "bf16":
        return np.dtype(ml_dtypes.bfloat16)
    kind = "uint" if element.startswith("ui") else "int" if element[0] == "i" else "float"
    name = kind + element.lstrip("uif")
    return np.dtype(getattr(ml_dtypes, name)) if name in ("int4", "uint4", "int2", "uint2") else np.dtype(name)


def bits(element: str) -> int:
    """Bits of an element in ``bitcast_convert``'s sense."""
    if element in COMPLEX:
        return 2 * bits(part(element))
    if element.startswith("f8"):
        return 8
    return int("".join(c for c in element if c.isdigit()))


def part(element: str) -> str:
    """The type of a complex type's parts; any other type itself."""
    return element[len("complex<") : -1] if element in COMPLEX else element


def is_float(element: str) -> bool:
    return element in ALL_FLOATS


def is_integer(element: str) -> bool:
    return element in INTEGERS


def is_inexact(element: str) -> bool:
    """Whether the type rounds: real and complex floats."""
    return element in ALL_FLOATS or element in COMPLEX


@functools.cache
def finfo(element: str) -> ml_dtypes.finfo:
    return ml_dtypes.finfo(dtype(part(element)))


def unit_roundoff(element: str) -> float:
    """Relative error of one rounding to the type (of a part, if it is complex)."""
    return float(finfo(element).eps) / 2


def precision(element: str) -> int:
    """Bits of the significand, the hidden one counted."""
    return int(finfo(element).nmant) + 1


def limits(element: str) -> tuple[int, int]:
    """Smallest and largest value of an integer type."""
    n = bits(element)
    return (0, 2**n - 1) if element.startswith("ui") else (-(2 ** (n - 1)), 2 ** (n - 1) - 1)
