"""``kc-check-shapes``."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from kc.bindings import ir
from kc.diagnostics import location_of
from kc.pass_base import Pass, PassContext
from kc.passes.conversion._checks import ORIGIN, Checks
from kc.passes.conversion._emit import Emitter
from kc.passes.conversion._shape_rules import Rule, rules
from kc.passes.conversion._shapes import ShapeSymbols, Sym
from kc.rewrite import walk_ops

#: ops whose results take their sizes from values, so that no operand need have an unknown size
_SOURCES = (
    "stablehlo.dynamic_broadcast_in_dim",
    "stablehlo.dynamic_iota",
    "stablehlo.dynamic_pad",
    "stablehlo.dynamic_reshape",
    "stablehlo.real_dynamic_slice",
)


@dataclasses.dataclass(frozen=True)
class CheckShapes(Pass):
    """Sizes that StableHLO wants to agree, and that are only known at run time, are compared at run time.

    ``add`` of two ``tensor<?xf32>`` reads beyond an array when they differ. For every constraint of the specification
    that cannot be shown to hold (``_shapes.ShapeSymbols``), a call of a declared function with the attribute
    ``kc.check`` takes the outcome and both numbers; ``kc-lower-size-checks`` makes it end the program's call with an
    error that names the op, its place and the sizes. In the entry block a check stands where its numbers are first
    known, so that whatever follows may rely on it. Before / after::

        %r = stablehlo.add %a, %b : tensor<?xf32>

        %m = tensor.dim %a, %c0 : tensor<?xf32>
        %n = tensor.dim %b, %c0 : tensor<?xf32>
        %ok = arith.cmpi eq, %m, %n : index
        func.call @kc_check_0(%ok, %m, %n) : (i1, index, index) -> ()
        %r = stablehlo.add %a, %b : tensor<?xf32>
        ...
        func.func private @kc_check_0(i1, index, index)
            attributes {kc.check = "'stablehlo.add' at ...: dimension 0 of operand 0 has size {0}, ..."}
    """

    name: ClassVar[str] = "kc-check-shapes"
    level: ClassVar[str] = "stablehlo"
    dialects: ClassVar[tuple[str, ...]] = ("arith", "func", "tensor")

    def run(self, op: ir.Operation, ctx: PassContext) -> None:
        inserter = _Inserter(op)
        for function in walk_ops(op, "func.func"):
            if function.regions[0].blocks and _is_dynamic(function):
                inserter.insert(function)


def _is_dynamic(function: ir.Operation) -> bool:
    if "?" in str(function.attributes["function_type"]):
        return True
    if walk_ops(function, _SOURCES):
        return True
    calls = walk_ops(function, "stablehlo.custom_call")
    return any(_has_unknown(value) for call in calls for value in (*call.operands, *call.results))


def _has_unknown(value: ir.Value) -> bool:
    return isinstance(value.type, ir.RankedTensorType) and not value.type.has_static_shape


class _Inserter:
    """Inserts the checks of a module's functions."""

    def __init__(self, module: ir.Operation):
        self._checks = Checks(module)

    def insert(self, function: ir.Operation) -> None:
        """All checks that the ops of ``function`` need."""
        symbols = ShapeSymbols(function)
        entry = function.regions[0].blocks[0]
        order = {view.operation: number for number, view in enumerate(entry.operations)}
        first = entry.operations[0].operation
        after = list(order)[1:]
        for op in walk_ops(function):
            if not op.name.startswith(("stablehlo.", "chlo.")) or not (
                op.name in _SOURCES or any(map(_has_unknown, (*op.operands, *op.results)))
            ):
                continue
            for rule in rules(op, symbols):
                if _holds(rule, symbols):
                    continue
                place = op
                if op in order:
                    # where the last of its numbers is defined: nothing in between may assume the opposite
                    made = [order[v.owner] for v in (*_values(rule.lhs), *_values(rule.rhs)) if v.owner in order]
                    place = after[max(made)] if made else first
                self._emit(place, op, rule, symbols)
                if op in order and rule.relation == "eq":
                    symbols.unify(rule.lhs, rule.rhs)

    def _emit(self, place: ir.Operation, op: ir.Operation, rule: Rule, symbols: ShapeSymbols) -> None:
        e = Emitter(ir.InsertionPoint(place), op.location)
        lhs, rhs = (e.index(symbols.index(e, s)) for s in (rule.lhs, rule.rhs))
        holds = e.cmpi("sle" if rule.relation == "le" else "eq", lhs, rhs)
        if rule.relation == "one":
            holds = e.bin("arith.ori", holds, e.cmpi("eq", lhs, e.index(1)))
        self._checks.emit(e, holds, f"'{_name(op)}'{_place(op)}: {rule.text}", lhs, rhs)


def _name(op: ir.Operation) -> str:
    return ir.StringAttr(op.attributes[ORIGIN]).value if ORIGIN in op.attributes else op.name


def _place(op: ir.Operation) -> str:
    where = location_of(op)
    return f" at {where}" if where is not None else ""


def _holds(rule: Rule, symbols: ShapeSymbols) -> bool:
    lhs, rhs = symbols.canonical(rule.lhs), symbols.canonical(rule.rhs)
    if lhs == rhs:
        return True
    if rule.relation == "one" and lhs == 1:
        return True
    if isinstance(lhs, int) and isinstance(rhs, int):
        return rule.relation == "le" and lhs <= rhs
    return rule.relation == "le" and isinstance(lhs, int) and lhs <= 0 and _is_size(rhs)


def _is_size(symbol: Sym) -> bool:
    """Whether ``symbol`` surely is not negative: an extent, or made of such."""
    if isinstance(symbol, int):
        return symbol >= 0
    if symbol[0] in ("dim", "elem"):
        return bool(symbol[0] == "dim")
    if symbol[0] == "max":
        return _is_size(symbol[1]) or _is_size(symbol[2])
    return symbol[0] in ("add", "mul", "floordiv") and _is_size(symbol[1]) and _is_size(symbol[2])


def _values(symbol: Sym) -> list[ir.Value]:
    """The values that ``symbol`` is read from."""
    if isinstance(symbol, int):
        return []
    if symbol[0] in ("dim", "elem"):
        return [symbol[1]]
    return [*_values(symbol[1]), *_values(symbol[2])]
