"""Follows a value back through the ops that made it: what is known of its elements."""

from __future__ import annotations

from collections.abc import Callable

from kc.agents.regions.dataflow import floats
from kc.agents.regions.dataflow.floats import Floats
from kc.agents.regions.ranges import MOVES, Finder, Range, loop_range
from kc.agents.regions.symbols import lookup
from kc.bindings import ir
from kc.rewrite import walk_ops

#: how many ops back a value is followed
DEPTH = 16
#: most elements of a constant that are looked at
_ELEMENTS = 4096

Outer = dict[ir.Value, "Range | Floats | None"]
_Unary = Callable[[Floats], Floats]
_Binary = Callable[[Floats, Floats], Floats]

_UNARY: dict[str, _Unary] = {
    "math.absf": floats.absolute, "stablehlo.abs": floats.absolute,
    "arith.negf": floats.negate, "stablehlo.negate": floats.negate,
    "math.exp": floats.exponential, "stablehlo.exponential": floats.exponential,
    "math.sqrt": floats.root, "stablehlo.sqrt": floats.root,
    "math.floor": floats.whole, "stablehlo.floor": floats.whole,
    "math.ceil": floats.whole, "stablehlo.ceil": floats.whole,
    "math.roundeven": floats.whole, "stablehlo.round_nearest_even": floats.whole,
    "math.round": floats.whole, "stablehlo.round_nearest_afz": floats.whole,
    "math.tanh": lambda x: floats.bounded(x, -1.01, 1.01, True),
    "stablehlo.tanh": lambda x: floats.bounded(x, -1.01, 1.01, True),
    "math.erf": lambda x: floats.bounded(x, -1.01, 1.01, True),
    "math.sin": lambda x: floats.bounded(x, -1.01, 1.01, False),
    "math.cos": lambda x: floats.bounded(x, -1.01, 1.01, False),
    "stablehlo.sine": lambda x: floats.bounded(x, -1.01, 1.01, False),
    "stablehlo.cosine": lambda x: floats.bounded(x, -1.01, 1.01, False),
}  # fmt: skip
_BINARY: dict[str, _Binary] = {
    "arith.addf": floats.add, "stablehlo.add": floats.add,
    "arith.subf": floats.subtract, "stablehlo.subtract": floats.subtract,
    "arith.mulf": floats.multiply, "stablehlo.multiply": floats.multiply,
    "arith.divf": floats.divide, "stablehlo.divide": floats.divide,
    "arith.maximumf": floats.maximum, "stablehlo.maximum": floats.maximum,
    "arith.minimumf": floats.minimum, "stablehlo.minimum": floats.minimum,
    "arith.maxnumf": floats.maximum_number, "arith.minnumf": floats.minimum_number,
}  # fmt: skip


def float_kind(kind: ir.Type) -> str | None:
    """The name of the float type of a scalar or of a tensor's elements; None for others."""
    element = kind.element_type if isinstance(kind, ir.ShapedType) else kind
    name = str(element)
    return name if floats.known_kind(name) else None


