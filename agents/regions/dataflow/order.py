"""Which integers and floats of a tensor are in order, or all different: counters, sorts, constants."""

from __future__ import annotations

import dataclasses
import math

from kc.agents.regions.dataflow.walk import DEPTH, Values, covers, float_kind
from kc.agents.regions.symbols import lookup
from kc.bindings import ir

#: significant bits of a float type: counters up to so many bits are exact
_BITS = {"f64": 53, "f32": 24, "f16": 11, "bf16": 8}
#: most elements of a constant that are looked at
_ELEMENTS = 4096
#: no tensor has more elements
_LARGEST = 1 << 47


@dataclasses.dataclass(frozen=True)
class Order:
    """``sorted``: ascending along the last axis; ``unique``: no two elements are equal."""

    sorted: bool = False
    unique: bool = False


_NOTHING = Order()


class Orders:
    """Answers about tensors; ``values`` knows their numbers."""

    def __init__(self, module: ir.Operation, values: Values):
        self._module, self._values = module, values

    def of(self, value: ir.Value, depth: int = DEPTH, outer: dict[ir.Value, Order] | None = None) -> Order:
        """What is known of the elements of a tensor."""
        if outer is not None and value in outer:
            return outer[value]
        kind = value.type
        if isinstance(value.owner, ir.Block) or depth == 0 or not isinstance(kind, ir.RankedTensorType):
            return _NOTHING
        if not kind.rank:
            return Order(True, True)
        op = value.owner.operation
        name = op.name.partition(".")[2]
        if op.name in ("arith.constant", "stablehlo.constant"):
            return _constant(op.attributes["value"], kind)
        if op.name == "stablehlo.iota":
            axis = int(ir.IntegerAttr(op.attributes["iota_dimension"]).value)
            return _counter(kind, axis, 1, 0)
        if op.name == "linalg.generic":
            return self._generic(op, value)
        if op.name == "stablehlo.sort":
            return self._sort(op, value, depth - 1, outer)
        if op.name == "func.call":
            return self._call(op, value, depth - 1, outer)
        if not len(op.operands):
            return _NOTHING
        before = self.of(op.operands[0], depth - 1, outer)
        source = op.operands[0].type
        if op.name in ("stablehlo.convert", "arith.extsi") and _widens(source, kind, op.name):
            return before
        if name in ("copy", "cast") and op.name in ("linalg.copy", "tensor.cast"):
            return before
        if op.name in ("stablehlo.reshape", "tensor.expand_shape", "tensor.collapse_shape", "stablehlo.transpose"):
            keeps = op.name != "stablehlo.transpose" and _last(source) is not None and _last(source) == _last(kind)
            return Order(before.sorted and keeps, before.unique)
        if op.name in ("stablehlo.slice", "stablehlo.reverse", "stablehlo.dynamic_slice"):
            return Order(before.sorted and op.name != "stablehlo.reverse", before.unique)
        return _NOTHING

    def _generic(self, op: ir.Operation, value: ir.Value) -> Order:
        """A counter: ``step * index + start`` of one loop, as an integer or float, at every element."""
        position = next(number for number, result in enumerate(op.results) if result == value)
        kind = ir.RankedTensorType(value.type)
        if not covers(op, position):
            return _NOTHING
        body = list(op.regions[0].blocks[0].operations)
        found = _linear(body[-1].operation.operands[position])
        if found is None:
            return _NOTHING
        loop, step, start = found
        into = list(ir.ArrayAttr(op.attributes["indexing_maps"]))[len(op.operands) - len(op.results) + position]
        results = ir.AffineMapAttr(into).value.results
        axis = next(k for k, expr in enumerate(results) if ir.AffineDimExpr(expr).position == loop)
        return _counter(kind, axis, step, start)

    def _sort(self, op: ir.Operation, value: ir.Value, depth: int, outer: dict[ir.Value, Order] | None) -> Order:
        """The first result of a sort by less-than is sorted; each result along the only axis is a permutation."""
        position = next(number for number, result in enumerate(op.results) if result == value)
        kind = ir.RankedTensorType(value.type)
        axis = int(ir.IntegerAttr(op.attributes["dimension"]).value) if "dimension" in op.attributes else -1
        last = axis % kind.rank == kind.rank - 1
        unique = self.of(op.operands[position], depth, outer).unique
        block = op.regions[0].blocks[0]
        body = [view.operation for view in block.operations]
        if not last or len(body) != 2 or body[0].name != "stablehlo.compare":
            return Order(False, unique)
        keys = list(block.arguments)[2 * position : 2 * position + 2]
        less = " LT>" in str(body[0].attributes["comparison_direction"])
        ordered = less and list(body[0].operands) == keys and body[1].operands[0] == body[0].results[0]
        if ordered and float_kind(kind) is not None:
            ordered = not self._values.of(op.operands[position]).nan
        return Order(ordered, unique)

    def _call(self, op: ir.Operation, value: ir.Value, depth: int, outer: dict[ir.Value, Order] | None) -> Order:
        callee = lookup(self._module, ir.FlatSymbolRefAttr(op.attributes["callee"]).value)
        if callee is None or len(callee.regions[0].blocks) != 1 or not self._values.allowed(callee):
            return _NOTHING
        block = callee.regions[0].blocks[0]
        inner = {a: self.of(v, depth, outer) for a, v in zip(block.arguments, op.operands, strict=True)}
        position = next(number for number, result in enumerate(op.results) if result == value)
        return self.of(list(block.operations)[-1].operation.operands[position], depth, inner)


