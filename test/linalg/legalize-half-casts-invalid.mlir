// RUN: not kc-opt %s --pass-pipeline='builtin.module(func.func(kc-legalize-half-casts))' 2>&1 | FileCheck %s

// CHECK: pass 'kc-legalize-half-casts' runs on 'builtin.module', not on 'func.func'
