"""kc-opt: run passes on MLIR, as ``mlir-opt`` does."""
from __future__ import annotations

import os
import sys


def main(argv: list[str] | None = None) -> int:
    """The command; returns its exit code."""
    arguments = sys.argv[1:] if argv is None else argv
    from kc.context import make_context, parse_module
    from kc.diagnostics import DiagnosticSink, render
    from kc.errors import KcError, PipelineError
    from kc.pass_manager import PassManager

    pipeline, path, out = None, "-", "-"
    for a in arguments:
        if a.startswith("--pass-pipeline="):
            pipeline = a.partition("=")[2]
        elif a.startswith("-o"):
            out = a[2:].lstrip("=")
        else:
            path = a
    source = sys.stdin.buffer.read() if path == "-" else open(path, "rb").read()
    text = source if source.startswith(b"ML\xefR") else source.decode()
    sink = DiagnosticSink(on_emit=lambda d: print(render(d, {path: text}), file=sys.stderr))
    context = make_context()
    try:
        module = parse_module(text, context, path, sink)
        if pipeline:
            PassManager.parse(pipeline, context).run(module, sink=sink)
    except PipelineError as e:
        print(e, file=sys.stderr)
        return 1
    except KcError as e:
        print("error:", e.message, file=sys.stderr)
        return 1
    with (sys.stdout if out == "-" else open(out, "w")) as f:
        f.write(str(module))
    return 0


def entry() -> None:
    """Console entry: leaves without Python's teardown, which costs as much as a small compile."""
    code = main()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    entry()
