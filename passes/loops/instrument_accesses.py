"""``kc-instrument-accesses``: a call before every access to memory, for runs that are watched."""
from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from kc.bindings import ir
from kc.pass_base import Pass
from kc.passes.loops import _shadow as shadow
from kc.passes.loops import _teams as teams
from kc.passes.loops._shadow import READ, WRITE, Sites, View
from kc.passes.loops._shadow_vectors import VECTORS, Lanes
from kc.rewrite import replace_op, walk_ops

if TYPE_CHECKING:
    from kc.pass_base import PassContext

def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: dialects whose ops do not touch memory, but for those that this pass knows by name
_PURE = _names("arith math complex index ub scf cf func affine vector builtin shape")
_QUIET = _names(
    "memref.alloc memref.dealloc memref.cast memref.dim memref.subview memref.view memref.reinterpret_cast "
    "memref.collapse_shape memref.expand_shape memref.transpose memref.reshape memref.rank memref.prefetch "
    "memref.memory_space_cast memref.extract_strided_metadata memref.extract_aligned_pointer_as_index memref.global "
    "memref.assume_alignment memref.alloca_scope memref.alloca_scope.return memref.atomic_yield "
    "memref.distinct_objects llvm.mlir.addressof llvm.mlir.global"
)
_DONE = "kc.watched"
_NO_INDEX = -(1 << 63)
_AFFINE_MEMORY = _names("affine.load affine.store affine.vector_load affine.vector_store affine.parallel")


@dataclasses.dataclass(frozen=True)
class InstrumentAccesses(Pass):
    """Tell the shadow memory of ``kc.agents.execution`` of every access before it happens.

    For modules after linalg, ``scf.forall`` and ``affine`` are lowered; any other op that may touch memory is an
    error. With ``partial`` such ops are left for a second run: lowering them may drop accesses whose value nobody
    uses, so that these must be instrumented before. What is done carries ``kc.watched``. ``memref.alloca`` becomes
    ``memref.alloc``, since the shadow memory knows blocks of the heap. Each access has a number; what stands behind it
    is in the module's attribute ``kc.sites``. ::

        %v = memref.load %m[%i] : memref<?xf32>

    becomes ::

        %p = memref.extract_aligned_pointer_as_index %m : memref<?xf32> -> index
        %base, %offset, %size, %stride = memref.extract_strided_metadata %m : …
        …                           // %at = %offset + %i * %stride, %inside = %i < %size
        call @kc_shadow_access(%site, %p, %at, %inside) : (i64, index, index, i64) -> ()
        %v = memref.load %m[%i] : memref<?xf32>

    and ``scf.parallel`` is surrounded by calls that say when an iteration starts, so that races are found though
    iterations run one after the other. So are OpenMP's loops, teams and barriers (``_teams``).
    """

    name: ClassVar[str] = "kc-instrument-accesses"
    anchor: ClassVar[str] = "builtin.module"
    level: ClassVar[str] = "loops"
    dialects: ClassVar[tuple[str, ...]] = ("arith", "func", "memref", "scf", "vector")
    partial: bool = False

    def run(self, op: ir.Operation, ctx: PassContext) -> None:
        """See the class."""
        work = _Work(op, ctx, self.partial)
        for inner in walk_ops(op):
            if _DONE not in inner.attributes:
                work.visit(inner)
        for allocation in walk_ops(op, "memref.alloca"):
            _to_heap(allocation)
        work.sites.write(op)


class _Work:
    """One module."""

    def __init__(self, module: ir.Operation, ctx: PassContext, partial: bool):
        self.module, self.ctx, self.partial = module, ctx, partial
        self.sites = Sites.of(module)
        self._views: dict[ir.Value, View] = {}

    def visit(self, op: ir.Operation) -> None:
        """Instrument ``op``; an error when it cannot be."""
        name = op.name
        handler = _HANDLERS.get(name) or (_team if teams.is_known(name) else None)
        if handler is None and name not in VECTORS:
            known = name not in _AFFINE_MEMORY and (name in _QUIET or name.partition(".")[0] in _PURE)
            if not known and not self.partial:
                self.ctx.error(op, f"'{name}' cannot be watched; loads, stores, copies, vectors, parallel loops can")
            return
        try:
            with op.location, ir.InsertionPoint(_place_of(op)):
                if handler is not None:
                    handler(self, op)
                else:
                    Lanes(self, op).emit()
        except ValueError as error:
            self.ctx.error(op, str(error))
        op.attributes[_DONE] = ir.UnitAttr.get(self.module.context)

    def view(self, value: ir.Value) -> View:
        """Of a memref, asked for once, where it is defined."""
        found = self._views.get(value)
        if found is None:
            with _after(value), value.owner.location if isinstance(value.owner, ir.Operation) else value.location:
                found = self._views[value] = View.of(value)
        return found

    def access(self, op: ir.Operation, mode: int, memref: ir.Value, indices: list[ir.Value], lanes: int = 1) -> None:
        """Tell of one access; ``lanes`` elements along the last dimension."""
        size = shadow.bytes_of(ir.MemRefType(memref.type).element_type)
        view = self.view(memref)
        at, inside = view.element(indices, lanes)
        self.call("kc_shadow_access", self.sites.add(op, mode, size, lanes), view.pointer, at, inside)

    def call(self, name: str, *operands: ir.Value) -> None:
        """Call the runtime."""
        shadow.call(self.module, name, *operands)


