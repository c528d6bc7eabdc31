// RUN: not kc-opt %s --split-input-file --verify-diagnostics --load-pass=%S/Inputs/user_passes.py --test-talk=severity=remark 2>&1 | FileCheck %s
// RUN: not kc-opt %s --split-input-file --verify-diagnostics=only-expected --load-pass=%S/Inputs/user_passes.py --test-talk=severity=remark 2>&1 | FileCheck %s --check-prefix=ONLY
// Diagnostics that nothing expects, and expectations that nothing meets, are errors.

// ONLY-NOT: unexpected

// CHECK: verify-diagnostics-invalid.mlir:13:8: error: unexpected remark: a constant
// CHECK: verify-diagnostics-invalid.mlir:11:4: error: expected remark "another text" was not produced
// ONLY:  verify-diagnostics-invalid.mlir:11:4: error: expected remark "another text" was not produced
func.func @text() {
// expected-remark@below {{another text}}
  // between
  %c = arith.constant 0 : i32
  return
}

// -----

// CHECK: verify-diagnostics-invalid.mlir:24:8: error: unexpected remark: a constant
// CHECK: verify-diagnostics-invalid.mlir:23:6: error: expected error "a constant" was not produced
// ONLY:  verify-diagnostics-invalid.mlir:23:6: error: expected error "a constant" was not produced
func.func @severity() {
  // expected-error@+1 {{a constant}}
  %c = arith.constant 0 : i32
  return
}

// -----

// CHECK: verify-diagnostics-invalid.mlir:[[L:[0-9]+]]:6: error: expected remark "a constant" was not produced
func.func @count() {
  // expected-remark@+1 2 {{a constant}}
  %c = arith.constant 0 : i32
  return
}

// -----

// CHECK: verify-diagnostics-invalid.mlir:[[L:[0-9]+]]:6: error: bad regular expression
func.func @regex() {
  // expected-remark-re@+1 {{a {{(}} constant}}
  return
}
