"""Proposals that stand below their region: how the signature, and each call, look there.

A tensor becomes a memref of the same shape. Results are written to buffers that follow the region's arguments
(``after``), or to the last arguments, where the region takes its destinations there already (``last``), or are returned
as before (``returned``).
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from typing import Literal

import numpy as np

from kc.agents.execution.calls import Call, Outcome, Role
from kc.agents.execution.signature import Kind
from kc.agents.gates.reading import Reading

Form = Literal["after", "last", "returned"]
_TENSOR = re.compile(r"tensor<((?:(?:\d+|\?)x)*)([^,>]+(?:<\w+>)?)(?:, [^>]*)?>")


def form_of(original: Reading, proposal: Reading) -> Form | str:
    """Where the results of the lower form are; a text that says what does not fit otherwise."""
    inputs, outputs = original.arguments, original.results
    mine = proposal.arguments
    if len(proposal.results) == len(outputs) and _match(inputs, mine) and _match(outputs, proposal.results):
        return "returned"
    if not proposal.results and _match((*inputs, *outputs), mine):
        return "after"
    last = mine[max(0, len(mine) - len(outputs)) :]
    if not proposal.results and _match(inputs, mine) and _match(outputs, last):
        return "last"
    shown = ", ".join(kind.text for kind in mine)
    wanted = ", ".join(_lower(kind.text) for kind in (*inputs, *outputs))
    return f"@main takes ({shown}); below its region's level it takes ({wanted}) and returns nothing"


def roles(original: Reading, form: Form) -> tuple[Role, ...]:
    """What each argument of the lower form is."""
    given: list[Role] = ["out" if a.out else "inout" if a.inout else "in" for a in original.contract.arguments]
    given += ["in"] * (len(original.arguments) - len(given))
    count = len(original.results)
    if form == "after":
        given += ["out" for _ in range(count)]
    elif form == "last":
        for number in range(len(given) - count, len(given)):
            given[number] = "out" if given[number] == "out" else "inout"
    return tuple(given)


def call(made: Call, outcome: Outcome, form: Form, results: int) -> Call:
    """The call of the lower form that does what ``made`` did; ``outcome``: of the original, for the results' shapes."""
    if form != "after":
        return made
    buffers = tuple(np.zeros_like(result) for result in outcome.results[:results])
    return dataclasses.replace(made, arguments=(*made.arguments, *buffers))


def _match(wanted: Sequence[Kind], got: Sequence[Kind]) -> bool:
    return len(wanted) == len(got) and all(_fits(a, b) for a, b in zip(wanted, got, strict=True))


def _fits(wanted: Kind, got: Kind) -> bool:
    """Whether ``got`` holds the values of ``wanted``: the same type, or a buffer for a tensor."""
    if wanted.form == "scalar" or got.form == "scalar":
        return wanted.form == got.form and wanted.element == got.element
    if got.form == "tensor" and wanted.form == "memref":
        return False
    signless = wanted.element.removeprefix("s").removeprefix("u") if wanted.element[0] in "su" else wanted.element
    return wanted.shape == got.shape and got.element in (wanted.element, signless)


def _lower(text: str) -> str:
    return _TENSOR.sub(r"memref<\1\2>", text)
