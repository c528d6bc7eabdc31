"""Agents that come with kc, each useful by itself and an example to copy. Nothing is loaded until one is named.

An agent is named as a pass is: ``patterns{rules=mine.py,more.mlir}``, ``schedule-search{seconds=30}``; its options are
the fields of its class.
"""
from __future__ import annotations

import dataclasses
import difflib
import importlib
import importlib.util
import typing
from collections.abc import Sequence
from typing import Any

from kc.agents.base import Agent
from kc.errors import InputError, PipelineError

#: name -> "module:Class", of a dataclass
BUILTIN: dict[str, str] = {
    "algebra": "kc.agents.builtin.algebra:AlgebraAgent",
    "llm": "kc.agents.builtin.llm:LanguageModelAgent",
    "patterns": "kc.agents.builtin.patterns:PatternsAgent",
    "router": "kc.agents.builtin.router:RouterAgent",
    "schedule-search": "kc.agents.builtin.schedule_search:ScheduleSearchAgent",
}


def make(spec: str, levels: Sequence[str] | None = None) -> Agent:
    """The agent that ``spec`` (``name`` or ``name{option=value …}``) names, at ``levels`` or where it works by itself.

    Raises InputError for an unknown name, an unknown option, a value of the wrong type, or when an optional package is
    missing without which the agent can do nothing (``needs`` of the agent: pairs of a package and kc's extra).
    """
    name, brace, rest = spec.strip().partition("{")
    if name not in BUILTIN:
        near = difflib.get_close_matches(name, BUILTIN, 1)
        raise InputError(f"kc has no agent '{name}'; " + (f"did you mean '{near[0]}'?" if near else _known()))
    if brace and not rest.endswith("}"):
        raise InputError(f"the options of agent '{name}' have no closing brace: {spec}")
    module, _, attribute = BUILTIN[name].partition(":")
    cls = getattr(importlib.import_module(module), attribute)
    made: Agent = cls(**_options(cls, rest[:-1] if brace else "", name))
    for package, extra in getattr(made, "needs", ()):
        if importlib.util.find_spec(package) is None:
            raise InputError(f"the agent '{name}' needs the package '{package}': pip install 'kc[{extra}]'")
    if levels:
        made.levels = tuple(levels)
    return made


def _known() -> str:
    return "there are " + ", ".join(BUILTIN)


def _options(cls: Any, text: str, name: str) -> dict[str, Any]:
    """The options in ``text`` as values of the class's fields."""
    from kc.pipeline_text import parse_options

    hints = typing.get_type_hints(cls)
    known = {field.name.replace("_", "-"): hints[field.name] for field in dataclasses.fields(cls)}
    values = {}
    try:
        given = parse_options(text, 0, len(text))
    except PipelineError as error:
        raise InputError(f"options of agent '{name}': {error.message}") from None
    for option in given:
        key = option.key.replace("_", "-")
        if key not in known:
            near = difflib.get_close_matches(key, known, 1)
            hint = f"did you mean '{near[0]}'?" if near else f"it has {', '.join(known)}"
            raise InputError(f"agent '{name}' has no option '{option.key}'; {hint}")
        try:
            values[key.replace("-", "_")] = _value(option.value, known[key])
        except ValueError:
            wants = getattr(known[key], "__name__", str(known[key]))
            raise InputError(f"option '{option.key}' of agent '{name}' wants {wants}, not {option.value!r}") from None
    return values


def _value(text: str | None, kind: Any) -> Any:
    """``text`` as a value of a field's type; raises ValueError."""
    if kind is bool:
        words = {None: True, "true": True, "1": True, "false": False, "0": False}
        if text not in words:
            raise ValueError(text)
        return words[text]
    if text is None:
        raise ValueError(text)
    if kind in (int, float, str):
        return kind(text)
    (element, _) = typing.get_args(kind)  # tuple[T, ...]
    return tuple(_value(part.strip(), element) for part in text.split(",") if part.strip())
