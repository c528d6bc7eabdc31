// RUN: not kc-opt %s --pass-pipeline='builtin.module(kc-fold-float-constants{exact})' 2>&1 | FileCheck %s

// The pass takes no options.
// CHECK: error: pass 'kc-fold-float-constants' has no option 'exact'
func.func @nothing() {
  return
}
