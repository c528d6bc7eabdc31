"""Running a module at any level under checks, inside the process of a sandbox.

``run(module_text, level, calls, target="cpu", checks=Checks()) -> Iterator[Outcome]`` compiles once and yields one
``Outcome`` per ``Call``, in order. It raises ``ExecutionError`` when the module cannot be run at all: ``kind`` says
``unsupported`` (an op or type that this executor cannot run: never an accept) or ``compile`` (the lowering failed).
What a call does wrong is in its outcome; after a ``fault`` the next call still runs. Native code runs in this very
process, so callers put a process around it; a proposal that damages the process ends it.

At level stablehlo two engines round differently: ``engine(original, proposal)`` picks one for both, to be put into
``Checks.engine``.
"""
from __future__ import annotations

from typing import Any

from kc import lazy

_EXPORTS = {
    "Call": "kc.agents.execution.calls:Call",
    "Checks": "kc.agents.execution.calls:Checks",
    "ExecutionError": "kc.agents.execution.errors:ExecutionError",
    "Fault": "kc.agents.execution.calls:Fault",
    "Finding": "kc.agents.execution.calls:Finding",
    "Outcome": "kc.agents.execution.calls:Outcome",
    "engine": "kc.agents.execution.graph:engine",
    "run": "kc.agents.execution.runner:run",
}


def __getattr__(name: str) -> Any:
    return lazy.load(__name__, _EXPORTS, name)


def __dir__() -> list[str]:
    return lazy.names(__name__, _EXPORTS)
