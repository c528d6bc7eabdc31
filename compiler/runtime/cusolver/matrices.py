"""Operands as cuSOLVER takes them: stacks of matrices whose columns are contiguous."""
from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from kc.runtime.call_frame import DeviceView
from kc.runtime.cuda import HOST_TO_DEVICE
from kc.runtime.cusolver.library import ITEM, Session

LETTERS = {"float32": "s", "float64": "d", "complex64": "c", "complex128": "z"}
PLAIN, TRANSPOSED, CONJUGATED = 0, 1, 2  # cublasOperation_t
Array = np.ndarray[Any, Any]
_MOST = 1 << 30  # numbers of one sum


@dataclasses.dataclass(frozen=True)
class Stack:
    """Members one after the other, ``step`` bytes each."""

    pointer: int
    count: int
    step: int

    def at(self, index: int) -> int:
        """The address of a member."""
        return self.pointer + index * self.step

    def addresses(self, session: Session) -> int:
        """Device memory with the addresses of all members."""
        return upload(session, self.pointer + np.arange(self.count, dtype=np.int64) * self.step)


def letter_of(view: DeviceView) -> str:
    """LAPACK's letter of a type. Raises ``ValueError`` for types that it does not have."""
    letter = LETTERS.get(view.dtype.numpy.name)
    if letter is None:
        raise ValueError(f"cuSOLVER has no routine for {view.dtype.name}")
    return letter


def _dense(shape: tuple[int, ...], strides: tuple[int, ...], item: int) -> bool:
    """Whether dimensions of these sizes follow each other in memory, the last one with steps of ``item`` bytes."""
    for size, stride in zip(reversed(shape), reversed(strides), strict=True):
        if size != 1 and stride != item:
            return False
        item *= size
    return True


def flat(view: DeviceView, rank: int) -> Stack:
    """A row-major stack of members with this rank (0 or 1)."""
    if math.prod(view.shape) and not _dense(view.shape, view.strides, view.dtype.itemsize):
        raise ValueError(f"layout of an array of shape {view.shape} is not row-major: no form that cuSOLVER takes")
    inner = math.prod(view.shape[len(view.shape) - rank :])
    return Stack(view.pointer, math.prod(view.shape[: len(view.shape) - rank]), inner * view.dtype.itemsize)


def columns_first(view: DeviceView) -> bool:
    """Whether the columns of the matrices are contiguous; False for rows. Raises ``ValueError`` for other layouts."""
    if not math.prod(view.shape):
        return True
    swapped = (*range(len(view.shape) - 2), len(view.shape) - 1, len(view.shape) - 2)
    shape, strides = tuple(view.shape[d] for d in swapped), tuple(view.strides[d] for d in swapped)
    if _dense(shape, strides, view.dtype.itemsize):
        return True
    if _dense(view.shape, view.strides, view.dtype.itemsize):
        return False
    raise ValueError(
        f"layout of matrices {view.shape} is neither column-major nor row-major within the batch: no form that "
        "cuSOLVER takes"
    )


def place(session: Session, view: DeviceView) -> Stack:
    """Where to compute a result: in place, or beside it when its rows are contiguous (see ``store``)."""
    step = view.shape[-2] * view.shape[-1] * view.dtype.itemsize
    count = math.prod(view.shape[:-2])
    in_place = columns_first(view)
    return Stack(view.pointer if in_place else session.memory(count * step), count, step)


def place_copy(session: Session, view: DeviceView, given: DeviceView) -> Stack:
    """``place`` filled with an operand of the same shape, which the routine overwrites."""
    stack = place(session, view)
    nbytes = stack.count * stack.step
    if columns_first(given):
        if given.pointer != stack.pointer:
            session.copy(stack.pointer, given.pointer, nbytes)
        return stack
    to = stack
    if given.pointer == stack.pointer:  # the same memory in another order
        to = Stack(session.memory(nbytes), stack.count, stack.step)
    rows, columns = view.shape[-2:]
    for k in range(stack.count):
        transpose(session, letter_of(view), columns, rows, given.pointer + k * stack.step, to.at(k), TRANSPOSED)
    if to is not stack:
        session.copy(stack.pointer, to.pointer, nbytes)
    return stack


