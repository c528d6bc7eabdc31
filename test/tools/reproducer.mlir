// A pass that fails or crashes leaves a reproducer: the IR before it and a pipeline with just that pass.

// A native pass that fails.
// RUN: rm -f %t.rep
// RUN: not kc-opt %s --pass-pipeline='builtin.module(func.func(canonicalize),convert-torch-to-linalg-typo)' --mlir-pass-pipeline-crash-reproducer=%t.rep 2>&1 | FileCheck %s --check-prefix=TYPO
// TYPO: error: no pass is named 'convert-torch-to-linalg-typo'
// RUN: not cat %t.rep

// A Python pass that emits an error; the IR is that before the pass, so canonicalize has run and cse has not.
// RUN: not kc-opt %s --load-pass=%S/Inputs/user_passes.py --pass-pipeline='builtin.module(canonicalize,test-talk{severity=error},cse)' --mlir-pass-pipeline-crash-reproducer=%t.rep 2>&1 | FileCheck %s --check-prefix=FAIL
// FAIL: reproducer.mlir:[[L:[0-9]+]]:8: error: no constants, please
// FAIL: kc-opt: pass 'test-talk' failed; reproducer written to '{{.*}}.rep'
// RUN: FileCheck %s --check-prefix=FILE --input-file=%t.rep
// FILE:      // configuration: --pass-pipeline='builtin.module(test-talk{severity=error})'
// FILE:      module {
// FILE:        func.func @f
// FILE-NOT:    arith.addi
// FILE:        arith.constant 7 : i32
// FILE:      {-#
// FILE:        external_resources: {
// FILE-NEXT:     mlir_reproducer: {
// FILE-NEXT:       pipeline: "builtin.module(test-talk{severity=error})",
// FILE-NEXT:       disable_threading: true,
// FILE-NEXT:       verify_each: true

// The reproducer runs: the same error, at the place in the original file.
// RUN: not kc-opt %t.rep --load-pass=%S/Inputs/user_passes.py --run-reproducer 2>&1 | FileCheck %s --check-prefix=AGAIN
// AGAIN-NOT: warning
// AGAIN:     reproducer.mlir:[[L:[0-9]+]]:8: error: no constants, please

// A Python pass with a bug, and one that leaves invalid IR.
// RUN: not kc-opt %s --load-pass=%S/Inputs/user_passes.py --test-misbehave=how=raise --mlir-pass-pipeline-crash-reproducer=%t.rep 2>&1 | FileCheck %s --check-prefix=RAISE
// RAISE: error: pass 'test-misbehave' raised KeyError: 'no such thing' (a bug in the pass)
// RAISE: Traceback
// RAISE: reproducer written to
// RUN: not kc-opt %s --load-pass=%S/Inputs/user_passes.py --test-misbehave=how=invalid --mlir-pass-pipeline-crash-reproducer=%t.rep 2>&1 | FileCheck %s --check-prefix=INVALID
// INVALID: error: {{.*}}entry block must have 0 arguments to match function signature
// INVALID: kc-opt: pass 'test-misbehave' left IR that does not verify; reproducer written to
// RUN: not kc-opt %s --load-pass=%S/Inputs/user_passes.py --test-misbehave=how=emit 2>&1 | FileCheck %s --check-prefix=EMIT
// EMIT: error: emitted, and not raised

// Native code that crashes: the process that compiled is gone, the reproducer is there.
// RUN: rm -f %t.rep
// RUN: not kc-opt %s --load-pass=%S/Inputs/user_passes.py --pass-pipeline='builtin.module(canonicalize,test-misbehave{how=crash},cse)' --mlir-pass-pipeline-crash-reproducer=%t.rep -o %t.out 2>&1 | FileCheck %s --check-prefix=CRASH
// CRASH: kc-opt: native code crashed (SIGSEGV) while running 'builtin.module(test-misbehave{how=crash})'; reproducer written to
// RUN: FileCheck %s --check-prefix=CRASHED --input-file=%t.rep
// CRASHED: // native code crashed (SIGSEGV)
// CRASHED: func.func @f
// CRASHED-NOT: arith.addi
// CRASHED: pipeline: "builtin.module(test-misbehave{how=crash})"
// RUN: not cat %t.out
// RUN: not kc-opt %t.rep --load-pass=%S/Inputs/user_passes.py --run-reproducer --isolate 2>&1 | FileCheck %s --check-prefix=ISOLATE
// ISOLATE: kc-opt: native code crashed (SIGSEGV) while running 'builtin.module(test-misbehave{how=crash})'
// RUN: not kc-opt %s --load-pass=%S/Inputs/user_passes.py --test-misbehave=how=abort --isolate 2>&1 | FileCheck %s --check-prefix=ABORT
// ABORT: kc-opt: native code crashed (SIGABRT) while running 'builtin.module(test-misbehave{how=abort})'

// Nothing goes wrong: no file, and the result as usual.
// RUN: rm -f %t.rep
// RUN: kc-opt %s --canonicalize --mlir-pass-pipeline-crash-reproducer=%t.rep | FileCheck %s --check-prefix=FINE
// FINE: arith.constant 7
// RUN: not cat %t.rep

// RUN: not kc-opt %S/output.mlir --run-reproducer 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: is no reproducer: it holds no mlir_reproducer pipeline
func.func @f(%a: i32) -> (i32, i32) {
  %c = arith.constant 0 : i32
  %s = arith.constant 7 : i32
  %b = arith.addi %a, %c : i32
  return %b, %s : i32, i32
}
