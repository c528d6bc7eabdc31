"""Reproducers: the IR before the pass that failed and a pipeline that runs just that pass.

The file is MLIR text that ``kc-opt --run-reproducer`` (and ``mlir-opt``, for native passes) runs as it stands: the
pipeline is in an ``mlir_reproducer`` resource at its end, and readable in a comment at its top.

Native code may abort or crash the process. Then only another process can write the file: ``run_in_child`` runs the
work in a child, where a ``Recorder`` with a spool file leaves the state before each pass for the parent to pick up.
"""
from __future__ import annotations

import io
import os
import re
import signal
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from kc.instrumentation import Instrumentation, PassEvent

if TYPE_CHECKING:
    pass


class Recorder(Instrumentation):
    """Keeps the root op and the pipeline as they were before the pass that runs now.

    ``spool`` is the path of a file that holds the same, for a parent process.
    """

    def __init__(self, spool: str | None = None):
        self.pipeline: str | None = None
        self.bytecode = b""
        self._spool = spool

    def before_pass(self, event: PassEvent) -> None:
        buffer = io.BytesIO()
        event.root.write_bytecode(buffer)
        self.bytecode, self.pipeline = buffer.getvalue(), event.pipeline()
        if self._spool is not None:
            with open(self._spool, "wb") as file:
                file.write(self.pipeline.encode() + b"\0" + self.bytecode)

    def after_pass(self, event: PassEvent) -> None:
        self.pipeline = None
        if self._spool is not None:
            os.truncate(self._spool, 0)

    def text(self, reason: str) -> str | None:
        """The reproducer of the pass that did not come to its end; None when there is none."""
        return None if self.pipeline is None else reproducer_text(self.bytecode, self.pipeline, reason)


def read_spool(path: str, reason: str) -> tuple[str, str] | None:
    """(pipeline, reproducer text) of the pass that ran when the process of ``Recorder(path)`` died, if one did."""
    try:
        with open(path, "rb") as file:
            pipeline, found, bytecode = file.read().partition(b"\0")
    except OSError:
        return None
    if not found:
        return None
    return pipeline.decode(), reproducer_text(bytecode, pipeline.decode(), reason)


def reproducer_text(bytecode: bytes, pipeline: str, reason: str) -> str:
    """The text of a reproducer file for a module (MLIR bytecode), a pipeline, and one line on what went wrong."""
    from kc.bindings import ir
    from kc.context import load_mentioned_dialects, make_context

    context = make_context(allow_unregistered=True)
    load_mentioned_dialects(context, bytecode)
    body = ir.Module.parse(bytecode, context=context).operation.get_asm(enable_debug_info=True).rstrip()
    quoted = pipeline.replace("\\", "\\\\").replace('"', '\\"')
    resource = (
        f'  external_resources: {{\n    mlir_reproducer: {{\n      pipeline: "{quoted}",\n'
        "      disable_threading: true,\n      verify_each: true\n    }\n  }\n#-}\n"
    )
    if body.endswith("#-}"):  # the module has dialect resources: one section holds both
        body = body[: -len("#-}")].rstrip() + ",\n" + resource
    else:
        body += "\n\n{-#\n" + resource
    head = f"// {reason.splitlines()[0] if reason else 'reproducer'}\n// configuration: --pass-pipeline='{pipeline}'\n"
    return f"{head}{body}"


_PIPELINE = re.compile(r'mlir_reproducer\s*:\s*\{[^}]*?pipeline\s*:\s*"((?:[^"\\]|\\.)*)"', re.DOTALL)
_VERIFY = re.compile(r"mlir_reproducer\s*:\s*\{.*?verify_each\s*:\s*(true|false)", re.DOTALL)
_SECTION = re.compile(
    r'(,\s*)?external_resources\s*:\s*\{\s*mlir_reproducer\s*:\s*\{(?:"(?:[^"\\]|\\.)*"|[^}"])*\}\s*\}\s*(?=#-\})'
)
_COMMENT = re.compile(r"^// configuration: --pass-pipeline='(.*)'", re.MULTILINE)


def read_reproducer(text: str) -> tuple[str, bool] | None:
    """(pipeline, verify each) of a reproducer file made by kc or by ``mlir-opt``; None when it holds no pipeline."""
    match = _PIPELINE.search(text)
    if match:
        verify = _VERIFY.search(text)
        pipeline = re.sub(r"\\(.)", r"\1", match.group(1))
        return pipeline, verify is None or verify.group(1) == "true"
    match = _COMMENT.search(text)
    return (match.group(1), True) if match else None


def strip_reproducer(text: str) -> str:
    """``text`` without its ``mlir_reproducer`` resource, about which MLIR's parser would warn."""
    return re.sub(r"\{-#\s*#-\}", "", _SECTION.sub("", text))


def run_in_child(work: Callable[[], int]) -> int:
    """Run ``work`` in a forked child and return its exit code, or minus the number of the signal that killed it.

    For single-threaded processes: of several threads only the calling one lives on in the child.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        code = 70
        try:
            import resource

            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a crash is expected here: no core dump
            code = work()
        except BaseException:
            import traceback

            traceback.print_exc()
        finally:
            try:
                sys.stdout.flush()
                sys.stderr.flush()
            finally:
                os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def signal_name(number: int) -> str:
    """``SIGSEGV`` for 11 and so on."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
