// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-legalize-asserts)' | FileCheck %s
// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-legalize-asserts{mode=drop})' | FileCheck %s --check-prefix=DROP

#id = affine_map<(d0) -> (d0)>

// A read at a computed index is clamped at both ends; its assertion stays, or goes with mode=drop.
// CHECK-LABEL: func.func @gather
// CHECK: ^bb0(%[[IN:.*]]: i64, %{{.*}}: f32):
// CHECK: %[[I:.*]] = arith.index_cast %[[IN]]
// CHECK: cf.assert
// CHECK: %[[N:.*]] = arith.constant 10 : index
// CHECK: %[[LAST:.*]] = arith.subi %[[N]]
// CHECK: %[[LOW:.*]] = arith.maxsi %[[I]]
// CHECK: %[[SAFE:.*]] = arith.minsi %[[LOW]], %[[LAST]]
// CHECK: tensor.extract %{{.*}}[%[[SAFE]]]
// DROP-LABEL: func.func @gather
// DROP-NOT: cf.assert
// DROP: tensor.extract
func.func @gather(%t: tensor<10xf32>, %i: tensor<4xi64>) -> tensor<4xf32> {
  %c10 = arith.constant 10 : index
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%i : tensor<4xi64>) outs(%e : tensor<4xf32>) {
  ^bb0(%in: i64, %out: f32):
    %0 = arith.index_cast %in : i64 to index
    %ok = arith.cmpi slt, %0, %c10 : index
    cf.assert %ok, "index must be smaller than dim size"
    %x = tensor.extract %t[%0] : tensor<10xf32>
    linalg.yield %x : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// A loop index that cannot leave the tensor is left alone.
// CHECK-LABEL: func.func @loop_index
// CHECK: %[[L:.*]] = linalg.index 0
// CHECK-NEXT: tensor.extract %{{.*}}[%[[L]]]
func.func @loop_index(%t: tensor<10xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<4xf32>) {
  ^bb0(%out: f32):
    %0 = linalg.index 0 : index
    %x = tensor.extract %t[%0] : tensor<10xf32>
    linalg.yield %x : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// The assertion before 1/x is needless: 1/0 is inf. One outside of a body is the host's and stays.
// CHECK-LABEL: func.func @reciprocal
// CHECK: cf.assert %{{.*}}, "sizes"
// CHECK-NOT: cf.assert
// CHECK: arith.divf
// DROP-LABEL: func.func @reciprocal
// DROP: cf.assert %{{.*}}, "sizes"
func.func @reciprocal(%x: tensor<4xf32>, %host: i1) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  cf.assert %host, "sizes"
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %ok = arith.cmpf one, %in, %zero : f32
    cf.assert %ok, "unimplemented: tensor with zero element"
    %d = arith.divf %one, %in : f32
    linalg.yield %d : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}
