"""A GPU kernel for a region at level linalg: softmax of long rows in two passes instead of three.

kc reads a row of open length once for the maximum, once for the sum of exponentials, and once for the results. The
kernel below keeps both at once (M. Milakov and N. Gimelshein, "Online normalizer calculation for softmax", 2018): when
the maximum grows, the sum so far is scaled down. The transpose that follows, and everything else, stays kc's.

    python examples/agents/gpu_online_softmax.py FOLDER
"""
from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from on_device import show

import kc

#: at which the region is timed
SIZES = {"d0": 256, "d1": 32768}

PROGRAM = """
func.func @main(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %shape = shape.shape_of %x : tensor<?x?xf32> -> tensor<2xindex>
  %m = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1]
    : (tensor<?x?xf32>, tensor<f32>) -> tensor<?xf32>
  %mb = stablehlo.dynamic_broadcast_in_dim %m, %shape, dims = [0] : (tensor<?xf32>, tensor<2xindex>) -> tensor<?x?xf32>
  %d = stablehlo.subtract %x, %mb : tensor<?x?xf32>
  %e = stablehlo.exponential %d : tensor<?x?xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1]
    : (tensor<?x?xf32>, tensor<f32>) -> tensor<?xf32>
  %sb = stablehlo.dynamic_broadcast_in_dim %s, %shape, dims = [0] : (tensor<?xf32>, tensor<2xindex>) -> tensor<?x?xf32>
  %p = stablehlo.divide %e, %sb : tensor<?x?xf32>
  %y = stablehlo.transpose %p, dims = [1, 0] : (tensor<?x?xf32>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}
"""

