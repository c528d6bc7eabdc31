// RUN: kc-opt %s -o /dev/null --canonicalize --cse --mlir-print-ir-after-all 2>&1 | FileCheck %s --check-prefix=ALL
// ALL:      // -----// IR Dump After canonicalize (canonicalize) //----- //
// ALL-NEXT: module {
// ALL:      // -----// IR Dump After cse (cse) //----- //
// ALL-NEXT: module {

// RUN: kc-opt %s -o /dev/null --canonicalize --cse --mlir-print-ir-before=cse 2>&1 | FileCheck %s --check-prefix=BEFORE
// BEFORE-NOT: canonicalize
// BEFORE:     // -----// IR Dump Before cse (cse) //----- //
// BEFORE-NOT: IR Dump

// RUN: kc-opt %s -o /dev/null --canonicalize --canonicalize --mlir-print-ir-after-all --mlir-print-ir-after-change 2>&1 | FileCheck %s --check-prefix=CHANGE
// CHANGE:     IR Dump After canonicalize
// CHANGE-NOT: IR Dump After canonicalize

// Inside a group the op is printed, or the module with a head that names the op.
// RUN: kc-opt %s -o /dev/null --pass-pipeline='builtin.module(func.func(cse))' --mlir-print-ir-after=cse 2>&1 | FileCheck %s --check-prefix=FUNC
// FUNC:      IR Dump After cse (cse) //----- //
// FUNC-NEXT: func.func @f
// FUNC:      IR Dump After cse (cse) //----- //
// FUNC-NEXT: func.func @g
// RUN: kc-opt %s -o /dev/null --pass-pipeline='builtin.module(func.func(cse))' --mlir-print-ir-after=cse --mlir-print-ir-module-scope 2>&1 | FileCheck %s --check-prefix=SCOPE
// SCOPE:      IR Dump After cse (cse) ('func.func' operation: @f) //----- //
// SCOPE-NEXT: module {

// A Python pass is printed with its class, and when it fails, also when it raises.
// RUN: not kc-opt %s --load-pass=%S/Inputs/user_passes.py --canonicalize --test-misbehave --mlir-print-ir-after-failure 2>&1 | FileCheck %s --check-prefix=FAILED
// FAILED-NOT: IR Dump After canonicalize
// FAILED:     IR Dump After Misbehave Failed (test-misbehave) //----- //
// FAILED-NEXT: module {

// A tree of files.
// RUN: rm -rf %t.dir
// RUN: kc-opt %s -o /dev/null --pass-pipeline='builtin.module(canonicalize,func.func(cse,canonicalize),cse)' --mlir-print-ir-after-all --mlir-print-ir-tree-dir=%t.dir
// RUN: FileCheck %s --check-prefix=TREE --input-file=%t.dir/builtin_module_no-symbol-name/func_func_g/0_1_canonicalize.mlir
// RUN: FileCheck %s --check-prefix=ROOT --input-file=%t.dir/builtin_module_no-symbol-name/1_cse.mlir
// TREE:     IR Dump After canonicalize (canonicalize)
// TREE-NEXT: func.func @g
// ROOT:     IR Dump After cse (cse)
// ROOT-NEXT: module {

// RUN: not kc-opt %s --cse --mlir-print-ir-after=cze 2>&1 | FileCheck %s --check-prefix=NAME
// NAME: kc-opt: --mlir-print-ir-after: no pass is named 'cze'

func.func @f(%a: i32) -> i32 {
  %c = arith.constant 0 : i32
  %b = arith.addi %a, %c : i32
  return %b : i32
}
func.func @g() {
  return
}
