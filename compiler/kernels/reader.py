"""Reads linalg on tensors into scalar expressions: the value of one element, with producers inlined.

``Reader.element(value, coords)`` follows a tensor value backwards through linalg ops, reshapes and slices to the
*leaves* (values the caller declared as arguments). What cannot be said as an expression raises ``Unreadable``. """
from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from kc.bindings import ir
from kc.kernels import expr as E
from kc.kernels import simplify
from kc.kernels.shapes import Extents, element_type, static_size
from kc.kernels.structured import (
    ZERO,
    BodyOp,
    Cache,
    Lin,
    Structured,
    Unreadable,
    attribute_texts,
    combine,
    constant_value,
    lin,
    plain_dim,
)
from kc.kernels.views import HANDLERS

REDUCTIONS = frozenset(
    f"arith.{name}"
    for name in (
        "addf", "mulf", "maximumf", "minimumf", "maxnumf", "minnumf",
        "addi", "muli", "maxsi", "maxui", "minsi", "minui", "andi", "ori", "xori",
    )
)  # fmt: skip
_SCALAR_DIALECTS = ("arith.", "math.", "complex.")

# an expression is as deep as its kernel has ops (kc-form-kernels{max-ops}), and each op takes four frames here
sys.setrecursionlimit(max(sys.getrecursionlimit(), 20_000))


