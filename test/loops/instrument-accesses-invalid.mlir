// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-instrument-accesses)' --split-input-file --verify-diagnostics

func.func @pointers(%p: !llvm.ptr) -> f32 {
  // expected-error @+1 {{'llvm.load' cannot be watched; loads, stores, copies, vectors, parallel loops can}}
  %v = llvm.load %p : !llvm.ptr -> f32
  return %v : f32
}

// -----

func.func @affine(%m: memref<4xf32>) -> f32 {
  // expected-error @+1 {{'affine.load' cannot be watched}}
  %v = affine.load %m[0] : memref<4xf32>
  return %v : f32
}

// -----

func.func @transposed(%m: memref<4x4xf32>, %i: index, %mask: vector<4x4xi1>) -> vector<4x4xf32> {
  %zero = arith.constant 0.0 : f32
  // expected-error @+1 {{a mask on a transfer that transposes or broadcasts cannot be watched}}
  %v = vector.transfer_read %m[%i, %i], %zero, %mask {in_bounds = [true, true], permutation_map = affine_map<(d0, d1) -> (d1, d0)>} : memref<4x4xf32>, vector<4x4xf32>
  return %v : vector<4x4xf32>
}
