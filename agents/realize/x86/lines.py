"""Assembly text (AT&T syntax, as LLVM writes it) as statements."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from kc.agents.realize.realized import RealizeError

#: characters of a text: kc's largest kernels have a tenth of it
MOST = 4 << 20
SYMBOL = r"[A-Za-z_.$][\w.$]*"
_LABEL = re.compile(rf"\s*({SYMBOL}|\d+)\s*:")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_HELD = re.compile(r'"(\d+)"')
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
        plain, strings = _plain(line, number)
        for part in filter(None, (part.strip() for part in plain.split(";"))):
            _read_part(part, number, strings, found)
    return _named(found)


def _plain(line: str, number: int) -> tuple[str, list[str]]:
    """A line without its comment, its strings as ``"0"``, ``"1"`` …, and these strings."""
    strings: list[str] = []
    plain = ""
    for text, is_string in _pieces(line):
        if is_string:
            plain += f'"{len(strings)}"'
            strings.append(text)
        else:
            plain += text
    if "/" in plain:
        raise refuse("parse.asm", number, "comments begin with '#'; there is no other use of '/' here")
    if "'" in plain or "\\" in plain:
        raise refuse("parse.asm", number, "there are no characters in quotes and no backslashes here")
    if plain.count('"') % 2:
        raise refuse("parse.asm", number, "a string does not end on its line")
    return plain, strings


def _pieces(line: str) -> Iterator[tuple[str, bool]]:
    """The parts of a line up to its comment, and whether each is a string."""
    while line:
        string, comment = _STRING.search(line), line.find("#")
        if string is None or 0 <= comment < string.start():
            yield (line if comment < 0 else line[:comment]), False
            return
        yield line[: string.start()], False
        yield string[0], True
        line = line[string.end() :]


def _read_part(part: str, number: int, strings: list[str], found: list[Statement]) -> None:
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
    operands = tuple(_HELD.sub(lambda match: strings[int(match[1])], operand) for operand in _operands(rest, number))
    found.append(Statement(number, kind, name, operands, prefix[1] if prefix else ""))


def _operands(text: str, number: int) -> list[str]:
    """Operands: commas in parentheses do not separate."""
    if not text:
        return []
    found, depth, start = [], 0, 0
    for at, character in enumerate(text):
        if character in "()":
            depth += 1 if character == "(" else -1
        elif character == "," and depth == 0:
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
    lines = [
        "".join(part if is_string else word.sub(new, part) for part, is_string in _pieces(line)).rstrip()
        for line in text.splitlines()
    ]
    return "\n".join([f"\t.hidden\t{new}", *filter(None, lines), ""])
