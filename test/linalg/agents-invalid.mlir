// RUN: kc-opt %s --agents="at=stablehlo use=nobody" --verify-diagnostics
// RUN: not kc-opt %s --agents="at=linalg mode=frozen" 2>&1 | FileCheck %s --check-prefix=FROZEN
// RUN: not kc-opt %s --agents 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not kc-opt %s --agents="at=linalk use=algebra" 2>&1 | FileCheck %s --check-prefix=LEVEL
// RUN: not kc-opt %s --agents="use=algebra target=tpu" 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not kc-opt %s --agents="use=algebra mode=cold" 2>&1 | FileCheck %s --check-prefix=MODE
// RUN: not kc-opt %s --agent stablehlo=%S/../tools/Inputs/double.py:Double --agents 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: not kc-opt %s --agent %S/../tools/Inputs/double.py 2>&1 | FileCheck %s --check-prefix=WHICH
// RUN: not kc-opt %s --frozen 2>&1 | FileCheck %s --check-prefix=LEDGER

// FROZEN: error: frozen: the ledger has no build of 'main' for target 'cpu' (it knows no build at all)
// NONE: error: nobody to ask at level 'linalg': name one: use=NAME, or kc-opt --agent
// LEVEL: error: no level is named 'linalk'
// TARGET: error: no target is named 'tpu'
// MODE: error: the ledger is used in mode ask, replay, frozen, verified, not 'cold'
// OTHER: error: nobody to ask at level 'linalg': those given are for other levels: 'double' (stablehlo)
// WHICH: kc-opt: '{{.*}}double.py' holds 3 agents (Double, triple, choosy): name one as {{.*}}double.py:NAME
// LEDGER: kc-opt: '--frozen' needs '--ledger FILE'

// expected-error@below {{no agent is named 'nobody'}}
module {
  func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}
