"""Expressions of ``kc.kernels.expr`` as ops: scalar or vector, generic by op name.

``Ops`` creates ops by name at the ambient insertion point and remembers parsed types, attributes and constants.
``Emitter`` walks an expression once and emits each distinct node once; whoever uses it supplies the leaves::

    ops = Ops(location)
    value = Emitter(ops, leaf=lambda node: loaded[node.arg])(output.expr)       # scalar
    value = Emitter(ops, leaf=..., lanes=8)(output.expr)                        # where leaves give vector<8x...>

In vector form a leaf may still return a scalar (a broadcast operand): ops whose operands are all scalar stay scalar,
and a scalar that meets a vector is broadcast then.

Numerics: with ``widen`` (default) ``f16`` and ``bf16`` values live as ``f32`` between the load and ``narrow``. An
explicit ``arith.truncf`` to a half type still rounds, and the value is extended again. So do the products inside a long
chain of products (a power by repeated squaring): each further one multiplies the errors of those before it, and what
the program says and what it would be without rounding are far apart.
"""
from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kc.bindings import ir
from kc.kernels.expr import Acc, Apply, Const, Expr, Index, Load, Reduce, walk

HALF = frozenset({"f16", "bf16"})
#: products of products of half types, so many deep, round each (a GELU has three)
_CHAIN = 4
_FORMATS = {"f64": (64, 52), "f32": (32, 23), "f16": (16, 10), "bf16": (16, 7)}  # bits, mantissa bits

Leaf = Callable[[Expr], Any]


def wide(type_text: str) -> str:
    """The type that values of element type ``type_text`` have while they are computed with."""
    return "f32" if type_text in HALF else type_text


class Ops:
    """Creates ops by name at the ambient insertion point, all with one location.

    ``fma``: whether the target fuses; otherwise ``fma`` is a multiplication and an addition.
    """

    def __init__(self, location: Any, fma: bool = True) -> None:
        self.location = location
        self.has_fma = fma
        self._types: dict[tuple[str, int | None], Any] = {}
        self._attributes: dict[str, Any] = {}

    # -- types and attributes

    def type(self, text: str, lanes: int | None = None) -> Any:
        """The type ``text``, or the vector of ``lanes`` elements of it."""
        key = (text, lanes)
        found = self._types.get(key)
        if found is None:
            found = self._types[key] = ir.Type.parse(text if lanes is None else f"vector<{lanes}x{text}>")
        return found

    def attribute(self, text: str) -> Any:
        found = self._attributes.get(text)
        if found is None:
            found = self._attributes[text] = ir.Attribute.parse(text)
        return found

    # -- ops

    def create(self, name: str, operands: Sequence[Any], result: Any = None,
               attributes: Mapping[str, Any] | None = None) -> Any:
        """The op ``name``: its result when ``result`` (a type) is given, else the operation.

        Attribute values may be MLIR text.
        """
        attrs = {key: self.attribute(value) if isinstance(value, str) else value
                 for key, value in (attributes or {}).items()}
        op = ir.Operation.create(name, results=[] if result is None else [result], operands=list(operands),
                                 attributes=attrs, loc=self.location)
        return op if result is None else op.results[0]

    def constant(self, value: int | float | bool, type_text: str, lanes: int | None = None) -> Any:
        """An ``arith.constant``; with ``lanes`` a splat. Floats are exact, NaN and infinities included."""
        literal = literal_text(value, type_text)
        kind = type_text if lanes is None else f"vector<{lanes}x{type_text}>"
        text = f"dense<{literal}> : {kind}" if lanes else literal if kind == "i1" else f"{literal} : {kind}"
        return self.create("arith.constant", [], self.type(type_text, lanes), {"value": text})

    def broadcast(self, value: Any, lanes: int) -> Any:
        """A vector whose lanes all hold ``value`` (a vector is returned as it is)."""
        text = str(value.type)
        if text.startswith("vector"):
            return value
        return self.create("vector.broadcast", [value], self.type(text, lanes))

    def narrow(self, value: Any, type_text: str) -> Any:
        """``value`` rounded to the half type ``type_text`` for a store; other types pass."""
        if type_text not in HALF:
            return value
        return self.create("arith.truncf", [value], self.type(type_text, lanes_of(value)))

    def widen(self, value: Any, type_text: str) -> Any:
        """A loaded value of half type ``type_text`` extended to ``f32``; other types pass."""
        if type_text not in HALF:
            return value
        return self.create("arith.extf", [value], self.type("f32", lanes_of(value)))

    def half_bits(self, value: Any, type_text: str) -> Any:
        """The bits (i16) of ``value``, a half type computed as f32."""
        narrowed = self.narrow(value, type_text)
        return self.create("arith.bitcast", [narrowed], self.type("i16", lanes_of(value)))

    def half_from_bits(self, bits: Any, type_text: str) -> Any:
        """The f32 value of the half type whose bits are ``bits`` (i16)."""
        value = self.create("arith.bitcast", [bits], self.type(type_text, lanes_of(bits)))
        return self.widen(value, type_text)

    def fma(self, a: Any, b: Any, c: Any) -> Any:
        """``a * b + c``, fused where the target fuses."""
        if self.has_fma:
            return self.create("math.fma", [a, b, c], a.type)
        return self.create("arith.addf", [self.create("arith.mulf", [a, b], a.type), c], a.type)


