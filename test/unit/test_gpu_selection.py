"""Which reductions count as picking an element, and that only associative ones do."""
from __future__ import annotations

from typing import Any

import pytest

from kc.context import make_context, parse_module
from kc.passes.gpu._selection import Selection, find_selection

HEAD = "%v: f32, %i: i32, %bv: f32, %bi: i32"

# what JAX makes of argmax: NaN first, then larger, then the lower index
JAX = """
  %0 = arith.cmpf ogt, %bv, %v : f32
  %1 = arith.cmpf une, %bv, %bv : f32
  %2 = arith.ori %0, %1 : i1
  %3 = arith.cmpf oeq, %bv, %v : f32
  %4 = arith.cmpi slt, %bi, %i : i32
  %5 = arith.andi %3, %4 : i1
  %6 = arith.ori %2, %5 : i1
  %7 = arith.select %2, %bv, %v : f32
  %8 = arith.select %6, %bi, %i : i32
  linalg.yield %7, %8 : f32, i32"""
# larger, NaN being the largest, and the first of equals
FIRST = """
  %0 = arith.cmpf ogt, %v, %bv : f32
  %1 = arith.cmpf uno, %v, %v : f32
  %2 = arith.cmpf ord, %bv, %bv : f32
  %3 = arith.andi %1, %2 : i1
  %4 = arith.ori %0, %3 : i1
  %5 = arith.select %4, %v, %bv : f32
  %6 = arith.select %4, %i, %bi : i32
  linalg.yield %5, %6 : f32, i32"""
# without a rule for NaN, what is picked from 1, NaN, 2 depends on the grouping
NO_NAN = """
  %0 = arith.cmpf ogt, %v, %bv : f32
  %1 = arith.select %0, %v, %bv : f32
  %2 = arith.select %0, %i, %bi : i32
  linalg.yield %1, %2 : f32, i32"""
# an index that changes when the value does not: grouping shows
EQUAL = """
  %0 = arith.cmpf oeq, %v, %bv : f32
  %1 = arith.select %0, %i, %bi : i32
  linalg.yield %bv, %1 : f32, i32"""
UNORDERED = """
  %0 = arith.cmpf ugt, %v, %bv : f32
  %1 = arith.select %0, %v, %bv : f32
  %2 = arith.select %0, %i, %bi : i32
  linalg.yield %1, %2 : f32, i32"""
CROSSED = """
  %c = arith.sitofp %i : i32 to f32
  %0 = arith.cmpf ogt, %c, %bv : f32
  %1 = arith.select %0, %v, %bv : f32
  %2 = arith.select %0, %i, %bi : i32
  linalg.yield %1, %2 : f32, i32"""
CONSTANT = """
  %h = arith.constant 0.5 : f32
  %0 = arith.cmpf ogt, %bv, %h : f32
  %1 = arith.select %0, %v, %bv : f32
  %2 = arith.select %0, %i, %bi : i32
  linalg.yield %1, %2 : f32, i32"""
SUM = """
  %0 = arith.addf %v, %bv : f32
  %1 = arith.addi %i, %bi : i32
  linalg.yield %0, %1 : f32, i32"""


def find(body: str) -> tuple[Selection | None, Any]:
    text = f"""
func.func @f(%x: memref<9xf32>, %y: memref<9xi32>, %a: memref<f32>, %b: memref<i32>) {{
  linalg.generic {{indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>,
                                    affine_map<(d0) -> ()>], iterator_types = ["reduction"]}}
      ins(%x, %y : memref<9xf32>, memref<9xi32>) outs(%a, %b : memref<f32>, memref<i32>) {{
  ^bb0({HEAD}):{body}
  }}
  return
}}"""
    module = parse_module(text, make_context(), "test.mlir")
    block = module.body.operations[0].regions[0].blocks[0].operations[0].regions[0].blocks[0]
    arguments = list(block.arguments)
    return find_selection(arguments[2:], list(list(block.operations)[-1].operands)), module


@pytest.mark.parametrize("body", [JAX, FIRST], ids=["jax", "first"])
def test_arg_max_is_a_selection(body: str) -> None:
    selection, _module = find(body)
    assert selection is not None
    assert [str(value.type) for value in selection.elements] == ["f32", "i32"]


@pytest.mark.parametrize(
    "body",
    [EQUAL, NO_NAN, UNORDERED, CROSSED, CONSTANT, SUM],
    ids=["equal", "no-nan", "unordered", "crossed", "constant", "sum"],
)
def test_what_is_no_associative_selection(body: str) -> None:
    selection, _module = find(body)
    assert selection is None
