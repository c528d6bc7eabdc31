"""Axes of the tensors and buffers of a function whose extents are equal in every run, by what its own ops force."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from kc.bindings import ir
from kc.rewrite import walk_ops

#: a value and an axis of it
Axis = tuple[ir.Value, int]
#: a tensor of PyTorch whose rank is known, with its extents
_TORCH = re.compile(r"!torch\.v?tensor<\[([\d?,]*)\]")
#: in the place of an axis: the value itself, an ``index``
SCALAR = -1

_ELEMENTWISE = frozenset({
    "abs", "add", "and", "atan2", "cbrt", "ceil", "compare", "complex", "convert", "cosine",
    "count_leading_zeros", "divide", "exponential", "exponential_minus_one", "floor", "imag", "is_finite",
    "log", "log_plus_one", "logistic", "maximum", "minimum", "multiply", "negate", "not", "or", "popcnt",
    "power", "real", "reduce_precision", "remainder", "round_nearest_afz", "round_nearest_even", "rsqrt",
    "shift_left", "shift_right_arithmetic", "shift_right_logical", "sign", "sine", "sqrt", "subtract", "tan",
    "tanh", "xor",
})  # fmt: skip


def open_axes(arguments: Sequence[ir.Value]) -> list[Axis]:
    """The axes of arguments whose extents are not static, in order."""
    return [(a, axis) for a in arguments for axis, extent in enumerate(shape_of(a)) if extent is None]


class Union:
    """Sets of axes whose extents are equal."""

    def __init__(self) -> None:
        self._parent: dict[Axis, Axis] = {}

    def find(self, axis: Axis) -> Axis:
        """The axis that stands for all equal ones."""
        while axis in self._parent:
            axis = self._parent[axis]
        return axis

    def join(self, first: Axis, second: Axis) -> None:
        """Make the two equal."""
        one, other = self.find(first), self.find(second)
        if one != other:
            self._parent[other] = one

    def join_all(self, values: Sequence[ir.Value]) -> None:
        """Values of one shape."""
        ranks = {len(shape_of(value)) for value in values}
        if len(ranks) == 1:
            for value in values[1:]:
                for axis in range(len(shape_of(value))):
                    self.join((values[0], axis), (value, axis))


def classes(function: ir.Operation) -> Union:
    """The sets of equal axes of a function."""
    union = Union()
    ops = walk_ops(function)
    _from_linalg(union, function, ops)
    _written_whole(union, function)
    for op in ops:
        dialect, _, name = op.name.partition(".")
        if op.name == "linalg.generic":
            _along_loops(union, op)
        elif op.name in ("memref.copy", "linalg.copy"):
            union.join_all(list(op.operands))
        if dialect in ("stablehlo", "chlo"):
            for one, other in _from_stablehlo(op, name):
                union.join(one, other)
            if name in _ELEMENTWISE:
                union.join_all([*op.operands, *op.results])
    return union


def _written_whole(union: Union, function: ir.Operation) -> None:
    """An argument with ``kc.out`` is written whole: where one loop after another stores it, it is as long as they."""
    if "arg_attrs" not in function.attributes:
        return
    block = function.regions[0].blocks[0]
    for argument, entries in zip(block.arguments, ir.ArrayAttr(function.attributes["arg_attrs"]), strict=True):
        if not isinstance(argument.type, ir.MemRefType) or not any(e.name == "kc.out" for e in ir.DictAttr(entries)):
            continue
        uses = [use.owner for use in argument.uses]
        stores = [op for op in uses if op.name == "memref.store"]
        if not stores or any(op.name not in ("memref.store", "memref.load", "memref.dim") for op in uses):
            continue
        for axis, extent in enumerate(shape_of(argument)):
            ends = [_loop_end(op.operands[2 + axis]) for op in stores]
            if extent is None and None not in ends and len(set(ends)) == 1:
                (end,) = set(ends)
                assert end is not None
                union.join(end, (argument, axis))


def _loop_end(index: ir.Value) -> Axis | None:
    """The extent up to which the counter ``index`` of a loop runs from 0 by 1; None where it is something else."""
    if not isinstance(index.owner, ir.Block):
        return None
    loop = index.owner.owner.operation
    number = ir.BlockArgument(index).arg_number
    if loop.name == "scf.for" and number == 0:
        low, high, step = list(loop.operands)[:3]
    elif loop.name == "scf.parallel":
        count = len(index.owner.arguments)
        low, high, step = (loop.operands[part * count + number] for part in range(3))
    else:
        return None
    if _number(low) != 0 or _number(step) != 1:
        return None
    if isinstance(high.owner, ir.Block):
        return high, SCALAR
    place = _number(high.owner.operands[1]) if high.owner.name == "memref.dim" else None
    return None if place is None else (high.owner.operation.operands[0], place)


def _number(value: ir.Value) -> int | None:
    if isinstance(value.owner, ir.Block) or value.owner.name != "arith.constant":
        return None
    attribute = value.owner.operation.attributes["value"]
    return int(ir.IntegerAttr(attribute).value) if isinstance(attribute, ir.IntegerAttr) else None


def _along_loops(union: Union, op: ir.Operation) -> None:
    """Axes that one loop of a ``linalg.generic`` runs over have one extent, whatever the body does; results have the
    shapes of their destinations."""
    for result, into in zip(op.results, list(op.operands)[len(op.operands) - len(op.results) :], strict=True):
        union.join_all([into, result])
    loops: dict[int, Axis] = {}
    for operand, attribute in zip(op.operands, ir.ArrayAttr(op.attributes["indexing_maps"]), strict=True):
        for axis, result in enumerate(ir.AffineMapAttr(attribute).value.results):
            if isinstance(result, ir.AffineDimExpr):
                union.join(loops.setdefault(result.position, (operand, axis)), (operand, axis))


def _from_linalg(union: Union, function: ir.Operation, ops: Sequence[ir.Operation]) -> None:
    """What ``kc.kernels`` knows of the ops of linalg and tensor, for the function's arguments."""
    from kc.kernels.shapes import Extents
    from kc.kernels.structured import Cache

    arguments = {value: number for number, value in enumerate(function.regions[0].blocks[0].arguments)}
    if not any(isinstance(value.type, ir.RankedTensorType) for value in arguments):
        return
    extents = Extents(ops, arguments.get, Cache())
    axes = open_axes(list(arguments))
    for number, axis in enumerate(axes):
        for other in axes[:number]:
            if extents.same(other, axis):
                union.join(other, axis)
                break
    given = list(arguments)
    for op in ops:
        if op.name != "tensor.empty":
            continue
        sizes = iter(op.operands)
        for place in (place for place, extent in enumerate(shape_of(op.results[0])) if extent is None):
            size, source = next(sizes), extents.source(op.results[0], place)
            if size in arguments and source is not None:
                union.join((given[source[0]], source[1]), (size, SCALAR))


