// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-merge-kernels)' | FileCheck %s

// @k1 is @k0 under another name; @k2 computes something else; @f is no kernel.
// CHECK-LABEL: func.func @main
// CHECK: call @k0(
// CHECK: call @k0(
// CHECK: call @k2(
// CHECK: call @f(
// CHECK-LABEL: func.func private @k0(
// CHECK-NOT: @k1
// CHECK-LABEL: func.func private @k2(
// CHECK-LABEL: func.func private @f(
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %a = call @k0(%x, %e) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %b = call @k1(%a, %e) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %c = call @k2(%b, %e) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %d = call @f(%c, %e) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %d : tensor<4xf32>
}
func.func private @k0(%x: tensor<4xf32>, %out: tensor<4xf32>) -> tensor<4xf32> attributes {kc.kernel} {
  %0 = linalg.exp ins(%x : tensor<4xf32>) outs(%out : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @k1(%y: tensor<4xf32>, %to: tensor<4xf32>) -> tensor<4xf32> attributes {kc.kernel} {
  %e = linalg.exp ins(%y : tensor<4xf32>) outs(%to : tensor<4xf32>) -> tensor<4xf32>
  return %e : tensor<4xf32>
}
func.func private @k2(%x: tensor<4xf32>, %out: tensor<4xf32>) -> tensor<4xf32> attributes {kc.kernel} {
  %0 = linalg.log ins(%x : tensor<4xf32>) outs(%out : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @f(%x: tensor<4xf32>, %out: tensor<4xf32>) -> tensor<4xf32> {
  %0 = linalg.exp ins(%x : tensor<4xf32>) outs(%out : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
