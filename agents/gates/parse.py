"""Gates ``parse`` and ``verify``: the IR is MLIR of dialects that kc knows, and obeys their rules."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kc.agents.gates.reasons import Rejection

if TYPE_CHECKING:
    from kc.bindings import ir

#: characters of text beyond which no region is read
LONGEST = 32 << 20

# The parser verifies what it has read and says both in one way; the words of a verifier start with the op.
_VERIFIER = re.compile(
    r"^'[\w$]+\.[\w.$]+' op |does not dominate|must be followed by|redefinition of symbol|symbol .* does not reference"
    r"|^operand #\d+|^type of return operand|^block with no terminator|op (requires|expects|failed)"
)


def parse(text: str, context: ir.Context) -> ir.Module | Rejection:
    """The module, parsed and verified, or why not."""
    from kc.context import parse_module
    from kc.errors import InputError

    if len(text) > LONGEST:
        return Rejection("parse.size", f"the text has {len(text):,} characters; at most {LONGEST:,} are read")
    if "\0" in text:
        return Rejection("parse.syntax", "the text holds a NUL character")
    try:
        module = parse_module(text, context)
    except InputError as error:
        first = error.diagnostics[0] if error.diagnostics else None
        message = str(first).strip() if first is not None else str(error)
        verifier = first is not None and _VERIFIER.search(first.message) is not None
        return Rejection("verify.invalid" if verifier else "parse.syntax", message[:2000])
    if not module.operation.verify():
        return Rejection("verify.invalid", "the module does not verify")
    return module
