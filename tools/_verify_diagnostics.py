"""``--verify-diagnostics``: compare the diagnostics of a run with the comments that expect them.

    // expected-error@+1 {{part of the message}}
    // expected-warning@below {{…}}   expected-remark@above {{…}}   expected-note@-2 {{…}}
    // expected-error@unknown {{a message without a place}}
    // expected-error-re@below {{a regular {{expr.*}} in double braces}}
    // expected-error 2 {{a message that comes twice}}

``above`` and ``below`` skip lines that themselves expect something, as in MLIR. A note that nothing expects is fine.
"""
from __future__ import annotations

import re
from typing import NamedTuple

from kc.diagnostics import Diagnostic, Location

_EXPECTED = re.compile(
    r"expected-(?P<severity>error|warning|note|remark)(?P<regex>-re)? *(?:@(?P<at>[+-]\d+|above|below|unknown))? *"
    r"(?P<count>\d+)? *\{\{(?P<text>(?(regex).*|.*?))\}\}"
)
_MAYBE_EXPECTED = re.compile(r"expected-(error|warning|note|remark)")


class Expectation(NamedTuple):
    """One diagnostic that must come; ``line`` is None for an unknown location."""

    severity: str
    line: int | None
    text: str
    pattern: re.Pattern[str] | None
    #: where the comment itself stands
    written: Location

    def matches(self, diagnostic: Diagnostic) -> bool:
        """Whether ``diagnostic`` is what is expected."""
        line = None if diagnostic.location is None else diagnostic.location.line
        if diagnostic.severity != self.severity or line != self.line:
            return False
        if self.pattern is not None:
            return self.pattern.search(diagnostic.message) is not None
        return self.text in diagnostic.message


def expectations(text: str, file: str) -> tuple[list[Expectation], list[Diagnostic]]:
    """What the comments in ``text`` expect, and errors about comments that are malformed."""
    found: list[Expectation] = []
    errors: list[Diagnostic] = []
    lines = text.split("\n")
    expecting = [_MAYBE_EXPECTED.search(line) is not None for line in lines]
    for number, line in enumerate(lines, 1):
        matches = list(_EXPECTED.finditer(line))
        if not matches and expecting[number - 1] and "{{" in line:
            place = Location(file, number, line.index("expected-") + 1)
            errors.append(Diagnostic("error", place, "this expectation is malformed"))
        for match in matches:
            place = Location(file, number, match.start() + 1)
            pattern = None
            if match["regex"]:
                try:
                    pattern = _pattern(match["text"])
                except re.error as error:
                    errors.append(Diagnostic("error", place, f"bad regular expression: {error}"))
                    continue
            wanted = Expectation(
                match["severity"], _line(match["at"], number, expecting), match["text"], pattern, place
            )
            found.extend([wanted] * int(match["count"] or 1))
    return found, errors


def _line(at: str | None, number: int, expecting: list[bool]) -> int | None:
    if at == "unknown":
        return None
    if at == "below":
        return next((i + 1 for i in range(number, len(expecting)) if not expecting[i]), number + 1)
    if at == "above":
        return next((i + 1 for i in range(number - 2, -1, -1) if not expecting[i]), number - 1)
    return number + int(at or 0)


def _pattern(text: str) -> re.Pattern[str]:
    """Plain text with regular expressions between double braces."""
    parts = re.split(r"\{\{(.*?)\}\}", text)
    return re.compile("".join(f"(?:{p})" if i % 2 else re.escape(p) for i, p in enumerate(parts)))


def compare(
    diagnostics: list[Diagnostic], text: str, file: str, only_expected: bool = False
) -> list[Diagnostic]:
    """Errors about what came and was not expected, and what was expected and did not come; empty when all agrees."""
    wanted, problems = expectations(text, file)
    flat = [(d, False) for d in diagnostics] + [(n, True) for d in diagnostics for n in d.notes]
    for diagnostic, is_note in flat:
        match = next((w for w in wanted if w.matches(diagnostic)), None)
        if match is not None:
            wanted.remove(match)
        elif not is_note and not only_expected:
            message = f"unexpected {diagnostic.severity}: {diagnostic.message}"
            problems.append(Diagnostic("error", diagnostic.location, message))
    for w in wanted:
        problems.append(Diagnostic("error", w.written, f'expected {w.severity} "{w.text}" was not produced'))
    return problems
