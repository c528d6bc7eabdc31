"""Which agents can be named: kc's own, those of entry points, those of this process."""
from __future__ import annotations

import importlib
from collections.abc import Iterator
from importlib.metadata import entry_points

from kc.agents.base import ENTRY_POINT_GROUP, Agent, registered
from kc.agents.builtin import BUILTIN


def lines() -> Iterator[str]:
    """One line for each: name, levels, where it comes from, first line of its documentation."""
    for name, path in sorted(BUILTIN.items()):
        yield _line(name, "kc", *_look(path))
    for point in sorted(entry_points(group=ENTRY_POINT_GROUP), key=lambda p: p.name):
        yield _line(point.name, point.dist.name if point.dist else "entry point", *_look(point.value))
    for name, agent in sorted(registered().items()):
        yield _line(name, type(agent).__module__, ",".join(agent.levels), agent.__doc__)


def _look(path: str) -> tuple[str, str | None]:
    """(levels, documentation) of what ``module:attribute`` names; what is wrong with it in their place."""
    module, _, attribute = path.partition(":")
    try:
        found = getattr(importlib.import_module(module), attribute)
    except Exception as error:  # somebody else's code: anything may go wrong, and the list goes on
        return "", f"cannot be loaded: {type(error).__name__}: {error}"
    levels = getattr(found, "levels", ())
    if not isinstance(levels, (tuple, list)):  # a field without a default
        levels = ()
    return ",".join(levels), found.__doc__ if found is not Agent else None


def _line(name: str, origin: str, levels: str, documentation: str | None) -> str:
    about = (documentation or "").strip().partition("\n")[0]
    return f"{name:<18} {levels or '-':<18} {origin:<12} {about}".rstrip()
