"""Full speed through the whole ladder: programs written in JAX and PyTorch, compiled by kc, timed beside their peers.

    python bench/ladder.py cpu                        one thread of this machine's CPU: compile, run, compare
    python bench/ladder.py compile DIR                artifacts for the GPU (made where MLIR is installed)
    python bench/ladder.py run DIR                    on the GPU machine: needs kc.runtime and PyTorch only

All contenders of a case run in the same process in shuffled rounds; a row gives medians and the ratio of the peer's
time to the contender's (above 1: the contender is faster). On the CPU the measure is process CPU time on one pinned
core, since cores are shared; on the GPU it is the time between CUDA events around single calls after a short idle.
"""
from __future__ import annotations

import argparse
import dataclasses
import json
import os
import random
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any


@dataclasses.dataclass(frozen=True)
class Case:
    """One program: ``shapes`` and ``dtype`` of its inputs, ``flops`` or ``bytes`` of one call.

    ``goal`` is the least ratio of ``peer``'s time to kc's that counts as full speed.
    """

    name: str
    kind: str
    shapes: tuple[tuple[int, ...], ...]
    dtype: str
    peer: str
    goal: float
    flops: float = 0.0
    bytes: float = 0.0


def _gemm(size: int, kind: str, peer: str, goal: float) -> Case:
    shapes = ((size, size), (size, size)) + (((size,),) if kind == "gemm_gelu" else ())
    return Case(f"{kind} {size}", kind, shapes, "bfloat16", peer, goal, flops=2.0 * size**3)


def _rows(kind: str, rows: int, columns: int, dtype: str, goal: float) -> Case:
    shapes = ((rows, columns),) + (((columns,), (columns,)) if kind == "layer_norm" else ())
    size = {"float32": 4, "bfloat16": 2}[dtype]
    name = f"{kind} {rows}x{columns} {dtype}"
    return Case(name, kind, shapes, dtype, "copy", goal, bytes=2.0 * rows * columns * size)


GPU_CASES = (
    _gemm(4096, "gemm", "cuBLAS", 0.97),
    _gemm(8192, "gemm", "cuBLAS", 0.97),
    _gemm(8192, "gemm_gelu", "torch.compile", 1.00),
    _rows("softmax", 8192, 8192, "bfloat16", 0.90),
    _rows("softmax", 8192, 8192, "float32", 0.90),
    _rows("layer_norm", 16384, 4096, "bfloat16", 0.90),
    Case("attention causal 4x32x4096x128", "attention", ((4, 32, 4096, 128),) * 3, "bfloat16", "cuDNN", 1.00,
         flops=2.0 * 4 * 32 * 4096**2 * 128),
)
CPU_CASES = (
    Case("matmul 1024", "gemm", ((1024, 1024), (1024, 1024)), "float32", "OpenBLAS", 0.85, flops=2.0 * 1024**3),
    Case("softmax 1024x4096", "softmax", ((1024, 4096),), "float32", "torch eager", 1.2, bytes=8.0 * 1024 * 4096),
    Case("MLP 256x768x3072", "mlp", ((256, 768), (768, 3072), (3072,), (3072, 768), (768,)), "float32", "XLA", 0.95,
         flops=4.0 * 256 * 768 * 3072),
)


# ------------------------------------------------------------------------------------------------ the programs


