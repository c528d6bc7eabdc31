// RUN: not kc-opt %s --pass-pipeline='builtin.module(kc-externalize-constants{threshold=big})' 2>&1 | FileCheck %s

// CHECK: error: option 'threshold' of 'kc-externalize-constants' wants an integer, got 'big'
func.func @nothing() {
  return
}
