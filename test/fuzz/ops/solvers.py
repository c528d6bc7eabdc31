"""fft, triangular_solve and cholesky: inexact programs only."""

from __future__ import annotations

import math

import numpy as np

from ..builder import Builder, generic, ints
from ..facts import Facts
from ..program import Value, literal
from ..tensors import COMPLEX, Dyn, Tensor, dtype, part

_ROUNDED = Facts(False, None, nan=True, bits=False)


def fft(b: Builder) -> None:
    kind = b.c.one_of(("FFT", "IFFT", "RFFT", "IRFFT"))
    elements = ("f32", "f64") if kind == "RFFT" else COMPLEX
    x = b.any(elements, (1, 4), least=1)
    # which elements of the result an infinity or a NaN reaches as which of them, nobody says
    if x.facts.nan or any(isinstance(n, Dyn) for n in x.type.shape):
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
        # with 1 the interpreter aborts
        if last <= 1:
            return
        lengths[-1] = shape[-1] = last
        element = part(element)
    t = Tensor(tuple(shape), element)
    if "f32" in element:
        b.low_ok = False  # the interpreter ends in "Semantics mismatch"
    attributes = f"fft_type = #stablehlo<fft_type {kind}>, fft_length = {ints(lengths)}"
    reference: tuple[str, ...] = ()
    if kind == "IRFFT" and lengths[-1] % 2:  # the interpreter's answers are wrong
        if k > 1:
            return
        reference = _whole_spectrum(b, x, t, lengths[-1])
    # the interpreter sums term by term, also in f64, so its own error grows with the length
    shaken = [(x, float(math.prod(lengths)))]
    b.emit(generic("fft", [x], [t], attributes), [(t, _ROUNDED)], True, shaken, reference)