def jax_function(kind: str) -> Callable[..., Any]:
    """The program as a JAX function."""
    import jax
    import jax.numpy as jnp

    def layer_norm(x: Any, w: Any, b: Any) -> Any:
        wide = x.astype(jnp.float32)
        centered = wide - wide.mean(-1, keepdims=True)
        scale = jax.lax.rsqrt((centered * centered).mean(-1, keepdims=True) + 1e-5)
        return (centered * scale * w + b).astype(x.dtype)

    def attention(q: Any, k: Any, v: Any) -> Any:
        scores = jnp.einsum("bhqd,bhkd->bhqk", q, k, preferred_element_type=jnp.float32) * q.shape[-1] ** -0.5
        mask = jnp.tril(jnp.ones(scores.shape[-2:], bool))
        weights = jax.nn.softmax(jnp.where(mask, scores, -jnp.inf), -1).astype(v.dtype)
        return jnp.einsum("bhqk,bhkd->bhqd", weights, v)

    def gelu(x: Any) -> Any:
        return jax.nn.gelu(x, approximate=False)

    functions: dict[str, Callable[..., Any]] = {
        "gemm": lambda a, b: a @ b,
        "gemm_gelu": lambda a, b, c: gelu(a @ b + c),
        "softmax": lambda x: jax.nn.softmax(x.astype(jnp.float32), -1).astype(x.dtype),
        "layer_norm": layer_norm,
        "attention": attention,
        "mlp": lambda x, w1, b1, w2, b2: gelu(x @ w1 + b1) @ w2 + b2,
    }
    return functions[kind]


def torch_function(kind: str) -> Callable[..., Any]:
    """The program as a PyTorch function."""
    import torch
    from torch.nn import functional

    functions: dict[str, Callable[..., Any]] = {
        "gemm": lambda a, b: a @ b,
        "gemm_gelu": lambda a, b, c: functional.gelu(a @ b + c),
        "softmax": lambda x: torch.softmax(x, -1),
        "layer_norm": lambda x, w, b: functional.layer_norm(x, x.shape[-1:], w, b),
        "attention": lambda q, k, v: functional.scaled_dot_product_attention(q, k, v, is_causal=True),
        "mlp": lambda x, w1, b1, w2, b2: functional.gelu(x @ w1 + b1) @ w2 + b2,
    }
    return functions[kind]


def stablehlo(case: Case) -> str:
    """The JAX function as StableHLO text."""
    import jax
    import jax.numpy as jnp

    specs = [jax.ShapeDtypeStruct(shape, getattr(jnp, case.dtype)) for shape in case.shapes]
    return jax.jit(jax_function(case.kind)).lower(*specs).as_text()


def exported(case: Case) -> Any:
    """The PyTorch function as an exported program; its example inputs hold no data."""
    import torch

    from kc.frontends import torch as frontend

    class Module(torch.nn.Module):
        def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
            return torch_function(case.kind)(*inputs)

    inputs = [torch.empty(shape, dtype=getattr(torch, case.dtype), device="meta") for shape in case.shapes]
    return frontend.export(Module(), inputs)


# ------------------------------------------------------------------------------------------------ compile, GPU


def compile_all(folder: Path, target: str, only: str) -> None:
    """Artifacts of every GPU case from both front ends into ``folder``, with an index."""
    import kc

    folder.mkdir(parents=True, exist_ok=True)
    index = []
    for number, case in enumerate(GPU_CASES):
        for front, make in (("jax", stablehlo), ("torch", exported)):
            if only not in case.name:
                continue
            started = time.perf_counter()
            executable = kc.compile(make(case), target)
            path = f"{number}-{front}.kca"
            executable.save(folder / path)
            kernels = ", ".join(k["name"] for k in executable.manifest["kernels"])
            print(f"{case.name:36} {front:6} {time.perf_counter() - started:6.1f} s  {kernels}", flush=True)
            index.append({"case": number, "front": front, "path": path})
    (folder / "index.json").write_text(json.dumps(index))


# ---------------------------------------------------------------------------------------------------- run, GPU


