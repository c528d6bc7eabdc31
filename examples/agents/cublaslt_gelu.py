"""A library for a region inside of a larger program: a product with bias and GELU, by cuBLASLt's own epilogue.

The product is of f32, for which kc has no tensor-core schedule. What follows, the distance from each row's maximum,
stays kc's.

    python examples/agents/cublaslt_gelu.py FOLDER
"""
from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from on_device import show

import kc

PROGRAM = """
func.func @main(%x: tensor<?x512xf32>, %w: tensor<512x512xf32>, %b: tensor<512xf32>) -> tensor<?x512xf32> {
  %shape = shape.shape_of %x : tensor<?x512xf32> -> tensor<2xindex>
  %xw = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<?x512xf32>, tensor<512x512xf32>) -> tensor<?x512xf32>
  %bb = stablehlo.dynamic_broadcast_in_dim %b, %shape, dims = [1]
    : (tensor<512xf32>, tensor<2xindex>) -> tensor<?x512xf32>
  %h = stablehlo.add %xw, %bb : tensor<?x512xf32>
  %c0 = stablehlo.constant dense<0.044715> : tensor<f32>
  %c1 = stablehlo.constant dense<0.79788456> : tensor<f32>
  %c2 = stablehlo.constant dense<0.5> : tensor<f32>
  %c3 = stablehlo.constant dense<1.0> : tensor<f32>
  %k0 = stablehlo.dynamic_broadcast_in_dim %c0, %shape, dims = []
    : (tensor<f32>, tensor<2xindex>) -> tensor<?x512xf32>
  %k1 = stablehlo.dynamic_broadcast_in_dim %c1, %shape, dims = []
    : (tensor<f32>, tensor<2xindex>) -> tensor<?x512xf32>
  %k2 = stablehlo.dynamic_broadcast_in_dim %c2, %shape, dims = []
    : (tensor<f32>, tensor<2xindex>) -> tensor<?x512xf32>
  %k3 = stablehlo.dynamic_broadcast_in_dim %c3, %shape, dims = []
    : (tensor<f32>, tensor<2xindex>) -> tensor<?x512xf32>
  %h2 = stablehlo.multiply %h, %h : tensor<?x512xf32>
  %h3 = stablehlo.multiply %h2, %h : tensor<?x512xf32>
  %t0 = stablehlo.multiply %h3, %k0 : tensor<?x512xf32>
  %t1 = stablehlo.add %h, %t0 : tensor<?x512xf32>
  %t2 = stablehlo.multiply %t1, %k1 : tensor<?x512xf32>
  %t3 = stablehlo.tanh %t2 : tensor<?x512xf32>
  %t4 = stablehlo.add %t3, %k3 : tensor<?x512xf32>
  %t5 = stablehlo.multiply %h, %k2 : tensor<?x512xf32>
  %y = stablehlo.multiply %t5, %t4 : tensor<?x512xf32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %m = stablehlo.reduce(%y init: %low) applies stablehlo.maximum across dimensions = [1]
    : (tensor<?x512xf32>, tensor<f32>) -> tensor<?xf32>
  %mb = stablehlo.dynamic_broadcast_in_dim %m, %shape, dims = [0]
    : (tensor<?xf32>, tensor<2xindex>) -> tensor<?x512xf32>
  %z = stablehlo.subtract %y, %mb : tensor<?x512xf32>
  return %z : tensor<?x512xf32>
}
"""


@kc.agents.agent(level="linalg", name="cublaslt-gelu", match=lambda o: o.kind == "contraction" and "math.tanh" in o.ir)
def propose(observation: Any) -> dict[str, Any] | None:
    """The call of the library, once, for a product whose epilogue is GELU's tanh form."""
    if observation.attempts:
        return None
    return {
        "kind": "library",
        "library": "cublaslt",
        "parameters": {"operation": "matmul", "inputs": inputs(observation.ir), "epilogue": "gelu"},
        "assumes": ["reassoc", "contract", "approx"],
    }


def inputs(region: str) -> list[str]:
    """The names of x, w and the bias among the region's arguments."""
    import re

    header = re.search(r"@main\((.*)\) ->", region)
    assert header is not None
    types = re.findall(r"%arg\d+: ([^,{ ]+)", header[1])
    return [f"arg{types.index(t)}" for t in ("tensor<?x512xf32>", "tensor<512x512xf32>", "tensor<512xf32>")]


if __name__ == "__main__":
    show(PROGRAM, propose, Path(sys.argv[1] if len(sys.argv) > 1 else "out"))
