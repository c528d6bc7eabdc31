// What a Python pass says is shown at its place, with the source line, a caret and notes.
// RUN: kc-opt %s --load-pass=%S/Inputs/user_passes.py --test-talk=severity=warning 2>&1 | FileCheck %s
// RUN: kc-opt --load-pass=%S/Inputs/user_passes.py --test-talk=severity=remark < %s 2>&1 | FileCheck %s --check-prefix=STDIN

// CHECK:      diagnostics.mlir:[[L:[0-9]+]]:8: warning: a constant
// CHECK-NEXT: {{^}}  %c = arith.constant 0 : i32
// CHECK-NEXT: {{^}}       ^
// CHECK-NEXT: diagnostics.mlir:{{[0-9]+}}:1: note: inside this function
// CHECK-NEXT: {{^}}func.func @f() {
// CHECK-NEXT: {{^}}^
// CHECK:      module {

// STDIN:      <stdin>:{{[0-9]+}}:8: remark: a constant
// STDIN-NEXT: {{^}}  %c = arith.constant 0 : i32
func.func @f() {
  %c = arith.constant 0 : i32
  return
}
