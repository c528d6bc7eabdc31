// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-stablehlo-to-signless)' | FileCheck %s

// CHECK-LABEL: func.func @divide
// CHECK-SAME: (%{{.*}}: tensor<4xi8> {kc.dtype = "ui8"}, %{{.*}}: tensor<4xi32>) -> (tensor<4xi8> {kc.dtype = "ui8"})
// CHECK: stablehlo.constant {{.*}}dense<-56> : tensor<4xi8>
// CHECK: stablehlo.divide {{.*}} {kc.unsigned = array<i1: true, true, true>} : tensor<4xi8>
// CHECK: stablehlo.convert {{.*}} {kc.unsigned = array<i1: false, true>} : (tensor<4xi32>) -> tensor<4xi8>
// CHECK: stablehlo.add {{.*}} {kc.unsigned = array<i1: true, true, true>} : tensor<4xi8>
func.func @divide(%a: tensor<4xui8>, %b: tensor<4xi32>) -> tensor<4xui8> {
  %c = stablehlo.constant dense<200> : tensor<4xui8>
  %0 = stablehlo.divide %a, %c : tensor<4xui8>
  %1 = stablehlo.convert %b : (tensor<4xi32>) -> tensor<4xui8>
  %2 = stablehlo.add %0, %1 : tensor<4xui8>
  return %2 : tensor<4xui8>
}

// CHECK-LABEL: func.func @signed
// CHECK-NOT: kc.
func.func @signed(%a: tensor<4xi8>) -> tensor<4xi8> {
  %0 = stablehlo.add %a, %a : tensor<4xi8>
  return %0 : tensor<4xi8>
}
