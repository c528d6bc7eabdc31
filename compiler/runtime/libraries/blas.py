"""Matrix products by BLAS: that of SciPy (OpenBLAS in its wheels), its Fortran functions."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from kc.runtime.lapack.library import routine
from kc.runtime.libraries.gemm import Product, finish

_LETTERS = {"float32": "s", "float64": "d", "complex64": "c", "complex128": "z"}
_MOST = (1 << 31) - 1  # Fortran's integers have 32 bits


def implementation(name: str) -> Callable[..., None]:
    """The function of a custom call."""
    return gemm


def gemm(inputs: Sequence[Any], outputs: Sequence[Any], attributes: Mapping[str, Any]) -> None:
    """a, b[, bias] -> epilogue(alpha * a b + bias)."""
    a, b, out = inputs[0], inputs[1], outputs[0]
    product = Product.of([x.shape for x in inputs], out.shape, attributes)
    letter = _LETTERS.get(out.dtype.name)
    if letter is None or not a.dtype == b.dtype == out.dtype:
        raise ValueError(f"BLAS multiplies f32, f64, complex64 and complex128, not {a.dtype} by {b.dtype}")
    if max(product.m, product.n, product.k) > _MOST:
        raise ValueError(f"a product of {product.m} x {product.k} x {product.n}: BLAS's integers have 32 bits")
    if out.size and product.k == 0:
        out[...] = 0
    elif out.size:
        _multiply(letter, product, a, b, out)
    finish(out, product, inputs[2] if product.bias else None)


def _multiply(letter: str, product: Product, a: Any, b: Any, out: Any) -> None:
    """A row-major product is the column-major one of the transposed factors in the other order."""
    gemm, size = routine(f"{letter}gemm", "blas"), out.itemsize
    integers = {n: ctypes.c_int(n) for n in (product.m, product.n, product.k)}
    at = {n: ctypes.addressof(box) for n, box in integers.items()}
    one, zero = np.array([product.alpha], out.dtype), np.zeros(1, out.dtype)
    first, second = (ctypes.c_char(b"T" if t else b"N") for t in (product.transpose_b, product.transpose_a))
    columns_a = product.m if product.transpose_a else product.k
    columns_b = product.k if product.transpose_b else product.n
    for number in range(product.batch):
        gemm(
            ctypes.addressof(first),
            ctypes.addressof(second),
            at[product.n],
            at[product.m],
            at[product.k],
            one.ctypes.data,
            b.ctypes.data + number * product.step_b * size,
            at[columns_b],
            a.ctypes.data + number * product.step_a * size,
            at[columns_a],
            zero.ctypes.data,
            out.ctypes.data + number * product.m * product.n * size,
            at[product.n],
        )
