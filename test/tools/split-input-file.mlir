// Each part is processed by itself; results are put together with the marker between them, and line numbers are those
// of the whole file. A part that fails does not keep the others from their result.
// RUN: not kc-opt %s --split-input-file --canonicalize 2>%t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=ERR --input-file=%t.err
// RUN: not kc-opt %s --split-input-file --output-split-marker='// =====' 2>%t.err | FileCheck %s --check-prefix=MARK
// RUN: not kc-opt %s --canonicalize 2>&1 | FileCheck %s --check-prefix=WHOLE
// RUN: sed -e 's/-----/#####/' %s > %t.mlir
// RUN: not kc-opt %t.mlir --split-input-file='// #####' 2>&1 | FileCheck %s --check-prefix=ERR

// CHECK-LABEL: func.func @first
// CHECK:       // -----
// CHECK-LABEL: func.func @third
// CHECK-NOT:   // -----

// MARK-LABEL: func.func @first
// MARK:       // =====
// MARK-LABEL: func.func @third

// ERR-NOT: warning
// ERR: 29:19: error: use of undeclared SSA value name
// ERR-NOT: error

// WHOLE: 29:19: error: use of undeclared SSA value name
func.func @first() {
  return
}
// -----
func.func @second(%a: i32) -> i32 {
  %b = arith.addi %nobody, %a : i32
  return %b : i32
}
// -----
func.func @third() {
  return
}
