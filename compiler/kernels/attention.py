"""Recognises attention: a contraction, a softmax of its (scaled, masked) result over the keys, a contraction with the
values.

The softmax may be JAX's (``exp(s - max) / sum``, the maximum guarded against infinities or not) or PyTorch's safe one
(an all-masked row gives zeros). Roundings to bf16/f16 between the two contractions may be dropped: the schedule
computes there in f32. """
from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING

from kc.kernels import expr as E
from kc.kernels import simplify
from kc.kernels.masks import split_causal
from kc.kernels.rebuild import FreeDims, rebuild, rename, substitute
from kc.kernels.structured import Unreadable

if TYPE_CHECKING:
    from kc.kernels.classify import Draft

_NARROW = ("bf16", "f16")


@dataclasses.dataclass(frozen=True)
class Softmax:
    """``exp(score - max) / sum`` as found: the score, and whether all-masked rows give zeros instead of NaN."""

    score: E.Expr
    safe: bool


def peel(node: E.Expr) -> tuple[E.Expr, str | None]:
    """``node`` without float casts around it, and the narrowest type that it was rounded to (None if to none)."""
    rounded = None
    while isinstance(node, E.Apply) and node.op in ("arith.extf", "arith.truncf"):
        if node.op == "arith.truncf":
            rounded = node.type
        node = node.args[0]
    return node, rounded


def _is_const(node: E.Expr, value: float) -> bool:
    return isinstance(node, E.Const) and isinstance(node.value, float) and node.value == value


def _compares(node: E.Expr, predicate: int, value: float) -> E.Expr | None:
    """The ``x`` of ``cmpf predicate, x, value`` (ordered or unordered), None if ``node`` is something else."""
    if not (isinstance(node, E.Apply) and node.op == "arith.cmpf" and _is_const(node.args[1], value)):
        return None
    return node.args[0] if dict(node.attrs).get("predicate", "").split()[:1] == [str(predicate)] else None


_OEQ = 1


def _guarded(node: E.Expr, bad: float, instead: float) -> tuple[E.Expr, bool]:
    """``x`` and True for ``select(x == bad, instead, x)``; ``node`` and False for anything else."""
    node = peel(node)[0]
    if isinstance(node, E.Apply) and node.op == "arith.select" and _is_const(peel(node.args[1])[0], instead):
        inner = peel(node.args[2])[0]
        compared = _compares(node.args[0], _OEQ, bad)
        if compared is not None and peel(compared)[0] == inner:
            return inner, True
    return node, False


def match_softmax(probs: E.Expr, kv: int) -> Softmax:
    """Reads ``probs`` (over rows and key dim ``kv``, all reductions renamed to it) as a softmax over ``kv``."""
    node = peel(probs)[0]
    if not isinstance(node, E.Apply) or node.op not in ("arith.divf", "arith.mulf"):
        raise Unreadable("attention: the first factor of the second product is not a quotient")
    top, below = node.args
    if node.op == "arith.mulf":  # e * (1 / sum)
        top, below = (top, below) if isinstance(peel(below)[0], E.Apply) else (below, top)
        inverse = peel(below)[0]
        if not (isinstance(inverse, E.Apply) and inverse.op == "arith.divf" and _is_const(inverse.args[0], 1.0)):
            raise Unreadable("attention: the first factor of the second product is not a quotient")
        below = inverse.args[1]
    total, zero_guard = _guarded(below, 0.0, 1.0)
    weight = peel(top)[0]
    if not isinstance(total, E.Reduce) or total.op != "arith.addf" or total.dims != (kv,):
        raise Unreadable("attention: the divisor is not a sum over the keys")
    if not (_is_const(total.init, 0.0) and peel(total.arg)[0] == weight):
        raise Unreadable("attention: the divisor does not sum the dividend")
    if not (isinstance(weight, E.Apply) and weight.op == "math.exp"):
        raise Unreadable("attention: the weights are not exponentials")
    shifted = peel(weight.args[0])[0]
    if not (isinstance(shifted, E.Apply) and shifted.op == "arith.subf"):
        raise Unreadable("attention: the exponent is not shifted by its maximum")
    score = peel(shifted.args[0])[0]
    maximum, infinity_guard = _guarded(shifted.args[1], -math.inf, 0.0)
    if not isinstance(maximum, E.Reduce) or maximum.op not in ("arith.maximumf", "arith.maxnumf"):
        raise Unreadable("attention: the shift is not a maximum over the keys")
    if maximum.dims != (kv,) or not _is_const(maximum.init, -math.inf) or peel(maximum.arg)[0] != score:
        raise Unreadable("attention: the shift is not the maximum of the scores")
    return Softmax(score, zero_guard and infinity_guard)


