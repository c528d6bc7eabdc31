"""Cheaper forms of expressions that a schedule knows more about than the expression says."""
from __future__ import annotations

from collections.abc import Callable

from kc.kernels.expr import Apply, Const, Expr, Reduce
from kc.kernels.rebuild import rebuild


def mark_nonpositive(root: Expr) -> Expr:
    """``exp(a - max(a))`` marked as having an argument of at most 0 (see ``kc-expand-math``)."""
    def change(node: Expr, children: tuple[Expr, ...]) -> Expr | None:
        if not (isinstance(node, Apply) and node.op == "math.exp"):
            return None
        (argument,) = children
        if isinstance(argument, Apply) and argument.op == "arith.subf":
            a, top = argument.args
            if isinstance(top, Reduce) and top.op in ("arith.maximumf", "arith.maxnumf") and top.arg == a:
                return Apply(node.op, children, node.type, (*node.attrs, ("kc.nonpositive", "unit")))
        return None

    return rebuild(root, change)


def uniform_divisors(root: Expr, varies: Callable[[Expr], bool], known: dict[Expr, Expr]) -> tuple[Expr, list[Expr]]:
    """``root`` with f32 quotients ``a / u`` as ``a * (1 / u)`` where only ``a`` varies, and the divisors.

    Within 1.5 ulp as long as ``1 / u`` is a normal number with full precision: to be guarded by ``2**-100 <= |u| <=
    2**100``. ``known``: nodes that stay as they are (not looked into).
    """
    divisors: dict[Expr, None] = {}

    def change(node: Expr, children: tuple[Expr, ...]) -> Expr | None:
        if isinstance(node, Apply) and node.op == "arith.divf" and node.type in ("f32", "f16", "bf16"):
            a, u = children
            if varies(a) and not varies(u) and not isinstance(u, Const):
                divisors.setdefault(u)
                inverse = Apply("arith.divf", (Const(1.0, node.type), u), node.type)
                return Apply("arith.mulf", (a, inverse), node.type, node.attrs)
        return None

    return rebuild(root, change, dict(known)), list(divisors)
