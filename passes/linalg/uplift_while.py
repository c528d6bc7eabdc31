"""``kc-uplift-while``: a ``scf.while`` that counts becomes ``scf.for``."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar, NamedTuple

from kc.bindings import ir
from kc.pass_base import Pass, PassContext
from kc.passes.linalg._host_scalars import operations, terminator

_LESS = {2: "slt", 3: "sle", 4: "sgt", 5: "sge"}  # arith.cmpi predicates; the last two with the sides exchanged


@dataclasses.dataclass(frozen=True)
class UpliftWhile(Pass):
    """Turns counted ``scf.while`` loops into ``scf.for``, whose carried tensors bufferize in place.

    Wanted is: the condition is ``i < n`` or ``i <= n`` (signed) with ``n`` fixed during the loop and is all that the
    first region does; the second adds a positive constant to ``i``; every value is passed on in its place. Then the
    number of iterations is known before the loop. Nothing else is touched. Counting past the largest integer, which
    would make the ``while`` start again at the smallest one, is taken not to happen.

    ::

        scf.while (%i = %c0, %x = %init) : (i32, tensor<4xf32>) -> (i32, tensor<4xf32>) {
          %p = arith.cmpi slt, %i, %n : i32
          scf.condition(%p) %i, %x : i32, tensor<4xf32>
        } do { ^bb0(%i: i32, %x: tensor<4xf32>): ...; %j = arith.addi %i, %c1 : i32; scf.yield %j, %y }
        // becomes
        scf.for %k = %c0 to %trips step %c1 iter_args(%i = %c0, %x = %init) -> (i32, tensor<4xf32>) { ... }
    """

    name: ClassVar[str] = "kc-uplift-while"
    anchor: ClassVar[str] = "func.func"
    level: ClassVar[str] = "linalg"

    def run(self, op: ir.Operation, ctx: PassContext) -> None:
        for loop in reversed([o for o in operations(op) if o.name == "scf.while"]):
            counter = _counter(loop)
            if counter is not None:
                _uplift(loop, counter)


class _Counter(NamedTuple):
    position: int  # among the carried values
    bound: Any
    step: int
    inclusive: bool


def _counter(loop: Any) -> _Counter | None:
    before, body = loop.regions[0].blocks[0], loop.regions[1].blocks[0]
    condition, end = terminator(before), terminator(body)
    arguments = list(before.arguments)
    if list(condition.operands)[1:] != arguments or len(list(before.operations)) != 2:
        return None
    test = next(iter(before.operations)).operation
    if test.name != "arith.cmpi" or condition.operands[0] != test.results[0]:
        return None
    predicate = ir.IntegerAttr(test.attributes["predicate"]).value
    if predicate not in _LESS:
        return None
    left, right = list(test.operands)[:: 1 if predicate in (2, 3) else -1]
    if not (isinstance(left, ir.BlockArgument) and left in arguments):
        return None
    position = left.arg_number
    bound = right
    if isinstance(right, ir.BlockArgument) and right in arguments:
        # a bound that is carried along unchanged
        if end.operands[right.arg_number] != body.arguments[right.arg_number]:
            return None
        bound = loop.operands[right.arg_number]
    step = _step(end.operands[position], body.arguments[position])
    if step is None:
        return None
    return _Counter(position, bound, step, predicate in (3, 5))


def _step(after: Any, variable: Any) -> int | None:
    """The positive constant that ``after`` adds to ``variable``."""
    if isinstance(after, ir.BlockArgument) or after.owner.operation.name != "arith.addi":
        return None
    for mine, other in (list(after.owner.operation.operands), list(after.owner.operation.operands)[::-1]):
        if mine != variable or isinstance(other, ir.BlockArgument):
            continue
        constant = other.owner.operation
        if constant.name == "arith.constant":
            value = ir.IntegerAttr(constant.attributes["value"]).value
            return value if value > 0 else None
    return None


def _uplift(loop: Any, counter: _Counter) -> None:
    loc = loop.location
    index = ir.IndexType.get()
    inits = list(loop.operands)
    with ir.InsertionPoint(loop):

        def op(name: str, operands: list[Any], kind: Any = index, **attributes: Any) -> Any:
            return ir.Operation.create(name, results=[kind], operands=operands, attributes=attributes, loc=loc).results[
                0
            ]

        def constant(value: int) -> Any:
            return op("arith.constant", [], value=ir.IntegerAttr.get(index, value))

        def wide(value: Any) -> Any:
            return value if value.type == index else op("arith.index_cast", [value])

        # max(bound - first + step - 1, 0) / step, plus one in the distance when the bound itself is counted
        distance = op("arith.subi", [wide(counter.bound), wide(inits[counter.position])])
        reach = op("arith.addi", [distance, constant(counter.step - 1 + counter.inclusive)])
        trips = op("arith.divui", [op("arith.maxsi", [reach, constant(0)]), constant(counter.step)])
        operands = [constant(0), trips, constant(1), *inits]
        new = ir.Operation.create("scf.for", results=[v.type for v in inits], operands=operands, regions=1, loc=loc)
    body = loop.regions[1].blocks[0]
    block = new.regions[0].blocks.append(index, *(v.type for v in inits), arg_locs=[loc] * (1 + len(inits)))
    for old, fresh in zip(body.arguments, list(block.arguments)[1:], strict=True):
        old.replace_all_uses_with(fresh)
    for inner in [o.operation for o in body.operations]:
        inner.detach_from_parent()
        block.append(inner)
    for old, fresh in zip(loop.results, new.results, strict=True):
        old.replace_all_uses_with(fresh)
    loop.erase()
