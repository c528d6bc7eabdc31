"""The buffers and pointers of one call of machine code, and what it has given back."""
from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from kc.agents.execution.buffers import Buffer, writable
from kc.agents.execution.calls import Call, Checks
from kc.agents.execution.errors import ExecutionError
from kc.agents.execution.signature import Kind, Signature

_WORD = (1 << 64) - 1
#: what stands in the part of a register that an argument does not fill: it has no meaning, as after other code
_GARBAGE = b"\xed\x5e\xed\x5e\xed\x5e\xed\x5e"


def word_of(value: bytes) -> int:
    """A scalar in the low bytes of a register, whose other bytes are anything."""
    return int.from_bytes(value + _GARBAGE[len(value) :], "little")


class Frame:
    """The buffers and pointers of one call."""

    def __init__(self, signature: Signature, call: Call, checks: Checks):
        if len(call.arguments) != len(signature.arguments):
            raise ValueError(f"{len(call.arguments)} arguments for the {len(signature.arguments)} of @main")
        self.signature, self.given = signature, call
        self.shared = dict(call.aliases)
        self._buffers: list[Buffer | None] = []
        self._values: list[np.ndarray | None] = []
        for position, (kind, array) in enumerate(zip(signature.arguments, call.arguments, strict=True)):
            buffer, value = None, None
            if kind.form == "scalar":
                value = np.array(array).astype(kind.dtype).reshape(1).copy()
            elif position in self.shared:
                buffer = self._buffers[self.shared[position]]
            else:
                _fits(kind, array, position)
                aligned = checks.alignments[position] if checks.alignments else 0
                buffer = Buffer(array.shape, kind.dtype, call, kind.layout, aligned)
                if signature.roles[position] != "out":
                    buffer.put(array)
            self._buffers.append(buffer)
            self._values.append(value)
        self._before = {p: b.bytes_of() for p, b in self.buffers() if self.read_only(p)}
        self._protected = checks.protect
        self._result, self._leading = result_area(signature.results)

    def buffers(self) -> Iterator[tuple[int, Buffer]]:
        """Each buffer once, with the first argument that it is."""
        for position, buffer in enumerate(self._buffers):
            if buffer is not None and position not in self.shared:
                yield position, buffer

    def read_only(self, position: int) -> bool:
        """Whether no argument that is this buffer may be written."""
        sharing = [position, *(j for j, i in self.shared.items() if i == position)]
        return not any(writable(self.signature.roles[p]) for p in sharing)

    def initialised(self, position: int) -> bool:
        """Whether the caller has written the buffer."""
        return self.signature.roles[position] != "out"

    def protect(self) -> None:
        """Take the right to write from what may only be read."""
        for position, buffer in self.buffers():
            if self._protected and self.read_only(position):
                buffer.protect()

    def unprotect(self) -> None:
        """Undo ``protect``."""
        for _, buffer in self.buffers():
            buffer.unprotect()

    def pointers(self) -> Any:
        """What the packed interface of ``@main`` takes: the address of each argument of its C interface."""
        self._kept: list[Any] = []
        addresses: list[int] = []
        if self._leading:
            addresses.append(self._indirect(ctypes.addressof(self._result)))
        for buffer, value in zip(self._buffers, self._values, strict=True):
            if buffer is None:
                assert value is not None
                addresses.append(value.ctypes.data)
            else:
                descriptor = buffer.descriptor()
                self._kept.append(descriptor)
                addresses.append(self._indirect(ctypes.addressof(descriptor)))
        if self._result is not None and not self._leading:
            addresses.append(ctypes.addressof(self._result))
        return self._packed(addresses)

    def expanded(self) -> Any:
        """What the packed interface of an ``llvm.func`` takes: the address of each word of each descriptor."""
        self._kept = []
        addresses: list[int] = []
        for buffer, value in zip(self._buffers, self._values, strict=True):
            if buffer is None:
                assert value is not None
                addresses.append(value.ctypes.data)
            else:
                descriptor = buffer.descriptor()
                self._kept.append(descriptor)
                addresses += [ctypes.addressof(descriptor) + 8 * word for word in range(len(descriptor))]
        if self._result is not None:
            addresses.append(ctypes.addressof(self._result))
        return self._packed(addresses)

    def words(self) -> Iterator[list[int]]:
        """Of each argument the words that a function of level llvm gets for it, as 64 bits each."""
        for buffer, value in zip(self._buffers, self._values, strict=True):
            if buffer is None:
                assert value is not None
                yield [word_of(value.tobytes())]
            else:
                yield [word & _WORD for word in buffer.descriptor()]

    def _packed(self, addresses: list[int]) -> Any:
        packed = (ctypes.c_void_p * max(len(addresses), 1))(*addresses)
        self._kept.append(packed)
        return packed

    def _indirect(self, address: int) -> int:
        cell = ctypes.c_void_p(address)
        self._kept.append(cell)
        return ctypes.addressof(cell)

    def results(self) -> tuple[np.ndarray, ...]:
        """Copies of the function's results, then of the buffers that it may write."""
        found = []
        at = 0 if self._result is None else ctypes.addressof(self._result)
        for kind in self.signature.results:
            at = -(-at // _alignment(kind)) * _alignment(kind)
            found.append(read_result(kind, at))
            at += _size(kind)
        for position, buffer in enumerate(self._buffers):
            if buffer is not None and writable(self.signature.roles[position]):
                found.append(buffer.get())
        return tuple(found)

    def refill(self) -> None:
        """Make the buffers what they were before the first call."""
        for position, buffer in self.buffers():
            buffer.raw[:] = buffer.poison
            if self.signature.roles[position] != "out":
                buffer.put(self.given.arguments[position])

    def areas(self) -> list[tuple[int, tuple[int, ...], tuple[int, ...]] | None]:
        """Where each of ``results`` lies: address, shape, strides in bytes; None of a scalar that was returned."""
        found: list[tuple[int, tuple[int, ...], tuple[int, ...]] | None] = []
        at = 0 if self._result is None else ctypes.addressof(self._result)
        for kind in self.signature.results:
            at = -(-at // _alignment(kind)) * _alignment(kind)
            if kind.form == "scalar":
                found.append(None)
            else:
                rank, item = len(kind.shape), kind.dtype.itemsize
                words = (ctypes.c_int64 * (3 + 2 * rank)).from_address(at)
                strides = tuple(stride * item for stride in words[3 + rank :])
                found.append((words[1] + words[2] * item, tuple(words[3 : 3 + rank]), strides))
            at += _size(kind)
        for position, buffer in enumerate(self._buffers):
            if buffer is not None and writable(self.signature.roles[position]):
                found.append((buffer.address, buffer.view.shape, buffer.view.strides))
        return found

    def mutated(self) -> tuple[int, ...]:
        """Arguments that may only be read and have changed."""
        return tuple(p for p, b in self.buffers() if p in self._before and b.bytes_of() != self._before[p])

    def outside(self) -> tuple[int, ...]:
        """Arguments beside whose elements a byte has changed."""
        return tuple(p for p, b in self.buffers() if not b.intact())


def _fits(kind: Kind, array: np.ndarray, position: int) -> None:
    if kind.form == "pointer":
        return
    if len(kind.shape) != array.ndim or any(w not in (None, g) for w, g in zip(kind.shape, array.shape, strict=True)):
        raise ValueError(f"argument {position} has shape {array.shape}, its type is {kind.text}")


def _alignment(kind: Kind) -> int:
    if kind.form != "scalar":
        return 8
    return kind.dtype.itemsize // 2 if kind.dtype.kind == "c" else kind.dtype.itemsize


def _size(kind: Kind) -> int:
    return kind.dtype.itemsize if kind.form == "scalar" else 8 * (3 + 2 * len(kind.shape))


def result_area(results: Sequence[Kind]) -> tuple[Any, bool]:
    """Memory for the results, and whether its address is the first argument (structs) or the last (one scalar)."""
    if not results:
        return None, False
    leading = len(results) > 1 or results[0].form != "scalar" or results[0].dtype.kind == "c"
    return ctypes.create_string_buffer(sum(_size(k) + 16 for k in results)), leading


def read_result(kind: Kind, at: int) -> np.ndarray:
    """A copy of the result that lies at address ``at``: a scalar, or the descriptor of a memref."""
    item = kind.dtype.itemsize
    if kind.form == "scalar":
        return np.frombuffer(ctypes.string_at(at, item), kind.dtype).reshape(()).copy()
    rank = len(kind.shape)
    words = (ctypes.c_int64 * (3 + 2 * rank)).from_address(at)
    shape, strides = tuple(words[3 : 3 + rank]), tuple(words[3 + rank :])
    if any(extent < 0 or extent > 1 << 40 for extent in shape):
        raise ExecutionError("compile", f"a result has the shape {shape}")
    if 0 in shape:
        return np.zeros(shape, kind.dtype)
    span = 1 + sum((extent - 1) * stride for extent, stride in zip(shape, strides, strict=True))
    raw = np.frombuffer(ctypes.string_at(words[1] + words[2] * item, span * item), np.uint8).view(f"V{item}")
    view = np.lib.stride_tricks.as_strided(raw, shape, tuple(s * item for s in strides))
    flat = np.ascontiguousarray(view).reshape(-1)
    if kind.dtype == np.bool_:
        return (flat.view(np.uint8) & 1).astype(np.bool_).reshape(shape)
    return flat.view(kind.dtype).reshape(shape).copy()
