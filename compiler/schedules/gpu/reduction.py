"""Folding one value per thread over the threads that own a row."""

from __future__ import annotations

import dataclasses
import math

from kc.bindings import llvm
from kc.builder.expr import Ops, wide
from kc.builder.gpu import Value, at, const, if_, load, store, tree
from kc.builder.gpu_math import combine
from kc.builder.gpu_ops import barrier, butterfly, shared_memory

_WARP = 32


def neutral(op: str, kind: str) -> int | float | None:
    """The element that ``op`` on element type ``kind`` leaves alone; None if ``op`` is not known."""
    if kind in ("index", "i1") or kind[0] == "i":
        width = 64 if kind == "index" else int(kind[1:])
        return {
            "arith.addi": 0,
            "arith.ori": 0,
            "arith.xori": 0,
            "arith.maxui": 0,
            "arith.muli": 1,
            "arith.andi": -1,
            "arith.minui": -1,
            "arith.maxsi": -(1 << (width - 1)),
            "arith.minsi": (1 << (width - 1)) - 1,
        }.get(op)
    return {
        "arith.addf": -0.0,
        "arith.mulf": 1.0,
        "arith.maximumf": -math.inf,
        "arith.minimumf": math.inf,
        "arith.maxnumf": math.nan,
        "arith.minnumf": math.nan,
    }.get(op)


@dataclasses.dataclass
class RowReduction:
    """Reductions over ``threads`` threads a row, ``rows`` rows side by side in a block.

    ``row`` and ``thread``: this thread's row in the block and its number in the row (i32). Every reduction has its own
    slots of shared memory, so one barrier each is enough.
    """

    ops: Ops
    threads: int
    rows: int
    row: Value
    thread: Value
    used: int = 0  # bytes of shared memory

    def __call__(self, op: str, value: Value) -> Value:
        """``op`` over the values of the row's threads; every thread gets the result."""
        kind = value.kind
        word = _to_word(value)
        distance = min(self.threads, _WARP) // 2
        while distance:
            other = _from_word(butterfly(word, distance), kind)
            word = _to_word(combine(self.ops, op, _from_word(word, kind), other))
            distance //= 2
        if self.threads <= _WARP:
            return _from_word(word, kind)
        return self._across_warps(op, word, kind)

    def _across_warps(self, op: str, word: Value, kind: str) -> Value:
        warps, size = self.threads // _WARP, 8 if word.kind in ("f64", "i64") else 4
        base = -(-self.used // 16) * 16
        self.used = base + warps * self.rows * size
        slots = at(shared_memory(), self.row * (warps * size), base)
        with if_((self.thread & (_WARP - 1)).eq(0)):
            store(word, at(slots, (self.thread >> 5) * size), size)
        if self.rows == 1:
            barrier()
        else:
            barrier(self.row + 1, self.threads)
        step = 16 // size
        words: list[Value] = []
        if warps % step == 0:
            for start in range(0, warps, step):
                run = load(f"vector<{step}x{word.kind}>", at(slots, start * size), 16)
                words += [Value(llvm.extractelement(run.ssa, const(lane).ssa)) for lane in range(step)]
        else:
            words = [load(word.kind, at(slots, number * size), size) for number in range(warps)]
        return tree([_from_word(item, kind) for item in words], lambda a, b: combine(self.ops, op, a, b))


def _to_word(value: Value) -> Value:
    """A value that shuffles can carry: 32 or 64 bits."""
    if value.kind == "index":
        return value.resize("i64")
    return value.zext("i32") if value.kind in ("i1", "i8", "i16") else value


def _from_word(word: Value, kind: str) -> Value:
    if kind == "index":
        return word.resize("index")
    return word.trunc(kind) if kind in ("i1", "i8", "i16") else word


def neutral_value(op: str, kind: str) -> Value:
    """``neutral`` as a value of the type that elements of ``kind`` are computed with."""
    number = neutral(op, kind)
    assert number is not None
    return const(number, wide(kind))
