"""LU and QR."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kc.runtime.call_frame import DeviceView
from kc.runtime.cusolver.library import Session, session
from kc.runtime.cusolver.matrices import Stack, flat, identities, letter_of, place, place_copy, store, strange, upload
from kc.runtime.custom_calls import Function

#: up to this size a stack of matrices goes to the batched functions of cuBLAS: one launch for all, slower for big ones
SMALL = 128


def implementation(name: str) -> Function:
    """The function of a target of ``names.TARGETS``."""
    core = name.removeprefix("lapack_").removesuffix("_ffi")[1:]
    return {"getrf": _getrf, "geqrf": geqrf}.get(core, orgqr)


def _getrf(inputs: Sequence[DeviceView], outputs: Sequence[DeviceView], attributes: Mapping[str, Any]) -> None:
    """a -> factors, pivots (from 1), info."""
    lu, pivots, info = outputs
    with session(lu.device, lu.stream) as s:
        factors = place_copy(s, lu, inputs[0])
        lu_factors(s, lu, factors, flat(pivots, 1), flat(info, 0))
        store(s, lu, factors)


def lu_factors(s: Session, view: DeviceView, a: Stack, pivots: Stack, info: Stack) -> None:
    """Factors in place, of matrices with the shape of ``view``.

    cuSOLVER passes over a NaN when it looks for a pivot, and may give factors without one: such matrices get NaN.
    """
    m, n = view.shape[-2:]
    letter = letter_of(view)
    if a.count == 0:
        return
    if m == 0 or n == 0:
        upload(s, np.zeros(a.count, np.int32), info.pointer)
        return
    bad = strange(s, view, a, lambda matrix: matrix)
    if a.count > 1 and m == n <= SMALL:
        s.blas(letter, "getrfBatched", n, a.addresses(s), n, pivots.pointer, info.pointer, a.count)
    else:
        work, _ = s.workspace(letter, "getrf", m, n, a.pointer, m, None)
        for k in range(a.count):
            s.solve(letter, "getrf", m, n, a.at(k), m, work, pivots.at(k), info.at(k))
    for k in bad:
        upload(s, np.full((m, n), np.nan, view.dtype.numpy), a.at(k))
        upload(s, np.arange(1, min(m, n) + 1, dtype=np.int32), pivots.at(k))
        upload(s, np.zeros(1, np.int32), info.at(k))


def geqrf(inputs: Sequence[DeviceView], outputs: Sequence[DeviceView], attributes: Mapping[str, Any]) -> None:
    """a -> R with the reflectors below, their factors."""
    view = outputs[0]
    m, n = view.shape[-2:]
    letter = letter_of(view)
    with session(view.device, view.stream) as s:
        a, tau = place_copy(s, view, inputs[0]), flat(outputs[1], 1)
        if a.count == 0 or m == 0 or n == 0:
            return
        if a.count > 1 and max(m, n) <= SMALL:
            info = np.zeros(1, np.int32)  # tells of arguments that are wrong
            s.blas(letter, "geqrfBatched", m, n, a.addresses(s), m, tau.addresses(s), info.ctypes.data, a.count)
            if info[0]:
                raise AssertionError(f"cublas geqrfBatched: argument {-info[0]} is wrong")
        else:
            work, size = s.workspace(letter, "geqrf", m, n, a.pointer, m, None)
            info_at = s.memory(4)
            for k in range(a.count):
                s.solve(letter, "geqrf", m, n, a.at(k), m, tau.at(k), work, size, info_at)
        store(s, view, a)


def orgqr(inputs: Sequence[DeviceView], outputs: Sequence[DeviceView], attributes: Mapping[str, Any]) -> None:
    """reflectors, factors -> Q."""
    view = outputs[0]
    m, n = view.shape[-2:]
    letter, number = letter_of(view), inputs[1].shape[-1]
    with session(view.device, view.stream) as s:
        if number == 0:  # cuSOLVER does not say what it does then
            q = place(s, view)
            identities(s, q, view)
        else:
            q, tau = place_copy(s, view, inputs[0]), flat(inputs[1], 1)
            if q.count == 0 or n == 0:
                return
            work, size = s.workspace(letter, "orgqr", m, n, number, q.pointer, m, tau.pointer, None)
            info = s.memory(4)
            for k in range(q.count):
                s.solve(letter, "orgqr", m, n, number, q.at(k), m, tau.at(k), work, size, info)
        store(s, view, q)
