"""What JAX programs are made of beside the models: families of functions, static and with a symbolic dimension.

The reference is the same function run by JAX in float64 (integers as they are).
"""

from __future__ import annotations

import numpy as np
import pytest

import kc

jax = pytest.importorskip("jax")
jnp, lax = jax.numpy, jax.lax


def sorting(v):
    values, where = lax.top_k(v, 3)
    return jnp.sort(v, 0), jnp.argsort(v, 1), values, where, jnp.median(v, 1), jnp.searchsorted(v[0], v[0] * 0.5)


def scans(v):
    total, steps = lax.scan(lambda c, y: (c * 0.5 + y, c.sum()), jnp.zeros(6, v.dtype), v)
    return jnp.cumsum(v, 0), lax.cummax(v, 1), jnp.cumprod(v, 1), lax.associative_scan(jnp.add, v, axis=1), total, steps


def indexing(v):
    picked = jnp.array([0, 0, 5, 2])
    return (
        v[:, picked],
        jnp.take(v, picked, axis=1, mode="clip"),
        v.at[:, picked].add(1.0),
        v.at[0, jnp.array([1, 9, -1])].multiply(3.0, mode="drop"),
        v.at[:, 1].max(0.25),
        jax.ops.segment_sum(v.T, jnp.array([0, 1, 0, 2, 1, 1]), 3),
        jnp.take_along_axis(v, jnp.argmax(v, 1)[:, None], 1),
        lax.dynamic_slice_in_dim(v, 4, 3, 1),
    )


def movement(v):
    return (
        jnp.pad(v, ((1, 2), (0, 1)), constant_values=7.0),
        v[::-1, ::2],
        jnp.concatenate([v, v * 2], 1),
        jnp.roll(v, 2, 1),
        jnp.tile(v, (2, 1)),
        jnp.stack([v, v], 1),
        jnp.repeat(v, 2, 1),
        v.reshape(v.shape[0], 2, 3).transpose(1, 0, 2),
        jnp.tril(v @ v.T),
        v.reshape(-1),
    )


def contractions(v):
    return (
        jnp.einsum("ij,kj,il->kl", v, v, v),
        lax.reduce_window(v, -jnp.inf, lax.max, (2, 2), (1, 1), "SAME"),
        lax.conv_general_dilated(v[None, :, :, None], jnp.ones((2, 3, 1, 2), v.dtype), (1, 1), "SAME",
                                 dimension_numbers=("NHWC", "HWIO", "NHWC")),
        v.var(), jax.nn.logsumexp(v, 1), v / jnp.linalg.norm(v, axis=1, keepdims=True),
        jax.grad(lambda x: (jnp.tanh(x) @ x.T).sum())(v),
    )  # fmt: skip


def control(v):
    n = v.shape[0]
    return (
        lax.cond(v.sum() > 0, lambda y: y + 1, lambda y: y * 2, v),
        lax.switch(2, [lambda y: y, lambda y: y * 2, lambda y: y - 1], v),
        lax.fori_loop(0, n, lambda i, c: c + v[i], jnp.zeros(6, v.dtype)),
        jax.vmap(lambda r: lax.while_loop(lambda c: c.sum() < 10, lambda c: c + 1, jnp.abs(r)))(v),
    )


def special(v):
    u = jnp.abs(v)
    return (
        lax.erf(v), lax.erfc(v), lax.erf_inv(jnp.tanh(v)), lax.lgamma(u + 0.5), lax.digamma(u + 0.5),
        jnp.sin(v), jnp.cos(v), jnp.tan(v), jnp.sinh(v), jnp.arctan2(v, 0.3 - v), jnp.arcsin(jnp.tanh(v)),
        u**2.5, jnp.log1p(u), jnp.expm1(v * 0.01), jnp.cbrt(v), jax.nn.gelu(v), jax.nn.softplus(v), jnp.mod(v, 0.3),
    )  # fmt: skip


def solvers(v):
    spd = v.T @ v + 9 * jnp.eye(6, dtype=v.dtype)
    lower = jnp.linalg.cholesky(spd)
    return (
        lower,
        jax.scipy.linalg.cho_solve((lower, True), v.T),
        lax.linalg.triangular_solve(lower, v, left_side=False, lower=True, transpose_a=True),
    )


def complex_numbers(v):
    z = v + 1j * v[::-1]
    f = jnp.fft.fft(z)
    return jnp.abs(z), (z * z / (z + 3)).real, f.real, f.imag, jnp.fft.irfft(jnp.fft.rfft(v)), jnp.fft.ifft2(f).imag


FAMILIES = [sorting, scans, indexing, movement, contractions, control, special, solvers, complex_numbers]
#: no symbolic extent where JAX itself or the transform needs a number
SYMBOLIC = [sorting, scans, indexing, movement, contractions, control, solvers]


def check(results, function, v: np.ndarray) -> None:
    with jax.enable_x64(True):
        reference = [np.asarray(r) for r in jax.tree.leaves(jax.jit(function)(v.astype(np.float64)))]
    results = jax.tree.leaves(results)
    assert len(results) == len(reference)
    for k, (got, want) in enumerate(zip(results, reference, strict=True)):
        got = np.asarray(got)
        assert got.shape == want.shape, f"result {k}"
        if got.dtype.kind in "iub":
            np.testing.assert_array_equal(got, want, err_msg=f"result {k}")
        else:
            scale = max(1e-3, float(np.abs(want[np.isfinite(want)]).max()))
            np.testing.assert_allclose(got, want, rtol=2e-5, atol=5e-6 * scale, err_msg=f"result {k}")


def sample(rows: int) -> np.ndarray:
    return np.random.default_rng(rows).standard_normal((rows, 6)).astype(np.float32)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda f: f.__name__)
def test_static(family):
    v = sample(4)
    check(kc.jit(family)(v), family, v)


@pytest.mark.parametrize("family", SYMBOLIC, ids=lambda f: f.__name__)
def test_symbolic(family):
    jitted = kc.jit(family, polymorphic_shapes=("b, _",))
    for rows in (4, 1, 7):
        v = sample(rows)
        check(jitted(v), family, v)


def test_random_numbers_are_those_of_jax():
    def draw(v):  # four kinds of draws from one key
        key = jax.random.key(3)
        return (jax.random.bits(key, (5,), np.uint32), jax.random.randint(key, (7,), 0, 1000),
                jax.random.normal(key, (4, 4)) + v, jax.random.permutation(key, jnp.arange(9)))  # fmt: skip

    v = np.zeros((4, 4), np.float32)
    for got, want in zip(kc.jit(draw)(v), jax.jit(draw)(v), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


def test_two_symbolic_axes():
    def attention(q, k, lengths):
        scores = jnp.einsum("bqd,bkd->bqk", q, k) * 8**-0.5
        keep = jnp.arange(k.shape[1])[None, None, :] < lengths[:, None, None]
        return jax.nn.softmax(jnp.where(keep, scores, -jnp.inf), -1) @ k

    jitted = kc.jit(attention, polymorphic_shapes=("b, s, 8", "b, t, 8", "b"))
    for b, s, t in ((2, 3, 5), (1, 4, 1), (3, 1, 6)):
        rng = np.random.default_rng(b)
        q, k = (rng.standard_normal((b, n, 8)).astype(np.float32) for n in (s, t))
        lengths = rng.integers(1, t + 1, b).astype(np.int32)
        np.testing.assert_allclose(jitted(q, k, lengths), jax.jit(attention)(q, k, lengths), rtol=2e-5, atol=1e-6)