class Values:
    """Answers about float values; ``allowed`` says whether the results of a function may be relied on."""

    def __init__(self, module: ir.Operation, allowed: Callable[[ir.Operation], bool]):
        self._module, self.allowed = module, allowed
        self.integers = Finder(module)

    def of(self, value: ir.Value, depth: int = DEPTH, outer: Outer | None = None) -> Floats:
        """What is known of a float scalar or of the elements of a tensor of floats."""
        kind = float_kind(value.type)
        assert kind is not None
        nothing = floats.anything(kind)
        if outer is not None and value in outer:
            known = outer[value]
            return known if isinstance(known, Floats) else nothing
        if isinstance(value.owner, ir.Block) or depth == 0:
            return nothing
        found = self._made(value.owner.operation, value, kind, depth - 1, outer)
        return nothing if found is None else found

    def _made(self, op: ir.Operation, value: ir.Value, kind: str, depth: int, outer: Outer | None) -> Floats | None:
        name, operands = op.name, list(op.operands)

        def of(number: int) -> Floats:
            return self.of(operands[number], depth, outer)

        if name in _UNARY and float_kind(operands[0].type) == kind:
            return _UNARY[name](of(0))
        if name in ("arith.mulf", "stablehlo.multiply") and operands[0] == operands[1]:
            return floats.square(of(0))
        if name in _BINARY:
            return _BINARY[name](of(0), of(1))
        if name in ("arith.constant", "stablehlo.constant"):
            return _constant(op.attributes["value"], kind)
        if name in ("arith.sitofp", "arith.uitofp", "stablehlo.convert", "arith.extf", "arith.truncf"):
            return self._converted(op, kind, depth, outer)
        if name == "stablehlo.iota":
            shape, axis = op.results[0].type, int(ir.IntegerAttr(op.attributes["iota_dimension"]).value)
            last = (1 << 47) if shape.is_dynamic_dim(axis) else max(shape.get_dim_size(axis) - 1, 0)
            return floats.numbers(kind, 0, last)
        if name in ("arith.select", "stablehlo.select"):
            return floats.either(
                self._chosen(operands[0], operands[1], True, depth, outer),
                self._chosen(operands[0], operands[2], False, depth, outer),
            )
        if name == "stablehlo.clamp":
            return floats.minimum(floats.maximum(of(0), of(1)), of(2))
        if name in MOVES or name in ("linalg.fill", "stablehlo.gather", "stablehlo.dynamic_slice", "tensor.extract"):
            return of(0)
        if name == "stablehlo.sort":  # each result is its operand in another order
            return of(next(number for number, result in enumerate(op.results) if result == value))
        if name in ("stablehlo.concatenate", "tensor.concat"):
            found = of(0)
            for number in range(1, len(operands)):
                found = floats.either(found, of(number))
            return found
        if name in ("stablehlo.pad", "stablehlo.dynamic_update_slice"):
            return floats.either(of(0), of(1))
        if name == "linalg.generic":
            return self._generic(op, value, depth, outer)
        return self._call(op, value, depth, outer) if name == "func.call" else None

    def _converted(self, op: ir.Operation, kind: str, depth: int, outer: Outer | None) -> Floats | None:
        source = op.operands[0]
        if float_kind(source.type) is not None:
            return floats.converted(self.of(source, depth, outer), kind)
        element = source.type.element_type if isinstance(source.type, ir.ShapedType) else source.type
        if not isinstance(element, ir.IntegerType):
            return None
        unsigned = element.is_unsigned or op.name == "arith.uitofp"
        if element.width == 1:  # true is 1, but all bits of it are set
            return floats.numbers(kind, -1, 0) if op.name == "arith.sitofp" else floats.numbers(kind, 0, 1)
        half = 1 << element.width - 1
        limits = (0, 2 * half - 1) if unsigned else (-half, half - 1)
        plain = None if outer is None else {k: v for k, v in outer.items() if not isinstance(v, Floats)}
        found = self.integers.of(source, depth, plain)
        if found is None or (unsigned and found[0] < 0):
            found = limits
        return floats.numbers(kind, *found)

    def _chosen(self, asked: ir.Value, value: ir.Value, when: bool, depth: int, outer: Outer | None) -> Floats:
        """What is known of ``value`` where the condition ``asked`` is ``when``."""
        found = self.of(value, depth, outer)
        op = None if isinstance(asked.owner, ir.Block) else asked.owner.operation
        if op is None:
            return found
        asks = op.name in ("arith.cmpf", "stablehlo.compare") and op.operands[0] == op.operands[1] == value
        if asks and _compares(op) == ("differs", "equal")[when]:
            return Floats(found.kind, found.low, found.high, False, found.minus_zero)
        if op.name == "stablehlo.is_finite" and op.operands[0] == value and when:
            top = floats.largest(found.kind)
            return Floats(found.kind, max(found.low, -top), min(found.high, top), False, found.minus_zero)
        return found

    def _generic(self, op: ir.Operation, value: ir.Value, depth: int, outer: Outer | None) -> Floats | None:
        """What the body yields, given what is known of its inputs."""
        position = next(number for number, result in enumerate(op.results) if result == value)
        if not covers(op, position):
            return None
        block = op.regions[0].blocks[0]
        inner: Outer = {}
        first = len(op.operands) - len(op.results)
        for number, argument in enumerate(block.arguments):
            if number >= first:
                if len(list(argument.uses)):
                    return None  # a reduction
            elif float_kind(argument.type) is not None:
                inner[argument] = self.of(op.operands[number], depth, outer)
            else:
                plain = None if outer is None else {k: v for k, v in outer.items() if not isinstance(v, Floats)}
                inner[argument] = self.integers.of(op.operands[number], depth, plain)
        for index in walk_ops(op, "linalg.index"):
            found = loop_range(op, int(ir.IntegerAttr(index.attributes["dim"]).value))
            inner[index.results[0]] = (0, 1 << 47) if found is None else found
        return self.of(list(block.operations)[-1].operation.operands[position], DEPTH, inner)

    def _call(self, op: ir.Operation, value: ir.Value, depth: int, outer: Outer | None) -> Floats | None:
        """What the called function returns, given what is known of the arguments."""
        callee = lookup(self._module, ir.FlatSymbolRefAttr(op.attributes["callee"]).value)
        if callee is None or len(callee.regions[0].blocks) != 1 or not self.allowed(callee):
            return None
        block = callee.regions[0].blocks[0]
        plain = None if outer is None else {k: v for k, v in outer.items() if not isinstance(v, Floats)}
        inner: Outer = {
            argument: self.of(given, depth, outer)
            if float_kind(given.type) is not None
            else self.integers.of(given, depth, plain)
            for argument, given in zip(block.arguments, op.operands, strict=True)
        }
        position = next(number for number, result in enumerate(op.results) if result == value)
        return self.of(list(block.operations)[-1].operation.operands[position], depth, inner)


def covers(op: ir.Operation, position: int) -> bool:
    """Whether a ``linalg.generic`` writes every element of its result number ``position`` once."""
    maps = list(ir.ArrayAttr(op.attributes["indexing_maps"]))
    into = ir.AffineMapAttr(maps[len(op.operands) - len(op.results) + position]).value
    return bool(into.is_permutation)


def _compares(op: ir.Operation) -> str:
    """Whether a comparison of floats asks if they are ``equal``, if one ``differs``, or something else; NaN differs."""
    if op.name == "arith.cmpf":
        number = int(ir.IntegerAttr(op.attributes["predicate"]).value)
        return {1: "equal", 7: "equal", 13: "differs", 14: "differs"}.get(number, "")  # oeq, ord, une, uno
    if "compare_type" in op.attributes and "TOTALORDER" in str(op.attributes["compare_type"]):
        return ""
    told = str(op.attributes["comparison_direction"])
    return "equal" if " EQ>" in told else "differs" if " NE>" in told else ""


def _constant(attribute: ir.Attribute, kind: str) -> Floats | None:
    if isinstance(attribute, ir.FloatAttr):
        return floats.of_values(kind, [attribute.value])
    if not isinstance(attribute, ir.DenseFPElementsAttr) or not len(attribute):
        return None
    if attribute.is_splat:
        return floats.of_values(kind, [ir.FloatAttr(attribute.get_splat_value()).value])
    if len(attribute) > _ELEMENTS:
        return None
    try:
        return floats.of_values(kind, [float(v) for v in attribute])
    except TypeError:  # of a type that the bindings do not read
        return None
