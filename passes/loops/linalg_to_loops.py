"""``kc-linalg-to-loops``: bufferized linalg.generic ops to loops that LLVM can vectorise and threads can share."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, ClassVar

from kc.bindings import ir, memref
from kc.builder.loop_nest import Access, Loop, Nest, Point, Size, emit, mentions
from kc.pass_base import Pass
from kc.rewrite import walk_ops

if TYPE_CHECKING:
    from kc.pass_base import PassContext

_THREADED = frozenset({"scf.parallel", "scf.forall", "omp.parallel", "gpu.launch"})
_REASSOCIABLE = frozenset({"arith.addf", "arith.mulf"})


@dataclasses.dataclass(frozen=True)
class LinalgToLoops(Pass):
    """Lower ``linalg.generic`` on memrefs (run ``linalg-generalize-named-ops`` first) to ``scf`` loops.

    This is the general road: correct for every linalg.generic, fast where no schedule was needed. Adjacent loops
    that all operands walk in step become one. The innermost loop is the one that most operands have contiguous;
    where that is a reduction, the outputs are carried in registers through the reduction loops, and its additions
    may be reassociated (``strict-fp`` forbids it), which lets LLVM vectorise it. When the work is at least
    ``min-work`` scalar ops, outer parallel loops become one ``scf.parallel`` over chunks of at least ``grain`` ops
    each; inside a parallel loop nothing is made parallel again. ``grain=0`` makes all loops sequential. ::

        linalg.generic {iterator_types = ["parallel", "reduction"], …} ins(%x : memref<4x8xf32>) outs(%s :
        memref<4xf32>)

    becomes ::

        scf.for %i = %c0 to %c4 step %c1 {
          %0 = memref.load %s[%i]
          %1 = scf.for %k = %c0 to %c8 step %c1 iter_args(%a = %0) -> (f32) {
            %2 = memref.load %x[%i, %k]
            %3 = arith.addf %2, %a fastmath<reassoc,contract> : f32
            scf.yield %3
          }
          memref.store %1, %s[%i]
        }
    """

    name: ClassVar[str] = "kc-linalg-to-loops"
    anchor: ClassVar[str] = "any"
    level: ClassVar[tuple[str, str]] = ("linalg", "loops")
    dialects: ClassVar[tuple[str, ...]] = ("arith", "memref", "scf")
    grain: int = 16384
    min_work: int = 131072
    strict_fp: bool = False

    def acts_on(self) -> frozenset[str]:
        """See ``Pass.acts_on``."""
        return frozenset({"linalg.generic"})

    def run(self, op: ir.Operation, ctx: PassContext) -> None:
        """See the class."""
        for generic in walk_ops(op, "linalg.generic"):
            if generic.results:
                ctx.error(generic, "'linalg.generic' still works on tensors: bufferize first (one-shot-bufferize)")
            with generic.location, ir.InsertionPoint(generic):
                self._lower(generic, ctx)

    def _lower(self, generic: ir.Operation, ctx: PassContext) -> None:
        maps = [attribute.value for attribute in generic.attributes["indexing_maps"]]
        kinds = ["parallel" in str(kind) for kind in generic.attributes["iterator_types"]]
        inputs, outputs = list(generic.attributes["operandSegmentSizes"])
        operands = list(generic.operands)
        block = generic.regions[0].blocks[0]
        ops = _ops_of(generic)
        accesses = [Access(value, tuple(map_.results)) for value, map_ in zip(operands, maps, strict=True)]
        sizes = _sizes(accesses, len(kinds))
        missing = next((dim for dim, size in enumerate(sizes) if size is None), None)
        if missing is not None:
            ctx.error(generic, f"no operand of this op tells the size of its loop d{missing}")
        indexes = walk_ops(generic, "linalg.index")
        groups = [[dim] for dim in range(len(kinds))] if indexes else _groups(accesses, kinds)
        loops = [_make_loop(group, sizes, kinds) for group in groups]
        accesses = [_merge(access, groups) for access in accesses]
        nest = Nest(loops, accesses, outputs, cost=max(1, len(ops) - 1 + len(operands)))
        yields = [any(True for _ in argument.uses) for argument in list(block.arguments)[inputs:]]
        if any(not kind for kind in kinds) and not all(yields):
            yields = [
                True
            ] * outputs  # an output that a reduction does not read still keeps its value when no loop runs
        nest.plan(0 if _inside_threads(generic) else self.grain, self.min_work)
        if not self.strict_fp and not all(kinds):
            _allow_reassociation(block, inputs, ops)

        def body(point: Point, values: list[ir.Value | None]) -> list[ir.Value]:
            for argument, value in zip(block.arguments, values, strict=True):
                if value is not None:
                    argument.replace_all_uses_with(value)
            point_now = ir.InsertionPoint.current
            for inner in ops[:-1]:
                if point_now.ref_operation is None:
                    point_now.block.append(inner)
                else:  # no loop at all: the op is of rank zero
                    inner.move_before(point_now.ref_operation)
            for inner in indexes:
                dim = ir.IntegerAttr(inner.attributes["dim"]).value
                inner.results[0].replace_all_uses_with(point.dim(dim))
                inner.erase()
            return list(ops[-1].operands)

        emit(nest, body, yields)
        generic.erase()


def _ops_of(generic: ir.Operation) -> list[ir.Operation]:
    """The ops of the body itself, the terminator last (walking creates no OpViews, so it imports no dialect
    modules)."""
    found: list[ir.Operation] = []

    def visit(inner: ir.Operation) -> ir.WalkResult:
        if inner == generic:
            return ir.WalkResult.ADVANCE
        found.append(inner)
        return ir.WalkResult.SKIP

    generic.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found


def _inside_threads(op: ir.Operation) -> bool:
    parent = op.parent
    while parent is not None:
        if parent.operation.name in _THREADED:
            return True
        parent = parent.operation.parent
    return False


def _sizes(accesses: list[Access], count: int) -> list[Size | None]:
    """The size of each dim: an operand's extent along an axis that the dim alone steps through."""
    found: list[Size | None] = [None] * count
    dynamic: dict[int, tuple[ir.Value, int]] = {}
    for access in accesses:
        if not access.is_memref:
            continue
        shape = ir.MemRefType(access.value.type).shape
        for axis, expr in enumerate(access.exprs):
            if not isinstance(expr, ir.AffineDimExpr) or isinstance(found[expr.position], int):
                continue
            if ir.ShapedType(access.value.type).is_dynamic_dim(axis):
                dynamic.setdefault(expr.position, (access.value, axis))
            else:
                found[expr.position] = shape[axis]
    for dim, (value, axis) in dynamic.items():
        if found[dim] is None:
            index = ir.IndexType.get()
            position = ir.Operation.create(
                "arith.constant", results=[index], attributes={"value": ir.IntegerAttr.get(index, axis)}
            ).results[0]
            found[dim] = memref.dim(value, position)
    return found


