"""dot_general and convolution."""

from __future__ import annotations

import dataclasses
import math

from ..builder import Builder, generic
from ..facts import Facts, product, rounded
from ..program import Value
from ..tensors import COMPLEX, Tensor, is_inexact

ELEMENTS = ("f32", "i32", "bf16", "f16", "f64", "i8", "ui8", "i64", *COMPLEX)
#: element types of results that are wider than those of the operands
WIDER = {"i8": "i32", "ui8": "ui32", "bf16": "f32", "f16": "f32", "f32": "f64"}


def _facts(x: Value, y: Value, element: str, n: int) -> tuple[Facts, bool]:
    """Facts of a sum of n products, and whether the operands are to be shaken."""
    wide = product(x.facts, y.facts).scaled(n if x.type.element not in COMPLEX else 2 * n)
    if not is_inexact(element):
        exact = x.facts.exact and y.facts.exact
        return dataclasses.replace(rounded(wide, element), exact=exact, bits=True), False
    facts = rounded(wide, element, single=False)
    return dataclasses.replace(facts, nan=True), not facts.exact


def dot_general(b: Builder) -> None:
    if b.c.chance(10):  # as large as the tiles of a schedule
        t = Tensor((b.c.one_of((65, 33, 48, 7)), b.c.one_of((33, 64, 17))), b.c.one_of(("f32", "bf16", "f64", "i32")))
        x = b.summable_like(t)
    else:
        x = b.summable(ELEMENTS, (0, 4))
    rank = x.type.rank
    kinds = [b.c.one_of(("free", "contract", "batch")) for _ in range(rank)]
    batch = [d for d in range(rank) if kinds[d] == "batch"]
    contract = [d for d in range(rank) if kinds[d] == "contract"]
    if b.c.chance(50):
        batch = batch[:1]
    batch = [batch[i] for i in b.c.permutation(len(batch))]
    contract = [contract[i] for i in b.c.permutation(len(contract))]
    sizes = [("b", x.type.shape[d]) for d in batch] + [("c", x.type.shape[d]) for d in contract]
    for _ in range(b.c.integer(0, 2)):
        sizes.append(("f", b.size(65 if x.type.size > 300 else 17)))
    order = b.c.permutation(len(sizes))
    shape = [sizes[i][1] for i in order]
    y_dims = {i: at for at, i in enumerate(order)}
    y_batch = [y_dims[i] for i in range(len(batch))]
    y_contract = [y_dims[len(batch) + i] for i in range(len(contract))]
    if math.prod(int(n) for n in shape) > 2500:
        return
    y = b.summable_like(x.type.shaped(*shape))
    out = [x.type.shape[d] for d in batch]
    out += [x.type.shape[d] for d in range(rank) if d not in batch and d not in contract]
    out += [shape[d] for d in range(len(shape)) if d not in y_batch and d not in y_contract]
    element = x.type.element
    if element in WIDER and b.c.chance(30):
        element = WIDER[element]
    n = math.prod(int(x.type.shape[d]) for d in contract)
    facts, shake = _facts(x, y, element, max(n, 1))
    t = Tensor(tuple(out), element)
    if (b.exact and not facts.exact) or t.size > 5000:
        return
    attributes = (
        f"dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = {batch}, "
        f"rhs_batching_dimensions = {y_batch}, "
        f"lhs_contracting_dimensions = {contract}, rhs_contracting_dimensions = {y_contract}>"
    )
    if n == 0 and t.size:  # the interpreter aborts
        if b.in_region:
            return
        zero = t.shaped()
        value = "(0.0, 0.0)" if element in COMPLEX else "0.0" if is_inexact(element) else "0"
        name = f"{b.name()}zero"
        reference = (
            f"%{name} = stablehlo.constant dense<{value}> : {zero}",
            f"stablehlo.broadcast_in_dim %{name}, dims = [] : ({zero}) -> {t}",
        )
        b.emit(generic("dot_general", [x, y], [t], attributes), [(t, facts)], reference=reference)
        return
    b.op("dot_general", [x, y], t, facts, attributes, rounds=True, shake=math.sqrt(n) if shake else 0)


