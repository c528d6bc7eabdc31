"""A library for a region inside of a larger program: a product with bias, by cuBLASLt's own epilogue.

The product is of f32, for which kc has no tensor-core schedule. What follows, the distance from each row's maximum,
stays kc's. (With ReLU or GELU in the epilogue the gates on an H200 refuse the library's form: its ReLU makes 0 of NaN,
and its GELU loses digits where the result is near 0.)

    python examples/agents/cublaslt_linear.py FOLDER
"""
from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from on_device import show

import kc

#: at which the region is timed: below some hundred µs, the host's work for a call of the library is what costs
SIZES = {"d0": 8192, "d1": 4096}

PROGRAM = """
func.func @main(%x: tensor<?x?xf32>, %w: tensor<?x512xf32>, %b: tensor<512xf32>) -> tensor<?x512xf32> {
  %xw = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<?x?xf32>, tensor<?x512xf32>) -> tensor<?x512xf32>
  %shape = shape.shape_of %xw : tensor<?x512xf32> -> tensor<2xindex>
  %bb = stablehlo.dynamic_broadcast_in_dim %b, %shape, dims = [1]
    : (tensor<512xf32>, tensor<2xindex>) -> tensor<?x512xf32>
  %y = stablehlo.add %xw, %bb : tensor<?x512xf32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %m = stablehlo.reduce(%y init: %low) applies stablehlo.maximum across dimensions = [1]
    : (tensor<?x512xf32>, tensor<f32>) -> tensor<?xf32>
  %mb = stablehlo.dynamic_broadcast_in_dim %m, %shape, dims = [0]
    : (tensor<?xf32>, tensor<2xindex>) -> tensor<?x512xf32>
  %z = stablehlo.subtract %y, %mb : tensor<?x512xf32>
  return %z : tensor<?x512xf32>
}
"""


@kc.agents.agent(level="linalg", name="cublaslt-linear", match=lambda o: o.kind == "contraction")
def propose(observation: Any) -> dict[str, Any] | None:
    """The call of the library, once."""
    if observation.attempts:
        return None
    return {
        "kind": "library",
        "library": "cublaslt",
        "parameters": {"operation": "matmul", "inputs": inputs(observation.ir)},
        "assumes": ["reassoc", "contract"],
    }


def inputs(region: str) -> list[str]:
    """The names of x, w and the bias among the region's arguments."""
    header = re.search(r"@main\((.*)\) ->", region)
    assert header is not None
    types = re.findall(r"%arg\d+: ([^,{ ]+)", header[1])
    return [f"arg{types.index(t)}" for t in ("tensor<?x?xf32>", "tensor<?x512xf32>", "tensor<512xf32>")]


if __name__ == "__main__":
    show(PROGRAM, propose, Path(sys.argv[1] if len(sys.argv) > 1 else "out"), SIZES)
