"""``kc-mark-brief``: functions that are over so soon that optimising them costs more than it saves."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, ClassVar

from kc.bindings import ir
from kc.pass_base import Pass
from kc.passes.loops._functions import functions, is_implementation
from kc.passes.loops.mark_entry_points import is_public

if TYPE_CHECKING:
    from kc.pass_base import PassContext

ATTRIBUTE = "kc.brief"

_LOOPS = frozenset({"scf.for", "scf.while", "scf.parallel", "scf.forall", "omp.parallel"})


@dataclasses.dataclass(frozen=True)
class MarkBrief(Pass):
    """Put ``kc.brief`` on functions that run at most ``limit`` scalar ops in one call of an entry point.

    Code generation then takes the fast road for them, without optimisation: a tenth of the compile time, for code
    that runs at most some microseconds longer. The count is of ops times the trips of the loops around them, here and
    at every call on the way from an entry point; a loop whose trips are only known at run time makes it infinite.
    Code that stands in no loop is brief whatever its length: it runs as often as it is compiled. Implementations
    built by schedules are left alone, and so is everything when ``limit`` is 0. Run before loops become branches. ::

        func.func private @k(%x: memref<4xf32>) {
          scf.for %i = %c0 to %c4 step %c1 { … }

    becomes ``func.func private @k(%x: memref<4xf32>) attributes {kc.brief}``.
    """

    name: ClassVar[str] = "kc-mark-brief"
    anchor: ClassVar[str] = "builtin.module"
    level: ClassVar[str] = "loops"
    dialects: ClassVar[tuple[str, ...]] = ()
    limit: int = 16384

    def run(self, op: ir.Operation, ctx: PassContext) -> None:
        """See the class."""
        if self.limit <= 0:
            return
        bodies = {
            ir.StringAttr(function.attributes["sym_name"]).value: (function, _Work(function))
            for function in functions(op)
            if len(function.regions[0].blocks) and not is_implementation(function)
        }
        runs = _runs(bodies)
        for name, (function, work) in bodies.items():
            if work.total * runs[name] <= max(self.limit, 2 * work.ops):
                function.attributes[ATTRIBUTE] = ir.UnitAttr.get()


class _Work:
    """What one run of a function does: ``total`` scalar ops, ``ops`` of them written down, ``calls`` of others."""

    def __init__(self, function: ir.Operation):
        self.ops = 0
        self.calls: list[tuple[str, float]] = []
        self.total = self._inside(function, 1.0)

    def _inside(self, op: ir.Operation, trips: float) -> float:
        """The scalar ops of the regions of ``op``, which run ``trips`` times in all."""
        total = 0.0
        first = True

        def visit(inner: ir.Operation) -> ir.WalkResult:
            nonlocal total, first
            if first:
                first = False
                return ir.WalkResult.ADVANCE
            name = inner.name
            if name in _LOOPS:
                total += self._inside(inner, trips * _trips(inner, name))
                return ir.WalkResult.SKIP
            if name == "func.call":
                callee = ir.FlatSymbolRefAttr(inner.attributes["callee"]).value
                self.calls.append((callee, trips))
            self.ops += 1
            total += trips
            return ir.WalkResult.ADVANCE

        op.walk(visit, ir.WalkOrder.PRE_ORDER)
        return total


def _trips(loop: ir.Operation, name: str) -> float:
    """How often the body of a loop runs: infinitely often when that is not written down."""
    if name != "scf.for":
        return math.inf
    lower, upper, step = (_constant(value) for value in list(loop.operands)[:3])
    if lower is None or upper is None or not step:
        return math.inf
    return max(0, -(-(upper - lower) // step))


def _constant(value: ir.Value) -> int | None:
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.operation.name != "arith.constant":
        return None
    return int(ir.IntegerAttr(owner.operation.attributes["value"]).value)


def _runs(bodies: dict[str, tuple[ir.Operation, _Work]]) -> dict[str, float]:
    """How often each function runs when every entry point is called once."""
    runs = {name: float(is_public(function)) for name, (function, _) in bodies.items()}
    waiting = dict.fromkeys(bodies, 0)
    for _, work in bodies.values():
        for callee, _ in work.calls:
            if callee in waiting:
                waiting[callee] += 1
    ready = [name for name, count in waiting.items() if not count]
    seen = 0
    while ready:
        name = ready.pop()
        seen += 1
        for callee, trips in bodies[name][1].calls:
            if callee not in runs:
                continue
            runs[callee] += runs[name] * trips if runs[name] else 0.0
            waiting[callee] -= 1
            if not waiting[callee]:
                ready.append(callee)
    if seen < len(bodies):  # functions that call each other
        for name, count in waiting.items():
            if count:
                runs[name] = math.inf
    return runs
