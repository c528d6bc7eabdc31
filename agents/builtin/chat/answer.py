"""Finding the proposal in what a model wrote. It is read as data and never evaluated."""
from __future__ import annotations

import json
import re
from typing import Any

from kc.agents.builtin.chat.endpoints import Reply
from kc.agents.protocol import Proposal, ProtocolError

_FENCE = re.compile(r"^```[ \t]*([\w+-]*)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)


class AnswerError(Exception):
    """An answer that holds no proposal; the text says why, to be told to the model."""


def read(reply: Reply, level: str) -> Proposal:
    """The proposal of an answer: arguments of the tool, else the last fenced block that is JSON or MLIR, else bare
    JSON. ``level``: where a block of MLIR stands. Raises AnswerError.
    """
    if reply.stop == "length":
        raise AnswerError("it was cut at the limit of its length; be shorter")
    if reply.calls:
        return _proposal(_json(reply.calls[-1], "the arguments of 'propose' are"), level)
    blocks = [(kind.lower(), body) for kind, body in _FENCE.findall(reply.text)]
    told = [(kind, body) for kind, body in blocks
            if kind in ("json", "mlir") or (not kind and body.lstrip().startswith(("{", "#", "module", "func.func")))]
    if not told:
        bare = reply.text.strip()
        if bare.startswith("{") and bare.endswith("}"):
            return _proposal(_json(bare, "it is"), level)
        open_fence = "```" in reply.text and not blocks
        raise AnswerError("its fenced block is not closed" if open_fence else "there is no fenced block in it")
    kind, body = told[-1]
    if kind == "json" or (kind != "mlir" and body.lstrip().startswith('{"')):
        return _proposal(_json(body, "the block is"), level)
    if "@main" not in body:
        raise AnswerError("the MLIR in it has no function @main")
    prose = _FENCE.sub("", reply.text).strip()
    return Proposal("replace_ir", ir=body, level=level, rationale=prose[:2000])


def _json(text: str, what: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise AnswerError(f"{what} no valid JSON: {error}") from None


def _proposal(data: Any, level: str) -> Proposal:
    try:
        if isinstance(data, dict) and data.get("kind") == "replace_ir":
            data = {"level": level, **data}
        return Proposal.from_json(data)
    except ProtocolError as error:
        raise AnswerError(f"its proposal is malformed: {error}") from None
