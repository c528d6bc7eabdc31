"""OpenMP's ops as the shadow memory is told of them: which calls stand before and after, and what cannot be told.

One thread of a team is run. What all threads do between two barriers counts as one iteration beside those of the loops
that are shared out there, so that races show without threads (shadow.cpp).
"""
from __future__ import annotations

from collections.abc import Callable

from kc.bindings import ir
from kc.rewrite import walk_ops

#: runtime function -> types of its arguments
RUNTIME = {
    "kc_shadow_team": "()", "kc_shadow_team_end": "()", "kc_shadow_barrier": "()", "kc_shadow_share": "()",
    "kc_shadow_share_end": "()", "kc_shadow_critical": "(i64)",
}  # fmt: skip
#: op -> calls before and after it; None: none there
_AROUND: dict[str, tuple[str | None, str | None]] = {
    "omp.parallel": ("kc_shadow_team", "kc_shadow_team_end"),
    "omp.wsloop": ("kc_shadow_share", "kc_shadow_share_end"),
    "omp.barrier": ("kc_shadow_barrier", None),
    "omp.critical": ("kc_shadow_critical", "kc_shadow_critical"),
}
_QUIET = frozenset({"omp.loop_nest", "omp.yield", "omp.terminator", "omp.critical.declare"})
#: ops whose regions have arguments where values are a thread's own, or are put together at the end
_CLAUSES = ("omp.parallel", "omp.wsloop")


def is_known(name: str) -> bool:
    """Whether the op ``name`` is one of those that ``tell`` knows."""
    return name in _AROUND or name in _QUIET


def tell(
    op: ir.Operation,
    call: Callable[..., None],
    wide: Callable[[ir.Value], ir.Value],
    number: Callable[[int], ir.Value],
    nothing: int,
) -> None:
    """Put the calls for one op; the insertion point is before it.

    ``call`` emits one, ``wide`` makes an integer or index an i64, ``number`` is a constant of i64, ``nothing`` stands
    for an index that is not there. Raises ValueError for what cannot be told.
    """
    name = op.name
    if "nowait" in op.attributes:
        raise ValueError(f"'{name}' without a barrier at its end (nowait) cannot be watched")
    if name in _CLAUSES and list(op.regions[0].blocks[0].arguments):
        raise ValueError(f"'{name}' with values of each thread's own (private, reduction) cannot be watched")
    if name not in _AROUND:
        return
    before, after = _AROUND[name]
    if before is not None:
        call(before, *([number(1)] if name == "omp.critical" else []))
    if after is not None:
        with ir.InsertionPoint.after(op):
            call(after, *([number(0)] if name == "omp.critical" else []))
    if name == "omp.wsloop":
        nest = walk_ops(op, "omp.loop_nest")[0]  # the outermost comes first
        body = nest.regions[0].blocks[0]
        with ir.InsertionPoint.at_block_begin(body):
            indices = [wide(value) for value in list(body.arguments)[:4]]
            call("kc_shadow_iteration", *indices, *(number(nothing) for _ in range(4 - len(indices))))
