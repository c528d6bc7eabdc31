// RUN: not kc-opt %s 2>&1 | FileCheck %s --check-prefix=REFUSE
// RUN: kc-opt %s --allow-unregistered-dialect | FileCheck %s
// REFUSE: unregistered.mlir:[[L:[0-9]+]]:15: error: operation being parsed with an unregistered dialect
// CHECK: "mystery.op"() : () -> ()
func.func @f() {
  "mystery.op"() : () -> ()
  return
}
