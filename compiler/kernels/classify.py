"""From expressions to a kernel family: map, rows, contraction, window, attention; general if none fits.

The input is a ``Draft``: outputs as expressions over dims numbered by a ``Reader``, in which every reduction has
fresh dims of its own. Each ``_try`` function either proves that the draft has its family's form and returns the
kernel, or says why not. """
from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence

from kc.kernels import expr as E
from kc.kernels.rebuild import FreeDims, rebuild, rename, rename_coord
from kc.kernels.structured import Unreadable

_PRODUCTS = {"arith.addf": "arith.mulf", "arith.addi": "arith.muli"}


@dataclasses.dataclass(frozen=True)
class Draft:
    """What the reader found. ``dim`` gives a dim's extent, ``same`` says whether two dims have provably equal
    extents.
    """

    name: str
    operands: tuple[E.Operand, ...]
    space: tuple[int, ...]
    outputs: tuple[E.Output, ...]
    dim: Callable[[int], E.Dim]
    same: Callable[[int, int], bool]

    @functools.cached_property
    def folds(self) -> tuple[E.Reduce, ...]:
        """The distinct reductions in the outputs, inner ones first."""
        return tuple(reduces(self.outputs))


def reduces(outputs: Sequence[E.Output]) -> list[E.Reduce]:
    """The distinct reductions in the outputs, inner ones first."""
    found = (node for node in E.walk(*(output.expr for output in outputs)) if isinstance(node, E.Reduce))
    return list(dict.fromkeys(found))


def classify(draft: Draft) -> E.Kernel:
    """The kernel of the fastest family that provably fits; ``General`` with all reasons if none does."""
    from kc.kernels.attention import try_attention

    reasons = []
    tries = (_try_map,) if not draft.folds else (_try_contraction, _try_rows, _try_window, try_attention)
    for attempt in tries:
        try:
            return attempt(draft)
        except Unreadable as error:
            reasons.append(str(error))
    return E.General(draft.name, draft.operands, "; ".join(reasons))


def require(condition: object, reason: str) -> None:
    """Raises Unreadable(reason) unless ``condition`` holds."""
    if not condition:
        raise Unreadable(reason)


def output_dims(output: E.Output) -> list[int]:
    """The dims an output is indexed by, in the order of its axes."""
    return [coord.dim for coord in output.coords if coord.dim is not None]


def slides(*roots: E.Expr) -> bool:
    """Whether some load in the roots has a coordinate of several dims."""
    return any(isinstance(node, E.Load) and any(c.more for c in node.coords) for node in E.walk(*roots))


def number(draft: Draft, order: Sequence[int], outputs: Sequence[E.Output]
           ) -> tuple[tuple[E.Dim, ...], dict[int, int], tuple[E.Output, ...]]:  # fmt: skip
    """Dims renumbered to the order of ``order``: (dims, old -> new, outputs renamed)."""
    mapping = {old: new for new, old in enumerate(order)}
    for fold in reduces(outputs):  # a bound dim that is not renumbered could be taken for another
        require(set(fold.dims) <= set(mapping), "a reduction over loops outside of the space")
    if all(old == new for old, new in mapping.items()):
        return tuple(draft.dim(old) for old in order), mapping, tuple(outputs)
    memo: dict[E.Expr, E.Expr] = {}
    renamed = tuple(
        E.Output(o.arg, tuple(rename_coord(c, mapping) for c in o.coords), rename(o.expr, mapping, memo))
        for o in outputs
    )
    return tuple(draft.dim(old) for old in order), mapping, renamed


def _try_map(draft: Draft) -> E.Kernel:
    for output in draft.outputs:
        require(set(output_dims(output)) == set(draft.space), "map: an output that does not have all loops")
    require(not slides(*(o.expr for o in draft.outputs)), "map: a load at a sum of loops")
    dims, _, outputs = number(draft, draft.space, draft.outputs)
    return E.Map(draft.name, draft.operands, dims, outputs)


def _single_reduce(draft: Draft, family: str) -> E.Reduce:
    found = draft.folds
    require(len(found) == 1, f"{family}: {len(found)} reductions")
    for output in draft.outputs:
        require(set(output_dims(output)) == set(draft.space), f"{family}: an output that does not have all loops")
    return found[0]


def _epilogue(draft: Draft, fold: E.Reduce) -> tuple[E.Output, ...]:
    memo: dict[E.Expr, E.Expr] = {fold: E.Acc(fold.type)}
    keep = lambda node, children: None  # noqa: E731
    outputs = tuple(E.Output(o.arg, o.coords, rebuild(o.expr, keep, memo)) for o in draft.outputs)
    for output in outputs:
        require(any(isinstance(node, E.Acc) for node in E.walk(output.expr)), "an output without the reduction in it")
    require(not slides(*(output.expr for output in outputs)), "an epilogue load at a sum of loops")
    return outputs


def product(fold: E.Reduce) -> tuple[E.Expr, E.Expr] | None:
    """The two factors if ``fold`` sums a product."""
    node = fold.arg
    if isinstance(node, E.Apply) and node.op == _PRODUCTS.get(fold.op) and len(node.args) == 2:
        return node.args[0], node.args[1]
    return None


