"""``kc-convert-stablehlo-fft``."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import ClassVar

from kc.bindings import ir
from kc.pass_base import PassContext
from kc.passes.conversion._attrs import ints
from kc.passes.conversion._convert import StablehloConversion
from kc.passes.conversion._emit import Emitter, Index, element, is_complex, mark_nest, ranked, shape_of, tensor_type
from kc.passes.conversion._fft import fft, join, split
from kc.passes.conversion._real_fft import from_hermitian, to_hermitian
from kc.passes.conversion._reshape import reshape

#: from (emitter, data as [batch, n] or [batch, n, columns], whether they are a slice of others) to the new data
Change = Callable[[Emitter, ir.Value, bool], ir.Value]

#: columns that keep vector units busy, and more than which bring no more
_FEWEST_COLUMNS, _MOST_COLUMNS = 16, 64


def transformed_sizes(kind: str, lengths: Sequence[int]) -> tuple[list[int], list[int]]:
    """Sizes of the transformed dimensions in the operand and in the result (a real side has ``lengths``)."""
    half = [*lengths[:-1], lengths[-1] // 2 + 1 if lengths[-1] else 0]
    whole = list(lengths)
    return (half if kind == "IRFFT" else whole), (half if kind == "RFFT" else whole)


@dataclasses.dataclass(frozen=True)
class ConvertStablehloFft(StablehloConversion):
    """``fft`` (FFT, IFFT, RFFT, IRFFT; 1 to 3 dimensions) to loop nests: a fast transform per dimension.

    Any length: a pass per factor 8, 4, 2, 3, 5, 7 or other prime up to 61, and a convolution with a chirp where a prime
    factor is larger. The twiddle factors are a table computed in double precision; passes of one radix share their
    code. A real signal of even length is transformed as a complex one of half the length. Dimensions that are not
    transformed may be dynamic.

    ``block``: as many elements go through all passes together, in a loop over such blocks, and stay in a cache; 0: all
    elements do, for a device that wants each pass wide. ::

        %r = stablehlo.fft %x, type = FFT, length = [16] : (tensor<3x16xcomplex<f32>>) -> tensor<3x16xcomplex<f32>>

        %w = arith.constant dense<...> : tensor<15x2xf32>
        %r = scf.for %pass = %c0 to %c2 step %c1 iter_args(%v = %x, ...) {
          %in = tensor.expand_shape %v ... into tensor<3x?x4x?x1xcomplex<f32>>
          scf.for %b { scf.for %k { scf.for %m { extract 4 elements; arith; turn by %w; insert 4 } } }
        }
    """

    name: ClassVar[str] = "kc-convert-stablehlo-fft"
    converts: ClassVar[frozenset[str]] = frozenset({"stablehlo.fft"})
    block: int = 0

    def convert(self, e: Emitter, op: ir.Operation, ctx: PassContext) -> Sequence[ir.Value]:
        value, lengths = op.operands[0], ints(op, "fft_length")
        kind = str(op.attributes["fft_type"]).split()[-1].rstrip(">")
        type_ = ranked(op.results[0])
        axes = list(range(type_.rank - len(lengths), type_.rank))
        # a transformed dimension has the size that the lengths say (kc-check-shapes compares), whatever the types say
        given, made = transformed_sizes(kind, lengths)
        value = e.cast(value, tensor_type([*shape_of(value)[: axes[0]], *given], element(value)))
        type_ = tensor_type([*shape_of(type_)[: axes[0]], *made], element(type_))
        batch = [e.dim(value, a) for a in range(axes[0])]
        if 0 in shape_of(type_) or 0 in shape_of(value):
            extents = [*batch, *[n or 0 for n in shape_of(type_)[axes[0] :]]]
            return [e.splat(type_, extents, e.const(element(type_), 0))]
        *others, last = zip(axes, lengths, strict=True)
        inverse = kind in ("IFFT", "IRFFT")
        if kind == "RFFT":
            half = last[1] // 2 + 1
            value = self._rows(e, value, half, element(type_), lambda i, v, _: to_hermitian(i, v, last[1]))
        for axis, n in others if kind in ("RFFT", "IRFFT") else (*others, last):
            value = self._along(e, value, axis, n, inverse)
        if kind == "IRFFT":
            value = self._rows(e, value, last[1], element(type_), lambda i, v, _: from_hermitian(i, v, last[1]))
        return [_divided(e, value, math.prod(lengths)) if inverse else value]

    def _along(self, e: Emitter, value: ir.Value, axis: int, n: int, inverse: bool) -> ir.Value:
        """The unscaled transform along ``axis``."""

        def change(i: Emitter, v: ir.Value, part: bool) -> ir.Value:
            return fft(i, v, n, inverse, part)

        if axis == ranked(value).rank - 1:
            return self._rows(e, value, n, element(value), change)
        extents = e.dims(value)
        flat: list[Index] = [e.product(extents[:axis]), n, e.product(extents[axis + 1 :])]
        whole = reshape(e, value, tensor_type(_known(flat), element(value)), flat)
        columns = flat[2]
        if not self.block or not isinstance(columns, int):
            return reshape(e, change(e, whole, False), value.type, extents)
        wide = _share(columns, min(max(self.block // n, _FEWEST_COLUMNS), _MOST_COLUMNS))
        done = _in_blocks(e, whole, [1, n, wide], n, element(value), change)
        return reshape(e, done, value.type, extents)

    def _rows(self, e: Emitter, value: ir.Value, outputs: int, kind: ir.Type, change: Change) -> ir.Value:
        """``change`` of ``value`` as [batch, n], back in shape with ``outputs`` elements along the last axis."""
        extents, shape = e.dims(value), shape_of(value)
        flat: list[Index] = [e.product(extents[:-1]), extents[-1]]
        whole = reshape(e, value, tensor_type(_known(flat), element(value)), flat)
        batch, n = _known(flat)
        if not self.block or n is None or batch == 1:
            done = change(e, whole, False)
        else:
            rows = 1 if batch is None else _share(batch, max(1, self.block // max(n, outputs)))
            done = _in_blocks(e, whole, [rows, n], outputs, kind, change)
        return reshape(e, done, tensor_type([*shape[:-1], outputs], element(done)), [*extents[:-1], outputs])


def _known(extents: Sequence[Index]) -> list[int | None]:
    return [x if isinstance(x, int) else None for x in extents]


def _share(extent: int, most: int) -> int:
    """The size of the fewest blocks of at most ``most`` that cover ``extent``."""
    return -(-extent // -(-extent // most))


def _in_blocks(
    e: Emitter, value: ir.Value, block: list[int], outputs: int, kind: ir.Type, change: Change
) -> ir.Value:
    """``change`` of the blocks of ``value`` one after the other, put together.

    Axis 1 becomes ``outputs`` long, and elements become of type ``kind``.
    """
    extents = e.dims(value)
    steps = [e.floordiv(e.add(whole, size - 1), size) for whole, size in zip(extents, block, strict=True)]
    if all(step == 1 for step in steps):
        return change(e, value, False)
    exact = [size == 1 or (isinstance(n, int) and n % size == 0) for n, size in zip(extents, block, strict=True)]
    part_type = tensor_type(block, element(value))
    placed = [*extents[:1], outputs, *extents[2:]]
    turned = [*block[:1], outputs, *block[2:]]
    strides = [1] * len(block)

    def body(i: Emitter, at: list[ir.Value], carried: list[ir.Value]) -> Sequence[ir.Value]:
        offsets: list[Index] = []
        for index, size, whole, even in zip(at, block, extents, exact, strict=True):
            offset = 0 if size == whole else i.mul(index, size)
            # the last block is as large as all and covers some of the one before again, with the same values
            offsets.append(offset if even else i.min(offset, i.sub(whole, size)))
        part = i.extract_slice(value, offsets, block, strides, part_type)
        return [i.insert_slice(change(i, part, True), carried[0], offsets, turned, strides)]

    result = e.empty(tensor_type(_known(placed), kind), placed)
    done = e.nest(steps, [result], body)[0]
    if all(exact):
        mark_nest([done], len(steps), "kc.independent")
    return done


def _divided(e: Emitter, value: ir.Value, count: int) -> ir.Value:
    """Every element over ``count``."""
    identity = ir.AffineMap.get_identity(ranked(value).rank)

    def body(i: Emitter, a: list[ir.Value]) -> Sequence[ir.Value]:
        parts = split(i, a[0]) if is_complex(a[0].type) else (a[0],)
        number = i.const(parts[0].type, count)
        quotients = [i.bin("arith.divf", p, number) for p in parts]
        return [join(i, (quotients[0], quotients[1])) if len(parts) == 2 else quotients[0]]

    init = e.empty(value.type, e.dims(value))
    return e.generic([value], [init], [identity, identity], ["parallel"] * ranked(value).rank, body)[0]
