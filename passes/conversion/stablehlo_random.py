"""``kc-convert-stablehlo-random``."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import ClassVar

from kc.bindings import ir
from kc.pass_base import PassContext
from kc.passes.conversion._attrs import flags
from kc.passes.conversion._convert import StablehloConversion
from kc.passes.conversion._emit import Emitter, Index, element, int_type, is_float, ranked, shape_of, tensor_type, width
from kc.passes.conversion._host_call import host_call
from kc.passes.conversion._random_bits import halves, joined, philox, threefry, wide_add
from kc.passes.conversion._reshape import reshape

_THREEFRY_CALLS = ("cu_threefry2x32_ffi", "cu_threefry2x32", "hip_threefry2x32_ffi", "hip_threefry2x32")
_PRECISION = {"f64": 53, "f32": 24, "f16": 11, "bf16": 8}


@dataclasses.dataclass(frozen=True)
class ConvertStablehloRandom(StablehloConversion):
    """``rng`` and ``rng_bit_generator``: integer arithmetic on counters, the same on every target.

    ``rng_bit_generator`` gives the bits that XLA gives (xla/hlo/builder/lib/prng.cc): THREE_FRY on a state of key and
    counter (ui64[2]), PHILOX on key and 128-bit counter (ui64[3], or ui64[2]); DEFAULT is PHILOX. Elements of less than
    32 bits are the low bits of 32.

    The custom calls ``cu_threefry2x32_ffi`` and its kin, Threefry on arrays of keys and counters, are converted too.

    ``rng`` has a hidden state, key and counter of the process (from the system, ``KC_SEED`` or ``kc.runtime.seed``),
    which a host call fetches; Threefry runs on the counters from there. UNIFORM takes as many bits as numbers in
    [0, 1) have in the type, ``u``, and gives ``a * (1 - u) + b * u``; of integers, ``a + bits mod (b - a)`` with 64
    bits, which prefers some numbers of ranges near 2^64, as in XLA. NORMAL is the method of Box and Muller ("A note on
    the generation of random normal deviates", 1958). Extents may be known at run time only. After::

        %state = call @kc_random_state_0(%e) : (tensor<2xi64>) -> tensor<2xi64>
        %r = linalg.generic outs(%empty) { counter from linalg.index, adds, rotations and xors, a float from the bits }
    """

    name: ClassVar[str] = "kc-convert-stablehlo-random"
    converts: ClassVar[frozenset[str]] = frozenset({"stablehlo.rng", "stablehlo.rng_bit_generator"})

    def acts_on(self) -> frozenset[str]:
        """See ``Pass.acts_on``."""
        return self.converts | {"stablehlo.custom_call"}

    @staticmethod
    def takes_call(op: ir.Operation) -> bool:
        """Whether ``op`` is JAX's call of a Threefry kernel: two keys and two counters to two words, of one shape."""
        if ir.StringAttr(op.attributes["call_target_name"]).value not in _THREEFRY_CALLS:
            return False
        types = [v.type for v in (*list(op.operands)[:4], *op.results)]
        return len(op.operands) >= 4 and len(op.results) == 2 and len(set(map(str, types))) == 1

    def convert(self, e: Emitter, op: ir.Operation, ctx: PassContext) -> Sequence[ir.Value] | None:
        """See the class."""
        if op.name == "stablehlo.custom_call":
            return _threefry_call(e, op) if self.takes_call(op) else None
        if isinstance(element(op.results[-1]), ir.ComplexType):
            ctx.error(op, f"'{op.name}' has no complex numbers", ["nearest thing that works: stablehlo.complex of two"])
        if op.name == "stablehlo.rng_bit_generator":
            return _bit_generator(e, op, ctx)
        return [_Distribution(e, op).value()]


# ---------------------------------------------------------------------------------------------------- random bits


def _threefry_call(e: Emitter, op: ir.Operation) -> list[ir.Value]:
    result = op.results[0]
    rank = ranked(result).rank
    operands = list(op.operands)[:4]
    inits = [e.empty(result.type, e.dims(operands[0])) for _ in range(2)]
    identity = [ir.AffineMap.get_identity(rank)] * 6
    return e.generic(operands, inits, identity, ["parallel"] * rank, lambda i, a: threefry(i, a[:2], a[2:4]))


def _bit_generator(e: Emitter, op: ir.Operation, ctx: PassContext) -> Sequence[ir.Value]:
    state, type_ = op.operands[0], op.results[1].type
    algorithm = str(op.attributes["rng_algorithm"]).split()[-1].rstrip(">")
    most = 2 if algorithm == "THREE_FRY" else 3
    length = shape_of(state)[0]
    if None in shape_of(type_) or element(state) != int_type(64) or length is None or not 2 <= length <= most:
        ctx.error(
            op,
            f"'{op.name}' with {algorithm} of {type_} from the state {state.type} cannot be converted",
            ["nearest thing that works: a static result, and a state tensor<2xui64> (tensor<3xui64> for PHILOX)"],
        )
    kind = element(type_)
    bits = 64 if width(kind) > 32 else 32
    made = _threefry_bits if algorithm == "THREE_FRY" else _philox_bits
    words = [e.extract(state, [k]) for k in range(length)]
    new_words, value = made(e, words, [n or 0 for n in shape_of(type_)], bits)
    new_state = e.from_elements(new_words, state.type)
    if element(value) == kind:
        return [new_state, value]

    def body(i: Emitter, a: list[ir.Value]) -> Sequence[ir.Value]:
        narrow = i.to_int(a[0], int_type(width(kind)))
        return [i.one("arith.bitcast", [narrow], kind) if is_float(kind) else narrow]

    return [new_state, _elementwise(e, value, type_, body)]


def _elementwise(
    e: Emitter, value: ir.Value, type_: ir.Type, body: Callable[[Emitter, list[ir.Value]], Sequence[ir.Value]]
) -> ir.Value:
    identity = ir.AffineMap.get_identity(ranked(value).rank)
    init = e.empty(type_, e.dims(value))
    return e.generic([value], [init], [identity, identity], ["parallel"] * ranked(value).rank, body)[0]


def _blocks(
    e: Emitter, count: int, outputs: int, bits: int, body: Callable[[Emitter, ir.Value], Sequence[ir.Value]]
) -> list[ir.Value]:
    """``outputs`` vectors of ``count`` elements; ``body`` gets the position as i64."""
    type_ = tensor_type([count], int_type(bits))
    identity = ir.AffineMap.get_identity(1)

    def inner(i: Emitter, _: list[ir.Value]) -> Sequence[ir.Value]:
        return body(i, i.to_int(i.linalg_index(0), int_type(64)))

    inits = [e.empty(type_, [count]) for _ in range(outputs)]
    return e.generic([], inits, [identity] * outputs, ["parallel"], inner)


def _woven(e: Emitter, parts: Sequence[ir.Value], shape: list[int], axis: int) -> ir.Value:
    """Tensors of one shape, taken in turn along ``axis`` until ``shape`` is full (the last ones may be cut short)."""
    half = [n or 0 for n in shape_of(parts[0])]
    whole = [n * len(parts) if d == axis else n for d, n in enumerate(half)]
    result = e.empty(tensor_type(whole, element(parts[0])), whole)
    for number, part in enumerate(parts):
        offsets: list[Index] = [number if d == axis else 0 for d in range(len(half))]
        strides: list[Index] = [len(parts) if d == axis else 1 for d in range(len(half))]
        result = e.insert_slice(part, result, offsets, half, strides)
    if whole == shape:
        return result
    zeros, ones = [0] * len(shape), [1] * len(shape)
    return e.extract_slice(result, zeros, shape, ones, tensor_type(shape, element(result)))


def _threefry_bits(
    e: Emitter, state: list[ir.Value], shape: list[int], bits: int
) -> tuple[list[ir.Value], ir.Value]:
    """(new state, i32 or i64 of ``shape``) from key and counter."""
    key, counter = state

    def words(i: Emitter, position: ir.Value) -> list[ir.Value]:
        return threefry(i, halves(i, key), halves(i, i.bin("arith.addi", counter, position)))

    def advanced(count: int) -> list[ir.Value]:
        return [key, e.bin("arith.addi", counter, e.const(counter.type, count))]

    if bits == 64:
        count = math.prod(shape)
        (flat,) = _blocks(e, count, 1, 64, lambda i, at: [joined(i, *words(i, at))])
        return advanced(count), reshape(e, flat, tensor_type(shape, int_type(64)), list(shape))
    # one block makes two elements, which are neighbours along one dimension
    axis = _split_axis(shape)
    half = [-(-n // 2) if d == axis else n for d, n in enumerate(shape)] or [1]
    parts = _blocks(e, math.prod(half), 2, 32, words)
    if not shape:
        return advanced(1), e.from_elements([e.extract(parts[0], [0])], tensor_type([], int_type(32)))
    shaped = [reshape(e, part, tensor_type(half, int_type(32)), list(half)) for part in parts]
    return advanced(math.prod(half)), _woven(e, shaped, shape, axis)


def _split_axis(shape: list[int]) -> int:
    """The first even dimension, else the first of the largest ones."""
    even = [axis for axis, n in enumerate(shape) if n % 2 == 0]
    return even[0] if even else shape.index(max(shape)) if shape else 0


def _philox_bits(e: Emitter, state: list[ir.Value], shape: list[int], bits: int) -> tuple[list[ir.Value], ir.Value]:
    """(new state, i32 or i64 of ``shape``) from key and 128-bit counter, or key and the counter's lower half, when the
    key is its upper half too."""
    key = state[0]
    counter = state[1:] if len(state) == 3 else [state[1], key]
    count = math.prod(shape)
    blocks = -(-count * (bits // 32) // 4)

    def words(i: Emitter, position: ir.Value) -> list[ir.Value]:
        low, high = wide_add(i, counter, position)
        made = philox(i, halves(i, key), [*halves(i, low), *halves(i, high)])
        return made if bits == 32 else [joined(i, *made[:2]), joined(i, *made[2:])]

    flat = _woven(e, _blocks(e, blocks, 128 // bits, bits, words), [count], 0)
    new = wide_add(e, counter, e.const(key.type, blocks))
    return [key, *new[: len(state) - 1]], reshape(e, flat, tensor_type(shape, int_type(bits)), list(shape))


# -------------------------------------------------------------------------------------------------- distributions


class _Distribution:
    """The numbers of one ``rng``."""

    def __init__(self, e: Emitter, op: ir.Operation):
        self.e, self.type = e, op.results[0].type
        self.element = element(self.type)
        self.normal = "NORMAL" in str(op.attributes["rng_distribution"])
        self.bounds = [e.extract(v) for v in list(op.operands)[:2]]
        self.unsigned = flags(op, "kc.unsigned", 1)[0]
        shape = op.operands[2]
        self.extents: list[Index] = [
            e.to_int(e.extract(shape, [axis]), ir.IndexType.get()) if n is None else n
            for axis, n in enumerate(shape_of(self.type))
        ]

    def value(self) -> ir.Value:
        state_type = tensor_type([2], int_type(64))
        state = host_call(self.e, "kc_random_state", [], [], [state_type], [[2]])[0]
        key, first = self.e.extract(state, [0]), self.e.extract(state, [1])
        extents = self.extents

        def body(i: Emitter, at: list[ir.Value]) -> ir.Value:
            position: Index = 0
            for index, extent in zip(at, extents, strict=True):
                position = i.add(i.mul(position, extent), index)
            counter = i.bin("arith.addi", first, i.to_int(i.index(position), int_type(64)))

            def draw(mark: int) -> list[ir.Value]:
                marked = i.bin("arith.ori", counter, i.const(counter.type, mark)) if mark else counter
                return threefry(i, halves(i, key), halves(i, marked))

            if not is_float(self.element):
                return self._integer(i, joined(i, *draw(0)))
            if self.normal:
                return self._normal(i, draw(0), draw(1 << 63))
            return self._uniform(i, draw(0))

        return self.e.tabulate(self.type, extents, body)

    def _wide(self) -> ir.Type:
        return self.element if isinstance(self.element, ir.F64Type) else ir.F32Type.get()

    @staticmethod
    def _unit(i: Emitter, words: Sequence[ir.Value], type_: ir.Type, precision: int) -> ir.Value:
        """A multiple of ``2**-precision`` in [0, 1)."""
        bits = joined(i, *words) if precision > 32 else words[0]
        whole = i.bin("arith.shrui", bits, i.const(bits.type, width(bits.type) - precision))
        return i.bin("arith.mulf", i.one("arith.uitofp", [whole], type_), i.const(type_, 2.0**-precision))

    def _uniform(self, i: Emitter, words: Sequence[ir.Value]) -> ir.Value:
        wide = self._wide()
        low, high = self.bounds
        u = self._unit(i, words, wide, _PRECISION.get(str(self.element), 3))
        rest = i.bin("arith.subf", i.const(wide, 1.0), u)
        left = i.bin("arith.mulf", i.to_float(low, wide), rest)
        number = i.to_float(
            i.bin("arith.addf", left, i.bin("arith.mulf", i.to_float(high, wide), u)), self.element
        )
        below = i.cmpf("olt", i.to_float(number, wide), i.to_float(high, wide))
        return i.select(below, number, low)  # rounding may have reached the end

    def _normal(self, i: Emitter, words: Sequence[ir.Value], others: Sequence[ir.Value]) -> ir.Value:
        wide = self._wide()
        exact = isinstance(wide, ir.F64Type)
        # the radius wants small numbers finer than the angle does: (0, 1] in steps of 2**-32 or less
        bits = joined(i, *words) if exact else words[0]
        fine = i.bin("arith.addf", i.one("arith.uitofp", [bits], wide), i.const(wide, 0.5))
        fine = i.bin("arith.mulf", fine, i.const(wide, 2.0 ** -width(bits.type)))
        radius = i.unary("math.sqrt", i.bin("arith.mulf", i.unary("math.log", fine), i.const(wide, -2.0)))
        turn = self._unit(i, others, wide, 53 if exact else 24)
        angle = i.unary("math.cos", i.bin("arith.mulf", turn, i.const(wide, 2 * math.pi)))
        mean, deviation = (i.to_float(v, wide) for v in self.bounds)
        scaled = i.bin("arith.mulf", i.bin("arith.mulf", radius, angle), deviation)
        return i.to_float(i.bin("arith.addf", mean, scaled), self.element)

    def _integer(self, i: Emitter, bits: ir.Value) -> ir.Value:
        if width(self.element) == 1:  # [false, true) is false, and nothing else is defined
            return self.bounds[0]
        low, high = (i.to_int(v, int_type(64), unsigned=self.unsigned) for v in self.bounds)
        span = i.bin("arith.subi", high, low)
        nonzero = i.bin("arith.maxui", span, i.const(span.type, 1))  # a >= b is undefined, but must not trap
        return i.to_int(i.bin("arith.addi", low, i.bin("arith.remui", bits, nonzero)), self.element)
