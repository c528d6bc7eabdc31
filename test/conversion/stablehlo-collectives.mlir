// RUN: kc-opt %s --split-input-file --pass-pipeline='builtin.module(kc-convert-stablehlo-collectives)' | FileCheck %s

// The operands of the group come one after the other; along another axis than the first they are moved there.
// CHECK-LABEL: func.func @gather(
// CHECK-SAME: %[[X:.*]]: tensor<2x3xf32>)
// CHECK: %[[SLOTS:.*]] = call @kc_all_gather_0(%[[X]], %{{.*}}) : (tensor<2x3xf32>, tensor<2x2x3xf32>) -> tensor<2x2x3xf32>
// CHECK: %[[MOVED:.*]] = linalg.generic {{.*}} ins(%[[SLOTS]] : tensor<2x2x3xf32>)
// CHECK: tensor.collapse_shape %{{.*}} {{.*}} : tensor<2x2x3xf32> into tensor<2x6xf32>
// CHECK: func.func private @kc_all_gather_0
// CHECK-SAME: kc.call = "op=stablehlo.all_gather;strategy=flattened_ids;channel=1;groups=0,1|3,2;place=
func.func @gather(%x: tensor<2x3xf32>) -> tensor<2x6xf32> {
  %r = "stablehlo.all_gather"(%x) {
    all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1], [3, 2]]> : tensor<2x2xi64>,
    channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, use_global_device_ids
  } : (tensor<2x3xf32>) -> tensor<2x6xf32>
  return %r : tensor<2x6xf32>
}

// -----

// Any reduction is generated code over the operands, in the order of the group.
// CHECK-LABEL: func.func @maximum(
// CHECK: %[[SLOTS:.*]] = call @kc_all_gather_0(
// CHECK: linalg.generic {{.*}} ins(%[[SLOTS]], %[[SLOTS]] : tensor<2x4xf32>, tensor<2x4xf32>)
// CHECK: arith.maximumf
func.func @maximum(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = "stablehlo.all_reduce"(%x) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// Groups of several sizes: the runtime says how many operands there are.
// CHECK-LABEL: func.func @ragged(
// CHECK: %[[SLOTS:.*]]:2 = call @kc_all_gather_0(
// CHECK-SAME: -> (tensor<2x4xf16>, tensor<2xi64>)
// CHECK: tensor.extract %[[SLOTS]]#1
// CHECK: scf.for
// CHECK: arith.addf
func.func @ragged(%x: tensor<4xf16>) -> tensor<4xf16> {
  %r = "stablehlo.all_reduce"(%x) ({
  ^bb0(%a: tensor<f16>, %b: tensor<f16>):
    %m = stablehlo.add %a, %b : tensor<f16>
    stablehlo.return %m : tensor<f16>
  }) {replica_groups = dense<[[0, 1], [2, -1]]> : tensor<2x2xi64>} : (tensor<4xf16>) -> tensor<4xf16>
  return %r : tensor<4xf16>
}

// -----

// What NCCL reduces is left to the runtime.
// CHECK-LABEL: func.func @sum(
// CHECK-SAME: %[[X:.*]]: tensor<?xbf16>)
// CHECK: %[[R:.*]] = call @kc_all_reduce_0(%[[X]], %{{.*}}) : (tensor<?xbf16>, tensor<?xbf16>) -> tensor<?xbf16>
// CHECK: return %[[R]]
// CHECK: kc.call = "op=stablehlo.all_reduce;strategy=cross_replica_and_partition;channel=3;groups=0,1;reduction=sum;dtype=bf16;place=
func.func @sum(%x: tensor<?xbf16>) -> tensor<?xbf16> {
  %r = "stablehlo.all_reduce"(%x) ({
  ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
    %m = stablehlo.add %a, %b : tensor<bf16>
    stablehlo.return %m : tensor<bf16>
  }) {
    replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>,
    channel_handle = #stablehlo.channel_handle<handle = 3, type = 0>
  } : (tensor<?xbf16>) -> tensor<?xbf16>
  return %r : tensor<?xbf16>
}

// -----

// CHECK-LABEL: func.func @scatter(
// CHECK: tensor.expand_shape %{{.*}} output_shape [2, 2, 2] : tensor<2x4xi64> into tensor<2x2x2xi64>
// CHECK: %[[SLOTS:.*]] = call @kc_all_to_all_0(
// CHECK: linalg.generic {{.*}} ins(%[[SLOTS]], %[[SLOTS]] :
// CHECK: arith.addi
func.func @scatter(%x: tensor<2x4xi64>) -> tensor<2x2xi64> {
  %r = "stablehlo.reduce_scatter"(%x) ({
  ^bb0(%a: tensor<i64>, %b: tensor<i64>):
    %m = stablehlo.add %a, %b : tensor<i64>
    stablehlo.return %m : tensor<i64>
  }) {scatter_dimension = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2x4xi64>) -> tensor<2x2xi64>
  return %r : tensor<2x2xi64>
}

// -----

// Two operands, two calls, in order; nothing is dropped though one result is not used.
// CHECK-LABEL: func.func @several(
// CHECK: call @kc_all_to_all_0(
// CHECK: call @kc_all_to_all_1(
// CHECK: call @kc_permute_0(
// CHECK: call @kc_broadcast_0(
func.func @several(%x: tensor<4xf32>, %y: tensor<8xi1>) -> tensor<8xi1> {
  %r:2 = "stablehlo.all_to_all"(%x, %y) {
    split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 2 : i64,
    replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>
  } : (tensor<4xf32>, tensor<8xi1>) -> (tensor<4xf32>, tensor<8xi1>)
  %p = "stablehlo.collective_permute"(%y) {source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}
    : (tensor<8xi1>) -> tensor<8xi1>
  %b = "stablehlo.collective_broadcast"(%p) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}
    : (tensor<8xi1>) -> tensor<8xi1>
  return %b : tensor<8xi1>
}

