"""Agents named in text: ``linalg=file.py:Name``, ``package.module:Name``, or one of the names known here, listed."""

from __future__ import annotations

import copy
import difflib
import importlib
import importlib.util
import os
import re
import sys
from collections.abc import Iterator
from typing import Any

from kc.agents.base import ENTRY_POINT_GROUP, Agent, registered
from kc.errors import InputError


def load(text: str) -> Agent:
    """The agent that ``text`` names: ``NAME`` or ``WHERE=NAME``, WHERE being levels or hook points with commas between.

    NAME: a file and a name in it (``file.py:Name``; without the name, the one agent of the file), a module and a name
    (``package.module:Name``), a folder of rewrites (``kc.agents.export.library``), a command that speaks JSON-RPC
    (``exec:./agent.sh``), an agent registered in this process, one of kc's own with its options
    (``schedule-search{seconds=30}``), or an installed package's entry point in the group ``kc.agents``. A class is
    called without arguments. Raises InputError that says what there is instead.
    """
    where, equals, name = _divide(text)
    levels = tuple(word.strip() for word in where.split(",") if word.strip()) if equals else None
    if not name.strip() or (equals and not levels):
        raise InputError(f"an agent is named as NAME or LEVEL=NAME, not '{text}'")
    agent = _find(name.strip(), levels)
    if levels is not None and tuple(agent.levels) != levels:
        agent = copy.copy(agent)
        agent.levels = levels
    if not agent.name or not agent.levels:
        raise InputError(f"agent '{name}' says no {'name' if not agent.name else 'level'}: name one as LEVEL={name}")
    return agent


def catalogue() -> Iterator[str]:
    """A line for each agent that has a name: that, its levels, where it comes from, the first of its documentation."""
    for name, path in sorted(_builtin().BUILTIN.items()):
        yield _line(name, "kc", *_look(path))
    for _, point in sorted(_entry_points().items()):
        yield _line(point.name, point.dist.name if point.dist else "entry point", *_look(point.value))
    for name, agent in sorted(registered().items()):
        yield _line(name, type(agent).__module__, ",".join(agent.levels), agent.__doc__)


def _divide(text: str) -> tuple[str, str, str]:
    """``WHERE=NAME`` at the first ``=`` that is no part of options or of a path."""
    head = text.partition("{")[0]
    if "=" not in head or text.startswith("exec:"):
        return "", "", text
    where, _, name = text.partition("=")
    return where, "=", name


def _find(name: str, levels: tuple[str, ...] | None) -> Agent:
    if name == "mcp":
        raise InputError(
            "a coding agent is not called, it connects: run `kc mcp PROGRAM --ledger FILE` and let it propose"
        )
    if name.startswith("exec:"):
        from kc.agents.bindings.child import ChildAgent

        return ChildAgent(name[len("exec:") :], levels)
    file = re.fullmatch(r"([^{}]+\.py)(?::(\w+))?", name)
    if file:
        return _from_file(file[1], file[2] or "")
    if name in registered():
        return registered()[name]
    if os.path.isdir(name):
        from kc.agents.export.library import RewriteLibrary

        return RewriteLibrary(name, levels)
    member = re.fullmatch(r"([\w.]+):(\w+)", name)
    if member:
        return _made(_from_module(member[1], member[2]), name)
    bare = name.partition("{")[0]
    builtin = _builtin()
    if bare in builtin.BUILTIN:
        made: Agent = builtin.make(name, levels)
        return made
    found = _entry_points().get(bare)
    if found is not None:
        try:
            return _made(found.load(), name)
        except Exception as error:
            raise InputError(f"agent '{name}' cannot be loaded: {type(error).__name__}: {error}") from error
    known = sorted({*registered(), *builtin.BUILTIN, *_entry_points()})
    near = difflib.get_close_matches(bare, known, 1)
    hint = f"; did you mean '{near[0]}'?" if near else f"; there are {', '.join(known) or 'none'}, and FILE.py:Name"
    raise InputError(f"no agent is named '{bare}'{hint}")


def _from_file(path: str, attribute: str) -> Agent:
    """The agent ``attribute`` of a Python file, which is run; the file's only one when ``attribute`` is empty."""
    if not os.path.isfile(path):
        raise InputError(f"cannot load an agent from '{path}': no such file")
    name = "kc_user_agents_" + "".join(c if c.isalnum() else "_" for c in os.path.abspath(path))
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise InputError(f"'{path}' raised {type(error).__name__} while it was loaded: {error}") from error
    agents = {key: value for key, value in vars(module).items() if _is_agent(value, name)}
    if attribute:
        if not hasattr(module, attribute):
            there = f"there is {', '.join(agents)}" if agents else "there is no agent in it"
            raise InputError(f"'{path}' has no '{attribute}': {there}")
        return _made(getattr(module, attribute), f"{path}:{attribute}")
    if len(agents) != 1:
        there = f"{len(agents)} agents ({', '.join(agents)}): name one as {path}:NAME" if agents else "no agent"
        raise InputError(f"'{path}' holds {there}")
    ((key, value),) = agents.items()
    return _made(value, f"{path}:{key}")


def _is_agent(value: Any, module: str) -> bool:
    if isinstance(value, Agent):
        return True
    return isinstance(value, type) and issubclass(value, Agent) and value.__module__ == module


def _from_module(path: str, attribute: str) -> Any:
    try:
        return getattr(importlib.import_module(path), attribute)
    except ImportError as error:
        raise InputError(f"cannot load an agent from the module '{path}': {error}") from None
    except AttributeError:
        raise InputError(f"the module '{path}' has no '{attribute}'") from None


def _made(value: Any, name: str) -> Agent:
    """``value`` as an agent: an Agent, a class of them, or a function of an observation."""
    if isinstance(value, type) and issubclass(value, Agent):
        try:
            value = value()
        except Exception as error:
            raise InputError(f"{name}() raised {type(error).__name__}: {error}") from error
    if not isinstance(value, Agent):
        from kc.agents.session.opening import as_agent

        made = as_agent(value) if callable(value) else None
        if made is None:
            raise InputError(f"'{name}' is no agent: neither a kc.agents.Agent nor a function of one observation")
        value = made
    if not value.name:
        value.name = type(value).__name__
    return value


def _builtin() -> Any:
    return importlib.import_module("kc.agents.builtin")


def _entry_points() -> dict[str, Any]:
    from importlib.metadata import entry_points

    return {point.name: point for point in entry_points(group=ENTRY_POINT_GROUP)}


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
