"""``kc demo``: a small model down the whole ladder, with nothing but kc's required dependencies."""
from __future__ import annotations

import argparse
import collections
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kc.errors import InputError
from kc.tools.commands import _common
from kc.tools.commands import run as run_command

if TYPE_CHECKING:
    import numpy

    from kc.bindings import ir

#: largest absolute difference from float64 that the demo accepts; the results are probabilities (at most 1)
BOUND = 1e-5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommand's arguments."""
    where = "where artifacts go (default: kc-demo)"
    parser.add_argument("-o", "--output", default="kc-demo", metavar="DIR", help=where)


def run(args: argparse.Namespace) -> int:
    """Descend, run, compare, emit PTX; exit code 1 if the numbers are off."""
    folder = Path(args.output)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot make the folder {folder}: {error.strerror}") from None
    source = (Path(__file__).parents[1] / "data" / "mlp.mlir").read_text()
    print("softmax(gelu(x·w1 + b1)·w2 + b2), from StableHLO down to the CPU\n")
    executable = _descend(source, "cpu", folder / "cpu")
    inputs = run_command.generate(executable.manifest["entries"]["main"]["args"], seed=0)
    inputs = [x * 0.05 if x.ndim == 2 and i else x for i, x in enumerate(inputs)]  # weights of a trained model's size
    executable(*inputs)  # the first call loads the code
    started = time.process_time()
    (result,) = executable(*inputs)
    elapsed = (time.process_time() - started) * 1e3
    difference = abs(result.astype("float64") - _reference(*inputs)).max()
    print(f"\nrun on the CPU in {elapsed:.2f} ms of CPU time; off NumPy in float64 by at most {difference:.1e}")
    executable.save(folder / "mlp.kca")
    _write(folder / "mlp.o", executable.forms()["object"]())

    print("\nand down to PTX for sm_90a\n")
    gpu = _descend(source, "nvptx:sm_90a", folder / "nvptx")
    ptx = gpu.forms()["ptx"]()
    _write(folder / "mlp.ptx", ptx)
    gpu.save(folder / "mlp-gpu.kca")
    kernels = [line.split()[2].split("(")[0] for line in ptx.splitlines() if line.startswith(".visible .entry")]
    print(f"\nkernels: {', '.join(kernels)}")
    print(f"\nwritten to {folder}/: " + ", ".join(sorted(p.name for p in folder.iterdir())))
    print(f"try: kc run {folder}/mlp.kca --seed 1    kc lower {folder}/cpu/stablehlo.mlir --to=loops")
    if not difference <= BOUND:
        print(f"the result is off by more than {BOUND}")
        return 1
    return 0


def _descend(source: str, target: str, folder: Path) -> Any:
    """Compile, showing each level as it is left, and keep each level's text in ``folder``."""
    from kc import api, frontends
    from kc.pipelines.run import HookPoint

    folder.mkdir(exist_ok=True)
    print(f"{'level':10} {'phase':22} {'ms':>7}  {'ops':>5}  dialects")
    loaded = frontends.load(source)
    clock = [time.process_time()]

    def show(name: str, level: str, module: ir.Module) -> None:
        spent = (time.process_time() - clock[0]) * 1e3
        counts = _dialects(module)
        shown = ", ".join(f"{dialect} {count}" for dialect, count in counts.most_common())
        print(f"{level:10} {name:22} {spent:7.1f}  {sum(counts.values()):5}  {shown}", flush=True)
        _write(folder / f"{level}.mlir", api.to_text(module))
        clock[0] = time.process_time()

    def hook(point: HookPoint, module: ir.Module) -> None:
        if point.when == "after":
            show(point.phase.name, point.level, module)

    show("(source)", loaded.level, loaded.module)
    executable = api.compile_loaded(loaded, target, agents=[hook])
    spent = (time.process_time() - clock[0]) * 1e3
    size = sum(len(data) for name, data in executable.files.items() if not name.startswith("params"))
    print(f"{'asm':10} {'code generation':22} {spent:7.1f}  {size} bytes of code")
    return executable


def _dialects(module: ir.Module) -> collections.Counter[str]:
    from kc.rewrite import walk_ops

    return collections.Counter(op.name.partition(".")[0] for op in walk_ops(module.operation))


def _reference(x: Any, w1: Any, b1: Any, w2: Any, b2: Any) -> numpy.ndarray[Any, Any]:
    """The model in float64; erf from the standard library, so that the demo needs nothing but NumPy."""
    import math

    import numpy

    x, w1, b1, w2, b2 = (a.astype(numpy.float64) for a in (x, w1, b1, w2, b2))
    hidden = x @ w1 + b1
    hidden = hidden / 2 * (1 + numpy.vectorize(math.erf)(hidden / math.sqrt(2)))
    scores = hidden @ w2 + b2
    exponentials = numpy.exp(scores - scores.max(-1, keepdims=True))
    return exponentials / exponentials.sum(-1, keepdims=True)


def _write(path: Path, data: bytes | str) -> None:
    _common.write(str(path), data)

