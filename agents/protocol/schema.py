"""The protocol as JSON Schema (2020-12), made from the dataclasses of ``kc.agents.protocol`` and the comments on their
fields; published as ``docs/agents/protocol.schema.json`` by ``python -m kc.tools.docs_agents``.
"""
from __future__ import annotations

import ast
import dataclasses
import inspect
import textwrap
import types
import typing
from typing import Any, Literal

from kc.agents.protocol import NEEDS, NON_FINITE, VERSION, Observation, Proposal, Verdict

DIALECT = "https://json-schema.org/draft/2020-12/schema"
MESSAGES: tuple[type, ...] = (Observation, Proposal, Verdict)


def schema() -> dict[str, Any]:
    """The schema of all messages: each is a definition in ``$defs``, and the whole stands for any of them."""
    return {
        "$schema": DIALECT,
        "$id": f"urn:kc:agents:protocol:{VERSION}",
        "title": "kc agent protocol",
        "description": f"Messages between kc and an agent, version {VERSION}.",
        "anyOf": [{"$ref": f"#/$defs/{cls.__name__}"} for cls in MESSAGES],
        "$defs": {cls.__name__: message_schema(cls) for cls in MESSAGES},
    }


def message_schema(cls: type) -> dict[str, Any]:
    """The schema of one message."""
    kinds, described = typing.get_type_hints(cls), descriptions(cls)
    properties: dict[str, Any] = {}
    required = []
    for field in dataclasses.fields(cls):
        made = _of_type(kinds[field.name])
        if field.name == "version":
            made = {"const": VERSION}
        if described.get(field.name):
            made["description"] = described[field.name]
        default = field.default_factory() if callable(field.default_factory) else field.default
        if default is dataclasses.MISSING:
            required.append(field.name)
        else:
            made["default"] = list(default) if isinstance(default, tuple) else default
        properties[field.name] = made
    made = {
        "type": "object",
        "description": plain(inspect.getdoc(cls) or "").split("\n\n")[0].replace("\n", " "),
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }
    if cls is Proposal:
        made["allOf"] = [_needs(kind, names) for kind, names in NEEDS.items() if names]
    return made


def descriptions(cls: type) -> dict[str, str]:
    """Field -> what the comment ``#:`` above it says."""
    lines = textwrap.dedent(inspect.getsource(cls)).splitlines()
    (body,) = ast.parse("\n".join(lines)).body
    assert isinstance(body, ast.ClassDef)
    found: dict[str, str] = {}
    for statement in body.body:
        if not isinstance(statement, ast.AnnAssign) or not isinstance(statement.target, ast.Name):
            continue
        row = statement.lineno - 2
        words: list[str] = []
        while row >= 0 and lines[row].lstrip().startswith("#:"):
            words.insert(0, lines[row].lstrip()[2:].strip())
            row -= 1
        found[statement.target.id] = plain(" ".join(words))
    return found


def plain(text: str) -> str:
    """Comment text without the marks of reStructuredText."""
    return text.replace("``", "`").strip()


def _of_type(kind: Any) -> dict[str, Any]:
    """The schema of a field's type."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if kind is Any:
        return {}
    if origin in (typing.Union, types.UnionType):
        (inner,) = [a for a in arguments if a is not type(None)]
        made = _of_type(inner)
        if list(made) == ["type"]:
            return {"type": [made["type"], "null"]}
        return {"anyOf": [made, {"type": "null"}]}
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin is tuple:
        return {"type": "array", "items": _of_type(arguments[0])}
    if origin is dict:
        values = _of_type(arguments[1])
        return {"type": "object", **({"additionalProperties": values} if values else {})}
    if kind is float:
        return {"anyOf": [{"type": "number"}, {"enum": list(NON_FINITE)}]}
    return {"type": {str: "string", int: "integer", bool: "boolean"}[kind]}


def _needs(kind: str, names: tuple[str, ...]) -> dict[str, Any]:
    """That a proposal of ``kind`` has at least one of the fields ``names``."""
    given = [{"required": [name], "properties": {name: {"not": {"type": "null"}}}} for name in names]
    return {
        "if": {"properties": {"kind": {"const": kind}}, "required": ["kind"]},
        "then": given[0] if len(given) == 1 else {"anyOf": given},
    }
