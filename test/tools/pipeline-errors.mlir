// Every mistake in a pipeline is shown with a caret at the place of the mistake.

// RUN: not kc-opt %s --pass-pipeline='builtin.module(func.func(cse,canonicalze))' 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN:      <pipeline>:1:30: error: no pass is named 'canonicalze'; did you mean 'canonicalize'
// UNKNOWN-NEXT: builtin.module(func.func(cse,canonicalze))
// UNKNOWN-NEXT: {{^}}                             ^

// RUN: not kc-opt %s --pass-pipeline='builtin.module(canonicalize{bogus=3})' 2>&1 | FileCheck %s --check-prefix=OPTION
// OPTION:      <pipeline>:1:29: error: pass 'canonicalize' has no option 'bogus'

// RUN: not kc-opt %s --pass-pipeline='builtin.module(func.func(cse,canonicalize{top-down=true max-iterations=x}))' 2>&1 | FileCheck %s --check-prefix=VALUE
// VALUE:      <pipeline>:1:72: error: option 'max-iterations' of 'canonicalize': 'x' value invalid for long argument

// RUN: not kc-opt %s --pass-pipeline='builtin.module(inline{op-pipelines={func.func(canonicalise)}})' 2>&1 | FileCheck %s --check-prefix=INNER
// INNER:      <pipeline>:1:47: error: no pass is named 'canonicalise'

// RUN: not kc-opt %s --pass-pipeline='builtin.module(cse,chlo-legalize-to-stablehlo)' 2>&1 | FileCheck %s --check-prefix=ANCHOR
// ANCHOR:      <pipeline>:1:20: error: 'chlo-legalize-to-stablehlo' runs on 'func.func', not on 'builtin.module': write func.func(chlo-legalize-to-stablehlo)

// RUN: not kc-opt %s --pass-pipeline='builtin.module(cse' 2>&1 | FileCheck %s --check-prefix=OPEN
// OPEN:      <pipeline>:1:15: error: this '(' is never closed

// RUN: not kc-opt %s --pass-pipeline='builtin.module(canonicalize{a=b)' 2>&1 | FileCheck %s --check-prefix=BRACE
// BRACE:      <pipeline>:1:28: error: this '{' is never closed

// RUN: not kc-opt %s --pass-pipeline='builtin.module(cse))' 2>&1 | FileCheck %s --check-prefix=CLOSE
// CLOSE:      <pipeline>:1:20: error: this ')' closes nothing

// RUN: not kc-opt %s --pass-pipeline='builtin.module(cse canonicalize)' 2>&1 | FileCheck %s --check-prefix=COMMA
// COMMA:      <pipeline>:1:20: error: expected ',' here

// RUN: not kc-opt %s --pass-pipeline='builtin.module(cse,)' 2>&1 | FileCheck %s --check-prefix=NAME
// NAME:      <pipeline>:1:20: error: expected the name of a pass or of an op here

// RUN: not kc-opt %s --pass-pipeline='cse' 2>&1 | FileCheck %s --check-prefix=WRAP
// WRAP:      <pipeline>:1:1: error: a pipeline must be wrapped in the op it runs on, for example builtin.module(...)

// RUN: not kc-opt %s --pass-pipeline='func.func(cse)' 2>&1 | FileCheck %s --check-prefix=ROOT
// ROOT:      <pipeline>:1:1: error: this pipeline runs on 'func.func', but it was given a 'builtin.module'

// RUN: kc-opt %s --pass-pipeline='builtin.module(nosuch.op(cse),gpu.func(cse))' 2>&1 | FileCheck %s --check-prefix=NOTHING
// NOTHING:      <pipeline>:1:16: warning: 'nosuch.op' matches nothing directly inside 'builtin.module': no dialect has an op of that name
// NOTHING:      <pipeline>:1:31: warning: 'gpu.func' matches nothing directly inside 'builtin.module': 1 of them stand inside gpu.module; nest the group there

// RUN: not kc-opt %s --pass-pipeline='builtin.module(func.func(scf.for(cse)))' 2>&1 | FileCheck %s --check-prefix=ISOLATED
// ISOLATED:     pipeline-errors.mlir:[[LINE:[0-9]+]]:3: error: 'scf.for' op trying to schedule a pass on an operation not marked as 'IsolatedFromAbove'

// RUN: not kc-opt %s --canonicalise 2>&1 | FileCheck %s --check-prefix=FLAG
// FLAG:      kc-opt: unknown option or pass '--canonicalise'; did you mean --canonicalize
// RUN: not kc-opt %s --mlir-timin 2>&1 | FileCheck %s --check-prefix=NEAR
// NEAR:      kc-opt: unknown option or pass '--mlir-timin'; did you mean --mlir-timing
// RUN: not kc-opt %s --cse --pass-pipeline='builtin.module(cse)' 2>&1 | FileCheck %s --check-prefix=BOTH
// BOTH:      kc-opt: '--pass-pipeline' and passes given as flags (--cse) do not go together

func.func @loop(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
  }
  return
}
gpu.module @device {
  gpu.func @kernel() {
    gpu.return
  }
}