def _place_of(op: ir.Operation) -> ir.Operation:
    """Before which op to tell of it: before the mask around a vector op, which may hold nothing else."""
    parent = op.parent
    return parent.operation if parent is not None and parent.name == "vector.mask" else op


def _after(value: ir.Value) -> ir.InsertionPoint:
    owner = value.owner
    if isinstance(owner, ir.Block):
        return ir.InsertionPoint.at_block_begin(owner)
    return ir.InsertionPoint.after(owner.operation)


def _load(work: _Work, op: ir.Operation) -> None:
    work.access(op, READ, op.operands[0], list(op.operands)[1:])


def _store(work: _Work, op: ir.Operation) -> None:
    work.access(op, WRITE, op.operands[1], list(op.operands)[2:])


def _atomic(work: _Work, op: ir.Operation) -> None:
    work.access(op, shadow.ATOMIC, op.operands[1], list(op.operands)[2:])


def _generic_atomic(work: _Work, op: ir.Operation) -> None:
    work.access(op, shadow.ATOMIC, op.operands[0], list(op.operands)[1:])


def _copy(work: _Work, op: ir.Operation) -> None:
    source, target = op.operands
    size = shadow.bytes_of(ir.MemRefType(source.type).element_type)
    site = work.sites.add(op, READ, size)
    work.sites.add(op, WRITE, size)
    read, written = work.view(source), work.view(target)

    def level(indices: list[ir.Value]) -> None:
        if len(indices) < len(read.sizes):
            shadow.loop(read.sizes[len(indices)], lambda position: level([*indices, position]))
            return
        (from_, _), (to, _) = read.element(indices), written.element(indices)
        work.call("kc_shadow_move", site, read.pointer, from_, written.pointer, to)

    level([])


def _allocation(work: _Work, op: ir.Operation) -> None:
    size = shadow.bytes_of(ir.MemRefType(op.results[0].type).element_type)
    with ir.InsertionPoint.after(op):
        pointer = shadow.emit("memref.extract_aligned_pointer_as_index", [op.results[0]], [ir.IndexType.get()])
        site = work.sites.add(op, WRITE, size)
        work.call("kc_shadow_made", site, pointer, shadow.i64(int(op.name == "memref.alloca")))


def _global(work: _Work, op: ir.Operation) -> None:
    kind = ir.MemRefType(op.results[0].type)
    size = shadow.bytes_of(kind.element_type)
    count = 1
    for extent in kind.shape:
        count *= extent
    table = ir.SymbolTable(work.module)
    held = table[ir.FlatSymbolRefAttr(op.attributes["name"]).value].operation
    written = "initial_value" in held.attributes and not isinstance(held.attributes["initial_value"], ir.UnitAttr)
    state = 2 if "constant" in held.attributes else int(written)
    with ir.InsertionPoint.after(op):
        pointer = shadow.emit("memref.extract_aligned_pointer_as_index", [op.results[0]], [ir.IndexType.get()])
        site = work.sites.add(op, READ, size)
        work.call("kc_shadow_global", site, pointer, shadow.i64(count * size), shadow.i64(state))


def _parallel(work: _Work, op: ir.Operation) -> None:
    work.call("kc_shadow_fork")
    with ir.InsertionPoint.after(op):
        work.call("kc_shadow_join")
    body = op.regions[0].blocks[0]
    with ir.InsertionPoint.at_block_begin(body):
        i64 = ir.IntegerType.get_signless(64)
        numbers = [shadow.emit("arith.index_cast", [a], [i64]) for a in list(body.arguments)[:4]]
        numbers += [shadow.i64(_NO_INDEX) for _ in range(4 - len(numbers))]
        work.call("kc_shadow_iteration", *numbers)


def _team(work: _Work, op: ir.Operation) -> None:
    i64 = ir.IntegerType.get_signless(64)

    def wide(value: ir.Value) -> ir.Value:
        if value.type == i64:
            return value
        cast = "arith.index_cast" if isinstance(value.type, ir.IndexType) else "arith.extsi"
        return shadow.emit(cast, [value], [i64])

    teams.tell(op, work.call, wide, shadow.i64, _NO_INDEX)


_HANDLERS: dict[str, Callable[[_Work, ir.Operation], None]] = {
    "memref.load": _load,
    "memref.store": _store,
    "memref.atomic_rmw": _atomic,
    "memref.generic_atomic_rmw": _generic_atomic,
    "memref.copy": _copy,
    "memref.alloc": _allocation,
    "memref.alloca": _allocation,
    "memref.get_global": _global,
    "scf.parallel": _parallel,
}


def _to_heap(op: ir.Operation) -> None:
    """``memref.alloca`` as ``memref.alloc``."""
    with op.location, ir.InsertionPoint(op):
        attributes = {name: op.attributes[name] for name in op.attributes}
        made = ir.Operation.create("memref.alloc", [op.results[0].type], list(op.operands), attributes)
    replace_op(op, [made.results[0]])
