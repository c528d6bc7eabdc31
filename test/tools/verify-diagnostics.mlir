// RUN: kc-opt %s --split-input-file --verify-diagnostics --load-pass=%S/Inputs/user_passes.py --test-talk=severity=warning
// Passes only if every diagnostic below comes, and no other; the file verify-diagnostics-invalid.mlir has the opposite.

// A parse error; a comment may stand on the line itself, above or below it, and its text may be a regular expression.
func.func @parse(%a: i32) -> i32 {
  // expected-error@+1 {{use of undeclared SSA value name}}
  %b = arith.addi %nobody, %a : i32
  return %b : i32
}

// -----

func.func @verifier() -> i32 {
  return // expected-error {{op has 0 operands, but enclosing function (@verifier) returns 1}}
}

// -----

func.func @regex() -> i32 {
  return
  // expected-error-re@above {{op has {{[0-9]+}} operands, but enclosing function ({{.*}}) returns 1}}
  // expected-note@-2 {{see current operation}}
}

// -----

// Warnings of a Python pass, with a note; below skips lines that expect something.
// expected-note@below {{inside this function}}
func.func @warning() {
  // expected-warning@below {{a constant}}
  %c = arith.constant 0 : i32
  return
}

// -----

// The same message twice on one line.
func.func @twice() {
  // expected-warning@+1 2 {{a constant}}
  %c = arith.constant 0 : i32 %d = arith.constant 1 : i32
  return
}

// -----

// A part in which nothing happens.
func.func @quiet() {
  return
}
