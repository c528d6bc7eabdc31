"""Gate ``race``, its static part: iterators that are called parallel must not meet in one element of a result.

Loops are watched at run time (``differential``); an op on tensors runs in order there, so its word is checked here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from kc.agents.gates.case import Case, place, walk
from kc.agents.gates.reasons import Rejection

if TYPE_CHECKING:
    from kc.bindings import ir

#: combinations whose result no order changes
_ANY_ORDER = frozenset(
    {"addi", "muli", "andi", "ori", "xori", "maxsi", "maxui", "minsi", "minui", "and", "or", "xor"}
    | {"maximumf", "minimumf", "maxnumf", "minnumf"}
)
#: arith's atomic kinds by number
_KINDS = (
    "addf",
    "addi",
    "assign",
    "maximumf",
    "maxsi",
    "maxui",
    "minimumf",
    "minsi",
    "minui",
    "mulf",
    "muli",
    "ori",
    "andi",
    "maxnumf",
    "minnumf",
    "xori",
)


def check(case: Case) -> Rejection | None:
    """The first word about parallel iterations that is not true.

    A parallel iterator of ``linalg.generic`` that does not tell elements of its results apart; a reduction over
    parallel iterations whose result depends on how partial results are put together.
    """
    known = {_told(op) for op in walk(case.original.operation) if op.name == "linalg.generic"}
    for op in walk(case.proposal.operation):
        if op.name == "linalg.generic" and _told(op) not in known:
            missing = _missing(op)
            if missing is not None:
                message = f"iterator {missing} is called parallel, but its iterations write the same elements"
                return Rejection("race.conflict", f"{place(op)}: {message}", op=op.name)
        if op.name in ("scf.reduce", "affine.parallel", "gpu.all_reduce", "gpu.subgroup_reduce"):
            wrong = next((w for w in _combiners(op) if not _commutes(w, case)), None)
            if wrong is not None and op.name not in case.original_ops:
                message = f"partial results are put together by '{wrong}', in an order that nobody fixes"
                return Rejection("race.order", f"{place(op)}: {message}", op=op.name)
    return None


def _combiners(op: ir.Operation) -> Iterator[str]:
    """How a reduction puts two partial results together: the name of one op, or ``other``."""
    if op.name == "affine.parallel":
        yield from (_KINDS[int(kind)] if int(kind) < len(_KINDS) else "other" for kind in _reductions(op))
    elif op.name.startswith("gpu."):
        if "op" in op.attributes:
            yield re.sub(r".*[ <]([a-z]+)>.*", r"\1", str(op.attributes["op"]))
        elif len(op.regions[0].blocks):
            yield _single(op.regions[0].blocks[0])
    else:
        for region in op.regions:
            yield _single(region.blocks[0])


def _reductions(op: ir.Operation) -> list[int]:
    from kc.bindings import ir

    return [ir.IntegerAttr(kind).value for kind in op.attributes["reductions"]] if "reductions" in op.attributes else []


def _single(block: ir.Block) -> str:
    """The op of a block that combines its two arguments by one op and gives the result back."""
    ops = [op.operation for op in block.operations]
    arguments = list(block.arguments)
    if len(ops) != 2 or len(arguments) != 2 or len(ops[0].operands) != 2:
        return "other"
    uses_both = {ops[0].operands[0] == a for a in arguments} == {True, False} and ops[0].operands[0] != ops[0].operands[
        1
    ]
    inside = all(any(operand == a for a in arguments) for operand in ops[0].operands)
    returned = len(ops[1].operands) == 1 and ops[1].operands[0] == ops[0].results[0]
    return ops[0].name.removeprefix("arith.") if uses_both and inside and returned else "other"


def _commutes(name: str, case: Case) -> bool:
    """Whether combining by this op gives the same in any order: floats only where reassociation is allowed."""
    return name in _ANY_ORDER or (name in ("addf", "mulf", "add", "mul") and case.contract.allows("reassoc"))


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
