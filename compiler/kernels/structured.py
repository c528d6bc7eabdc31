"""Structured (linalg) ops read once into plain tuples, so that analysis does not walk MLIR handles over and over.

A linear coordinate (``Lin``) is ``(terms, constant)`` with ``terms`` a sorted tuple of ``(dim, scale)`` and no zero
scales. """
from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from kc.bindings import ir

Lin = tuple[tuple[tuple[int, int], ...], int]
ZERO: Lin = ((), 0)


class Unreadable(Exception):
    """The ops cannot be expressed as scalar expressions over one iteration space; the text says why."""


def lin(dim: int) -> Lin:
    """The plain coordinate ``dim``."""
    return (((dim, 1),), 0)


def combine(parts: Sequence[tuple[Lin, int]], constant: int = 0) -> Lin:
    """``sum(scale * part) + constant`` in normal form."""
    terms: dict[int, int] = {}
    for (part_terms, part_constant), scale in parts:
        constant += part_constant * scale
        for dim, factor in part_terms:
            terms[dim] = terms.get(dim, 0) + factor * scale
    return tuple(sorted((dim, factor) for dim, factor in terms.items() if factor)), constant


def plain_dim(value: Lin) -> int | None:
    """The dim that ``value`` is, or None if it is anything but a plain dim."""
    terms, constant = value
    return terms[0][0] if len(terms) == 1 and terms[0][1] == 1 and constant == 0 else None


@dataclasses.dataclass(frozen=True)
class BodyOp:
    """One scalar op of a body. ``args`` hold ``("arg", i)``, ``("op", i)`` or ``("outer", ir.Value)`` references."""

    name: str
    args: tuple[tuple[str, Any], ...]
    type: str
    attrs: tuple[tuple[str, str], ...]
    value: Any = None  # a constant's value, a linalg.index's loop number
    pure: bool = True  # one result, no region


@dataclasses.dataclass(frozen=True)
class Structured:
    """A linalg op: operands (inputs, then inits), one map per operand, the loops' kinds and the scalar body."""

    name: str
    operands: tuple[ir.Value, ...]
    inputs: int
    maps: tuple[tuple[Lin, ...] | None, ...]  # None: a map that is not linear
    reductions: tuple[bool, ...]
    body: tuple[BodyOp, ...]
    yields: tuple[tuple[str, Any], ...]
    arg_of_operand: tuple[int | None, ...]  # block argument number of each operand

    @property
    def loops(self) -> int:
        return len(self.reductions)


_IGNORED_ATTRIBUTES = {
    "fastmath": "#arith.fastmath<none>",
    "overflowFlags": "#arith.overflow<none>",
    "nonNeg": "",
}


def attribute_texts(op: ir.Operation) -> tuple[tuple[str, str], ...]:
    """The op's attributes as sorted text pairs, without those that say nothing."""
    pairs = []
    for name in op.attributes:
        text = str(op.attributes[name])
        if _IGNORED_ATTRIBUTES.get(name) != text:
            pairs.append((name, text))
    return tuple(sorted(pairs))


def constant_value(attribute: ir.Attribute) -> int | float | bool:
    """A scalar constant as a Python value; raises Unreadable for other attributes (complex numbers, for example)."""
    if isinstance(attribute, ir.FloatAttr):
        return float(attribute.value)
    if isinstance(attribute, ir.BoolAttr):
        return bool(attribute.value)
    if isinstance(attribute, ir.IntegerAttr):
        value = int(attribute.value)
        return bool(value) if str(attribute.type) == "i1" else value
    raise Unreadable(f"constant {attribute}")


def _linear(expr: ir.AffineExpr) -> Lin:
    if isinstance(expr, ir.AffineDimExpr):
        return lin(expr.position)
    if isinstance(expr, ir.AffineConstantExpr):
        return ((), expr.value)
    if isinstance(expr, ir.AffineAddExpr):
        return combine([(_linear(expr.lhs), 1), (_linear(expr.rhs), 1)])
    if isinstance(expr, ir.AffineMulExpr):
        left, right = _linear(expr.lhs), _linear(expr.rhs)
        if not right[0]:
            return combine([(left, right[1])])
        if not left[0]:
            return combine([(right, left[1])])
    raise Unreadable(f"index expression {expr}")


