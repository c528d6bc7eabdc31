"""Rewriting of expressions: renaming of dims, substitution, free dims. All walk the DAG once."""
from __future__ import annotations

from collections.abc import Callable, Mapping

from kc.kernels import expr as E


def rebuild(root: E.Expr, change: Callable[[E.Expr, tuple[E.Expr, ...]], E.Expr | None],
            memo: dict[E.Expr, E.Expr] | None = None) -> E.Expr:  # fmt: skip
    """``root`` rebuilt from the leaves up: ``change(node, new_children)`` may give a node's replacement.

    ``memo`` may be shared between calls with the same ``change``, so that equal parts stay shared.
    """
    memo = {} if memo is None else memo
    for node in E.walk(root, done=memo):
        children = tuple(memo[child] for child in node.children)
        new = change(node, children)
        if new is None:
            if isinstance(node, E.Apply):
                new = E.Apply(node.op, children, node.type, node.attrs)
            elif isinstance(node, E.Reduce):
                new = E.Reduce(node.op, children[0], node.dims, children[1], node.type)
            else:
                new = node
        memo[node] = new
    return memo[root]


def rename(root: E.Expr, dims: Mapping[int, int], memo: dict[E.Expr, E.Expr] | None = None) -> E.Expr:
    """``root`` with every dim ``d`` called ``dims.get(d, d)``, also where a Reduce binds it."""

    def change(node: E.Expr, children: tuple[E.Expr, ...]) -> E.Expr | None:
        if isinstance(node, E.Load):
            return E.Load(node.arg, tuple(rename_coord(c, dims) for c in node.coords), node.type)
        if isinstance(node, E.Index):
            return E.Index(dims.get(node.dim, node.dim), node.type)
        if isinstance(node, E.Reduce):
            renamed = tuple(dims.get(dim, dim) for dim in node.dims)
            return E.Reduce(node.op, children[0], renamed, children[1], node.type)
        return None

    return rebuild(root, change, memo)


def rename_coord(coord: E.Coord, dims: Mapping[int, int]) -> E.Coord:
    """``coord`` with its dims renamed; terms stay sorted by dim."""
    if coord.dim is None:
        return coord
    terms = sorted((dims.get(dim, dim), scale) for dim, scale in ((coord.dim, coord.scale), *coord.more))
    return E.Coord(terms[0][0], terms[0][1], coord.offset, tuple(terms[1:]))


def substitute(root: E.Expr, old: E.Expr, new: E.Expr) -> E.Expr:
    """``root`` with every occurrence of ``old`` replaced by ``new``."""
    return rebuild(root, lambda node, children: new if node == old else None)


def coord_dims(coord: E.Coord) -> tuple[int, ...]:
    """The dims a coordinate depends on."""
    return () if coord.dim is None else (coord.dim, *(dim for dim, _ in coord.more))


class FreeDims:
    """The dims that an expression's value depends on (a Reduce binds its own), remembered per node."""

    def __init__(self) -> None:
        self._known: dict[E.Expr, frozenset[int]] = {}

    def __call__(self, root: E.Expr) -> frozenset[int]:
        for node in E.walk(root, done=self._known):
            if isinstance(node, E.Load):
                free = frozenset(dim for coord in node.coords for dim in coord_dims(coord))
            elif isinstance(node, E.Index):
                free = frozenset((node.dim,))
            elif isinstance(node, E.Apply):
                free = frozenset().union(*(self._known[arg] for arg in node.args))
            elif isinstance(node, E.Reduce):
                free = (self._known[node.arg] - frozenset(node.dims)) | self._known[node.init]
            else:
                free = frozenset()
            self._known[node] = free
        return self._known[root]