def store(session: Session, view: DeviceView, stack: Stack) -> None:
    """Brings a result that was computed beside its place there."""
    if stack.pointer == view.pointer:
        return
    rows, columns = view.shape[-2:]
    for k in range(stack.count):
        transpose(session, letter_of(view), rows, columns, stack.at(k), view.pointer + k * stack.step, TRANSPOSED)


# 0 and 1 of each type, which cuBLAS takes by address
_NUMBERS = {letter: np.array([0, 1]).astype(name) for name, letter in LETTERS.items()}


def transpose(session: Session, letter: str, rows: int, columns: int, source: int, to: int, operation: int) -> None:
    """The transpose of a matrix (both column-major), conjugated if asked for, to another place."""
    if rows == 0 or columns == 0:
        return
    zero = _NUMBERS[letter].ctypes.data
    one = zero + ITEM[letter]
    session.blas(
        letter, "geam", operation, PLAIN, columns, rows, one, source, rows, zero, to, columns, to, columns,
    )  # fmt: skip


def copy_parts(
    session: Session, letter: str, shape: tuple[int, int], source: Stack, rows: int, to: Stack, operation: int = PLAIN
) -> None:
    """The first columns of each member, ``rows`` numbers each, or their transposes: ``shape`` is that of the result.
    All in one launch, as products with the identity."""
    m, n = shape
    inner = n if operation == PLAIN else rows
    one = upload(session, np.eye(inner, dtype=_NUMBERS[letter].dtype))
    zero, item = _NUMBERS[letter].ctypes.data, ITEM[letter]
    session.blas(
        letter, "gemmStridedBatched", operation, PLAIN, m, n, inner, zero + item, source.pointer, rows,
        source.step // item, one, inner, 0, zero, to.pointer, m, to.step // item, to.count,
    )  # fmt: skip


def strange(session: Session, view: DeviceView, stack: Stack, part: Callable[[Array], Array]) -> list[int]:
    """Members that have NaN in what ``part`` makes of them, which ``download`` brings to the host only when the sum of
    all sizes is not finite. Waits for the stream."""
    letter = letter_of(view)
    rows, columns = view.shape[-2:]
    total = np.zeros(1, np.float32 if letter in "sc" else np.float64)
    numbers = stack.count * stack.step // total.itemsize
    for start in range(0, numbers, _MOST):
        count = min(_MOST, numbers - start)
        at = stack.pointer + start * total.itemsize
        session.blas("s" if letter in "sc" else "d", "asum_v2", count, at, 1, total.ctypes.data)
        if not np.isfinite(total[0]):
            break
    else:
        return []
    found = download(session, stack.pointer, np.empty((stack.count, columns, rows), view.dtype.numpy)).swapaxes(1, 2)
    return [k for k, member in enumerate(found) if np.isnan(part(member)).any()]


def upload(session: Session, array: Array, to: int = 0) -> int:
    """A copy of a host array in device memory: at ``to``, or in memory of the session."""
    held = np.ascontiguousarray(array)
    to = to or session.memory(max(1, held.nbytes))
    session.copy(to, held.ctypes.data, held.nbytes, HOST_TO_DEVICE)  # from pageable memory: staged when it returns
    return to


def download(session: Session, pointer: int, array: Array) -> Array:
    """Fills a host array from the device; waits for the stream."""
    session.copy(array.ctypes.data, pointer, array.nbytes, 1)
    return array


def identities(session: Session, stack: Stack, view: DeviceView) -> None:
    """Fills a stack with (parts of) the identity."""
    rows, columns = view.shape[-2:]
    one = np.asfortranarray(np.eye(rows, columns, dtype=view.dtype.numpy))
    nbytes = rows * columns * view.dtype.itemsize
    for k in range(stack.count):
        session.copy(stack.at(k), one.ctypes.data, nbytes, HOST_TO_DEVICE)

