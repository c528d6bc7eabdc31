"""Kernels for the tests and the bench of the GPU schedules, written as expressions."""

from __future__ import annotations

import math

from kc.kernels.expr import (
    Acc,
    Apply,
    Attention,
    Const,
    Contraction,
    Coord,
    Dim,
    Expr,
    Index,
    Load,
    Map,
    Operand,
    Output,
    Reduce,
    Rows,
)


def coords(*dims: int | None) -> tuple[Coord, ...]:
    return tuple(Coord(dim) for dim in dims)


def load(arg: int, *dims: int, kind: str = "f32") -> Load:
    return Load(arg, coords(*dims), kind)


def apply(op: str, *args: Expr, kind: str = "f32", **attributes: str) -> Apply:
    return Apply(op, args, kind, tuple(sorted(attributes.items())))


def number(value: float, kind: str = "f32") -> Const:
    return Const(value, kind)


def widened(node: Expr) -> Expr:
    return node if node.type == "f32" else apply("arith.extf", node)


def rounded(node: Expr, kind: str) -> Expr:
    return node if kind == "f32" else apply("arith.truncf", node, kind=kind)


def fold(op: str, node: Expr, start: float, loop: int = 1) -> Reduce:
    return Reduce(op, node, (loop,), number(start), "f32")


def softmax(rows: int | None, columns: int | None, kind: str, name: str = "softmax") -> Rows:
    x = widened(load(0, 0, 1, kind=kind))
    e = apply("math.exp", apply("arith.subf", x, fold("arith.maximumf", x, -math.inf)))
    y = apply("arith.divf", e, fold("arith.addf", e, 0.0))
    shape = (rows, columns)
    dims = (Dim(rows, None if rows else (0, 0)), Dim(columns, None if columns else (0, 1)))
    return Rows(
        name,
        (Operand(shape, kind), Operand(shape, kind, True, 0)),
        dims,
        1,
        (Output(1, coords(0, 1), rounded(y, kind)),),
    )


def layer_norm(rows: int, columns: int, kind: str, name: str = "layer_norm") -> Rows:
    x, scale, shift = (
        widened(node) for node in (load(0, 0, 1, kind=kind), load(1, 1, kind=kind), load(2, 1, kind=kind))
    )
    mean = apply("arith.mulf", fold("arith.addf", x, 0.0), number(1 / columns))
    d = apply("arith.subf", x, mean)
    variance = apply("arith.mulf", fold("arith.addf", apply("arith.mulf", d, d), 0.0), number(1 / columns))
    r = apply("math.rsqrt", apply("arith.addf", variance, number(1e-5)))
    y = apply("arith.addf", apply("arith.mulf", apply("arith.mulf", d, r), scale), shift)
    operands = (
        Operand((rows, columns), kind),
        Operand((columns,), kind),
        Operand((columns,), kind),
        Operand((rows, columns), kind, True, 0),
    )
    return Rows(name, operands, (Dim(rows), Dim(columns)), 1, (Output(3, coords(0, 1), rounded(y, kind)),))


def bias_relu(rows: int | None, columns: int, kind: str, name: str = "bias_relu") -> Map:
    total = apply("arith.addf", load(0, 0, 1, kind=kind), load(1, 1, kind=kind), kind=kind)
    y = apply("arith.maximumf", total, number(0.0, kind), kind=kind)
    operands = (Operand((rows, columns), kind), Operand((columns,), kind), Operand((rows, columns), kind, True, 0))
    return Map(name, operands, (Dim(rows, None if rows else (0, 0)), Dim(columns)), (Output(2, coords(0, 1), y),))


def matmul(
    m: int | None,
    n: int,
    k: int | None,
    kind: str = "bf16",
    lhs: str = "mk",
    rhs: str = "kn",
    epilogue: str = "",
    result: str = "",
    name: str = "matmul",
) -> Contraction:
    """``lhs`` and ``rhs``: axis order in memory; ``epilogue``: "", "bias", "gelu" (bias and exact GELU)."""
    result = result or kind
    loops = {"m": 0, "n": 1, "k": 2}
    sizes = {"m": m, "n": n, "k": k}
    operands = [Operand(tuple(sizes[axis] for axis in side), kind) for side in (lhs, rhs)]
    value: Expr = Acc("f32")
    if epilogue:
        operands.append(Operand((n,), kind))
        value = apply("arith.addf", value, widened(load(2, 1, kind=kind)))
    if epilogue == "gelu":
        error = apply("math.erf", apply("arith.mulf", value, number(0.5**0.5)))
        value = apply("arith.mulf", apply("arith.mulf", value, number(0.5)), apply("arith.addf", error, number(1.0)))
    out = len(operands)
    operands.append(Operand((m, n), result, True, 0))
    dims = (Dim(m, None if m else (0, lhs.index("m"))), Dim(n), Dim(k, None if k else (0, lhs.index("k"))))
    a, b = (load(number, *(loops[axis] for axis in side), kind=kind) for number, side in enumerate((lhs, rhs)))
    return Contraction(
        name,
        tuple(operands),
        dims,
        (),
        (0,),
        (1,),
        (2,),
        a,
        b,
        number(0.0),
        "f32",
        (Output(out, coords(0, 1), rounded(value, result)),),
    )


def attention(
    batch: int,
    heads: int,
    length: int,
    depth: int,
    causal: bool = True,
    kind: str = "bf16",
    layout: str = "bhsd",
    bias: bool = False,
    name: str = "attention",
) -> Attention:
    """Loops: batch, head, query, key, depth, value depth; ``layout``: axis order in memory of all four tensors."""
    sizes = {"b": batch, "h": heads, "s": length, "d": depth}
    shape = tuple(sizes[axis] for axis in layout)

    def tensor(arg: int, sequence: int, inner: int) -> Load:
        loops = {"b": 0, "h": 1, "s": sequence, "d": inner}
        return load(arg, *(loops[axis] for axis in layout), kind=kind)

    operands = [Operand(shape, kind)] * 3
    score: Expr = apply("arith.mulf", Acc("f32"), number(depth**-0.5))
    if bias:
        operands.append(Operand((heads, length, length), "f32"))
        score = apply("arith.addf", score, load(3, 1, 2, 3))
    out = len(operands)
    operands.append(Operand(shape, kind, True, 0))
    dims = (Dim(batch), Dim(heads), Dim(length), Dim(length), Dim(depth), Dim(depth))
    return Attention(
        name,
        tuple(operands),
        dims,
        (0, 1),
        2,
        3,
        4,
        5,
        tensor(0, 2, 4),
        tensor(1, 3, 4),
        tensor(2, 3, 5),
        score,
        causal,
        kind,
        (Output(out, tensor(out, 2, 5).coords, rounded(Acc("f32"), kind)),),
    )


def positions(rows: int, columns: int, name: str = "positions") -> Map:
    """out[i, j] = select(i <= j, x[columns - 1 - j], i * s) in i32, with s by value."""
    i, j = (apply("arith.index_cast", Index(loop), kind="i32") for loop in (0, 1))
    below = apply("arith.cmpi", i, j, kind="i1", predicate="3 : i64")
    reverse = Load(0, (Coord(1, -1, columns - 1),), "i32")
    value = apply("arith.select", below, reverse, apply("arith.muli", i, Load(1, (), "i32"), kind="i32"), kind="i32")
    operands = (Operand((columns,), "i32"), Operand(None, "i32"), Operand((rows, columns), "i32", True, 0))
    return Map(name, operands, (Dim(rows), Dim(columns)), (Output(2, coords(0, 1), value),))