class Reader:
    """Expressions of the values that ``ops`` compute, over dims that the reader numbers as it meets them."""

    def __init__(self, ops: Iterable[ir.Operation], leaf: Callable[[ir.Value], int | None], cache: Cache | None = None,
                 results: Mapping[ir.Value, int] | None = None) -> None:  # fmt: skip
        self.cache = cache or Cache()
        self.leaf = leaf
        self.extents = Extents(ops, leaf, self.cache, results)
        self.dims: list[tuple[ir.Value, int]] = []  # (tensor, axis) that gives each dim its extent
        self._memo: dict[tuple[ir.Value, tuple[Lin, ...]], E.Expr] = {}
        self._scalars: dict[ir.Value, E.Expr] = {}
        self._reduced: dict[tuple[ir.Value, tuple[Lin, ...]], tuple[Lin, ...]] = {}

    # -------------------------------------------------------------------------------------------------- dims

    def new_dim(self, value: ir.Value, axis: int) -> Lin:
        """A fresh dim as long as ``value`` is along ``axis``; the constant 0 where that extent is 1."""
        if self.extents.size(value, axis) == 1:
            return ZERO
        self.dims.append((value, axis))
        return lin(len(self.dims) - 1)

    def same_extent(self, first: int, second: int) -> bool:
        """Whether dims ``first`` and ``second`` provably have equal extents."""
        return self.extents.same(self.dims[first], self.dims[second])

    def dim(self, number: int) -> E.Dim:
        """The ``Dim`` of a dim number, with its source argument."""
        size = self.extents.size(*self.dims[number])
        source = self.extents.source(*self.dims[number])
        if size is None and source is None:
            raise Unreadable("a dynamic extent that no argument has")
        return E.Dim(size, source)

    # ----------------------------------------------------------------------------------------------- elements

    def element(self, value: ir.Value, coords: tuple[Lin, ...]) -> E.Expr:
        """The element of tensor ``value`` at ``coords`` (one per axis)."""
        key = (value, coords)
        found = self._memo.get(key)
        if found is None:
            found = self._element(value, coords)
            self._memo[key] = found
        return found

    def _element(self, value: ir.Value, coords: tuple[Lin, ...]) -> E.Expr:
        number = self.leaf(value)
        if number is not None:
            return E.Load(number, self.coords(value, coords), element_type(value))
        if isinstance(value.owner, ir.Block):
            raise Unreadable("a block argument that is not an argument of the kernel")
        op = value.owner.operation
        handler = HANDLERS.get(op.name)
        if handler is not None:
            return handler(self, op, coords)
        if op.name.startswith("linalg."):
            return self._structured(op, value, coords)
        raise Unreadable(f"{op.name}")

    def coords(self, value: ir.Value, coords: tuple[Lin, ...]) -> tuple[E.Coord, ...]:
        """``coords`` of tensor ``value`` as the coordinates of a Load; an axis of extent 1 gets the constant 0."""
        result = []
        for axis, (terms, constant) in enumerate(coords):
            if static_size(value, axis) == 1:
                result.append(E.Coord(None))
            elif not terms:
                result.append(E.Coord(None, 1, constant))
            else:
                result.append(E.Coord(terms[0][0], terms[0][1], constant, terms[1:]))
        return tuple(result)

    def scalar(self, value: ir.Value) -> E.Expr:
        """A scalar (not tensor) value from outside a body."""
        found = self._scalars.get(value)
        if found is None:
            found = self._scalars[value] = self._scalar(value)
        return found

    def _scalar(self, value: ir.Value) -> E.Expr:
        number = self.leaf(value)
        if number is not None:
            return E.Load(number, (), str(value.type))
        if isinstance(value.owner, ir.Block):
            raise Unreadable("a scalar block argument that is not an argument of the kernel")
        op = value.owner.operation
        if op.name == "arith.constant":
            return E.Const(constant_value(op.attributes["value"]), str(value.type))
        if op.name == "tensor.extract":
            indices = [_constant_index(index) for index in list(op.operands)[1:]]
            if any(index is None for index in indices):
                raise Unreadable("tensor.extract at a computed index")
            return self.element(op.operands[0], tuple(((), index or 0) for index in indices))
        if op.name.startswith(_SCALAR_DIALECTS) and len(op.results) == 1 and len(op.regions) == 0:
            args = tuple(self.scalar(operand) for operand in op.operands)
            return simplify.apply(op.name, args, str(value.type), attribute_texts(op))
        raise Unreadable(f"scalar from {op.name}")

    # ---------------------------------------------------------------------------------------- structured ops

    def _structured(self, op: ir.Operation, value: ir.Value, coords: tuple[Lin, ...]) -> E.Expr:
        form = self.cache.form(op)
        number = next(i for i, result in enumerate(op.results) if result == value)
        out_map = form.maps[form.inputs + number]
        if out_map is None:
            raise Unreadable(f"{op.name} has a result map that is not linear")
        loops: list[Lin | None] = [None] * form.loops
        for position, coordinate in zip(out_map, coords, strict=True):
            loop = plain_dim(position)
            if loop is None:
                if position == ZERO:
                    continue
                raise Unreadable(f"{op.name} writes at {position}")
            if loops[loop] is not None:
                raise Unreadable(f"{op.name} writes a diagonal")
            loops[loop] = coordinate
        for loop in range(form.loops):
            if loops[loop] is None and self._loop_size(form, loop) == 1:
                loops[loop] = ZERO
        reduced = [loop for loop in range(form.loops) if loops[loop] is None]
        if any(not form.reductions[loop] for loop in reduced):
            raise Unreadable(f"{op.name} has a parallel loop that its result is not indexed by")
        init = form.operands[form.inputs + number]
        if not reduced:
            where = tuple(item if item is not None else ZERO for item in loops)
            self._require_no_running_value(form, form.yields[number], number)
            return self._evaluate(op, form, form.yields[number], where)
        key = (op.results[0], tuple(item if item is not None else ((), -1) for item in loops))
        fresh = self._reduced.get(key)
        if fresh is None:
            fresh = tuple(self._loop_dim(form, loop) for loop in reduced)
            self._reduced[key] = fresh
        for loop, dim in zip(reduced, fresh, strict=True):
            loops[loop] = dim
        where = tuple(item if item is not None else ZERO for item in loops)
        combiner, folded = self._combiner(form, number)
        arg = self._evaluate(op, form, folded, where)
        dims = tuple(dim for dim in (plain_dim(item) for item in fresh) if dim is not None)
        return E.Reduce(combiner, arg, dims, self.element(init, coords), element_type(value))

    def _loop_operand(self, form: Structured, loop: int) -> tuple[ir.Value, int]:
        for operand, positions in zip(form.operands, form.maps, strict=True):
            for axis, position in enumerate(positions or ()):
                if plain_dim(position) == loop:
                    return operand, axis
        raise Unreadable(f"{form.name}: no operand tells the extent of loop {loop}")

    def _loop_size(self, form: Structured, loop: int) -> int | None:
        try:
            return self.extents.size(*self._loop_operand(form, loop))
        except Unreadable:
            return None

    def _loop_dim(self, form: Structured, loop: int) -> Lin:
        return self.new_dim(*self._loop_operand(form, loop))

    def _combiner(self, form: Structured, number: int) -> tuple[str, tuple[str, Any]]:
        """The fold of result ``number``: its op and the body reference that is folded in."""
        out_arg = form.arg_of_operand[form.inputs + number]
        kind, position = form.yields[number]
        if kind != "op":
            raise Unreadable(f"{form.name} has a reduction loop but no fold")
        root: BodyOp = form.body[position]
        out = ("arg", out_arg)
        if root.name not in REDUCTIONS or len(root.args) != 2 or (root.args[0] == out) == (root.args[1] == out):
            raise Unreadable(f"{form.name} folds with {root.name}, not with a plain reduction of its result")
        folded = root.args[1] if root.args[0] == out else root.args[0]
        if out in _references(form, folded):
            raise Unreadable(f"{form.name} folds an expression of its own accumulator")
        self._require_no_running_value(form, folded, number)
        return root.name, folded

    def _require_no_running_value(self, form: Structured, root: tuple[str, Any], number: int) -> None:
        """Refuses expressions of another result's accumulator, which changes while the loops run (as in argmax)."""
        if not any(form.reductions):
            return
        outs = {("arg", arg) for i, arg in enumerate(form.arg_of_operand[form.inputs :]) if i != number}
        if outs & set(_references(form, root)):
            raise Unreadable(f"{form.name} folds an expression of another accumulator")

    def _evaluate(self, op: ir.Operation, form: Structured, root: tuple[str, Any], where: tuple[Lin, ...]) -> E.Expr:
        values: dict[tuple[str, Any], E.Expr] = {}
        for reference in _references(form, root):
            kind, position = reference
            if kind == "outer":
                values[reference] = self.scalar(position)
            elif kind == "arg":
                operand_number = form.arg_of_operand.index(position)
                operand = form.operands[operand_number]
                if isinstance(operand.type, ir.ShapedType):
                    positions = form.maps[operand_number]
                    if positions is None:
                        raise Unreadable(f"{form.name} reads at a map that is not linear")
                    at = tuple(combine([(where[d], s) for d, s in terms], c) for terms, c in positions)
                    values[reference] = self.element(operand, at)
                else:
                    values[reference] = self.scalar(operand)
            else:
                values[reference] = self._apply(form.body[position], values, where)
        return values[root]

    def _apply(self, body: BodyOp, values: dict[tuple[str, Any], E.Expr], where: tuple[Lin, ...]) -> E.Expr:
        if not body.pure:
            raise Unreadable(f"{body.name} in a body")
        if body.name == "arith.constant":
            return E.Const(body.value, body.type)
        if body.name == "linalg.index":
            return _index(where[body.value])
        if body.name == "tensor.extract":
            return self._extract(body, values)
        if not body.name.startswith(_SCALAR_DIALECTS):
            raise Unreadable(f"{body.name} in a body")
        return simplify.apply(body.name, tuple(values[arg] for arg in body.args), body.type, body.attrs)

    def _extract(self, body: BodyOp, values: dict[tuple[str, Any], E.Expr]) -> E.Expr:
        coords: list[Lin] = []
        for arg in body.args[1:]:
            coordinate = _as_linear(values[arg])
            if coordinate is None:
                raise Unreadable("tensor.extract at a computed index (a gather)")
            coords.append(coordinate)
        kind, tensor = body.args[0]
        if kind != "outer":
            raise Unreadable("tensor.extract from a body value")
        return self.element(tensor, tuple(coords))


