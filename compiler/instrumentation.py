"""Hooks around every pass, native or Python, and the IR printer built on them.

The pass manager calls each ``Instrumentation`` before and after each pass. Timing, statistics and reproducers are in
``timing``, ``pass_statistics`` and ``reproducer``.
"""
from __future__ import annotations

import hashlib
import io
import os
import sys
from collections.abc import Collection
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

from kc.errors import InputError

if TYPE_CHECKING:
    from kc.bindings import ir
    from kc.pipeline_text import Leaf, Nest


class PassEvent(NamedTuple):
    """One run of one pass on one op."""

    leaf: Leaf
    #: class name of a Python pass; a native pass has only its argument
    title: str
    op: ir.Operation
    root: ir.Operation
    #: the groups around the pass, outermost first; the first is the pipeline's own anchor
    nests: tuple[Nest, ...]
    #: what a Python pass counted with ``PassContext.count``: name -> number
    counts: dict[str, int]

    def pipeline(self) -> str:
        """A pipeline that runs just this pass at its place, such as ``builtin.module(func.func(cse))``."""
        text = self.leaf.text
        for nest in reversed(self.nests):
            text = f"{nest.anchor}({text})"
        return text


class Instrumentation:
    """Base of what can watch a pass manager; each method does nothing here."""

    def should_run(self, event: PassEvent) -> bool:
        """Whether the pass runs; one False among all instrumentations skips it, and nothing else is called for it."""
        return True

    def before_pass(self, event: PassEvent) -> None:
        """Called before the pass runs."""

    def after_pass(self, event: PassEvent) -> None:
        """Called after the pass ran and its result verified."""

    def after_failure(self, event: PassEvent, error: BaseException) -> None:
        """Called when the pass raised, failed, or left IR that does not verify."""


class BisectLimit(Instrumentation):
    """Runs the first ``limit`` passes (a pass counts once per op) and skips the rest; says each decision on ``stream``.

    With the last limit at which a compilation is right, and the first at which it is wrong, the culprit is known.
    """

    def __init__(self, limit: int, stream: TextIO | None = None):
        self.limit, self.count, self._stream = limit, 0, stream

    def should_run(self, event: PassEvent) -> bool:
        self.count += 1
        runs = self.count <= self.limit
        symbol = _symbol(event.op)
        where = event.op.name + (f" @{symbol}" if symbol else "")
        stream = sys.stderr if self._stream is None else self._stream
        verb = "running" if runs else "NOT running"
        stream.write(f"BISECT: {verb} pass ({self.count}) {event.leaf.text} on {where}\n")
        return runs


class AsmOptions(NamedTuple):
    """How IR is printed; the fields are those of ``ir.Operation.get_asm``."""

    large_elements_limit: int | None = None
    large_resource_limit: int | None = None
    enable_debug_info: bool = False
    pretty_debug_info: bool = False
    print_generic_op_form: bool = False
    use_local_scope: bool = False
    use_name_loc_as_prefix: bool = False

    def text(self, op: ir.Operation, **changes: Any) -> str:
        """``op`` as text, without a newline at the end."""
        shown = op.get_asm(**{**self._asdict(), **changes})
        return str(shown).rstrip("\n")


class IRPrinter(Instrumentation):
    """Prints IR before and after passes, as ``mlir-opt``'s ``--mlir-print-ir-*`` options say.

    ``before`` and ``after`` are collections of pass names, or True for all passes. With ``only_changed``, IR is printed
    after a pass only if the pass changed it; with ``only_failure``, only after a pass that failed. ``module_scope``
    prints the whole module instead of the op the pass ran on. With ``tree_dir``, each dump goes to a file of its own
    in a tree of folders that mirrors the nesting of ops, instead of to ``stream``.
    """

    def __init__(
        self,
        *,
        before: Collection[str] | bool = False,
        after: Collection[str] | bool = False,
        only_changed: bool = False,
        only_failure: bool = False,
        module_scope: bool = False,
        tree_dir: str | None = None,
        asm: AsmOptions | None = None,
        stream: TextIO | None = None,
    ):
        self.before, self.after = before, after
        self.only_changed, self.only_failure, self.module_scope = only_changed, only_failure, module_scope
        self.tree_dir, self.asm, self._stream = tree_dir, asm or AsmOptions(), stream
        self._fingerprint: bytes | None = None
        self._counters: dict[tuple[str, ...], int] = {}

    def before_pass(self, event: PassEvent) -> None:
        if _selects(self.before, event.leaf.name):
            self._dump("Before", event, "")
        if self.only_changed and _selects(self.after, event.leaf.name):
            self._fingerprint = fingerprint(event.op)

    def after_pass(self, event: PassEvent) -> None:
        if self.only_failure or not _selects(self.after, event.leaf.name):
            return
        if self.only_changed and fingerprint(event.op) == self._fingerprint:
            return
        self._dump("After", event, "")

    def after_failure(self, event: PassEvent, error: BaseException) -> None:
        if self.only_failure or _selects(self.after, event.leaf.name):
            self._dump("After", event, " Failed")

    def _dump(self, when: str, event: PassEvent, failed: str) -> None:
        head = f"// -----// IR Dump {when} {event.title}{failed} ({event.leaf.name})"
        if self.module_scope:
            symbol = _symbol(event.op)
            head += f" ('{event.op.name}' operation{f': @{symbol}' if symbol else ''})"
            body = self.asm.text(event.root)
        else:
            local = {"use_local_scope": True} if event.op != event.root else {}
            body = self.asm.text(event.op, **local)
        text = f"{head} //----- //\n{body}\n\n"
        if self.tree_dir is not None:
            self._write(event, text)
            return
        stream = sys.stderr if self._stream is None else self._stream
        stream.write(text)
        stream.flush()

    def _write(self, event: PassEvent, text: str) -> None:
        """Write one dump to ``<tree_dir>/<op>_<symbol>/…/<count>_<pass>.mlir``."""
        folders: list[str] = []
        op: Any = event.op
        while op is not None:
            operation = op.operation
            folders.append(f"{operation.name.replace('.', '_')}_{_symbol(operation) or 'no-symbol-name'}")
            op = operation.parent
        path = tuple(reversed(folders))
        self._counters[path] = self._counters.get(path, -1) + 1
        counts = "_".join(str(self._counters.get(path[: i + 1], 0)) for i in range(len(path)))
        folder = os.path.join(str(self.tree_dir), *(_file_name(part) for part in path))
        try:
            os.makedirs(folder, exist_ok=True)
            with open(os.path.join(folder, f"{counts}_{event.leaf.name}.mlir"), "w", encoding="utf-8") as file:
                file.write(text)
        except OSError as error:
            raise InputError(f"cannot write IR into '{self.tree_dir}': {error.strerror}") from None


def fingerprint(op: ir.Operation) -> bytes:
    """A hash of ``op`` that changes when anything in it (locations too) does."""
    buffer = io.BytesIO()
    op.write_bytecode(buffer)
    return hashlib.blake2b(buffer.getvalue(), digest_size=16).digest()


def _selects(chosen: Collection[str] | bool, name: str) -> bool:
    return chosen if isinstance(chosen, bool) else name in chosen


def _symbol(op: ir.Operation) -> str | None:
    return str(op.attributes["sym_name"]).strip('"') if "sym_name" in op.attributes else None


def _file_name(part: str) -> str:
    """A symbol may hold any character; a folder's name must not hold a slash, nor be endless."""
    return "".join(c if c.isalnum() or c in "_-.$" else "_" for c in part)[:120]
