"""The exceptions of kc. Each carries the diagnostics that explain it; nothing here imports MLIR."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kc.diagnostics import Diagnostic


class KcError(Exception):
    """Base of all errors that kc raises on purpose.

    ``diagnostics`` are in the order in which they were emitted; ``str(error)`` shows the message followed by them,
    with the source lines of ``sources`` (file name -> text) or of the files themselves.
    """

    def __init__(
        self, message: str, diagnostics: Sequence[Diagnostic] = (), *, sources: Mapping[str, str] | None = None
    ):
        super().__init__(message)
        self.message = message
        self.diagnostics: tuple[Diagnostic, ...] = tuple(diagnostics)
        self.sources = dict(sources or {})

    def __str__(self) -> str:
        from kc.diagnostics import render

        shown = [render(d, self.sources) for d in self.diagnostics]
        return "\n".join([self.message, *shown])


class InputError(KcError):
    """The source or an argument that the user gave is wrong: it does not parse, verify, exist or fit."""


class PipelineError(KcError):
    """A pass pipeline's text is wrong. ``text`` is the pipeline, ``position`` the offset that the caret shows.

    ``unknown_pass`` is the name at fault where there is no pass of that name.
    """

    def __init__(self, text: str, position: int, message: str, unknown_pass: str | None = None):
        super().__init__(message)
        self.text, self.position, self.unknown_pass = text, position, unknown_pass

    def __str__(self) -> str:
        return caret(self.text, self.position, "error", self.message)


class CompileError(KcError):
    """A pass or a phase failed. ``pass_name`` names it where it is known; ``is_bug``: it raised by mistake."""

    is_bug = False

    def __init__(
        self,
        message: str,
        diagnostics: Sequence[Diagnostic] = (),
        pass_name: str | None = None,
        *,
        sources: Mapping[str, str] | None = None,
    ):
        super().__init__(message, diagnostics, sources=sources)
        self.pass_name = pass_name


class PassFailure(CompileError):
    """Raised by ``PassContext.error``: the diagnostic is emitted and the pass ends here."""


class UnsupportedError(CompileError):
    """kc cannot do this op or type (yet): the message names the op, its place and the nearest thing that works."""


class LevelError(CompileError):
    """A module does not stand at the level it should: it holds ops or types that are illegal there."""


def caret(text: str, position: int, severity: str, message: str) -> str:
    """``<pipeline>:line:col: error: message`` with the line of ``text`` and a caret below the position."""
    start = text.rfind("\n", 0, position) + 1
    end = text.find("\n", position)
    line = text[start:] if end < 0 else text[start:end]
    row, column = text.count("\n", 0, position) + 1, position - start + 1
    pad = "".join("\t" if c == "\t" else " " for c in line[: column - 1])
    return f"<pipeline>:{row}:{column}: {severity}: {message}\n{line}\n{pad}^"
