// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-bind-answers)' --split-input-file | FileCheck %s

// An answer on buffers: the function becomes a kernel that waits for it; callers make destinations.

// CHECK-LABEL: func.func @main
// CHECK:         %[[N:.*]] = tensor.dim %arg0
// CHECK:         %[[E:.*]] = tensor.empty(%[[N]]) : tensor<?x4xf32>
// CHECK:         call @f(%arg0, %[[E]]) : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
func.func @main(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %0 = call @f(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}
// CHECK-LABEL: func.func private @f(
// CHECK-SAME:    tensor<?x4xf32>, %{{.*}}: tensor<?x4xf32>) -> tensor<?x4xf32> attributes
// CHECK-SAME:    kc.answer = {{.*}} kc.kernel, kc.kind = "answer", no_inline
// CHECK:         tensor.extract %arg0
// CHECK:         %[[W:.*]] = tensor.insert %{{.*}} into %arg1
// CHECK-NEXT:    return %[[W]]
func.func private @f(%x: tensor<?x4xf32>) -> tensor<?x4xf32> attributes {no_inline, kc.answer =
    "func.func @main(%x: memref<?x4xf32>, %o: memref<?x4xf32>) { return }"} {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x4xf32>
  %e = tensor.empty(%n) : tensor<?x4xf32>
  %0 = linalg.exp ins(%x : tensor<?x4xf32>) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// -----

// An answer on tensors becomes the body; helpers get names of their own.

// CHECK-NOT:   kc.answer
// CHECK:       func.func private @g__f() -> f32
// CHECK:       func.func private @g(%{{.*}}: tensor<4xf32>) -> tensor<4xf32>
// CHECK:         call @g__f()
func.func private @g(%x: tensor<4xf32>) -> tensor<4xf32> attributes {kc.answer = "func.func private @f() -> f32 { %c = arith.constant 1.0 : f32 return %c : f32 } func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> { %c = call @f() : () -> f32 %0 = linalg.fill ins(%c : f32) outs(%x : tensor<4xf32>) -> tensor<4xf32> return %0 : tensor<4xf32> }"} {
  return %x : tensor<4xf32>
}