def convolution(b: Builder) -> None:
    element = b.c.one_of(ELEMENTS[:-1])
    spatial = b.c.one_of((1, 2, 0, 3))
    groups = b.c.one_of((1, 1, 2, 3))
    batch_groups = 1  # with more, the interpreter aborts; test_stablehlo_ops.py has them
    per_group, outputs = b.c.integer(1, 3), b.c.integer(1, 3)
    features = per_group * groups
    kernels = outputs * groups * batch_groups
    batch = b.c.integer(1, 2) * batch_groups
    space = [b.c.one_of((4, 3, 5, 7, 1, 2)) for _ in range(spatial)]
    window = [b.c.one_of((2, 1, 3)) for _ in range(spatial)]
    strides = [b.c.one_of((1, 1, 2, 3)) for _ in range(spatial)]
    padding = [[b.c.one_of((0, 1, 2, -1)), b.c.one_of((0, 1, 0, -1))] for _ in range(spatial)]
    lhs = [b.c.one_of((1, 1, 2)) for _ in range(spatial)]
    rhs = [b.c.one_of((1, 1, 2)) for _ in range(spatial)]
    reverse = [b.c.chance(20) for _ in range(spatial)]
    out = []
    for i in range(spatial):
        padded = padding[i][0] + (space[i] - 1) * lhs[i] + 1 + padding[i][1]
        reach = (window[i] - 1) * rhs[i] + 1
        if padded < 0:
            return
        out.append(0 if reach > padded else (padded - reach) // strides[i] + 1)
    x, x_layout = _laid_out(b, {"b": batch, "f": features}, space)
    y, y_layout = _laid_out(b, {"i": per_group, "o": kernels}, window)
    o, o_layout = _laid_out(b, {"b": batch // batch_groups, "f": kernels}, out)
    vx, vy = b.summable_like(Tensor(x, element)), b.summable_like(Tensor(y, element))
    result = WIDER[element] if element in WIDER and b.c.chance(25) else element
    n = math.prod(window) * per_group
    facts, shake = _facts(vx, vy, result, max(n, 1))
    if b.exact and not facts.exact:
        return
    flags = ", ".join(str(r).lower() for r in reverse)
    pairs = f"dense<{padding}> : tensor<{spatial}x2xi64>" if spatial else "dense<> : tensor<0x2xi64>"
    attributes = (
        f"window_strides = {_array(strides)}, padding = {pairs}, lhs_dilation = {_array(lhs)}, "
        f"rhs_dilation = {_array(rhs)}, window_reversal = {f'array<i1: {flags}>' if reverse else 'array<i1>'}, "
        f"dimension_numbers = #stablehlo.conv<{x_layout}x{y_layout}->{o_layout}>, "
        f"feature_group_count = {groups} : i64, batch_group_count = {batch_groups} : i64"
    )
    t = Tensor(o, result)
    reference: tuple[str, ...] = ()
    if o_layout.index("f") < o_layout.index("b"):  # where the interpreter aborts: to another layout, and transpose
        order = [k.strip() for k in o_layout.strip("[]").split(",")]
        plain = sorted(order, key=lambda k: ("b", "f", *map(str, range(spatial))).index(k))
        u = t.shaped(*(o[order.index(k)] for k in plain))
        name = b.name()
        other = attributes.replace(f"->{o_layout}>", f"->[{', '.join(plain)}]>")
        back = f"permutation = {_array([plain.index(k) for k in order])}"
        reference = (
            f"%{name} = " + generic("convolution", [vx, vy], [u], other),
            f'"stablehlo.transpose"(%{name}) <{{{back}}}> : ({u}) -> {t}',
        )
    shaken = [(v, math.sqrt(n)) for v in {vx.name: vx, vy.name: vy}.values()] if shake else []
    b.emit(generic("convolution", [vx, vy], [t], attributes), [(t, facts)], True, shaken, reference)


def _array(values: list[int]) -> str:
    return f"array<i64: {', '.join(map(str, values))}>" if values else "array<i64>"


def _laid_out(b: Builder, named: dict[str, int], space: list[int]) -> tuple[tuple[int, ...], str]:
    """Dimensions in a random order: the shape and the layout in convolution's notation."""
    dims: list[tuple[str, int]] = [*named.items(), *((str(i), n) for i, n in enumerate(space))]
    if b.c.chance(50):
        dims = [dims[i] for i in b.c.permutation(len(dims))]
    return tuple(n for _, n in dims), f"[{', '.join(k for k, _ in dims)}]"
