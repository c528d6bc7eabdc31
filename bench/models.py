"""The models of issue 2: how far kc is from float64, and its time beside PyTorch and XLA.

    python bench/models.py cpu          on this machine's CPU: compile, check, time
    python bench/models.py run DIR      on a GPU: artifacts made by test/integration/gpu/models.py make DIR

A row gives the largest absolute error over the largest absolute value of the float64 result, and the median time of a
call of batch 3 in microseconds. The models are small, so on a GPU the times are mostly those of launching kernels. CPU
times are process CPU time, since cores are shared.
"""
from __future__ import annotations

import argparse
import copy
import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy

TESTS = Path(__file__).resolve().parents[1] / "test" / "integration"
sys.path.insert(0, str(TESTS))
HEADER = f"{'model':34} {'error':>9} {'kc':>9} {'eager':>9} {'compile':>9} {'XLA':>9}"


def row(name: str, error: float, times: dict[str, float]) -> None:
    """Print one line; a contender that was not run is a dash."""
    cells = " ".join(f"{times[k]:9.1f}" if k in times else f"{'-':>9}" for k in ("kc", "eager", "compile", "XLA"))
    print(f"{name:34} {error:9.1e} {cells}", flush=True)


def largest_error(results: Any, answers: Any) -> float:
    """Over all float results: max |result - answer| / max |answer|; infinite when an integer result differs."""
    worst = 0.0
    for got, want in zip(results, answers, strict=True):
        got, want = numpy.asarray(got), numpy.asarray(want)
        if got.dtype.kind in "iub":
            worst = worst if (got == want).all() else float("inf")
        else:
            error = float(abs(got.astype(numpy.float64) - want).max() / abs(want).max())
            worst = error if error != error or error > worst else worst  # NaN, once seen, stays
    return worst


def cpu_times(contenders: dict[str, Callable[[], Any]], rounds: int = 9) -> dict[str, float]:
    """Median process CPU time of a call in microseconds, contenders taking turns."""
    samples: dict[str, list[float]] = {name: [] for name in contenders}
    for function in contenders.values():
        function()
    for _ in range(rounds):
        for name, function in contenders.items():
            started = time.process_time()
            for _ in range(5):
                function()
            samples[name].append((time.process_time() - started) / 5 * 1e6)
    return {name: statistics.median(values) for name, values in samples.items()}


def run_cpu(only: str) -> None:
    """The table for this machine's CPU, one thread."""
    os.environ.update(KC_NUM_THREADS="1", OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1",
                      XLA_FLAGS="--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")
    import torch

    torch.set_num_threads(1)
    print(HEADER)
    for dynamic in (False, True):
        _cpu_torch(only, dynamic)
        _cpu_jax(only, dynamic)


def _cpu_torch(only: str, dynamic: bool) -> None:
    import torch
    from torch_models import MODELS

    import kc.torch

    for name, model in MODELS.items():
        for dtype in (torch.float32, torch.bfloat16):
            tag = f"torch-{name}-{str(dtype)[6:]}-{'dynamic' if dynamic else 'static'}"
            if only not in tag:
                continue
            torch.manual_seed(0)
            module = model.make().eval().to(dtype)
            wide = copy.deepcopy(module).double()
            inputs = _cast(model.inputs(3), dtype)
            compiled = kc.torch.compile(module, inputs, dynamic_shapes=model.dynamic() if dynamic else None)
            with torch.no_grad():
                answer = wide(*_cast(inputs, torch.float64))
                error = largest_error([_numpy(compiled(*inputs))], [answer])
                torch._dynamo.reset()
                inductor = torch.compile(module, dynamic=dynamic)
                row(tag, error, cpu_times({
                    "kc": lambda c=compiled, x=inputs: c(*x),
                    "eager": lambda m=module, x=inputs: m(*x),
                    "compile": lambda m=inductor, x=inputs: m(*x),
                }))