def _whole_spectrum(b: Builder, x: Value, t: Tensor, n: int) -> tuple[str, ...]:
    """IRFFT of odd length n as the real part of the IFFT of x and its mirror image."""
    element, last = x.type.element, x.type.rank - 1
    half, full = x.type.shaped(*t.shape[:-1], n // 2), Tensor(t.shape, element)
    starts, limits = [0] * last + [1], [*t.shape[:-1], n // 2 + 1]
    name = b.name()
    slicing = f"start_indices = {ints(starts)}, limit_indices = {ints(limits)}, strides = {ints([1] * (last + 1))}"
    values = [
        Value(f"{name}{c}", kind, _ROUNDED) for c, kind in zip("srcwi", (half, half, half, full, full), strict=True)
    ]
    cut, mirrored, conjugate, whole, inverse = values
    return (
        f"%{cut.name} = " + generic("slice", [x], [half], slicing),
        f"%{mirrored.name} = " + generic("reverse", [cut], [half], f"dimensions = {ints([last])}"),
        f"%{conjugate.name} = " + generic("chlo.conj", [mirrored], [half]),
        f"%{whole.name} = " + generic("concatenate", [x, conjugate], [full], f"dimension = {last} : i64"),
        f"%{inverse.name} = "
        + generic("fft", [whole], [full], f"fft_type = #stablehlo<fft_type IFFT>, fft_length = {ints([n])}"),
        generic("real", [inverse], [t]),
    )


def cholesky(b: Builder) -> None:
    """Of matrices well off singular; what the other triangle of the result holds is not looked at."""
    element = b.c.one_of(("f32", "f64", *COMPLEX))
    n, lower = b.c.one_of((2, 1, 3, 5, 8, 0)), b.c.chance(50)
    batch = [b.c.one_of((2, 1, 3)) for _ in range(b.c.integer(0, 2))]
    rng = np.random.default_rng(b.c.integer(0, 2**16))
    a = rng.uniform(-1, 1, (*batch, n, n)) + (1j * rng.uniform(-1, 1, (*batch, n, n)) if element in COMPLEX else 0)
    a = (a @ np.conj(_swapped(a)) + n * np.eye(n)).astype(dtype(element))
    va = b.given(a, element, _ROUNDED)
    root = np.linalg.cholesky(a.astype(np.complex128 if element in COMPLEX else np.float64)) if n else a
    known = root if lower else np.conj(_swapped(root))
    triangle = np.tril(np.ones((n, n), bool)) if lower else np.triu(np.ones((n, n), bool))
    mask = b.given(np.broadcast_to(triangle, a.shape).copy(), "i1", Facts(mag=1))
    zero = b.given(np.zeros_like(a), element, Facts(mag=0))
    text = generic("cholesky", [va], [va.type], f"lower = {str(lower).lower()}")
    out = _emit_known(b, text, va.type, known, n)
    b.op("select", [mask, out, zero], va.type, _ROUNDED)
    b.values.remove(out)
    b.hidden.append(out)


def triangular_solve(b: Builder) -> None:
    element = b.c.one_of(("f32", "f64", *COMPLEX))
    n, m = b.c.one_of((2, 1, 3, 5, 9)), b.c.one_of((1, 2, 4))
    batch = [b.c.one_of((2, 1, 3)) for _ in range(b.c.integer(0, 2))]
    left, lower, unit = b.c.chance(50), b.c.chance(50), b.c.chance(30)
    transpose = b.c.one_of(("NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"))
    rng = np.random.default_rng(b.c.integer(0, 2**16))

    def uniform(*shape: int) -> np.ndarray:
        return rng.uniform(-1, 1, shape) + (1j * rng.uniform(-1, 1, shape) if element in COMPLEX else 0)

    a = uniform(*batch, n, n) / n
    a[..., range(n), range(n)] = 1 if unit else rng.uniform(1, 2, (*batch, n))
    triangle = np.tril(np.ones((n, n), bool)) if lower else np.triu(np.ones((n, n), bool))
    other = rng.choice([0.0, np.nan, 7.0], a.shape) if b.c.chance(50) else a  # which is not read
    a = np.where(triangle, a, other).astype(dtype(element))
    x = uniform(*batch, *((n, m) if left else (m, n))).astype(dtype(element))
    va, vx = b.given(a, element, _ROUNDED), b.given(x, element, _ROUNDED)
    attributes = (
        f"left_side = {str(left).lower()}, lower = {str(lower).lower()}, unit_diagonal = {str(unit).lower()}, "
        f"transpose_a = #stablehlo<transpose {transpose}>"
    )
    # the interpreter takes no batches
    matrix = np.where(triangle, a, 0).astype(np.complex128 if element in COMPLEX else np.float64)
    matrix = {"NO_TRANSPOSE": matrix, "TRANSPOSE": _swapped(matrix), "ADJOINT": np.conj(_swapped(matrix))}[transpose]
    known = np.linalg.solve(matrix, x) if left else _swapped(np.linalg.solve(_swapped(matrix), _swapped(x)))
    text = generic("triangular_solve", [va, vx], [vx.type], attributes)
    _emit_known(b, text, vx.type, known, n)


def _emit_known(b: Builder, text: str, t: Tensor, known: np.ndarray, n: int) -> Value:
    """An operation that NumPy stands in for, in f64. Its errors go by the size of the whole solution: noise of ``n``
    roundings of that is added to each element, as the difference of two equal arguments of which one is shaken."""
    size = np.full(known.shape, np.abs(known).max() if known.size else 1.0).astype(dtype(part(t.element)))
    same = [b.given(size, part(t.element), _ROUNDED) for _ in range(2)]
    name = b.name()
    lines = [
        f"%{name}k = stablehlo.constant {literal(known, t)}",
        f"%{name}d = stablehlo.subtract %{same[0].name}, %{same[1].name} : {same[0].type}",
    ]
    if t.element in COMPLEX:
        lines.append(f"%{name}c = stablehlo.complex %{name}d, %{name}d : {t}")
    last = f"{name}c" if t.element in COMPLEX else f"{name}d"
    reference = (*lines, f"stablehlo.add %{name}k, %{last} : {t}")
    return b.emit(text, [(t, _ROUNDED)], True, [(same[0], float(max(n, 1)))], reference)[0]


def _swapped(a: np.ndarray) -> np.ndarray:
    return np.swapaxes(a, -1, -2)
