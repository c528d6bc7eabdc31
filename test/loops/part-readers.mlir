// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-part-readers{readers=2})' | FileCheck %s
// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-part-readers{readers=2},one-shot-bufferize{bufferize-function-boundaries=1 function-boundary-type-conversion=identity-layout-map},canonicalize)' | FileCheck %s --check-prefix=BUFFERS

// Each reader gets a tensor of its own, made of one buffer.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:[^:]*]]: tensor<4x?xf32> {{[^%]*}}, %[[Y:[^:]*]]: tensor<4xf32> {{[^%]*}}, %[[Z:[^:]*]]: tensor<4xf32>)
// CHECK: %[[B:.*]] = bufferization.to_buffer %[[X]] read_only : tensor<4x?xf32> to memref<4x?xf32>
// CHECK: %[[R1:.*]] = bufferization.to_tensor %[[B]] restrict
// CHECK: %[[R0:.*]] = bufferization.to_tensor %[[B]] restrict
// CHECK: call @read(%[[R0]], %[[Y]])
// CHECK: call @read(%[[R1]], %[[Z]])
// CHECK: call @write(%[[Z]])

// What is written to a read-only argument still goes to a copy; afterwards the argument stands everywhere again.
// BUFFERS-LABEL: func.func @main
// BUFFERS-SAME: (%[[X:[^:]*]]: memref<4x?xf32>
// BUFFERS: call @read(%[[X]],
// BUFFERS: call @read(%[[X]],
// BUFFERS-LABEL: func.func @copies
// BUFFERS-SAME: (%[[X:[^:]*]]: memref<4xf32>
// BUFFERS: %[[A:.*]] = memref.alloc
// BUFFERS: memref.copy %[[X]], %[[A]]
// BUFFERS: call @write(%[[A]])
// BUFFERS: call @write2(%[[X]], %{{.*}})
func.func @main(%x: tensor<4x?xf32> {bufferization.writable = false}, %y: tensor<4xf32> {bufferization.writable = false},
                %z: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @read(%x, %y) : (tensor<4x?xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = call @read(%x, %z) : (tensor<4x?xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = call @write(%z) : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
func.func @copies(%x: tensor<4xf32> {bufferization.writable = false}) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = call @write(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = call @write2(%x, %0) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
func.func private @read(%x: tensor<4x?xf32>, %out: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %0 = tensor.extract %x[%c0, %c0] : tensor<4x?xf32>
  %1 = tensor.insert %0 into %out[%c0] : tensor<4xf32>
  return %1 : tensor<4xf32>
}
func.func private @write(%out: tensor<4xf32>) -> tensor<4xf32> {
  %c = arith.constant 1.0 : f32
  %c0 = arith.constant 0 : index
  %1 = tensor.insert %c into %out[%c0] : tensor<4xf32>
  return %1 : tensor<4xf32>
}
func.func private @write2(%x: tensor<4xf32>, %out: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %0 = tensor.extract %x[%c0] : tensor<4xf32>
  %1 = tensor.insert %0 into %out[%c0] : tensor<4xf32>
  return %1 : tensor<4xf32>
}
