"""``kc-simplify-deallocs``: buffers that are plainly a block's own are freed without the ownership machinery."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, ClassVar

from kc.bindings import ir
from kc.pass_base import Pass
from kc.passes.loops._functions import unscheduled
from kc.rewrite import walk_ops

if TYPE_CHECKING:
    from kc.pass_base import PassContext

_VIEWS = frozenset(
    {
        "memref.cast",
        "memref.collapse_shape",
        "memref.expand_shape",
        "memref.memory_space_cast",
        "memref.reinterpret_cast",
        "memref.subview",
        "memref.transpose",
        "memref.view",
    }
)


@dataclasses.dataclass(frozen=True)
class SimplifyDeallocs(Pass):
    """Take allocations out of ``bufferization.dealloc`` that need no check at run time, as ``memref.dealloc``.

    ``ownership-based-buffer-deallocation`` frees all buffers of a block by one op; upstream's simplification
    compares each pair in it, which takes seconds for a few thousand buffers. A buffer that is an allocation itself,
    owned for certain, and that nothing else in the op may alias is freed directly. One that the op is to retain is
    none of its business, unless somebody asks who owns it afterwards. The rest is left to
    ``buffer-deallocation-simplification``. ::

        bufferization.dealloc (%a, %b, %r : memref<4xf32>, memref<8xf32>, memref<4xf32>) if (%true, %c, %true)
            retain (%r : memref<4xf32>)

    becomes ::

        memref.dealloc %a : memref<4xf32>
        bufferization.dealloc (%b : memref<8xf32>) if (%c) retain (%r : memref<4xf32>)
    """

    name: ClassVar[str] = "kc-simplify-deallocs"
    anchor: ClassVar[str] = "any"
    level: ClassVar[str] = "loops"
    dialects: ClassVar[tuple[str, ...]] = ("bufferization", "memref")

    def run(self, op: ir.Operation, ctx: PassContext) -> None:
        """See the class."""
        for root in unscheduled(op):
            for dealloc in walk_ops(root, "bufferization.dealloc"):
                _simplify(dealloc)


def _simplify(dealloc: ir.Operation) -> None:
    count, _, kept = list(dealloc.attributes["operandSegmentSizes"])
    operands = list(dealloc.operands)
    memrefs, conditions, retained = operands[:count], operands[count : 2 * count], operands[2 * count :]
    roots = [_root(value) for value in memrefs]
    others = [_root(value) for value in retained]
    if any(_may_be_anything(root) for root in others):
        return
    taken = {hash(root) for root in others}
    times: dict[int, int] = {}
    for root in roots:
        times[hash(root)] = times.get(hash(root), 0) + 1
    unknown = any(_may_be_anything(root) for root in roots)
    asked = any(True for result in dealloc.results for _ in result.uses)
    rest: list[int] = []
    for position, (value, root) in enumerate(zip(memrefs, roots, strict=True)):
        if not unknown and not asked and _is_alloc(root) and hash(root) in taken:
            continue
        plain = (
            not unknown
            and _is_alloc(value)
            and times[hash(root)] == 1
            and hash(root) not in taken
            and _is_true(conditions[position])
        )
        if not plain:
            rest.append(position)
            continue
        ir.Operation.create("memref.dealloc", operands=[value], loc=dealloc.location, ip=ir.InsertionPoint(dealloc))
    if len(rest) == count:
        return
    if not rest and not asked:
        dealloc.erase()
        return
    new = ir.Operation.create(
        dealloc.name,
        results=[result.type for result in dealloc.results],
        operands=[*(memrefs[i] for i in rest), *(conditions[i] for i in rest), *retained],
        attributes={"operandSegmentSizes": ir.DenseI32ArrayAttr.get([len(rest), len(rest), kept])},
        loc=dealloc.location,
        ip=ir.InsertionPoint(dealloc),
    )
    for old, fresh in zip(dealloc.results, new.results, strict=True):
        old.replace_all_uses_with(fresh)
    dealloc.erase()


def _root(value: ir.Value) -> ir.Value:
    while True:
        owner = value.owner
        if isinstance(owner, ir.Block):
            return value
        name = owner.operation.name
        if (
            name == "memref.extract_strided_metadata" or name in _VIEWS
        ):  # the form in which the op holds views: their base buffer
            value = owner.operation.operands[0]
        else:
            return value


def _is_alloc(value: ir.Value) -> bool:
    """Whether ``value`` is an allocation, or the base buffer of one."""
    owner = value.owner
    return not isinstance(owner, ir.Block) and owner.operation.name == "memref.alloc"


def _may_be_anything(root: ir.Value) -> bool:
    """Whether ``root`` may alias an allocation of the same function: anything but an allocation, a constant, an
    entry argument."""
    owner = root.owner
    if isinstance(owner, ir.Block):
        return owner.owner.operation.name != "func.func"
    return owner.operation.name not in ("memref.alloc", "memref.get_global")


def _is_true(value: ir.Value) -> bool:
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.operation.name != "arith.constant":
        return False
    return str(owner.operation.attributes["value"]) in ("true", "1 : i1", "-1 : i1")
