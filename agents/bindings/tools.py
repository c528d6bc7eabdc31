"""An MCP server that is strict with what its tools are given, and says in kc's own words what is wrong.

The SDK's server ignores arguments that a tool does not have, so a misspelt one would go unnoticed; and of one that is
missing or of the wrong type it passes on what pydantic writes.
"""
from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Mapping
from typing import Any

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import CallToolResult, InputRequiredResult, Tool
from pydantic import ValidationError

#: characters of a wrong value that an error shows
SHOWN = 60

#: types and limits of JSON Schema in words
TYPES = {
    "string": "a string", "object": "a JSON object", "array": "a list", "boolean": "true or false",
    "integer": "an integer", "number": "a number",
}
LIMITS = {
    "minimum": "at least", "exclusiveMinimum": "above", "maximum": "at most", "exclusiveMaximum": "below",
}


class Server(MCPServer[None]):
    """See above."""

    async def list_tools(self) -> list[Tool]:
        """All tools; their schemas allow no arguments but those that are named."""
        return [
            tool.model_copy(update={"input_schema": {**tool.input_schema, "additionalProperties": False}})
            for tool in await super().list_tools()
        ]

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[None, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Call a tool; raises ToolError where there is none of that name or its arguments do not fit its schema."""
        schemas = {tool.name: tool.input_schema for tool in await self.list_tools()}
        if name not in schemas:
            raise ToolError(f"no tool is named '{_short(name)}'{_nearest(name, schemas)}")
        known = schemas[name].get("properties", {})
        for given in arguments:
            if given not in known:
                raise ToolError(f"tool '{name}' has no argument '{_short(given)}'{_nearest(given, known)}")
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            # only the check of the arguments raises from this; in a tool's body it would be a crash
            if not isinstance(error.__cause__, ValidationError):
                raise
            raise ToolError(_told(name, schemas[name], error.__cause__)) from None


def _told(tool: str, schema: Mapping[str, Any], wrong: ValidationError) -> str:
    """What is wrong with a tool's arguments, each in a line of its own."""
    lines = []
    for error in wrong.errors(include_url=False):
        name, *within = (str(part) for part in error["loc"])
        about = schema["properties"][name]
        meaning = "".join(f": {line.rstrip('.:')}" for line in about.get("description", "").splitlines()[:1])
        if error["type"] == "missing":
            lines.append(f"tool '{tool}' needs '{name}'{meaning}")
            continue
        wanted = _one(about)
        for _ in within:
            wanted = _one(wanted.get("additionalProperties") or wanted.get("items") or {})
        path = ".".join([name, *within])
        lines.append(f"tool '{tool}': '{path}' must be {_expected(wanted)}, not {_shown(error['input'])}{meaning}")
    return "\n".join(lines)


def _one(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """``schema`` without the alternative null."""
    kinds = [kind for kind in schema.get("anyOf", ()) if kind.get("type") != "null"]
    return kinds[0] if kinds else schema


def _expected(schema: Mapping[str, Any]) -> str:
    """What a value of ``schema`` is, in words."""
    text = TYPES.get(str(schema.get("type")), "another value")
    values = schema.get("additionalProperties")
    if isinstance(values, Mapping):
        text += f" whose values are each {_expected(_one(values))}"
    limits = [f"{words} {schema[key]}" for key, words in LIMITS.items() if key in schema]
    return ", ".join([text, " and ".join(limits)]) if limits else text


def _shown(value: Any) -> str:
    return _short(json.dumps(value, default=repr, ensure_ascii=False))


def _short(text: str) -> str:
    return text if len(text) <= SHOWN else text[:SHOWN] + "…"


def _nearest(name: str, known: Iterable[str]) -> str:
    names = list(known)
    near = difflib.get_close_matches(name, names, 1)
    return f"; did you mean '{near[0]}'?" if near else f"; known: {', '.join(names)}" if names else "; it takes none"
