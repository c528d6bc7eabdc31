"""Write ``docs/agents/protocol.schema.json`` and ``docs/agents/protocol.md`` from the protocol's dataclasses.

Run as ``python -m kc.tools.docs_agents [FOLDER]`` in the source tree after the protocol was changed.
"""
from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kc.agents.protocol import GATES, VERSION, schema

HEAD = f"""# The protocol between kc and an agent

<!-- Written by `python -m kc.tools.docs_agents`; edit the comments in agents/protocol/messages.py instead. -->

Three messages, all plain JSON, version {VERSION}. [protocol.schema.json](protocol.schema.json) has them as JSON Schema
(2020-12). A reader refuses fields that it does not know, and messages of another version; floats for which JSON has no
number are told as `"NaN"`, `"Infinity"` and `"-Infinity"`.

```python
from kc.agents.protocol import Proposal, ProtocolError, dumps, loads

proposal = loads(Proposal, '{{"kind": "schedule", "knobs": {{"mc": 96}}, "rationale": "a panel that the cache holds"}}')
assert loads(Proposal, dumps(proposal)) == proposal
try:
    loads(Proposal, '{{"kind": "schedule", "konbs": {{"mc": 96}}}}')
except ProtocolError as error:
    print(error)        # konbs: a proposal has no such field; did you mean 'knobs'?
```
"""


def page() -> str:
    """The page as Markdown."""
    parts = [HEAD]
    for cls in schema.MESSAGES:
        doc = schema.plain(inspect.getdoc(cls) or "")
        described = schema.message_schema(cls)
        rows = [
            f"| `{name}` | {_type(property_)} | {_default(property_, name in described['required'])} "
            f"| {_cell(property_.get('description', ''))} |"
            for name, property_ in described["properties"].items()
        ]
        table = ["| field | type | default | meaning |", "| --- | --- | --- | --- |", *rows]
        parts.append(f"## {cls.__name__}\n\n{doc}\n\n" + "\n".join(table) + "\n")
    parts.append(_gates())
    return "\n".join(parts)


def _gates() -> str:
    """The gates in order, and how to have the reason codes."""
    order = " → ".join(f"`{gate}`" for gate in GATES)
    return f"""## Gates and reasons

In order: {order}. The first that rejects ends the turn, and `reason` says which of its rules it was:

```python
from kc.agents.gates import REASONS

for reason, meaning in REASONS.items():
    print(f"{{reason:28}} {{meaning}}")
```
"""


def _type(described: dict[str, Any]) -> str:
    """A property's type in words."""
    if "const" in described:
        return json.dumps(described["const"])
    if "enum" in described:
        return " \\| ".join(f"`{value}`" for value in described["enum"])
    if "anyOf" in described:
        if {"type": "number"} in described["anyOf"]:
            return "number"
        return " \\| ".join(_type(option) for option in described["anyOf"])
    kind = described["type"]
    if isinstance(kind, list):
        return " \\| ".join(kind)
    if kind == "array":
        inner = described["items"]
        return f"array of {_type(inner)}" if inner else "array"
    if kind == "object" and "additionalProperties" in described:
        return f"object of {_type(described['additionalProperties'])}"
    return str(kind)


def _default(described: dict[str, Any], required: bool) -> str:
    return "required" if required else f"`{json.dumps(described['default'])}`"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def files() -> dict[str, str]:
    """Name of a file in ``docs/agents`` -> its text."""
    return {
        "protocol.schema.json": json.dumps(schema.schema(), indent=1, ensure_ascii=False) + "\n",
        "protocol.md": page(),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the files; the exit code is 0."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    folder = Path(given[0] if given else "docs/agents")
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files().items():
        (folder / name).write_text(text, encoding="utf-8")
    sys.stdout.write(f"{folder}: {', '.join(files())}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
