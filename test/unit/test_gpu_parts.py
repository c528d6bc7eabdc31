"""Long reductions of few outputs on the NVIDIA road, cut into parts, emulated on the CPU (see ``gpu_emulator``)."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from gpu_emulator import Emulator, compile_to_outline

# blocks of 32 threads take parts of 1024 elements; a reduction is cut from 4 parts on
LENGTH = 5 * 1024 + 77
PROGRAM = f"""
#in = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @products(%x: tensor<2x{LENGTH}xf64>) -> tensor<2xf64> {{
  %one = arith.constant 1.0 : f64
  %e = tensor.empty() : tensor<2xf64>
  %i = linalg.fill ins(%one : f64) outs(%e : tensor<2xf64>) -> tensor<2xf64>
  %r = linalg.generic {{indexing_maps = [#in, #row], iterator_types = ["parallel", "reduction"]}}
      ins(%x : tensor<2x{LENGTH}xf64>) outs(%i : tensor<2xf64>) {{
  ^bb0(%a: f64, %o: f64):
    %p = arith.mulf %a, %o : f64
    linalg.yield %p : f64
  }} -> tensor<2xf64>
  return %r : tensor<2xf64>
}}
func.func @argmax(%x: tensor<2x{LENGTH}xi32>) -> (tensor<2xi32>, tensor<2xi32>) {{
  %low = arith.constant -2147483648 : i32
  %none = arith.constant -1 : i32
  %e = tensor.empty() : tensor<2xi32>
  %f = tensor.empty() : tensor<2xi32>
  %i = linalg.fill ins(%low : i32) outs(%e : tensor<2xi32>) -> tensor<2xi32>
  %j = linalg.fill ins(%none : i32) outs(%f : tensor<2xi32>) -> tensor<2xi32>
  %r:2 = linalg.generic {{indexing_maps = [#in, #row, #row], iterator_types = ["parallel", "reduction"]}}
      ins(%x : tensor<2x{LENGTH}xi32>) outs(%i, %j : tensor<2xi32>, tensor<2xi32>) {{
  ^bb0(%a: i32, %best: i32, %at: i32):
    %k = linalg.index 1 : index
    %w = arith.index_cast %k : index to i32
    %larger = arith.cmpi sgt, %a, %best : i32
    %equal = arith.cmpi eq, %a, %best : i32
    %earlier = arith.cmpi slt, %w, %at : i32
    %first = arith.andi %equal, %earlier : i1
    %more = arith.ori %larger, %first : i1
    %p = arith.select %more, %a, %best : i32
    %q = arith.select %more, %w, %at : i32
    linalg.yield %p, %q : i32, i32
  }} -> (tensor<2xi32>, tensor<2xi32>)
  return %r#0, %r#1 : tensor<2xi32>, tensor<2xi32>
}}
"""


@pytest.fixture(scope="module")
def program() -> Emulator:
    return Emulator(compile_to_outline(PROGRAM))


def test_fold_in_parts(program: Emulator) -> None:
    x = 1 + np.random.default_rng(0).standard_normal((2, LENGTH)) / 100
    program.launches.clear()
    (got,) = program(x, entry="products")
    np.testing.assert_allclose(got, x.prod(1), rtol=1e-12)
    assert [grid for _, grid, _ in program.launches] == [12, 2]


def test_selection_in_parts_takes_the_first(program: Emulator) -> None:
    x = np.random.default_rng(1).integers(-9, 9, (2, LENGTH), np.int32)
    x[0, [1500, 1501, 4000]] = 9
    x[1, [LENGTH - 1, 5120]] = 9
    program.launches.clear()
    values, places = program(x, entry="argmax")
    np.testing.assert_array_equal(values, [9, 9])
    np.testing.assert_array_equal(places, [1500, 5120])
    assert [grid for _, grid, _ in program.launches] == [12, 2]