def _groups(accesses: list[Access], kinds: list[bool]) -> list[list[int]]:
    """Dims 0 … n-1 cut into runs that every operand walks in step, or not at all, over contiguous axes."""
    groups: list[list[int]] = []
    for dim, kind in enumerate(kinds):
        if groups and kinds[dim - 1] == kind and all(_in_step(access, dim - 1, dim) for access in accesses):
            groups[-1].append(dim)
        else:
            groups.append([dim])
    return groups


def _in_step(access: Access, left: int, right: int) -> bool:
    if not access.is_memref:
        return True
    places = [expr.position if isinstance(expr, ir.AffineDimExpr) else None for expr in access.exprs]
    if any(place is None and mentions(expr, {left, right}) for place, expr in zip(places, access.exprs, strict=True)):
        return False
    if left not in places and right not in places:
        return True
    if places.count(left) != 1 or places.count(right) != 1 or places.index(right) != places.index(left) + 1:
        return False
    return _is_identity_layout(access.value)


def _is_identity_layout(value: ir.Value) -> bool:
    kind = ir.MemRefType(value.type)
    return kind.affine_map == ir.AffineMap.get_identity(kind.rank)


def _make_loop(group: list[int], sizes: list[Size | None], kinds: list[bool]) -> Loop:
    total: Size | None = None
    known = 1
    for dim in group:
        size = sizes[dim]
        if isinstance(size, int):
            known *= size
        elif total is None:
            total = size
        else:
            total = _multiply(total, size)
    if total is None:
        result: Size = known
    else:
        result = total if known == 1 else _multiply(total, known)
    return Loop(result, kinds[group[0]], tuple(group))


def _multiply(left: Size, right: Size | None) -> ir.Value:
    assert right is not None
    index = ir.IndexType.get()
    values = [
        ir.Operation.create(
            "arith.constant", results=[index], attributes={"value": ir.IntegerAttr.get(index, side)}
        ).results[0]
        if isinstance(side, int)
        else side
        for side in (left, right)
    ]
    return ir.Operation.create("arith.muli", results=[index], operands=values).results[0]


def _merge(access: Access, groups: list[list[int]]) -> Access:
    """``access`` with the axes of merged dims collapsed; the merged loop goes by the last dim of its group."""
    runs = {group[0]: group for group in groups if len(group) > 1}
    if not access.is_memref or not runs:
        return access
    reassociation: list[list[int]] = []
    exprs: list[ir.AffineExpr] = []
    axis = 0
    while axis < len(access.exprs):
        expr = access.exprs[axis]
        run = runs.get(expr.position) if isinstance(expr, ir.AffineDimExpr) else None
        width = len(run) if run else 1
        reassociation.append(list(range(axis, axis + width)))
        exprs.append(access.exprs[axis + width - 1])
        axis += width
    if len(exprs) == len(access.exprs):
        return access
    kind = ir.MemRefType(access.value.type)
    dynamic = ir.ShapedType.get_dynamic_size()
    shape = []
    for run_axes in reassociation:
        extent = 1
        for axis in run_axes:
            extent = dynamic if dynamic in (extent, kind.shape[axis]) else extent * kind.shape[axis]
        shape.append(extent)
    result = ir.MemRefType.get(shape, kind.element_type, memory_space=kind.memory_space)
    collapsed = memref.collapse_shape(result, access.value, reassociation)
    return Access(collapsed, tuple(exprs))


def _allow_reassociation(block: ir.Block, inputs: int, ops: list[ir.Operation]) -> None:
    """Mark the additions and products that fold into an output, so that they may be vectorised in any order.

    Products that only feed such an addition may contract with it.
    """
    flags = ir.Attribute.parse("#arith.fastmath<reassoc,contract>")
    outputs = list(block.arguments)[inputs:]
    for position, value in enumerate(ops[-1].operands):
        owner = value.owner
        if isinstance(owner, ir.Block) or owner.operation.name not in _REASSOCIABLE:
            continue
        combiner = owner.operation
        if outputs[position] not in list(combiner.operands) or "f" not in str(combiner.results[0].type):
            continue
        combiner.attributes["fastmath"] = flags
        for operand in combiner.operands:
            factor = operand.owner
            if isinstance(factor, ir.Block) or factor.operation.name != "arith.mulf":
                continue
            if sum(1 for _ in operand.uses) == 1 and combiner.name == "arith.addf":
                factor.operation.attributes["fastmath"] = ir.Attribute.parse("#arith.fastmath<contract>")
