// Passes from a user's file: a pattern under @kc.rewrite, and classes with options of every type.
// RUN: kc-opt %s --load-pass=%S/Inputs/user_passes.py --test-add-to-sub | FileCheck %s
// RUN: kc-opt %s --load-pass %S/Inputs/user_passes.py --pass-pipeline='builtin.module(func.func(test-add-to-sub))' | FileCheck %s
// CHECK-LABEL: func.func @f
// CHECK-SAME:  (%[[A:.*]]: i32)
// CHECK-NEXT:  %[[S:.*]] = arith.subi %[[A]], %[[A]]
// CHECK-NEXT:  %[[K:.*]] = arith.addi %[[S]], %[[A]] {keep}
// CHECK-NEXT:  return %[[K]]

// RUN: kc-opt %s --load-pass=%S/Inputs/user_passes.py --pass-pipeline='builtin.module(func.func(test-mark{count=-3 sizes=1,0x10 mode=exact label="two words" strict limit=none}))' | FileCheck %s --check-prefix=OPTIONS
// OPTIONS: func.func @f({{.*}}) -> i32 attributes {test.mark = "-3 (1, 16) exact 'two words' True None"}

// A pass goes back to the text it came from.
// RUN: kc-opt %s --load-pass=%S/Inputs/user_passes.py --test-mark="label='two words' strict=1 sizes=4" --cse --dump-pass-pipeline 2>&1 | FileCheck %s --check-prefix=DUMP
// DUMP:      Pass Manager with 2 passes:
// DUMP-NEXT: builtin.module(func.func(test-mark{sizes=4 label="two words" strict=true}),cse)

// RUN: not kc-opt %s --load-pass=%S/Inputs/user_passes.py --pass-pipeline='builtin.module(func.func(test-mark{count=3 mode=quick}))' 2>&1 | FileCheck %s --check-prefix=MODE
// MODE: <pipeline>:1:49: error: option 'mode' of 'test-mark' wants one of fast, exact, got 'quick'
// RUN: not kc-opt %s --load-pass=%S/Inputs/user_passes.py --pass-pipeline='builtin.module(func.func(test-mark{sizes=1,x}))' 2>&1 | FileCheck %s --check-prefix=SIZES
// SIZES: error: option 'sizes' of 'test-mark' wants a comma-separated list of an integer, got '1,x'
// RUN: not kc-opt %s --load-pass=%S/Inputs/user_passes.py --pass-pipeline='builtin.module(func.func(test-mark{counts=3}))' 2>&1 | FileCheck %s --check-prefix=NAME
// NAME: <pipeline>:1:36: error: pass 'test-mark' has no option 'counts' (it has count, sizes, mode, label, strict, limit)
// RUN: not kc-opt %s --load-pass=%S/Inputs/user_passes.py --pass-pipeline='builtin.module(func.func(test-mark{count=1 count=2}))' 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: <pipeline>:1:44: error: option 'count' is given twice
// RUN: not kc-opt %s --load-pass=%S/Inputs/user_passes.py --pass-pipeline='builtin.module(test-mark)' 2>&1 | FileCheck %s --check-prefix=ANCHOR
// ANCHOR: error: pass 'test-mark' runs on 'func.func', not on 'builtin.module': write func.func(test-mark)
// RUN: not kc-opt %s --load-pass=%S/Inputs/none.py 2>&1 | FileCheck %s --check-prefix=FILE
// FILE: kc-opt: cannot load passes from '{{.*}}none.py': no such file

func.func @f(%a: i32) -> i32 {
  %s = arith.addi %a, %a : i32
  %k = arith.addi %s, %a {keep} : i32
  return %k : i32
}
