"""XLA's own targets of linear algebra (see ``kc.runtime.lapack.xla_names``)."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kc.runtime import cuda
from kc.runtime.call_frame import DeviceView
from kc.runtime.cusolver import factor, spectral
from kc.runtime.cusolver.library import session
from kc.runtime.cusolver.matrices import Stack, download, flat, place_copy, store, upload
from kc.runtime.custom_calls import Function


def implementation(name: str) -> Function:
    """The function of a target of ``names.TARGETS``."""
    return {
        "Eigh": _eigh,
        "LuDecomposition": _lu,
        "ProductOfElementaryHouseholderReflectors": factor.orgqr,
        "Qr": factor.geqrf,
    }[name]


def _lu(inputs: Sequence[DeviceView], outputs: Sequence[DeviceView], attributes: Mapping[str, Any]) -> None:
    """a -> factors, pivots (from 0), row permutation. The pivots visit the host."""
    view, pivots, permutation = outputs
    with session(view.device, view.stream) as s:
        a, chosen, order = place_copy(s, view, inputs[0]), flat(pivots, 1), flat(permutation, 1)
        factor.lu_factors(s, view, a, chosen, Stack(s.memory(4 * max(1, a.count)), a.count, 4))
        store(s, view, a)
        rows = download(s, chosen.pointer, np.empty((a.count, min(view.shape[-2:])), np.int32)) - 1
        orders = np.tile(np.arange(view.shape[-2], dtype=np.int32), (a.count, 1))
        for row, swaps in zip(orders, rows, strict=True):
            for k, other in enumerate(swaps):
                row[[k, other]] = row[[other, k]]
        upload(s, rows, chosen.pointer)
        upload(s, orders, order.pointer)
        cuda.synchronize(s.device, s.stream)


def _eigh(inputs: Sequence[DeviceView], outputs: Sequence[DeviceView], attributes: Mapping[str, Any]) -> None:
    """a -> eigenvectors, eigenvalues; the text says "lower,sort,iterations,tolerance"; they always come sorted."""
    lower = str(attributes.get("backend_config", "")).split(",")[0] != "0"
    view, values = outputs
    n = view.shape[-1]
    with session(view.device, view.stream) as s:
        a, w = place_copy(s, view, inputs[0]), flat(values, 1)
        info = Stack(s.memory(4 * max(1, a.count)), a.count, 4)
        spectral.eigenvectors(s, view, a, w, info, vectors=True, lower=lower)
        for k in np.flatnonzero(download(s, info.pointer, np.empty(a.count, np.int32))).tolist():
            upload(s, np.full((n, n), np.nan, view.dtype.numpy), a.at(k))
            upload(s, np.full(n, np.nan, values.dtype.numpy), w.at(k))
        store(s, view, a)
        cuda.synchronize(s.device, s.stream)