def _factor(node: E.Expr) -> tuple[E.Load, tuple[E.Const, ...]]:
    """A product's factor as a load times constants; raises Unreadable for anything else."""
    scales: list[E.Const] = []
    while not isinstance(node, E.Load):
        if isinstance(node, E.Apply) and node.op in ("arith.extf", "arith.truncf"):
            node = node.args[0]
        elif isinstance(node, E.Apply) and node.op == "arith.mulf" and any(isinstance(a, E.Const) for a in node.args):
            node, scale = node.args if isinstance(node.args[1], E.Const) else node.args[::-1]
            scales.append(scale)  # type: ignore[arg-type]
        else:
            raise Unreadable("attention: a factor that is not a scaled load")
    return node, tuple(scales)


def divide_first(root: E.Expr) -> E.Expr:
    """``sum(e * v) / t`` as ``sum(e / t * v)``, where ``t`` is a sum: how unnormalised attention is written."""
    from kc.kernels.classify import product

    def change(node: E.Expr, children: tuple[E.Expr, ...]) -> E.Expr | None:
        if not (isinstance(node, E.Apply) and node.op == "arith.divf"):
            return None
        fold, total = peel(children[0])[0], _guarded(children[1], 0.0, 1.0)[0]
        if not (isinstance(fold, E.Reduce) and isinstance(total, E.Reduce)) or total.op != "arith.addf":
            return None
        factors = product(fold)
        if factors is None or product(total) is not None:
            return None
        weight, value = factors if _exponential(factors[0]) else factors[::-1]
        if not _exponential(weight):
            return None
        probs = E.Apply("arith.divf", (weight, children[1]), weight.type)
        return E.Reduce(fold.op, E.Apply("arith.mulf", (probs, value), fold.type), fold.dims, fold.init, fold.type)

    return rebuild(root, change)


def _exponential(node: E.Expr) -> bool:
    inner = peel(node)[0]
    return isinstance(inner, E.Apply) and inner.op == "math.exp"


