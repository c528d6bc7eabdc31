"""Device code that compilers of others make of a proposal's source: made once, kept, and given again.

    with holding() as held:
        realize(region, proposal, level, target)   # compiles, in a child process
    held.code                                      # what came of it, to be kept beside the ledger
    with holding(code):
        realize(region, proposal, level, target)   # compiles nothing: neither NVRTC nor Triton need be there
"""

from __future__ import annotations

import contextlib
import contextvars
import dataclasses
import hashlib
import json
from collections.abc import Iterator
from typing import Any

from kc.agents.ledger.code import Code
from kc.agents.realize.child import run_child


@dataclasses.dataclass
class Held:
    """``code``: what is given instead of compiling, or what was compiled last; ``compiled``: whether anything was."""

    code: Code | None = None
    compiled: bool = False


_held: contextvars.ContextVar[Held | None] = contextvars.ContextVar("held", default=None)


@contextlib.contextmanager
def holding(code: Code | None = None) -> Iterator[Held]:
    """Within, ``code`` is what the compiler gives if it is asked for just that; what it is asked for is kept."""
    held = Held(code)
    token = _held.set(held)
    try:
        yield held
    finally:
        _held.reset(token)


def compiled(module: str, request: dict[str, Any]) -> dict[str, Any]:
    """The answer of ``module.main(request)`` in a child process (see ``run_child``, which also tells what is raised):
    ``ptx``, ``compiler`` and more, or ``error``. Not asked where it is held."""
    asked = json.dumps([module, request], sort_keys=True)
    digest = hashlib.sha256(asked.encode()).hexdigest()[:32]
    held = _held.get()
    if held is not None and held.code is not None and held.code.request == digest:
        return {**held.code.facts, "ptx": held.code.ptx, "compiler": held.code.compiler}
    answer = run_child(module, request)
    if held is not None and "error" not in answer:
        facts = {key: value for key, value in answer.items() if key not in ("ptx", "compiler")}
        held.code, held.compiled = Code(answer["ptx"], digest, answer["compiler"], facts), True
    return answer
