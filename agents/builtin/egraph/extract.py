"""The cheapest terms of a saturated graph: a cost for each term, and a choice of one term for each class.

The cost is a time in byte-times: what a term moves, plus its work at ``FLOPS_PER_BYTE`` operations per byte.
Elementwise ops count the bytes of their result, since kc fuses what only hands values on; broadcasts and reshapes move
nothing.
"""
from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from kc.agents.builtin.egraph.saturate import Classes, Node

#: arithmetic operations that take the time of one byte of memory traffic: of scalar code in loops, and of the tiled
#: product of matrices (vectors, fused, from registers)
FLOPS_PER_BYTE = 2.0
DOT_FLOPS_PER_BYTE = 16.0

#: operations per element where it is not 1
WORK = {
    "divide": 4, "remainder": 8, "sqrt": 4, "rsqrt": 4, "cbrt": 20, "exponential": 10, "exponential_minus_one": 14,
    "log": 12, "log_plus_one": 14, "logistic": 14, "power": 30, "sine": 16, "cosine": 16, "tan": 20, "tanh": 16,
    "atan2": 30,
}
#: of any term: fewer terms win where nothing else tells
_TERM = 0.01
_BYTES = {"i1": 1, "i8": 1, "ui8": 1, "f16": 2, "bf16": 2, "i16": 2, "ui16": 2, "i64": 8, "ui64": 8, "f64": 8}


class ExtractionError(Exception):
    """No choice of terms makes up the roots."""


def cost_of(node: Node, kind: tuple[str, tuple[int, ...]], operands: list[tuple[str, tuple[int, ...]]]) -> float:
    """Cost of one term alone, from its own type and those of its operands."""
    element, shape = kind
    count = math.prod(shape)
    moved = count * _BYTES.get(element, 4)
    if node.form in ("Value", "Fill"):
        return 0.0
    if node.form in ("Broadcast", "Reshape"):
        return _TERM
    if node.form == "Transpose":
        return _TERM + 2 * moved
    if node.form == "Reduce":
        return _TERM + moved + math.prod(operands[0][1]) * WORK.get(node.parameters[0], 1) / FLOPS_PER_BYTE
    if node.form == "Dot":
        depth = operands[0][1][-2 if node.parameters[0] else -1]
        return _TERM + moved + 2 * count * depth / DOT_FLOPS_PER_BYTE
    work = WORK.get(str(node.parameters[0]), 1) if node.form in ("Un", "Bin") else 1
    return _TERM + moved + count * work / FLOPS_PER_BYTE


def extract(classes: Classes, roots: Iterable[str]) -> tuple[dict[int, Node], float]:
    """One term for each class that the cheapest form of ``roots`` needs, and the cost of that form.

    Greedy over graphs, not trees: a class that two terms share counts once. Raises ExtractionError when no order of
    evaluation exists.
    """
    costs = {
        (c, number): cost_of(node, classes.types[c], [classes.types[o] for o in node.operands])
        for c, nodes in classes.nodes.items() if c in classes.types
        for number, node in enumerate(nodes) if all(o in classes.types for o in node.operands)
    }
    best: dict[int, tuple[float, dict[int, float], Node]] = {}
    changed = True
    while changed:
        changed = False
        for (c, number), own in costs.items():
            node = classes.nodes[c][number]
            if any(o not in best for o in node.operands):
                continue
            parts: dict[int, float] = {}
            for operand in node.operands:
                parts.update(best[operand][1])
            if c in parts:
                continue
            total = sum(parts.values()) + own
            if c not in best or total < best[c][0] - 1e-9:
                best[c] = (total, {**parts, c: own}, node)
                changed = True
    chosen: dict[int, Node] = {}
    for root in roots:
        _choose(classes.of[root], best, chosen, set())
    used = {c: costs[c, classes.nodes[c].index(node)] for c, node in chosen.items()}
    return chosen, sum(used.values())


def _choose(c: int, best: Mapping[int, tuple[float, dict[int, float], Node]], chosen: dict[int, Node],
            open_classes: set[int]) -> None:
    """Fill ``chosen`` with what class ``c`` needs."""
    if c in chosen:
        return
    if c in open_classes or c not in best:
        raise ExtractionError(f"class {c} needs itself")
    node = best[c][2]
    for operand in node.operands:
        _choose(operand, best, chosen, open_classes | {c})
    chosen[c] = node
