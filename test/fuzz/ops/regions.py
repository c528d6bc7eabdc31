"""Texts of the small regions of reductions, scatters and sorts."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from ..tensors import Tensor, bits

_names = itertools.count()


def combiner(ops: Sequence[str], elements: Sequence[str]) -> str:
    """``(a…, b…) -> (a op b)…``, one operation per element type. An op of ``first`` returns a, ``second`` b."""
    k = len(ops)
    tag = f"r{next(_names)}"
    types = [str(Tensor((), e)) for e in elements]
    params = [f"%{tag}a{i}: {t}" for i, t in enumerate(types)] + [f"%{tag}b{i}: {t}" for i, t in enumerate(types)]
    lines, out = [], []
    for i, op in enumerate(ops):
        a, b = f"%{tag}a{i}", f"%{tag}b{i}"
        if op in ("first", "second"):
            out.append(a if op == "first" else b)
        else:
            lines.append(f"%{tag}c{i} = stablehlo.{op} {a}, {b} : {types[i]}")
            out.append(f"%{tag}c{i}")
    body = "\n".join(lines)
    ends = f'"stablehlo.return"({", ".join(out[:k])}) : ({", ".join(types)}) -> ()'
    return f"{{\n^bb0({', '.join(params)}):\n{body}\n{ends}\n}}"


def arg_best(element: str, index: str, direction: str) -> str:
    """The better of two (value, index) pairs; of equal values the lower index."""
    t, i, p = str(Tensor((), element)), str(Tensor((), index)), "tensor<i1>"
    g = f"r{next(_names)}"
    return f"""{{
^bb0(%{g}a: {t}, %{g}i: {i}, %{g}b: {t}, %{g}j: {i}):
  %{g}w = stablehlo.compare {direction}, %{g}a, %{g}b : ({t}, {t}) -> {p}
  %{g}e = stablehlo.compare EQ, %{g}a, %{g}b : ({t}, {t}) -> {p}
  %{g}l = stablehlo.compare LT, %{g}i, %{g}j : ({i}, {i}) -> {p}
  %{g}t = stablehlo.and %{g}e, %{g}l : {p}
  %{g}k = stablehlo.or %{g}w, %{g}t : {p}
  %{g}v = stablehlo.select %{g}k, %{g}a, %{g}b : {p}, {t}
  %{g}x = stablehlo.select %{g}k, %{g}i, %{g}j : {p}, {i}
  stablehlo.return %{g}v, %{g}x : {t}, {i}
}}"""


def total_order_key(name: str, of: str, shape: tuple[int, ...], element: str) -> list[str]:
    """``%name``: integers in the order that TOTALORDER puts the floats ``%of`` in, which the interpreter ignores."""
    integer = f"i{bits(element)}"
    t, i = Tensor(shape, element), Tensor(shape, integer)
    return [
        f"%{name}b = stablehlo.bitcast_convert %{of} : ({t}) -> {i}",
        f"%{name}n = stablehlo.constant dense<{bits(element) - 1}> : {i}",
        f"%{name}m = stablehlo.constant dense<{2 ** (bits(element) - 1) - 1}> : {i}",
        f"%{name}s = stablehlo.shift_right_arithmetic %{name}b, %{name}n : {i}",
        f"%{name}f = stablehlo.and %{name}s, %{name}m : {i}",
        f"%{name} = stablehlo.xor %{name}b, %{name}f : {i}",
    ]


def comparator(elements: Sequence[str], keys: Sequence[tuple[int, str, str]], expand: bool = False) -> str:
    """Lexicographic order by ``keys``: (operand, direction, type of comparison). ``expand``: TOTALORDER by integers."""
    g, p = f"r{next(_names)}", "tensor<i1>"
    types = [str(Tensor((), e)) for e in elements]
    params = ", ".join(f"%{g}a{i}: {t}, %{g}b{i}: {t}" for i, t in enumerate(types))
    lines, result = [], ""
    for n, (i, direction, kind) in enumerate(reversed(keys)):
        t, x, y = types[i], f"{g}a{i}", f"{g}b{i}"
        if expand and kind == "TOTALORDER":
            lines += total_order_key(f"{x}k", x, (), elements[i]) + total_order_key(f"{y}k", y, (), elements[i])
            t, x, y, kind = f"tensor<i{bits(elements[i])}>", f"{x}k", f"{y}k", "SIGNED"
        lines.append(f"%{g}c{n} = stablehlo.compare {direction}, %{x}, %{y}, {kind} : ({t}, {t}) -> {p}")
        if result:
            lines.append(f"%{g}e{n} = stablehlo.compare EQ, %{x}, %{y}, {kind} : ({t}, {t}) -> {p}")
            lines.append(f"%{g}s{n} = stablehlo.select %{g}e{n}, {result}, %{g}c{n} : {p}, {p}")
            result = f"%{g}s{n}"
        else:
            result = f"%{g}c{n}"
    body = "\n".join(lines)
    return f"{{\n^bb0({params}):\n{body}\nstablehlo.return {result} : {p}\n}}"


def selector(element: str, direction: str) -> str:
    """``(a, b) -> a direction b``."""
    g, t = f"r{next(_names)}", str(Tensor((), element))
    return (
        f"{{\n^bb0(%{g}a: {t}, %{g}b: {t}):\n"
        f"%{g}c = stablehlo.compare {direction}, %{g}a, %{g}b : ({t}, {t}) -> tensor<i1>"
        f"\nstablehlo.return %{g}c : tensor<i1>\n}}"
    )
