"""Changes of element type: convert, bitcast_convert, reduce_precision."""

from __future__ import annotations

import dataclasses

from .. import values
from ..builder import Builder
from ..facts import Facts, fits
from ..program import Value
from ..tensors import ALL_FLOATS, COMPLEX, FLOATS, INTEGERS, Tensor, bits, is_inexact, is_integer, precision

REAL = (*FLOATS, *INTEGERS, "i1")


def convert(b: Builder) -> None:
    x = b.any((*REAL, *ALL_FLOATS[4:], *COMPLEX))
    source = x.type.element
    targets = [t for t in (*REAL, *ALL_FLOATS[4:], *COMPLEX) if t != source]
    if source in COMPLEX:  # its imaginary part would be dropped, which the verifier forbids
        targets = [t for t in COMPLEX if t != source]
    target = b.c.one_of(targets)
    if is_inexact(source) and is_integer(target) and not (fits(x.facts, target) and not x.facts.nan):
        # out of range and NaN are left to the implementation (test_cases.py has what kc promises): clamp first
        x = _clamped(b, x.type)
    f = x.facts
    facts = dataclasses.replace(f, bits=False)
    if is_inexact(target):
        # a conversion is one rounding; kc keeps it even where it fuses (explicit pairs stay)
        if not fits(f, target):
            facts = dataclasses.replace(facts, mag=None, nan=True)
    elif target == "i1":
        facts = Facts(f.exact, 1)
    else:
        facts = Facts(f.exact, f.mag if is_integer(target) and fits(f, target) else None)
    b.op("convert", [x], x.type.of(target), facts, rounds=True)


def _clamped(b: Builder, t: Tensor) -> Value:
    return b.like(t, values.GRID, reuse=0) if not t.element.startswith("complex") else b.like(t)


def bitcast(b: Builder) -> None:
    """Bits as they are, to a type of the same, half or double width (exact programs only)."""
    kinds = ("f32", "i32", "ui32", "f64", "i64", "f16", "bf16", "i16", "i8", "ui8", "ui16", "ui64")
    x = b.any(kinds, suits=lambda v: v.facts.exact and (v.facts.bits or not is_inexact(v.type.element)))
    if is_inexact(x.type.element) and not x.facts.bits:
        return
    n = bits(x.type.element)
    options = [t for t in kinds if bits(t) in (n, n // 2, 2 * n) and t != x.type.element]
    target = b.c.one_of(options)
    m, shape = bits(target), x.type.shape
    if m < n:
        shape = (*shape, n // m)
    elif m > n:
        if not shape or shape[-1] != m // n or "?" in str(shape[-1]):
            return
        shape = shape[:-1]
    b.op("bitcast_convert", [x], Tensor(shape, target), Facts(True, None, nan=is_inexact(target)))


def reduce_precision(b: Builder) -> None:
    x = b.any(FLOATS)
    exponent, mantissa = b.c.integer(2, 8), b.c.integer(1, min(10, precision(x.type.element) - 1))
    attributes = f"exponent_bits = {exponent} : i32, mantissa_bits = {mantissa} : i32"
    f = x.facts
    b.op("reduce_precision", [x], x.type, Facts(f.exact, None, nan=True, bits=False), attributes, rounds=True)
