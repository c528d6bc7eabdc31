"""batch_norm in its three forms; the interpreter runs their definitions (specification, "batch_norm_*")."""

from __future__ import annotations

import itertools
import math

import numpy as np

from .. import values
from ..builder import Builder, generic
from ..facts import Facts
from ..program import Value
from ..tensors import Tensor

_ROUNDED = Facts(False, None, nan=True, bits=False)
_names = itertools.count()


class _Lines:
    """Operations of a definition, on values by name."""

    def __init__(self, kind: Tensor, axis: int, epsilon: float):
        self.t, self.c = kind, kind.shaped(kind.shape[axis])
        self.axis, self.tag, self.lines = axis, f"bn{next(_names)}x", []
        self._count = 0
        self.count = max(kind.size // max(kind.shape[axis], 1), 1)
        self.epsilon = self.splat(epsilon)

    def add(self, body: str) -> str:
        self._count += 1
        name = f"%{self.tag}{self._count}"
        self.lines.append(f"{name} = {body}")
        return name

    def splat(self, number: float) -> str:
        return self.add(f"stablehlo.constant dense<{number!r}> : {self.t}")

    def each(self, name: str) -> str:
        return self.add(
            f"stablehlo.broadcast_in_dim {name}, dims = [{self.axis}] : ({self.c}) -> {self.t}",
        )

    def op(self, name: str, *operands: str) -> str:
        return self.add(f"stablehlo.{name} {', '.join(operands)} : {self.t}")

    def sum(self, name: str) -> str:
        zero = self.add(f"stablehlo.constant dense<0.0> : {self.t.shaped()}")
        axes = [d for d in range(self.t.rank) if d != self.axis]
        return self.add(
            f"stablehlo.reduce({name} init: {zero}) applies stablehlo.add across dimensions = {axes} : "
            f"({self.t}, {self.t.shaped()}) -> {self.c}"
        )

    def mean(self, name: str) -> str:
        divisor = self.add(f"stablehlo.constant dense<{float(self.count)!r}> : {self.c}")
        return self.add(f"stablehlo.divide {self.sum(name)}, {divisor} : {self.c}")

    def normalised(self, x: str, mean: str, variance: str) -> tuple[str, str, str]:
        """(x - mean), its standard deviation, and their quotient."""
        centred = self.op("subtract", x, self.each(mean))
        deviation = self.op("sqrt", self.op("add", self.each(variance), self.epsilon))
        return centred, deviation, self.op("divide", centred, deviation)

    def scaled(self, normalised: str, scale: str, offset: str) -> str:
        return self.op("add", self.op("multiply", normalised, self.each(scale)), self.each(offset))


def _setting(b: Builder) -> tuple[Value, int, Tensor, str, float]:
    x = b.any(("f32", "f64"), (1, 4), lambda v: not v.facts.nan, values.UNIT, least=1)
    axis = b.c.integer(0, x.type.rank - 1)
    epsilon = b.c.one_of((0.001, 0.5))
    attributes = f"epsilon = {epsilon} : f32, feature_index = {axis} : i64"
    return x, axis, x.type.shaped(x.type.shape[axis]), attributes, epsilon


def inference(b: Builder) -> None:
    x, axis, c, attributes, epsilon = _setting(b)
    scale, offset, mean, variance = (b.arg(c, values.UNIT), b.arg(c, values.UNIT), b.arg(c), b.arg(c, values.POSITIVE))
    d = _Lines(x.type, axis, _as_f32(epsilon))
    _, _, normal = d.normalised(f"%{x.name}", f"%{mean.name}", f"%{variance.name}")
    d.scaled(normal, f"%{scale.name}", f"%{offset.name}")
    operands = [x, scale, offset, mean, variance]
    shaken = [(v, 2.0) for v in operands]
    text = generic("batch_norm_inference", operands, [x.type], attributes)
    b.emit(text, [(x.type, _ROUNDED)], True, shaken, _reference(d))


def training(b: Builder) -> None:
    x, axis, c, attributes, epsilon = _setting(b)
    scale, offset = b.arg(c, values.UNIT), b.arg(c, values.UNIT)
    d = _Lines(x.type, axis, _as_f32(epsilon))
    name = f"%{x.name}"
    mean = d.mean(name)
    centred = d.op("subtract", name, d.each(mean))
    variance = d.mean(d.op("multiply", centred, centred))
    _, _, normal = d.normalised(name, mean, variance)
    out = d.scaled(normal, f"%{scale.name}", f"%{offset.name}")
    d.lines.append(f"stablehlo.optimization_barrier {out}, {mean}, {variance} : {x.type}, {c}, {c}")
    text = generic("batch_norm_training", [x, scale, offset], [x.type, c, c], attributes)
    shaken = [(x, 2 * math.sqrt(d.count)), (scale, 2.0), (offset, 2.0)]
    b.emit(text, [(x.type, _ROUNDED), (c, _ROUNDED), (c, _ROUNDED)], True, shaken, tuple(d.lines))


def gradient(b: Builder) -> None:
    x, axis, c, attributes, epsilon = _setting(b)
    scale, mean, variance = b.arg(c, values.UNIT), b.arg(c, values.UNIT), b.arg(c, values.POSITIVE)
    g = b.like(x.type, values.UNIT)
    d = _Lines(x.type, axis, _as_f32(epsilon))
    out = f"%{g.name}"
    centred, deviation, normal = d.normalised(f"%{x.name}", f"%{mean.name}", f"%{variance.name}")
    count = d.splat(float(d.count))
    i1 = d.op("multiply", out, count)
    i2 = d.each(d.sum(out))
    i3 = d.each(d.sum(d.op("multiply", out, centred)))
    i4 = d.op("multiply", i3, centred)
    i5 = d.op("divide", i4, d.op("add", d.each(f"%{variance.name}"), d.epsilon))
    i6 = d.op("subtract", d.op("subtract", i1, i2), i5)
    factor = d.op("divide", d.op("divide", d.each(f"%{scale.name}"), deviation), count)
    operand = d.op("multiply", factor, i6)
    grad_scale = d.sum(d.op("multiply", out, normal))
    d.lines.append(f"stablehlo.optimization_barrier {operand}, {grad_scale}, {d.sum(out)} : {x.type}, {c}, {c}")
    operands = [x, scale, mean, variance, g]
    text = generic("batch_norm_grad", operands, [x.type, c, c], attributes)
    shaken = [(v, 3 * math.sqrt(d.count)) for v in operands]
    b.emit(text, [(x.type, _ROUNDED), (c, _ROUNDED), (c, _ROUNDED)], True, shaken, tuple(d.lines))


def _as_f32(number: float) -> float:
    return float(np.float32(number))


def _reference(d: _Lines) -> tuple[str, ...]:
    """The lines, the last without its name."""
    return (*d.lines[:-1], d.lines[-1].split(" = ", 1)[1])
