"""kc-guard-divisions: integer division that no value can trap."""
from __future__ import annotations

import dataclasses
from typing import ClassVar

from kc.bindings import arith, ir
from kc.pass_base import Pass, PassContext
from kc.rewrite import replace_op, walk_ops

_SIGNED = ("arith.divsi", "arith.remsi", "arith.floordivsi", "arith.ceildivsi")
_UNSIGNED = ("arith.divui", "arith.remui", "arith.ceildivui")


@dataclasses.dataclass(frozen=True)
class GuardDivisions(Pass):
    """Keep integer divisions in linalg bodies from dividing by zero, and the smallest number by -1.

    Both are undefined in ``arith`` and end the process on x86. They come from the program, and from schedules that run
    a vector's unused lanes along. By zero: the quotient is the dividend, the remainder 0. By -1: the quotient is the
    negated dividend, which wraps; the remainder is 0. Divisors that are constants need no guard. Divisions outside of
    linalg bodies work on sizes and are left alone.

    Before::

        %q = arith.divsi %a, %b : i32

    After::

        %zero = arith.cmpi eq, %b, %c0 : i32
        %minus = arith.cmpi eq, %b, %c-1 : i32
        %either = arith.ori %zero, %minus : i1
        %safe = arith.select %either, %c1, %b : i32
        %0 = arith.divsi %a, %safe : i32
        %1 = arith.subi %c0, %0 : i32
        %q = arith.select %minus, %1, %0 : i32
    """

    name: ClassVar[str] = "kc-guard-divisions"
    anchor: ClassVar[str] = "builtin.module"
    level: ClassVar[str] = "linalg"
    dialects: ClassVar[tuple[str, ...]] = ("arith",)

    def run(self, op: ir.Operation, ctx: PassContext) -> None:
        for generic in walk_ops(op, ["linalg.generic"]):
            for division in walk_ops(generic, [*_SIGNED, *_UNSIGNED]):
                if not _is_safe_constant(division.operands[1]):
                    _guard(division)


def _is_safe_constant(divisor: ir.Value) -> bool:
    owner = divisor.owner
    if isinstance(owner, ir.Block) or owner.name != "arith.constant":
        return False
    return ir.IntegerAttr(owner.attributes["value"]).value not in (0, -1)


def _guard(division: ir.Operation) -> None:
    dividend, divisor = division.operands
    kind = divisor.type
    with ir.InsertionPoint(division), division.location:
        zero, one = arith.constant(kind, 0), arith.constant(kind, 1)
        bad = arith.cmpi(arith.CmpIPredicate.eq, divisor, zero)
        minus = None
        if division.name in _SIGNED:
            minus = arith.cmpi(arith.CmpIPredicate.eq, divisor, arith.constant(kind, -1))
            bad = arith.ori(bad, minus)
        safe = arith.select(bad, one, divisor)
        attributes = {name: division.attributes[name] for name in division.attributes}
        result = ir.Operation.create(
            division.name, results=[kind], operands=[dividend, safe], attributes=attributes
        ).result
        if minus is not None and division.name != "arith.remsi":
            result = arith.select(minus, arith.subi(zero, result), result)
    replace_op(division, [result])