def run_all(folder: Path, rounds: int, only: str) -> int:
    """Time the artifacts beside PyTorch on this machine's GPU; returns the number of goals missed."""
    import torch

    import kc.runtime

    index = json.loads((folder / "index.json").read_text())
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}")
    print(f"{'case':36} {'contender':14} {'ms':>9} {'rate':>12} {'peer/kc':>8}  error")
    missed = 0
    for number, case in enumerate(GPU_CASES):
        mine = [entry for entry in index if entry["case"] == number]
        if not mine or only not in case.name:
            continue
        torch.manual_seed(number)
        inputs = [torch.randn(s, device="cuda").to(getattr(torch, case.dtype)) for s in case.shapes]
        if case.kind.startswith("gemm"):
            inputs[1] = inputs[1] * case.shapes[0][1] ** -0.5
        contenders: dict[str, Callable[[], Any]] = {}
        for entry in mine:
            program = kc.runtime.load(folder / entry["path"])
            contenders[f"kc ({entry['front']})"] = lambda p=program, x=inputs: p(*x)[0]
        contenders |= _gpu_peers(case, inputs)
        reference = _reference(case, inputs)
        errors = {n: _error(f(), reference) for n, f in contenders.items() if n != "copy"}
        times = _gpu_times(contenders, rounds)
        missed += _report(case, times, errors)
        del inputs, contenders, reference
        torch.cuda.empty_cache()
    return missed


def _gpu_peers(case: Case, inputs: Sequence[Any]) -> dict[str, Callable[[], Any]]:
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    function = torch_function(case.kind)
    peers: dict[str, Callable[[], Any]] = {"torch eager": lambda: function(*inputs)}
    if case.peer == "cuBLAS":
        return {"cuBLAS": lambda: torch.matmul(*inputs)}
    if case.peer == "cuDNN":

        def cudnn() -> Any:
            with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
                return function(*inputs)

        return {"cuDNN": cudnn, "torch eager": peers["torch eager"]}
    compiled = torch.compile(function)
    compiled(*inputs)
    peers["torch.compile"] = lambda: compiled(*inputs)
    if case.peer == "copy":
        destination = torch.empty_like(inputs[0])
        peers["copy"] = lambda: destination.copy_(inputs[0])
    return peers


def _reference(case: Case, inputs: Sequence[Any]) -> Any:
    """The result in float32 (TF32 off), or float64 for the row kernels."""
    import torch

    torch.backends.cuda.matmul.allow_tf32 = False
    wide = torch.float64 if case.peer == "copy" else torch.float32
    if case.kind == "attention":
        q, k, v = (t.to(wide) for t in inputs)
        out = torch.empty_like(q)
        mask = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool, device="cuda").tril()
        for b in range(q.shape[0]):
            scores = (q[b] @ k[b].mT * q.shape[-1] ** -0.5).masked_fill(~mask, float("-inf"))
            out[b] = scores.softmax(-1) @ v[b]
        return out
    return torch_function(case.kind)(*(t.to(wide) for t in inputs))


def _error(result: Any, reference: Any) -> float:
    """``‖result - reference‖ / ‖reference‖`` over the whole result."""
    difference = result.to(reference.dtype) - reference
    return float(difference.norm() / reference.norm())


def _gpu_times(contenders: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """Median over ``rounds`` shuffled rounds of the time of one call, in milliseconds.

    A round times 8 events of one call each; calls of less than 0.3 ms go back to back, 3 ms at a time, as they do in a
    model, so that what is seen is the kernel and not the way to its start.
    """
    import torch

    samples: dict[str, list[float]] = {name: [] for name in contenders}
    repeats = {}
    for name, function in contenders.items():
        once = statistics.median(_event_times(function, 8, 1))
        repeats[name] = 1 if once > 0.3 else max(1, round(3.0 / once))
    for _ in range(rounds):
        for name in random.sample(list(contenders), len(contenders)):
            torch.cuda.synchronize()
            time.sleep(0.15)
            samples[name].append(statistics.median(_event_times(contenders[name], 8, repeats[name])))
    return {name: statistics.median(values) for name, values in samples.items()}


def _event_times(function: Callable[[], Any], count: int, repeats: int) -> list[float]:
    """Milliseconds of one call, ``count`` times, each the mean of ``repeats`` calls between two events."""
    import torch

    function()
    events = [(torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)) for _ in range(count)]
    for start, end in events:
        start.record()
        for _ in range(repeats):
            function()
        end.record()
    torch.cuda.synchronize()
    return [start.elapsed_time(end) / repeats for start, end in events]


