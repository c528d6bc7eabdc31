// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-guard-divisions)' | FileCheck %s

#all = affine_map<(d0) -> (d0)>

// A signed quotient is guarded against 0 and -1, a signed remainder too, an unsigned one against 0; a constant is not.
// CHECK-LABEL: func.func @divide
// CHECK: ^bb0(%[[A:.*]]: i32, %[[B:.*]]: i32, %{{.*}}: i32):
// CHECK: %[[Z:.*]] = arith.cmpi eq, %[[B]], %{{.*}}
// CHECK: %[[M:.*]] = arith.cmpi eq, %[[B]], %{{.*}}
// CHECK: %[[E:.*]] = arith.ori %[[Z]], %[[M]]
// CHECK: %[[S:.*]] = arith.select %[[E]], %{{.*}}, %[[B]]
// CHECK: %[[Q:.*]] = arith.divsi %[[A]], %[[S]]
// CHECK: %[[N:.*]] = arith.subi %{{.*}}, %[[Q]]
// CHECK: arith.select %[[M]], %[[N]], %[[Q]]
// CHECK: %[[R:.*]] = arith.select %{{.*}}, %{{.*}}, %[[B]]
// CHECK: arith.remsi %[[A]], %[[R]]
// CHECK: arith.cmpi eq, %[[B]]
// CHECK-NOT: arith.ori
// CHECK: arith.divui
// CHECK: arith.divsi %[[A]], %c3_i32
func.func @divide(%x: tensor<8xi32>, %y: tensor<8xi32>) -> tensor<8xi32> {
  %c3_i32 = arith.constant 3 : i32
  %e = tensor.empty() : tensor<8xi32>
  %r = linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel"]}
      ins(%x, %y : tensor<8xi32>, tensor<8xi32>) outs(%e : tensor<8xi32>) {
  ^bb0(%a: i32, %b: i32, %out: i32):
    %0 = arith.divsi %a, %b : i32
    %1 = arith.remsi %a, %b : i32
    %2 = arith.divui %a, %b : i32
    %3 = arith.divsi %a, %c3_i32 : i32
    %4 = arith.addi %0, %1 : i32
    %5 = arith.addi %2, %3 : i32
    %6 = arith.addi %4, %5 : i32
    linalg.yield %6 : i32
  } -> tensor<8xi32>
  return %r : tensor<8xi32>
}

// Arithmetic on sizes is left alone.
// CHECK-LABEL: func.func @sizes
// CHECK-NOT: arith.select
func.func @sizes(%a: index, %b: index) -> index {
  %0 = arith.divsi %a, %b : index
  return %0 : index
}
