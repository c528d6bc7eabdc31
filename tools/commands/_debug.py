"""What ``kc bisect`` and ``kc reduce`` share: inputs, passes, tolerances."""
from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from kc.tools.commands import _common

if TYPE_CHECKING:
    from kc.agents.debug.compare import Tolerance
    from kc.bindings import ir


def add_inputs(parser: argparse.ArgumentParser) -> None:
    """Where the inputs come from, and how results are compared."""
    parser.add_argument("--inputs", nargs="+", metavar="FILE", help=".npy files in argument order, or one .npz")
    parser.add_argument("--seed", type=int, default=0, help="seed of drawn inputs (default: 0)")
    parser.add_argument("--size", type=int, default=4, help="extent of open sizes in drawn inputs (default: 4)")
    bound = "of a float that is right; by default a bound by type: 1e-3 of a result's largest value for f32"
    parser.add_argument("--rtol", type=float, help=f"relative error {bound}")
    parser.add_argument("--atol", type=float, help="absolute error beside it")


def add_passes(parser: argparse.ArgumentParser) -> None:
    """Passes of the user's own."""
    parser.add_argument("--load-pass", action="append", default=[], metavar="FILE", help="a Python file with passes")


def tolerance(args: argparse.Namespace) -> Tolerance:
    """The tolerance that the options say."""
    from kc.agents.debug.compare import Tolerance

    return Tolerance(args.rtol, args.atol)


def inputs_of(module: ir.Module, args: argparse.Namespace) -> list[Any]:
    """The inputs given, or drawn ones; raises InputError when those given do not fit."""
    from kc.agents.debug import inputs

    if args.inputs is None:
        return inputs.draw(module, args.seed, args.size)
    return inputs.check(module, _common.load_arrays(args.inputs))


def save_inputs(path: str, arrays: Sequence[Any]) -> None:
    """Write inputs as ``.npz`` (``arg0``, ``arg1`` …)."""
    import numpy

    from kc.tools.commands.run import open_for_writing

    with open_for_writing(path) as file:
        numpy.savez(file, **{f"arg{number}": array for number, array in enumerate(arrays)})


def check_pipeline(text: str, load: Sequence[str]) -> None:
    """Raise PipelineError now, with a caret, rather than in every trial."""
    from kc.context import make_context
    from kc.pass_manager import PassManager
    from kc.registry import load_pass_file

    for path in load:
        load_pass_file(path)
    PassManager.parse(text, make_context())
