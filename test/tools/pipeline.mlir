// Passes come from a pipeline or as flags, in order; a flag is nested under the op that its pass runs on.
// RUN: kc-opt %s --pass-pipeline='builtin.module(func.func(canonicalize))' | FileCheck %s
// RUN: kc-opt %s --canonicalize | FileCheck %s
// RUN: cat %s | kc-opt --canonicalize - | FileCheck %s
// RUN: kc-opt < %s --cse | FileCheck %s --check-prefix=CSE

// CHECK-LABEL: func.func @add_zero
// CHECK-SAME:  (%[[A:.*]]: i32)
// CHECK-NEXT:  return %[[A]] : i32

// CSE-LABEL: func.func @add_zero
// CSE:       arith.addi
func.func @add_zero(%a: i32) -> i32 {
  %c = arith.constant 0 : i32
  %b = arith.addi %a, %c : i32
  return %b : i32
}
