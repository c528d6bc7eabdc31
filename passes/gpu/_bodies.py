"""Bodies of linalg ops on the way into a kernel: affine maps, half-precision arithmetic, reductions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from kc.bindings import ir
from kc.passes.gpu._launch import Arith, Extent

# Ops of the body whose half-precision form is computed in f32.
_WIDENED = frozenset(
    [
        "arith.addf",
        "arith.subf",
        "arith.mulf",
        "arith.divf",
        "arith.remf",
        "arith.negf",
        "arith.maximumf",
        "arith.minimumf",
        "arith.maxnumf",
        "arith.minnumf",
        "arith.cmpf",
        "arith.select",
    ]
)
# Associative ops: name -> the value that changes nothing, by the type's kind ("float" or "int").
_NEUTRAL: dict[str, tuple[str, Any]] = {
    "arith.addf": ("float", -0.0),
    "arith.mulf": ("float", 1.0),
    "arith.maximumf": ("float", float("-inf")),
    "arith.minimumf": ("float", float("inf")),
    "arith.maxnumf": ("float", float("nan")),
    "arith.minnumf": ("float", float("nan")),
    "arith.addi": ("int", 0),
    "arith.muli": ("int", 1),
    "arith.andi": ("int", -1),
    "arith.ori": ("int", 0),
    "arith.xori": ("int", 0),
    "arith.maxsi": ("int", "smin"),
    "arith.minsi": ("int", "smax"),
    "arith.maxui": ("int", 0),
    "arith.minui": ("int", -1),
}


def is_half(kind: Any) -> bool:
    """Whether ``kind`` is f16 or bf16."""
    return isinstance(kind, (ir.F16Type, ir.BF16Type))


def widen_half(block: Any) -> None:
    """Compute f16 and bf16 arithmetic of ``block`` in f32.

    One rounding is left where a value leaves the arithmetic (``linalg.yield``, a store, a cast); an explicit
    ``arith.truncf`` keeps its meaning. Nested regions are left alone: their ops round one by one, which is right too.
    """
    f32 = ir.F32Type.get()
    wide: list[tuple[Any, Any]] = []  # (narrow value made here, its f32 form)

    def widened(value: Any, anchor: Any) -> Any:
        for narrow, known in wide:
            if narrow == value:
                return known
        with ir.InsertionPoint(anchor):
            made = ir.Operation.create("arith.extf", [f32], [value], loc=anchor.location).result
        return made

    for op in [o.operation for o in block.operations]:
        if op.name not in _WIDENED and not op.name.startswith("math."):
            continue
        if not any(is_half(v.type) for v in op.operands) or len(op.results) != 1:
            continue
        operands = [widened(v, op) if is_half(v.type) else v for v in op.operands]
        result = op.results[0]
        attributes = {name: op.attributes[name] for name in op.attributes}
        with ir.InsertionPoint(op):
            kind = f32 if is_half(result.type) else result.type
            made = ir.Operation.create(op.name, [kind], operands, attributes, loc=op.location).result
            if kind == f32 and is_half(result.type):
                narrow = ir.Operation.create("arith.truncf", [result.type], [made], loc=op.location).result
                wide.append((narrow, made))
                made = narrow
        result.replace_all_uses_with(made)
        op.erase()


def affine_value(a: Arith, expression: Any, dims: Sequence[Extent]) -> Extent:
    """The value of an ``ir.AffineExpr`` of dims and constants, for non-negative values in ``mod`` and ``div``."""
    if isinstance(expression, ir.AffineDimExpr):
        return dims[expression.position]
    if isinstance(expression, ir.AffineConstantExpr):
        return int(expression.value)
    if not isinstance(expression, ir.AffineBinaryExpr):
        raise ValueError(f"affine expression {expression} in an indexing map")
    x, y = affine_value(a, expression.lhs, dims), affine_value(a, expression.rhs, dims)
    if isinstance(expression, ir.AffineAddExpr):
        return a.add(x, y)
    if isinstance(expression, ir.AffineMulExpr):
        return a.mul(x, y)
    if isinstance(expression, ir.AffineFloorDivExpr):
        return a.floordiv(x, y)
    if isinstance(expression, ir.AffineModExpr):
        return a.rem(x, y)
    raise ValueError(f"affine expression {expression} in an indexing map")


def dims_of(expression: Any) -> set[int]:
    """The dims that an ``ir.AffineExpr`` depends on."""
    if isinstance(expression, ir.AffineDimExpr):
        return {expression.position}
    if isinstance(expression, ir.AffineBinaryExpr):
        return dims_of(expression.lhs) | dims_of(expression.rhs)
    return set()


class Fold(NamedTuple):
    """A reduction ``acc = op(acc, x)`` whose order does not matter; ``type`` is the accumulator's (f32 for half
    outputs).
    """

    op: str
    attributes: dict[str, Any]
    value: Any  # x, inside the body
    type: Any

    def neutral(self, a: Arith) -> Any:
        """A value that the fold leaves unchanged."""
        value = _NEUTRAL[self.op][1]
        if isinstance(value, str):
            bits = ir.IntegerType(self.type).width
            value = -(1 << (bits - 1)) if value == "smin" else (1 << (bits - 1)) - 1
        return a.constant(value, self.type)

    def combine(self, a: Arith, x: Any, y: Any) -> Any:
        """``op(x, y)``."""
        return a.op(self.op, [x, y], [self.type], self.attributes)


def find_fold(accumulator: Any, yielded: Any) -> Fold | None:
    """The fold that makes ``yielded`` from the block argument ``accumulator``, if it has one of the known forms.

    Seen through are the casts that ``widen_half`` puts around the accumulator.
    """
    producer = _defining(yielded)
    value = accumulator
    if producer is not None and producer.name == "arith.truncf" and is_half(accumulator.type):
        users = users_of(accumulator)
        if len(users) != 1 or users[0].name != "arith.extf":
            return None
        value = users[0].results[0]
        producer = _defining(producer.operands[0])
    if producer is None or producer.name not in _NEUTRAL or producer.block != accumulator.owner:
        return None
    operands = list(producer.operands)
    if not _only_user(value, producer) or len([v for v in operands if v == value]) != 1:
        return None
    # the new value goes to linalg.yield and nowhere else: nothing in the body looks at a partial result
    leaves = producer.results[0] if yielded == producer.results[0] else yielded
    if leaves != producer.results[0] and not _only_user(producer.results[0], _defining(yielded)):
        return None
    if [user.name for user in users_of(leaves)] != ["linalg.yield"]:
        return None
    kind, _ = _NEUTRAL[producer.name]
    if kind == "int" and not isinstance(value.type, ir.IntegerType):
        return None
    other = operands[1] if operands[0] == value else operands[0]
    attributes = {name: producer.attributes[name] for name in producer.attributes}
    return Fold(producer.name, attributes, other, value.type)


def _defining(value: Any) -> Any:
    return None if isinstance(value, ir.BlockArgument) else value.owner.operation


def users_of(value: Any) -> list[Any]:
    """The operations that use ``value``, one entry per use."""
    return [use.owner.operation for use in value.uses]


def _only_user(value: Any, op: Any) -> bool:
    return users_of(value) == [op]
