"""When fusing pays. Whether it may be done at all is decided by the analysis; this is about time and memory traffic."""
from __future__ import annotations

import dataclasses

from kc.kernels import expr as E
from kc.kernels.classify import reduces


@dataclasses.dataclass(frozen=True)
class Policy:
    """Bounds on what is fused. Neutral to the target."""

    max_ops: int = 256  # compute ops in a kernel
    max_operands: int = 32  # arguments of a kernel, destinations included
    max_recompute: int = 8  # scalar ops computed again for every element of a wider consumer
    max_row: int = 1 << 16  # elements of a row that is kept while it is reduced more than once


def rows_pay(rows: E.Rows, policy: Policy) -> bool:
    """Whether a row kernel of several parts reads its rows along memory and can keep one while it is reduced."""
    columns = range(len(rows.dims) - rows.ncols, len(rows.dims))
    wide = [output for output in rows.outputs if any(c.dim in columns for c in output.coords)]
    if len(reduces(rows.outputs)) == 1 and not wide:
        return True  # a plain reduction with its argument computed on the way
    length = 1
    for column in columns:
        length *= rows.dims[column].size or 1
    if length > policy.max_row:
        return False
    accesses = [output.coords for output in wide]
    for output in rows.outputs:
        accesses += [node.coords for node in E.walk(output.expr) if isinstance(node, E.Load)]
    across = [coords for coords in accesses if any(c.dim in columns for c in coords)]
    return all(coords[-1].dim in (columns[-1], None) for coords in across)


def adds_prologue(before: E.Kernel, merged: E.Kernel) -> bool:
    """Whether fusing changed what a contraction or window multiplies, not only what follows it."""
    old, new = _factors(before), _factors(merged)
    return new is not None and (old is None or _form(old) != _form(new))


def is_wider(merged: E.Kernel, part: E.Kernel) -> bool:
    """Whether the merged kernel loops over more dims than ``part`` did."""
    return len(getattr(merged, "dims", ())) > len(getattr(part, "dims", ()))


def _factors(kernel: E.Kernel) -> tuple[E.Expr, ...] | None:
    if isinstance(kernel, E.Contraction):
        return kernel.lhs, kernel.rhs
    return (kernel.body,) if isinstance(kernel, E.Window) else None


def _form(factors: tuple[E.Expr, ...]) -> list[list[tuple[str, str]]]:
    """What the factors compute, without argument numbers: enough to see whether something was added."""
    return sorted([(type(n).__name__, getattr(n, "op", "")) for n in E.walk(factor)] for factor in factors)