def _cpu_jax(only: str, dynamic: bool) -> None:
    import jax
    import ml_dtypes
    from jax_models import MAKERS

    import kc

    for name, make in MAKERS.items():
        model = make()
        for dtype in (numpy.dtype("float32"), numpy.dtype(ml_dtypes.bfloat16)):
            tag = f"jax-{name}-{dtype}-{'dynamic' if dynamic else 'static'}"
            if only not in tag:
                continue
            params, data = _cast_tree(model.params, dtype), _cast_tree(model.data(3), dtype)
            answers = model.reference(_cast_tree(params, numpy.float64), *_cast_tree(data, numpy.float64))
            jitted = kc.jit(model.fn, polymorphic_shapes=(None, *model.polymorphic) if dynamic else None)
            error = largest_error(jax.tree.leaves(jitted(params, *data)), jax.tree.leaves(answers))
            executable = jitted.compiled(params, *data)
            flat, xla = jax.tree.leaves((params, *data)), jax.jit(model.fn)
            device = jax.tree.map(jax.numpy.asarray, (params, *data))
            row(tag, error, cpu_times({
                "kc": lambda e=executable, x=flat: e(*x),
                "XLA": lambda f=xla, x=device: jax.block_until_ready(f(*x)),
            }))


def _cast(values: Any, dtype: Any) -> Any:
    return tuple(v.to(dtype) if v.is_floating_point() else v for v in values)


def _cast_tree(values: Any, dtype: Any) -> Any:
    import jax
    import ml_dtypes

    floats = (numpy.dtype("float32"), numpy.dtype(ml_dtypes.bfloat16))
    return jax.tree.map(lambda x: x.astype(dtype) if x.dtype in floats else x, values)


def _numpy(tensor: Any) -> Any:
    return (tensor.double() if tensor.is_floating_point() else tensor).numpy()


def run_gpu(folder: Path, only: str) -> None:
    """The table for this machine's GPU, from artifacts."""
    import torch
    from torch_models import MODELS

    import kc.runtime

    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}")
    print(HEADER)
    for entry in json.loads((folder / "index.json").read_text()):
        tag = entry["tag"]
        if only not in tag:
            continue
        arrays = numpy.load(folder / f"{tag}.npz")
        program = kc.runtime.load(folder / f"{tag}.kca")
        number = 0 if len(entry["calls"]) == 1 else 1
        inputs, outputs = entry["calls"][number]
        given = [_gpu_tensor(arrays[f"{number}_in{i}"], d) for i, d in enumerate(entry["dtypes"][:inputs])]
        results = [_numpy(r.cpu()) for r in program(*given)]
        error = largest_error(results, [arrays[f"{number}_out{i}"] for i in range(outputs)])
        contenders: dict[str, Callable[[], Any]] = {"kc": lambda p=program, x=given: p(*x)}
        if tag.startswith("torch-"):
            dtype = torch.bfloat16 if "bfloat16" in tag else torch.float32
            torch.manual_seed(0)
            module = MODELS[tag.split("-")[1]].make().eval().to(dtype).cuda()
            torch._dynamo.reset()
            inductor = torch.compile(module)
            contenders["eager"] = lambda m=module, x=given: m(*x)
            contenders["compile"] = lambda m=inductor, x=given: m(*x)
        with torch.no_grad():
            row(tag, error, _gpu_times(contenders))


def _gpu_tensor(array: Any, dtype: str) -> Any:
    import torch

    if dtype == "bfloat16":
        return torch.from_numpy(array.view(numpy.int16)).view(torch.bfloat16).cuda()
    return torch.from_numpy(array).cuda()


def _gpu_times(contenders: dict[str, Callable[[], Any]], rounds: int = 7) -> dict[str, float]:
    """Median wall time of a call in microseconds: 30 calls, then a synchronisation."""
    import torch

    samples: dict[str, list[float]] = {name: [] for name in contenders}
    for function in contenders.values():
        function()
    for _ in range(rounds):
        for name, function in contenders.items():
            torch.cuda.synchronize()
            started = time.perf_counter()
            for _ in range(30):
                function()
            torch.cuda.synchronize()
            samples[name].append((time.perf_counter() - started) / 30 * 1e6)
    return {name: statistics.median(values) for name, values in samples.items()}


def main() -> None:
    """See the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mode", choices=("cpu", "run"))
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    if args.mode == "cpu":
        run_cpu(args.only)
    elif args.folder is None:
        parser.error("run needs a folder")
    else:
        run_gpu(args.folder, args.only)


if __name__ == "__main__":
    main()
