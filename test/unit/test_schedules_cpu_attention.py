"""The CPU schedule of attention, from JAX through the whole road, against NumPy in float64."""
from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import kc

#: kernels as small as these would be compiled without a schedule
SCHEDULED = {"brief": "0"}

jax = pytest.importorskip("jax")

DTYPES = {"f32": np.float32, "bf16": ml_dtypes.bfloat16}
#: scores reach 30, of which f32 keeps 2e-6
ACCURACY = {"f32": 1e-5, "bf16": 2e-2}


def build(function: Any, *arrays: np.ndarray) -> Any:
    """The program of a function or text, after a check that attention was recognised and scheduled."""
    text = function if isinstance(function, str) else jax.jit(function).lower(*arrays).as_text()
    program = kc.compile(text, target="cpu", options=SCHEDULED)
    linalg = program.stage("linalg")
    assert 'kc.kind = "attention"' in linalg and "__block" in linalg
    return program


def inputs(shape: tuple[int, int, int, int, int, int], t: str) -> list[np.ndarray]:
    """q (b, h, q, d), k (b, h, kv, d), v (b, h, kv, dv)."""
    b, h, q, kv, d, dv = shape
    rng = np.random.default_rng(sum(shape))
    return [(rng.standard_normal((b, h, rows, width)) * scale).astype(DTYPES[t])
            for rows, width, scale in ((q, d, 2.0), (kv, d, 1.0), (kv, dv, 1.0))]


def exact(q: np.ndarray, k: np.ndarray, v: np.ndarray, bias: np.ndarray | float = 0.0) -> np.ndarray:
    wide = [x.astype(np.float64) for x in (q, k, v)]
    score = np.einsum("bhqd,bhkd->bhqk", *wide[:2]) * 0.25 + bias
    p = np.exp(score - score.max(-1, keepdims=True))
    result: np.ndarray = np.einsum("bhqk,bhkv->bhqv", p / p.sum(-1, keepdims=True), wide[2])
    return result


def plain(q: Any, k: Any, v: Any) -> Any:
    score = jax.numpy.einsum("bhqd,bhkd->bhqk", q, k) * 0.25
    return jax.numpy.einsum("bhqk,bhkv->bhqv", jax.nn.softmax(score, axis=-1), v)


def causal(q: Any, k: Any, v: Any) -> Any:
    score = jax.numpy.einsum("bhqd,bhkd->bhqk", q, k) * 0.25
    mask = jax.numpy.tril(jax.numpy.ones((q.shape[2], k.shape[2]), bool))
    score = jax.numpy.where(mask, score, -jax.numpy.inf)
    return jax.numpy.einsum("bhqk,bhkv->bhqv", jax.nn.softmax(score, axis=-1), v)


SHAPES = [(1, 2, 48, 64, 16, 16), (2, 3, 37, 29, 20, 24), (1, 1, 5, 3, 8, 8), (2, 2, 130, 130, 64, 64),
          (1, 4, 2, 200, 12, 17)]


@pytest.mark.parametrize("shape", SHAPES)
def test_plain(shape: tuple[int, int, int, int, int, int]) -> None:
    arrays = inputs(shape, "f32")
    (y,) = build(plain, *arrays)(*arrays)
    assert np.abs(y - exact(*arrays)).max() < ACCURACY["f32"]


def test_bf16() -> None:
    arrays = inputs((2, 2, 50, 70, 32, 32), "bf16")
    (y,) = build(plain, *arrays)(*arrays)
    assert np.abs(y.astype(np.float64) - exact(*arrays)).max() < ACCURACY["bf16"]


@pytest.mark.parametrize("size", [16, 61, 130])
def test_causal(size: int) -> None:
    arrays = inputs((2, 2, size, size, 24, 16), "f32")
    bias = np.where(np.tril(np.ones((size, size), bool)), 0.0, -np.inf)
    (y,) = build(causal, *arrays)(*arrays)
    assert np.abs(y - exact(*arrays, bias)).max() < ACCURACY["f32"]


def test_bias_by_query_and_key() -> None:
    """A bias that has no head axis, some of it -inf."""
    arrays = inputs((2, 3, 33, 41, 16, 16), "f32")
    bias = np.random.default_rng(0).standard_normal((2, 1, 33, 41)).astype(np.float32)
    bias[:, :, :, 7] = -np.inf

    def biased(q: Any, k: Any, v: Any, b: Any) -> Any:
        score = jax.numpy.einsum("bhqd,bhkd->bhqk", q, k) * 0.25 + b
        return jax.numpy.einsum("bhqk,bhkv->bhqv", jax.nn.softmax(score, axis=-1), v)

    (y,) = build(biased, *arrays, bias)(*arrays, bias)
    assert np.abs(y - exact(*arrays, bias)).max() < ACCURACY["f32"]


def test_not_a_number_stays_in_its_query() -> None:
    arrays = inputs((1, 2, 20, 30, 16, 16), "f32")
    arrays[0][0, 1, 4, 3] = np.nan
    (y,) = build(plain, *arrays)(*arrays)
    assert np.isnan(y[0, 1, 4]).all()
    y[0, 1, 4] = 0
    expected = exact(*arrays)
    expected[0, 1, 4] = 0
    assert np.abs(y - expected).max() < ACCURACY["f32"]


def test_no_keys() -> None:
    """A sum over no keys is 0, also where the scores are folded away because they have no elements."""
    arrays = inputs((1, 2, 3, 0, 8, 8), "f32")
    (y,) = kc.compile(jax.jit(plain).lower(*arrays).as_text(), target="cpu", options=SCHEDULED)(*arrays)
    assert np.array_equal(y, np.zeros((1, 2, 3, 8), np.float32))


def test_as_many_keys_as_come() -> None:
    """The schedule with a number of keys that is known at run time only, and may be 0."""
    (kv,) = jax.export.symbolic_shape("kv")
    shapes = [jax.ShapeDtypeStruct(shape, np.float32) for shape in ((1, 2, 3, 8), (1, 2, kv, 8), (1, 2, kv, 8))]
    text = jax.export.export(jax.jit(plain), platforms=["cpu"])(*shapes).mlir_module()
    # JAX asserts that there is at least one key
    program = build("\n".join(line for line in text.splitlines() if "@shape_assertion" not in line))
    for keys in (0, 1, 29, 64):
        arrays = inputs((1, 2, 3, keys, 8, 8), "f32")
        (y,) = program(*arrays)
        expected = exact(*arrays) if keys else np.zeros((1, 2, 3, 8))
        assert np.abs(y - expected).max() < ACCURACY["f32"], keys


def test_masked_rows_of_pytorch() -> None:
    """PyTorch's softmax of a row without keys: zeros, where JAX's is NaN."""
    torch = pytest.importorskip("torch")

    class Attend(torch.nn.Module):  # type: ignore[misc, name-defined]
        def forward(self, q: Any, k: Any, v: Any, mask: Any) -> Any:
            return torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask, scale=0.25)

    arrays = inputs((1, 2, 9, 20, 16, 16), "f32")
    mask = np.random.default_rng(1).random((1, 1, 9, 20)) < 0.5
    mask[0, 0, 4] = False
    tensors = [torch.from_numpy(x) for x in (*arrays, mask)]
    expected = Attend()(*tensors).numpy()
    program = kc.torch.compile(Attend(), tuple(tensors), target="cpu", options=SCHEDULED)
    result = program(*tensors)
    y = np.asarray(result[0] if isinstance(result, tuple) else result)
    assert np.array_equal(np.isnan(y), np.isnan(expected))
    assert np.nanmax(np.abs(y - expected)) < ACCURACY["f32"]
