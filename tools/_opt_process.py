"""The work of kc-opt on one module: parse, run, verify, print."""
from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from kc.context import make_context, parse_module
from kc.diagnostics import DiagnosticSink, print_diagnostic
from kc.errors import CompileError, KcError, PipelineError
from kc.pass_manager import PassManager
from kc.record import Record

if TYPE_CHECKING:
    from kc.bindings import ir
    from kc.instrumentation import Instrumentation
    from kc.pass_run import Verify
    from kc.pass_statistics import PassStatistics
    from kc.reproducer import Recorder
    from kc.timing import Timing


class Job(Record):
    """What is the same for all parts of the input."""

    source_name: str
    pipeline: str | None = None
    flags: Sequence[str] = ()
    allow_unregistered: bool = False
    verify_each: bool = True
    verify_level: str | None = None
    verify_diagnostics: str | None = None
    dump_pipeline: bool = False
    bytecode: bool = False
    bytecode_version: int | None = None
    #: arguments of ``ir.Operation.get_asm`` for the result
    asm: Mapping[str, bool | int] = MappingProxyType({})
    bisect: Instrumentation | None = None
    printer: Instrumentation | None = None
    timing: Timing | None = None
    statistics: PassStatistics | None = None
    recorder: Recorder | None = None
    reproducer_path: str | None = None

    def instrumentations(self) -> list[Instrumentation]:
        """Outermost first: the recorder's and the printer's own time is not counted."""
        every = (self.bisect, self.recorder, self.printer, self.statistics, self.timing)
        return [i for i in every if i is not None]


def process(job: Job, source: str | bytes) -> bytes | None:
    """Run one part of the input; returns the result, None when there is none. Raises on failure.

    With ``verify_diagnostics`` a failure that was expected is none: the call then returns None; raises KcError when
    diagnostics and expectations differ.
    """
    text = source if isinstance(source, str) else None
    rename = {"-": job.source_name}
    if job.verify_diagnostics is None:
        sink = shown = DiagnosticSink(
            {job.source_name: text} if text is not None else {}, lambda d: print_diagnostic(d, shown.sources), rename
        )
        return _run(job, source, sink)
    sink = DiagnosticSink({} if text is None else {job.source_name: text}, None, rename)
    result = None
    try:
        result = _run(job, source, sink)
    except PipelineError:
        raise
    except KcError:
        pass  # its diagnostics are in the sink, to be compared
    from kc.tools._verify_diagnostics import compare

    only_expected = job.verify_diagnostics == "only-expected"
    problems = compare(sink.diagnostics, text or "", job.source_name, only_expected)
    for problem in problems:
        print_diagnostic(problem, sink.sources)
    if problems:
        raise KcError("diagnostics are not as expected", problems)
    return result


def _run(job: Job, source: str | bytes, sink: DiagnosticSink) -> bytes:
    context = make_context(allow_unregistered=job.allow_unregistered)
    with _timed(job, "Parser"):
        module = parse_module(source, context, job.source_name, sink)
    try:
        manager = _manager(job, context)
        if manager is not None:
            if job.dump_pipeline:
                from kc.tools._describe import describe_pipeline

                sys.stderr.write(describe_pipeline(manager) + "\n")
            verify: Verify = "each" if job.verify_each else "never"
            manager.run(module, sink=sink, instrumentations=job.instrumentations(), verify=verify)
        elif job.dump_pipeline:
            sys.stderr.write("Pass Manager with 0 passes:\nbuiltin.module()\n")
        if job.verify_level is not None:
            from kc.levels import verify_level

            verify_level(module, job.verify_level, sink)
    except CompileError as error:
        _after_failure(job, error)
        raise
    with _timed(job, "Output"):
        return _print(job, module)


def _timed(job: Job, name: str) -> contextlib.AbstractContextManager[None]:
    return contextlib.nullcontext() if job.timing is None else job.timing.scope(name)


def _manager(job: Job, context: ir.Context) -> PassManager | None:
    if job.pipeline is not None:
        return PassManager.parse(job.pipeline, context)
    return PassManager.parse_flags(job.flags, context) if job.flags else None


def _after_failure(job: Job, error: CompileError) -> None:
    """Show the traceback of a bug, and write the reproducer."""
    if job.verify_diagnostics is None and error.is_bug and error.__cause__ is not None:
        import traceback

        traceback.print_exception(error.__cause__)
    if job.recorder is not None and job.reproducer_path is not None:
        text = job.recorder.text(error.message)
        if text is not None:
            write_reproducer(job.reproducer_path, text, error.message)


def write_reproducer(path: str, text: str, reason: str) -> None:
    """Write a reproducer and say so; a path that cannot be written is told, and does not hide the failure itself."""
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        sys.stderr.write(f"kc-opt: {reason}; cannot write the reproducer '{path}': {error.strerror}\n")
        return
    sys.stderr.write(f"kc-opt: {reason}; reproducer written to '{path}'\n")


def _print(job: Job, module: ir.Module) -> bytes:
    if job.bytecode:
        buffer = io.BytesIO()
        module.operation.write_bytecode(buffer, desired_version=job.bytecode_version)
        return buffer.getvalue()
    text: bytes = module.operation.get_asm(binary=True, **job.asm)  # type: ignore[assignment]
    return text.rstrip(b"\n") + b"\n"
