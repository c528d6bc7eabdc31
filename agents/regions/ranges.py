"""Ranges of the elements of integer arguments that hold by construction: constants, counters, clamped values."""

from __future__ import annotations

from kc.agents.regions.find import Region
from kc.agents.regions.symbols import is_public, lookup
from kc.bindings import ir
from kc.rewrite import walk_ops

Range = tuple[int, int]
#: how many ops back from a call a range is looked for
_DEPTH = 12


def argument_ranges(region: Region) -> list[Range | None]:
    """For each argument of the region's function: the range of its elements in every call, where that is known.

    Both ends are inclusive. Nothing is known of an entry point's arguments, nor of what is not a tensor of integers.
    """
    function = region.operation
    count = len(function.regions[0].blocks[0].arguments)
    nothing: list[Range | None] = [None] * count
    if is_public(function) or region.level not in ("stablehlo", "linalg"):
        return nothing
    if not any(_is_integer(argument.type) for argument in function.regions[0].blocks[0].arguments):
        return nothing
    calls = [
        call
        for call in walk_ops(region.module, "func.call")
        if ir.FlatSymbolRefAttr(call.attributes["callee"]).value == region.name
    ]
    if not calls:
        return nothing
    finder = Finder(region.module)
    found: list[Range | None] = []
    for position in range(count):
        if not _is_integer(function.regions[0].blocks[0].arguments[position].type):
            found.append(None)
            continue
        ranges = [finder.of(call.operands[position], _DEPTH) for call in calls]
        known = [r for r in ranges if r is not None]
        found.append((min(r[0] for r in known), max(r[1] for r in known)) if len(known) == len(ranges) else None)
    return found


class Finder:
    """Follows a value back through ops that bound it. ``module`` is the one around it."""

    def __init__(self, module: ir.Operation):
        self._module = module

    def of(self, value: ir.Value, depth: int, outer: dict[ir.Value, Range | None] | None = None) -> Range | None:
        """The range of an integer scalar's value or an integer tensor's elements; None: not known."""
        if outer is not None and value in outer:
            return outer[value]
        if isinstance(value.owner, ir.Block) or depth == 0:
            return None
        op = value.owner.operation
        handler = getattr(self, "_" + op.name.replace(".", "_"), None)
        if handler is not None:
            found: Range | None = handler(op, depth - 1, outer)
            return found
        if op.name in MOVES:
            return self.of(op.operands[0], depth - 1, outer)
        return None

    def _constant(self, op: ir.Operation, depth: int, outer: dict[ir.Value, Range | None] | None) -> Range | None:
        return _constant_range(op.attributes["value"])

    _arith_constant = _stablehlo_constant = _constant

    def _least(self, op: ir.Operation, depth: int, outer: dict[ir.Value, Range | None] | None) -> Range | None:
        left, right = (self.of(operand, depth, outer) for operand in op.operands)
        limits = _type_range(op.results[0].type)
        if left is None and right is None:
            return None
        left, right = left or limits, right or limits
        return (min(left[0], right[0]), min(left[1], right[1]))

    def _most(self, op: ir.Operation, depth: int, outer: dict[ir.Value, Range | None] | None) -> Range | None:
        left, right = (self.of(operand, depth, outer) for operand in op.operands)
        limits = _type_range(op.results[0].type)
        if left is None and right is None:
            return None
        left, right = left or limits, right or limits
        return (max(left[0], right[0]), max(left[1], right[1]))

    _arith_minsi = _least
    _arith_maxsi = _most

    def _stablehlo_minimum(
        self, op: ir.Operation, depth: int, outer: dict[ir.Value, Range | None] | None
    ) -> Range | None:
        return self._least(op, depth, outer) if _is_signed(op.results[0].type) else None

    def _stablehlo_maximum(
        self, op: ir.Operation, depth: int, outer: dict[ir.Value, Range | None] | None
    ) -> Range | None:
        return self._most(op, depth, outer) if _is_signed(op.results[0].type) else None

    def _stablehlo_clamp(
        self, op: ir.Operation, depth: int, outer: dict[ir.Value, Range | None] | None
    ) -> Range | None:
        low, high = self.of(op.operands[0], depth, outer), self.of(op.operands[2], depth, outer)
        if low is None or high is None or not _is_signed(op.results[0].type):
            return None
        return (min(low[0], high[0]), high[1])

    def _stablehlo_iota(self, op: ir.Operation, depth: int, outer: dict[ir.Value, Range | None] | None) -> Range | None:
        kind = ir.RankedTensorType(op.results[0].type)
        axis = ir.IntegerAttr(op.attributes["iota_dimension"]).value
        if kind.is_dynamic_dim(axis) or not _is_signed(kind):
            return None
        last = kind.get_dim_size(axis) - 1
        return (0, max(last, 0)) if last <= _type_range(kind)[1] else None

    def _arith_select(self, op: ir.Operation, depth: int, outer: dict[ir.Value, Range | None] | None) -> Range | None:
        left, right = (self.of(operand, depth, outer) for operand in list(op.operands)[1:])
        return None if left is None or right is None else (min(left[0], right[0]), max(left[1], right[1]))

    _stablehlo_select = _arith_select

    def _arith_index_cast(
        self, op: ir.Operation, depth: int, outer: dict[ir.Value, Range | None] | None
    ) -> Range | None:
        found, limits = self.of(op.operands[0], depth, outer), _type_range(op.results[0].type)
        return found if found is not None and limits[0] <= found[0] and found[1] <= limits[1] else None

    _arith_extsi = _arith_trunci = _arith_index_cast

    def _linalg_fill(self, op: ir.Operation, depth: int, outer: dict[ir.Value, Range | None] | None) -> Range | None:
        return self.of(op.operands[0], depth, outer)

    def _linalg_generic(self, op: ir.Operation, depth: int, outer: dict[ir.Value, Range | None] | None) -> Range | None:
        """The range of what the body yields, given those of its inputs."""
        if len(op.results) != 1:
            return None
        block = op.regions[0].blocks[0]
        inner: dict[ir.Value, Range | None] = {}
        arguments = list(block.arguments)
        for number, argument in enumerate(arguments):
            last = number == len(arguments) - 1
            inner[argument] = None if last else self.of(op.operands[number], depth, outer)
        if list(arguments[-1].uses):
            return None  # a reduction
        for name in ("linalg.index",):
            for index in walk_ops(op, name):
                inner[index.results[0]] = loop_range(op, ir.IntegerAttr(index.attributes["dim"]).value)
        yielded = list(block.operations)[-1].operation.operands[0]
        return self.of(yielded, _DEPTH, inner)

    def _func_call(self, op: ir.Operation, depth: int, outer: dict[ir.Value, Range | None] | None) -> Range | None:
        """The range of what the called function returns, given those of the arguments."""
        callee = lookup(self._module, ir.FlatSymbolRefAttr(op.attributes["callee"]).value)
        if callee is None or len(callee.regions[0].blocks) != 1 or len(op.results) != 1:
            return None
        block = callee.regions[0].blocks[0]
        inner = {a: self.of(v, depth, outer) for a, v in zip(block.arguments, op.operands, strict=True)}
        return self.of(list(block.operations)[-1].operation.operands[0], _DEPTH, inner)


