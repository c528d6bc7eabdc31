"""Operations that are hard to make parallel, on a GPU, beside PyTorch: sorts, scatters, scans, windows, loops.

    python bench/gpu_operations.py build DIR [NAME ...]    compile the cases to artifacts (needs JAX, no GPU)
    python bench/gpu_operations.py run DIR [NAME ...]      check and time them (needs a GPU and PyTorch)

``run`` first compares with PyTorch on the same inputs, then times both with CUDA events in rounds that take turns:
calls back to back, median over the rounds, microseconds a call. A case whose result is off says so.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple


class Input(NamedTuple):
    """``kind``: ``normal``, ``index`` (integers below ``bound``, repeated) or ``unique`` (integers below ``bound``)."""

    shape: tuple[int, ...]
    dtype: str = "float32"
    kind: str = "normal"
    bound: int = 0


MILLION = 1 << 20
_SPOTS = Input((MILLION,), "int32", "index", 1 << 16)
INPUTS: dict[str, tuple[Input, ...]] = {
    "sort-1M": (Input((MILLION,)),),
    "sort-4096x1024": (Input((4096, 1024)),),
    "argsort-1M": (Input((MILLION,)),),
    "top-k-64x100k": (Input((64, 100_000)),),
    "scatter-add-1M": (Input((1 << 16,)), _SPOTS, Input((MILLION,))),
    "scatter-max-1M": (Input((1 << 16,)), _SPOTS, Input((MILLION,))),
    "scatter-mul-bf16-1M": (Input((1 << 16,), "bfloat16"), _SPOTS, Input((MILLION,), "bfloat16")),
    "scatter-set-1M": (Input((1 << 16,)), _SPOTS, Input((MILLION,))),
    "scatter-add-rows": (Input((10_000, 64)), Input((100_000,), "int32", "index", 10_000), Input((100_000, 64))),
    "scatter-unique": (Input((1 << 22,)), Input((MILLION,), "int32", "unique", 1 << 22), Input((MILLION,))),
    "gather-rows": (Input((1 << 16, 64)), Input((MILLION // 4,), "int32", "index", 1 << 16)),
    "cumsum-8192x8192": (Input((8192, 8192)),),
    "cumsum-axis-0": (Input((8192, 8192)),),
    "cumsum-16M": (Input((1 << 24,)),),
    "cummax-4096x4096": (Input((4096, 4096)),),
    "fft-2^20": (Input((MILLION,), "complex64"),),
    "fft-1024x1024": (Input((1024, 1024), "complex64"),),
    "max-pool": (Input((32, 64, 112, 112)),),
    "max-pool-gradient": (Input((32, 64, 56, 56)),),
    "depthwise": (Input((16, 64, 112, 112)), Input((64, 1, 3, 3))),
    "pad-concatenate": (Input((2048, 2048)), Input((2048, 2048))),
    "sum-all-64M": (Input((1 << 26,)),),
    "argmax-64M": (Input((1 << 26,)),),
    "uniform-16M": (Input((1,)),),
    "counted-loop-1000": (Input((256, 256)),),
    "device-loop-1000": (Input((256, 256)),),
    "cholesky-1024": (Input((1024, 1024)),),
    "solve-1024": (Input((1024, 1024)), Input((1024, 64))),
}
#: largest absolute difference over the largest absolute value of PyTorch's result, where it is not rounding alone
_BOUNDS = {"scatter-mul-bf16-1M": 0.1, "cumsum-16M": 1e-3, "cumsum-8192x8192": 1e-4, "cumsum-axis-0": 1e-4}


def jax_functions() -> dict[str, Callable[..., Any]]:
    """The cases as JAX functions."""
    import jax
    import jax.numpy as jnp
    from jax import lax

    def pool(x: Any) -> Any:
        return lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, 3, 3), (1, 1, 2, 2), ((0, 0), (0, 0), (1, 1), (1, 1)))

    def depthwise(x: Any, w: Any) -> Any:
        names = ("NCHW", "OIHW", "NCHW")
        return lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=names, feature_group_count=64)

    def definite(x: Any) -> Any:
        return x @ x.T / 1024 + jnp.eye(1024)

    return {
        "sort-1M": lambda x: jnp.sort(x, stable=True),
        "sort-4096x1024": lambda x: jnp.sort(x, axis=-1),
        "argsort-1M": lambda x: jnp.argsort(x, stable=True),
        "top-k-64x100k": lambda x: lax.top_k(x, 10)[0],
        "scatter-add-1M": lambda x, i, u: x.at[i].add(u),
        "scatter-max-1M": lambda x, i, u: x.at[i].max(u),
        "scatter-mul-bf16-1M": lambda x, i, u: x.at[i].mul(1 + u / 64),
        "scatter-set-1M": lambda x, i, u: x.at[i].set(u),
        "scatter-add-rows": lambda x, i, u: x.at[i].add(u),
        "scatter-unique": lambda x, i, u: x.at[i].add(u, unique_indices=True),
        "gather-rows": lambda x, i: x[i],
        "cumsum-8192x8192": lambda x: jnp.cumsum(x, 1),
        "cumsum-axis-0": lambda x: jnp.cumsum(x, 0),
        "cumsum-16M": lambda x: jnp.cumsum(x),
        "cummax-4096x4096": lambda x: lax.cummax(x, 1),
        "fft-2^20": jnp.fft.fft,
        "fft-1024x1024": jnp.fft.fft,
        "max-pool": pool,
        "max-pool-gradient": jax.grad(lambda x: pool(x).sum()),
        "depthwise": depthwise,
        "pad-concatenate": lambda x, y: jnp.pad(jnp.concatenate([x, y.T], 1), ((1, 1), (2, 2))),
        "sum-all-64M": jnp.sum,
        "argmax-64M": lambda x: jnp.argmax(x).astype(jnp.int32),
        "uniform-16M": lambda x: jax.random.uniform(jax.random.key(0), (1 << 24,)) + 0 * x,
        "counted-loop-1000": lambda x: lax.fori_loop(0, 1000, lambda i, c: c * 0.999 + i, x),
        "device-loop-1000": lambda x: lax.while_loop(lambda c: c[0, 0] < 1000, lambda c: c + 1, x * 0),
        "cholesky-1024": lambda x: jnp.linalg.cholesky(definite(x)),
        "solve-1024": lambda x, b: jax.scipy.linalg.solve_triangular(jnp.linalg.cholesky(definite(x)), b, lower=True),
    }


def torch_functions() -> dict[str, Callable[..., Any]]:
    """The same in PyTorch."""
    import torch
    import torch.nn.functional as F

    def reduced(x: Any, i: Any, u: Any, how: str) -> Any:
        return x.scatter_reduce(0, i.long(), u, how)

    def gradient(x: Any) -> Any:
        x = x.detach().requires_grad_()
        F.max_pool2d(x, 3, 2, 1).sum().backward()
        return x.grad

    def counted(x: Any) -> Any:
        for i in range(1000):
            x = x * 0.999 + i
        return x

    def device(x: Any) -> Any:
        x = x * 0
        while x[0, 0] < 1000:
            x = x + 1
        return x

    def definite(x: Any) -> Any:
        return x @ x.T / 1024 + torch.eye(1024, device=x.device)

    return {
        "sort-1M": lambda x: torch.sort(x)[0],
        "sort-4096x1024": lambda x: torch.sort(x, -1)[0],
        "argsort-1M": lambda x: torch.argsort(x, stable=True).int(),
        "top-k-64x100k": lambda x: torch.topk(x, 10)[0],
        "scatter-add-1M": lambda x, i, u: x.index_add(0, i, u),
        "scatter-max-1M": lambda x, i, u: reduced(x, i, u, "amax"),
        "scatter-mul-bf16-1M": lambda x, i, u: reduced(x, i, 1 + u / 64, "prod"),
        "scatter-set-1M": lambda x, i, u: x.index_copy(0, i.long(), u),
        "scatter-add-rows": lambda x, i, u: x.index_add(0, i, u),
        "scatter-unique": lambda x, i, u: x.index_add(0, i, u),
        "gather-rows": lambda x, i: x[i],
        "cumsum-8192x8192": lambda x: torch.cumsum(x, 1),
        "cumsum-axis-0": lambda x: torch.cumsum(x, 0),
        "cumsum-16M": lambda x: torch.cumsum(x, 0),
        "cummax-4096x4096": lambda x: torch.cummax(x, 1)[0],
        "fft-2^20": torch.fft.fft,
        "fft-1024x1024": torch.fft.fft,
        "max-pool": lambda x: F.max_pool2d(x, 3, 2, 1),
        "max-pool-gradient": gradient,
        "depthwise": lambda x, w: F.conv2d(x, w, padding=1, groups=64),
        "pad-concatenate": lambda x, y: F.pad(torch.cat([x, y.T], 1), (2, 2, 1, 1)),
        "sum-all-64M": torch.sum,
        "argmax-64M": lambda x: torch.argmax(x).int(),
        "uniform-16M": lambda x: torch.rand(1 << 24, device=x.device),
        "counted-loop-1000": counted,
        "device-loop-1000": device,
        "cholesky-1024": lambda x: torch.linalg.cholesky(definite(x)),
        "solve-1024": lambda x, b: torch.linalg.solve_triangular(torch.linalg.cholesky(definite(x)), b, upper=False),
    }


def build(folder: Path, names: list[str], target: str) -> None:
    """Compile the cases."""
    import jax

    import kc

    folder.mkdir(parents=True, exist_ok=True)
    functions = jax_functions()
    for name in names:
        given = [jax.ShapeDtypeStruct(i.shape, i.dtype) for i in INPUTS[name]]
        try:
            kc.jit(functions[name], target=target).compiled(*given).save(folder / f"{name}.kca")
        except Exception as error:  # one that does not compile must not hide the others
            print(f"{name}: {type(error).__name__}: {str(error)[:300]}", flush=True)


def _make(data: Input) -> Any:
    import torch

    if data.kind == "unique":
        return torch.randperm(data.bound, device="cuda")[: data.shape[0]].to(getattr(torch, data.dtype))
    if data.kind == "index":
        return torch.randint(0, data.bound, data.shape, device="cuda", dtype=getattr(torch, data.dtype))
    return torch.randn(data.shape, device="cuda", dtype=getattr(torch, data.dtype))


def _time(function: Callable[[], Any], budget_ms: float = 30) -> float:
    """Microseconds a call, calls back to back for about ``budget_ms``."""
    import torch

    def once(calls: int) -> float:
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        for _ in range(calls):
            function()
        end.record()
        end.synchronize()
        return float(begin.elapsed_time(end)) / calls

    first = once(1)
    calls = max(1, min(100, int(budget_ms / max(first, 1e-3))))
    return 1000 * (once(calls) if calls > 1 else first)


def _difference(name: str, got: Any, want: Any) -> str:
    import torch

    if name in ("uniform-16M", "scatter-set-1M"):  # other numbers; PyTorch says nothing about which store wins
        return "-"
    if not got.is_floating_point() and not got.is_complex():
        return "0" if torch.equal(got, want) else f"{int((got != want).sum())} differ, WRONG"
    wide = torch.complex128 if got.is_complex() else torch.float64
    error = float((got.to(wide) - want.to(wide)).abs().max() / want.to(wide).abs().max())
    return f"{error:.1e}" + ("" if error <= _BOUNDS.get(name, 1e-5) else ", WRONG")


def run(folder: Path, names: list[str]) -> None:
    """Check and time the cases that were built."""
    import torch

    import kc.runtime

    references = torch_functions()
    print(f"{'operation':22} {'kc µs':>10} {'PyTorch µs':>11} {'ratio':>6}  difference", flush=True)
    for name in names:
        torch.manual_seed(0)
        path = folder / f"{name}.kca"
        if not path.exists():
            print(f"{name:22} not built", flush=True)
            continue
        try:
            inputs = [_make(data) for data in INPUTS[name]]
            program = kc.runtime.load(path)
            difference = _difference(name, program(*inputs)[0], references[name](*inputs))
            rounds = [(_time(lambda: program(*inputs)), _time(lambda: references[name](*inputs))) for _ in range(3)]  # noqa: B023
            ours, theirs = (statistics.median(column) for column in zip(*rounds, strict=True))
            print(f"{name:22} {ours:10.1f} {theirs:11.1f} {ours / theirs:6.2f}  {difference}", flush=True)
        except Exception as error:
            print(f"{name:22} {type(error).__name__}: {str(error)[:300]}", flush=True)


def main() -> int:
    """See the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mode", choices=("build", "run"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--target", default="nvptx:sm_90a")
    args = parser.parse_args()
    names = [name for name in INPUTS if not args.names or any(given in name for given in args.names)]
    if args.mode == "build":
        build(args.folder, names, args.target)
    else:
        run(args.folder, names)
    return 0


if __name__ == "__main__":
    sys.exit(main())
