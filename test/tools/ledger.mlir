// A build with an agent, and the same build from the ledger alone: the same bytes. What stands in the ledger is told.
// RUN: rm -rf %t && mkdir -p %t
// RUN: kc compile %s --agent stablehlo=%S/Inputs/double.py:Double --ledger %t/kc-agents.jsonl -o %t/first.kca
// RUN: kc compile %s --ledger %t/kc-agents.jsonl --frozen -o %t/again.kca
// RUN: cmp %t/first.kca %t/again.kca
// RUN: kc agents list %t/kc-agents.jsonl | FileCheck %s --check-prefix=LIST
// LIST: attempt {{[0-9a-f]+}}  @main (stablehlo, function, cpu) {{.*}}: replace_ir ({{[0-9]+}} lines): accepted

// RUN: kc agents explain %t/kc-agents.jsonl --ir | FileCheck %s --check-prefix=WHY
// WHY:      @main (stablehlo, function, cpu)  region {{[0-9a-f]+}}
// WHY-NEXT:   one run: 4 flops
// WHY-NEXT:   is replace_ir ({{[0-9]+}} lines), by {{.*}} at before:stablehlo-normalize
// WHY:        gates passed: parse{{.*}} runs
// WHY:        | {{.*}}stablehlo.add

// RUN: kc explain %t/again.kca | FileCheck %s --check-prefix=ARTIFACT
// ARTIFACT: again.kca: for cpu ({{.*}}), entries main
// ARTIFACT: @main (stablehlo, function, cpu)
// ARTIFACT-NEXT: is replace_ir

// RUN: kc explain %s --level=stablehlo --ledger=%t/kc-agents.jsonl | FileCheck %s --check-prefix=PROGRAM
// PROGRAM:      road: stablehlo-normalize -> stablehlo-to-linalg
// PROGRAM:      @main (stablehlo, function, cpu)
// PROGRAM:        is replace_ir
// PROGRAM:        contract:
// PROGRAM:          must not differ: where NaN stands

// RUN: kc agents diff %t/first.kca %t/kc-agents.jsonl | FileCheck %s --check-prefix=SAME
// SAME: settle the same regions in the same way

// RUN: kc agents verify %t/kc-agents.jsonl --seed=1 | FileCheck %s --check-prefix=VERIFY
// VERIFY: @main (stablehlo, function, cpu)  attempt {{[0-9a-f]+}}: replace_ir ({{[0-9]+}} lines) of {{.*}}: accepted again
// VERIFY: 1 accepted again, 0 NOT accepted, 0 cannot be judged here
// RUN: kc compile %s --ledger %t/kc-agents.jsonl --frozen --verify -o %t/verified.kca
// RUN: cmp %t/first.kca %t/verified.kca
// RUN: not kc compile %s --ledger %t/kc-agents.jsonl --verify -o %t/none.kca 2>&1 | FileCheck %s --check-prefix=NEEDS
// NEEDS: --verify judges what a frozen build takes: it needs --frozen

// RUN: kc agents prune %t/kc-agents.jsonl | FileCheck %s --check-prefix=PRUNE
// PRUNE: 3 lines are kept

// A changed program is refused, and the region named.
// RUN: not kc compile %S/Inputs/tripled.mlir --ledger %t/kc-agents.jsonl --frozen -o %t/third.kca 2>&1 | FileCheck %s --check-prefix=FROZEN
// FROZEN: frozen: the ledger '{{.*}}' does not settle region '@main' (level stablehlo at before:stablehlo-normalize)
// FROZEN-SAME: its IR, contract, target or options changed
// RUN: not cat %t/third.kca

// RUN: not kc agents explain %s 2>&1 | FileCheck %s --check-prefix=NEITHER
// NEITHER: is neither a ledger nor an artifact; for a program, name its ledger: --ledger
// RUN: not kc agents diff %t/first.kca %t/none 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: no such ledger or artifact
// RUN: not kc agents explain %t/kc-agents.jsonl --kernel=nobody 2>&1 | FileCheck %s --check-prefix=NOBODY
// NOBODY: nothing in {{.*}} fits; it has @main

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %two = stablehlo.constant dense<2.0> : tensor<4xf32>
  %0 = stablehlo.multiply %x, %two : tensor<4xf32>
  return %0 : tensor<4xf32>
}
