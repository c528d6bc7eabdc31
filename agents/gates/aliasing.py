"""Gate ``aliasing``, its static part: no argument that is only to be read may be written, even if it is put back."""

from __future__ import annotations

from kc.agents.gates.case import Case, place
from kc.agents.gates.effects import written
from kc.agents.gates.reasons import Rejection


def check(case: Case) -> Rejection | None:
    """The first write to a read-only argument or to a global, through whatever views and calls."""
    if case.level not in ("loops", "gpu"):
        return None
    already = written(case.original) if case.same_level else {}
    for (name, number), op in written(case.proposal).items():
        if (name, number) in already:
            continue
        if number < 0:
            return Rejection("signature.state", f"{place(op)} writes the global @{name}", op=op.name)
        if not _writable(case, number):
            return Rejection(
                "aliasing.read-only", f"{place(op)} writes argument {number}, which is read-only", op=op.name
            )
    return None


def _writable(case: Case, number: int) -> bool:
    arguments = case.contract.arguments
    if case.same_level:
        return number < len(arguments) and arguments[number].writable
    from kc.agents.gates.lowered import form_of, roles
    from kc.agents.gates.reading import read

    original = read(case.original)
    form = form_of(original, read(case.proposal))
    if form not in ("after", "last", "returned"):
        return False
    return roles(original, form)[number] != "in"  # type: ignore[arg-type]