def _map(affine_map: ir.AffineMap) -> tuple[Lin, ...] | None:
    try:
        return tuple(_linear(result) for result in affine_map.results)
    except Unreadable:
        return None


def _body(block: ir.Block) -> tuple[tuple[BodyOp, ...], tuple[tuple[str, Any], ...]]:
    known: dict[ir.Value, tuple[str, Any]] = {arg: ("arg", arg.arg_number) for arg in block.arguments}
    ops: list[BodyOp] = []
    yields: tuple[tuple[str, Any], ...] = ()
    for view in block.operations:
        op = view.operation
        args = tuple(known.get(value, ("outer", value)) for value in op.operands)
        if op.name == "linalg.yield":
            yields = args
            break
        if op.name == "cf.assert":  # an expression has no place for it, and without it the check would be lost
            raise Unreadable("an assertion in the body")
        pure = len(op.results) == 1 and len(op.regions) == 0
        value = None
        attrs: tuple[tuple[str, str], ...] = ()
        if op.name == "arith.constant":
            value = op.attributes["value"]
            try:
                value = constant_value(value)
            except Unreadable:
                pure = False
        elif op.name == "linalg.index":
            value = int(ir.IntegerAttr(op.attributes["dim"]).value)
        else:
            attrs = attribute_texts(op)
        result_type = str(op.results[0].type) if len(op.results) == 1 else ""
        for result in op.results:
            known[result] = ("op", len(ops))
        ops.append(BodyOp(op.name, args, result_type, attrs, value, pure))
    return tuple(ops), yields


def read(op: ir.Operation) -> Structured:
    """Reads a linalg op with tensor results; raises Unreadable if it has no structured body."""
    from kc.bindings import linalg

    if len(op.regions) != 1 or len(op.regions[0].blocks) != 1:
        raise Unreadable(f"{op.name} has no structured body")
    maps_attr = linalg.get_indexing_maps(op)
    if maps_attr is None:
        raise Unreadable(f"{op.name} has no indexing maps")
    maps = tuple(_map(ir.AffineMapAttr(attr).value) for attr in maps_attr)
    loops = ir.AffineMapAttr(maps_attr[0]).value.n_dims
    operands = tuple(op.operands)
    results = len(op.results)
    inputs = len(operands) - results
    if "iterator_types" in op.attributes and op.name == "linalg.generic":
        reductions = tuple("reduction" in str(item) for item in ir.ArrayAttr(op.attributes["iterator_types"]))
    else:  # named ops: a loop that no result is indexed by is a reduction
        used: set[int] = set()
        for out_map in maps[inputs:]:
            if out_map is None:
                raise Unreadable(f"{op.name} has a result map that is not linear")
            used.update(dim for terms, _ in out_map for dim, _ in terms)
        reductions = tuple(dim not in used for dim in range(loops))
    block = op.regions[0].blocks[0]
    body, yields = _body(block)
    block_args = len(block.arguments)
    arg_of_operand: tuple[int | None, ...]
    if block_args == len(operands):
        arg_of_operand = tuple(range(block_args))
    elif block_args == inputs:
        arg_of_operand = tuple(range(inputs)) + (None,) * results
    else:
        raise Unreadable(f"{op.name} has {block_args} body arguments for {len(operands)} operands")
    return Structured(op.name, operands, inputs, maps, reductions, body, yields, arg_of_operand)


class Cache:
    """Structured forms of ops, read at most once each. Valid as long as no op is changed."""

    def __init__(self) -> None:
        self._forms: dict[ir.Value, Structured | Unreadable] = {}

    def form(self, op: ir.Operation) -> Structured:
        key = op.results[0]
        known = self._forms.get(key)
        if known is None:
            try:
                known = read(op)
            except Unreadable as error:
                known = error
            self._forms[key] = known
        if isinstance(known, Unreadable):
            raise known
        return known
