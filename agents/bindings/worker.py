"""The process in which a workbench lives: ``python -m kc.agents.bindings.worker LEDGER [--timing]``.

Requests come in as JSON, one a line: ``id``, ``method`` (of ``Workbench``) and ``params``. Answers go out as lines:
``progress`` (done, total, what) any number of times, then ``id`` with ``result`` or ``error`` (``kind``, ``message``).
Native code may crash this process; whoever asks starts another one (``kc.agents.bindings.remote``).
"""
from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from typing import Any

from kc.agents.bindings.workbench import Workbench
from kc.agents.protocol.json_form import told
from kc.errors import KcError
from kc.runtime.errors import ArgumentError, RuntimeFailure

METHODS = frozenset({
    "load", "status", "levels", "step", "rewind", "regions", "observe", "text", "diff", "explain", "propose", "build",
    "save_ledger", "profile",
})

#: characters of a line, and lines, that the message of an error shows
LINE, LINES = 500, 60


def serve(bench: Workbench, channel: int, line: str) -> None:
    """Answer one request."""
    request = json.loads(line)
    answer: dict[str, Any] = {"id": request["id"]}
    try:
        if request["method"] not in METHODS:
            raise ValueError(f"no method is named '{request['method']}'")
        answer["result"] = told(getattr(bench, request["method"])(**request["params"]))
    except (KcError, ArgumentError, RuntimeFailure) as error:
        answer["error"] = {"kind": type(error).__name__, "message": _cut(str(error))}
    except Exception as error:  # a mistake of kc's: told as such, and the program stands where it stood
        answer["error"] = {"kind": "bug", "message": _cut(f"{type(error).__name__}: {error}")}
    write(channel, answer)


def _cut(message: str) -> str:
    """A message in which no line and not the whole is too long to be read: sources are quoted in it."""
    lines = [s if len(s) <= LINE else f"{s[:LINE]} … ({len(s)} characters)" for s in message.splitlines()]
    if len(lines) > LINES:
        lines = [*lines[:LINES], f"… ({len(lines)} lines)"]
    return "\n".join(lines)


def write(channel: int, message: dict[str, Any]) -> None:
    """Write one line, whole."""
    data = memoryview(json.dumps(message, allow_nan=False).encode() + b"\n")
    while data:
        data = data[os.write(channel, data) :]


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until stdin ends."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    channel = os.dup(1)
    os.dup2(2, 1)  # what native code prints must not come between the answers
    bench = Workbench(
        given[0], "--timing" in given, lambda done, total, what: write(channel, {"progress": [done, total, what]})
    )
    for line in sys.stdin:
        serve(bench, channel, line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
