"""Causal masks: a comparison of query and key positions that is found to be ``kv <= q``."""
from __future__ import annotations

import math

from kc.kernels import expr as E

_CASTS = frozenset(("arith.index_cast", "arith.extsi", "arith.trunci", "arith.index_castui", "arith.extui"))
# signed and unsigned predicates of arith.cmpi; positions are never negative, so that both agree
_PREDICATES = {2: "<", 3: "<=", 4: ">", 5: ">=", 6: "<", 7: "<=", 8: ">", 9: ">="}

Linear = tuple[int, int, int]  # a * q + b * kv + c


def _linear(node: E.Expr, q: int, kv: int) -> Linear | None:
    if isinstance(node, E.Index):
        return (1, 0, 0) if node.dim == q else (0, 1, 0) if node.dim == kv else None
    if isinstance(node, E.Const) and isinstance(node.value, int):
        return (0, 0, int(node.value))
    if not isinstance(node, E.Apply):
        return None
    if node.op in _CASTS:
        return _linear(node.args[0], q, kv)
    if node.op in ("arith.addi", "arith.subi"):
        left, right = (_linear(arg, q, kv) for arg in node.args)
        if left is None or right is None:
            return None
        sign = 1 if node.op == "arith.addi" else -1
        return (left[0] + sign * right[0], left[1] + sign * right[1], left[2] + sign * right[2])
    return None


def is_causal(mask: E.Expr, q: int, kv: int) -> bool | None:
    """True if ``mask`` says ``kv <= q``, False if it says ``kv > q``, None if it says anything else."""
    if isinstance(mask, E.Apply) and mask.op == "arith.xori" and E.Const(True, "i1") in mask.args:
        other = mask.args[0] if mask.args[1] == E.Const(True, "i1") else mask.args[1]
        inner = is_causal(other, q, kv)
        return None if inner is None else not inner
    if not isinstance(mask, E.Apply) or mask.op != "arith.cmpi":
        return None
    predicate = _PREDICATES.get(int(dict(mask.attrs).get("predicate", "0").split()[0]))
    left, right = (_linear(arg, q, kv) for arg in mask.args)
    if predicate is None or left is None or right is None:
        return None
    a, b, c = (x - y for x, y in zip(left, right, strict=True))  # a*q + b*kv + c  predicate  0
    if (a, b) == (1, -1):  # turn q - kv + c ? 0 into kv - q - c ?' 0
        a, b, c = -1, 1, -c
        predicate = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}[predicate]
    if (a, b) != (-1, 1):
        return None
    if (predicate, c) in (("<=", 0), ("<", -1)):
        return True
    return False if (predicate, c) in ((">", 0), (">=", -1)) else None


def split_causal(score: E.Expr, q: int, kv: int) -> tuple[bool, float, E.Expr]:
    """(True, value of masked scores, the rest) if ``score`` is causally masked at its root, else (False, -inf,
    ``score``).

    The masked value must be -inf; then a further mask may stand beside the causal one (``andi``). A finite value, so
    low that its exponential vanishes beside any ordinary score, is accepted where nothing but the product itself
    makes the other scores. """
    unchanged = (False, -math.inf, score)
    if not (isinstance(score, E.Apply) and score.op == "arith.select"):
        return unchanged
    mask, kept, masked = score.args
    rest: E.Expr | None = None
    says = is_causal(mask, q, kv)
    if says is None and isinstance(mask, E.Apply) and mask.op == "arith.andi":
        for part, other in (mask.args, mask.args[::-1]):
            if is_causal(part, q, kv):
                says, rest = True, other
                break
    if says is None:
        return unchanged
    if not says:
        kept, masked = masked, kept
    if not (isinstance(masked, E.Const) and isinstance(masked.value, float)):
        return unchanged
    if masked.value == -math.inf:
        if rest is not None:
            kept = E.Apply("arith.select", (rest, kept, masked), score.type, score.attrs)
        return True, -math.inf, kept
    plain = not any(isinstance(n, E.Load) or getattr(n, "op", "") == "arith.select" for n in E.walk(kept))
    if rest is None and plain and masked.value < -1e30:
        return True, float(masked.value), kept
    return unchanged
