// --bisect-limit runs the first passes only; native and Python passes count alike.
// RUN: kc-opt %s --allow-unregistered-dialect --load-pass=%S/Inputs/user_passes.py --pass-pipeline='builtin.module(func.func(test-mark,cse),canonicalize)' --bisect-limit=3 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=SAID --input-file=%t

// SAID:      BISECT: running pass (1) test-mark on func.func @f
// SAID-NEXT: BISECT: running pass (2) cse on func.func @f
// SAID-NEXT: BISECT: running pass (3) test-mark on func.func @g
// SAID-NEXT: BISECT: NOT running pass (4) cse on func.func @g
// SAID-NEXT: BISECT: NOT running pass (5) canonicalize on builtin.module

// CHECK-LABEL: func.func @f
// CHECK-SAME:  test.mark
// CHECK-NEXT:  arith.constant
// CHECK-NEXT:  "test.use"
func.func @f() {
  %a = arith.constant 0 : i32
  %b = arith.constant 0 : i32
  "test.use"(%a, %b) : (i32, i32) -> ()
  return
}
// CHECK-LABEL: func.func @g
// CHECK-SAME:  test.mark
// CHECK-NEXT:  arith.constant
// CHECK-NEXT:  arith.constant
func.func @g() {
  %a = arith.constant 0 : i32
  %b = arith.constant 0 : i32
  "test.use"(%a, %b) : (i32, i32) -> ()
  return
}
