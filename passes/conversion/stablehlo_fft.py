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
from kc.passes.conversion._emit import Emitter, element, is_complex, shape_of, tensor_type
from kc.passes.conversion._movement import cast_elements


@dataclasses.dataclass(frozen=True)
class ConvertStablehloFft(StablehloConversion):
    """``fft`` (FFT, IFFT, RFFT, IRFFT; 1 to 3 dimensions): one discrete Fourier transform by its sum per dimension.

    X[k] = sum over j of x[j] exp(-+2 pi i j k / n), a ``linalg.generic`` that reads the powers of the n-th root of
    unity from a table made in double precision and adds up in f64. It costs n operations per element, whatever n is::

        %r = stablehlo.fft %x, type = FFT, length = [8] : (tensor<3x8xcomplex<f32>>) -> tensor<3x8xcomplex<f32>>

        %s = linalg.generic {iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%x) outs(%zeros : tensor<3x8xcomplex<f64>>)
    """

    name: ClassVar[str] = "kc-convert-stablehlo-fft"
    converts: ClassVar[frozenset[str]] = frozenset({"stablehlo.fft"})

    def convert(self, e: Emitter, op: ir.Operation, ctx: PassContext) -> Sequence[ir.Value]:
        value, lengths = op.operands[0], ints(op, "fft_length")
        kind = str(op.attributes["fft_type"]).split()[-1].rstrip(">")
        result = shape_of(op.results[0])
        rank = len(result)
        axes = list(range(rank - len(lengths), rank))
        if None in shape_of(value):
            ctx.error(
                op,
                "'stablehlo.fft' of a shape that is only known at run time cannot be compiled",
                ["nearest thing that works: a static shape"],
            )
        if 0 in result or 0 in shape_of(value):
            return [e.splat(op.results[0].type, [n or 0 for n in result], e.const(element(op.results[0]), 0))]
        *others, last = zip(axes, lengths, strict=True)
        if kind in ("FFT", "IFFT"):
            for axis, n in (*others, last):
                value = _transform(e, value, axis, n, n, kind == "IFFT")
        elif kind == "RFFT":
            value = _transform(e, value, last[0], n=last[1], outputs=last[1] // 2 + 1, inverse=False)
            for axis, n in others:
                value = _transform(e, value, axis, n, n, inverse=False)
        else:
            for axis, n in others:
                value = _transform(e, value, axis, n, n, inverse=True)
            value = _to_real(e, value, last[0], last[1])
        return [value]


def _table(e: Emitter, n: int, function: Callable[[float], float]) -> ir.Value:
    """``function(2 pi k / n)`` for k = 0 .. n-1, exact at multiples of a quarter turn."""
    import numpy as np

    def at(k: int) -> float:
        if 4 * k % n == 0:
            return float(round(function(math.pi / 2 * (4 * k // n))))
        return function(2 * math.pi * k / n)

    values = np.array([at(k) for k in range(n)], np.float64)
    attr = ir.DenseElementsAttr.get(values)
    return e.one("arith.constant", [], tensor_type([n], ir.F64Type.get()), {"value": attr})


def _sum(
    e: Emitter,
    value: ir.Value,
    axis: int,
    outputs: int,
    acc: ir.Type,
    term: Callable[[Emitter, ir.Value, ir.Value, ir.Value, ir.Value], ir.Value],
) -> ir.Value:
    """The tensor of ``acc`` that adds up ``term(emitter, element, accumulator, k, j)`` along ``axis``."""
    shape = [outputs if d == axis else n for d, n in enumerate(shape_of(value))]
    rank = len(shape)
    init = e.splat(tensor_type(shape, acc), shape, e.const(acc, 0))
    source = [ir.AffineDimExpr.get(rank if d == axis else d) for d in range(rank)]
    maps = [
        ir.AffineMap.get(rank + 1, 0, source),
        ir.AffineMap.get(rank + 1, 0, [ir.AffineDimExpr.get(d) for d in range(rank)]),
    ]

    def body(i: Emitter, a: list[ir.Value]) -> Sequence[ir.Value]:
        return [term(i, a[0], a[1], i.linalg_index(axis), i.linalg_index(rank))]

    return e.generic([value], [init], maps, ["parallel"] * rank + ["reduction"], body)[0]


def _transform(e: Emitter, value: ir.Value, axis: int, n: int, outputs: int, inverse: bool) -> ir.Value:
    """The transform along ``axis`` of real or complex ``value``, in complex of its own width."""
    t, f64 = element(value), ir.F64Type.get()
    own = ir.ComplexType(t).element_type if is_complex(t) else t
    wide = ir.ComplexType.get(f64)
    cosines, sines = _table(e, n, math.cos), _table(e, n, math.sin)

    def term(i: Emitter, x: ir.Value, acc: ir.Value, k: ir.Value, j: ir.Value) -> ir.Value:
        turn = i.rem(i.mul(k, j), n)
        c, s = i.extract(cosines, [turn]), i.extract(sines, [turn])
        s = s if inverse else i.unary("arith.negf", s)
        re = i.to_float(i.one("complex.re", [x], own) if is_complex(t) else x, f64)
        add = [i.bin("arith.mulf", re, c), i.bin("arith.mulf", re, s)]
        if is_complex(t):
            im = i.to_float(i.one("complex.im", [x], own), f64)
            add = [
                i.bin("arith.subf", add[0], i.bin("arith.mulf", im, s)),
                i.bin("arith.addf", add[1], i.bin("arith.mulf", im, c)),
            ]
        if inverse:
            add = [i.bin("arith.divf", part, i.const(f64, n)) for part in add]
        return i.bin("complex.add", acc, i.one("complex.create", add, wide))

    return cast_elements(e, _sum(e, value, axis, outputs, wide, term), ir.ComplexType.get(own))


def _to_real(e: Emitter, value: ir.Value, axis: int, n: int) -> ir.Value:
    """The inverse transform of the first n/2 + 1 coefficients of a real signal of length ``n``.

    Each coefficient but the first and (for even n) the last stands for its conjugate at n - j too.
    """
    t, f64 = element(value), ir.F64Type.get()
    own = ir.ComplexType(t).element_type
    cosines, sines = _table(e, n, math.cos), _table(e, n, math.sin)

    def term(i: Emitter, x: ir.Value, acc: ir.Value, k: ir.Value, j: ir.Value) -> ir.Value:
        turn = i.rem(i.mul(k, j), n)
        c, s = i.extract(cosines, [turn]), i.extract(sines, [turn])
        re, im = (i.to_float(i.one(name, [x], own), f64) for name in ("complex.re", "complex.im"))
        once = i.cmpi("eq", j, i.index(0))
        if n % 2 == 0:
            once = i.bin("arith.ori", once, i.cmpi("eq", j, i.index(n // 2)))
        # a coefficient that is its own conjugate counts with its real part
        im = i.select(once, i.const(f64, 0.0), im)
        weight = i.select(once, i.const(f64, 1.0), i.const(f64, 2.0))
        part = i.bin("arith.subf", i.bin("arith.mulf", re, c), i.bin("arith.mulf", im, s))
        return i.bin("arith.addf", acc, i.bin("arith.divf", i.bin("arith.mulf", weight, part), i.const(f64, n)))

    return cast_elements(e, _sum(e, value, axis, n, f64, term), own)
