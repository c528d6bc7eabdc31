"""Diagnostics: located messages with carets, from MLIR and from kc alike, in one stream.

MLIR's Python bindings can emit errors only, and lose them in several ways (a Python exception drops them). kc keeps
its own stream: a ``DiagnosticSink`` collects what MLIR's handler sees and what kc emits, in order.
"""
from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Union

from kc.record import Record

if TYPE_CHECKING:
    from kc.bindings import ir

    Located = Union[ir.Location, ir.Operation, ir.OpView, ir.Value, ir.Module]


class Location(Record):
    """A place in a source file.

    ``line`` and ``col`` count from one (0: the file as a whole); ``file`` is ``-`` for text that has no name.
    """

    file: str
    line: int
    col: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.col}" if self.line else self.file


class Diagnostic(Record):
    """One message: ``severity`` is ``error``, ``warning``, ``remark`` or ``note``; notes hang below their message."""

    severity: str
    location: Location | None
    message: str
    notes: tuple[Diagnostic, ...] = ()

    def __str__(self) -> str:
        return render(self)


class DiagnosticSink:
    """Collects diagnostics in order.

    ``sources`` maps file names to text that is not on disk, for carets; ``rename`` maps the file names that locations
    carry to those to show (text parsed by MLIR carries ``-``); ``on_emit`` is called with each diagnostic as it comes.
    """

    def __init__(
        self,
        sources: Mapping[str, str] | None = None,
        on_emit: Callable[[Diagnostic], None] | None = None,
        rename: Mapping[str, str] | None = None,
    ) -> None:
        self.diagnostics: list[Diagnostic] = []
        self.sources: dict[str, str] = dict(sources or {})
        self.rename: dict[str, str] = dict(rename or {})
        self._on_emit = on_emit

    def emit(self, diagnostic: Diagnostic) -> None:
        """Take one diagnostic."""
        if self.rename:
            diagnostic = _renamed(diagnostic, self.rename)
        self.diagnostics.append(diagnostic)
        if self._on_emit is not None:
            self._on_emit(diagnostic)

    def count(self, severity: str) -> int:
        """How many diagnostics of this severity came so far."""
        return sum(d.severity == severity for d in self.diagnostics)


def location_of(where: Located | Location | None) -> Location | None:
    """The file position of an op, value, module or MLIR location.

    Of a call-site location the callee counts, of a name its child, of a fused location the first part that has a
    position: MLIR's own rule. None when there is none.
    """
    if where is None or isinstance(where, Location):
        return where
    loc: Any = where
    if hasattr(loc, "owner") and hasattr(loc, "type"):  # a Value: its own location, kept by op or block argument
        loc = loc.location if hasattr(loc, "location") else loc.owner.location
    elif not hasattr(loc, "emit_error"):
        loc = loc.operation.location
    return _position(loc)


def _position(loc: Any) -> Location | None:
    from kc.bindings import ir

    if isinstance(loc, ir.FileLineColLoc):
        return Location(str(loc.filename).strip('"'), loc.start_line, loc.start_col)
    if isinstance(loc, ir.CallSiteLoc):
        return _position(loc.callee) or _position(loc.caller)
    if isinstance(loc, ir.NameLoc):
        return _position(loc.child_loc)
    if isinstance(loc, ir.FusedLoc):
        return next((p for p in map(_position, loc.locations) if p is not None), None)
    return None


def from_mlir(diagnostic: ir.Diagnostic) -> Diagnostic:
    """Copy a diagnostic out of MLIR (it is only valid inside the handler)."""
    notes = tuple(map(from_mlir, diagnostic.notes))
    try:
        message = diagnostic.message
    except (RuntimeError, UnicodeDecodeError):  # damaged bytecode can name an op in bytes that are no UTF-8
        message = "a message that is not UTF-8"
    return Diagnostic(diagnostic.severity.name.lower(), _position(diagnostic.location), message, notes)


def _renamed(diagnostic: Diagnostic, rename: Mapping[str, str]) -> Diagnostic:
    place = diagnostic.location
    if place is not None and place.file in rename:
        place = place.replace(file=rename[place.file])
    notes = tuple(_renamed(note, rename) for note in diagnostic.notes)
    return Diagnostic(diagnostic.severity, place, diagnostic.message, notes)


@contextlib.contextmanager
def capture(context: ir.Context, sink: DiagnosticSink | None = None) -> Iterator[DiagnosticSink]:
    """Send every diagnostic that MLIR emits in ``context`` to ``sink`` while the block runs.

    The sink learns the sources that were parsed in the context.
    """
    target = DiagnosticSink() if sink is None else sink
    from kc.context import sources_of

    for name, text in sources_of(context).items():
        target.sources.setdefault(name, text)
    shown_name = getattr(context, "__dict__", {}).get("kc_source_name", "-")
    if shown_name != "-":
        target.rename.setdefault("-", shown_name)

    def handle(diagnostic: ir.Diagnostic) -> bool:
        target.emit(from_mlir(diagnostic))
        return True

    before = context.emit_error_diagnostics
    context.emit_error_diagnostics = True
    handler = context.attach_diagnostic_handler(handle)
    try:
        yield target
    finally:
        handler.detach()
        context.emit_error_diagnostics = before


def render(diagnostic: Diagnostic, sources: Mapping[str, str] | None = None) -> str:
    """``file:line:col: severity: message``, the source line and a caret, then the notes in the same form.

    ``sources`` maps file names to their text; a file that is not in it is read from disk.
    """
    place = diagnostic.location
    head = f"{place if place else '<unknown>:0'}: {diagnostic.severity}: {diagnostic.message}"
    line = None if place is None else _source_line(place, sources or {})
    parts = [head] if place is None or line is None else [head, _with_caret(line, place.col)]
    parts.extend(render(note, sources) for note in diagnostic.notes)
    return "\n".join(parts)


def print_diagnostic(diagnostic: Diagnostic, sources: Mapping[str, str] | None = None) -> None:
    """Show one on stderr at once."""
    sys.stderr.write(render(diagnostic, sources) + "\n")
    sys.stderr.flush()


_WIDTH = 160


def _with_caret(line: str, col: int) -> str:
    """The line and a caret below column ``col``; of a very long line (a printed constant) the part around it."""
    start = 0
    if len(line) > _WIDTH:
        start = max(0, min(col - 1 - _WIDTH // 2, len(line) - _WIDTH))
        line = ("…" if start else "") + line[start : start + _WIDTH] + ("…" if start + _WIDTH < len(line) else "")
        col += 1 if start else 0
    pad = "".join("\t" if c == "\t" else " " for c in line[: max(0, col - 1 - start)])
    return f"{line}\n{pad}^"


def _source_line(place: Location, sources: Mapping[str, str]) -> str | None:
    """The line of text at ``place``; None when the text cannot be had or is not text."""
    text = sources.get(place.file)
    if text is None:
        text = _read_text(place.file)
    if text is None or place.line < 1:
        return None
    lines = text.split("\n", place.line)
    return lines[place.line - 1].rstrip("\r") if len(lines) >= place.line else None


def _read_text(path: str) -> str | None:
    try:
        if not os.path.isfile(path) or os.path.getsize(path) > 64 << 20:
            return None
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError, ValueError):
        return None
