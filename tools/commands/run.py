"""``kc run``: run a program or an artifact, and compare what comes out."""
from __future__ import annotations

import argparse
import zipfile
from typing import TYPE_CHECKING, Any

from kc.errors import InputError
from kc.tools.commands import _common

if TYPE_CHECKING:
    import numpy


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommand's arguments."""
    _common.add_source(parser)
    _common.add_target(parser)
    _common.add_agents(parser)
    parser.add_argument("--inputs", nargs="*", metavar="FILE", help=".npy files in argument order, or one .npz")
    parser.add_argument("--seed", type=int, default=0, help="seed of generated inputs (default: 0)")
    parser.add_argument("--size", type=int, default=4, help="extent of dynamic sizes in generated inputs (default: 4)")
    parser.add_argument("--expect", metavar="FILE", help="results to compare with: .npz, or .npy for one result")
    parser.add_argument("--rtol", type=float, default=1e-5, help="relative tolerance of the comparison")
    parser.add_argument("--atol", type=float, default=1e-6, help="absolute tolerance of the comparison")
    parser.add_argument("--save", metavar="FILE", help="write the results to an .npz file (result0, result1 …)")


def run(args: argparse.Namespace) -> int:
    """Run, print the results, compare them; exit code 1 if they differ."""
    import numpy

    program = _program(args)
    entry = program.manifest["entries"].get(args.entry)
    if entry is None:
        raise InputError(f"no entry function '{args.entry}'; there is {', '.join(program.manifest['entries'])}")
    if args.inputs is None:
        wanted = [a for a in entry["args"] if a.get("kind", "input") == "input"]
        arrays = generate(wanted, args.seed, args.size)
    else:
        arrays = _common.load_arrays(args.inputs)
    results = program.run(args.entry, *arrays)
    for index, result in enumerate(results):
        print(f"result {index}: {result.dtype}{list(result.shape)}")
        print(numpy.array2string(result, threshold=24, edgeitems=3, precision=6))
    if args.save:
        with open_for_writing(args.save) as file:
            numpy.savez(file, **{f"result{i}": r for i, r in enumerate(results)})
    if args.expect is None:
        return 0
    return compare(results, _common.load_arrays([args.expect]), args.rtol, args.atol)


def open_for_writing(path: str) -> Any:
    """A file opened for binary writing; raises InputError when it cannot be."""
    try:
        return open(path, "wb")
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}") from None


def _program(args: argparse.Namespace) -> Any:
    from kc import runtime

    if args.source != "-" and zipfile.is_zipfile(args.source):
        return runtime.load(args.source)
    from kc import api

    source, agents = _common.read_source(args.source), _common.agent_options(args)
    executable = api.compile(source, args.target, args.entry, **agents)
    _common.tell(executable)
    return executable.program


def generate(arguments: list[dict[str, Any]], seed: int, size: int = 4) -> list[numpy.ndarray[Any, Any]]:
    """Inputs for an entry: normal floats, small integers, random booleans; dynamic sizes become ``size``."""
    import numpy

    from kc.runtime import dtypes

    random = numpy.random.default_rng(seed)
    arrays = []
    for argument in arguments:
        shape = [extent if isinstance(extent, int) else size for extent in argument["shape"]]
        dtype = dtypes.by_name(argument["dtype"]).numpy
        if argument["dtype"] == "i1":
            arrays.append(random.integers(0, 2, shape).astype(dtype))
        elif argument["dtype"].startswith(("i", "ui")):
            arrays.append(random.integers(0, 8, shape).astype(dtype))
        elif argument["dtype"].startswith("complex"):
            arrays.append((random.standard_normal(shape) + 1j * random.standard_normal(shape)).astype(dtype))
        else:
            arrays.append(random.standard_normal(shape).astype(dtype))
    return arrays


def compare(results: Any, expected: Any, rtol: float, atol: float) -> int:
    """Print how far each result is from what was expected; 1 if one is out of tolerance, missing or misshapen."""
    import numpy

    failed = len(results) != len(expected)
    if failed:
        print(f"{len(results)} results, but {len(expected)} were expected")
    for index, (result, want) in enumerate(zip(results, expected, strict=False)):
        if result.shape != want.shape:
            print(f"result {index}: shape {list(result.shape)}, expected {list(want.shape)}")
            failed = True
            continue
        wide = numpy.complex128 if result.dtype.kind == "c" else numpy.float64
        left, right = result.astype(wide), want.astype(wide)
        close = numpy.isclose(left, right, rtol=rtol, atol=atol, equal_nan=True)
        with numpy.errstate(invalid="ignore"):
            error = numpy.abs(left - right)
        largest = float(numpy.nanmax(error)) if error.size else 0.0
        verdict = "ok" if close.all() else f"{int((~close).sum())} of {close.size} elements differ"
        print(f"result {index}: largest error {largest:.3g}: {verdict}")
        failed |= not bool(close.all())
    return int(failed)
