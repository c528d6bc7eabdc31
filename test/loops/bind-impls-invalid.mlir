// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-bind-impls)' --split-input-file --verify-diagnostics

// expected-error @+1 {{kernel '@k' names the implementation '@k__impl', which does not exist}}
func.func private @k(%x: memref<4xf32>) attributes {kc.kernel, kc.impl = @k__impl} {
  return
}

// -----

// expected-error @+2 {{kernel '@k' has type (memref<4xf32>) -> (), its implementation '@k__impl' (memref<5xf32>) -> ()}}
// expected-note @+1 {{a schedule's function takes the kernel's arguments as bufferized, destinations last, no results}}
func.func private @k(%x: memref<4xf32>) attributes {kc.kernel, kc.impl = @k__impl} {
  return
}
func.func private @k__impl(%x: memref<5xf32>) attributes {kc.impl} {
  return
}

// -----

// expected-error @+1 {{'@b' is a kernel with an implementation of its own}}
func.func private @a() attributes {kc.kernel, kc.impl = @b} {
  return
}
func.func private @b() attributes {kc.kernel, kc.impl = @c} {
  return
}
func.func private @c() attributes {kc.impl} {
  return
}