def _as_linear(index: E.Expr) -> Lin | None:
    """An index expression as a linear coordinate, None if it is none."""
    if isinstance(index, E.Index):
        return lin(index.dim)
    if isinstance(index, E.Const):
        return ((), int(index.value))
    if not isinstance(index, E.Apply) or index.type != "index" or len(index.args) != 2:
        return None
    left, right = (_as_linear(arg) for arg in index.args)
    if left is None or right is None:
        return None
    if index.op in ("arith.addi", "arith.subi"):
        return combine([(left, 1), (right, 1 if index.op == "arith.addi" else -1)])
    if index.op == "arith.muli" and not right[0]:
        return combine([(left, right[1])])
    if index.op == "arith.muli" and not left[0]:
        return combine([(right, left[1])])
    return None


def _references(form: Structured, root: tuple[str, Any]) -> list[tuple[str, Any]]:
    """Everything that ``root`` needs, operands before users. The tensor of a tensor.extract is not a scalar: left
    out.
    """
    order: list[tuple[str, Any]] = []
    seen: set[tuple[str, Any]] = set()
    stack: list[tuple[tuple[str, Any], bool]] = [(root, False)]
    while stack:
        reference, ready = stack.pop()
        if ready:
            order.append(reference)
            continue
        if reference in seen:
            continue
        seen.add(reference)
        stack.append((reference, True))
        if reference[0] == "op":
            body = form.body[reference[1]]
            args = body.args[1:] if body.name == "tensor.extract" else body.args
            stack.extend((arg, False) for arg in args)
    return order


def _index(coordinate: Lin) -> E.Expr:
    """A loop coordinate as an index expression."""
    terms, constant = coordinate
    result: E.Expr | None = None
    for dim, scale in terms:
        term: E.Expr = E.Index(dim)
        if scale != 1:
            term = E.Apply("arith.muli", (term, E.Const(scale, "index")), "index")
        result = term if result is None else E.Apply("arith.addi", (result, term), "index")
    if result is None:
        return E.Const(constant, "index")
    if constant:
        result = E.Apply("arith.addi", (result, E.Const(constant, "index")), "index")
    return result


def _constant_index(value: ir.Value) -> int | None:
    if isinstance(value.owner, ir.Block) or value.owner.operation.name != "arith.constant":
        return None
    attribute = value.owner.operation.attributes["value"]
    return int(attribute.value) if isinstance(attribute, ir.IntegerAttr) else None
