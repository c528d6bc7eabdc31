"""Buffers for arguments: poisoned margins, gaps between elements, pages that may not be touched or not be written."""
from __future__ import annotations

import ctypes
import functools
import mmap
from typing import Any

import numpy as np

from kc.agents.execution.calls import Call, Role

#: bytes on each side of a buffer that must stay as they are
MARGIN = 1024
_PAGE = mmap.PAGESIZE
#: of a layout with free strides and offset: elements between rows, and before the first
_ROW_GAP, _FREE_OFFSET = 3, 5
#: see ``Kind.layout``
Layout = tuple[tuple[int | None, ...], int | None] | None
_NONE, _READ, _READ_WRITE = 0, mmap.PROT_READ, mmap.PROT_READ | mmap.PROT_WRITE


@functools.lru_cache(maxsize=1)
def _libc() -> ctypes.CDLL:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mprotect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    return libc


def protect(start: int, size: int, rights: int) -> None:
    """Give pages the rights ``rights`` (of ``mmap``); raises OSError."""
    if _libc().mprotect(start, size, rights):
        raise OSError(ctypes.get_errno(), "mprotect")


class Buffer:
    """Memory of one argument: margins and pages that may not be touched on both sides.

    Addresses are aligned to ``alignment`` and, unless a guard page wants it otherwise, to no larger power of two:
    code that takes a better alignment for granted fails. ``layout``: strides and offset of the type (``Kind.layout``);
    where these are free, the calls that ask for it (``Call.strided``) get gaps between elements or rows, and an offset.
    """

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype[Any], call: Call, layout: Layout, alignment: int = 0):
        self.shape, self.dtype, self.poison = shape, dtype, call.poison
        item = dtype.itemsize
        self._strides, self._offset = _laid_out(shape, layout, call.strided)
        cells = 0 if 0 in shape else 1 + sum((n - 1) * s for n, s in zip(shape, self._strides, strict=True))
        self.bytes = cells * item
        alignment = max(alignment, item & -item)
        body = -(-(self.bytes + 2 * MARGIN + 2 * max(alignment, 64)) // _PAGE) * _PAGE
        self._map = mmap.mmap(-1, body + 2 * _PAGE)
        whole = np.frombuffer(self._map, np.uint8)
        self._low, self._body = whole.ctypes.data + _PAGE, body
        for start in (self._low - _PAGE, self._low + body):
            protect(start, _PAGE, _NONE)
        self.raw = whole[_PAGE : _PAGE + body]
        self.raw[:] = call.poison
        self.low = self._place(call.guard, alignment)
        self.high = self.low + self.bytes
        self.view = _spread(self.raw[self.low : self.high].view(f"V{item}"), shape, self._strides)

    def _place(self, guard: str, alignment: int) -> int:
        """Offset of the first element."""
        if guard == "before":
            return 0  # pages are aligned to anything
        if guard == "after":
            return (self._body - self.bytes) // alignment * alignment
        start = -(-MARGIN // (2 * alignment)) * 2 * alignment
        return start + alignment  # an odd multiple

    @property
    def address(self) -> int:
        """Of the first element."""
        return self._low + self.low

    def contains(self, address: int) -> bool:
        """Whether ``address`` lies in the buffer's pages or the guard pages beside them."""
        return self._low - _PAGE <= address < self._low + self._body + _PAGE

    def offset(self, address: int) -> int:
        """Of ``address`` from the first element, in bytes."""
        return address - self.address

    def put(self, array: np.ndarray) -> None:
        """Write the elements."""
        values = np.ascontiguousarray(array, self.dtype).reshape(self.shape)
        self.view[...] = values.view(self.view.dtype) if self.shape else values.reshape(1).view(self.view.dtype)[0]

    def get(self) -> np.ndarray:
        """A copy of the elements."""
        values = np.ascontiguousarray(self.view).reshape(-1)
        if self.dtype == np.bool_:  # any odd byte is true: bytes that nobody wrote are no bool
            return (values.view(np.uint8) & 1).astype(np.bool_).reshape(self.shape)
        return values.view(self.dtype).reshape(self.shape)

    def bytes_of(self) -> bytes:
        """All bytes, gaps included."""
        return self.raw[self.low : self.high].tobytes()

    def protect(self) -> None:
        """Make the pages read-only."""
        protect(self._low, self._body, _READ)

    def unprotect(self) -> None:
        """Undo ``protect``."""
        protect(self._low, self._body, _READ_WRITE)

    def intact(self) -> bool:
        """Whether margins and gaps are as they were."""
        if (self.raw[: self.low] != self.poison).any() or (self.raw[self.high :] != self.poison).any():
            return False
        valid = self.valid()
        return valid is None or bool((self.raw[self.low : self.high][valid == 0] == self.poison).all())

    def valid(self) -> np.ndarray | None:
        """A byte per byte: 1 where an element lies; None when that is everywhere."""
        cells = np.zeros(self.bytes // self.dtype.itemsize, np.uint8)
        _spread(cells, self.shape, self._strides)[...] = 1
        return None if cells.all() else np.repeat(cells, self.dtype.itemsize)

    def block(self) -> tuple[int, int, np.ndarray | None]:
        """Address and bytes from where the type counts, and ``valid`` of them."""
        before = self._offset * self.dtype.itemsize
        valid = self.valid()
        if before:
            valid = np.ones(self.bytes, np.uint8) if valid is None else valid
            valid = np.concatenate([np.zeros(before, np.uint8), valid])
        return self.address - before, before + self.bytes, valid

    def descriptor(self) -> ctypes.Array[ctypes.c_int64]:
        """A memref's descriptor: allocated and aligned pointer, offset, sizes, strides (in elements).

        The allocated pointer is one that may not be touched: of a view, in a program, it is that of another place.
        """
        start = self.address - self._offset * self.dtype.itemsize
        words = (self._low - _PAGE, start, self._offset, *self.shape, *self._strides)
        return (ctypes.c_int64 * len(words))(*words)


def _laid_out(shape: tuple[int, ...], layout: Layout, gaps: bool) -> tuple[tuple[int, ...], int]:
    """Strides and offset in elements. ``gaps``: what is free is not what it would be without gaps."""
    given, offset = layout or ((1,) * 0, 0)
    strides: list[int] = []
    for axis in range(len(shape) - 1, -1, -1):
        dense = strides[-1] * max(1, shape[axis + 1]) if strides else 1
        fixed = given[axis] if layout else dense
        strides.append((dense + gaps * (1 if not strides else _ROW_GAP)) if fixed is None else fixed)
    return tuple(strides[::-1]), _FREE_OFFSET * gaps if offset is None else offset


def _spread(cells: np.ndarray, shape: tuple[int, ...], strides: tuple[int, ...]) -> np.ndarray:
    """The elements of a layout among ``cells``."""
    if 0 in shape:
        return cells[:0].reshape(shape)
    return np.lib.stride_tricks.as_strided(cells, shape, tuple(s * cells.itemsize for s in strides))


def writable(role: Role) -> bool:
    """Whether a buffer of that role may be written."""
    return role != "in"
