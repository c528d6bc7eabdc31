"""The six models, written in JAX, compiled and run by kc on the CPU: float32 and bfloat16, static and dynamic batch.

The reference is NumPy in float64 on the same (rounded) weights and inputs. The bound is relative to the largest value
of each result.
"""

from __future__ import annotations

import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import kc

jax = pytest.importorskip("jax")
sys.path.insert(0, str(Path(__file__).parent))
import jax_models  # noqa: E402

BOUNDS = {"f32": 2e-6, "bf16": 3e-2}
DTYPES = {"f32": np.float32, "bf16": ml_dtypes.bfloat16}


def cast(tree, dtype):
    return jax.tree.map(lambda a: a.astype(dtype) if a.dtype == np.float32 else a, tree)


def widen(tree):
    return jax.tree.map(lambda a: a.astype(np.float64) if a.dtype.kind != "i" else a, tree)


def check(results, reference, bound: float) -> float:
    """The largest error of any result, relative to that result's largest value."""
    worst = 0.0
    got, want = jax.tree.leaves(results), jax.tree.leaves(reference)
    assert len(got) == len(want)
    for g, w in zip(got, want, strict=True):
        g, w = np.asarray(g), np.asarray(w)
        assert g.shape == w.shape
        if g.dtype.kind == "i":
            np.testing.assert_array_equal(g, w)
            continue
        error = np.abs(g.astype(np.float64) - w).max() / np.abs(w).max()
        assert error <= bound, f"relative error {error:.2e}, allowed {bound:.0e}"
        worst = max(worst, float(error))
    return worst


@pytest.mark.parametrize("dtype", ["f32", "bf16"])
@pytest.mark.parametrize("name", jax_models.MAKERS)
def test_static(name: str, dtype: str):
    model = jax_models.MAKERS[name]()
    params, data = cast((model.params, model.data(5)), DTYPES[dtype])
    results = kc.jit(model.fn)(params, *data)
    check(results, model.reference(widen(params), *widen(data)), BOUNDS[dtype])


@pytest.mark.parametrize("dtype", ["f32", "bf16"])
@pytest.mark.parametrize("name", jax_models.MAKERS)
def test_dynamic_batch(name: str, dtype: str):
    model = jax_models.MAKERS[name]()
    jitted = kc.jit(model.fn, polymorphic_shapes=(None, *model.polymorphic))
    params = cast(model.params, DTYPES[dtype])
    executables = set()
    for batch in (1, 3, 8):
        data = cast(model.data(batch), DTYPES[dtype])
        check(jitted(params, *data), model.reference(widen(params), *widen(data)), BOUNDS[dtype])
        executables.add(id(jitted.compiled(params, *data)))
    assert len(executables) == 1
