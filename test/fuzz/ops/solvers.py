"""fft, triangular_solve and cholesky: inexact programs only."""

from __future__ import annotations

import math

import numpy as np

from ..builder import Builder, generic, ints
from ..facts import Facts
from ..tensors import COMPLEX, Dyn, Tensor, dtype, part

_ROUNDED = Facts(False, None, nan=True, bits=False)


def fft(b: Builder) -> None:
    kind = b.c.one_of(("FFT", "IFFT", "RFFT", "IRFFT"))
    elements = ("f32", "f64") if kind == "RFFT" else COMPLEX
    x = b.any(elements, (1, 4), least=1)
    if any(isinstance(n, Dyn) for n in x.type.shape):
        return
    k = b.c.integer(1, min(3, x.type.rank))
    lengths = [int(n) for n in x.type.shape[-k:]]
    shape = [int(n) for n in x.type.shape]
    element = x.type.element
    if kind == "RFFT":
        shape[-1] = lengths[-1] // 2 + 1
        element = f"complex<{element}>"
    if kind == "IRFFT":
        last = 2 * (lengths[-1] - 1) + b.c.integer(0, 1)
        if last <= 0:
            return
        lengths[-1] = shape[-1] = last
        element = part(element)
    t = Tensor(tuple(shape), element)
    if "f32" in element:
        b.low_ok = False  # the interpreter ends in "Semantics mismatch"
    attributes = f"fft_type = #stablehlo<fft_type {kind}>, fft_length = {ints(lengths)}"
    b.op("fft", [x], t, _ROUNDED, attributes, rounds=True, shake=math.sqrt(math.prod(lengths)))


def triangular_solve(b: Builder) -> None:
    element = b.c.one_of(("f32", "f64", *COMPLEX))
    n, m = b.c.one_of((2, 1, 3, 5, 9)), b.c.one_of((1, 2, 4))
    batch = [b.c.one_of((2, 1, 3)) for _ in range(b.c.integer(0, 2))]
    left, lower, unit = b.c.chance(50), b.c.chance(50), b.c.chance(30)
    rng = np.random.default_rng(b.c.integer(0, 2**16))
    a = rng.uniform(-1, 1, (*batch, n, n)) / n
    if element in COMPLEX:
        a = a + 1j * rng.uniform(-1, 1, a.shape) / n
    a[..., range(n), range(n)] = 1 if unit else rng.uniform(1, 2, (*batch, n))
    other = rng.choice([0.0, np.nan, 7.0], a.shape) if b.c.chance(50) else a
    triangle = np.tril(np.ones((n, n), bool)) if lower else np.triu(np.ones((n, n), bool))
    a = np.where(triangle, a, other)  # the other triangle is not read
    va = b.given(a.astype(dtype(element)), element, _ROUNDED)
    x = b.like(Tensor((*batch, *((n, m) if left else (m, n))), element))
    transpose = b.c.one_of(("NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"))
    attributes = (
        f"left_side = {str(left).lower()}, lower = {str(lower).lower()}, unit_diagonal = {str(unit).lower()}, "
        f"transpose_a = #stablehlo<transpose {transpose}>"
    )
    reference: tuple[str, ...] = ()
    if transpose == "ADJOINT":  # the interpreter aborts
        conjugate = b.op("chlo.conj", [va], va.type, _ROUNDED) if element in COMPLEX else va
        reference = (generic("triangular_solve", [conjugate, x], [x.type], attributes.replace("ADJOINT", "TRANSPOSE")),)
    text = generic("triangular_solve", [va, x], [x.type], attributes)
    b.emit(text, [(x.type, _ROUNDED)], True, [(x, math.sqrt(n))], reference)
