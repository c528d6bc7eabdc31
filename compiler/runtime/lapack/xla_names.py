"""XLA's own targets of linear algebra, made of LAPACK's routines. Matrices are row-major there."""
from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kc.runtime.custom_calls import Function
from kc.runtime.lapack import factor, spectral
from kc.runtime.lapack.library import Array

_LETTERS = {"float32": "s", "float64": "d", "complex64": "c", "complex128": "z"}


def implementation(name: str) -> Function:
    """The function of a target of ``names.TARGETS``."""
    return {
        "Eigh": _eigh,
        "LuDecomposition": _lu,
        "ProductOfElementaryHouseholderReflectors": _householder_product,
        "Qr": _qr,
    }[name]


def _lapack(module: Any, array: Array, real: str, complex_: str | None = None) -> functools.partial[None]:
    letter = _LETTERS.get(array.dtype.name)
    if letter is None:
        raise ValueError(f"LAPACK has no routine for {array.dtype.name}")
    core = real if letter in "sd" or complex_ is None else complex_
    made: functools.partial[None] = module.implementation(f"lapack_{letter}{core}_ffi")
    return made


def _lu(inputs: Sequence[Array], outputs: Sequence[Array], attributes: Mapping[str, Any]) -> None:
    """a -> factors, pivots (from 0), row permutation."""
    lu, pivots, permutation = outputs
    info = np.empty(lu.shape[:-2], np.int32)
    _lapack(factor, lu, "getrf")(inputs, [lu, pivots, info], {})
    pivots -= 1
    permutation[...] = np.arange(lu.shape[-2])
    for at in np.ndindex(lu.shape[:-2]):
        row = permutation[at]
        for k, other in enumerate(pivots[at]):
            row[[k, other]] = row[[other, k]]


def _qr(inputs: Sequence[Array], outputs: Sequence[Array], attributes: Mapping[str, Any]) -> None:
    """a -> R with the reflectors below, their factors."""
    _lapack(factor, outputs[0], "geqrf")(inputs, outputs, {})


def _householder_product(inputs: Sequence[Array], outputs: Sequence[Array], attributes: Mapping[str, Any]) -> None:
    """reflectors, factors -> Q."""
    _lapack(factor, outputs[0], "orgqr", "ungqr")(inputs, outputs, {})


def _eigh(inputs: Sequence[Array], outputs: Sequence[Array], attributes: Mapping[str, Any]) -> None:
    """a -> eigenvectors, eigenvalues; the text says "lower,sort,iterations,tolerance"; they always come sorted."""
    options = str(attributes.get("backend_config", "")).split(",")
    uplo = ord("U" if options[0] == "0" else "L")
    vectors, values = outputs
    info = np.empty(vectors.shape[:-2], np.int32)
    _lapack(spectral, vectors, "syevd", "heevd")(inputs, [vectors, values, info], {"uplo": uplo})
    bad = info != 0
    vectors[bad] = np.nan
    values[bad] = np.nan
