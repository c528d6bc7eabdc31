"""A StableHLO function as terms of ``language.egg``: what each op is told as, and the tables that the rules look up."""
from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kc.bindings import ir

UNARY = frozenset({
    "abs", "cbrt", "ceil", "cosine", "exponential", "exponential_minus_one", "floor", "log", "log_plus_one", "logistic",
    "negate", "not", "round_nearest_afz", "round_nearest_even", "rsqrt", "sign", "sine", "sqrt", "tan", "tanh",
})
BINARY = frozenset({
    "add", "and", "atan2", "divide", "maximum", "minimum", "multiply", "or", "power", "remainder", "subtract", "xor",
})
FLOATS = ("f16", "bf16", "f32", "f64")
INTEGERS = ("i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64")
#: ranks up to which permutations and sets of dimensions are told to the rules
_RANK = 5


@dataclasses.dataclass(frozen=True)
class Program:
    """The terms of a function: ``lines`` of egglog, one ``let`` per value; names of values that are used by ops that
    have no term, or returned (``roots``); what ``(Value n)`` stands for."""

    lines: tuple[str, ...]
    roots: tuple[str, ...]
    leaves: tuple[ir.Value, ...]
    ranks: frozenset[int]
    numbers: frozenset[str]


class Encoder:
    """Tells the ops of one block. ``names``: value -> name of its term."""

    def __init__(self) -> None:
        self.names: dict[ir.Value, str] = {}
        self._lines: list[str] = []
        self._leaves: list[ir.Value] = []
        self._roots: dict[str, None] = {}
        self._ranks: set[int] = set()
        self._numbers: set[str] = set()

    def encode(self, function: ir.Operation) -> Program:
        """The program of a function of one block."""
        block = function.regions[0].blocks[0]
        for argument in block.arguments:
            self._leaf(argument)
        for op in block.operations:
            term = self._term(op.operation)
            if term is not None:
                self._let(op.operation.results[0], term)
                continue
            for value in used_values(op.operation):
                if value in self.names:
                    self._roots[self.names[value]] = None
            for result in op.operation.results:
                self._leaf(result)
        return Program(tuple(self._lines), tuple(self._roots), tuple(self._leaves), frozenset(self._ranks),
                       frozenset(self._numbers))

    def _let(self, value: ir.Value, term: str) -> None:
        name = f"$v{len(self.names)}"
        self.names[value] = name
        self._ranks.add(len(typed(value)[1]))  # type: ignore[index]
        self._lines.append(f"(let {name} {term})")

    def _leaf(self, value: ir.Value) -> None:
        """Values of types that terms cannot have stay out: ops that use them have no term either."""
        if typed(value) is None:
            return
        element, shape = typed(value)  # type: ignore[misc]
        self._let(value, f"(Value {len(self._leaves)})")
        self._leaves.append(value)
        name = self.names[value]
        self._lines.append(f'(set (shape-of {name}) {ints(shape)})\n(set (elem-of {name}) "{element}")')

    def _term(self, op: ir.Operation) -> str | None:
        """The term of an op, None when it has none."""
        from kc.bindings import ir

        dialect, _, name = op.name.partition(".")
        if dialect != "stablehlo" or len(op.results) != 1:
            return None
        result = typed(op.results[0])
        given = [self.names.get(value) for value in op.operands]
        types = [typed(value) for value in op.operands]
        if result is None or None in given or None in types:
            return None
        attributes = {n: op.attributes[n] for n in op.attributes}
        accuracy = attributes.pop("result_accuracy", None)
        if accuracy is not None and "DEFAULT" not in str(accuracy):
            return None
        element, shape = result

        def dims(key: str) -> str:
            return ints(list(ir.DenseI64ArrayAttr(attributes[key])))

        if name == "constant":
            number = splat(attributes["value"])
            if number is None:
                return None
            self._numbers.add(number)
            return f'(Fill "{number}" "{element}" {ints(shape)})'
        if name == "reduce":
            return self._reduce(op, given[0], dims("dimensions"))
        if name == "dot_general":
            flags = dot_flags(op)
            return None if flags is None else f"(Dot {given[0]} {given[1]} {flags[0]} {flags[1]})"
        if name in ("transpose", "broadcast_in_dim", "compare"):
            key = {"transpose": "permutation", "broadcast_in_dim": "broadcast_dimensions"}.get(name)
            if key:
                rest = f" {ints(shape)}" if name == "broadcast_in_dim" else ""
                return f"({'Broadcast' if rest else 'Transpose'} {given[0]} {dims(key)}{rest})"
            direction = str(attributes["comparison_direction"]).rstrip(">").split()[-1]
            total = "TOTALORDER" in str(attributes.get("compare_type"))
            return None if total else f'(Compare "{direction}" {given[0]} {given[1]})'
        if attributes:
            return None
        if name in UNARY:
            return f'(Un "{name}" {given[0]})'
        if name in BINARY:
            return f'(Bin "{name}" {given[0]} {given[1]})'
        if name == "select" and types[0] == ("i1", shape):
            return f"(Select {given[0]} {given[1]} {given[2]})"
        if name == "convert":
            return f'(Convert "{element}" {given[0]})'
        return f"(Reshape {given[0]} {ints(shape)})" if name == "reshape" else None

    def _reduce(self, op: ir.Operation, operand: str | None, dims: str) -> str | None:
        """A reduction by one op from that op's neutral element."""
        if len(op.operands) != 2:
            return None
        body = [inner.operation for inner in op.regions[0].blocks[0].operations]
        if len(body) != 2 or set(body[0].operands) != set(op.regions[0].blocks[0].arguments):
            return None
        kind = body[0].name.partition(".")[2]
        owner = op.operands[1].owner
        initial = splat(owner.attributes["value"]) if getattr(owner, "name", "") == "stablehlo.constant" else None
        element = typed(op.operands[0])[0]  # type: ignore[index]
        if body[0].results[0] not in list(body[1].operands) or initial not in neutral(kind, element):
            return None
        return f'(Reduce "{kind}" {operand} {dims})'


