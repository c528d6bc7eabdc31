"""Small modules that are read and run once in the zygote: dialects, passes and the JIT are loaded before a fork."""

from __future__ import annotations

import importlib
from collections.abc import Callable

import numpy as np

from kc.agents.execution import Call, Checks

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


def steps(level: str) -> list[Callable[[], object]]:
    """What to do in the zygote, in order of need, so that tasks of a level find all in memory."""
    from kc.agents.gates import tasks

    square, row = np.ones((4, 4), np.float32), np.ones(4, np.float32)

    def read(text: str) -> object:
        return list(tasks.read_original(text))

    def inspect(text: str, level: str) -> object:
        return list(tasks.inspect(text, text, level, True, (), None, False))

    def run(text: str, level: str, array: np.ndarray, watched: bool = False) -> object:
        call = Call((array,) if level != "loops" else (array, array))
        return list(tasks.execute(text, level, [call], Checks(instrument=watched), "cpu", False))

    found: list[Callable[[], object]] = [lambda: importlib.import_module("ml_dtypes")]
    if level == "linalg":
        found += [lambda: inspect(_LINALG, level), lambda: run(_LINALG, level, square), lambda: read(_LINALG)]
        found += [lambda: run(_LINALG, level, square, True)]
    elif level == "stablehlo":
        found += [lambda: inspect(_STABLEHLO, level), lambda: run(_STABLEHLO, level, square), lambda: read(_STABLEHLO)]
    elif level == "loops":
        found += [lambda: inspect(_LOOPS, level), lambda: run(_LOOPS, level, row), lambda: read(_LOOPS)]
        found += [lambda: run(_LOOPS, level, row, True)]
    return found
