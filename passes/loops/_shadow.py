"""Building blocks of ``kc-instrument-accesses``: ops by name, the sites, and the address of an access."""
from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Sequence
from typing import Any

from kc.bindings import ir
from kc.dataflow import NODE
from kc.diagnostics import location_of
from kc.passes.loops._messages import declare
from kc.passes.loops._teams import RUNTIME as TEAMS

#: attribute of an instrumented module: its sites as JSON, in the order of their numbers
SITES = "kc.sites"
READ, WRITE, ATOMIC = 0, 1, 2
#: what instrumented code calls
RUNTIME = {
    "kc_shadow_access": "(i64, index, index, i64)",
    "kc_shadow_move": "(i64, index, index, index, index)",
    "kc_shadow_made": "(i64, index, i64)",
    "kc_shadow_global": "(i64, index, i64, i64)",
    "kc_shadow_fork": "()",
    "kc_shadow_iteration": "(i64, i64, i64, i64)",
    "kc_shadow_join": "()",
    **TEAMS,
}
_BITS = {"f64": 64, "f32": 32, "f16": 16, "bf16": 16, "index": 64}


def emit(
    name: str, operands: Sequence[ir.Value] = (), results: Sequence[ir.Type] = (), regions: int = 0, **attributes: Any
) -> Any:
    """An op at the insertion point: its result, or the op itself when it has not just one."""
    op = ir.Operation.create(name, list(results), list(operands), attributes, regions=regions)
    return op.results[0] if len(results) == 1 else op


def index(value: int) -> ir.Value:
    """A constant of type ``index``."""
    kind = ir.IndexType.get()
    return emit("arith.constant", (), [kind], value=ir.IntegerAttr.get(kind, value))


def i64(value: int) -> ir.Value:
    """A constant of type ``i64``."""
    kind = ir.IntegerType.get_signless(64)
    return emit("arith.constant", (), [kind], value=ir.IntegerAttr.get(kind, value))


def compare(predicate: str, a: ir.Value, b: ir.Value) -> ir.Value:
    """``arith.cmpi``."""
    number = {"eq": 0, "slt": 2, "sle": 3, "ult": 6, "ule": 7}[predicate]
    code = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), number)
    return emit("arith.cmpi", (a, b), [ir.IntegerType.get_signless(1)], predicate=code)


def add(a: ir.Value, b: ir.Value) -> ir.Value:
    """``arith.addi``."""
    return emit("arith.addi", (a, b), [a.type])


def both(a: ir.Value, b: ir.Value) -> ir.Value:
    """``arith.andi``."""
    return emit("arith.andi", (a, b), [a.type])


def bytes_of(element: ir.Type) -> int:
    """Size of an element in memory; raises ValueError for a type whose layout is not known here."""
    if isinstance(element, ir.VectorType):
        count = 1
        for extent in element.shape:
            count *= extent
        return count * bytes_of(element.element_type)
    if isinstance(element, ir.ComplexType):
        return 2 * bytes_of(element.element_type)
    text = str(element)
    bits = _BITS.get(text) or (ir.IntegerType(element).width if isinstance(element, ir.IntegerType) else 0)
    if not bits and text.startswith("f") and text[1:2].isdigit():
        bits = 8
    if not bits:
        raise ValueError(f"how elements of type {element} lie in memory is not known")
    return max(1, (bits + 7) // 8)


@dataclasses.dataclass
class Sites:
    """The places in the module that touch memory."""

    known: list[dict[str, Any]] = dataclasses.field(default_factory=list)

    @classmethod
    def of(cls, module: ir.Operation) -> Sites:
        """Those that a first run has left on the module."""
        attributes = module.attributes
        return cls(json.loads(ir.StringAttr(attributes[SITES]).value) if SITES in attributes else [])

    def add(self, op: ir.Operation, mode: int, size: int, lanes: int = 1) -> ir.Value:
        """The number of a new site, as a constant."""
        where = location_of(op)
        place = f"{where.line}:{where.col}" if where else ""
        site = {"op": op.name, "place": place, "mode": mode, "bytes": size, "lanes": lanes}
        if NODE in op.attributes:
            site["node"] = ir.IntegerAttr(op.attributes[NODE]).value
        self.known.append(site)
        return i64(len(self.known) - 1)

    def write(self, module: ir.Operation) -> None:
        """Leave them on the module."""
        module.attributes[SITES] = ir.StringAttr.get(json.dumps(self.known))


def call(module: ir.Operation, name: str, *operands: ir.Value) -> None:
    """Call a function of the shadow runtime."""
    declare(module, name, RUNTIME[name])
    emit("func.call", operands, [], callee=ir.FlatSymbolRefAttr.get(name))


def loop(count: ir.Value, body: Callable[[ir.Value], None]) -> None:
    """``scf.for`` from 0 to ``count``."""
    made = emit("scf.for", (index(0), count, index(1)), [], 1)
    block = made.regions[0].blocks.append(ir.IndexType.get(), arg_locs=[ir.Location.current])
    with ir.InsertionPoint(block):
        body(block.arguments[0])
        emit("scf.yield")


@dataclasses.dataclass
class View:
    """A memref's aligned pointer, offset, sizes and strides as values of type ``index``."""

    pointer: ir.Value
    offset: ir.Value
    sizes: list[ir.Value]
    strides: list[ir.Value]

    @classmethod
    def of(cls, value: ir.Value) -> View:
        """Asked of the descriptor, right where ``value`` is defined."""
        kind = ir.MemRefType(value.type)
        word = ir.IndexType.get()
        base = ir.MemRefType.get([], kind.element_type, memory_space=kind.memory_space)
        pointer = emit("memref.extract_aligned_pointer_as_index", [value], [word])
        op = emit("memref.extract_strided_metadata", [value], [base, *[word] * (1 + 2 * kind.rank)])
        words = list(op.results)[1:]
        return cls(pointer, words[0], words[1 : 1 + kind.rank], words[1 + kind.rank :])

    def element(self, indices: Sequence[ir.Value], lanes: int = 1) -> tuple[ir.Value, ir.Value]:
        """(offset of the element from the pointer, whether every index lies in its dimension, as i64).

        With ``lanes``, that many elements along the last dimension.
        """
        at = self.offset
        inside: ir.Value | None = None
        for axis, (position, size, stride) in enumerate(zip(indices, self.sizes, self.strides, strict=True)):
            at = add(at, emit("arith.muli", (position, stride), [at.type]))
            fits = compare("ult", position, size)
            if lanes > 1 and axis == len(self.sizes) - 1:
                fits = both(fits, compare("sle", add(position, index(lanes)), size))
            inside = fits if inside is None else both(inside, fits)
        if inside is None:
            return at, i64(1)
        return at, emit("arith.extui", [inside], [ir.IntegerType.get_signless(64)])
