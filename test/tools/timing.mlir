// One report over native and Python passes, as a tree, as a list, and as JSON.
// RUN: kc-opt %s -o /dev/null --load-pass=%S/Inputs/user_passes.py --pass-pipeline='builtin.module(canonicalize,func.func(test-mark,cse),cse)' --mlir-timing 2>&1 | FileCheck %s --check-prefix=TREE
// TREE:      ... Execution time report ...
// TREE:      Total Execution Time: {{[0-9.]+}} seconds
// TREE:      ----Wall Time----  ----Name----
// TREE:      %)  Parser
// TREE-NEXT: %)  canonicalize
// TREE-NEXT: %)  'func.func' Pipeline
// TREE-NEXT: %)    test-mark
// TREE-NEXT: %)    cse
// TREE-NEXT: %)  cse
// TREE-NEXT: %)  Output
// TREE-NEXT: %)  Rest
// TREE-NEXT: (100.0%)  Total

// RUN: kc-opt %s -o /dev/null --load-pass=%S/Inputs/user_passes.py --pass-pipeline='builtin.module(func.func(test-mark,cse),cse)' --mlir-timing --mlir-timing-display=list 2>&1 | FileCheck %s --check-prefix=LIST
// LIST-NOT:  Pipeline
// LIST:      %)  cse
// LIST-NOT:  %)  cse
// LIST:      (100.0%)  Total

// RUN: kc-opt %s -o /dev/null --pass-pipeline='builtin.module(func.func(cse))' --mlir-timing --mlir-output-format=json 2>&1 | FileCheck %s --check-prefix=JSON
// JSON:      "duration":
// JSON:      "percentage":
// JSON:      "name": "'func.func' Pipeline",
// JSON:      "passes": [
// JSON:      "name": "cse",
// JSON:      "name": "Total"

// RUN: kc-opt %s -o /dev/null --load-pass=%S/Inputs/user_passes.py --pass-pipeline='builtin.module(canonicalize,func.func(test-mark))' --mlir-pass-statistics 2>&1 | FileCheck %s --check-prefix=STAT
// STAT:      ... Pass statistics report ...
// STAT:      'builtin.module' Pipeline
// STAT-NEXT:   canonicalize
// STAT-NEXT:     (S) 1 runs
// STAT-NEXT:     (S) 7 ops-before
// STAT-NEXT:     (S) 5 ops-after
// STAT-NEXT: 'builtin.module > func.func' Pipeline
// STAT-NEXT:   test-mark
// STAT-NEXT:     (S) 2 runs
// STAT:          (S) 2 marked

// RUN: not kc-opt %s --mlir-timing-display=bush 2>&1 | FileCheck %s --check-prefix=BAD
// BAD: kc-opt: option '--mlir-timing-display' wants one of list, tree, got 'bush'

func.func @f(%a: i32) -> i32 {
  %c = arith.constant 0 : i32
  %b = arith.addi %a, %c : i32
  return %b : i32
}
func.func @g() {
  return
}
