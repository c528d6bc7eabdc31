"""Reductions: reduce, reduce_window, select_and_scatter."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from ..builder import Builder, ints
from ..facts import Facts, join, product, rounded, total
from ..program import Value
from ..tensors import COMPLEX, FLOATS, INTEGERS, Dyn, dtype, finfo, is_inexact, is_integer
from .regions import arg_best, combiner, selector

REDUCIBLE = (*FLOATS, *INTEGERS, "i1", *COMPLEX)


def monoid(b: Builder, x: Value, init: Facts, n: int) -> tuple[str, Facts, bool]:
    """An operation to combine ``n`` elements of x with; the facts of the result; whether it sums (is to be shaken)."""
    element = x.type.element
    if element == "i1":
        return b.c.one_of(("or", "and", "xor", "maximum", "minimum", "add")), join(x.facts, init), False
    names = ["add", "maximum", "minimum", "multiply"]
    if is_integer(element):
        names += ["and", "or", "xor"]
    if element in COMPLEX:
        # the sign of a zero in a product of several depends on their order
        names = ["add"] if b.exact else ["add", "multiply"]
    name = b.c.one_of(names)
    either = dataclasses.replace(join(x.facts, init), bits=False)
    if name in ("maximum", "minimum"):
        return name, either, False
    if name in ("and", "or", "xor"):
        return name, Facts(either.exact, None), False
    power = init
    if name == "multiply" and is_inexact(element):
        for _ in range(n):
            power = product(power, x.facts)
            # a product that overflows on its way, and a zero: NaN or zero by the order in which they meet
            if power.mag is None or power.mag > float(finfo(element).max):
                name = "add"
                break
    if name == "add":
        facts = rounded(total(x.facts.scaled(n), init), element, single=False)
    elif is_inexact(element):
        facts = rounded(power, element, single=False)
    else:
        facts = Facts(either.exact, None)
    if element in COMPLEX and name == "multiply":
        facts = facts.inexact()
    if is_inexact(element) and not facts.exact:
        if b.exact and element not in COMPLEX:
            return "maximum", either, False
        return name, dataclasses.replace(facts, nan=True), True
    return name, facts, False


def reduce(b: Builder) -> None:
    x = b.summable(REDUCIBLE, (1, 5))
    dims = b.c.subset(range(x.type.rank), 60) or [b.c.integer(0, x.type.rank - 1)]
    n = math.prod(int(x.type.shape[d]) for d in dims)
    out = x.type.shaped(*(s for d, s in enumerate(x.type.shape) if d not in dims))
    init = b.summable_like(x.type.shaped())
    attributes = f"dimensions = {ints(dims)}"
    name, facts, shake = monoid(b, x, init.facts, n)
    if b.exact and not facts.exact:
        return
    if b.c.chance(25):
        y = b.like(x.type)
        init2 = b.summable_like(x.type.shaped())
        name2, facts2, shake2 = monoid(b, y, init2.facts, n)
        if facts2.exact or not b.exact:
            text = f'"stablehlo.reduce"(%{x.name}, %{y.name}, %{init.name}, %{init2.name}) <{{{attributes}}}> '
            text += f"({combiner((name, name2), (x.type.element,) * 2)}) : "
            text += f"({x.type}, {y.type}, {init.type}, {init2.type}) -> ({out}, {out})"
            shaken = [(v, math.sqrt(n)) for v, s in ((x, shake), (y, shake2)) if s]
            b.emit(text, [(out, facts), (out, facts2)], True, shaken)
            return
    region = combiner((name,), (x.type.element,))
    text = (
        f'"stablehlo.reduce"(%{x.name}, %{init.name}) <{{{attributes}}}> ({region}) : ({x.type}, {init.type}) -> {out}'
    )
    b.emit(text, [(out, facts)], True, [(x, math.sqrt(n))] if shake else ())


def arg_reduce(b: Builder) -> None:
    """argmax or argmin: a variadic reduction of values and their indices."""
    x = b.any((*FLOATS, "i32", "i8", "ui8", "i64"), (1, 3), lambda v: not v.facts.nan)
    if x.facts.nan or any(isinstance(n, Dyn) for n in x.type.shape):
        return
    axis = b.c.integer(0, x.type.rank - 1)
    index = b.c.one_of(("i32", "i64", "ui32"))
    it = x.type.of(index)
    i = b.op("iota", [], it, Facts(mag=float(max(x.type.shape[axis], 1))), f"iota_dimension = {axis} : i64")
    best = b.c.one_of(("GT", "LT"))
    low = x.type.element in INTEGERS and x.type.element.startswith("ui")
    worst = 0 if low else -100 if best == "GT" else 100
    value = np.array(min(worst, 100)).astype(np.float64)
    init = b.constant(value.astype(dtype(x.type.element)), x.type.element)
    zero = b.constant(np.array(0, dtype(index)), index)
    out = x.type.shaped(*(s for d, s in enumerate(x.type.shape) if d != axis))
    operands = (x, i, init, zero)
    text = (
        f'"stablehlo.reduce"({", ".join(f"%{v.name}" for v in operands)}) <{{dimensions = {ints([axis])}}}> '
        f"({arg_best(x.type.element, index, best)}) : ({', '.join(str(v.type) for v in operands)}) "
        f"-> ({out}, {out.of(index)})"
    )
    b.emit(text, [(out, join(x.facts, init.facts)), (out.of(index), Facts(x.facts.exact, i.facts.mag))])


def window(
    b: Builder, shape: tuple[int, ...], dilate: bool
) -> tuple[list[list[int]], list[list[int]], list[int]] | None:
    """Random window geometry: [sizes, strides, base dilations, window dilations], paddings, result shape."""
    sizes, strides, base, inner, padding, out = [], [], [], [], [], []
    for n in shape:
        w = b.c.one_of((1, 2, 3))
        s = b.c.one_of((1, 2, 3))
        bd = b.c.one_of((1, 1, 2)) if dilate else 1
        wd = b.c.one_of((1, 1, 2)) if dilate else 1
        lo, hi = b.c.one_of((0, 1, 2)), b.c.one_of((0, 1, 2))
        if dilate and b.c.chance(10):
            lo = -1
        padded = lo + (0 if n == 0 else (n - 1) * bd + 1) + hi
        reach = (w - 1) * wd + 1
        if padded < 0:
            return None
        out.append(0 if reach > padded else (padded - reach) // s + 1)
        for a, v in zip((sizes, strides, base, inner), (w, s, bd, wd), strict=True):
            a.append(v)
        padding.append([lo, hi])
    return [sizes, strides, base, inner], padding, out


def pads(padding: list[list[int]]) -> str:
    return f"dense<{padding if padding else ''}> : tensor<{len(padding)}x2xi64>"


def reduce_window(b: Builder) -> None:
    x = b.summable(REDUCIBLE, (1, 4))
    if any(isinstance(n, Dyn) for n in x.type.shape):
        return
    geometry = window(b, x.type.shape, True)
    if geometry is None:
        return
    (sizes, strides, base, inner), padding, out = geometry
    n = math.prod(sizes)
    init = b.summable_like(x.type.shaped())
    # padding brings the initial value in again
    seen = dataclasses.replace(x, facts=join(x.facts, init.facts))
    name, facts, shake = monoid(b, seen, init.facts, n)
    if b.exact and not facts.exact:
        return
    attributes = (
        f"window_dimensions = {ints(sizes)}, window_strides = {ints(strides)}, base_dilations = {ints(base)}, "
        f"window_dilations = {ints(inner)}, padding = {pads(padding)}"
    )
    region = combiner((name,), (x.type.element,))
    t = x.type.shaped(*out)
    text = f'"stablehlo.reduce_window"(%{x.name}, %{init.name}) <{{{attributes}}}> ({region}) : '
    text += f"({x.type}, {init.type}) -> {t}"
    b.emit(text, [(t, facts)], True, [(x, math.sqrt(n))] if shake else ())


def cumulative(b: Builder) -> None:
    """A running sum (or product, maximum …) as JAX writes it: a window as long as the dimension."""
    x = b.summable(REDUCIBLE, (1, 3))
    if any(isinstance(n, Dyn) for n in x.type.shape) or 0 in x.type.shape:
        return
    axis = b.c.integer(0, x.type.rank - 1)
    n = int(x.type.shape[axis])
    init = b.summable_like(x.type.shaped())
    seen = dataclasses.replace(x, facts=join(x.facts, init.facts))
    name, facts, shake = monoid(b, seen, init.facts, n)
    if b.exact and not facts.exact:
        return
    ones = [1] * x.type.rank
    padding = [[0, 0] for _ in ones]
    padding[axis] = [n - 1, 0] if b.c.chance(70) else [0, n - 1]
    sizes = [n if d == axis else 1 for d in range(len(ones))]
    attributes = (
        f"window_dimensions = {ints(sizes)}, window_strides = {ints(ones)}, base_dilations = {ints(ones)}, "
        f"window_dilations = {ints(ones)}, padding = {pads(padding)}"
    )
    region = combiner((name,), (x.type.element,))
    text = f'"stablehlo.reduce_window"(%{x.name}, %{init.name}) <{{{attributes}}}> ({region}) : '
    text += f"({x.type}, {init.type}) -> {x.type}"
    b.emit(text, [(x.type, facts)], True, [(x, math.sqrt(n))] if shake else ())


def select_and_scatter(b: Builder) -> None:
    x = b.any((*FLOATS, "i32", "i8", "ui8"), (1, 4), lambda v: not v.facts.nan)
    if x.facts.nan or any(isinstance(n, Dyn) for n in x.type.shape):
        return
    geometry = window(b, x.type.shape, False)
    if geometry is None:
        return
    (sizes, strides, _, _), padding, out = geometry
    # a window that lies in the padding alone selects nothing
    if any(lo >= w or hi >= w for (lo, hi), w in zip(padding, sizes, strict=True)):
        return
    source = b.summable_like(x.type.shaped(*out))
    # the interpreter takes the initial value in with every element that it scatters, so one that does nothing
    name, facts, shake = monoid(b, source, source.facts, math.prod(sizes))
    neutral = 1 if name in ("multiply", "and") else 0
    init = b.constant(np.array(neutral).astype(dtype(x.type.element)), x.type.element)
    if name in ("maximum", "minimum"):
        init = b.summable_like(x.type.shaped())
        facts = dataclasses.replace(join(facts, init.facts), bits=False)
    if not x.facts.exact:
        facts = facts.inexact()
    if b.exact and not facts.exact:
        return
    attributes = f"window_dimensions = {ints(sizes)}, window_strides = {ints(strides)}, padding = {pads(padding)}"
    select = selector(x.type.element, b.c.one_of(("GE", "LE", "GT", "LT")))
    region = f"{select}, {combiner((name,), (x.type.element,))}"
    text = (
        f'"stablehlo.select_and_scatter"(%{x.name}, %{source.name}, %{init.name}) <{{{attributes}}}> ({region}) : '
        f"({x.type}, {source.type}, {init.type}) -> {x.type}"
    )
    b.emit(text, [(x.type, facts)], True, [(source, 2.0)] if shake else ())