def try_attention(draft: Draft) -> E.Kernel:
    """The draft as ``Attention``; raises Unreadable with the reason if it is not one."""
    from kc.kernels.classify import _outermost, number, output_dims, product, reduces, require, slides

    draft = dataclasses.replace(
        draft, outputs=tuple(E.Output(o.arg, o.coords, divide_first(o.expr)) for o in draft.outputs)
    )
    outer = _outermost(draft.outputs)
    require(len(outer) == 1 and len(outer[0].dims) == 1, "attention: not one product over one loop of keys")
    fold = outer[0]
    (kv,) = fold.dims
    require(_is_const(fold.init, 0.0), "attention: an accumulator that does not start from 0")
    for output in draft.outputs:
        require(set(output_dims(output)) == set(draft.space), "attention: an output that does not have all loops")
        require(not slides(output.expr), "attention: a load at a sum of loops")
    mapping: dict[int, int] = {}
    depth: int | None = None
    free = FreeDims()
    for inner in reduces(draft.outputs):
        if inner == fold:
            continue
        require(len(inner.dims) == 1, "attention: a reduction over several loops")
        (dim,) = inner.dims
        if product(inner) is not None:
            depth = dim if depth is None else depth
            require(draft.same(dim, depth), "attention: products over loops of different extent")
            mapping[dim] = depth
        else:
            require(draft.same(dim, kv), "attention: a statistic that is not over the keys")
            mapping[dim] = kv
    require(depth is not None, "attention: no score")
    for inner in reduces(draft.outputs):  # before renaming: a captured dim could not be told from a bound one later
        depends = {mapping.get(dim, dim) for dim in free(inner)}
        require(not depends & {mapping.get(dim, dim) for dim in inner.dims}, "attention: a reduction of its own loop")
    memo: dict[E.Expr, E.Expr] = {}
    outputs = tuple(E.Output(o.arg, o.coords, rename(o.expr, mapping, memo)) for o in draft.outputs)
    fold = _outermost(outputs)[0]
    factors = product(fold)
    require(factors is not None, "attention: the outer reduction does not sum a product")
    probs, values = factors  # type: ignore[misc]
    if not any(isinstance(node, E.Reduce) for node in E.walk(probs)):
        probs, values = values, probs
    softmax = match_softmax(probs, kv)
    dots = [n for n in E.walk(softmax.score) if isinstance(n, E.Reduce)]
    require(len(dots) == 1 and product(dots[0]) is not None, "attention: not one product in the score")
    dot = dots[0]
    value, value_scales = _factor(values)
    require(not value_scales, "attention: scaled values")
    query, query_scales = _factor(product(dot)[0])  # type: ignore[index]
    key, key_scales = _factor(product(dot)[1])  # type: ignore[index]
    if kv in free(query):
        query, key = key, query
    require(_is_const(dot.init, 0.0), "attention: a score that does not start from 0")
    in_value, in_key, in_query = free(value), free(key), free(query)
    rows = [dim for dim in draft.space if dim in in_query and dim not in in_key | in_value]
    depths = [dim for dim in draft.space if dim in in_value - in_query - in_key]
    require(rows and len(depths) == 1, "attention: no query loop, or not one depth loop of the values")
    q, dv = rows[-1], depths[0]
    require(kv in in_key & in_value and kv not in in_query, "attention: keys and values are not both over the keys")
    require(dv not in free(softmax.score), "attention: a score that depends on the depth of the values")
    raw: E.Expr = E.Acc(dot.type)
    for scale in (*query_scales, *key_scales):
        raw = E.Apply("arith.mulf", (raw, E.Const(scale.value, dot.type)), dot.type)
    score = in_f32(substitute(softmax.score, dot, raw)) if dot.type == "f32" else substitute(softmax.score, dot, raw)
    causal, masked, score = split_causal(score, q, kv)
    batch = [dim for dim in draft.space if dim not in (q, dv)]
    order = [*batch, q, kv, depth, dv]
    epilogue = tuple(E.Output(o.arg, o.coords, substitute(o.expr, fold, E.Acc(fold.type))) for o in outputs)
    require(not reduces(epilogue), "attention: a reduction left")
    dims, new, final = number(draft, order, epilogue)  # type: ignore[arg-type]
    return E.Attention(
        draft.name, draft.operands, dims, tuple(new[d] for d in batch), new[q], new[kv], new[depth], new[dv],  # type: ignore[index]
        rename(query, new), rename(key, new), rename(value, new), rename(score, new),  # type: ignore[arg-type]
        causal, _probs_type(probs), final, softmax.safe, masked,
    )  # fmt: skip


def _probs_type(probs: E.Expr) -> str:
    """The type the probabilities are rounded to before they meet the values."""
    node, rounded = peel(probs)
    return rounded or node.type


def in_f32(root: E.Expr) -> E.Expr:
    """``root`` computed in f32: roundings to narrower floats dropped, narrow constants and loads widened."""

    def change(node: E.Expr, children: tuple[E.Expr, ...]) -> E.Expr | None:
        if isinstance(node, E.Const) and node.type in _NARROW:
            return E.Const(node.value, "f32")
        if isinstance(node, E.Load) and node.type in _NARROW:
            return E.Apply("arith.extf", (node,), "f32")
        if isinstance(node, E.Apply) and node.op in ("arith.extf", "arith.truncf") and children[0].type == "f32":
            return children[0] if node.type in (*_NARROW, "f32") else None
        if isinstance(node, E.Apply) and node.type in _NARROW:
            return simplify.apply(node.op, children, "f32", node.attrs)
        return None

    return rebuild(root, change)
