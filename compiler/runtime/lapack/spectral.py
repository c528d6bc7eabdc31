"""Eigenvalues and singular values."""
from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kc.runtime.custom_calls import Function
from kc.runtime.lapack.library import (
    Array,
    call,
    copy_in,
    dtype_of,
    leading,
    letter,
    real_of,
    split,
    stack,
    with_workspace,
)


def implementation(name: str) -> Function:
    """The function of a target of ``names.TARGETS``."""
    prefix, core = split(name)
    function = {"heevd": _syevd, "gesvd": _gesdd}.get(core) or globals()["_" + core]
    return functools.partial(function, prefix + core)


def _gesdd(name: str, inputs: Sequence[Array], outputs: Sequence[Array], attributes: Mapping[str, Any]) -> None:
    """a -> (overwritten a), singular values, U, V transposed (conjugated), info. Also gesvd."""
    copy_in(outputs, inputs)
    job = letter(attributes, "mode", "A")
    work_type, real_type = dtype_of(name[0]), real_of(name[0])
    for a, s, u, vt, info in stack(*zip(outputs, (2, 1, 2, 2, 0), strict=True)):
        m, n = a.shape
        least, most = min(m, n), max(m, n)
        jobs = (job,) if name[1:] == "gesdd" else (job, job)
        fixed = (*jobs, m, n, a, leading(m), s, u, leading(u.shape[0]), vt, leading(vt.shape[0]))
        if name == "sgesdd" or name == "dgesdd":
            work = (np.empty(max(1, 8 * least), np.int32),)
            info[...] = _query(name, fixed, work, work_type)
        elif name[0] in "sd":
            info[...] = with_workspace(name, *fixed, dtype=work_type)
        elif name[1:] == "gesdd":
            size = least * max(5 * least + 7, 2 * most + 2 * least + 1)  # enough for every job, from LAPACK's text
            real = np.empty(max(1, size, 7 * least), real_type)
            info[...] = _query(name, fixed, (real, np.empty(max(1, 8 * least), np.int32)), work_type)
        else:
            info[...] = _query(name, fixed, (np.empty(max(1, 5 * least), real_type),), work_type)


def _query(name: str, fixed: tuple[Any, ...], rest: tuple[Array, ...], dtype: Any) -> int:
    """A routine with arguments ``fixed, work, lwork, rest, info``."""
    query = np.zeros(1, dtype)
    info = call(name, *fixed, query, -1, *rest)
    if info:
        return info
    size = max(1, int(query[0].real))
    return call(name, *fixed, np.empty(size, dtype), size, *rest)


def _syevd(name: str, inputs: Sequence[Array], outputs: Sequence[Array], attributes: Mapping[str, Any]) -> None:
    """a -> eigenvectors, eigenvalues (ascending), info."""
    copy_in(outputs, inputs)
    job, uplo = letter(attributes, "mode", "V"), letter(attributes, "uplo", "L")
    for a, w, info in stack((outputs[0], 2), (outputs[1], 1), (outputs[2], 0)):
        n = a.shape[0]
        fixed = (job, uplo, n, a, leading(n), w)
        work, whole = np.zeros(1, dtype_of(name[0])), np.zeros(1, np.int32)
        if name[0] in "sd":
            call(name, *fixed, work, -1, whole, -1)
            sizes = max(1, int(work[0])), max(1, int(whole[0]))
            info[...] = call(
                name, *fixed, np.empty(sizes[0], work.dtype), sizes[0], np.empty(sizes[1], np.int32), sizes[1]
            )
            continue
        real = np.zeros(1, real_of(name[0]))
        call(name, *fixed, work, -1, real, -1, whole, -1)
        sizes3 = max(1, int(work[0].real)), max(1, int(real[0])), max(1, int(whole[0]))
        info[...] = call(
            name, *fixed, np.empty(sizes3[0], work.dtype), sizes3[0], np.empty(sizes3[1], real.dtype), sizes3[1],
            np.empty(sizes3[2], np.int32), sizes3[2],
        )  # fmt: skip


def _geev(name: str, inputs: Sequence[Array], outputs: Sequence[Array], attributes: Mapping[str, Any]) -> None:
    """a -> eigenvalues (real ones: real parts, imaginary parts), left and right eigenvectors (complex), info."""
    left, right = letter(attributes, "compute_left", "N"), letter(attributes, "compute_right", "V")
    dtype = dtype_of(name[0])
    is_real = name[0] in "sd"
    ranks = (1, 1, 2, 2, 0) if is_real else (1, 2, 2, 0)
    for given, *held in stack((inputs[0], 2), *zip(outputs, ranks, strict=True)):
        a = np.array(given, order="F")
        n = a.shape[0]
        *values, vl, vr, info = held
        if not np.isfinite(a).all():  # LAPACK does not look, and may not come back
            info[...] = -4
            continue
        ld = leading(n)
        if not is_real:
            real = np.empty(max(1, 2 * n), real_of(name[0]))
            info[...] = _query(name, (left, right, n, a, ld, values[0], vl, ld, vr, ld), (real,), dtype)
            continue
        packed = [np.zeros((n, n), dtype, order="F") for _ in range(2)]
        info[...] = with_workspace(
            name, left, right, n, a, ld, values[0], values[1], packed[0], ld, packed[1], ld, dtype=dtype
        )
        for target, source in zip((vl, vr), packed, strict=True):
            target[...] = _unpacked(source, values[1])


def _unpacked(vectors: Array, imaginary: Array) -> Array:
    """LAPACK's real form of complex eigenvectors: a pair of conjugates shares two columns, real and imaginary part."""
    result = vectors.astype(np.result_type(vectors.dtype, np.complex64))
    column = 0
    while column < len(imaginary):
        if imaginary[column] == 0 or column + 1 == len(imaginary):
            column += 1
            continue
        result[:, column] = vectors[:, column] + 1j * vectors[:, column + 1]
        result[:, column + 1] = result[:, column].conj()
        column += 2
    return result


def _gees(name: str, inputs: Sequence[Array], outputs: Sequence[Array], attributes: Mapping[str, Any]) -> None:
    """a -> Schur form, Schur vectors, eigenvalues (real ones: two parts), number of selected ones, info."""
    copy_in(outputs, inputs)
    job, sort = letter(attributes, "mode", "V"), letter(attributes, "sort", "N")
    if sort != b"N":
        raise ValueError("eigenvalues of a Schur form are not sorted: there is no function to select them by")
    is_real = name[0] in "sd"
    ranks = (2, 2, 1, 1, 0, 0) if is_real else (2, 2, 1, 0, 0)
    for a, vs, *values, chosen, info in stack(*zip(outputs, ranks, strict=True)):
        n = a.shape[0]
        chosen[...] = 0
        if not np.isfinite(a).all():
            info[...] = -6
            continue
        ld = leading(n)
        count = np.zeros(1, np.int32)
        fixed = (job, sort, None, n, a, ld, count, *values, vs, ld)
        rest = [np.empty(max(1, n), np.int32)]
        if not is_real:
            rest.insert(0, np.empty(max(1, n), real_of(name[0])))
        info[...] = _query(name, fixed, tuple(rest), dtype_of(name[0]))
