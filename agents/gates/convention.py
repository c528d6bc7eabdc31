"""How functions are called and linked: attributes whose values decide what a call or a linker does.

``@main`` has them as the region has; the others are private functions, called by the C convention.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kc.agents.gates.case import Case, functions, main_of, place, walk
from kc.agents.gates.reasons import Rejection

if TYPE_CHECKING:
    from kc.bindings import ir

#: attribute of a function -> what it counts as where it is not written
DEFAULTS = {
    "llvm.emit_c_interface": None,
    "CConv": "#llvm.cconv<ccc>",
    "linkage": "#llvm.linkage<external>",
    "visibility_": "0 : i64",
    "unnamed_addr": "0 : i64",
}
#: of a function beside ``@main``, the values that it may have beside the default
_BESIDE = {
    "linkage": frozenset({"#llvm.linkage<internal>", "#llvm.linkage<private>"}),
    "unnamed_addr": frozenset({"1 : i64", "2 : i64"}),  # nobody compares addresses of functions
}


def check(case: Case) -> Rejection | None:
    """The first function or call whose convention is another than the region's."""
    main, original = main_of(case.proposal), main_of(case.original)
    assert main is not None and original is not None
    for attribute, default in DEFAULTS.items():
        want = _value(original, attribute) if case.same_level else default
        got = _value(main, attribute)
        if got != want:
            return _refused("main", attribute, got, want)
    for name, function in functions(case.proposal).items():
        for attribute, default in DEFAULTS.items():
            got = _value(function, attribute)
            if function != main and got != default and got not in _BESIDE.get(attribute, ()):
                return _refused(name, attribute, got, default)
    for op in walk(case.proposal.operation):
        if op.name in ("llvm.call", "llvm.invoke") and _value(op, "CConv") != DEFAULTS["CConv"]:
            message = f"{place(op)} calls by {_value(op, 'CConv')}: functions are called by the C convention"
            return Rejection("signature.attributes", message, op=op.name)
    return None


def _value(op: ir.Operation, attribute: str) -> str | None:
    return str(op.attributes[attribute]) if attribute in op.attributes else DEFAULTS[attribute]


def _refused(name: str, attribute: str, got: str | None, want: str | None) -> Rejection:
    has = f"has '{attribute} = {got}'" if got is not None else f"lacks '{attribute}'"
    wanted = f"it has to be '{want}'" if want is not None else "it may not be there"
    message = f"function @{name} {has}, which decides how it is called and linked: {wanted}"
    return Rejection("signature.attributes", message)
