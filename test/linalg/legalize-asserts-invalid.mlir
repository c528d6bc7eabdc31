// RUN: not kc-opt %s --pass-pipeline='builtin.module(kc-legalize-asserts{mode=maybe})' 2>&1 | FileCheck %s

// An option value that does not exist is refused with a caret at it.
// CHECK: error: option 'mode' of 'kc-legalize-asserts' wants {{.*}}got 'maybe'
func.func @nothing() {
  return
}
