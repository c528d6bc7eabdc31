"""MLIR's textual pass pipelines as a tree with positions, and pass options as key/value pairs.

    pipeline := element (',' element)*
    element  := name options? | anchor '(' pipeline? ')'
    options  := '{' balanced text '}'

A leaf keeps its options as text: MLIR parses those of native passes. Nothing here imports MLIR.
"""
from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import NoReturn, Union

from kc.errors import PipelineError
from kc.record import Record


class Leaf(Record):
    """One pass: ``options`` is the text between the braces (without them), None when there are no braces."""

    name: str
    options: str | None
    start: int
    options_start: int
    end: int

    @property
    def text(self) -> str:
        return self.name if self.options is None else f"{self.name}{{{self.options}}}"


class Nest(Record):
    """``anchor(body)``: the body runs on every op named ``anchor`` directly inside the enclosing one."""

    anchor: str
    body: tuple[Element, ...]
    start: int
    end: int

    @property
    def text(self) -> str:
        return f"{self.anchor}({','.join(e.text for e in self.body)})"


Element = Union[Leaf, Nest]


class Option(Record):
    """``key=value`` or a bare ``key`` (value None) with the positions of both in the pipeline text."""

    key: str
    value: str | None
    start: int
    value_start: int


_NAME = re.compile(r"[A-Za-z_][\w.\-]*")
_KEY = r"[\w\-.]+"  # compiled when first used: most pipelines have no options
_PAIRS = {"{": "}", "[": "]", "(": ")"}


@functools.lru_cache(maxsize=512)
def parse_pipeline(text: str) -> Nest:
    """Parse a whole pipeline, which must be one anchored group such as ``builtin.module(canonicalize,cse)``.

    Raises PipelineError with a caret at the first mistake. A tree is immutable and kept: compilations run the same few
    texts over and over.
    """
    elements = parse_elements(text)
    if len(elements) == 1 and isinstance(elements[0], Nest):
        return elements[0]
    where = elements[0].start if elements else 0
    raise PipelineError(text, where, "a pipeline must be wrapped in the op it runs on, for example builtin.module(...)")


def parse_elements(text: str) -> tuple[Element, ...]:
    """Parse a comma-separated list of elements without an anchor around it; empty text is an empty list."""
    parser = _Parser(text)
    elements = parser.elements(closing=False)
    return elements


def leaves(element: Element) -> Iterator[Leaf]:
    """All passes of ``element`` in order."""
    if isinstance(element, Leaf):
        yield element
    else:
        for child in element.body:
            yield from leaves(child)


class _Parser:
    def __init__(self, text: str):
        self.text, self.at = text, 0

    def fail(self, position: int, message: str) -> NoReturn:
        raise PipelineError(self.text, position, message)

    def peek(self) -> str:
        while self.at < len(self.text) and self.text[self.at].isspace():
            self.at += 1
        return self.text[self.at] if self.at < len(self.text) else ""

    def elements(self, closing: bool) -> tuple[Element, ...]:
        found: list[Element] = []
        if self.peek() in ("", ")") and (closing or self.peek() == ""):
            return ()
        while True:
            found.append(self.element())
            following = self.peek()
            if following == "" or (following == ")" and closing):
                return tuple(found)
            if following != ",":
                self.fail(self.at, "this ')' closes nothing" if following == ")" else "expected ',' here")
            self.at += 1

    def element(self) -> Element:
        self.peek()
        match = _NAME.match(self.text, self.at)
        if not match:
            self.fail(self.at, "expected the name of a pass or of an op here")
        name, start = match.group(), match.start()
        self.at = match.end()
        following = self.peek()
        if following == "(":
            opened = self.at
            self.at += 1
            body = self.elements(closing=True)
            if self.peek() != ")":
                self.fail(opened, "this '(' is never closed")
            self.at += 1
            return Nest(name, body, start, self.at)
        if following == "{":
            opened = self.at
            self.at = _skip_balanced(self.text, opened)
            if self.at < 0:
                self.fail(opened, "this '{' is never closed")
            return Leaf(name, self.text[opened + 1 : self.at - 1], start, opened + 1, self.at)
        return Leaf(name, None, start, match.end(), match.end())


def _skip_balanced(text: str, start: int) -> int:
    """The position after the bracket that closes the one at ``start``; -1 when there is none. Quotes are respected."""
    stack, quote, i = [], "", start
    while i < len(text):
        c = text[i]
        if quote:
            if c == "\\":
                i += 1
            elif c == quote:
                quote = ""
        elif c in "'\"":
            quote = c
        elif c in _PAIRS:
            stack.append(_PAIRS[c])
        elif stack and c == stack[-1]:
            stack.pop()
            if not stack:
                return i + 1
        i += 1
    return -1


def parse_options(text: str, start: int, end: int) -> list[Option]:
    """Split the options in ``text[start:end]`` into key/value pairs.

    Values may be quoted, and may hold balanced brackets; commas inside a value belong to it. Raises PipelineError.
    """
    found: list[Option] = []
    at = start
    while True:
        while at < end and text[at].isspace():
            at += 1
        if at >= end:
            return found
        match = re.compile(_KEY).match(text, at, end)
        if not match:
            raise PipelineError(text, at, "expected an option, key=value")
        at = match.end()
        if at >= end or text[at] != "=":
            found.append(Option(match.group(), None, match.start(), match.start()))
            continue
        at += 1
        value_start = at
        while at < end and not text[at].isspace():
            if text[at] in _PAIRS:
                closed = _skip_balanced(text, at)
                if closed < 0 or closed > end:
                    raise PipelineError(text, at, f"this '{text[at]}' is never closed")
                at = closed
            elif text[at] in "'\"":
                closed = text.find(text[at], at + 1, end)
                if closed < 0:
                    raise PipelineError(text, at, "this quote is never closed")
                at = closed + 1
            else:
                at += 1
        found.append(Option(match.group(), _unwrap(text[value_start:at]), match.start(), value_start))


def _unwrap(value: str) -> str:
    """A value without the quotes or braces that wrap all of it."""
    if len(value) >= 2 and value[0] in "'\"" and value.find(value[0], 1) == len(value) - 1:
        return value[1:-1]
    if value.startswith("{") and _skip_balanced(value, 0) == len(value):
        return value[1:-1]
    return value