def used_values(op: ir.Operation) -> list[ir.Value]:
    """The operands of an op and of all ops inside it."""
    from kc.rewrite import walk_ops

    return [value for inner in (op, *walk_ops(op)) for value in inner.operands]


def typed(value: ir.Value) -> tuple[str, tuple[int, ...]] | None:
    """Element type and shape of a static tensor of numbers; None for everything else."""
    from kc.bindings import ir

    kind = value.type
    if not isinstance(kind, ir.RankedTensorType) or not kind.has_static_shape or kind.encoding is not None:
        return None
    element = str(kind.element_type)
    return (element, tuple(kind.shape)) if element in (*FLOATS, *INTEGERS, "i1") else None


def splat(attribute: ir.Attribute) -> str | None:
    """The text of the number that all elements are, as the rules write it."""
    from kc.bindings import ir

    if not isinstance(attribute, ir.DenseElementsAttr) or not attribute.is_splat:
        return None
    element = attribute.get_splat_value()
    if isinstance(element, ir.FloatAttr):
        return repr(element.value)
    return str(int(element.value)) if isinstance(element, (ir.IntegerAttr, ir.BoolAttr)) else None


def neutral(op: str, element: str) -> tuple[str, ...]:
    """Texts of the numbers from which a reduction by ``op`` may start."""
    floating = element in FLOATS
    if op in ("add", "multiply"):
        return {"add": "0.0", "multiply": "1.0"}[op] if floating else {"add": "0", "multiply": "1"}[op],
    if op in ("maximum", "minimum") and floating:
        return "-inf" if op == "maximum" else "inf",
    if op in ("maximum", "minimum") and element in INTEGERS:
        bits = int(element.lstrip("ui"))
        low, high = (0, (1 << bits) - 1) if element[0] == "u" else (-(1 << bits - 1), (1 << bits - 1) - 1)
        return str(low if op == "maximum" else high),
    return ()


def dot_flags(op: ir.Operation) -> tuple[int, int] | None:
    """Whether the operands of a product of (batches of) matrices are swapped; None for any other ``dot_general``."""
    from kc.bindings import stablehlo_api

    numbers = stablehlo_api.DotDimensionNumbers(op.attributes["dot_dimension_numbers"])
    left, right, result = typed(op.operands[0]), typed(op.operands[1]), typed(op.results[0])
    assert left and right and result
    rank = len(left[1])
    batch = list(range(rank - 2))
    plain = all("DEFAULT" in part for part in str(op.attributes["precision_config"])[1:-1].split(",")) \
        if "precision_config" in op.attributes else True
    if rank < 2 or len(right[1]) != rank or not plain or "algorithm" in op.attributes:
        return None
    if list(numbers.lhs_batching_dimensions) != batch or list(numbers.rhs_batching_dimensions) != batch:
        return None
    contracting = list(numbers.lhs_contracting_dimensions), list(numbers.rhs_contracting_dimensions)
    if len(contracting[0]) != 1 or left[0] != right[0] or left[0] != result[0]:
        return None
    return int(contracting[0][0] == rank - 2), int(contracting[1][0] == rank - 1)


def ints(values: Sequence[int]) -> str:
    """A vector of egglog."""
    return f"(vec-of {' '.join(map(str, values))})" if len(values) else "(vec-empty)"


def tables(program: Program) -> Iterator[str]:
    """The facts that ``language.egg`` leaves to the caller, for the ranks and numbers of the program."""
    yield from (f'(floating "{name}")' for name in FLOATS)
    yield from (f'(integral "{name}")' for name in INTEGERS)
    yield "(scalar-like (vec-empty))"
    for rank in range(max(program.ranks, default=0) + 1):
        yield f"(identity {ints(range(rank))})"
        if rank >= 2:
            yield f"(swaps-last-two {ints([*range(rank - 2), rank - 1, rank - 2])})"
        if rank > _RANK or rank not in program.ranks:
            continue
        for order in itertools.permutations(range(rank)):
            yield f"(set (inverse {ints(order)}) {ints([order.index(i) for i in range(rank)])})"
        sets = [s for n in range(rank + 1) for s in itertools.combinations(range(rank), n)]
        for some in sets:
            kept = [i for i in range(rank) if i not in some]
            yield f"(set (others {rank} {ints(some)}) {ints(kept)})"
            for more in sets:
                if some and more and max(more) < len(kept):
                    yield f"(set (both {ints(some)} {ints(more)}) {ints(sorted([*some, *(kept[i] for i in more)]))})"
    for text in program.numbers:
        number = float(text)
        if "." in text and math.isfinite(number) and 2.0**-14 <= abs(number) <= 2.0**14:
            exact = abs(math.frexp(number)[0]) == 0.5
            yield f'({"power-of-two-reciprocal" if exact else "reciprocal"} "{text}" "{1.0 / number!r}")'
