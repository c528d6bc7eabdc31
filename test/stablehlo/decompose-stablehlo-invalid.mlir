// RUN: not kc-opt %s --pass-pipeline='builtin.module(kc-decompose-stablehlo{to=f64})' 2>&1 | FileCheck %s
// RUN: kc-opt %s --verify-diagnostics --pass-pipeline='builtin.module(kc-decompose-stablehlo)'

// CHECK: error: pass 'kc-decompose-stablehlo' has no option 'to' (it takes no options)
func.func @nothing() {
  return
}

func.func @scan(%x: tensor<?xi32>, %i: tensor<i32>) -> tensor<?xi32> {
  // expected-error @+2 {{'chlo.scan' of shapes that are only known at run time cannot be compiled}}
  // expected-note @+1 {{nearest thing that works: static shapes, or a stablehlo.while}}
  %0:2 = chlo.scan(%x) inits(%i) dimension=0 {
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    stablehlo.return %a, %a : tensor<i32>, tensor<i32>
  } : (tensor<?xi32>, tensor<i32>) -> (tensor<?xi32>, tensor<i32>)
  return %0#0 : tensor<?xi32>
}
