"""``kc-expand-copies``: copies between memrefs that are not both contiguous become loops."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, ClassVar

from kc.bindings import ir, memref
from kc.builder.loop_nest import Access, Loop, Nest, Size, constant, emit
from kc.pass_base import Pass
from kc.rewrite import walk_ops

if TYPE_CHECKING:
    from kc.pass_base import PassContext


@dataclasses.dataclass(frozen=True)
class ExpandCopies(Pass):
    """Lower ``memref.copy`` with a strided side to loops of loads and stores.

    Contiguous copies stay: they become ``memcpy``. Upstream would call a C++ library function for the others, which
    kc's runtime does not have and which is slow besides. ``grain`` and ``min-work`` are as in
    ``kc-linalg-to-loops``. ::

        memref.copy %a, %b : memref<4x8xf32> to memref<4x8xf32, strided<[16, 1]>>

    becomes two ``scf.for`` around ``memref.load`` and ``memref.store``.
    """

    name: ClassVar[str] = "kc-expand-copies"
    anchor: ClassVar[str] = "any"
    level: ClassVar[str] = "loops"
    dialects: ClassVar[tuple[str, ...]] = ("arith", "memref", "scf")
    grain: int = 16384
    min_work: int = 131072

    def acts_on(self) -> frozenset[str]:
        """See ``Pass.acts_on``."""
        return frozenset({"memref.copy"})

    def run(self, op: ir.Operation, ctx: PassContext) -> None:
        """See the class."""
        for copy in walk_ops(op, "memref.copy"):
            source, target = copy.operands
            if _is_plain(source) and _is_plain(target):
                continue
            with copy.location, ir.InsertionPoint(copy):
                kind = ir.MemRefType(target.type)
                loops = [Loop(_size(source, target, axis), True, (axis,)) for axis in range(kind.rank)]
                dims = tuple(ir.AffineDimExpr.get(axis) for axis in range(kind.rank))
                nest = Nest(loops, [Access(source, dims), Access(target, dims)], outputs=1, cost=2)
                nest.plan(self.grain, self.min_work)
                emit(nest, lambda point, values: [values[0]], [False])
            copy.erase()


def _is_plain(value: ir.Value) -> bool:
    kind = ir.MemRefType(value.type)
    return bool(kind.affine_map == ir.AffineMap.get_identity(kind.rank))


def _size(source: ir.Value, target: ir.Value, axis: int) -> Size:
    for value in (source, target):
        kind = ir.MemRefType(value.type)
        if not kind.is_dynamic_dim(axis):
            return int(kind.shape[axis])
    return memref.dim(source, constant(axis))
