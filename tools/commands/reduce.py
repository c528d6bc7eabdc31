"""``kc reduce``: the smallest module that still fails."""
from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from kc.errors import InputError
from kc.tools.commands import _common, _debug

if TYPE_CHECKING:
    from kc.agents.debug.reduction.case import Case


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommand's arguments."""
    parser.add_argument("source", metavar="FILE", help="MLIR text or bytecode; - is stdin")
    fails = parser.add_mutually_exclusive_group(required=True)
    command = "shell command that ends with 0 while the module still fails; {} is its path, else appended"
    fails.add_argument("--predicate", metavar="COMMAND", help=command)
    crash = "shrink as long as this pipeline fails as it does now: crash, hang, error, invalid IR"
    fails.add_argument("--crash", metavar="PIPELINE", help=crash)
    wrong = "shrink as long as what this pipeline makes of @main computes something else (told by oracles)"
    fails.add_argument("--wrong", metavar="PIPELINE", help=wrong)
    _debug.add_inputs(parser)
    _debug.add_passes(parser)
    parser.add_argument("--timeout", type=float, default=30.0, metavar="S", help="limit of one trial (default: 30 s)")
    parser.add_argument("--budget", type=float, default=600.0, metavar="S", help="limit of all trials (default: 600 s)")
    parser.add_argument("--max-trials", type=int, default=5000, metavar="N", help="most candidates (default: 5000)")
    parser.add_argument("--save-inputs", metavar="FILE", help="write the inputs of the smallest module (.npz)")
    parser.add_argument("--quiet", action="store_true", help="no progress on stderr")
    _common.add_output(parser)


def run(args: argparse.Namespace) -> int:
    """Shrink, and write what is left; exit code 1 when the module as given does not fail."""
    from kc.agents.debug.reduction.case import Case, parse, show
    from kc.agents.debug.reduction.search import Reduction
    from kc.context import make_context, parse_module

    data = _common.read_source(args.source)
    source = data if isinstance(data, bytes) else _read(data)
    module = parse_module(source, make_context(allow_unregistered=True), args.source)
    text = show(module, locations=False)
    parse(text)
    inputs = _debug.inputs_of(module, args) if args.wrong or args.inputs is not None else None
    case = Case(text, None if inputs is None else tuple(inputs))
    predicate = _predicate(args, case)
    if not predicate(case):
        raise InputError(f"{args.source} does not fail as it stands: there is nothing to reduce")
    progress = None if args.quiet else _Progress(case)
    search = Reduction(case, predicate, seconds=args.budget, trials=args.max_trials, progress=progress)
    reduced = search.run()
    if progress is not None:
        progress.end(reduced.finished)
    _common.write(args.output, reduced.case.text)
    if args.save_inputs:
        _debug.save_inputs(args.save_inputs, reduced.case.inputs or ())
    return 0


def _read(path: str) -> bytes | str:
    from pathlib import Path

    data = Path(path).read_bytes()
    return data if data.startswith(b"ML\xefR") else data.decode()


def _predicate(args: argparse.Namespace, case: Case) -> Callable[[Case], bool]:
    from kc.agents.debug.reduction import predicates
    from kc.agents.debug.trace import Leg

    if args.predicate:
        return predicates.Command(args.predicate, args.timeout)
    legs = [Leg("pipeline", args.crash or args.wrong)]
    _debug.check_pipeline(legs[0].pipeline, args.load_pass)
    if args.wrong:
        return predicates.StillWrong(legs, load=args.load_pass, seconds=args.timeout, tolerance=_debug.tolerance(args))
    failure = predicates.failure_of(case, legs, args.load_pass, args.timeout)
    if failure is None:
        raise InputError(f"the pipeline does not fail on {args.source}: there is nothing to reduce")
    if not args.quiet:
        print(f"the pipeline fails: {failure.kind}: {failure.message.splitlines()[0]}", file=sys.stderr)
    return predicates.SameFailure(legs, failure, load=args.load_pass, seconds=args.timeout)


class _Progress:
    """One line on a terminal, rewritten; elsewhere only the last words."""

    def __init__(self, case: Any):
        self.first, self.case, self.trials = case, case, 0
        self._started, self._terminal = time.monotonic(), sys.stderr.isatty()

    def __call__(self, case: Any, trials: int) -> None:
        self.case, self.trials = case, trials
        if self._terminal:
            sys.stderr.write(f"\r{self._words()}\x1b[K")
            sys.stderr.flush()

    def _words(self) -> str:
        seconds = time.monotonic() - self._started
        return f"{self.first.ops} -> {self.case.ops} ops, {self.trials} trials, {seconds:.0f} s"

    def end(self, finished: bool) -> None:
        """The last words."""
        start = "\r\x1b[K" if self._terminal else ""
        why = "" if finished else " (stopped by a limit: --budget, --max-trials)"
        sys.stderr.write(f"{start}{self._words()}{why}\n")
