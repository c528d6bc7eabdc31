"""``kc-size-teams``: no more threads than there are iterations to share."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, ClassVar

from kc.bindings import arith, ir
from kc.pass_base import Pass
from kc.rewrite import walk_ops

if TYPE_CHECKING:
    from kc.pass_base import PassContext

#: operand groups of omp.parallel: allocate, allocator, if, num_threads, private, reduction
_IF, _NUM_THREADS = 2, 3


@dataclasses.dataclass(frozen=True)
class SizeTeams(Pass):
    """Give each ``omp.parallel`` that holds one loop nest a team of at most as many threads as the nest has iterations.

    Run after ``convert-scf-to-openmp``. With one iteration, which is how a loop over a dynamic size often ends up,
    the runtime then wakes nobody. ::

        omp.parallel { omp.wsloop { omp.loop_nest (%i) : index = (%c0) to (%n) step (%c1) { … } } }

    becomes ::

        %threads = … the number of iterations, at least 1, as i32
        omp.parallel num_threads(%threads : i32) { omp.wsloop { … } }
    """

    name: ClassVar[str] = "kc-size-teams"
    anchor: ClassVar[str] = "any"
    level: ClassVar[str] = "loops"
    dialects: ClassVar[tuple[str, ...]] = ("arith", "omp")

    def acts_on(self) -> frozenset[str]:
        """See ``Pass.acts_on``."""
        return frozenset({"omp.parallel"})

    def run(self, op: ir.Operation, ctx: PassContext) -> None:
        """See the class."""
        for parallel in walk_ops(op, "omp.parallel"):
            segments = list(parallel.attributes["operandSegmentSizes"])
            nests = walk_ops(parallel, "omp.loop_nest")
            if segments[_IF] or segments[_NUM_THREADS] or len(nests) != 1:
                continue
            inside = _values_inside(parallel)
            with parallel.location, ir.InsertionPoint(parallel):
                bounds = [_outside(value, inside) for value in nests[0].operands]
                known = [bound for bound in bounds if bound is not None]
                if len(known) != len(bounds):
                    continue  # the bounds are computed by the team itself
                threads = _iterations(known)
                segments[_NUM_THREADS] = 1
                before = sum(segments[:_NUM_THREADS])
                operands = list(parallel.operands)
                attributes = {name: parallel.attributes[name] for name in parallel.attributes}
                attributes["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get(segments)
                new = ir.Operation.create(
                    "omp.parallel",
                    operands=[*operands[:before], threads, *operands[before:]],
                    attributes=attributes,
                    regions=1,
                )
            parallel.regions[0].blocks[0].append_to(new.regions[0])
            parallel.erase()


def _values_inside(op: ir.Operation) -> set[int]:
    """The results and block arguments that are made within ``op``."""
    found: set[int] = set()
    for inner in (op, *walk_ops(op)):
        found.update(hash(argument) for region in inner.regions for block in region for argument in block.arguments)
        if inner != op:
            found.update(hash(result) for result in inner.results)
    return found


def _outside(value: ir.Value, inside: set[int]) -> ir.Value | None:
    """``value`` as one that exists before the team starts, or None."""
    if hash(value) not in inside:
        return value
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.operation.name != "arith.constant":
        return None
    return owner.operation.clone().operation.results[0]


def _iterations(bounds: list[ir.Value]) -> ir.Value:
    """The number of iterations of a nest, between 1 and 65536, as i32; ``bounds`` is all lower, all upper, all
    steps."""
    loops = len(bounds) // 3
    index = ir.IndexType.get()
    most = arith.constant(index, 65536)
    total: ir.Value | None = None
    for lower, upper, step in zip(bounds[:loops], bounds[loops : 2 * loops], bounds[2 * loops :], strict=True):
        count = arith.minsi(arith.ceildivsi(arith.subi(upper, lower), step), most)
        total = count if total is None else arith.minsi(arith.muli(total, count), most)
    assert total is not None
    return arith.index_cast(ir.IntegerType.get_signless(32), arith.maxsi(total, arith.constant(index, 1)))