// -----

// CHECK-LABEL: func.func @number(
// CHECK: %[[N:.*]] = call @kc_partition_id() : () -> i32
// CHECK: tensor.from_elements %[[N]] : tensor<i32>
// CHECK: stablehlo.bitcast_convert
func.func @number() -> tensor<ui32> {
  %r = stablehlo.partition_id : tensor<ui32>
  return %r : tensor<ui32>
}

// -----

// Axes of a mesh: the slow half of "y" (of 4), and "x" after it; device_ids say who stands where.
// CHECK-LABEL: func.func @mesh(
// CHECK: groups=7,3,5,1|6,2,4,0;
func.func @mesh(%x: tensor<4xf32>) -> tensor<16xf32> {
  %r = "stablehlo.all_gather"(%x) {
    all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<
      mesh = #stablehlo.mesh<
        axes = [#stablehlo.mesh_axis<name = "x", size = 2>, #stablehlo.mesh_axis<name = "y", size = 4>],
        device_ids = dense<[7, 6, 5, 4, 3, 2, 1, 0]> : tensor<8xi64>>,
      axes = [#stablehlo.axis_ref<name = "y", sub_axis_info = (1)2>, #stablehlo.axis_ref<name = "x">]>
  } : (tensor<4xf32>) -> tensor<16xf32>
  return %r : tensor<16xf32>
}

// -----

// What is only known at run time is checked there.
// CHECK-LABEL: func.func @chunks(
// CHECK: %[[REST:.*]] = arith.remsi
// CHECK: %[[EVEN:.*]] = arith.cmpi eq, %[[REST]]
// CHECK: call @[[CHECK:.*]](%[[EVEN]],
// CHECK: func.func private @[[CHECK]](i1, index, index)
// CHECK-SAME: dimension 0 of the operand has size {0}, which {1} processes do not divide
func.func @chunks(%x: tensor<?xf32>) -> tensor<?xf32> {
  %r = "stablehlo.reduce_scatter"(%x) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) {scatter_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----

// CHECK-LABEL: func.func @named_mesh(
// CHECK: groups=0,1|2,3;
func.func private @mesh() attributes {stablehlo.mesh = {axes = [{name = "x", size = 2 : i64}, {name = "y", size = 2 : i64}]}}
func.func @named_mesh(%x: tensor<4xf32>) -> tensor<8xf32> {
  %r = "stablehlo.all_gather"(%x) {
    all_gather_dim = 0 : i64,
    replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "y">]>
  } : (tensor<4xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}