#: ops that give elements of their first operand only
MOVES = frozenset({
    "stablehlo.reshape", "stablehlo.transpose", "stablehlo.broadcast_in_dim", "stablehlo.slice",
    "stablehlo.reverse", "tensor.cast", "tensor.expand_shape", "tensor.collapse_shape",
    "tensor.extract_slice", "linalg.copy", "linalg.transpose", "linalg.broadcast",
})  # fmt: skip


def loop_range(op: ir.Operation, loop: int) -> Range | None:
    """The range of a loop counter of a linalg op whose loop has a static extent."""
    for operand, attribute in zip(op.operands, ir.ArrayAttr(op.attributes["indexing_maps"]), strict=True):
        kind = operand.type
        if not isinstance(kind, ir.RankedTensorType):
            continue
        for axis, expr in enumerate(ir.AffineMapAttr(attribute).value.results):
            if isinstance(expr, ir.AffineDimExpr) and expr.position == loop and not kind.is_dynamic_dim(axis):
                return (0, max(kind.get_dim_size(axis) - 1, 0))
    return None


def _constant_range(attribute: ir.Attribute) -> Range | None:
    if isinstance(attribute, ir.IntegerAttr):
        value = int(attribute.value)
        return (value, value)
    if (
        isinstance(attribute, ir.DenseIntElementsAttr)
        and (attribute.is_splat or len(attribute) <= 4096)
        and len(attribute)
    ):
        values = [int(attribute.get_splat_value().value)] if attribute.is_splat else [int(v) for v in attribute]
        return (min(values), max(values))
    return None


def _element(kind: ir.Type) -> ir.Type:
    return kind.element_type if isinstance(kind, ir.ShapedType) else kind


def _is_integer(kind: ir.Type) -> bool:
    element = _element(kind)
    return isinstance(element, ir.IndexType) or (isinstance(element, ir.IntegerType) and element.width > 1)


def _is_signed(kind: ir.Type) -> bool:
    element = _element(kind)
    return isinstance(element, ir.IntegerType) and not element.is_unsigned and element.width > 1


def _type_range(kind: ir.Type) -> Range:
    element = _element(kind)
    width = element.width if isinstance(element, ir.IntegerType) else 64
    return (-(1 << (width - 1)), (1 << (width - 1)) - 1)