def lanes_of(value: Any) -> int | None:
    """Number of lanes of a 1-d vector value, None for a scalar."""
    text = str(value.type)
    return int(text[len("vector<"):text.index("x")]) if text.startswith("vector<") else None


def literal_text(value: int | float | bool, type_text: str) -> str:
    """``value`` as MLIR writes it in an attribute of type ``type_text``.

    NaN and infinities, which have no decimal form, are written as bit patterns.
    """
    if type_text == "i1":
        return "true" if value else "false"
    if type_text[0] != "f" and type_text != "bf16":
        return str(int(value))
    number = float(value)
    if math.isfinite(number):
        text = repr(number)
        return text if "." in text else text.replace("e", ".0e")
    if type_text not in _FORMATS:
        raise ValueError(f"no literal for {number} of type {type_text}")
    size, mantissa = _FORMATS[type_text]
    bits = ((1 << size - 1 - mantissa) - 1) << mantissa
    if math.isnan(number):
        bits |= 1 << mantissa - 1
    elif number < 0:
        bits |= 1 << size - 1
    return f"0x{bits:0{size // 4}X}"


class Emitter:
    """Emits expressions; every distinct node once per instance.

    ``leaf(node)`` gives the value of a ``Load``, ``Index``, ``Acc`` or ``Reduce`` in its own element type (half types
    unextended for ``Load``; ``Acc`` and ``Reduce`` already wide). ``memo`` maps ``id(node)`` to an emitted value:
    pass a copy of another emitter's ``memo`` to reuse what stands outside a loop.
    """

    def __init__(self, ops: Ops, leaf: Leaf, lanes: int | None = None, widen: bool = True,
                 memo: dict[int, Any] | None = None) -> None:
        self.ops = ops
        self.leaf = leaf
        self.lanes = lanes
        self.widening = widen
        self.memo: dict[int, Any] = {} if memo is None else memo
        self._keep: list[Expr] = []  # ids in ``memo`` stay valid while their nodes live
        self._rounding: set[int] = set()  # ids of nodes whose values round to their half type

    def __call__(self, root: Expr) -> Any:
        """The value of ``root`` (half types as f32 when widening); a scalar if no leaf under it is a vector."""
        self._keep.append(root)
        pending = _pending(root, self.memo)
        if self.widening:
            self._rounding |= _chained_products(pending)
        for node in pending:
            self.memo[id(node)] = self._emit(node)
        return self.memo[id(root)]

    def vector(self, root: Expr) -> Any:
        """The value of ``root`` with ``lanes`` lanes, broadcast if it is uniform."""
        value = self(root)
        return value if self.lanes is None else self.ops.broadcast(value, self.lanes)

    # -- one node

    def _type(self, text: str) -> str:
        return wide(text) if self.widening else text

    def _emit(self, node: Expr) -> Any:
        if isinstance(node, Const):
            return self.ops.constant(node.value, self._type(node.type))
        if isinstance(node, Load):
            value = self.leaf(node)
            return self.ops.widen(value, node.type) if self.widening else value
        if isinstance(node, (Index, Acc, Reduce)):
            return self.leaf(node)
        return self._apply(node)

    def _apply(self, node: Apply) -> Any:
        args = [self.memo[id(arg)] for arg in node.args]
        if any(lanes_of(value) for value in args):
            assert self.lanes is not None
            # a scalar condition may choose between vectors
            args = [value if node.op == "arith.select" and number == 0 else self.ops.broadcast(value, self.lanes)
                    for number, value in enumerate(args)]
        lanes = next((lanes_of(value) for value in args if lanes_of(value)), None)
        source = node.args[0].type if node.args else node.type
        attributes = dict(node.attrs)
        if self.widening:
            if node.op == "arith.extf" and source in HALF:
                return args[0] if node.type == "f32" else self._convert("arith.extf", args[0], node.type, lanes)
            if node.op == "arith.truncf" and node.type in HALF:
                return self._rounded(args[0], node.type)
            if node.op == "arith.bitcast" and (source in HALF or node.type in HALF):
                bits = self.ops.half_bits(args[0], source) if source in HALF else args[0]
                return self.ops.half_from_bits(bits, node.type) if node.type in HALF else bits
        value = self.ops.create(node.op, args, self.ops.type(self._type(node.type), lanes), attributes)
        return self._rounded(value, node.type) if id(node) in self._rounding else value

    def _rounded(self, value: Any, half: str) -> Any:
        """``value``, which is wide, rounded to the half type and extended again."""
        return self.ops.widen(self.ops.narrow(value, half), half)

    def _convert(self, name: str, value: Any, type_text: str, lanes: int | None) -> Any:
        return self.ops.create(name, [value], self.ops.type(type_text, lanes))


