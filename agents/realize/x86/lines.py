"""Assembly text (AT&T syntax, as LLVM writes it) as statements."""

from __future__ import annotations

import re
from typing import NamedTuple

from kc.agents.realize.realized import RealizeError

#: characters of a text: kc's largest kernels have a tenth of it
MOST = 4 << 20
SYMBOL = r"[A-Za-z_.$][\w.$]*"
_LABEL = re.compile(rf"\s*({SYMBOL}|\d+)\s*:")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_PREFIX = re.compile(r"(lock|rep|repe|repz|repne|repnz)\s+(?=[a-z])")
_NUMBERED = re.compile(r"(?<![\w.$%])(\d+)([bf])(?![\w.$])")


class Statement(NamedTuple):
    """One statement: ``kind`` is ``label``, ``directive`` or ``instruction``; ``name`` without a label's colon, in
    lower case but for labels; ``operands`` as text. ``prefix``: ``lock`` or a form of ``rep``."""

    line: int
    kind: str
    name: str
    operands: tuple[str, ...] = ()
    prefix: str = ""

    def __str__(self) -> str:
        return f"line {self.line}: '{' '.join(filter(None, (self.prefix, self.name, ', '.join(self.operands))))[:100]}'"


def refuse(reason: str, where: Statement | int, message: str) -> RealizeError:
    """The error for what is wrong at a place; ``reason``: ``gate.slug``."""
    place = str(where) if isinstance(where, Statement) else f"line {where}"
    return RealizeError(reason.partition(".")[0], reason, f"{place}: {message}")


def read(text: str) -> list[Statement]:
    """The statements of ``text``. Numbered labels (``1:``, ``1b``) get names. Raises RealizeError."""
    if len(text) > MOST:
        raise RealizeError("parse", "parse.size", f"the assembly has {len(text):,} characters; the most is {MOST:,}")
    strange = re.search(r"[^\t\n\r\x20-\x7e]", text)
    if strange is not None:
        place = text.count("\n", 0, strange.start()) + 1
        raise refuse("parse.asm", place, f"character {strange[0]!r} has no place in assembly")
    found: list[Statement] = []
    for number, line in enumerate(text.splitlines(), 1):
        for part in _parts(_plain(line, number), number):
            _read_part(part, number, found)
    return _named(found)


def _plain(line: str, number: int) -> str:
    """A line without its comment. Strings may not have what separates statements or begins comments in them."""
    for match in _STRING.finditer(line):
        if re.search(r"[#;/]", match[0]):
            raise refuse("parse.asm", number, f"a string with '#', ';' or '/' in it is not read here: {match[0][:40]}")
    line = line.partition("#")[0]
    if "/" in line:
        raise refuse("parse.asm", number, "comments begin with '#'; there is no other use of '/' here")
    if line.count('"') % 2:
        raise refuse("parse.asm", number, "a string does not end on its line")
    return line


def _parts(line: str, number: int) -> list[str]:
    parts = [part.strip() for part in line.split(";")]
    return [part for part in parts if part]


def _read_part(part: str, number: int, found: list[Statement]) -> None:
    while (label := _LABEL.match(part)) is not None:
        found.append(Statement(number, "label", label[1]))
        part = part[label.end() :].strip()
    if not part:
        return
    prefix = _PREFIX.match(part.lower())
    if prefix is not None:
        part = part[prefix.end() :]
    word = re.match(r"\.?[A-Za-z][\w.]*(?=\s|$)", part)
    if word is None:
        raise refuse("parse.asm", number, f"this is neither a label, a directive nor an instruction: '{part[:60]}'")
    name, rest = word[0].lower(), part[word.end() :].strip()
    kind = "directive" if name.startswith(".") else "instruction"
    if kind == "directive" and prefix is not None:
        raise refuse("parse.asm", number, "a prefix before a directive")
    found.append(Statement(number, kind, name, tuple(_operands(rest, number)), prefix[1] if prefix else ""))


def _operands(text: str, number: int) -> list[str]:
    """Operands: commas in parentheses and strings do not separate."""
    if not text:
        return []
    found, depth, start, quoted = [], 0, 0, False
    for at, character in enumerate(text):
        if character == '"' and text[at - 1 : at] != "\\":
            quoted = not quoted
        elif not quoted and character in "()":
            depth += 1 if character == "(" else -1
        elif not quoted and character == "," and depth == 0:
            found.append(text[start:at].strip())
            start = at + 1
    if depth:
        raise refuse("parse.asm", number, "parentheses do not match")
    return [*found, text[start:].strip()]


def _named(statements: list[Statement]) -> list[Statement]:
    """Numbered labels and what refers to them with names of their own, that no text can have."""
    seen: dict[str, int] = {}
    found = []
    for statement in statements:
        if statement.kind == "label":
            if statement.name.isdigit():
                seen[statement.name] = seen.get(statement.name, 0) + 1
                statement = statement._replace(name=f"{statement.name}@{seen[statement.name]}")
        elif statement.kind == "instruction" and any(map(_NUMBERED.search, statement.operands)):

            def name(match: re.Match[str]) -> str:
                return f"{match[1]}@{seen.get(match[1], 0) + (match[2] == 'f')}"

            statement = statement._replace(operands=tuple(_NUMBERED.sub(name, o) for o in statement.operands))
        found.append(statement)
    return found


def renamed(text: str, old: str, new: str) -> str:
    """A text that keeps the rules with another name for one of its symbols, which only its program sees."""
    word = re.compile(rf"(?<![\w.$@%]){re.escape(old)}(?![\w.$])")
    lines = [word.sub(new, line.partition("#")[0].rstrip()) for line in text.splitlines()]
    return "\n".join([f"\t.hidden\t{new}", *filter(None, lines), ""])
