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
from kc.passes.conversion._emit import Emitter, Index, element, is_complex, ranked, shape_of, tensor_type
from kc.passes.conversion._fft import fft, join, split
from kc.passes.conversion._real_fft import from_hermitian, to_hermitian
from kc.passes.conversion._reshape import reshape


@dataclasses.dataclass(frozen=True)
class ConvertStablehloFft(StablehloConversion):
    """``fft`` (FFT, IFFT, RFFT, IRFFT; 1 to 3 dimensions) to loop nests: a fast transform per dimension.

    Any length: a pass per factor 8, 4, 2, 3, 5, 7 or other prime up to 61, and a convolution with a chirp where a prime
    factor is larger. The twiddle factors are a table computed in double precision; passes of one radix share their
    code. A real signal of even length is transformed as a complex one of half the length. Dimensions that are not
    transformed may be dynamic::

        %r = stablehlo.fft %x, type = FFT, length = [16] : (tensor<3x16xcomplex<f32>>) -> tensor<3x16xcomplex<f32>>

        %w = arith.constant dense<...> : tensor<15x2xf32>
        %r = scf.for %pass = %c0 to %c2 step %c1 iter_args(%v = %x, ...) {
          %in = tensor.expand_shape %v ... into tensor<3x?x4x?x1xcomplex<f32>>
          scf.for %b { scf.for %k { scf.for %m { extract 4 elements; arith; turn by %w; insert 4 } } }
        }
    """

    name: ClassVar[str] = "kc-convert-stablehlo-fft"
    converts: ClassVar[frozenset[str]] = frozenset({"stablehlo.fft"})

    def convert(self, e: Emitter, op: ir.Operation, ctx: PassContext) -> Sequence[ir.Value]:
        value, lengths = op.operands[0], ints(op, "fft_length")
        kind = str(op.attributes["fft_type"]).split()[-1].rstrip(">")
        type_ = ranked(op.results[0])
        axes = list(range(type_.rank - len(lengths), type_.rank))
        if None in [shape_of(value)[a] for a in axes]:
            ctx.error(
                op,
                "'stablehlo.fft' along a dimension whose size is only known at run time cannot be compiled",
                ["nearest thing that works: static sizes of the transformed dimensions; the others may be dynamic"],
            )
        batch = [e.dim(value, a) for a in range(axes[0])]
        if 0 in shape_of(type_) or 0 in shape_of(value):
            extents = [*batch, *[n or 0 for n in shape_of(type_)[axes[0] :]]]
            return [e.splat(type_, extents, e.const(element(type_), 0))]
        *others, last = zip(axes, lengths, strict=True)
        inverse = kind in ("IFFT", "IRFFT")
        if kind == "RFFT":
            value = _along_last(e, value, last[1] // 2 + 1, lambda v: to_hermitian(e, v, last[1]))
        for axis, n in others if kind in ("RFFT", "IRFFT") else (*others, last):
            value = _along(e, value, axis, n, inverse)
        if kind == "IRFFT":
            value = _along_last(e, value, last[1], lambda v: from_hermitian(e, v, last[1]))
        return [_divided(e, value, math.prod(lengths)) if inverse else value]


def _along(e: Emitter, value: ir.Value, axis: int, n: int, inverse: bool) -> ir.Value:
    """The unscaled transform along ``axis``, which for that time becomes the last one."""
    if axis == ranked(value).rank - 1:
        return _along_last(e, value, n, lambda v: fft(e, v, n, inverse))
    extents, t = e.dims(value), element(value)
    whole: list[Index] = [e.product(extents[:axis]), n, e.product(extents[axis + 1 :])]
    moved = swap_last(e, reshape(e, value, tensor_type(_known(whole), t), whole))
    changed = swap_last(e, _along_last(e, moved, n, lambda v: fft(e, v, n, inverse)))
    return reshape(e, changed, value.type, extents)


def _known(extents: Sequence[Index]) -> list[int | None]:
    return [x if isinstance(x, int) else None for x in extents]


def swap_last(e: Emitter, value: ir.Value) -> ir.Value:
    """[a, m, n] as [a, n, m], in square blocks: rows a power of two apart share few lines of a cache."""
    a, m, n = e.dims(value)
    t, known = element(value), shape_of(value)
    block_m, block_n = _block(known[1]), _block(known[2])
    split: list[Index] = [a, e.floordiv(m, block_m), block_m, e.floordiv(n, block_n), block_n]
    blocks = reshape(e, value, tensor_type(_known(split), t), split)
    turned = [split[i] for i in (0, 3, 4, 1, 2)]
    init = e.empty(tensor_type(_known(turned), t), turned)
    # loops: a, block of m, block of n, then within the block
    maps = [ir.AffineMap.get_permutation(order) for order in ([0, 1, 3, 2, 4], [0, 2, 4, 1, 3])]
    swapped = e.generic([blocks], [init], maps, ["parallel"] * 5, lambda _, x: [x[0]])[0]
    return reshape(e, swapped, tensor_type([known[0], known[2], known[1]], t), [a, n, m])


def _block(extent: int | None) -> int:
    return max((d for d in range(1, 33) if extent is not None and extent % d == 0), default=1)


def _along_last(e: Emitter, value: ir.Value, outputs: int, change: Callable[[ir.Value], ir.Value]) -> ir.Value:
    """``change`` of ``value`` as [batch, n], back in shape with ``outputs`` elements along the last axis."""
    extents, shape = e.dims(value), shape_of(value)
    flat: list[Index] = [e.product(extents[:-1]), extents[-1]]
    type_ = tensor_type(_known(flat), element(value))
    changed = change(reshape(e, value, type_, flat))
    return reshape(e, changed, tensor_type([*shape[:-1], outputs], element(changed)), [*extents[:-1], outputs])


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
