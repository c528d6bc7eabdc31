"""Quantised types: quantise, a few operations there, dequantise (exact programs only; the interpreter takes them)."""

from __future__ import annotations

from .. import values
from ..builder import Builder, generic
from ..facts import Facts
from ..program import Value
from ..tensors import Tensor, limits

_BINARY = ("add", "subtract", "multiply", "maximum", "minimum")
_UNARY = ("negate", "abs", "ceil", "floor", "sign")


def _type(b: Builder, storage: str) -> str:
    """A quantised element type, per tensor (the interpreter cannot lower those per axis)."""
    low, high = limits(storage)

    def one() -> str:
        scale = b.c.one_of(("0.5", "0.25", "1.0", "0.1", "0.003"))
        point = b.c.one_of((0, 3, 7, max(low, -8), min(high, 100)))
        return f"{scale}:{point}"

    return f"!quant.uniform<{storage}:f32, {one()}>"


def chain(b: Builder) -> None:
    """``dequantize(f(quantize(x), quantize(y)))`` with one or two operations between."""
    x = b.arg(
        Tensor(tuple(int(n) for n in b.shape((0, 3))), "f32"), b.c.one_of((values.GRID, values.UNIT, values.WIDE))
    )
    t, free = x.type, Facts(True, None)
    storage = b.c.one_of(("i8", "i16", "i4"))
    q = b.op("uniform_quantize", [x], t.of(_type(b, storage)), free)
    for _ in range(b.c.integer(0, 2)):
        kind = b.c.integer(0, 4)
        if kind == 0:
            y = b.arg(t, b.c.one_of((values.GRID, values.UNIT)))
            # only add takes different scales
            name = b.c.one_of(_BINARY)
            types = [t.of(_type(b, storage)) if name == "add" else q.type for _ in range(2)]
            other = b.op("uniform_quantize", [y], types[0], free)
            q = _binary(b, name, q, other, types[1])
        elif kind == 1:
            q = b.op(b.c.one_of(_UNARY), [q], q.type, free)
        elif kind == 2:
            q = _requantize(b, q, t.of(_type(b, storage)))
        elif kind == 3 and t.rank:
            p = b.c.permutation(t.rank)
            t = t.shaped(*(t.shape[i] for i in p))
            text = f"permutation = array<i64: {', '.join(map(str, p))}>"
            q = b.op("transpose", [q], t.of(q.type.element), free, text)
    b.op("uniform_dequantize", [q], t, free)
    _hide(b)


def _binary(b: Builder, name: str, x: Value, y: Value, t: Tensor) -> Value:
    """``name`` of x and y; where their scales are not all one, the interpreter rounds the operands to the result's
    scale first, so it gets what the specification says: that the operation is one of floats."""
    reference: tuple[str, ...] = ()
    if not x.type.element == y.type.element == t.element:
        wide = t.of("f32")
        floats = [Value(b.name(), wide, x.facts) for _ in range(3)]
        first, second, result = (f"%{v.name} = " for v in floats)
        reference = (
            first + generic("uniform_dequantize", [x], [wide]),
            second + generic("uniform_dequantize", [y], [wide]),
            result + generic(name, floats[:2], [wide]),
            generic("uniform_quantize", [floats[2]], [t]),
        )
    return b.emit(generic(name, [x, y], [t]), [(t, x.facts)], reference=reference)[0]


def _requantize(b: Builder, x: Value, t: Tensor) -> Value:
    """x in another scale; the interpreter multiplies by the quotient of the scales, so it gets the two steps."""
    plain = Value(b.name(), t.of("f32"), x.facts)
    first = f"%{plain.name} = " + generic("uniform_dequantize", [x], [plain.type])
    reference = (first, generic("uniform_quantize", [plain], [t]))
    return b.emit(generic("uniform_quantize", [x], [t]), [(t, x.facts)], reference=reference)[0]


def dot(b: Builder) -> None:
    """A quantised dot_general with a wide accumulator, as quantised models have it."""
    m, k, n = b.c.one_of((2, 1, 5)), b.c.one_of((3, 1, 8)), b.c.one_of((2, 4, 1))
    x, y = (b.arg(Tensor(s, "f32"), values.UNIT) for s in ((m, k), (k, n)))
    free = Facts(True, None)
    first, second = "!quant.uniform<i8:f32, 0.5:1>", "!quant.uniform<i8:f32, 0.25:0>"
    wide = "!quant.uniform<i32:f32, 0.125:0>"
    qx = b.op("uniform_quantize", [x], x.type.of(first), free)
    qy = b.op("uniform_quantize", [y], y.type.of(second), free)
    out = Tensor((m, n), wide)
    attributes = (
        "dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>"
    )
    (product,) = b.emit(generic("dot_general", [qx, qy], [out], attributes), [(out, free)])
    b.op("uniform_dequantize", [product], out.of("f32"), free)
    _hide(b)


def _hide(b: Builder) -> None:
    """Other families take no quantised values, and they are no results."""
    b.hidden += [v for v in b.values if v.type.element.startswith("!quant")]
    b.values = [v for v in b.values if v not in b.hidden]
