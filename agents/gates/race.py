"""Gate ``race``, its static part: iterators that are called parallel must not meet in one element of a result.

Loops are watched at run time (``differential``); an op on tensors runs in order there, so its word is checked here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kc.agents.gates.case import Case, place, walk
from kc.agents.gates.reasons import Rejection

if TYPE_CHECKING:
    from kc.bindings import ir


def check(case: Case) -> Rejection | None:
    """The first ``linalg.generic`` with a parallel iterator that does not tell elements of its results apart."""
    known = {_told(op) for op in walk(case.original.operation) if op.name == "linalg.generic"}
    for op in walk(case.proposal.operation):
        if op.name != "linalg.generic" or _told(op) in known:
            continue
        missing = _missing(op)
        if missing is not None:
            return Rejection(
                "race.conflict",
                f"{place(op)}: iterator {missing} is called parallel, but its iterations write the same elements",
                op=op.name,
            )
    return None


def _told(op: ir.Operation) -> str:
    return f"{op.attributes['indexing_maps']} {op.attributes['iterator_types']}"


def _missing(op: ir.Operation) -> int | None:
    """A parallel iterator that is no index of some result by itself."""
    from kc.bindings import ir

    kinds = [str(kind) for kind in op.attributes["iterator_types"]]
    maps = [ir.AffineMapAttr(attribute).value for attribute in op.attributes["indexing_maps"]]
    _, outputs = list(op.attributes["operandSegmentSizes"])
    for written in maps[len(maps) - outputs :]:
        alone = {ir.AffineDimExpr(e).position for e in written.results if isinstance(e, ir.AffineDimExpr)}
        for number, kind in enumerate(kinds):
            if "parallel" in kind and number not in alone:
                return number
    return None
