"""Values with operators, and control flow, for building device kernels op by op.

Everything emits at the ambient insertion point with the ambient location (``with location,
ir.InsertionPoint(block):``). ``Value`` wraps one SSA value; ``+ - * & | ^ << >> // %`` and comparisons emit ``arith``
ops. Integers are **unsigned** here (addresses, counters, coordinates). Float ``*`` and ``+`` carry ``contract``,
without which LLVM never forms an FFMA: use these operators for approximations and addressing, and ``kc.builder.expr``
for arithmetic that the user wrote.

Machine instructions (barriers, tensor memory accelerator, tensor cores) stand in ``kc.builder.gpu_ops``.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Union

from kc.bindings import arith, ir, llvm, scf

Operand = Union["Value", int, float]
_DYNAMIC = -(1 << 31)  # llvm.getelementptr: "this index is an operand"


def mlir_type(text: str) -> Any:
    """The type that ``text`` spells, in the current context."""
    return ir.Type.parse(text)


def attribute(text: str) -> Any:
    """The attribute that ``text`` spells, in the current context."""
    return ir.Attribute.parse(text)


def struct_of(element: str, count: int) -> Any:
    """``!llvm.struct<(element, ... count times)>``: how wgmma accumulators and multi-result asm travel."""
    return mlir_type("!llvm.struct<(" + ", ".join([element] * count) + ")>")


def const(value: int | float, kind: str = "i32") -> Value:
    """An ``arith.constant`` of scalar type ``kind``."""
    scalar = mlir_type(kind)
    if kind[0] == "f" or kind == "bf16":
        return Value(arith.constant(scalar, ir.FloatAttr.get(scalar, float(value))))
    if kind != "index":  # IntegerAttr wants the value in the signed range of its width
        width = int(kind[1:])
        value = int(value) & ((1 << width) - 1)
        if width > 1 and value >> (width - 1):
            value -= 1 << width
    return Value(arith.constant(scalar, ir.IntegerAttr.get(scalar, int(value))))


def lift(x: Any, kind: str = "i32") -> Value:
    """``x`` as a ``Value``: wraps SSA values, makes Python numbers constants of type ``kind``."""
    if isinstance(x, Value):
        return x
    return const(x, kind) if isinstance(x, (int, float)) else Value(x)


class Value:
    """One SSA value with operators (see the module's text for their meaning)."""

    __slots__ = ("ssa",)
    ssa: Any

    def __init__(self, ssa: Any) -> None:
        self.ssa = ssa.ssa if isinstance(ssa, Value) else getattr(ssa, "result", ssa)

    @property
    def type(self) -> Any:
        return self.ssa.type

    @property
    def kind(self) -> str:
        """The type as text."""
        return str(self.ssa.type)

    def _binary(self, other: Operand, integer: Callable[..., Any], floating: Callable[..., Any] | None = None) -> Value:
        right = lift(other, self.kind)
        if floating is not None and isinstance(self.type, ir.FloatType):
            return Value(floating(self.ssa, right.ssa, fastmath=arith.FastMathFlags.contract))
        return Value(integer(self.ssa, right.ssa))

    def __add__(self, other: Operand) -> Value:
        if isinstance(other, int) and other == 0:
            return self
        return self._binary(other, arith.addi, arith.addf)

    __radd__ = __add__

    def __sub__(self, other: Operand) -> Value:
        if isinstance(other, int) and other == 0:
            return self
        return self._binary(other, arith.subi, arith.subf)

    def __rsub__(self, other: Operand) -> Value:
        return lift(other, self.kind) - self

    def __mul__(self, other: Operand) -> Value:
        if isinstance(other, int) and other == 1:
            return self
        return self._binary(other, arith.muli, arith.mulf)

    __rmul__ = __mul__

    def __floordiv__(self, other: Operand) -> Value:
        return self if isinstance(other, int) and other == 1 else self._binary(other, arith.divui)

    def __mod__(self, other: Operand) -> Value:
        return self._binary(other, arith.remui)

    def __and__(self, other: Operand) -> Value:
        return self._binary(other, arith.andi)

    def __or__(self, other: Operand) -> Value:
        return self._binary(other, arith.ori)

    def __xor__(self, other: Operand) -> Value:
        return self._binary(other, arith.xori)

    def __lshift__(self, other: Operand) -> Value:
        return self._binary(other, arith.shli)

    def __rshift__(self, other: Operand) -> Value:
        return self._binary(other, arith.shrui)

    def compare(self, predicate: str, other: Operand) -> Value:
        """``arith.cmpi`` (predicate ``ult``, ``sge`` ...)."""
        return Value(arith.cmpi(getattr(arith.CmpIPredicate, predicate), self.ssa, lift(other, self.kind).ssa))

    def eq(self, other: Operand) -> Value:
        return self.compare("eq", other)

    def ne(self, other: Operand) -> Value:
        return self.compare("ne", other)

    def lt(self, other: Operand) -> Value:
        return self.compare("ult", other)

    def ge(self, other: Operand) -> Value:
        return self.compare("uge", other)

    def select(self, yes: Operand, no: Operand) -> Value:
        """``self ? yes : no`` for an ``i1``; a Python number takes the type of the other branch."""
        kind = yes.kind if isinstance(yes, Value) else no.kind if isinstance(no, Value) else "i32"
        return Value(arith.select(self.ssa, lift(yes, kind).ssa, lift(no, kind).ssa))

    def minimum(self, other: Operand) -> Value:
        """The smaller of two unsigned integers."""
        return self._binary(other, arith.minui)

    def maximum(self, other: Operand) -> Value:
        """The larger of two unsigned integers."""
        return self._binary(other, arith.maxui)

    def zext(self, kind: str) -> Value:
        """Zero-extended to the integer type ``kind``; a value that has it already is returned as it is."""
        return self if self.kind == kind else Value(arith.extui(mlir_type(kind), self.ssa))

    def trunc(self, kind: str) -> Value:
        return self if self.kind == kind else Value(arith.trunci(mlir_type(kind), self.ssa))

    def bitcast(self, kind: str) -> Value:
        return self if self.kind == kind else Value(llvm.bitcast(mlir_type(kind), self.ssa))

    def resize(self, kind: str) -> Value:
        """Zero-extended, truncated or cast from ``index`` to the integer type ``kind``."""
        if self.kind == kind:
            return self
        if "index" in (self.kind, kind):
            return Value(arith.index_castui(mlir_type(kind), self.ssa))
        return self.zext(kind) if int(self.kind[1:]) < int(kind[1:]) else self.trunc(kind)


# ------------------------------------------------------------------------------------------------- control flow


@contextlib.contextmanager
def if_(condition: Value) -> Iterator[None]:
    """``with if_(c): ...`` emits the body under ``scf.if``."""
    op = scf.IfOp(condition.ssa)
    with ir.InsertionPoint(op.then_block):
        yield
        scf.yield_([])


def if_else(condition: Value, then: Callable[[], None], otherwise: Callable[[], None]) -> None:
    """An ``scf.if`` without results."""
    op = scf.IfOp(condition.ssa, has_else=True)
    for block, body in ((op.then_block, then), (op.else_block, otherwise)):
        with ir.InsertionPoint(block):
            body()
            scf.yield_([])


def if_values(
    condition: Value,
    kinds: Sequence[str],
    then: Callable[[], Sequence[Operand]],
    otherwise: Callable[[], Sequence[Operand]],
) -> list[Value]:
    """An ``scf.if`` with results of types ``kinds``."""
    op = scf.IfOp(condition.ssa, [mlir_type(kind) for kind in kinds], has_else=True)
    for block, body in ((op.then_block, then), (op.else_block, otherwise)):
        with ir.InsertionPoint(block):
            scf.yield_([lift(value, kind).ssa for value, kind in zip(body(), kinds, strict=True)])
    return [Value(result) for result in op.results]


def for_(
    low: Operand,
    high: Operand,
    step: Operand,
    carried: Sequence[Operand],
    body: Callable[..., Sequence[Operand] | None],
    kind: str = "i32",
) -> list[Value]:
    """``scf.for``: ``body(index, *carried)`` returns the next carried values; the last ones are returned."""
    op = scf.ForOp(lift(low, kind).ssa, lift(high, kind).ssa, lift(step, kind).ssa, [lift(x).ssa for x in carried])
    with ir.InsertionPoint(op.body):
        arguments = [Value(argument) for argument in op.body.arguments]
        scf.yield_([lift(value).ssa for value in body(*arguments) or []])
    return [Value(result) for result in op.results]


def while_(
    carried: Sequence[Operand], condition: Callable[..., Value], body: Callable[..., Sequence[Operand]]
) -> list[Value]:
    """``while condition(*carried): carried = body(*carried)``; the final carried values."""
    initial = [lift(x) for x in carried]
    types = [x.type for x in initial]
    op = scf.WhileOp(types, [x.ssa for x in initial])
    blocks = []
    for region in (op.before, op.after):
        existing = list(region.blocks)
        blocks.append(
            existing[0] if existing else region.blocks.append(*types, arg_locs=[ir.Location.unknown()] * len(types))
        )
    with ir.InsertionPoint(blocks[0]):
        arguments = [Value(argument) for argument in blocks[0].arguments]
        scf.condition(condition(*arguments).ssa, [x.ssa for x in arguments])
    with ir.InsertionPoint(blocks[1]):
        scf.yield_([lift(x).ssa for x in body(*[Value(argument) for argument in blocks[1].arguments])])
    return [Value(result) for result in op.results]


def ring(stage: Value, phase: Value, stages: int) -> tuple[Value, Value]:
    """The next (stage, parity) of a ring of ``stages`` buffers."""
    following = stage + 1
    wraps = following.eq(stages)
    return wraps.select(0, following), wraps.select(phase ^ 1, phase)


# ---------------------------------------------------------------------------------------------------- pointers


def at(pointer: Value, offset: Value | int, constant: int = 0) -> Value:
    """``pointer`` + ``offset`` + ``constant`` **bytes** (``offset``: i32 or i64)."""
    byte = mlir_type("i8")
    if isinstance(offset, int):
        constant += offset
    else:
        pointer = Value(llvm.getelementptr(pointer.type, pointer.ssa, [offset.ssa], [_DYNAMIC], byte, 0))
    if constant:
        pointer = Value(llvm.getelementptr(pointer.type, pointer.ssa, [], [constant], byte, 0))
    return pointer


def load(kind: str, pointer: Value, alignment: int, invariant: bool = False, volatile: bool = False) -> Value:
    """``llvm.load``; ``invariant``: nothing writes this memory while the kernel runs (becomes ``ld.global.nc``)."""
    return Value(
        llvm.load(
            mlir_type(kind), pointer.ssa, alignment=alignment, invariant=invariant or None, volatile_=volatile or None
        )
    )


def store(value: Value, pointer: Value, alignment: int) -> None:
    llvm.store(value.ssa, pointer.ssa, alignment=alignment)


def fields(structure: Value, kind: str, count: int) -> list[Value]:
    """The ``count`` fields of an LLVM struct."""
    scalar = mlir_type(kind)
    return [Value(llvm.extractvalue(scalar, structure.ssa, [number])) for number in range(count)]


def asm(result: Any, operands: Sequence[Value], text: str, constraints: str, effects: bool = True) -> Value:
    """``llvm.inline_asm`` with a result (its type, or the type's text).

    ``effects=False``: it may be moved, merged or dropped.
    """
    kind = mlir_type(result) if isinstance(result, str) else result
    operation = llvm.inline_asm(
        kind,
        [operand.ssa for operand in operands],
        text,
        constraints,
        has_side_effects=effects or None,
        asm_dialect=0,
    )
    return Value(operation)


def pin(values: Sequence[Value], kind: str = "f32") -> list[Value]:
    """The same values, which can be neither read nor written across this point (an empty tied asm).

    LLVM does not know that wgmma runs asynchronously, so the order of register reads round a wait must be said like
    this.
    """
    count = len(values)
    letter = "f" if kind == "f32" else "r"
    constraints = ",".join([f"={letter}"] * count + [str(number) for number in range(count)])
    if count == 1:
        return [asm(kind, values, "", constraints)]
    return fields(asm(struct_of(kind, count), values, "", constraints), kind, count)


def tree(values: Sequence[Value], combine: Callable[[Value, Value], Value], width: int = 4) -> Value:
    """``values`` folded with ``combine`` through ``width`` independent chains (shorter dependency, same count of
    ops)."""
    chains = list(values[:width])
    for number, value in enumerate(values[width:]):
        chains[number % width] = combine(chains[number % width], value)
    while len(chains) > 1:
        pairs = [combine(a, b) for a, b in zip(chains[::2], chains[1::2], strict=False)]
        chains = pairs + ([chains[-1]] if len(chains) % 2 else [])
    return chains[0]


sum_ = functools.partial(tree, combine=lambda a, b: a + b)
