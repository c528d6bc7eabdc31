"""Control flow and calls: if, case, while, private functions; their regions hold operations of the other families."""

from __future__ import annotations

import dataclasses

import numpy as np

from ..builder import Builder
from ..facts import Facts, join
from ..program import Value
from ..tensors import Tensor, same
from . import elementwise, indexing, movement, reduction, sorting

_SIMPLE = (elementwise.binary, elementwise.unary, elementwise.select, elementwise.compare, movement.reverse)
#: what bufferization likes to do in place, and may see more than a function of its own
_INNER = (
    *_SIMPLE,
    movement.dynamic_update_slice,
    sorting.sort,
    indexing.scatter,
    reduction.reduce,
    movement.concatenate,
)
_NESTED = 2
_CARRIED = ("f32", "i32", "i1", "f64", "i8", "ui32", "bf16", "i64")


def _region(b: Builder, types: list[Tensor], values: list[Value] | None = None) -> tuple[list[Value], str, bool]:
    """Operations of a region that end in values of the given types: those, the text, and whether they are exact."""
    with b.inside(values) as inner:
        for _ in range(b.c.integer(0, 3)):
            if b.depth < _NESTED and b.c.chance(15):
                b.c.one_of((if_, while_))(b)
            else:
                b.c.one_of(_INNER)(b)
        out = [b.like(t, reuse=90) for t in types]
    return out, inner.text(), all(v.facts.exact for v in out)


def _returned(values: list[Value]) -> str:
    names = ", ".join(f"%{v.name}" for v in values)
    return f'"stablehlo.return"({names}) : ({", ".join(str(v.type) for v in values)}) -> ()'


def _seeds(b: Builder) -> list[Value]:
    """The values whose types a region's results have."""
    return [b.any(_CARRIED, (0, 3)) for _ in range(b.c.integer(1, 3))]


def if_(b: Builder) -> None:
    p = b.scalar("i1")
    types = [v.type for v in _seeds(b)]
    branches = [_region(b, types) for _ in range(2)]
    _switch(b, "if", p, types, branches)


def case(b: Builder) -> None:
    i = b.scalar("i32")
    types = [v.type for v in _seeds(b)]
    _switch(b, "case", i, types, [_region(b, types) for _ in range(b.c.integer(1, 4))])


def _switch(
    b: Builder, name: str, on: Value, types: list[Tensor], branches: list[tuple[list[Value], str, bool]]
) -> None:
    regions = ", ".join(f"{{\n{text}\n{_returned(values)}\n}}" for values, text, _ in branches)
    outs = ", ".join(map(str, types))
    facts = []
    for k in range(len(types)):
        f = join(*(values[k].facts for values, _, _ in branches))
        facts.append(dataclasses.replace(f, exact=f.exact and on.facts.exact))
    text = f'"stablehlo.{name}"(%{on.name}) ({regions}) : ({on.type}) -> ({outs})'
    b.emit(text, list(zip(types, facts, strict=True)), True)


def while_(b: Builder) -> None:
    """A counted loop that carries one to three values, at times rotated."""
    seeds = _seeds(b)
    trips = b.c.integer(0, 5)
    tag = b.name()
    # how far they grow is not followed, nor whether a NaN comes in
    carried = [
        Value(f"{tag}c{k}", v.type, Facts(v.facts.exact, 1 if v.type.element == "i1" else None, nan=True, bits=False))
        for k, v in enumerate(seeds)
    ]
    counter = Value(f"{tag}i", Tensor((), "i32"), Facts(mag=8))
    with b.inside([*b.values, counter, *carried]) as inner:
        for _ in range(b.c.integer(1, 3)):
            b.c.one_of(_INNER)(b)
        out = []
        for c in carried:
            new = [v for v in reversed(inner.made()) if same(v.type, c.type)]
            out.append(b.c.one_of(new) if new and b.c.chance(80) else c)
        for i in range(len(out) - 1):
            if same(out[i].type, out[i + 1].type) and b.c.chance(40):
                out[i], out[i + 1] = out[i + 1], out[i]
    exact = all(v.facts.exact for v in (*seeds, *out))
    if b.exact and not exact:
        return
    zero, one = b.constant(np.array(0, np.int32), "i32"), b.constant(np.array(1, np.int32), "i32")
    limit = b.constant(np.array(trips, np.int32), "i32")
    initial = [zero, *seeds]
    types = ", ".join(str(v.type) for v in initial)
    again = [Value(f"{tag}j", counter.type, counter.facts), *out]
    head = ", ".join(f"%{v.name}: {v.type}" for v in (counter, *carried))
    cond_head = head.replace(f"%{tag}", f"%{tag}p")
    text = (
        f'"stablehlo.while"({", ".join(f"%{v.name}" for v in initial)}) ({{\n^bb0({cond_head}):\n'
        f"%{tag}t = stablehlo.compare LT, %{tag}pi, %{limit.name}, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
        f"stablehlo.return %{tag}t : tensor<i1>\n}}, {{\n^bb0({head}):\n{inner.text()}\n"
        f"%{tag}j = stablehlo.add %{tag}i, %{one.name} : tensor<i32>\n{_returned(again)}\n}}) : ({types}) -> ({types})"
    )
    facts = [Facts(exact, 1 if v.type.element == "i1" else None, nan=True, bits=False) for v in seeds]
    b.emit(text, [(counter.type, Facts(mag=8)), *((v.type, f) for v, f in zip(seeds, facts, strict=True))], True)


def call(b: Builder) -> None:
    """A private function, called once or twice."""
    params = [b.any(_CARRIED, (0, 3)) for _ in range(b.c.integer(1, 3))]
    tag = b.name()
    inner_params = [
        Value(f"{tag}p{k}", v.type, Facts(v.facts.exact, 1 if v.type.element == "i1" else None, nan=True, bits=False))
        for k, v in enumerate(params)
    ]
    with b.inside(inner_params, isolated=True) as inner:
        for _ in range(b.c.integer(1, 4)):
            b.c.one_of(_SIMPLE)(b)
        out = inner.made()[-1:] + [v for v in inner.made()[:-1] if b.c.chance(20)][:2] or inner_params[:1]
    name = f"@helper{len(b.helpers)}"
    head = ", ".join(f"%{v.name}: {v.type}" for v in inner_params)
    outs = ", ".join(str(v.type) for v in out)
    names = ", ".join(f"%{v.name}" for v in out)
    b.helpers.append(f"func.func private {name}({head}) -> ({outs}) {{\n{inner.text()}\nreturn {names} : {outs}\n}}")
    for k in range(b.c.integer(1, 2)):
        operands = [v if k == 0 else b.like(v.type) for v in params]
        exact = all(v.facts.exact for v in operands)
        results = [(v.type, dataclasses.replace(v.facts, exact=v.facts.exact and exact)) for v in out]
        types = ", ".join(str(v.type) for v in operands)
        b.emit(f"func.call {name}({', '.join(f'%{v.name}' for v in operands)}) : ({types}) -> ({outs})", results, True)