def _last(kind: ir.Type) -> int | None:
    """The last extent of a tensor; None where it is open or there is none."""
    if not isinstance(kind, ir.RankedTensorType) or not kind.rank or kind.is_dynamic_dim(kind.rank - 1):
        return None
    return int(kind.get_dim_size(kind.rank - 1))


def _counter(kind: ir.RankedTensorType, axis: int, step: int, start: int) -> Order:
    """``start + step * i`` along ``axis``, if the type holds all of them, each exactly."""
    top = _LARGEST if kind.is_dynamic_dim(axis) else max(int(kind.get_dim_size(axis)) - 1, 0)
    ends = (start, start + step * top)
    name = float_kind(kind)
    element = kind.element_type
    if name is not None:
        exact = max(map(abs, ends)) <= 1 << _BITS[name]
    elif isinstance(element, ir.IndexType):
        exact = max(map(abs, ends)) < 1 << 63
    elif isinstance(element, ir.IntegerType) and element.width > 1:
        signed = not element.is_unsigned
        exact = (-(1 << element.width - 1) if signed else 0) <= min(ends) and max(ends) < 1 << element.width - signed
    else:
        exact = False
    if not exact or step < 0:
        return _NOTHING
    return Order(axis != kind.rank - 1 or step >= 0, kind.rank == 1 and step > 0)


def _linear(value: ir.Value) -> tuple[int, int, int] | None:
    """(loop, step, start) of an integer or float that is ``step * index + start``, in a body of linalg."""
    if isinstance(value.owner, ir.Block):
        return None
    op = value.owner.operation
    if op.name == "linalg.index":
        return int(ir.IntegerAttr(op.attributes["dim"]).value), 1, 0
    if op.name in ("arith.index_cast", "arith.sitofp"):  # whether all fit is asked of the last type, the narrowest
        return _linear(op.operands[0]) if _wide(op.operands[0].type) else None
    if op.name in ("arith.addi", "arith.muli"):
        for one, other in (op.operands, list(op.operands)[::-1]):
            inner, number = _linear(one), _integer(other)
            if inner is not None and number is not None and abs(number) < 1 << 12:
                loop, step, start = inner
                adds = op.name == "arith.addi"
                return (loop, step, start + number) if adds else (loop, step * number, start * number)
    return None


def _wide(kind: ir.Type) -> bool:
    """Whether an integer type holds any counter."""
    return isinstance(kind, ir.IndexType) or (isinstance(kind, ir.IntegerType) and kind.width >= 64)


def _integer(value: ir.Value) -> int | None:
    if isinstance(value.owner, ir.Block) or value.owner.name != "arith.constant":
        return None
    attribute = value.owner.operation.attributes["value"]
    return int(ir.IntegerAttr(attribute).value) if isinstance(attribute, ir.IntegerAttr) else None


def _constant(attribute: ir.Attribute, kind: ir.RankedTensorType) -> Order:
    element = kind.element_type
    if not isinstance(attribute, ir.DenseIntElementsAttr) or not isinstance(element, ir.IntegerType):
        return _NOTHING
    if element.width == 1:
        return _NOTHING
    count = math.prod(kind.shape)
    if not count:
        return Order(True, True)
    if count > _ELEMENTS:
        return _NOTHING
    if attribute.is_splat:
        return Order(True, count <= 1)
    values = [int(v) for v in attribute]
    width = kind.shape[-1]
    rows = [values[k : k + width] for k in range(0, len(values), width)]
    return Order(all(row == sorted(row) for row in rows), len(set(values)) == len(values))


def _widens(source: ir.Type, target: ir.RankedTensorType, name: str) -> bool:
    """Whether a conversion keeps integers apart and in order."""
    if not isinstance(source, ir.RankedTensorType):
        return False
    one, other = source.element_type, target.element_type
    if not isinstance(one, ir.IntegerType) or not isinstance(other, ir.IntegerType) or one.width == 1:
        return False
    if name == "arith.extsi":
        return True
    return one.is_unsigned == other.is_unsigned and other.width >= one.width
