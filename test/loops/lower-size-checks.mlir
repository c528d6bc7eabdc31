// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-lower-size-checks)' | FileCheck %s

// CHECK-DAG: llvm.mlir.global internal constant @[[TEXT:kc_message_0]]("{0} is not {1}\00")
// CHECK-DAG: func.func private @kc_fail_check(!llvm.ptr, index, index)
// CHECK-NOT: kc.check
// CHECK-LABEL: func.func @checks
// CHECK-SAME: (%[[OK:.*]]: i1, %[[A:.*]]: index, %[[B:.*]]: index)
// CHECK: %[[BAD:.*]] = arith.xori %[[OK]], %{{.*}}
// CHECK: scf.if %[[BAD]] {
// CHECK: %[[P:.*]] = llvm.mlir.addressof @[[TEXT]]
// CHECK: func.call @kc_fail_check(%[[P]], %[[A]], %[[B]])
// CHECK-NOT: call
// CHECK: return
func.func @checks(%ok: i1, %a: index, %b: index) {
  %true = arith.constant true
  func.call @kc_check_0(%ok, %a, %b) : (i1, index, index) -> ()
  func.call @kc_check_0(%true, %a, %b) : (i1, index, index) -> ()
  return
}
func.func private @kc_check_0(i1, index, index) attributes {kc.check = "{0} is not {1}"}
