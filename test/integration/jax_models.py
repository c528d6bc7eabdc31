"""The six models of the test suite, as JAX functions, with weights as a pytree of arguments and NumPy float64
references.

Every ``make_*`` returns a ``Model``: the function, its arguments (weights first, data last), which axes of the data are
the batch, and a reference that takes the same arguments as float64 NumPy arrays and imports nothing of JAX.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import erf


@dataclasses.dataclass(frozen=True)
class Model:
    """One model: ``fn(params, *data)``; ``polymorphic`` are the shapes of ``data`` for a batch only known at run
    time."""

    name: str
    fn: Callable[..., Any]
    params: Any
    data: Callable[[int], tuple[np.ndarray, ...]]
    reference: Callable[..., Any]
    polymorphic: tuple[str, ...]


def _rand(rng: np.random.Generator, *shape: int, scale: float = 1.0) -> np.ndarray:
    return (rng.standard_normal(shape) * scale).astype(np.float32)


# ------------------------------------------------------------------------------------------------- (a) MLP


def _mlp_params(rng: np.random.Generator, d: int, hidden: int, out: int) -> dict[str, np.ndarray]:
    return {
        "w1": _rand(rng, d, hidden, scale=d**-0.5),
        "b1": _rand(rng, hidden, scale=0.1),
        "w2": _rand(rng, hidden, out, scale=hidden**-0.5),
        "b2": _rand(rng, out, scale=0.1),
    }


def _gelu64(x: np.ndarray) -> np.ndarray:
    return 0.5 * x * (1 + erf(x / np.sqrt(2.0)))


def _softmax64(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def make_mlp() -> Model:
    """(a) Two layers, exact GELU, softmax: ``x: b x 48`` to probabilities ``b x 10``."""
    import jax

    def fn(p, x):
        h = jax.nn.gelu(x @ p["w1"] + p["b1"], approximate=False)
        return jax.nn.softmax(h @ p["w2"] + p["b2"], axis=-1)

    def reference(p, x):
        return _softmax64(_gelu64(x @ p["w1"] + p["b1"]) @ p["w2"] + p["b2"])

    rng = np.random.default_rng(1)
    params = _mlp_params(rng, 48, 96, 10)
    return Model("mlp", fn, params, lambda b: (_rand(np.random.default_rng(b), b, 48),), reference, ("b, _",))


# ----------------------------------------------------------------------------------------------- (b) norms


def make_norms() -> Model:
    """(b) Layer norm, then RMS norm, over the last axis of ``x: b x 7 x 40``."""
    import jax.numpy as jnp
    from jax import lax

    def fn(p, x):
        mean = jnp.mean(x, -1, keepdims=True)
        var = jnp.mean(jnp.square(x - mean), -1, keepdims=True)
        y = (x - mean) * lax.rsqrt(var + 1e-5) * p["scale"] + p["bias"]
        rms = lax.rsqrt(jnp.mean(jnp.square(y), -1, keepdims=True) + 1e-6)
        return y, y * rms * p["gain"]

    def reference(p, x):
        mean = x.mean(-1, keepdims=True)
        y = (x - mean) / np.sqrt(np.square(x - mean).mean(-1, keepdims=True) + 1e-5) * p["scale"] + p["bias"]
        return y, y / np.sqrt(np.square(y).mean(-1, keepdims=True) + 1e-6) * p["gain"]

    rng = np.random.default_rng(2)
    params = {
        "scale": 1 + _rand(rng, 40, scale=0.1),
        "bias": _rand(rng, 40, scale=0.1),
        "gain": 1 + _rand(rng, 40, scale=0.1),
    }
    return Model(
        "norms", fn, params, lambda b: (_rand(np.random.default_rng(b), b, 7, 40, scale=2.0),), reference, ("b, _, _",)
    )


# ----------------------------------------------------------------------------- (c) transformer encoder block


def make_encoder() -> Model:
    """(c) Pre-norm encoder block, 4 heads, causal and padding mask: ``x: b x 12 x 32``, ``lengths: b`` (int32)."""
    import jax
    import jax.numpy as jnp
    from jax import lax

    heads, depth, seq, d = 4, 8, 12, 32

    def norm(x, g, b):
        mean = jnp.mean(x, -1, keepdims=True)
        var = jnp.mean(jnp.square(x - mean), -1, keepdims=True)
        return (x - mean) * lax.rsqrt(var + 1e-5) * g + b

    def fn(p, x, lengths):
        h = norm(x, p["g1"], p["c1"])

        def split(w):
            return (h @ w).reshape(h.shape[0], seq, heads, depth)

        q, k, v = split(p["wq"]), split(p["wk"]), split(p["wv"])
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) * depth**-0.5
        pos = jnp.arange(seq)
        keep = (pos[None, None, :] < lengths[:, None, None]) & (pos[None, None, :] <= pos[None, :, None])
        scores = jnp.where(keep[:, None], scores, jnp.finfo(scores.dtype).min)
        out = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores, -1), v).reshape(h.shape[0], seq, d)
        x = x + out @ p["wo"]
        h = norm(x, p["g2"], p["c2"])
        return x + jax.nn.gelu(h @ p["w1"] + p["b1"], approximate=True) @ p["w2"] + p["b2"]

    def norm64(x, g, b):
        mean = x.mean(-1, keepdims=True)
        return (x - mean) / np.sqrt(np.square(x - mean).mean(-1, keepdims=True) + 1e-5) * g + b

    def reference(p, x, lengths):
        h = norm64(x, p["g1"], p["c1"])
        b = x.shape[0]
        q, k, v = ((h @ p[w]).reshape(b, seq, heads, depth) for w in ("wq", "wk", "wv"))
        scores = np.einsum("bqhd,bkhd->bhqk", q, k) * depth**-0.5
        pos = np.arange(seq)
        keep = (pos[None, None, :] < lengths[:, None, None]) & (pos[None, None, :] <= pos[None, :, None])
        scores = np.where(keep[:, None], scores, -1e300)
        x = x + np.einsum("bhqk,bkhd->bqhd", _softmax64(scores), v).reshape(b, seq, d) @ p["wo"]
        h = norm64(x, p["g2"], p["c2"])
        z = h @ p["w1"] + p["b1"]
        return x + (0.5 * z * (1 + np.tanh(np.sqrt(2 / np.pi) * (z + 0.044715 * z**3)))) @ p["w2"] + p["b2"]

    rng = np.random.default_rng(3)
    params = {w: _rand(rng, d, d, scale=d**-0.5) for w in ("wq", "wk", "wv", "wo")}
    params |= _mlp_params(rng, d, 2 * d, d)
    params |= {
        "g1": 1 + _rand(rng, d, scale=0.1),
        "c1": _rand(rng, d, scale=0.1),
        "g2": 1 + _rand(rng, d, scale=0.1),
        "c2": _rand(rng, d, scale=0.1),
    }

    def data(b):
        rng = np.random.default_rng(b)
        return _rand(rng, b, seq, d), rng.integers(1, seq + 1, b).astype(np.int32)

    return Model("encoder", fn, params, data, reference, ("b, _, _", "b"))


# ----------------------------------------------------------------------------------- (d) convolutional net


def _conv64(x: np.ndarray, w: np.ndarray, stride: int) -> np.ndarray:
    """NHWC x HWIO, "SAME" padding as in TensorFlow and JAX."""
    kh, kw, _, out = w.shape
    b, h, wd, _ = x.shape
    oh, ow = -(-h // stride), -(-wd // stride)
    ph, pw = max((oh - 1) * stride + kh - h, 0), max((ow - 1) * stride + kw - wd, 0)
    x = np.pad(x, ((0, 0), (ph // 2, ph - ph // 2), (pw // 2, pw - pw // 2), (0, 0)))
    y = np.zeros((b, oh, ow, out))
    for i in range(kh):
        for j in range(kw):
            patch = x[:, i : i + stride * (oh - 1) + 1 : stride, j : j + stride * (ow - 1) + 1 : stride, :]
            y += patch @ w[i, j]
    return y


def make_convnet() -> Model:
    """(d) A small ResNet, NHWC: convolution, batch norm (inference), max pool, a residual block with a strided
    shortcut, average pool, classifier; ``x: b x 16 x 16 x 3`` to ``b x 10``."""
    import jax.numpy as jnp
    from jax import lax
    from jax.nn import relu

    def conv(x, w, stride=1):
        return lax.conv_general_dilated(x, w, (stride, stride), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))

    def bn(x, p):
        return (x - p["mean"]) * lax.rsqrt(p["var"] + 1e-5) * p["g"] + p["b"]

    def fn(p, x):
        x = relu(bn(conv(x, p["stem"]), p["bn0"]))
        x = lax.reduce_window(x, jnp.array(-jnp.inf, x.dtype), lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")
        y = relu(bn(conv(x, p["c1"], 2), p["bn1"]))
        y = bn(conv(y, p["c2"]), p["bn2"])
        x = relu(y + bn(conv(x, p["short"], 2), p["bn3"]))
        x = lax.reduce_window(x, jnp.array(0, x.dtype), lax.add, (1, 2, 2, 1), (1, 2, 2, 1), "VALID") / 4
        return jnp.mean(x, (1, 2)) @ p["w"] + p["bias"]

    def bn64(x, p):
        return (x - p["mean"]) / np.sqrt(p["var"] + 1e-5) * p["g"] + p["b"]

    def reference(p, x):
        x = np.maximum(bn64(_conv64(x, p["stem"], 1), p["bn0"]), 0)
        padded = np.pad(x, ((0, 0), (0, 1), (0, 1), (0, 0)), constant_values=-np.inf)
        x = np.max([padded[:, i : i + 15 : 2, j : j + 15 : 2] for i in range(3) for j in range(3)], axis=0)
        y = np.maximum(bn64(_conv64(x, p["c1"], 2), p["bn1"]), 0)
        y = bn64(_conv64(y, p["c2"], 1), p["bn2"])
        x = np.maximum(y + bn64(_conv64(x, p["short"], 2), p["bn3"]), 0)
        x = x.reshape(x.shape[0], 2, 2, 2, 2, -1).mean((2, 4))
        return x.mean((1, 2)) @ p["w"] + p["bias"]

    rng = np.random.default_rng(4)

    def norm(c):
        return {
            "mean": _rand(rng, c, scale=0.1),
            "var": (0.5 + rng.random(c)).astype(np.float32),
            "g": 1 + _rand(rng, c, scale=0.1),
            "b": _rand(rng, c, scale=0.1),
        }

    params = {
        "stem": _rand(rng, 3, 3, 3, 8, scale=0.3),
        "c1": _rand(rng, 3, 3, 8, 16, scale=0.15),
        "c2": _rand(rng, 3, 3, 16, 16, scale=0.1),
        "short": _rand(rng, 1, 1, 8, 16, scale=0.3),
        "w": _rand(rng, 16, 10, scale=0.25),
        "bias": _rand(rng, 10, scale=0.1),
        "bn0": norm(8),
        "bn1": norm(16),
        "bn2": norm(16),
        "bn3": norm(16),
    }
    return Model(
        "convnet", fn, params, lambda b: (_rand(np.random.default_rng(b), b, 16, 16, 3),), reference, ("b, _, _, _",)
    )


# ------------------------------------------------------------------------------------ (e) token generation


def make_generate() -> Model:
    """(e) Embedding lookup, a recurrent step and arg max, eight tokens by ``lax.fori_loop``, then a ``while_loop``.

    ``start: b`` (int32) to ``(tokens: b x 8, state: b x 16, trips)``.
    """
    import jax.numpy as jnp
    from jax import lax

    vocab, d, steps = 20, 16, 8

    def fn(p, start):
        def step(i, carry):
            tokens, state, token = carry
            state = jnp.tanh(p["embed"][token] + state @ p["w"])
            token = jnp.argmax(state @ p["head"], -1).astype(jnp.int32)
            return lax.dynamic_update_slice(tokens, token[:, None], (0, i)), state, token

        b = start.shape[0]
        init = (jnp.zeros((b, steps), jnp.int32), jnp.zeros((b, d), p["w"].dtype), start)
        tokens, state, _ = lax.fori_loop(0, steps, step, init)

        def shrink(carry):
            return carry[0] * jnp.asarray(0.5, carry[0].dtype), carry[1] + 1

        state, trips = lax.while_loop(lambda c: jnp.max(jnp.abs(c[0])) > 0.1, shrink, (state, jnp.int32(0)))
        return tokens, state, trips

    def reference(p, start):
        token, state, tokens, trips = start, np.zeros((len(start), d)), [], 0
        for _ in range(steps):
            state = np.tanh(p["embed"][token] + state @ p["w"])
            token = np.argmax(state @ p["head"], -1)
            tokens.append(token)
        while np.abs(state).max() > 0.1:
            state, trips = state * 0.5, trips + 1
        return np.stack(tokens, 1), state, np.int32(trips)

    rng = np.random.default_rng(5)
    params = {"embed": _rand(rng, vocab, d), "w": _rand(rng, d, d, scale=0.3), "head": _rand(rng, d, vocab)}
    return Model(
        "generate",
        fn,
        params,
        lambda b: (np.random.default_rng(b).integers(0, vocab, b).astype(np.int32),),
        reference,
        ("b",),
    )


# ---------------------------------------------------------------------------------------- (f) training step


def make_train() -> Model:
    """(f) Loss and ``jax.grad`` of the MLP with softmax cross-entropy, and the updated weights."""
    import jax
    import jax.numpy as jnp

    def loss(p, x, labels):
        h = jax.nn.gelu(x @ p["w1"] + p["b1"], approximate=True)
        logp = jax.nn.log_softmax(h @ p["w2"] + p["b2"], -1)
        return -jnp.mean(jnp.take_along_axis(logp, labels[:, None], 1))

    def fn(p, x, labels):
        value, grads = jax.value_and_grad(loss)(p, x, labels)
        return value, jax.tree.map(lambda w, g: w - jnp.asarray(0.5, w.dtype) * g, p, grads)

    def reference(p, x, labels):
        n, c = len(x), np.sqrt(2 / np.pi)
        z = x @ p["w1"] + p["b1"]
        t = np.tanh(c * (z + 0.044715 * z**3))
        h = 0.5 * z * (1 + t)
        prob = _softmax64(h @ p["w2"] + p["b2"])
        value = -np.mean(np.log(prob[np.arange(n), labels]))
        dy = prob.copy()
        dy[np.arange(n), labels] -= 1
        dy /= n
        dz = (dy @ p["w2"].T) * (0.5 * (1 + t) + 0.5 * z * (1 - t * t) * c * (1 + 3 * 0.044715 * z * z))
        grads = {"w1": x.T @ dz, "b1": dz.sum(0), "w2": h.T @ dy, "b2": dy.sum(0)}
        return value, {k: p[k] - 0.5 * grads[k] for k in p}

    rng = np.random.default_rng(6)
    params = _mlp_params(rng, 48, 96, 10)

    def data(b):
        rng = np.random.default_rng(b)
        return _rand(rng, b, 48), rng.integers(0, 10, b).astype(np.int32)

    return Model("train", fn, params, data, reference, ("b, _", "b"))


MAKERS: dict[str, Callable[[], Model]] = {
    "mlp": make_mlp,
    "norms": make_norms,
    "encoder": make_encoder,
    "convnet": make_convnet,
    "generate": make_generate,
    "train": make_train,
}
