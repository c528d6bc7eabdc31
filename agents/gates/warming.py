"""Small modules that are read and run once in the zygote: dialects, passes and the JIT are loaded before a fork."""

from __future__ import annotations

import numpy as np

from kc.agents.execution import Call

_STABLEHLO = """
func.func @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %r = stablehlo.add %x, %x : tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}
"""
_LINALG = """
#map = affine_map<(i, j) -> (i, j)>
func.func @main(%x: tensor<?x?xf32> {kc.dims = ["M", "N"]}) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %r = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%p: f32, %o: f32):
    %s = math.exp %p : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
"""
_LOOPS = """
func.func @main(%x: memref<?xf32> {kc.dims = ["N"]}, %y: memref<?xf32> {kc.dims = ["N"], kc.out}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    memref.store %v, %y[%i] : memref<?xf32>
  }
  return
}
"""


def samples() -> list[tuple[str, str, list[Call]]]:
    """(level, module, calls)."""
    square, row = np.ones((4, 4), np.float32), np.ones(4, np.float32)
    return [
        ("stablehlo", _STABLEHLO, [Call((square,))]),
        ("linalg", _LINALG, [Call((square,))]),
        ("loops", _LOOPS, [Call((row, row))]),
    ]
