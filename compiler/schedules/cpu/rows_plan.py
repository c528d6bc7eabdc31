"""What each sweep over a row computes, and what is kept between sweeps."""
from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from kc.builder.expr import wide
from kc.kernels.expr import Apply, Coord, Expr, Load, Output, Reduce, walk
from kc.kernels.rebuild import rebuild

#: ops of many instructions: their results are worth keeping for a later sweep, their loops need no unrolling
COSTLY = frozenset({
    "math.atan2", "math.cbrt", "math.cos", "math.erf", "math.erfc", "math.exp", "math.exp2", "math.expm1", "math.log",
    "math.log1p", "math.log2", "math.powf", "math.sin", "math.tanh",
})


@dataclasses.dataclass(frozen=True)
class Kept:
    """A value of the row kept between sweeps: later ones read it as ``load``, an operand of number below zero."""

    node: Expr
    sweep: int
    load: Load


@dataclasses.dataclass(frozen=True)
class Sweep:
    """One pass over the row: reductions with their arguments, outputs with their values, values to keep."""

    folds: tuple[tuple[Reduce, Expr], ...]
    outputs: tuple[tuple[Output, Expr], ...]
    keeps: tuple[tuple[Kept, Expr], ...]

    @property
    def roots(self) -> list[Expr]:
        return [expr for _, expr in (*self.folds, *self.outputs, *self.keeps)]


def reductions(roots: Sequence[Expr]) -> list[Reduce]:
    """Distinct reductions, inner ones first."""
    return list(dict.fromkeys(node for root in roots for node in walk(root) if isinstance(node, Reduce)))


def costly(roots: Sequence[Expr]) -> bool:
    """Whether some value takes many instructions."""
    return any(isinstance(node, Apply) and node.op in COSTLY for root in roots for node in walk(root))


def inside(root: Expr) -> list[Expr]:
    """Nodes of ``root``, not looking into reductions."""
    found: dict[Expr, None] = {}
    stack = [root]
    while stack:
        node = stack.pop()
        if node not in found:
            found[node] = None
            if isinstance(node, Apply):
                stack.extend(node.args)
    return list(found)


def plan(outputs: Sequence[Output], row_outputs: Sequence[Output], varies: Callable[[Expr], bool]) -> list[Sweep]:
    """The sweeps for ``outputs`` (one element a column) and the reductions of ``row_outputs`` (one element a row).

    ``varies(node)``: whether a node's value depends on the column.
    """
    level: dict[Expr, int] = {}  # the sweep after which a node's reductions are known
    for output in (*outputs, *row_outputs):
        for node in walk(output.expr):
            if isinstance(node, Reduce):
                level[node] = 1 + max(level[node.arg], level[node.init])
            else:
                level[node] = max((level[a] for a in node.args), default=0) if isinstance(node, Apply) else 0
    folds = reductions([o.expr for o in (*outputs, *row_outputs)])
    last = max([level[r] for r in folds] + [level[o.expr] + 1 for o in outputs], default=0)
    kept: list[Kept] = []
    computed: dict[Expr, int] = {}
    for sweep in range(1, last + 1):
        roots = [r.arg for r in folds if level[r] == sweep] + [o.expr for o in outputs if level[o.expr] + 1 == sweep]
        stack, seen = list(roots), set()
        while stack:
            node = stack.pop()
            if node in seen or not varies(node):
                continue
            seen.add(node)
            if computed.setdefault(node, sweep) < sweep and _costly(node, varies):
                if all(k.node != node for k in kept):
                    kept.append(Kept(node, computed[node], Load(-1 - len(kept), (Coord(0),), wide(node.type))))
                continue
            if isinstance(node, Apply):
                stack.extend(node.args)

    def seen_from(expr: Expr, sweep: int) -> Expr:
        memo: dict[Expr, Expr] = {fold: fold for fold in folds}  # their own arguments stay as they are
        memo.update({k.node: k.load for k in kept if k.sweep < sweep})
        return rebuild(expr, lambda node, children: None, memo)

    return [Sweep(tuple((r, seen_from(r.arg, sweep)) for r in folds if level[r] == sweep),
                  tuple((o, seen_from(o.expr, sweep)) for o in outputs if level[o.expr] + 1 == sweep),
                  tuple((k, seen_from(k.node, sweep)) for k in kept if k.sweep == sweep))
            for sweep in range(1, last + 1)]


def keep_in_output(sweeps: Sequence[Sweep], varies: Callable[[Expr], bool]) -> Output | None:
    """A destination that can hold the only kept value until the last sweep overwrites it, reading nothing else."""
    kept = [k for sweep in sweeps for k, _ in sweep.keeps]
    if len(kept) != 1 or kept[0].sweep != len(sweeps) - 1:
        return None
    for root in sweeps[-1].roots:
        if any(isinstance(node, Load) and node.arg >= 0 and varies(node) for node in inside(root)):
            return None
    for output, _ in sweeps[-1].outputs:
        if wide(output.expr.type) == output.expr.type == kept[0].load.type:
            return output
    return None


def _costly(node: Expr, varies: Callable[[Expr], bool]) -> bool:
    return node.type != "i1" and any(isinstance(n, Apply) and n.op in COSTLY and varies(n) for n in inside(node))
