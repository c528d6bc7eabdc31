"""Gate ``assumptions``: what a proposal takes for granted is granted, wherever it says so.

It can say so in ``assumes``, in contract attributes on its ``@main``, and in flags on its ops (``flags``).
"""

from __future__ import annotations

from collections.abc import Sequence

from kc.agents.contract import FUNCTION_ATTRIBUTES, ArgumentContract, Contract
from kc.agents.facts import parse_fact
from kc.agents.gates import flags
from kc.agents.gates.case import Case, main_of
from kc.agents.gates.reasons import Rejection
from kc.errors import InputError


def check(case: Case) -> Rejection | None:
    """The first assumption that is not granted."""
    main = main_of(case.proposal)
    assert main is not None
    return said(case.contract, case.assumes, case.guard) or _claims(case) or flags.check(case)


def said(contract: Contract, assumes: Sequence[str], guard: str | None) -> Rejection | None:
    """What a proposal says that it assumes, apart from its code."""
    return _guard(contract, guard) or _assumes(contract, assumes, guard)


def under_guard(contract: Contract, guard: str | None) -> Contract:
    """The contract where a proposal's guard holds: its conditions are facts there."""
    if not guard:
        return contract
    added = tuple(parse_fact(part).text for part in guard_parts(guard))
    return Contract(contract.allow, contract.facts + added, contract.sizes, contract.arguments)


def guard_parts(guard: str) -> list[str]:
    """The conditions of a guard, all of which must hold."""
    return [part.strip() for part in guard.replace("&&", " and ").split(" and ")]


def _guard(contract: Contract, guard: str | None) -> Rejection | None:
    if guard is None:
        return None
    names = {name for argument in contract.arguments for name in argument.dims}
    for part in guard_parts(guard):
        fact = parse_fact(part)
        if not fact.dims or fact.form in ("other", "relation"):
            return Rejection("assumptions.guard", f"guard '{part}' is no condition on sizes such as 'M % 8 == 0'")
        unknown = [name for name in fact.dims if name not in names]
        if unknown:
            named = sorted(name for name in names if name.isidentifier())
            have = f"are {', '.join(named)}" if named else "have no names"
            message = (
                f"guard '{part}' names '{unknown[0]}'; the dimensions {have}: name dimensions on the "
                'arguments with kc.dims ({kc.dims = ["M", "64"]})'
            )
            return Rejection("assumptions.guard", message)
    return None


def _assumes(contract: Contract, assumes: Sequence[str], guard: str | None) -> Rejection | None:
    granted = under_guard(contract, guard)
    for assumption in assumes:
        if not granted.grants(assumption):
            return Rejection(
                "assumptions.undeclared", f"'{assumption}' is assumed; the contract grants {_granted(contract)}"
            )
    return None


def _granted(contract: Contract) -> str:
    return ", ".join([*sorted(contract.allow), *contract.facts]) or "nothing"


def _claims(case: Case) -> Rejection | None:
    """Contract attributes on the proposal's own @main may repeat the contract, or say less."""
    main = main_of(case.proposal)
    assert main is not None
    for name in main.attributes:
        if name.startswith("kc.") and name not in {*FUNCTION_ATTRIBUTES, *main_attributes(case)}:
            return Rejection("assumptions.claims", f"@main has the attribute '{name}', which the region does not have")
    try:
        said = Contract.of(main)
    except InputError as error:
        return Rejection("assumptions.claims", f"the contract on @main is malformed: {error}")
    contract = under_guard(case.contract, case.guard)
    for assumption in (*sorted(said.allow), *said.facts):
        if not contract.grants(assumption):
            return Rejection(
                "assumptions.claims", f"@main claims '{assumption}'; the contract grants {_granted(contract)}"
            )
    for name, (low, high) in said.sizes.items():
        real = contract.size_range(name)
        if low > real[0] or high < real[1]:
            return Rejection(
                "assumptions.claims",
                f"@main claims that {name} is {low} to {high}; the contract has {real[0]} to {real[1]}",
            )
    if not case.same_level:
        return None
    for number, (mine, theirs) in enumerate(zip(said.arguments, case.contract.arguments, strict=True)):
        found = _argument_claim(mine, theirs)
        if found:
            return Rejection("assumptions.claims", f"argument {number} of @main claims {found}")
    return None


def main_attributes(case: Case) -> set[str]:
    """Names of the attributes of the original's @main."""
    main = main_of(case.original)
    assert main is not None
    return set(main.attributes)


def _argument_claim(mine: ArgumentContract, theirs: ArgumentContract) -> str | None:
    """What ``mine`` says that ``theirs`` does not, in words."""
    if mine.out and not theirs.out:
        return "to be an output (kc.out)"
    if mine.inout and not theirs.inout:
        return "to be updated (kc.inout)"
    if mine.dims and mine.dims != theirs.dims:
        return f"the dimensions {list(mine.dims)}, not {list(theirs.dims)}"
    if mine.may_alias is not None and mine.may_alias != theirs.may_alias:
        return f"to share the buffer of argument {mine.may_alias}"
    if mine.range is not None:
        have = theirs.range
        if have is None or mine.range[0] > have[0] or mine.range[1] < have[1]:
            return f"values from {mine.range[0]} to {mine.range[1]}"
    return None
