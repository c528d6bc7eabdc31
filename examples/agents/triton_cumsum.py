"""A Triton kernel for a StableHLO function inside of a larger program: cumulative sums, as top-p sampling needs them.

The function is answered whole, from StableHLO down to a kernel that the package ``triton`` compiles here, for the
target (no GPU and no PyTorch needed). The program launches it between kc's own kernels.

    python examples/agents/triton_cumsum.py FOLDER
"""
from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from on_device import show

import kc

PROGRAM = """
func.func @main(%x: tensor<?x4096xf32>) -> tensor<?x4096xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %shape = shape.shape_of %x : tensor<?x4096xf32> -> tensor<2xindex>
  %m = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1]
    : (tensor<?x4096xf32>, tensor<f32>) -> tensor<?xf32>
  %mb = stablehlo.dynamic_broadcast_in_dim %m, %shape, dims = [0]
    : (tensor<?xf32>, tensor<2xindex>) -> tensor<?x4096xf32>
  %d = stablehlo.subtract %x, %mb : tensor<?x4096xf32>
  %e = stablehlo.exponential %d : tensor<?x4096xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1]
    : (tensor<?x4096xf32>, tensor<f32>) -> tensor<?xf32>
  %sb = stablehlo.dynamic_broadcast_in_dim %s, %shape, dims = [0]
    : (tensor<?xf32>, tensor<2xindex>) -> tensor<?x4096xf32>
  %p = stablehlo.divide %e, %sb : tensor<?x4096xf32>
  %c = call @cumsum(%p) : (tensor<?x4096xf32>) -> tensor<?x4096xf32>
  %limit = stablehlo.constant dense<0.9> : tensor<f32>
  %limits = stablehlo.dynamic_broadcast_in_dim %limit, %shape, dims = []
    : (tensor<f32>, tensor<2xindex>) -> tensor<?x4096xf32>
  %zeros = stablehlo.dynamic_broadcast_in_dim %zero, %shape, dims = []
    : (tensor<f32>, tensor<2xindex>) -> tensor<?x4096xf32>
  %inside = stablehlo.compare LE, %c, %limits : (tensor<?x4096xf32>, tensor<?x4096xf32>) -> tensor<?x4096xi1>
  %kept = stablehlo.select %inside, %p, %zeros : tensor<?x4096xi1>, tensor<?x4096xf32>
  return %kept : tensor<?x4096xf32>
}
func.func private @cumsum(%p: tensor<?x4096xf32>) -> tensor<?x4096xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %c = "stablehlo.reduce_window"(%p, %zero) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {window_dimensions = array<i64: 1, 4096>, padding = dense<[[0, 0], [4095, 0]]> : tensor<2x2xi64>}
    : (tensor<?x4096xf32>, tensor<f32>) -> tensor<?x4096xf32>
  return %c : tensor<?x4096xf32>
}
"""

KERNEL = '''
import triton
import triton.language as tl


@triton.jit
def cumsum(X, Y, N: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, N)
    x = tl.load(X + row * N + column)
    tl.store(Y + row * N + column, tl.cumsum(x, 0))
'''


@kc.agents.agent(level="stablehlo", name="triton-cumsum", match=lambda o: o.name == "cumsum")
def propose(observation: Any) -> dict[str, Any] | None:
    """The kernel, once."""
    if observation.attempts:
        return None
    return {
        "kind": "triton",
        "source": KERNEL,
        "launch": {"entry": "cumsum", "grid": ["dim(arg0, 0)"], "arguments": ["arg0", "out0"]},
        "parameters": {"constants": {"N": 4096}, "num_warps": 8},
        "assumes": ["reassoc"],
    }


if __name__ == "__main__":
    show(PROGRAM, propose, Path(sys.argv[1] if len(sys.argv) > 1 else "out"))
