"""Level asm on the CPU: assembly against the function of the llvm level that it is code of.

What is run is the very object that would stand in the program, called by the convention of the machine, which is
checked round every call (``kc.agents.execution.machine_code``). PTX, the other assembly, is judged where a device is.
"""

from __future__ import annotations

import dataclasses
import re
import struct
from typing import TYPE_CHECKING

from kc.agents.gates.reasons import Rejection
from kc.errors import InputError

if TYPE_CHECKING:
    from kc.agents.gates.differential import Form
    from kc.agents.gates.reading import Reading
    from kc.agents.protocol import Proposal

LEVEL = "asm"
#: the level of the reference
ABOVE = "llvm"
_NUMBER = re.compile(r"(?<![\w.])-?(?:0x[0-9a-fA-F]+|\d+)(?![\w.])")
_MOST = 160


def reference(original: str, target: str) -> str:
    """The module of the llvm level that stands for a region. Raises InputError for what is no region of a CPU."""
    from kc.agents.regions import assembly

    if target.partition(":")[0] != "cpu":
        raise InputError(f"assembly for '{target}' is judged where the device is: kc.agents.realize.pack")
    return assembly.parts(original).reference


def region_of(reference: str, target: str) -> str | Rejection:
    """The text at level asm of a region of the llvm level, which is answered there."""
    from kc.agents.realize.realized import RealizeError
    from kc.agents.realize.x86.answer import text_of

    try:
        return text_of(reference, target)
    except RealizeError as error:
        return Rejection(error.reason, str(error)[:2000])


def form(original: str, proposal: Proposal, target: str, reading: Reading) -> Form | Rejection:
    """The proposal's machine code, ready to be run, or why there is none."""
    from kc.agents.execution.machine_code import Code
    from kc.agents.gates.differential import Form
    from kc.agents.realize.realized import RealizeError
    from kc.agents.realize.x86.answer import answer

    if proposal.level not in (None, LEVEL):
        return Rejection("level.higher", f"the proposal stands at level '{proposal.level}', above '{LEVEL}'")
    refused = [name for name in proposal.assumes if not reading.contract.grants(name)]
    if refused:
        return Rejection("assumptions.undeclared", f"the contract does not grant '{refused[0]}'")
    try:
        made = answer(original, proposal, target)
    except RealizeError as error:
        return Rejection(error.reason, str(error)[:2000])
    code = Code(tuple(kind.text for kind in reading.arguments), made.files["main.o"])
    integers, floats = _constants(made.ir)
    read = dataclasses.replace(
        reading,
        integers=(*integers, *reading.integers)[: 2 * _MOST],
        floats=(*floats, *reading.floats)[: 2 * _MOST],
        parallel=False,
    )
    return Form(code.text(), LEVEL, read)


def _constants(code: str) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """The numbers in a text, and what they are as bits of floats: inputs and sizes near them are tried."""
    integers: dict[int, None] = {}
    floats: dict[float, None] = {}
    for line in code.splitlines():
        if line.lstrip().startswith((".p2align", ".cfi", ".section")):
            continue
        for word in _NUMBER.findall(line.partition("#")[0]):
            value = int(word, 0) if not re.fullmatch(r"-?0\d+", word) else int(word, 8)
            integers.setdefault(value)
            for size, form_, most in ((4, "<f", 1 << 32), (8, "<d", 1 << 64)):
                if (1 << 16) < value < most:
                    (number,) = struct.unpack(form_, value.to_bytes(8, "little")[:size])
                    if number == number and abs(number) != float("inf") and 1e-30 < abs(number) < 1e30:
                        floats.setdefault(number)
    return tuple(integers)[:_MOST], tuple(floats)[:_MOST]
