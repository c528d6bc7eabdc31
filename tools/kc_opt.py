"""kc-opt: run passes on MLIR, with the options and exit codes of ``mlir-opt``."""
from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from kc.errors import KcError, PipelineError
from kc.tools._opt_options import TABLE, USAGE
from kc.tools._options import Parsed, UsageError, help_text, parse

if TYPE_CHECKING:
    from kc.instrumentation import Instrumentation
    from kc.tools._opt_process import Job

BYTECODE_MAGIC = b"ML\xefR"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit code: 0, or 1 when anything failed."""
    return _guarded(lambda: _command(sys.argv[1:] if argv is None else argv))


def _guarded(work: Callable[[], int]) -> int:
    """Run ``work``; an error that the user is to see is shown on stderr and becomes exit code 1."""
    try:
        return work()
    except PipelineError as error:
        sys.stderr.write(f"{error}\n")
    except UsageError as error:
        sys.stderr.write(f"kc-opt: {error.message}\n")
    except KcError as error:
        if not error.diagnostics:  # those were shown as they came
            sys.stderr.write(f"kc-opt: {error.message}\n")
    except BrokenPipeError:
        # the reader of our output went away; keep Python from complaining about it at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        return 130
    return 1


def _command(arguments: Sequence[str]) -> int:
    parsed = parse(TABLE, arguments)
    shown = _information(parsed)
    if shown is None:
        return _main(parsed)
    sys.stdout.write(shown)
    return 0


def entry() -> None:
    """Console entry: leaves without Python's teardown, which costs as much as a small compile."""
    gc.set_threshold(50_000)  # imports make many objects and no garbage; Python's default looks at them 40 times
    code = main()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:
        code = 1
    os._exit(code)


def _information(parsed: Parsed) -> str | None:
    """The text that ``--help`` and its like ask for."""
    for path in parsed.names("load-pass"):
        from kc.registry import load_pass_file

        load_pass_file(path)
    if parsed.given & {"agent", "ledger", "replay", "frozen"}:
        _give_agents(parsed)
    if parsed.flag("help"):
        return help_text(USAGE, TABLE)
    if parsed.flag("version"):
        from importlib.metadata import version

        import kc

        return f"kc {kc.__version__}, MLIR of torch-mlir {version('torch-mlir')}\n"
    if parsed.flag("show-dialects"):
        from kc.tools._describe import dialect_names

        return "Available Dialects: " + ",".join(dialect_names()) + "\n"
    if parsed.flag("list-passes"):
        from kc.tools._describe import list_passes

        return list_passes()
    return None


def _give_agents(parsed: Parsed) -> None:
    """Let the passes ``agents{…}`` of the pipeline have what the command line says about agents."""
    from kc.agents.session.in_pipeline import give

    if parsed.flag("replay") and parsed.flag("frozen"):
        raise UsageError("'--replay' asks about what the ledger does not settle, '--frozen' does not: give one of them")
    mode = "frozen" if parsed.flag("frozen") else "replay" if parsed.flag("replay") else "ask"
    if mode != "ask" and parsed.text("ledger") is None:
        raise UsageError(f"'--{mode}' needs '--ledger FILE'")
    give(parsed.names("agent"), parsed.text("ledger"), mode)


def _main(parsed: Parsed) -> int:
    if len(parsed.positional) > 1:
        raise UsageError(f"one input file, please: got {' and '.join(parsed.positional)}")
    path = parsed.positional[0] if parsed.positional else "-"
    output = parsed.text("o") or "-"
    _check_output(output)
    source = _read(path)
    reproducer = parsed.text("mlir-pass-pipeline-crash-reproducer")
    if reproducer is None and not parsed.flag("isolate"):
        return _work(parsed, path, source, output, None)
    from kc.tools._isolated import isolated

    return isolated(lambda spool: _guarded(lambda: _work(parsed, path, source, output, spool)), reproducer)


