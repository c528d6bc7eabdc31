"""Reading and writing runs of elements in global memory, 16 bytes at a time where they allow it.

A run is loaded *raw* (32-bit words where elements pack into them) and *unpacked* into the values that are computed with
(half types as f32). Raw words are what a row schedule keeps in registers when unpacked values would not fit.
"""

from __future__ import annotations

import dataclasses

from kc.bindings import llvm, vector
from kc.builder.expr import HALF, wide
from kc.builder.gpu import Value, at, const, load, mlir_type, pin, store
from kc.builder.gpu_ops import narrow, pack_half, unpack_half, widen


@dataclasses.dataclass
class Raw:
    """``count`` elements of ``kind``: 32-bit ``words`` when ``packed``, else one value an element."""

    kind: str
    count: int
    values: list[Value]
    packed: bool

    def unpack(self) -> list[Value]:
        """The elements, half types extended to f32."""
        if not self.packed:
            return self.values
        if self.kind in HALF:
            return [half for word in self.values for half in unpack_half(word, self.kind)]
        return [word.bitcast(self.kind) for word in self.values]

    def pinned(self) -> Raw:
        """The same elements, to be unpacked anew: nothing computed from them before is reused."""
        return dataclasses.replace(self, values=pin(self.values, "i32")) if self.packed else self


def _size(kind: str) -> int:
    return {"bf16": 2, "i1": 1, "index": 8}.get(kind) or int(kind[1:]) // 8


def memory_kind(kind: str) -> str:
    """The type that an element is moved in."""
    return {"i1": "i8", "index": "i64", "bf16": "i16", "f16": "i16"}.get(kind, kind)


def _packs(kind: str, count: int) -> bool:
    return kind in ("f32", "i32") or (kind in HALF and count % 2 == 0)


def load_raw(pointer: Value, kind: str, count: int, invariant: bool) -> Raw:
    """``count`` consecutive elements; the address must be a multiple of their bytes (16 at most)."""
    size = _size(kind)
    step = min(count, 16 // size)
    packed = _packs(kind, count)
    values: list[Value] = []
    for start in range(0, count, step):
        place = at(pointer, start * size)
        element, lanes = ("i32", step * size // 4) if packed else (memory_kind(kind), step)
        if lanes == 1:
            values.append(load(element, place, size * step, invariant))
        else:
            whole = load(f"vector<{lanes}x{element}>", place, size * step, invariant)
            values += [Value(llvm.extractelement(whole.ssa, const(lane).ssa)) for lane in range(lanes)]
    return Raw(kind, count, values if packed else [from_memory(value, kind) for value in values], packed)


def zero_raw(kind: str, count: int) -> Raw:
    """Zeros in place of a run that must not be read."""
    if _packs(kind, count):
        return Raw(kind, count, [const(0)] * (count * _size(kind) // 4), True)
    return Raw(kind, count, [const(0, wide(kind))] * count, False)


def value_kinds(raw: Raw) -> list[str]:
    """Types of ``raw.values``."""
    return [value.kind for value in raw.values]


def from_memory(value: Value, kind: str) -> Value:
    """A loaded element as the value that is computed with."""
    if kind == "i1":
        return value.ne(0)
    if kind == "index":
        return value.resize("index")
    return widen(value, kind) if kind in HALF else value


def to_memory(value: Value, kind: str) -> Value:
    """A computed value as the element that is stored."""
    if kind == "i1":
        return value.zext("i8")
    if kind == "index":
        return value.resize("i64")
    return narrow(value, kind) if kind in HALF else value


def store_run(pointer: Value, kind: str, values: list[Value]) -> None:
    """Writes consecutive elements; the address must be a multiple of their bytes (16 at most)."""
    size, count = _size(kind), len(values)
    if kind in HALF and count % 2 == 0:
        cells = [pack_half(values[number], values[number + 1], kind) for number in range(0, count, 2)]
        element, cell = "i32", 4
    else:
        cells = [to_memory(value, kind) for value in values]
        element, cell = memory_kind(kind), size
    step = min(len(cells), 16 // cell)
    for start in range(0, len(cells), step):
        place = at(pointer, start * cell)
        if step == 1:
            store(cells[start], place, cell)
        else:
            kind_text = mlir_type(f"vector<{step}x{element}>")
            run = vector.from_elements(kind_text, [value.ssa for value in cells[start : start + step]])
            store(Value(run), place, cell * step)
