"""Diagnostics: located messages with carets, from MLIR and from kc alike, in one stream.

MLIR's Python bindings can emit errors only, and lose them in several ways (a Python exception drops them). kc keeps
its own stream: a ``DiagnosticSink`` collects what MLIR's handler sees and what kc emits, in order.
"""
from __future__ import annotations

import contextlib
import os
import sys
from typing import TYPE_CHECKING, Any, Callable, Iterator, Mapping, NamedTuple, Sequence, Union

if TYPE_CHECKING:
    from kc.bindings import ir

    Located = Union[ir.Location, ir.Operation, ir.OpView, ir.Value, ir.Module]


class Location(NamedTuple):
    """A place in a source file; ``line`` and ``col`` count from one, ``file`` is ``-`` for text that has no name."""

    file: str
    line: int
    col: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.col}"


class Diagnostic(NamedTuple):
    """One message: ``severity`` is ``error``, ``warning``, ``remark`` or ``note``; notes hang below their message."""

    severity: str
    location: Location | None
    message: str
    notes: tuple[Diagnostic, ...] = ()

    def __str__(self) -> str:
        return render(self)


class DiagnosticSink:
    """Collects diagnostics in order.

    ``sources`` maps file names to text that is not on disk, for carets; ``on_emit`` is called with each one as it comes.
    """

    def __init__(
        self, sources: Mapping[str, str] | None = None, on_emit: Callable[[Diagnostic], None] | None = None
    ) -> None:
        self.diagnostics: list[Diagnostic] = []
        self.sources: dict[str, str] = dict(sources or {})
        self._on_emit = on_emit

    def emit(self, diagnostic: Diagnostic) -> None:
        """Take one diagnostic."""
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


def from_mlir(diagnostic: ir.Diagnostic, rename: Mapping[str, str] | None = None) -> Diagnostic:
    """Copy a diagnostic out of MLIR (it is only valid inside the handler); ``rename`` maps file names."""
    place = _position(diagnostic.location)
    if place is not None and rename and place.file in rename:
        place = place._replace(file=rename[place.file])
    notes = tuple(from_mlir(n, rename) for n in diagnostic.notes)
    return Diagnostic(diagnostic.severity.name.lower(), place, diagnostic.message, notes)


@contextlib.contextmanager
def capture(
    context: ir.Context, sink: DiagnosticSink | None = None, rename: Mapping[str, str] | None = None
) -> Iterator[DiagnosticSink]:
    """Send every diagnostic that MLIR emits in ``context`` to ``sink`` while the block runs."""
    target = DiagnosticSink() if sink is None else sink

    def handle(diagnostic: ir.Diagnostic) -> bool:
        target.emit(from_mlir(diagnostic, rename))
        return True

    before = context.emit_error_diagnostics
    context.emit_error_diagnostics = True
    handler = context.attach_diagnostic_handler(handle)
    try:
        yield target
    finally:
        handler.detach()
        context.emit_error_diagnostics = before


def render(diagnostic: Diagnostic, sources: Mapping[str, str] | str | None = None) -> str:
    """``file:line:col: severity: message``, the source line and a caret, then the notes in the same form.

    ``sources`` maps file names to their text (or is the text itself); a file that is not in it is read from disk.
    """
    place = diagnostic.location
    head = f"{place if place else '<unknown>:0'}: {diagnostic.severity}: {diagnostic.message}"
    parts = [head]
    line = None if place is None else _source_line(place, sources)
    if place is not None and line is not None:
        pad = "".join("\t" if c == "\t" else " " for c in line[: place.col - 1])
        parts.append(f"{line}\n{pad}^")
    parts.extend(render(note, sources) for note in diagnostic.notes)
    return "\n".join(parts)


def render_all(diagnostics: Sequence[Diagnostic], sources: Mapping[str, str] | str | None = None) -> str:
    """All of them, one after the other."""
    return "\n".join(render(d, sources) for d in diagnostics)


def print_diagnostic(diagnostic: Diagnostic, sources: Mapping[str, str] | str | None = None) -> None:
    """Show one on stderr at once."""
    sys.stderr.write(render(diagnostic, sources) + "\n")
    sys.stderr.flush()


def _source_line(place: Location, sources: Mapping[str, str] | str | None) -> str | None:
    """The line of text at ``place``; None when the text cannot be had or is not text."""
    text: str | None
    if isinstance(sources, str):
        text = sources
    else:
        text = (sources or {}).get(place.file)
        if text is None:
            text = _read_text(place.file)
    if text is None or place.line < 1:
        return None
    lines = text.split("\n")
    if place.line > len(lines):
        return None
    line = lines[place.line - 1].rstrip("\r")
    return line if len(line) <= 400 and line.isprintable() or "\t" in line else None


def _read_text(path: str) -> str | None:
    try:
        if not os.path.isfile(path) or os.path.getsize(path) > 64 << 20:
            return None
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError, ValueError):
        return None