def _pending(root: Expr, memo: dict[int, Any]) -> list[Expr]:
    """Nodes below ``root`` still to emit, operands first; nothing below a ``Reduce`` (its value is a leaf)."""
    result: list[Expr] = []
    seen: set[int] = set()
    stack: list[tuple[Expr, bool]] = [(root, False)]
    while stack:
        node, ready = stack.pop()
        if ready:
            result.append(node)
            continue
        if id(node) in memo or id(node) in seen:
            continue
        seen.add(id(node))
        stack.append((node, True))
        if isinstance(node, Apply):
            stack.extend((child, False) for child in reversed(node.args))
    return result


def _chained_products(nodes: list[Expr]) -> set[int]:
    """Ids of the products of half types in ``nodes`` (operands first) that belong to chains of ``_CHAIN`` and more."""
    depth: dict[int, int] = {}
    chained: list[Expr] = []
    for node in nodes:
        if isinstance(node, Apply) and node.op == "arith.mulf" and node.type in HALF:
            depth[id(node)] = 1 + max(depth.get(id(arg), 0) for arg in node.args)
            if depth[id(node)] >= _CHAIN:
                chained.append(node)
    found: set[int] = set()
    while chained:
        node = chained.pop()
        if id(node) not in found:
            found.add(id(node))
            chained += [arg for arg in getattr(node, "args", ()) if id(arg) in depth]
    return found


def loads(*roots: Expr) -> list[Load]:
    """The distinct ``Load`` nodes under ``roots`` (compared by value), in order of first use."""
    found: dict[Load, None] = {}
    for root in roots:
        for node in walk(root):
            if isinstance(node, Load):
                found.setdefault(node)
    return list(found)
