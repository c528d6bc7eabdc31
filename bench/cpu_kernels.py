"""CPU kernels of kc beside NumPy, PyTorch and XLA: interleaved rounds, process CPU time, one core.

``python bench/cpu_kernels.py [matmul mlp softmax layernorm gelu attention conv]``; PyTorch and JAX must be installed.
Each line: median and least time in ms, and the ratio to kc's (above 1: slower than kc), as the median over rounds.
"""
from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

os.environ.update(OPENBLAS_NUM_THREADS="1", KC_NUM_THREADS="1")
os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
import torch  # noqa: E402

import kc  # noqa: E402

torch.set_num_threads(1)
torch.set_grad_enabled(False)
ROUNDS = 15
Runs = dict[str, Callable[[], Any]]


def compiled(function: Callable[..., Any], *arrays: np.ndarray) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """``function`` (written with jax.numpy) by kc and by XLA, after a check that they agree."""
    jitted = jax.jit(function)
    program = kc.compile(jitted.lower(*arrays).as_text(), target="cpu")
    device = [jax.device_put(array) for array in arrays]
    expected, result = np.asarray(jitted(*device)), program(*arrays)[0]
    error = np.abs(result - expected).max() / np.abs(expected).max()
    assert error < 1e-4, f"kc and XLA differ by {error}"
    return (lambda: program(*arrays)), (lambda: jitted(*device).block_until_ready())


def random(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)


def matmul(size: int = 1024) -> Runs:
    a, b = random(size, size), random(size, size)
    ours, xla = compiled(lambda x, y: x @ y, a, b)
    return {"kc": ours, "OpenBLAS": lambda: np.matmul(a, b), "XLA": xla}


def mlp() -> Runs:
    x, w1, b1 = random(256, 768), random(768, 3072) * 0.03, random(3072)
    w2, b2 = random(3072, 768) * 0.03, random(768)
    ours, xla = compiled(lambda x, w1, b1, w2, b2: jax.nn.gelu(x @ w1 + b1, approximate=False) @ w2 + b2,
                         x, w1, b1, w2, b2)
    t = [torch.from_numpy(array) for array in (x, w1, b1, w2, b2)]
    return {"kc": ours, "XLA": xla, "torch": lambda: torch.addmm(
        t[4], torch.nn.functional.gelu(torch.addmm(t[2], t[0], t[1])), t[3])}


def softmax() -> Runs:
    x = random(1024, 4096)
    ours, xla = compiled(lambda x: jax.nn.softmax(x, axis=-1), x)
    t = torch.from_numpy(x)
    return {"kc": ours, "torch": lambda: torch.softmax(t, 1), "XLA": xla}


def layernorm() -> Runs:
    x, g, b = random(1024, 4096), random(4096), random(4096)

    def function(x: Any, g: Any, b: Any) -> Any:
        mean = x.mean(-1, keepdims=True)
        variance = ((x - mean) ** 2).mean(-1, keepdims=True)
        return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * g + b

    ours, xla = compiled(function, x, g, b)
    t = [torch.from_numpy(array) for array in (x, g, b)]
    return {"kc": ours, "torch": lambda: torch.nn.functional.layer_norm(t[0], (4096,), t[1], t[2]), "XLA": xla}


def gelu() -> Runs:
    x = random(1024, 4096)
    ours, xla = compiled(lambda x: jax.nn.gelu(x, approximate=False), x)
    t = torch.from_numpy(x)
    return {"kc": ours, "torch": lambda: torch.nn.functional.gelu(t), "XLA": xla}


def attention(heads: int = 12, length: int = 512, depth: int = 64) -> Runs:
    q, k, v = random(1, heads, length, depth), random(1, heads, length, depth) * 0.5, random(1, heads, length, depth)

    def function(q: Any, k: Any, v: Any) -> Any:
        return jax.nn.softmax(jnp.einsum("bhqd,bhkd->bhqk", q, k) / 8.0, axis=-1) @ v

    ours, xla = compiled(function, q, k, v)
    t = [torch.from_numpy(array) for array in (q, k, v)]
    return {"kc": ours, "torch SDPA": lambda: torch.nn.functional.scaled_dot_product_attention(*t, scale=0.125),
            "XLA": xla}


def conv() -> Runs:
    x, w = random(1, 56, 56, 64), random(3, 3, 64, 64) * 0.05

    def function(x: Any, w: Any) -> Any:
        return jax.lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))

    ours, xla = compiled(function, x, w)
    tx = torch.from_numpy(x).permute(0, 3, 1, 2)
    tw = torch.from_numpy(w).permute(3, 2, 0, 1).contiguous(memory_format=torch.channels_last)
    return {"kc": ours, "torch": lambda: torch.nn.functional.conv2d(tx, tw, padding=1), "XLA": xla}


def measure(runs: Runs) -> dict[str, list[float]]:
    """Process CPU time of each, in ms, over interleaved rounds."""
    times: dict[str, list[float]] = {name: [] for name in runs}
    for run in runs.values():
        run()
        run()
    for _ in range(ROUNDS):
        for name, run in runs.items():
            start = time.process_time()
            run()
            times[name].append((time.process_time() - start) * 1e3)
    return times


def main() -> None:
    workloads = {function.__name__: function for function in (matmul, mlp, softmax, layernorm, gelu, attention, conv)}
    for name in sys.argv[1:] or workloads:
        times = measure(workloads[name]())
        for who, values in times.items():
            ratio = statistics.median(v / base for v, base in zip(values, times["kc"], strict=True))
            print(f"{name:10s} {who:12s} median {statistics.median(values):8.3f}  least {min(values):8.3f}  "
                  f"/ kc {ratio:5.2f}", flush=True)


if __name__ == "__main__":
    main()
