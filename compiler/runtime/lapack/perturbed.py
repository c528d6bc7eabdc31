"""Tridiagonal systems that may be singular, as inverse iteration for eigenvectors has them."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kc.runtime.custom_calls import Function
from kc.runtime.lapack.library import Array, call, stack


def implementation(name: str) -> Function:
    """The function of the only target."""
    return _solve


def _solve(inputs: Sequence[Array], outputs: Sequence[Array], attributes: Mapping[str, Any]) -> None:
    """lower, middle and upper diagonal, b -> x; pivots near zero are moved by about ``eps * max |U|`` (LAPACK's lagtf
    and lagts with JOB = -1). All diagonals have the length of the middle one."""
    prefix = {"float32": "s", "float64": "d"}.get(inputs[0].dtype.name)
    if prefix is None:
        raise ValueError(f"LAPACK has no routine for {inputs[0].dtype.name}")
    outputs[0][...] = inputs[3]
    for x, lower, middle, upper in stack((outputs[0], 2), *((diagonal, 1) for diagonal in inputs[:3])):
        n = len(middle)
        if n == 0:
            continue
        zero = np.zeros(1, x.dtype)
        a, b, c = middle.copy(), upper[: n - 1].copy(), lower[1:].copy()
        d, order = np.zeros(max(1, n - 2), x.dtype), np.zeros(n, np.int32)
        call(prefix + "lagtf", n, a, zero, b, c, zero, d, order)
        for column in range(x.shape[1]):
            y = x[:, column].copy()
            call(prefix + "lagts", -1, n, a, b, c, d, order, y, np.zeros(1, x.dtype))
            x[:, column] = y