def _try_contraction(draft: Draft) -> E.Kernel:
    fold = _single_reduce(draft, "contraction")
    factors = product(fold)
    require(factors is not None, "contraction: does not sum a product")
    lhs, rhs = factors  # type: ignore[misc]
    free = FreeDims()
    left, right, k = free(lhs), free(rhs), set(fold.dims)
    require(not slides(lhs) and not slides(rhs), "contraction: a load at a sum of loops")
    require(k and k <= left and k <= right, "contraction: a summed loop that one factor does not have")
    require((left | right) - k == set(draft.space), "contraction: a loop that neither factor has")
    batch = [dim for dim in draft.space if dim in left and dim in right]
    m = [dim for dim in draft.space if dim in left and dim not in right]
    n = [dim for dim in draft.space if dim in right and dim not in left]
    require(m or n, "contraction: both factors have all loops")
    if not (m and n) and _row_major_dot(fold, lhs if m else rhs):
        raise Unreadable("contraction: a matrix-vector product along rows, which is a row reduction")
    if m and output_dims(draft.outputs[0])[-1] in m and n:  # the product commutes: rows of the output are m
        lhs, rhs, m, n = rhs, lhs, n, m
    order = [*batch, *m, *n, *fold.dims]
    dims, mapping, outputs = number(draft, order, _epilogue(draft, fold))
    new = lambda old: tuple(mapping[dim] for dim in old)  # noqa: E731
    return E.Contraction(
        draft.name, draft.operands, dims, new(batch), new(m), new(n), new(fold.dims),
        rename(lhs, mapping), rename(rhs, mapping), rename(fold.init, mapping), fold.type, outputs,
    )  # fmt: skip


def _row_major_dot(fold: E.Reduce, matrix: E.Expr) -> bool:
    """Whether the matrix of a matrix-vector product is read along the summed loop."""
    loads = [node for node in E.walk(matrix) if isinstance(node, E.Load) and node.coords]
    return bool(loads) and all(load.coords[-1].dim == fold.dims[-1] and load.coords[-1].scale == 1 for load in loads)


def _try_rows(draft: Draft) -> E.Kernel:
    found = draft.folds
    free = FreeDims()
    require(not slides(*(output.expr for output in draft.outputs)), "rows: a load at a sum of loops")
    outer = _outermost(draft.outputs)
    rows_seen = frozenset().union(*(free(fold) for fold in outer))
    columns = [dim for dim in draft.space if dim not in rows_seen]
    rows = [dim for dim in draft.space if dim in rows_seen]
    if not columns:
        columns = list(outer[0].dims)
    mapping: dict[int, int] = {}
    for fold in found:
        require(len(fold.dims) == len(columns), "rows: reductions over different loops")
        for dim, column in zip(fold.dims, columns, strict=True):
            require(dim == column or draft.same(dim, column), "rows: reductions over loops of different extent")
            mapping[dim] = column
    for fold in found:  # before renaming: afterwards a captured dim could not be told from a bound one
        depends = {mapping.get(dim, dim) for dim in free(fold)}
        require(not depends & set(columns), "rows: a reduction that depends on the column")
        require(depends == set(rows), "rows: a reduction that does not depend on every row loop")
    memo: dict[E.Expr, E.Expr] = {}
    outputs = [E.Output(o.arg, o.coords, rename(o.expr, mapping, memo)) for o in draft.outputs]
    column_set = set(columns)
    for fold in reduces(outputs):
        require(set(fold.dims) == column_set, "rows: reductions over different loops")
        require(free(fold.init) <= set(rows), "rows: an initial value that depends on the column")
    for output in outputs:
        have = set(output_dims(output))
        require(have in (set(rows), set(rows) | column_set), "rows: an output over other loops")
        require(free(output.expr) <= have, "rows: an output that depends on more loops than it has")
    dims, mapping, final = number(draft, [*rows, *columns], outputs)
    return E.Rows(draft.name, draft.operands, dims, len(columns), final)


def _outermost(outputs: Sequence[E.Output]) -> list[E.Reduce]:
    """The reductions that no other reduction encloses on some path from an output."""
    found: dict[E.Reduce, None] = {}
    seen: set[E.Expr] = set()
    stack = [output.expr for output in outputs]
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        if isinstance(node, E.Reduce):
            found[node] = None
        elif isinstance(node, E.Apply):
            stack.extend(node.args)
    return list(found)


def _try_window(draft: Draft) -> E.Kernel:
    fold = _single_reduce(draft, "window")
    free = FreeDims()
    require(slides(fold.arg), "window: no load slides")
    require(free(fold.arg) == set(draft.space) | set(fold.dims), "window: a loop that the body does not have")
    body = fold.arg
    factors = product(fold)
    if factors is not None and not slides(factors[0]):
        require(isinstance(body, E.Apply), "window: no product")
        body = E.Apply(body.op, (factors[1], factors[0]), body.type, body.attrs)  # type: ignore[union-attr]
    order = [*draft.space, *fold.dims]
    dims, mapping, outputs = number(draft, order, _epilogue(draft, fold))
    return E.Window(
        draft.name, draft.operands, dims,
        tuple(mapping[d] for d in draft.space), tuple(mapping[d] for d in fold.dims),
        fold.op, rename(body, mapping), rename(fold.init, mapping), fold.type, outputs,
    )  # fmt: skip