# A block of 512 threads takes a row. Each thread walks it with stride 512, four elements at a time, and keeps the
# maximum so far and the sum of exponentials relative to it; pairs are combined by shuffles in a warp, then through
# shared memory. A maximum of -inf (nothing seen yet but -inf) counts as 0 in exponents, so that no inf - inf arises.
# The second pass walks the row backwards: what was read last is still in the second-level cache.
KERNEL = """
module attributes {gpu.container_module} {
  gpu.module @softmax {
    func.func private @safe(%m: f32) -> f32 {
      %low = arith.constant 0xFF800000 : f32
      %zero = arith.constant 0.0 : f32
      %none = arith.cmpf oeq, %m, %low : f32
      %r = arith.select %none, %zero, %m : f32
      return %r : f32
    }
    gpu.func @rows(%x: memref<?x?xf32>, %y: memref<?x?xf32>, %n: index)
        workgroup(%maxima: memref<16xf32, #gpu.address_space<workgroup>>,
                  %sums: memref<16xf32, #gpu.address_space<workgroup>>)
        kernel attributes {known_block_size = array<i32: 512, 1, 1>} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c16 = arith.constant 16 : index
      %c32 = arith.constant 32 : index
      %c512 = arith.constant 512 : index
      %c1024 = arith.constant 1024 : index
      %c1536 = arith.constant 1536 : index
      %c2048 = arith.constant 2048 : index
      %low = arith.constant 0xFF800000 : f32
      %zero = arith.constant 0.0 : f32
      %one = arith.constant 1.0 : f32
      %row = gpu.block_id x
      %t = gpu.thread_id x
      %whole = arith.remui %n, %c2048 : index
      %body = arith.subi %n, %whole : index
      %first:2 = scf.for %c = %c0 to %body step %c2048 iter_args(%m = %low, %s = %zero) -> (f32, f32) {
        %i0 = arith.addi %c, %t : index
        %i1 = arith.addi %i0, %c512 : index
        %i2 = arith.addi %i0, %c1024 : index
        %i3 = arith.addi %i0, %c1536 : index
        %v0 = memref.load %x[%row, %i0] : memref<?x?xf32>
        %v1 = memref.load %x[%row, %i1] : memref<?x?xf32>
        %v2 = memref.load %x[%row, %i2] : memref<?x?xf32>
        %v3 = memref.load %x[%row, %i3] : memref<?x?xf32>
        %a = arith.maximumf %v0, %v1 : f32
        %b = arith.maximumf %v2, %v3 : f32
        %ab = arith.maximumf %a, %b : f32
        %m1 = arith.maximumf %m, %ab : f32
        %r = func.call @safe(%m1) : (f32) -> f32
        %dm = arith.subf %m, %r : f32
        %d0 = arith.subf %v0, %r : f32
        %d1 = arith.subf %v1, %r : f32
        %d2 = arith.subf %v2, %r : f32
        %d3 = arith.subf %v3, %r : f32
        %em = math.exp %dm : f32
        %e0 = math.exp %d0 : f32
        %e1 = math.exp %d1 : f32
        %e2 = math.exp %d2 : f32
        %e3 = math.exp %d3 : f32
        %e01 = arith.addf %e0, %e1 : f32
        %e23 = arith.addf %e2, %e3 : f32
        %e = arith.addf %e01, %e23 : f32
        %scaled = arith.mulf %s, %em : f32
        %s1 = arith.addf %scaled, %e : f32
        scf.yield %m1, %s1 : f32, f32
      }
      %start = arith.addi %body, %t : index
      %own:2 = scf.for %c = %start to %n step %c512 iter_args(%m = %first#0, %s = %first#1) -> (f32, f32) {
        %v = memref.load %x[%row, %c] : memref<?x?xf32>
        %m1 = arith.maximumf %m, %v : f32
        %r = func.call @safe(%m1) : (f32) -> f32
        %dm = arith.subf %m, %r : f32
        %d = arith.subf %v, %r : f32
        %em = math.exp %dm : f32
        %e = math.exp %d : f32
        %scaled = arith.mulf %s, %em : f32
        %s1 = arith.addf %scaled, %e : f32
        scf.yield %m1, %s1 : f32, f32
      }
      %m16, %s16 = func.call @across(%own#0, %own#1) : (f32, f32) -> (f32, f32)
      %warp = arith.divui %t, %c32 : index
      %lane = arith.remui %t, %c32 : index
      %leads = arith.cmpi eq, %lane, %c0 : index
      scf.if %leads {
        memref.store %m16, %maxima[%warp] : memref<16xf32, #gpu.address_space<workgroup>>
        memref.store %s16, %sums[%warp] : memref<16xf32, #gpu.address_space<workgroup>>
      }
      gpu.barrier
      %all:2 = scf.for %k = %c0 to %c16 step %c1 iter_args(%m = %low, %s = %zero) -> (f32, f32) {
        %mo = memref.load %maxima[%k] : memref<16xf32, #gpu.address_space<workgroup>>
        %so = memref.load %sums[%k] : memref<16xf32, #gpu.address_space<workgroup>>
        %m1, %s1 = func.call @join(%m, %s, %mo, %so) : (f32, f32, f32, f32) -> (f32, f32)
        scf.yield %m1, %s1 : f32, f32
      }
      %scale = arith.divf %one, %all#1 : f32
      scf.for %c = %start to %n step %c512 {
        %v = memref.load %x[%row, %c] : memref<?x?xf32>
        %d = arith.subf %v, %all#0 : f32
        %e = math.exp %d : f32
        %p = arith.mulf %e, %scale : f32
        memref.store %p, %y[%row, %c] : memref<?x?xf32>
      }
      scf.for %c = %c0 to %body step %c2048 {
        %back = arith.subi %body, %c : index
        %from = arith.subi %back, %c2048 : index
        %i0 = arith.addi %from, %t : index
        %i1 = arith.addi %i0, %c512 : index
        %i2 = arith.addi %i0, %c1024 : index
        %i3 = arith.addi %i0, %c1536 : index
        %v0 = memref.load %x[%row, %i0] : memref<?x?xf32>
        %v1 = memref.load %x[%row, %i1] : memref<?x?xf32>
        %v2 = memref.load %x[%row, %i2] : memref<?x?xf32>
        %v3 = memref.load %x[%row, %i3] : memref<?x?xf32>
        %d0 = arith.subf %v0, %all#0 : f32
        %d1 = arith.subf %v1, %all#0 : f32
        %d2 = arith.subf %v2, %all#0 : f32
        %d3 = arith.subf %v3, %all#0 : f32
        %e0 = math.exp %d0 : f32
        %e1 = math.exp %d1 : f32
        %e2 = math.exp %d2 : f32
        %e3 = math.exp %d3 : f32
        %p0 = arith.mulf %e0, %scale : f32
        %p1 = arith.mulf %e1, %scale : f32
        %p2 = arith.mulf %e2, %scale : f32
        %p3 = arith.mulf %e3, %scale : f32
        memref.store %p0, %y[%row, %i0] : memref<?x?xf32>
        memref.store %p1, %y[%row, %i1] : memref<?x?xf32>
        memref.store %p2, %y[%row, %i2] : memref<?x?xf32>
        memref.store %p3, %y[%row, %i3] : memref<?x?xf32>
      }
      gpu.return
    }
    func.func private @join(%m: f32, %s: f32, %mo: f32, %so: f32) -> (f32, f32) {
      %m1 = arith.maximumf %m, %mo : f32
      %r = func.call @safe(%m1) : (f32) -> f32
      %d = arith.subf %m, %r : f32
      %do = arith.subf %mo, %r : f32
      %e = math.exp %d : f32
      %eo = math.exp %do : f32
      %a = arith.mulf %s, %e : f32
      %b = arith.mulf %so, %eo : f32
      %s1 = arith.addf %a, %b : f32
      return %m1, %s1 : f32, f32
    }
    func.func private @across(%m: f32, %s: f32) -> (f32, f32) {
      %width = arith.constant 32 : i32
SHUFFLES
      return %mLAST, %sLAST : f32, f32
    }
  }
  func.func @main(%x: memref<?x?xf32>, %y: memref<?x?xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c512 = arith.constant 512 : index
    %rows = memref.dim %x, %c0 : memref<?x?xf32>
    %n = memref.dim %x, %c1 : memref<?x?xf32>
    gpu.launch_func @softmax::@rows blocks in (%rows, %c1, %c1) threads in (%c512, %c1, %c1)
      args(%x : memref<?x?xf32>, %y : memref<?x?xf32>, %n : index)
    return
  }
}
"""