def _work(parsed: Parsed, path: str, source: bytes, output: str, spool: str | None) -> int:
    """Process every part of the input and write the result."""
    from kc.tools._opt_process import process

    job = _job(parsed, path, source, spool)
    parts: list[str] | list[bytes] = [source]
    marker = parsed.text("split-input-file")
    if not source.startswith(BYTECODE_MAGIC):
        text = _decode(source, path)
        if parsed.flag("run-reproducer"):
            from kc.reproducer import strip_reproducer

            text = strip_reproducer(text)
        parts = [text]
        if marker is not None:
            from kc.tools._split import split_input

            parts = split_input(text, marker or "// -----")
    results: list[bytes] = []
    failed = False
    for part in parts:
        try:
            result = process(job, part)
        except PipelineError as error:
            raise _as_flag_error(error, parsed) from None
        except KcError as error:
            if not error.diagnostics and parsed.text("verify-diagnostics") is None:
                sys.stderr.write(f"kc-opt: {error.message}\n")
            failed = True
        else:
            if result is not None:
                results.append(result)
    if job.timing is not None:
        display, form = parsed.text("mlir-timing-display"), parsed.text("mlir-output-format")
        sys.stderr.write(job.timing.report(display or "tree", form or "text"))
    if job.statistics is not None:
        sys.stderr.write(job.statistics.report(parsed.text("mlir-pass-statistics-display") or "pipeline"))
    separator = (parsed.text("output-split-marker") or "").encode()
    data = (separator + b"\n" if separator else b"").join(results)
    if not failed or output == "-":
        _write(output, data)
    return 1 if failed else 0


def _job(parsed: Parsed, path: str, source: bytes, spool: str | None) -> Job:
    from kc.tools._opt_process import Job

    pipeline, verify_each = parsed.text("pass-pipeline"), parsed.flag("verify-each")
    flags = [name if value is None else f"{name}{{{value}}}" for name, value in parsed.others]
    if pipeline is not None and flags:
        raise UsageError(f"'--pass-pipeline' and passes given as flags (--{parsed.others[0][0]}) do not go together")
    if parsed.flag("run-reproducer"):
        from kc.reproducer import read_reproducer

        found = read_reproducer(source.decode(errors="replace"))
        if found is None:
            raise UsageError(f"'{path}' is no reproducer: it holds no mlir_reproducer pipeline")
        pipeline, verify_each = found[0], found[1] and verify_each
    timing = statistics = recorder = bisect = None
    limit = parsed.number("bisect-limit")
    if limit is not None:
        from kc.instrumentation import BisectLimit

        bisect = BisectLimit(limit)
    if parsed.flag("mlir-timing"):
        from kc.timing import Timing

        timing = Timing()
    if parsed.flag("mlir-pass-statistics"):
        from kc.pass_statistics import PassStatistics

        statistics = PassStatistics()
    if spool is not None:
        from kc.reproducer import Recorder

        recorder = Recorder(spool)
    level = parsed.text("verify-level")
    if level is not None:
        from kc.levels import level_named

        level_named(level)
    version = parsed.number("emit-bytecode-version")
    return Job(
        source_name="<stdin>" if path == "-" else path,
        pipeline=pipeline,
        flags=flags,
        allow_unregistered=parsed.flag("allow-unregistered-dialect"),
        verify_each=verify_each,
        verify_level=level,
        verify_diagnostics=parsed.text("verify-diagnostics"),
        dump_pipeline=parsed.flag("dump-pass-pipeline"),
        bytecode=parsed.flag("emit-bytecode") or version is not None,
        bytecode_version=version,
        asm=_asm_options(parsed),
        bisect=bisect,
        printer=_printer(parsed),
        timing=timing,
        statistics=statistics,
        recorder=recorder,
        reproducer_path=parsed.text("mlir-pass-pipeline-crash-reproducer"),
    )


def _asm_options(parsed: Parsed) -> dict[str, bool | int]:
    options: dict[str, bool | int] = {
        keyword: True
        for keyword, option in (
            ("print_generic_op_form", "mlir-print-op-generic"),
            ("enable_debug_info", "mlir-print-debuginfo"),
            ("pretty_debug_info", "mlir-pretty-debuginfo"),
            ("use_local_scope", "mlir-print-local-scope"),
            ("use_name_loc_as_prefix", "mlir-use-nameloc-as-prefix"),
        )
        if parsed.flag(option)
    }
    for keyword, option in (
        ("large_elements_limit", "mlir-elide-elementsattrs-if-larger"),
        ("large_resource_limit", "mlir-elide-resource-strings-if-larger"),
    ):
        number = parsed.number(option)
        if number is not None:
            options[keyword] = number
    return options


