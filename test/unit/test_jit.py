"""``kc.jit``: pytrees, static arguments, caching, kinds of arrays, errors."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import kc
from kc.errors import InputError

jax = pytest.importorskip("jax")
jnp = jax.numpy


def test_pytrees_and_kinds_of_arrays():
    @kc.jit
    def f(p, x, scale=2.0):
        return {"sum": p["a"] + p["b"][0] * x, "scaled": (x * scale, p["n"])}

    p = {"a": np.ones(3, np.float32), "b": [np.arange(3, dtype=np.float32)], "n": np.int32(7)}
    x = np.full(3, 2, np.float32)
    result = f(p, x)
    np.testing.assert_array_equal(result["sum"], [1, 3, 5])
    np.testing.assert_array_equal(result["scaled"][0], [4, 4, 4])
    assert isinstance(result["sum"], np.ndarray) and result["scaled"][1] == 7
    result = f(jax.tree.map(jnp.asarray, p), jnp.asarray(x), scale=3.0)
    assert isinstance(result["sum"], jax.Array)
    np.testing.assert_array_equal(result["scaled"][0], [6, 6, 6])


def test_one_compilation_per_signature():
    traced = []

    @kc.jit
    def f(x):
        traced.append(x.shape)
        return x + 1

    for shape in ((2,), (3,), (2,)):
        f(np.zeros(shape, np.float32))
    f(np.zeros((2,), np.int32))
    assert traced == [(2,), (3,), (2,)]
    assert f.compiled(np.ones(2, np.float32)) is f.compiled(np.zeros(2, np.float32))


def test_static_arguments():
    def f(x, power, sign=1):
        return sign * x**power

    by_number, by_name = kc.jit(f, static_argnums=1), kc.jit(f, static_argnames=("sign",))
    x = np.array([1, 2, 3], np.float32)
    np.testing.assert_array_equal(by_number(x, 2), [1, 4, 9])
    np.testing.assert_array_equal(by_number(x, 3), [1, 8, 27])
    np.testing.assert_array_equal(by_name(x, 2, sign=-1), [-1, -4, -9])
    with pytest.raises(InputError, match="must be hashable"):
        by_number(x, [2])


def test_unused_arguments_and_constants():
    table = np.arange(3, dtype=np.float32)
    f = kc.jit(lambda x, unused: x + table)
    np.testing.assert_array_equal(f(np.ones(3, np.float32), np.zeros(1000)), [1, 2, 3])
    np.testing.assert_array_equal(kc.jit(lambda: jnp.arange(4) * 2)(), [0, 2, 4, 6])


def test_symbolic_shapes():
    f = kc.jit(lambda x, y: (x @ y, x.sum(0)), polymorphic_shapes=("b, k", "k, _"))
    executables = set()
    for b, k in ((1, 2), (4, 3), (7, 5)):
        x, y = np.ones((b, k), np.float32), np.ones((k, 2), np.float32)
        product, total = f(x, y)
        np.testing.assert_array_equal(product, np.full((b, 2), k))
        np.testing.assert_array_equal(total, np.full(k, b))
        executables.add(id(f.compiled(x, y)))
    assert len(executables) == 1
    with pytest.raises(kc.runtime.ArgumentError, match="dimension 0 is 4, but 'k' is 3"):
        f(np.ones((2, 3), np.float32), np.ones((4, 2), np.float32))
    with pytest.raises(InputError, match="by position"):
        f(np.ones((2, 3), np.float32), y=np.ones((3, 2), np.float32))


def test_unsigned_and_64_bits():
    f = kc.jit(lambda x: (x // 3, x >> 1, x.astype(np.float32)))
    x = np.array([0, 1, 4294967295], np.uint32)
    quotient, shifted, wide = f(x)
    assert quotient.dtype == np.uint32
    np.testing.assert_array_equal(quotient, x // 3)
    np.testing.assert_array_equal(shifted, x >> 1)
    np.testing.assert_array_equal(wide, x.astype(np.float32))
    with jax.enable_x64(True):
        result = kc.jit(lambda x: x * 2)(np.array([2.0**60], np.float64))
    assert result.dtype == np.float64 and result[0] == 2.0**61


def test_errors(monkeypatch):
    with pytest.raises(InputError, match="takes a function"):
        kc.jit(3)
    f = kc.jit(lambda x: x + 1)
    monkeypatch.setitem(sys.modules, "jax", None)
    with pytest.raises(InputError, match=r"pip install 'kc\[jax\]'"):
        kc.jit(lambda x: x)
    with pytest.raises(InputError, match=r"kc\[jax\]"):
        f(np.ones(3))


@pytest.mark.parametrize("shapes", [None, (None, "b, _")])
def test_random_keys_go_in_and_out(shapes):
    def f(key, x):
        key, other = jax.random.split(key)
        return key, x + jax.random.normal(other, (4,))

    x = np.zeros((3, 4), np.float32)
    key, noise = kc.jit(f, polymorphic_shapes=shapes)(jax.random.key(5), x)
    want_key, want = f(jax.random.key(5), x)
    assert key.dtype == want_key.dtype
    np.testing.assert_array_equal(jax.random.key_data(key), jax.random.key_data(want_key))
    np.testing.assert_allclose(noise, want, rtol=1e-5, atol=1e-6)
    assert jax.config.jax_use_shardy_partitioner
