// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-lower-asserts)' | FileCheck %s

// Equal messages share one constant; the check itself becomes a branch that calls the runtime.
// CHECK-DAG: llvm.mlir.global internal constant @[[A:kc_message_0]]("too large\00")
// CHECK-DAG: llvm.mlir.global internal constant @[[B:kc_message_1]]("too small\00")
// CHECK-DAG: func.func private @kc_raise(!llvm.ptr)
// CHECK-LABEL: func.func @checks
// CHECK-SAME: (%[[OK:.*]]: i1)
// CHECK: %[[T:.*]] = arith.constant true
// CHECK: %[[BAD:.*]] = arith.xori %[[OK]], %[[T]]
// CHECK: scf.if %[[BAD]] {
// CHECK: %[[P:.*]] = llvm.mlir.addressof @[[A]]
// CHECK: func.call @kc_raise(%[[P]])
// CHECK: scf.if
// CHECK: llvm.mlir.addressof @[[B]]
// CHECK: scf.if
// CHECK: llvm.mlir.addressof @[[A]]
// CHECK-NOT: cf.assert
func.func @checks(%ok: i1) {
  cf.assert %ok, "too large"
  cf.assert %ok, "too small"
  cf.assert %ok, "too large"
  return
}
