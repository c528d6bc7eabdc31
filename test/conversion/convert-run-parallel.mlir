// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-convert-run-parallel)' | FileCheck %s

// CHECK: func.func @f(
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
func.func @feed() -> tensor<2xi8> {
  %c = stablehlo.constant dense<1> : tensor<2xi8>
  return %c : tensor<2xi8>
}

// The infeed's functions get a destination too: scratch.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[A:.*]]: tensor<4xf32>, %[[B:.*]]: tensor<4xf32>)
// CHECK: %[[R:.*]]:3 = call @kc_run_parallel_0(%[[A]], %[[B]], %{{.*}}, %{{.*}}, %{{.*}}) :
// CHECK: return %[[R]]#0, %[[R]]#1
// CHECK: func.func private @kc_run_parallel_0
// CHECK-SAME: type=replicas=1/partitions=2/programs=f,f/infeed=feed/arrays=1,1,1,1,0,1;
// CHECK-SAME: kc.programs = [@f, @f, @feed]
func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %p = interpreter.probe %a, probe_id = "p" : tensor<4xf32>
  %r:2 = "interpreter.run_parallel"(%p, %b) {programs = [[@f, @f]], infeed = [@feed]}
    : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xf32>
}
