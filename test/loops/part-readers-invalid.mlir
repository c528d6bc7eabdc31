// RUN: not kc-opt %s --pass-pipeline='builtin.module(kc-part-readers{readers=few})' 2>&1 | FileCheck %s
// RUN: not kc-opt %s --pass-pipeline='builtin.module(func.func(kc-part-readers))' 2>&1 | FileCheck %s --check-prefix=ANCHOR

// CHECK: readers=few
// ANCHOR: pass 'kc-part-readers' runs on 'builtin.module', not on 'func.func'
func.func @f() {
  return
}
