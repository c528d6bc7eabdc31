"""Factorisations without iterations: LU, QR, Hessenberg and tridiagonal forms, tridiagonal systems."""
from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kc.runtime.custom_calls import Function
from kc.runtime.lapack.library import Array, call, copy_in, dtype_of, leading, letter, split, stack, with_workspace


def implementation(name: str) -> Function:
    """The function of a target of ``names.TARGETS``."""
    prefix, core = split(name)
    function = {"ungqr": _orgqr, "unmqr": _ormqr, "hetrd": _sytrd}.get(core) or globals()["_" + core]
    return functools.partial(function, prefix + core)


def _getrf(name: str, inputs: Sequence[Array], outputs: Sequence[Array], attributes: Mapping[str, Any]) -> None:
    """a -> factors, pivots (from 1), info."""
    copy_in(outputs, inputs)
    lu, pivots, info = outputs
    for a, p, i in stack((lu, 2), (pivots, 1), (info, 0)):
        m, n = a.shape
        i[...] = call(name, m, n, a, leading(m), p)


def _geqrf(name: str, inputs: Sequence[Array], outputs: Sequence[Array], attributes: Mapping[str, Any]) -> None:
    """a -> R with the reflectors below, their factors."""
    copy_in(outputs, inputs)
    for a, tau in stack((outputs[0], 2), (outputs[1], 1)):
        m, n = a.shape
        with_workspace(name, m, n, a, leading(m), tau, dtype=dtype_of(name[0]))


def _geqp3(name: str, inputs: Sequence[Array], outputs: Sequence[Array], attributes: Mapping[str, Any]) -> None:
    """a, column marks -> R with reflectors, column order (from 1), factors."""
    copy_in(outputs[:2], inputs)
    for a, order, tau in stack((outputs[0], 2), (outputs[1], 1), (outputs[2], 1)):
        m, n = a.shape
        if name[0] in "sd":
            with_workspace(name, m, n, a, leading(m), order, tau, dtype=dtype_of(name[0]))
            continue
        real = np.empty(max(1, 2 * n), np.float32 if name[0] == "c" else np.float64)
        query = np.zeros(1, dtype_of(name[0]))
        call(name, m, n, a, leading(m), order, tau, query, -1, real)
        size = max(1, int(query[0].real))
        call(name, m, n, a, leading(m), order, tau, np.empty(size, query.dtype), size, real)


def _orgqr(name: str, inputs: Sequence[Array], outputs: Sequence[Array], attributes: Mapping[str, Any]) -> None:
    """reflectors, factors -> Q."""
    copy_in(outputs, inputs[:1])
    for a, tau in stack((outputs[0], 2), (inputs[1], 1)):
        m, n = a.shape
        with_workspace(name, m, n, tau.shape[0], a, leading(m), tau, dtype=dtype_of(name[0]))


def _ormqr(name: str, inputs: Sequence[Array], outputs: Sequence[Array], attributes: Mapping[str, Any]) -> None:
    """reflectors, factors, c -> Q c, or c Q, with Q transposed (conjugated) if asked for."""
    copy_in(outputs, inputs[2:])
    side = b"L" if attributes.get("left", True) else b"R"
    transposed = b"T" if name[0] in "sd" else b"C"
    operation = transposed if attributes.get("transpose", False) else b"N"
    for c, a, tau in stack((outputs[0], 2), (inputs[0], 2), (inputs[1], 1)):
        m, n = c.shape
        with_workspace(
            name, side, operation, m, n, tau.shape[0], a, leading(a.shape[0]), tau, c, leading(m),
            dtype=dtype_of(name[0]),
        )  # fmt: skip


def _gehrd(name: str, inputs: Sequence[Array], outputs: Sequence[Array], attributes: Mapping[str, Any]) -> None:
    """a -> Hessenberg form with reflectors, factors, info."""
    copy_in(outputs, inputs)
    for a, tau, info in stack((outputs[0], 2), (outputs[1], 1), (outputs[2], 0)):
        n = a.shape[0]
        low, high = int(attributes.get("low", 1)), int(attributes.get("high", n))
        info[...] = with_workspace(name, n, low, high, a, leading(n), tau, dtype=dtype_of(name[0]))


def _sytrd(name: str, inputs: Sequence[Array], outputs: Sequence[Array], attributes: Mapping[str, Any]) -> None:
    """a -> reflectors, diagonal, off-diagonal, factors, info."""
    copy_in(outputs, inputs)
    uplo = letter(attributes, "uplo", "L")
    for a, d, e, tau, info in stack(*zip(outputs, (2, 1, 1, 1, 0), strict=True)):
        n = a.shape[0]
        info[...] = with_workspace(name, uplo, n, a, leading(n), d, e, tau, dtype=dtype_of(name[0]))


def _gtsv(name: str, inputs: Sequence[Array], outputs: Sequence[Array], attributes: Mapping[str, Any]) -> None:
    """lower, middle and upper diagonal, b -> what elimination leaves of them, x, info. All diagonals have the length
    of the middle one: the first entry of the lower and the last of the upper do not count."""
    copy_in(outputs, inputs)
    for lower, middle, upper, b, info in stack(*zip(outputs, (1, 1, 1, 2, 0), strict=True)):
        n, columns = b.shape
        info[...] = call(name, n, columns, lower[1:], middle, upper, b, leading(n)) if n else 0
