"""``--split-input-file``: the parts of a file, each padded so that line numbers stay those of the whole."""
from __future__ import annotations

import re


def split_input(text: str, marker: str) -> list[str]:
    """The parts of ``text`` between lines that start with ``marker``; one part when there is none."""
    parts, at = [], 0
    for match in re.finditer(rf"^{re.escape(marker)}.*\n?", text, re.MULTILINE):
        parts.append("\n" * text.count("\n", 0, at) + text[at : match.start()])
        at = match.end()
    parts.append("\n" * text.count("\n", 0, at) + text[at:])
    return parts
