// RUN: not kc-opt %s --pass-pipeline='builtin.module(kc-canonicalize{max-iterations=3})' 2>&1 | FileCheck %s

// CHECK: pass 'kc-canonicalize' has no option 'max-iterations' (it takes no options)
