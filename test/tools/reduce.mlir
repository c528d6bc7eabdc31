// A module is shrunk as long as a command ends with 0, a pipeline fails as it does, or its outcome is wrong.

// RUN: kc reduce %s --quiet --predicate='grep -q math.tanh' | FileCheck %s --check-prefix=TANH
// TANH:      func.func @main(%[[X:.*]]: f32)
// TANH-NEXT:   math.tanh %[[X]] : f32
// TANH-NEXT:   return
// TANH-NOT:    arith

// RUN: kc reduce %s --crash='builtin.module(test-misbehave{how=abort})' --load-pass=%S/Inputs/user_passes.py 2>%t | FileCheck %s --check-prefix=CRASH
// RUN: FileCheck %s --check-prefix=SAID --input-file=%t
// CRASH:      module {
// CRASH-NEXT:   func.func @main() {
// CRASH-NEXT:     return
// SAID: the pipeline fails: crash: died of SIGABRT
// SAID: 4 -> 0 ops, {{[0-9]+}} trials

// RUN: kc reduce %s --quiet --wrong='builtin.module(test-add-to-sub)' --load-pass=%S/Inputs/user_passes.py --save-inputs=%t.npz | FileCheck %s --check-prefix=WRONG
// WRONG:      func.func @main(%{{.*}}: i32) -> i32
// WRONG-NEXT:   arith.addi
// WRONG-NEXT:   return
// RUN: test -s %t.npz

// RUN: not kc reduce %s --predicate='grep -q math.sin' 2>&1 | FileCheck %s --check-prefix=FINE
// FINE: does not fail as it stands: there is nothing to reduce
// RUN: not kc reduce %s --crash='builtin.module(cse)' 2>&1 | FileCheck %s --check-prefix=SOUND
// SOUND: the pipeline does not fail on {{.*}}reduce.mlir
// RUN: not kc reduce %s --crash='builtin.module(csee)' 2>&1 | FileCheck %s --check-prefix=TYPO
// TYPO: no pass is named 'csee'

func.func @main(%x: f32, %n: i32) -> (f32, i32) {
  %0 = math.tanh %x : f32
  %1 = arith.mulf %0, %x : f32
  %2 = arith.addi %n, %n : i32
  %3 = arith.muli %2, %n : i32
  return %1, %3 : f32, i32
}
