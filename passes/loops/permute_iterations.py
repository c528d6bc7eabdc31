"""``kc-permute-iterations``: parallel loops run their iterations in another order."""
from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, ClassVar, Literal

from kc.bindings import ir
from kc.pass_base import Pass
from kc.passes.loops._shadow import emit, index
from kc.rewrite import walk_ops

if TYPE_CHECKING:
    from kc.pass_base import PassContext


@dataclasses.dataclass(frozen=True)
class PermuteIterations(Pass):
    """Renumber the iterations of every ``scf.parallel``, which runs them from the first to the last.

    ``order``: ``reversed``, or ``interleaved`` (even ones, then odd ones). Code without races does not care. ::

        scf.parallel (%i) = (%lb) to (%ub) step (%s) { use(%i) }

    becomes, reversed ::

        scf.parallel (%n) = (%c0) to (%trips) step (%c1) { %i = %lb + (%trips - 1 - %n) * %s; use(%i) }
    """

    name: ClassVar[str] = "kc-permute-iterations"
    anchor: ClassVar[str] = "builtin.module"
    level: ClassVar[str] = "loops"
    dialects: ClassVar[tuple[str, ...]] = ("arith", "scf")
    order: Literal["reversed", "interleaved"] = "reversed"

    def acts_on(self) -> frozenset[str]:
        """See ``Pass.acts_on``."""
        return frozenset({"scf.parallel"})

    def run(self, op: ir.Operation, ctx: PassContext) -> None:
        """See the class."""
        for loop in walk_ops(op, "scf.parallel"):
            self._renumber(loop)

    def _renumber(self, loop: ir.Operation) -> None:
        body = loop.regions[0].blocks[0]
        rank = len(body.arguments)
        lower, upper, steps = (list(loop.operands)[i * rank : (i + 1) * rank] for i in range(3))
        word = ir.IndexType.get()

        def make(name: str, *operands: ir.Value) -> ir.Value:
            return emit(name, operands, [word])

        for axis in range(rank):
            with loop.location, ir.InsertionPoint(loop):
                trips = make("arith.ceildivsi", make("arith.subi", upper[axis], lower[axis]), steps[axis])
                trips = make("arith.maxsi", trips, index(0))
                for number, value in ((axis, index(0)), (rank + axis, trips), (2 * rank + axis, index(1))):
                    loop.operands[number] = value
            argument = body.arguments[axis]
            with loop.location, ir.InsertionPoint.at_block_begin(body):
                own = make("arith.addi", argument, index(0))  # the one use of the argument that stays
                if self.order == "reversed":
                    number = make("arith.subi", make("arith.subi", trips, index(1)), own)
                else:
                    half = make("arith.ceildivsi", trips, index(2))
                    first = emit(
                        "arith.cmpi", (own, half), [ir.IntegerType.get_signless(1)],
                        predicate=ir.IntegerAttr.get(ir.IntegerType.get_signless(64), 2),
                    )
                    odd = make("arith.addi", make("arith.muli", make("arith.subi", own, half), index(2)), index(1))
                    number = make("arith.select", first, make("arith.muli", own, index(2)), odd)
                moved = make("arith.addi", lower[axis], make("arith.muli", number, steps[axis]))
            argument.replace_all_uses_except(moved, own.owner.operation)
