"""sort (variadic, several keys, total order) and top_k."""

from __future__ import annotations

import dataclasses

from ..builder import Builder
from ..facts import Facts
from ..program import Value
from ..tensors import FLOATS, INTEGERS, is_inexact
from .regions import comparator

KEYS = (*FLOATS, *INTEGERS, "i1")


def sort(b: Builder) -> None:
    x = b.any(KEYS, (1, 4), lambda v: v.facts.bits or not v.facts.nan)
    element = x.type.element
    # its meaning is in the bits, so not in f64
    total = b.exact and not b.in_region and is_inexact(element) and x.facts.bits and (x.facts.nan or b.c.chance(50))
    if x.facts.nan and is_inexact(element) and not total:
        return  # NaN is in no order with the rest
    operands = [x]
    for _ in range(b.c.one_of((0, 0, 1, 2))):
        operands.append(b.like(x.type.of(b.c.one_of(("i32", "f32", "i8", "ui8", "i1", "bf16", "complex<f32>")))))
    axis = b.c.integer(0, x.type.rank - 1)
    kind = "TOTALORDER" if total else "FLOAT" if is_inexact(element) else ""
    kind = kind or ("SIGNED" if element[0] == "i" and element != "i1" else "UNSIGNED")
    keys = [(0, b.c.one_of(("LT", "GT")), kind)]
    if len(operands) > 1 and operands[1].type.element in ("i32", "i8") and b.c.chance(40):
        keys.append((1, b.c.one_of(("LT", "GT")), "SIGNED"))
    # of equal keys only a stable sort fixes the order; -0 and 0 are equal keys
    stable = len(operands) > 1 or is_inexact(element) or b.c.chance(50)
    attributes = f"dimension = {axis} : i64, is_stable = {str(stable).lower()}"
    exact = all(o.facts.exact for o in operands)
    names = ", ".join(f"%{o.name}" for o in operands)
    types = ", ".join(str(o.type) for o in operands)
    regions = [comparator([o.type.element for o in operands], keys, expand) for expand in (False, True)]
    texts = [f'"stablehlo.sort"({names}) <{{{attributes}}}> ({r}) : ({types}) -> ({types})' for r in regions]
    results = [(o.type, dataclasses.replace(o.facts, exact=exact)) for o in operands]
    b.emit(texts[0], results, reference=(texts[1],) if total else ())


def top_k(b: Builder) -> None:
    def ordered(v: Value) -> bool:
        # by TOTALORDER -0 is less than 0, which the interpreter does not know: untouched floats without NaN and -0
        plain = v.facts.bits or not is_inexact(v.type.element)
        return plain and not v.facts.nan and v.type.rank > 0 and v.type.shape[-1] > 0

    x = b.any(("f32", "i32", "bf16", "f64", "i8", "ui8"), (1, 3), ordered)
    if not ordered(x) or "?" in str(x.type):
        return
    k = b.c.integer(1, int(x.type.shape[-1]))
    out = x.type.shaped(*x.type.shape[:-1], k)
    b.emit(
        f"chlo.top_k(%{x.name}, k = {k}) : {x.type} -> ({out}, {out.of('i32')})",
        [(out, x.facts), (out.of("i32"), Facts(x.facts.exact, float(x.type.shape[-1])))],
    )
