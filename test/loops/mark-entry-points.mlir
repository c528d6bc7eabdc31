// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-mark-entry-points)' | FileCheck %s

// Arguments of public functions are read-only unless donated; the signature keeps what LLVM's types lose.
// CHECK-LABEL: func.func @main
// CHECK-SAME: tensor<4x?xi8> {bufferization.writable = false, kc.dims = ["four", "n"], kc.dtype = "ui8"}
// CHECK-SAME: tensor<2xf32> {kc.donated}
// CHECK-SAME: tensor<3xbf16> {bufferization.writable = false, kc.param = 7 : i64}
// CHECK-SAME: %{{.*}}: i64
// CHECK-SAME: kc.signature = "{\22args\22: [{\22name\22: \22arg0\22, \22dtype\22: \22ui8\22, \22shape\22: [4, \22n\22], \22kind\22: \22input\22}
// CHECK-SAME: {\22name\22: \22arg2\22, \22dtype\22: \22bf16\22, \22shape\22: [3], \22kind\22: \22param\22, \22param\22: 7}
// CHECK-SAME: {\22name\22: \22arg3\22, \22dtype\22: \22i64\22, \22shape\22: [], \22scalar\22: true, \22kind\22: \22input\22}
// CHECK-SAME: \22results\22: [{\22dtype\22: \22complex64\22, \22shape\22: [null]}]
func.func @main(%a: tensor<4x?xi8> {kc.dtype = "ui8", kc.dims = ["four", "n"]}, %b: tensor<2xf32> {kc.donated},
                %c: tensor<3xbf16> {kc.param = 7 : i64}, %d: i64, %e: tensor<?xcomplex<f32>>) -> tensor<?xcomplex<f32>> {
  return %e : tensor<?xcomplex<f32>>
}

// CHECK-LABEL: func.func private @inner
// CHECK-NOT: writable
// CHECK-NOT: kc.signature
func.func private @inner(%a: tensor<4xf32>) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}
