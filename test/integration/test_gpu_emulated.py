"""JAX models down the NVIDIA road, kernels formed but none scheduled, emulated on the CPU against NumPy in float64.

What a GPU would run is checked without one: host code, memory, copies, launches, and the kernels' arithmetic.
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
sys.path.insert(0, str(Path(__file__).parents[1] / "unit"))

BOUNDS = {np.dtype(np.float32): 2e-6, np.dtype(ml_dtypes.bfloat16): 3e-2}


@pytest.mark.parametrize(
    ("name", "dtype", "batches"),
    [
        ("mlp", np.float32, (2,)),
        ("norms", ml_dtypes.bfloat16, (1, 3)),
        ("generate", np.float32, (1, 3)),
        ("train", np.float32, (2,)),
    ],
)
def test_model(name: str, dtype: type, batches: tuple[int, ...]) -> None:
    """Several batches: one program for all of them, with a dynamic batch."""
    import jax_models
    from gpu_emulator import Emulator, compile_to_outline

    model = jax_models.MAKERS[name]()

    def cast(tree):
        return jax.tree.map(lambda a: a.astype(dtype) if a.dtype == np.float32 else a, tree)

    def widen(tree):
        return jax.tree.map(lambda a: a.astype(np.float64) if a.dtype.kind != "i" else a, tree)

    params = cast(model.params)
    shapes = (None, *model.polymorphic) if len(batches) > 1 else None
    traced = kc.jit(model.fn, polymorphic_shapes=shapes).trace(params, *cast(model.data(batches[0])))
    program = Emulator(compile_to_outline(traced.source, front_end=True, kernels=True))
    for batch in batches:
        data = cast(model.data(batch))
        results = program(*jax.tree.leaves((params, *data)))
        wanted = jax.tree.leaves(model.reference(widen(params), *widen(data)))
        assert len(results) == len(wanted)
        for got, want in zip(results, map(np.asarray, wanted), strict=True):
            assert got.shape == want.shape
            if got.dtype.kind == "i":
                np.testing.assert_array_equal(got, want)
            else:
                error = np.abs(got.astype(np.float64) - want).max() / np.abs(want).max()
                assert error < BOUNDS[np.dtype(dtype)]


def test_solvers_and_random_bits() -> None:
    """A factorisation of two blocks and a solution with it; bits as on the CPU."""
    from gpu_emulator import Emulator, compile_to_outline

    source = """
func.func @main(%s: tensor<2xui64>, %a: tensor<34x34xf32>, %b: tensor<34x2xf32>)
    -> (tensor<2xui64>, tensor<7x3xui32>, tensor<34x34xf32>, tensor<34x2xf32>) {
  %0, %1 = stablehlo.rng_bit_generator %s, algorithm = PHILOX : (tensor<2xui64>) -> (tensor<2xui64>, tensor<7x3xui32>)
  %2 = stablehlo.cholesky %a, lower = true : tensor<34x34xf32>
  %3 = "stablehlo.triangular_solve"(%2, %b) <{left_side = true, lower = true, unit_diagonal = false,
    transpose_a = #stablehlo<transpose TRANSPOSE>}> : (tensor<34x34xf32>, tensor<34x2xf32>) -> tensor<34x2xf32>
  return %0, %1, %2, %3 : tensor<2xui64>, tensor<7x3xui32>, tensor<34x34xf32>, tensor<34x2xf32>
}"""
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((34, 34)), rng.standard_normal((34, 2)).astype(np.float32)
    a = (a @ a.T / 34 + np.eye(34)).astype(np.float32)
    state = np.array([5, 2**64 - 2], np.uint64)
    got_state, bits, low, x = Emulator(compile_to_outline(source, front_end=True, kernels=True))(state, a, b)
    want_state, want_bits, _, _ = kc.compile(source)(state, a, b)
    np.testing.assert_array_equal(got_state.view(np.uint64), want_state)
    np.testing.assert_array_equal(bits.view(np.uint32), want_bits)
    exact = np.linalg.cholesky(a.astype(np.float64))
    assert np.abs(low - exact).max() < 1e-6
    assert np.abs(exact.T @ x - b).max() < 1e-5