def _printer(parsed: Parsed) -> Instrumentation | None:
    changed, failure = parsed.flag("mlir-print-ir-after-change"), parsed.flag("mlir-print-ir-after-failure")
    before: list[str] | bool = parsed.names("mlir-print-ir-before")
    after: list[str] | bool = parsed.names("mlir-print-ir-after")
    for option, chosen in (("mlir-print-ir-before", before), ("mlir-print-ir-after", after)):
        assert isinstance(chosen, list)
        for name in chosen:
            _check_pass_name(option, name)
    before = before or parsed.flag("mlir-print-ir-before-all")
    after = after or parsed.flag("mlir-print-ir-after-all") or changed
    if not before and not after and not failure:
        return None
    from kc.instrumentation import AsmOptions, IRPrinter

    return IRPrinter(
        before=True if parsed.flag("mlir-print-ir-before-all") else before,
        after=True if parsed.flag("mlir-print-ir-after-all") else after,
        only_changed=changed,
        only_failure=failure,
        module_scope=parsed.flag("mlir-print-ir-module-scope"),
        tree_dir=parsed.text("mlir-print-ir-tree-dir"),
        asm=AsmOptions(**_asm_options(parsed)),  # type: ignore[arg-type]
    )


def _check_pass_name(option: str, name: str) -> None:
    from kc import registry
    from kc.native_passes import NATIVE_PASSES

    if registry.is_known(name) or name in NATIVE_PASSES or registry.find_plugin(name) is not None:
        return
    from kc.pipeline_errors import unknown_pass

    raise UsageError(f"--{option}: {unknown_pass(name)}")


def _as_flag_error(error: PipelineError, parsed: Parsed) -> KcError:
    """An unknown flag is a wrong option as often as it is a wrong pass: name the nearest of both."""
    name = error.unknown_pass
    if name is None or parsed.text("pass-pipeline") is not None or name not in [n for n, _ in parsed.others]:
        return error
    import difflib

    from kc import registry
    from kc.native_passes import NATIVE_PASSES

    near = difflib.get_close_matches(name, [*TABLE, *registry.known_names(), *NATIVE_PASSES], n=2, cutoff=0.6)
    hint = f"; did you mean {' or '.join('--' + n for n in near)}?" if near else "; see kc-opt --help"
    return UsageError(f"unknown option or pass '--{name}'{hint}")


def _read(path: str) -> bytes:
    try:
        if path == "-":
            return sys.stdin.buffer.read()
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise UsageError(f"cannot open input file '{path}': {error.strerror}") from None


def _decode(source: bytes, path: str) -> str:
    try:
        return source.decode()
    except UnicodeDecodeError as error:
        raise UsageError(f"'{path}' is neither MLIR bytecode nor UTF-8 text (byte {error.start})") from None


def _check_output(path: str) -> None:
    """Refuse an output that cannot be written before any work is done."""
    if path == "-":
        return
    folder = os.path.dirname(path) or "."
    if os.path.isdir(path):
        raise UsageError(f"cannot open output file '{path}': Is a directory")
    if not os.path.isdir(folder):
        raise UsageError(f"cannot open output file '{path}': No such file or directory")
    if not os.access(path if os.path.exists(path) else folder, os.W_OK):
        raise UsageError(f"cannot open output file '{path}': Permission denied")


def _write(path: str, data: bytes) -> None:
    """Write the result; a file is replaced in one step, so that nothing half-written is ever seen."""
    if path == "-":
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    special = os.path.exists(path) and not os.path.isfile(path)  # /dev/null, a pipe: cannot be replaced
    partial = path if special else f"{path}.{os.getpid()}.tmp"
    try:
        with open(partial, "wb") as file:
            file.write(data)
        if not special:
            os.replace(partial, path)
    except OSError as error:
        if not special and os.path.exists(partial):
            os.unlink(partial)
        raise UsageError(f"cannot write output file '{path}': {error.strerror}") from None


if __name__ == "__main__":
    entry()
