// An agent is asked in the middle of a pipeline; what the gates accept stands in the region's place.
// RUN: kc-opt %s --pass-pipeline='builtin.module(agents{at=stablehlo use=%S/../tools/Inputs/double.py:Double},cse)' | FileCheck %s
// RUN: kc-opt %s --agent stablehlo=%S/../tools/Inputs/double.py:Double --agents="at=stablehlo names=twice" | FileCheck %s
// CHECK-LABEL: func.func @twice
// CHECK-SAME:  (%[[X:.*]]: tensor<4xf32>)
// CHECK-NOT:   stablehlo.multiply
// CHECK:       %[[R:.*]] = stablehlo.add %[[X]], %[[X]] : tensor<4xf32>
// CHECK:       return %[[R]]

// What is wrong, or not asked about, stays as it is.
// RUN: kc-opt %s --agents="at=stablehlo use=%S/../tools/Inputs/double.py:triple" | FileCheck %s --check-prefix=STAYS
// RUN: kc-opt %s --agents="at=stablehlo use=%S/../tools/Inputs/double.py:choosy" | FileCheck %s --check-prefix=STAYS
// RUN: kc-opt %s --agent stablehlo=%S/../tools/Inputs/double.py:Double --agents="at=stablehlo names=once*" | FileCheck %s --check-prefix=STAYS
// RUN: kc-opt %s --agent stablehlo=%S/../tools/Inputs/double.py:Double --agents="at=stablehlo kinds=contraction" | FileCheck %s --check-prefix=STAYS
// STAYS-LABEL: func.func @twice
// STAYS:       stablehlo.multiply
// STAYS-NOT:   stablehlo.add

// The ledger keeps the answer; with it no agent is needed.
// RUN: rm -f %t.jsonl
// RUN: kc-opt %s --ledger %t.jsonl --agent stablehlo=%S/../tools/Inputs/double.py:Double --agents="at=stablehlo" | FileCheck %s
// RUN: kc-opt %s --ledger %t.jsonl --frozen --agents="at=stablehlo" | FileCheck %s
func.func @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
  %two = stablehlo.constant dense<2.0> : tensor<4xf32>
  %0 = stablehlo.multiply %x, %two : tensor<4xf32>
  return %0 : tensor<4xf32>
}
