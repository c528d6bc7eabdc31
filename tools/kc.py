"""``kc``: the command line of the compiler. Each subcommand is a module of ``kc.tools.commands``."""
from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence

#: subcommand -> what it does, in the order in which ``kc --help`` shows them
COMMANDS = {
    "demo": "compile and run a small model, level by level",
    "doctor": "say what is installed and what a missing extra would bring",
    "lower": "print a program at a level of the ladder",
    "phases": "print the phases of a target's road, as pipelines for kc-opt",
    "compile": "compile a program to an artifact, object, shared library or text",
    "run": "run a program or an artifact on given or generated inputs",
    "translate": "convert between forms: StableHLO artifact, LLVM IR, PTX, assembly, object",
    "bisect": "name the phase, the pass and the operation that first break a program",
    "reduce": "shrink a module to the smallest that still fails",
    "census": "list every operation that a target cannot compile, before lowering starts",
    "tune": "search the schedules of a program's kernels and keep what was measured",
    "explain": "say which contract a program's regions stand under, and what became of each: schedule or agent",
    "agents": "look into ledgers: why each kernel is what it is, what changed; prune and export them; list agents",
    "mcp": "serve a program to a coding agent over the Model Context Protocol",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code: 0 done, 1 the work failed, 2 the call is wrong."""
    parser = argparse.ArgumentParser(prog="kc", description="An MLIR-based multi-dialect compiler.")
    parser.add_argument("--version", action="store_true", help="print kc's version and exit")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    given = list(sys.argv[1:] if argv is None else argv)
    chosen = next((word for word in given if not word.startswith("-")), None)
    for name, summary in COMMANDS.items():
        sub = commands.add_parser(name, help=summary, description=f"{summary[0].upper()}{summary[1:]}.")
        if name == chosen:  # the others are not even imported
            importlib.import_module(f"kc.tools.commands.{name}").add_arguments(sub)
    args = parser.parse_args(given)
    if args.version:
        from kc import __version__

        print(f"kc {__version__}")
        return 0
    if args.command is None:
        parser.print_help()
        return 2
    return _run(args)


def _run(args: argparse.Namespace) -> int:
    from kc.errors import KcError
    from kc.runtime.errors import ArgumentError, RuntimeFailure

    try:
        if getattr(args, "load", None):
            from kc.tools.commands._common import load_files

            load_files(args.load)
        return int(importlib.import_module(f"kc.tools.commands.{args.command}").run(args) or 0)
    except (KcError, ArgumentError, RuntimeFailure) as error:
        print(f"kc {args.command}: {error}", file=sys.stderr)
        return 1
    except ModuleNotFoundError as error:  # an installation without the compiler, which runs artifacts only
        if error.name is None or error.name.partition(".")[0] not in ("torch_mlir", "llvmlite"):
            raise
        missing = f"this needs the compiler, and {error.name} is not installed (see kc doctor)"
        print(f"kc {args.command}: {missing}", file=sys.stderr)
        return 1
    except BrokenPipeError:  # the reader of our output went away, as `kc lower … | head` does
        sys.stderr.close()
        return 1


if __name__ == "__main__":
    sys.exit(main())
