"""The options of kc-opt."""
from __future__ import annotations

from kc.tools._options import Option

USAGE = """kc-opt: run passes on MLIR

usage: kc-opt [FILE] [options] [--PASS[=options] …]

FILE is MLIR text or bytecode; '-' or nothing reads standard input. Passes come from --pass-pipeline or as flags, in
order: --canonicalize --kc-form-kernels="max-size=8". A pass given as a flag is nested under the op it runs on."""

TABLE: dict[str, Option] = {
    "o": Option("text", "write the result to this file ('-' is standard output); nothing is written on failure", "-"),
    "pass-pipeline": Option("text", "the pipeline to run, such as 'builtin.module(func.func(cse),kc-form-kernels)'"),
    "load-pass": Option("many", "load passes from a Python file: kc.Pass classes and @kc.rewrite functions"),
    "agent": Option("many", "whom the passes agents{at=LEVEL} ask: LEVEL=FILE.py:NAME, NAME …"),
    "ledger": Option("text", "the file that keeps what agents answered"),
    "replay": Option("flag", "use the ledger's answers, and ask about the rest only"),
    "frozen": Option("flag", "use the ledger's answers only: what it does not settle is an error"),
    "allow-unregistered-dialect": Option("flag", "accept ops of dialects that are not registered"),
    "split-input-file": Option("text", "process the parts between '// -----' lines one by one", None, (), "// -----"),
    "output-split-marker": Option("text", "what separates the results of the parts", "// -----"),
    "verify-diagnostics": Option(
        "text", "check diagnostics against expected-error@… comments", None, ("all", "only-expected"), "all"
    ),
    "verify-each": Option("flag", "verify the IR after each pass (default true)", True),
    "verify-level": Option("text", "check that the result stands at this level: " + "torch, stablehlo, linalg …"),
    "emit-bytecode": Option("flag", "write MLIR bytecode"),
    "emit-bytecode-version": Option("int", "version of the bytecode to write"),
    "dump-pass-pipeline": Option("flag", "show the pipeline on standard error before it runs"),
    "bisect-limit": Option("int", "run only the first N passes, and tell which ran"),
    "isolate": Option("flag", "work in a child process, so that a crash of native code is reported as an error"),
    "mlir-pass-pipeline-crash-reproducer": Option(
        "text", "write a reproducer to this file when a pass fails or crashes"
    ),
    "mlir-pass-pipeline-local-reproducer": Option("flag", "accepted; reproducers hold just the pass that failed"),
    "run-reproducer": Option("flag", "run the pipeline that the input, a reproducer, holds"),
    "mlir-print-ir-before": Option("names", "print the IR before these passes"),
    "mlir-print-ir-before-all": Option("flag", "print the IR before each pass"),
    "mlir-print-ir-after": Option("names", "print the IR after these passes"),
    "mlir-print-ir-after-all": Option("flag", "print the IR after each pass"),
    "mlir-print-ir-after-change": Option("flag", "print the IR after a pass only if the pass changed it"),
    "mlir-print-ir-after-failure": Option("flag", "print the IR after a pass only if the pass failed"),
    "mlir-print-ir-module-scope": Option("flag", "print the whole module, not just the op that the pass runs on"),
    "mlir-print-ir-tree-dir": Option("text", "print each into a file of its own below this folder"),
    "mlir-print-op-generic": Option("flag", "print ops in the generic form"),
    "mlir-print-debuginfo": Option("flag", "print locations"),
    "mlir-pretty-debuginfo": Option("flag", "print locations in a form that is easy to read and cannot be parsed"),
    "mlir-print-local-scope": Option("flag", "print attributes and types in place, without aliases"),
    "mlir-use-nameloc-as-prefix": Option("flag", "name values after their name locations"),
    "mlir-elide-elementsattrs-if-larger": Option("int", "print '__elided__' for larger element attributes"),
    "mlir-elide-resource-strings-if-larger": Option("int", "leave out larger resources"),
    "mlir-timing": Option("flag", "show where time went"),
    "mlir-timing-display": Option("text", "how: by name, or nested as the pipeline", "tree", ("list", "tree")),
    "mlir-output-format": Option("text", "format of the timing report", "text", ("text", "json")),
    "mlir-pass-statistics": Option("flag", "show what each pass counted"),
    "mlir-pass-statistics-display": Option("text", "how", "pipeline", ("list", "pipeline")),
    "mlir-disable-threading": Option("flag", "accepted; kc is single-threaded"),
    "show-dialects": Option("flag", "list the dialects that are registered"),
    "list-passes": Option("flag", "list the passes"),
    "help": Option("flag", "show this text"),
    "version": Option("flag", "show the versions of kc and of its MLIR"),
}
