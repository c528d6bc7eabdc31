"""How a compilation gets its session: agents by name, object or function, and the ledger."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kc.agents.base import Agent, FunctionAgent
from kc.agents.ledger import Ledger
from kc.agents.session.session import Session
from kc.api import is_agent
from kc.errors import InputError

if TYPE_CHECKING:
    from kc.bindings import ir
    from kc.pipelines import Phase
    from kc.targets.base import Target

Hook = Callable[..., Any]


def open_session(
    parts: Sequence[Any],
    phases: Sequence[Phase],
    module: ir.Module,
    *,
    target: Target,
    options: Mapping[str, Any],
    entry: str = "main",
    ledger: Any = None,
    mode: str = "ask",
    timing: bool = False,
) -> tuple[list[Hook], Session]:
    """The hooks of a compilation, in order, and the session that is one of them.

    ``parts``: names of agents (as ``--agent`` takes them), ``Agent`` objects, functions of an observation, and
    functions ``(HookPoint, ir.Module)``, which are hooks already. ``ledger``: a path or a ``Ledger``.
    """
    agents: list[Agent] = []
    hooks: list[Hook] = []
    place: int | None = None
    for part in parts:
        made = as_agent(part)
        if made is None:
            hooks.append(part)
            continue
        place = len(hooks) if place is None else place
        agents.append(made)
    if isinstance(ledger, (str, os.PathLike)):
        ledger = Ledger(ledger)
    session = Session(
        agents,
        phases,
        target=target,
        options=options,
        ledger=ledger,
        mode=mode,
        timing=timing,
        program=program_hash(module, target.spec, options),
        name=entry,
    )
    hooks.insert(len(hooks) if place is None else place, session)
    return hooks, session


def as_agent(part: Any) -> Agent | None:
    """``part`` as an agent; None for a hook, a function of two arguments. Raises InputError for anything else."""
    if isinstance(part, str):
        from kc.agents.loading import load

        return load(part)
    if isinstance(part, Agent):
        return part
    if isinstance(part, type) and issubclass(part, Agent):
        return part()
    if hasattr(part, "propose"):
        raise InputError(f"{part!r} has propose() and is no kc.agents.Agent: make its class a subclass of that")
    if not callable(part):
        raise InputError(f"agents are names, kc.agents.Agent objects and functions, not {type(part).__name__}")
    if not is_agent(part):
        return None
    name = getattr(part, "__name__", "function").replace("_", "-").strip("<>")
    return FunctionAgent(part, name=name, levels=("linalg",))


def program_hash(module: ir.Module | ir.Operation, target: str, options: Mapping[str, Any]) -> str:
    """Names a program, target and options in the ledger's builds: 64 hex digits. Locations do not count."""
    told = json.dumps([target, {key: str(value) for key, value in sorted(options.items())}])
    text = module.operation.get_asm(enable_debug_info=False)
    return hashlib.sha256(f"{told}\n{text}".encode()).hexdigest()