# --------------------------------------------------------------------------------------------------------- CPU


def run_cpu(rounds: int, only: str) -> int:
    """Compile for one thread of this CPU and time beside NumPy, PyTorch and XLA; returns the number of goals missed."""
    os.environ.update(KC_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1",
                      XLA_FLAGS="--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    import numpy
    import torch

    import kc

    torch.set_num_threads(1)
    print(f"{'case':36} {'contender':14} {'ms':>9} {'rate':>12} {'peer/kc':>8}  error")
    missed = 0
    for case in CPU_CASES:
        if only not in case.name:
            continue
        generator = numpy.random.default_rng(0)
        inputs = [generator.standard_normal(shape).astype(case.dtype) for shape in case.shapes]
        contenders: dict[str, Callable[[], Any]] = {}
        for front, make in (("jax", stablehlo), ("torch", exported)):
            executable = kc.compile(make(case))
            contenders[f"kc ({front})"] = lambda e=executable, x=inputs: e(*x)[0]
        contenders |= _cpu_peers(case, inputs)
        wide = [torch.from_numpy(x).double() for x in inputs]
        reference = torch_function(case.kind)(*wide)
        errors = {name: _error(torch.as_tensor(numpy.asarray(f())), reference) for name, f in contenders.items()}
        missed += _report(case, _cpu_times(contenders, rounds), errors)
    return missed


def _cpu_peers(case: Case, inputs: Sequence[Any]) -> dict[str, Callable[[], Any]]:
    import jax
    import torch

    tensors = [torch.from_numpy(x) for x in inputs]
    arrays = [jax.numpy.asarray(x) for x in inputs]
    function, jitted = torch_function(case.kind), jax.jit(jax_function(case.kind))
    peers: dict[str, Callable[[], Any]] = {
        "torch eager": lambda: function(*tensors),
        "XLA": lambda: jitted(*arrays).block_until_ready(),
    }
    if case.kind == "gemm":
        peers["OpenBLAS"] = lambda: inputs[0] @ inputs[1]
    return peers


def _cpu_times(contenders: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    samples: dict[str, list[float]] = {name: [] for name in contenders}
    for function in contenders.values():
        function()
    for _ in range(rounds):
        for name in random.sample(list(contenders), len(contenders)):
            started = time.process_time()
            contenders[name]()
            samples[name].append((time.process_time() - started) * 1e3)
    return {name: statistics.median(values) for name, values in samples.items()}


# ------------------------------------------------------------------------------------------------------ report


def _report(case: Case, times: dict[str, float], errors: dict[str, float]) -> int:
    """Print a case's rows; returns how many of kc's contenders miss the goal."""
    missed = 0
    for name, milliseconds in times.items():
        rate = case.flops / milliseconds / 1e9 if case.flops else case.bytes / milliseconds / 1e6
        unit = "TF/s" if case.flops else "GB/s"
        ratio = times[case.peer] / milliseconds
        error = f"{errors[name]:.2e}" if name in errors else ""
        verdict = ""
        if name.startswith("kc"):
            verdict = "" if ratio >= case.goal else f"  misses {case.goal} of {case.peer}"
            missed += ratio < case.goal
        row = f"{case.name:36} {name:14} {milliseconds:9.4f} {rate:7.3g} {unit:4} {ratio:8.3f}  {error}{verdict}"
        print(row, flush=True)
    return missed


def main() -> int:
    """See the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mode", choices=("cpu", "compile", "run"))
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--target", default="nvptx:sm_90a")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--only", default="", help="only the cases whose name contains this")
    args = parser.parse_args()
    if args.mode == "cpu":
        return int(run_cpu(max(args.rounds, 15), args.only) > 0)
    if args.folder is None:
        parser.error(f"{args.mode} needs a folder")
    if args.mode == "compile":
        compile_all(args.folder, args.target, args.only)
        return 0
    return int(run_all(args.folder, args.rounds, args.only) > 0)


if __name__ == "__main__":
    sys.exit(main())
