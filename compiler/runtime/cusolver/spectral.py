"""Eigenvalues of Hermitian matrices, and singular values."""
from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kc.runtime.call_frame import DeviceView
from kc.runtime.cusolver.library import ITEM, Session, session
from kc.runtime.cusolver.matrices import (
    CONJUGATED,
    Stack,
    copy_parts,
    flat,
    identities,
    letter_of,
    place,
    place_copy,
    store,
    strange,
    transpose,
    upload,
)
from kc.runtime.custom_calls import Function

#: up to this size a stack of matrices goes to a batched function, which is made for such ones
SMALL = 32


def implementation(name: str) -> Function:
    """The function of a target of ``names.TARGETS``."""
    return _syevd if name.endswith(("syevd_ffi", "heevd_ffi")) else _svd


def option(attributes: Mapping[str, Any], name: str, default: str) -> str:
    """An option of LAPACK, which JAX passes as the number of the character."""
    value = attributes.get(name, default)
    return value if isinstance(value, str) else chr(int(value))


def _syevd(inputs: Sequence[DeviceView], outputs: Sequence[DeviceView], attributes: Mapping[str, Any]) -> None:
    """a -> eigenvectors, eigenvalues (ascending), info."""
    view, values, info = outputs
    with session(view.device, view.stream) as s:
        a = place_copy(s, view, inputs[0])
        vectors, lower = option(attributes, "mode", "V") == "V", option(attributes, "uplo", "L") == "L"
        eigenvectors(s, view, a, flat(values, 1), flat(info, 0), vectors=vectors, lower=lower)
        store(s, view, a)


def eigenvectors(
    s: Session, view: DeviceView, a: Stack, values: Stack, info: Stack, *, vectors: bool, lower: bool
) -> None:
    """Eigenvectors in place, of matrices with the shape of ``view``.

    Those that are not finite get NaN: the batched function would give numbers.
    """
    n = view.shape[-1]
    letter = letter_of(view)
    if a.count == 0:
        return
    if n == 0:
        upload(s, np.zeros(a.count, np.int32), info.pointer)
        return
    fixed = (int(vectors), int(not lower), n)
    triangle = np.tril if lower else np.triu
    # infinities of both signs meet in every eigenvalue
    bad = strange(s, view, a, lambda matrix: triangle(np.where(np.isfinite(matrix), 0, np.nan)))
    if a.count > 1 and n <= SMALL:
        options = s.handles.eigen_options
        work, size = s.workspace(
            letter, "syevjBatched", *fixed, a.pointer, n, values.pointer, None, options, a.count
        )  # fmt: skip
        s.solve(
            letter, "syevjBatched", *fixed, a.pointer, n, values.pointer, work, size, info.pointer, options, a.count
        )
    else:
        work, size = s.workspace(letter, "syevd", *fixed, a.pointer, n, values.pointer, None)
        for k in range(a.count):
            s.solve(letter, "syevd", *fixed, a.at(k), n, values.at(k), work, size, info.at(k))
    for k in bad:
        upload(s, np.full((n, n), np.nan, view.dtype.numpy), a.at(k))
        upload(s, np.full(n, np.nan, np.float32 if letter in "sc" else np.float64), values.at(k))