def _from_stablehlo(op: ir.Operation, name: str) -> Iterator[tuple[Axis, Axis]]:
    """Axes that an op of StableHLO forces to agree, besides the elementwise ones."""
    if name == "dot_general":
        numbers = str(op.attributes["dot_dimension_numbers"])
        for kind in ("batching", "contracting"):
            left, right = (_numbers(numbers, f"{side}_{kind}_dimensions") for side in ("lhs", "rhs"))
            for one, other in zip(left, right, strict=False):
                yield (op.operands[0], one), (op.operands[1], other)
    elif name == "transpose":
        for axis, source in enumerate(ir.DenseI64ArrayAttr(op.attributes["permutation"])):
            yield (op.operands[0], source), (op.results[0], axis)


def _numbers(text: str, key: str) -> list[int]:
    """The list of numbers under ``key`` in the text of a dimension numbers attribute."""
    _, found, rest = text.partition(f"{key} = [")
    return [int(word) for word in rest.partition("]")[0].split(",") if word.strip()] if found else []


def shape_of(value: ir.Value) -> list[int | None]:
    """Extents of a tensor or buffer, None where one is dynamic; empty for anything else."""
    kind = value.type
    if isinstance(kind, (ir.RankedTensorType, ir.MemRefType)):
        return [None if kind.is_dynamic_dim(axis) else kind.get_dim_size(axis) for axis in range(kind.rank)]
    match = _TORCH.match(str(kind)) if str(kind).startswith("!torch") else None
    return [] if match is None or not match[1] else [None if n == "?" else int(n) for n in match[1].split(",")]
