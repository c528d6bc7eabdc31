// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-convert-stablehlo-random)' --split-input-file | FileCheck %s

// A block makes two elements; they are neighbours along the first even dimension.
// CHECK-LABEL: func.func @threefry
// CHECK-SAME: (%[[STATE:.*]]: tensor<2xi64>)
// CHECK: %[[WORDS:.*]]:2 = linalg.generic {{.*}} outs(%{{.*}}, %{{.*}} : tensor<6xi32>, tensor<6xi32>)
// CHECK-COUNT-20: arith.ori
// CHECK: linalg.yield
// CHECK: %[[ADVANCED:.*]] = arith.addi %{{.*}}, %{{.*}} : i64
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[0, 0] [3, 2] [1, 2] : tensor<3x2xi32> into tensor<3x4xi32>
// CHECK: %[[BITS:.*]] = tensor.insert_slice %{{.*}} into %{{.*}}[0, 1] [3, 2] [1, 2]
// CHECK: %[[NEW:.*]] = tensor.from_elements %{{.*}}, %[[ADVANCED]] : tensor<2xi64>
// CHECK: return %[[NEW]], %[[BITS]]
func.func @threefry(%s: tensor<2xi64>) -> (tensor<2xi64>, tensor<3x4xi32>) {
  %0, %1 = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY : (tensor<2xi64>) -> (tensor<2xi64>, tensor<3x4xi32>)
  return %0, %1 : tensor<2xi64>, tensor<3x4xi32>
}

// -----

// Five elements of 16 bits: two blocks of four words, cut short, and narrowed.
// CHECK-LABEL: func.func @philox
// CHECK: linalg.generic {{.*}} outs({{.*}} : tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>)
// CHECK: arith.muli
// CHECK: tensor.extract_slice %{{.*}}[0] [5] [1] : tensor<8xi32> to tensor<5xi32>
// CHECK: arith.trunci %{{.*}} : i32 to i16
// CHECK-NEXT: arith.bitcast %{{.*}} : i16 to f16
func.func @philox(%s: tensor<3xi64>) -> (tensor<3xi64>, tensor<5xf16>) {
  %0, %1 = stablehlo.rng_bit_generator %s, algorithm = PHILOX : (tensor<3xi64>) -> (tensor<3xi64>, tensor<5xf16>)
  return %0, %1 : tensor<3xi64>, tensor<5xf16>
}

// -----

// CHECK-LABEL: func.func @uniform
// CHECK-SAME: (%[[A:.*]]: tensor<f32>, %[[B:.*]]: tensor<f32>, %[[SHAPE:.*]]: tensor<2xi64>)
// CHECK: %[[N:.*]] = tensor.extract %[[SHAPE]]
// CHECK: call @kc_random_state_0(%{{.*}}) : (tensor<2xi64>) -> tensor<2xi64>
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<?x3xf32>)
// CHECK: arith.uitofp
// CHECK: func.func private @kc_random_state_0(tensor<2xi64>) -> tensor<2xi64> attributes {kc.host_call = "kc_random_state"
func.func @uniform(%a: tensor<f32>, %b: tensor<f32>, %shape: tensor<2xi64>) -> tensor<?x3xf32> {
  %0 = stablehlo.rng %a, %b, %shape, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// -----

// CHECK-LABEL: func.func @call
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : tensor<?xi32>
// CHECK-NOT: custom_call
func.func @call(%a: tensor<?xi32>) -> tensor<?xi32> {
  %0:2 = stablehlo.custom_call @cu_threefry2x32_ffi(%a, %a, %a, %a)
    : (tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>) -> (tensor<?xi32>, tensor<?xi32>)
  return %0#0 : tensor<?xi32>
}