def _svd(inputs: Sequence[DeviceView], outputs: Sequence[DeviceView], attributes: Mapping[str, Any]) -> None:
    """a -> (overwritten a), singular values, U, V transposed (conjugated), info.

    By QR iteration (gesvd) for all of LAPACK's names, stacks of small matrices by Jacobi's method: for big ones that
    is faster, but its U is only as orthogonal as the condition of the matrix lets it be (5.7e-4 for 1024 x 1024 random
    float32 numbers, LAPACK 2e-6). Matrices that are not finite get NaN, and the info that LAPACK has for them.
    """
    view, values, left, right, info = outputs
    job = option(attributes, "mode", "A")
    if job not in ("A", "S", "N"):
        raise ValueError(f"singular vectors of mode '{job}': there are A, S and N")
    m, n = view.shape[-2:]
    letter = letter_of(view)
    with session(view.device, view.stream) as s:
        a = place_copy(s, view, inputs[0])
        sigma, code = flat(values, 1), flat(info, 0)
        if a.count == 0:
            return
        u, vt = (place(s, left), place(s, right)) if job != "N" else (None, None)
        results = [(u, left), (vt, right)]
        if m == 0 or n == 0:
            upload(s, np.zeros(a.count, np.int32), code.pointer)
            for stack, result in results:
                if stack is not None and job == "A":
                    identities(s, stack, result)
        else:
            bad = strange(s, view, a, lambda matrix: np.where(np.isfinite(matrix), 0, np.nan))
            for k in bad:  # iterations may not end
                upload(s, np.zeros((n, m), view.dtype.numpy), a.at(k))
            method = _jacobi if a.count > 1 and max(m, n) <= SMALL else _qr_iteration
            method(s, _Svd(letter, m, n, job, a, sigma, u, vt, code))
            for k in bad:
                upload(s, np.full(min(m, n), np.nan, values.dtype.numpy), sigma.at(k))
                upload(s, np.full(1, -4, np.int32), code.at(k))
                for stack, result in results:
                    if stack is not None:
                        upload(s, np.full(result.shape[-2:], np.nan, result.dtype.numpy), stack.at(k))
        for stack, result in (*results, (a, view)):
            if stack is not None:
                store(s, result, stack)


@dataclasses.dataclass(frozen=True)
class _Svd:
    """Singular values of ``m`` x ``n`` matrices ``a``, which are overwritten, and where the results go.

    ``letter`` names the element type as LAPACK does. ``job``: ``A`` all singular vectors, ``S`` the first min(m, n),
    ``N`` none, and then ``u`` and ``vt`` are None.
    """

    letter: str
    m: int
    n: int
    job: str
    a: Stack
    sigma: Stack
    u: Stack | None
    vt: Stack | None
    info: Stack


def _jacobi(s: Session, svd: _Svd) -> None:
    """All matrices at once. cuSOLVER gives V, not its transpose; all vectors, whatever is asked for."""
    letter, m, n, a = svd.letter, svd.m, svd.n, svd.a
    item, options = ITEM[letter], s.handles.svd_options
    left, right = (Stack(s.memory(a.count * k * k * item), a.count, k * k * item) for k in (m, n))
    fixed = (int(svd.u is not None), m, n, a.pointer, m, svd.sigma.pointer, left.pointer, m, right.pointer, n)
    work, size = s.workspace(letter, "gesvdjBatched", *fixed, None, options, a.count)
    s.solve(letter, "gesvdjBatched", *fixed, work, size, svd.info.pointer, options, a.count)
    if svd.u is not None and svd.vt is not None:
        columns, rows = (m, n) if svd.job == "A" else (min(m, n), min(m, n))
        copy_parts(s, letter, (m, columns), left, m, svd.u)
        copy_parts(s, letter, (rows, n), right, n, svd.vt, CONJUGATED)


def _qr_iteration(s: Session, svd: _Svd) -> None:
    """One after the other. cuSOLVER takes tall matrices; a wide one is done as its transpose."""
    letter, m, n, a, u, vt = svd.letter, svd.m, svd.n, svd.a, svd.u, svd.vt
    long, short, item = max(m, n), min(m, n), ITEM[letter]
    work, size = s.workspace(letter, "gesvd", long, short, None)
    rest = s.memory(short * item)
    kept = long if svd.job == "A" else short
    wide, vectors = m < n, u is not None
    turned = s.memory(long * short * item) if wide else 0
    first = s.memory(long * kept * item) if wide and vectors else 0
    second = s.memory(short * short * item) if wide and vectors else 0
    for k in range(a.count):
        if wide:
            transpose(s, letter, m, n, a.at(k), turned, CONJUGATED)
        elif u is not None and vt is not None:
            first, second = u.at(k), vt.at(k)
        s.solve(
            letter, "gesvd", ord(svd.job), ord(svd.job), long, short, turned or a.at(k), long, svd.sigma.at(k), first,
            long, second, short, work, size, rest, svd.info.at(k),
        )  # fmt: skip
        if wide and u is not None and vt is not None:
            transpose(s, letter, short, short, second, u.at(k), CONJUGATED)
            transpose(s, letter, long, kept, first, vt.at(k), CONJUGATED)
