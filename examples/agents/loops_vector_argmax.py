"""Level loops: a hand-written vectorised loop in the place of the one that kc makes of an argmax.

kc's loop carries one maximum and its index from element to element, through an array of all indices. Here eight lanes
each keep the best of every eighth element; at the end of a row the lanes are compared one by one. Ties go to the
smaller index and the first NaN wins, as in the original: the gates find out when they do not.

    python examples/agents/loops_vector_argmax.py [--timing]
"""

from __future__ import annotations

import functools

import numpy as np
from _show import Shown, main, show

import kc
from kc.agents import Agent, Match, Observation, Proposal

ROWS, COLUMNS, LANES = 64, 1024, 8

PROGRAM = f"""
func.func @main(%x: tensor<{ROWS}x{COLUMNS}xf32>) -> tensor<{ROWS}xi32> {{
  %numbers = stablehlo.iota dim = 1 : tensor<{ROWS}x{COLUMNS}xi32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %best:2 = stablehlo.reduce(%x init: %low), (%numbers init: %zero) across dimensions = [1]
      : (tensor<{ROWS}x{COLUMNS}xf32>, tensor<{ROWS}x{COLUMNS}xi32>, tensor<f32>, tensor<i32>)
      -> (tensor<{ROWS}xf32>, tensor<{ROWS}xi32>)
    reducer(%a: tensor<f32>, %b: tensor<f32>) (%i: tensor<i32>, %j: tensor<i32>) {{
      %greater = stablehlo.compare GT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %nan = stablehlo.compare NE, %a, %a, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %stays = stablehlo.or %greater, %nan : tensor<i1>
      %equal = stablehlo.compare EQ, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %older = stablehlo.compare LT, %i, %j, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %tie = stablehlo.and %equal, %older : tensor<i1>
      %keeps = stablehlo.or %stays, %tie : tensor<i1>
      %value = stablehlo.select %stays, %a, %b : tensor<i1>, tensor<f32>
      %index = stablehlo.select %keeps, %i, %j : tensor<i1>, tensor<i32>
      stablehlo.return %value, %index : tensor<f32>, tensor<i32>
    }}
  return %best#1 : tensor<{ROWS}xi32>
}}
"""


def lane(number: int) -> str:
    """Compares the best of lane ``number`` with the best of the lanes before it: ``%m`` at ``%a``."""
    before, here = number - 1, number
    return f"""
      %v{here} = vector.extract %best#0[{here}] : f32 from vector<{LANES}xf32>
      %i{here} = vector.extract %best#1[{here}] : i32 from vector<{LANES}xi32>
      %greater{here} = arith.cmpf ogt, %m{before}, %v{here} : f32
      %nan{here} = arith.cmpf uno, %m{before}, %m{before} : f32
      %vnan{here} = arith.cmpf uno, %v{here}, %v{here} : f32
      %both{here} = arith.andi %nan{here}, %vnan{here} : i1
      %only{here} = arith.xori %nan{here}, %both{here} : i1
      %better{here} = arith.ori %greater{here}, %only{here} : i1
      %same{here} = arith.cmpf oeq, %m{before}, %v{here} : f32
      %equal{here} = arith.ori %same{here}, %both{here} : i1
      %older{here} = arith.cmpi slt, %a{before}, %i{here} : i32
      %tie{here} = arith.andi %equal{here}, %older{here} : i1
      %keeps{here} = arith.ori %better{here}, %tie{here} : i1
      %m{here} = arith.select %keeps{here}, %m{before}, %v{here} : f32
      %a{here} = arith.select %keeps{here}, %a{before}, %i{here} : i32"""


LOOP = f"""
module {{
  func.func @main(%x: memref<{ROWS}x{COLUMNS}xf32>, %out: memref<{ROWS}xi32>) {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %step = arith.constant {LANES} : index
    %rows = arith.constant {ROWS} : index
    %columns = arith.constant {COLUMNS} : index
    %low = arith.constant dense<0xFF800000> : vector<{LANES}xf32>
    %none = arith.constant dense<0> : vector<{LANES}xi32>
    %first = arith.constant dense<{list(range(LANES))}> : vector<{LANES}xi32>
    %width = arith.constant dense<{LANES}> : vector<{LANES}xi32>
    scf.parallel (%row) = (%c0) to (%rows) step (%c1) {{
      %best:3 = scf.for %j = %c0 to %columns step %step iter_args(%m = %low, %at = %none, %here = %first)
          -> (vector<{LANES}xf32>, vector<{LANES}xi32>, vector<{LANES}xi32>) {{
        %v = vector.load %x[%row, %j] : memref<{ROWS}x{COLUMNS}xf32>, vector<{LANES}xf32>
        %greater = arith.cmpf ogt, %m, %v : vector<{LANES}xf32>
        %nan = arith.cmpf une, %m, %m : vector<{LANES}xf32>
        %stays = arith.ori %greater, %nan : vector<{LANES}xi1>
        %equal = arith.cmpf oeq, %m, %v : vector<{LANES}xf32>
        %older = arith.cmpi slt, %at, %here : vector<{LANES}xi32>
        %tie = arith.andi %equal, %older : vector<{LANES}xi1>
        %keeps = arith.ori %stays, %tie : vector<{LANES}xi1>
        %value = arith.select %stays, %m, %v : vector<{LANES}xi1>, vector<{LANES}xf32>
        %index = arith.select %keeps, %at, %here : vector<{LANES}xi1>, vector<{LANES}xi32>
        %next = arith.addi %here, %width : vector<{LANES}xi32>
        scf.yield %value, %index, %next : vector<{LANES}xf32>, vector<{LANES}xi32>, vector<{LANES}xi32>
      }}
      %m0 = vector.extract %best#0[0] : f32 from vector<{LANES}xf32>
      %a0 = vector.extract %best#1[0] : i32 from vector<{LANES}xi32>{"".join(map(lane, range(1, LANES)))}
      memref.store %a{LANES - 1}, %out[%row] : memref<{ROWS}xi32>
      scf.reduce
    }}
    return
  }}
}}
"""


class VectorArgmax(Agent):
    """Knows one kernel and answers it with a loop that a person wrote."""

    name = "vector-argmax"
    levels = ("loops",)
    match = Match(kinds=("general",), when=lambda o: f"memref<{ROWS}x{COLUMNS}xf32>" in o.ir and "cmpf ogt" in o.ir)

    def propose(self, observation: Observation) -> Proposal | None:
        if observation.attempts:
            return None
        return Proposal("replace_ir", ir=LOOP, level="loops", rationale="eight lanes at a time, no array of indices")


def run(timing: bool = False) -> Shown:
    """Show it."""
    x = np.random.default_rng(0).standard_normal((ROWS, COLUMNS)).astype(np.float32)
    return show(functools.partial(kc.compile, PROGRAM), VectorArgmax(), (x,), timing)


if __name__ == "__main__":
    main(run)
