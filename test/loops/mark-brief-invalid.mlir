// RUN: not kc-opt %s --pass-pipeline='builtin.module(kc-mark-brief{limit=many})' 2>&1 | FileCheck %s
// RUN: not kc-opt %s --pass-pipeline='builtin.module(func.func(kc-mark-brief))' 2>&1 | FileCheck %s --check-prefix=ANCHOR

// CHECK: limit=many
// ANCHOR: pass 'kc-mark-brief' runs on 'builtin.module', not on 'func.func'
func.func @f() {
  return
}
