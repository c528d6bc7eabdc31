"""Single operations on a GPU, most of them on the general road, against NumPy.

    python test/integration/gpu/operations.py make DIR     where MLIR and JAX are installed: artifacts and answers
    python test/integration/gpu/run_artifacts.py DIR       on the GPU: needs kc.runtime, NumPy, PyTorch

Same format as ``models.py``. Answers are NumPy's in float64 (exact for integers); inputs are float32 unless the name
says otherwise.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

Case = tuple[Callable[..., Any], tuple[Any, ...], Callable[..., Any]]


def cases() -> dict[str, Case]:
    """name -> (JAX function, arguments, the same in NumPy on float64)."""
    import jax
    import jax.numpy as jnp
    from jax import lax

    rng = np.random.default_rng(0)

    def normal(*shape: int) -> np.ndarray:
        return rng.standard_normal(shape).astype(np.float32)

    def top_k(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        order = np.argsort(-x, axis=-1, kind="stable")[:, :5]
        return np.take_along_axis(x, order, -1), order.astype(np.int32)

    def scatter(x: np.ndarray, at: np.ndarray, u: np.ndarray) -> np.ndarray:
        result = x.copy()
        for k, row in zip(at, u, strict=True):
            if 0 <= k < len(x):
                result[k] += row
        return result

    def double_until(x: np.ndarray) -> tuple[np.ndarray, np.int32]:
        turns = 0
        while x.sum() < 1000:
            x, turns = x * 2, turns + 1
        return x, np.int32(turns)

    def convolve(x: np.ndarray, w: np.ndarray) -> np.ndarray:
        padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
        result = np.zeros((x.shape[0], w.shape[0], x.shape[2], x.shape[3]))
        for i in range(3):
            for j in range(3):
                window = padded[:, :, i : i + x.shape[2], j : j + x.shape[3]]
                result += np.einsum("bchw,oc->bohw", window, w[:, :, i, j])
        return result

    def recur(x: np.ndarray) -> np.ndarray:
        carry = np.zeros(x.shape[1])
        for row in x:
            carry = carry * 0.9 + row
        return carry

    big = normal(300, 1000)
    ints = rng.integers(-1000, 1000, (2, 501)).astype(np.int32)
    ints[1][ints[1] == 0] = 7
    magnitudes = [(normal(4000) * 10.0 ** rng.integers(-20, 20, 4000)).astype(np.float32) for _ in range(2)]
    z = (normal(65) + 1j * normal(65)).astype(np.complex64)
    spots = np.array([1, 3, 1, 700, -900, 5], np.int32)
    return {
        "sum": (lambda x: (x.sum(), x.sum(0), x.sum(1)), (big,), lambda x: (x.sum(), x.sum(0), x.sum(1))),
        "max": (lambda x: (x.max(), x.min(0)), (big,), lambda x: (x.max(), x.min(0))),
        "argmax": (
            lambda x: (jnp.argmax(x, 1).astype(jnp.int32), jnp.argmin(x, 0).astype(jnp.int32)),
            (big,),
            lambda x: (x.argmax(1).astype(np.int32), x.argmin(0).astype(np.int32)),
        ),
        "sort": (lambda x: jnp.sort(x, -1), (normal(7, 1000),), lambda x: np.sort(x, -1)),
        "top_k": (lambda x: lax.top_k(x, 5), (normal(7, 300),), top_k),
        "cumsum": (lambda x: jnp.cumsum(x, -1), (normal(5, 200),), lambda x: np.cumsum(x, -1)),
        "gather": (lambda x, i: x[i], (normal(50, 33), np.array([[3, 49], [0, 7]], np.int32)), lambda x, i: x[i]),
        "scatter": (
            lambda x, i, u: x.at[i].add(u, mode="drop", wrap_negative_indices=False),
            (normal(40, 33), spots, normal(6, 33)),
            scatter,
        ),
        "convolution": (
            lambda x, w: lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NCHW", "OIHW", "NCHW")),
            (normal(2, 5, 17, 19), normal(8, 5, 3, 3)),
            convolve,
        ),
        "integers": (
            lambda a, b: (a // b, a % b, a ^ b, lax.population_count(a)),
            (ints[0], ints[1]),
            lambda a, b: (a // b, a % b, a ^ b, np.array([bin(int(v) & 0xFFFFFFFF).count("1") for v in a], np.int32)),
        ),
        "fmod": (lambda a, b: jnp.fmod(a, b), tuple(magnitudes), np.fmod),
        "complex": (lambda a: (jnp.abs(a * a), jnp.exp(a).real), (z,), lambda a: (np.abs(a * a), np.exp(a).real)),
        "slices": (
            lambda x: (x[1:-1:2, ::-1], jnp.concatenate([x, x.T], 1), jnp.pad(x, ((1, 2), (0, 3)))),
            (normal(32, 32),),
            lambda x: (x[1:-1:2, ::-1], np.concatenate([x, x.T], 1), np.pad(x, ((1, 2), (0, 3)))),
        ),
        "counted_loop": (
            lambda x: lax.scan(lambda c, r: (c * 0.9 + r, 0), jnp.zeros(9), x)[0],
            (normal(20, 9),),
            recur,
        ),
        "device_loop": (
            lambda x: lax.while_loop(lambda c: c[0].sum() < 1000, lambda c: (c[0] * 2, c[1] + 1), (x, jnp.int32(0))),
            (np.abs(normal(77)),),
            double_until,
        ),
        "branch": (
            lambda x, p: lax.cond(p > 0, lambda v: v * 2, lambda v: v - 1, x),
            (normal(40), np.int32(1)),
            lambda x, p: x * 2,
        ),
        "erf": (lambda x: jax.scipy.special.erf(x), (normal(300),), _erf),
        "softmax": (
            lambda x: jax.nn.softmax(x, -1),
            (normal(33, 1000),),
            lambda x: (
                np.exp(x - x.max(-1, keepdims=True)) / np.exp(x - x.max(-1, keepdims=True)).sum(-1, keepdims=True)
            ),
        ),
        "matmul": (lambda a, b: a @ b, (normal(130, 70), normal(70, 90)), lambda a, b: a @ b),
        "cholesky": (lambda a: jnp.linalg.cholesky(a @ a.mT + jnp.eye(70)), (normal(2, 70, 70),), _cholesky),
        "triangular_solve": (
            lambda a, b: jax.scipy.linalg.solve_triangular(a + 9 * jnp.eye(100), b, trans=1),
            (normal(100, 100), normal(100, 40)),
            lambda a, b: np.linalg.solve(np.triu(a + 9 * np.eye(100)).T, b),
        ),
        "random_bits": (_random_bits(jax), (np.array([7, 2**32 - 9, 5, 2**31], np.uint32),), _bits_answer),
        # cuSOLVER; without it LAPACK from SciPy, on the host
        "qr": (lambda a: jnp.linalg.qr(a)[1], (normal(20, 9),), lambda a: np.linalg.qr(a)[1]),
        "eigenvalues": (lambda a: jnp.linalg.eigvalsh(a), (normal(3, 20, 20),), _eigenvalues),
        "singular_values": (
            lambda a: jnp.linalg.svd(a, compute_uv=False),
            (normal(2, 9, 40),),
            lambda a: np.linalg.svd(a, compute_uv=False),
        ),
        "low_rank": (lambda a: _rebuilt(jnp.linalg.svd(a @ a.mT, full_matrices=False)), (normal(3, 20, 4),), _gram),
        "inverse": (
            lambda a: jnp.linalg.inv(a + 9 * jnp.eye(30)),
            (normal(3, 30, 30),),
            lambda a: np.linalg.inv(a + 9 * np.eye(30)),
        ),
        "empty": (lambda x: (x * 2, x.sum(0)), (normal(0, 5),), lambda x: (x * 2, x.sum(0))),
    }


def _cholesky(a: np.ndarray) -> np.ndarray:
    return np.linalg.cholesky(a @ np.swapaxes(a, -1, -2) + np.eye(a.shape[-1]))


def _eigenvalues(a: np.ndarray) -> np.ndarray:
    return np.linalg.eigvalsh((a + np.swapaxes(a, -1, -2)) / 2)


def _rebuilt(parts: Any) -> Any:
    u, s, vt = parts
    return (u * s[..., None, :]) @ vt


def _gram(a: np.ndarray) -> np.ndarray:
    return a @ np.swapaxes(a, -1, -2)


def _random_bits(jax: Any) -> Callable[..., Any]:
    """Bits of both algorithms, in every way that blocks become elements."""

    def made(key: Any) -> Any:
        algorithms = jax.lax.RandomAlgorithm
        shapes = ((algorithms.RNG_PHILOX, (33, 5)), (algorithms.RNG_THREE_FRY, (33, 5)), (algorithms.RNG_THREE_FRY, ()))
        return [jax.lax.rng_bit_generator(key, shape, algorithm=algorithm) for algorithm, shape in shapes]

    return made


def _bits_answer(key: np.ndarray) -> Any:
    import jax

    return jax.tree.map(np.asarray, jax.jit(_random_bits(jax))(key))


def _erf(x: np.ndarray) -> np.ndarray:
    import math

    return np.vectorize(math.erf)(x)


def make(folder: Path, target: str, only: str) -> None:
    """Compile every case and write its artifact, inputs and answers."""
    import jax
    from models import save_case

    import kc

    folder.mkdir(parents=True, exist_ok=True)
    index: list[Any] = []
    for name, (function, arguments, reference) in cases().items():
        tag = f"operation-{name}-float32-static"
        if only not in tag:
            continue
        executable = kc.jit(function, target=target).compiled(*arguments)
        wide = {np.dtype("float32"): np.float64, np.dtype("complex64"): np.complex128}
        answers = reference(*(a.astype(wide.get(a.dtype, a.dtype)) for a in map(np.asarray, arguments)))
        save_case(folder, tag, executable, [([np.asarray(a) for a in arguments], jax.tree.leaves(answers))], index)
        print(tag, flush=True)
    (folder / "index.json").write_text(json.dumps(index))


def main() -> int:
    """See the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mode", choices=("make",))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--target", default="nvptx:sm_90a")
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    make(args.folder, args.target, args.only)
    return 0


if __name__ == "__main__":
    sys.exit(main())
