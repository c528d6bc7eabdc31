"""gather and scatter in all their forms, and dynamic_gather."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from ..builder import Builder, ints
from ..facts import Facts, join, product, rounded, total
from ..program import Value
from ..tensors import ELEMENTS, Dyn, dtype, is_inexact, is_integer, limits
from .regions import combiner


@dataclasses.dataclass
class Geometry:
    """Dimension numbers that gather and scatter share (named as gather does)."""

    offset_dims: list[int]
    collapsed: list[int]
    operand_batching: list[int]
    index_batching: list[int]
    index_map: list[int]
    vector_dim: int
    sizes: list[int]
    index_shape: list[int]
    result_shape: list[int]

    def counts(self) -> int:
        """How many index vectors there are."""
        dims = [n for d, n in enumerate(self.index_shape) if d != self.vector_dim]
        return math.prod(dims)


def geometry(b: Builder, operand: tuple[int, ...], whole: bool) -> Geometry:
    """Random dimension numbers for an operand; ``whole``: slices of size 1 in indexed dimensions."""
    rank = len(operand)
    kinds = [b.c.one_of(("index", "index", "free", "batch")) for _ in range(rank)]
    batching = [d for d in range(rank) if kinds[d] == "batch"] if b.c.chance(35) else []
    mapped = [d for d in range(rank) if kinds[d] == "index" and d not in batching]
    order = b.c.permutation(len(mapped))
    mapped = [mapped[i] for i in order]
    sizes, collapsed = [], []
    for d, n in enumerate(operand):
        if d in batching:
            sizes.append(min(1, n))
        elif (b.c.chance(60) or (whole and d in mapped)) and n:
            sizes.append(1)
            if b.c.chance(70):
                collapsed.append(d)
        else:
            sizes.append(b.c.integer(0, n) if b.c.chance(40) else int(n))
    extra = [b.c.one_of((2, 1, 3, 5, 0, 7)) for _ in range(b.c.integer(0, 2))]
    batch = [("b", d) for d in batching] + [("x", i) for i in range(len(extra))]
    batch = [batch[i] for i in b.c.permutation(len(batch))]
    shape = [int(operand[k]) if tag == "b" else extra[k] for tag, k in batch]
    if len(mapped) == 1 and b.c.chance(30):
        vector_dim, index_shape = len(shape), list(shape)
    else:
        vector_dim = b.c.integer(0, len(shape)) if b.c.chance(30) else len(shape)
        index_shape = [*shape[:vector_dim], len(mapped), *shape[vector_dim:]]
    places = [d if d < vector_dim else d + 1 for d in range(len(shape))]
    if vector_dim == len(shape) and len(index_shape) == len(shape):
        places = list(range(len(shape)))
    index_batching = [places[batch.index(("b", d))] for d in batching]
    window = [sizes[d] for d in range(rank) if d not in collapsed and d not in batching]
    total_rank = len(window) + len(shape)
    at = sorted(b.c.permutation(total_rank)[: len(window)]) if b.c.chance(50) else list(range(len(shape), total_rank))
    result, batches, windows = [], iter(shape), iter(window)
    for d in range(total_rank):
        result.append(next(windows) if d in at else next(batches))
    return Geometry(at, collapsed, batching, index_batching, mapped, vector_dim, sizes, index_shape, result)


def indices(b: Builder, g: Geometry, operand: tuple[int, ...], unique: bool) -> Value:
    """An array of index vectors, some out of bounds; ``unique``: no vector twice."""
    element = b.c.one_of(("i32", "i64", "ui32", "i8", "ui8", "i16"))
    rng = np.random.default_rng(b.c.integer(0, 2**16))
    low, high = limits(element)
    if low == 0:
        high //= 2  # the interpreter takes the rest for negative numbers
    implicit = len(g.index_shape) == g.vector_dim
    k = len(g.index_map)
    batch = [n for d, n in enumerate(g.index_shape) if implicit or d != g.vector_dim]
    count = math.prod(batch)
    vectors = np.zeros((count, k), np.int64)
    if unique:
        space = [max(int(operand[d]) - g.sizes[d] + 1, 1) for d in g.index_map]
        flat = rng.permutation(max(math.prod(space), 1))
        for i in range(count):
            # those that find no place are out of bounds, each at another one
            vectors[i] = np.unravel_index(flat[i], space) if i < len(flat) and k else [min(100 + i, high)] * k
    else:
        for j, d in enumerate(g.index_map):
            n = int(operand[d])
            vectors[:, j] = rng.integers(0, max(n, 1), count)
            if b.c.chance(50):
                wild = np.array([-1, n, n + 3, -7, high, low])[rng.integers(0, 6, count)]
                vectors[:, j] = np.where(rng.integers(0, 3, count) == 0, wild, vectors[:, j])
    vectors = np.clip(vectors, low, high)
    array = vectors.reshape(*batch, k)
    array = array.reshape(batch) if implicit else np.moveaxis(array, -1, g.vector_dim)
    return b.given(np.ascontiguousarray(array).astype(dtype(element)), element)


def gather(b: Builder) -> None:
    x = b.any(ELEMENTS, (1, 4))
    if any(isinstance(n, Dyn) for n in x.type.shape):
        return
    g = geometry(b, x.type.shape, False)
    if math.prod(g.result_shape) > 2000:
        return
    i = indices(b, g, x.type.shape, False)
    attributes = (
        f"dimension_numbers = #stablehlo.gather<offset_dims = {g.offset_dims}, collapsed_slice_dims = {g.collapsed}, "
        f"operand_batching_dims = {g.operand_batching}, start_indices_batching_dims = {g.index_batching}, "
        f"start_index_map = {g.index_map}, index_vector_dim = {g.vector_dim}>, slice_sizes = {ints(g.sizes)}, "
        f"indices_are_sorted = false"
    )
    b.op("gather", [x, i], x.type.shaped(*g.result_shape), x.facts, attributes)


def scatter(b: Builder) -> None:
    x = b.any(ELEMENTS, (1, 4))
    if any(isinstance(n, Dyn) for n in x.type.shape):
        return
    element = x.type.element
    names = ["second", "add", "maximum", "minimum", "multiply"]
    if element == "i1" or is_integer(element):
        names += ["or", "and", "xor"]
    if element.startswith("complex"):
        names = ["second", "add"]
    name = b.c.one_of(names)
    g = geometry(b, x.type.shape, name == "second")
    if math.prod(g.result_shape) > 2000 or (name == "second" and any(g.sizes[d] > 1 for d in g.index_map)):
        return
    if name == "second" and not g.index_map and g.counts() > 1:
        return
    unique = name == "second" or b.c.chance(20)
    if not g.index_map:
        unique = False
    n = max(g.counts(), 1)
    i = indices(b, g, x.type.shape, unique)
    u = b.summable_like(x.type.shaped(*g.result_shape))
    facts, shake = _combined(name, x.facts, u.facts, element, n)
    if b.exact and not facts.exact:
        return
    sound = unique and not any(g.sizes[d] > 1 for d in g.index_map) and b.c.chance(50)
    attributes = (
        f"scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = {g.offset_dims}, "
        f"inserted_window_dims = {g.collapsed}, input_batching_dims = {g.operand_batching}, "
        f"scatter_indices_batching_dims = {g.index_batching}, scatter_dims_to_operand_dims = {g.index_map}, "
        f"index_vector_dim = {g.vector_dim}>, indices_are_sorted = false, unique_indices = {str(sound).lower()}"
    )
    if b.c.chance(15) and name != "second":
        y, v = b.like(x.type), b.like(u.type)
        facts2, _ = _combined("maximum" if element != "i1" else "or", y.facts, v.facts, element, n)
        if not element.startswith("complex"):
            op2 = "maximum" if element != "i1" else "or"
            text = (
                f'"stablehlo.scatter"(%{x.name}, %{y.name}, %{i.name}, %{u.name}, %{v.name}) <{{{attributes}}}> '
                f"({combiner((name, op2), (element, element))}) : ({x.type}, {y.type}, {i.type}, {u.type}, {v.type}) "
                f"-> ({x.type}, {y.type})"
            )
            b.emit(
                text, [(x.type, facts), (y.type, facts2)], True, [(w, math.sqrt(n)) for w in (x, u)] if shake else ()
            )
            return
    region = combiner((name,), (element,))
    text = f'"stablehlo.scatter"(%{x.name}, %{i.name}, %{u.name}) <{{{attributes}}}> ({region}) : '
    text += f"({x.type}, {i.type}, {u.type}) -> {x.type}"
    b.emit(text, [(x.type, facts)], True, [(w, math.sqrt(n)) for w in (x, u)] if shake else ())


def _combined(name: str, x: Facts, u: Facts, element: str, n: int) -> tuple[Facts, bool]:
    either = dataclasses.replace(join(x, u), bits=False)
    if name in ("maximum", "minimum", "second"):
        return join(x, u) if name == "second" else either, False
    if name in ("or", "and", "xor") or element == "i1":
        return Facts(either.exact, None if element != "i1" else 1), False
    facts = x
    if name == "add":
        facts = rounded(total(x, u.scaled(n)), element, single=False)
    else:
        for _ in range(min(n, 60)):
            facts = product(facts, u)
        facts = rounded(facts, element, single=False) if is_inexact(element) else Facts(either.exact, None)
    return facts, is_inexact(element) and not facts.exact
