// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-bind-impls)' | FileCheck %s

// The call goes to what the schedule built; the reference body is gone; a kernel without a schedule stays.
// CHECK-LABEL: func.func @main
// CHECK: call @k0__impl(
// CHECK: scf.for
// CHECK: call @k0__impl(
// CHECK: call @k1(
// CHECK-NOT: func.func private @k0(
// CHECK: func.func private @k0__impl
// CHECK: func.func private @k1(
func.func @main(%a: memref<4xf32>, %b: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  call @k0(%a, %b) : (memref<4xf32>, memref<4xf32>) -> ()
  scf.for %i = %c0 to %c1 step %c1 {
    func.call @k0(%b, %b) : (memref<4xf32>, memref<4xf32>) -> ()
  }
  call @k1(%a) : (memref<4xf32>) -> ()
  return
}
func.func private @k0(%x: memref<4xf32>, %out: memref<4xf32>) attributes {kc.kernel, kc.impl = @k0__impl} {
  memref.copy %x, %out : memref<4xf32> to memref<4xf32>
  return
}
func.func private @k0__impl(%x: memref<4xf32>, %out: memref<4xf32>) attributes {kc.impl} {
  return
}
func.func private @k1(%x: memref<4xf32>) attributes {kc.kernel} {
  return
}
