"""Open sizes that a contract does not name: derived from the original's body, or complained about."""

from __future__ import annotations

import pytest

from kc.agents import judge
from kc.agents.gates.case import main_of
from kc.agents.gates.naming import named
from kc.agents.gates.reading import read
from kc.context import make_context, parse_module
from kc.errors import InputError

LINALG = """
func.func @main(%x: tensor<?x128xf32> {kc.dims = ["M", "N"]}, %out: tensor<?x128xf32>) -> tensor<?x128xf32>
    attributes {kc.kind = "map"} {
  %e = linalg.exp ins(%x : tensor<?x128xf32>) outs(%out : tensor<?x128xf32>) -> tensor<?x128xf32>
  return %e : tensor<?x128xf32>
}
"""
LOOPS = """
func.func @main(%x: memref<?x?xf32> {kc.dims = ["M", "N"]}, %y: memref<?x?xf32> {kc.out}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %x, %c0 : memref<?x?xf32>
  %n = memref.dim %x, %c1 : memref<?x?xf32>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    scf.for %j = %c0 to %m step %c1 {
      %v = memref.load %x[%j, %i] : memref<?x?xf32>
      memref.store %v, %y[%i, %j] : memref<?x?xf32>
    }
  }
  return
}
"""
GENERIC = """
func.func @main(%x: memref<?xf32> {kc.dims = ["N"]}, %y: memref<?xf32> {kc.out}) {
  linalg.generic {indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> (d)>], iterator_types = ["parallel"]}
      ins(%x : memref<?xf32>) outs(%y : memref<?xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  }
  return
}
"""
#: whole vectors are stored: how long the buffer is, nothing tells
VECTORS = """
func.func @main(%x: memref<?xf32> {kc.dims = ["N"]}, %y: memref<?xf32> {kc.outEXTRA})
    attributes {kc.facts = ["N % 4 == 0"]} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  scf.for %i = %c0 to %n step %c4 {
    %v = vector.load %x[%i] : memref<?xf32>, vector<4xf32>
    vector.store %v, %y[%i] : memref<?xf32>, vector<4xf32>
  }
  return
}
"""


def dims(text):
    module = parse_module(text, make_context())
    reading = named(read(module), main_of(module))
    return [argument.dims for argument in reading.contract.arguments], reading.unnamed


@pytest.mark.parametrize(
    ("text", "found", "unnamed"),
    [
        (LINALG, [("M", "N"), ("M", "128")], ()),
        (LOOPS, [("M", "N"), ("N", "M")], ()),  # a transposed copy
        (LOOPS.replace("kc.out", "kc.inout"), [("M", "N"), ("d0", "d1")], (1,)),  # need not be written whole
        (LOOPS.replace("(%c0) to (%n)", "(%c1) to (%n)"), [("M", "N"), ("d0", "M")], (1,)),
        (GENERIC, [("N",), ("N",)], ()),
        (VECTORS.replace("EXTRA", ""), [("N",), ("d0",)], (1,)),
    ],
)
def test_names_follow_from_the_body(text, found, unnamed):
    assert dims(text) == (found, unnamed)


@pytest.mark.parametrize(("text", "level"), [(LINALG, "linalg"), (LOOPS, "loops")])
def test_the_original_passes_and_a_wrong_one_does_not(text, level):
    assert judge(text, {"kind": "replace_ir", "ir": text}, level=level, seed=1).accepted
    wrong = text.replace("linalg.exp", "linalg.tanh").replace("%y[%i, %j]", "%y[%i, %c0]")
    assert not judge(text, {"kind": "replace_ir", "ir": wrong}, level=level, seed=1).accepted


def test_the_error_names_the_argument():
    text = VECTORS.replace("EXTRA", "")
    with pytest.raises(InputError, match=r"argument 1: name them with kc\.dims \(\{kc\.dims = \[\"M\"\]\}\)"):
        judge(text, {"kind": "replace_ir", "ir": text}, level="loops", seed=1)
    text = VECTORS.replace("EXTRA", ', kc.dims = ["N"]')
    assert judge(text, {"kind": "replace_ir", "ir": text}, level="loops", seed=1).accepted