def kernel() -> str:
    """The module, with the five steps of the butterfly written out."""
    lines, last = [], ""
    for step, distance in enumerate((16, 8, 4, 2, 1)):
        lines += [
            f"%o{step} = arith.constant {distance} : i32",
            f"%mo{step}, %pm{step} = gpu.shuffle xor %m{last}, %o{step}, %width : f32",
            f"%so{step}, %ps{step} = gpu.shuffle xor %s{last}, %o{step}, %width : f32",
            f"%m{step}, %s{step} = func.call @join(%m{last}, %s{last}, %mo{step}, %so{step})"
            " : (f32, f32, f32, f32) -> (f32, f32)",
        ]
        last = str(step)
    return KERNEL.replace("SHUFFLES", "\n".join(f"      {line}" for line in lines)).replace("LAST", last)


@kc.agents.agent(level="linalg", name="online-softmax", match=lambda o: o.kind == "rows" and "math.exp" in o.ir)
def propose(observation: Any) -> dict[str, Any] | None:
    """The kernel, once, for a softmax of rows of open length."""
    if observation.attempts:
        return None
    return {"kind": "replace_ir", "level": "gpu", "ir": kernel(), "assumes": ["reassoc", "approx"]}


if __name__ == "__main__":
    show(PROGRAM, propose, Path(sys.argv[1] if len(sys.argv) > 1 else "out"), SIZES)
