// The phase and the pass that first break a program.

// RUN: kc bisect %s --load-pass=%S/Inputs/user_passes.py --insert='after:linalg-clean-up=canonicalize,test-add-to-sub' --no-reduce --quiet | FileCheck %s --check-prefix=WRONG
// WRONG:      fault:  wrong results: result 0[{{[0-3]}}] is
// WRONG-NEXT: phase:  after:linalg-clean-up (linalg -> linalg)
// WRONG-NEXT: pass:   test-add-to-sub on builtin.module
// WRONG-NEXT: alone:  kc-opt --pass-pipeline='builtin.module(test-add-to-sub)'

// RUN: kc bisect %s --load-pass=%S/Inputs/user_passes.py --pass-pipeline='builtin.module(cse,test-misbehave{how=crash})' --no-reduce --quiet | FileCheck %s --check-prefix=CRASH
// CRASH:      fault:  native code crashed: died of SIGSEGV
// CRASH-NEXT: phase:  pipeline
// CRASH-NEXT: pass:   test-misbehave{how=crash} on builtin.module

// RUN: not kc bisect %s --pass-pipeline='builtin.module(cse)' --quiet | FileCheck %s --check-prefix=FINE
// FINE: nothing is wrong with {{.*}}bisect-program.mlir

// RUN: not kc bisect %s --insert='after:nowhere=cse' 2>&1 | FileCheck %s --check-prefix=NOWHERE
// NOWHERE: --insert after:nowhere=cse: wants before:PHASE=PASSES or after:PHASE=PASSES, PHASE one of stablehlo-normalize,
// RUN: not kc bisect %s --pass-pipeline='builtin.module(csee)' 2>&1 | FileCheck %s --check-prefix=TYPO
// TYPO: no pass is named 'csee'

func.func @main(%x: tensor<4xi32>) -> tensor<4xi32> {
  %0 = stablehlo.add %x, %x : tensor<4xi32>
  return %0 : tensor<4xi32>
}
