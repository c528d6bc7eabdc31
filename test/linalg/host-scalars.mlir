// RUN: kc-opt %s --pass-pipeline='builtin.module(func.func(kc-host-scalars),canonicalize,cse)' --split-input-file | FileCheck %s

#s = affine_map<() -> ()>

// A counted loop: the counter is a scalar, the kernel takes it as one; the limit, on the device, is fetched for the host.
// CHECK-LABEL: func.func @count
// CHECK-SAME: (%[[N:.*]]: tensor<i32>, %[[X:.*]]: tensor<8xf32>)
// CHECK: scf.while (%[[I:.*]] = %c0_i32, %[[A:.*]] = %[[X]]) : (i32, tensor<8xf32>) -> (i32, tensor<8xf32>)
// CHECK: %[[LIMIT:.*]] = tensor.extract %[[N]][]
// CHECK: %[[GO:.*]] = arith.cmpi slt, %[[I]], %[[LIMIT]] : i32
// CHECK: scf.condition(%[[GO]]) %[[I]], %[[A]]
// CHECK: ^bb0(%[[J:.*]]: i32, %[[B:.*]]: tensor<8xf32>):
// CHECK: %[[NEXT:.*]] = arith.addi %[[J]], %c1_i32 : i32
// CHECK: linalg.generic {{.*}} ins(%[[B]], %[[J]] : tensor<8xf32>, i32)
// CHECK: scf.yield %[[NEXT]],
// The counter is returned as a tensor: made where it is needed, on the device.
// CHECK: linalg.fill ins(%{{.*}} : i32)
func.func @count(%n: tensor<i32>, %x: tensor<8xf32>) -> (tensor<i32>, tensor<8xf32>) {
  %c0 = arith.constant dense<0> : tensor<i32>
  %c1 = arith.constant dense<1> : tensor<i32>
  %r:2 = scf.while (%i = %c0, %a = %x) : (tensor<i32>, tensor<8xf32>) -> (tensor<i32>, tensor<8xf32>) {
    %e = tensor.empty() : tensor<i1>
    %p = linalg.generic {indexing_maps = [#s, #s, #s], iterator_types = []}
        ins(%i, %n : tensor<i32>, tensor<i32>) outs(%e : tensor<i1>) {
    ^bb0(%l: i32, %m: i32, %o: i1):
      %c = arith.cmpi slt, %l, %m : i32
      linalg.yield %c : i1
    } -> tensor<i1>
    %q = tensor.extract %p[] : tensor<i1>
    scf.condition(%q) %i, %a : tensor<i32>, tensor<8xf32>
  } do {
  ^bb0(%i: tensor<i32>, %a: tensor<8xf32>):
    %e = tensor.empty() : tensor<i32>
    %j = linalg.generic {indexing_maps = [#s, #s, #s], iterator_types = []}
        ins(%i, %c1 : tensor<i32>, tensor<i32>) outs(%e : tensor<i32>) {
    ^bb0(%l: i32, %m: i32, %o: i32):
      %c = arith.addi %l, %m : i32
      linalg.yield %c : i32
    } -> tensor<i32>
    %f = tensor.empty() : tensor<8xf32>
    %b = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>, affine_map<(d0) -> (d0)>],
                         iterator_types = ["parallel"]}
        ins(%a, %i : tensor<8xf32>, tensor<i32>) outs(%f : tensor<8xf32>) {
    ^bb0(%v: f32, %k: i32, %o: f32):
      %w = arith.sitofp %k : i32 to f32
      %z = arith.addf %v, %w : f32
      linalg.yield %z : f32
    } -> tensor<8xf32>
    scf.yield %j, %b : tensor<i32>, tensor<8xf32>
  }
  return %r#0, %r#1 : tensor<i32>, tensor<8xf32>
}

// -----

// Carried through a for and an if. A constant goes into the body that uses it.
#s1 = affine_map<() -> ()>
// CHECK-LABEL: func.func @nested
// CHECK: %[[R:.*]] = scf.for %{{.*}} iter_args(%[[A:.*]] = %cst) -> (f32)
// CHECK: %[[S:.*]] = scf.if %{{.*}} -> (f32)
// CHECK: arith.addf %[[A]], %[[A]] : f32
// CHECK: scf.yield %[[S]] : f32
// CHECK: %[[OUT:.*]] = linalg.generic {{.*}} ins(%{{.*}}, %[[R]] : tensor<4xf32>, f32)
func.func @nested(%x: tensor<4xf32>, %p: i1, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant dense<1.0> : tensor<f32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %one) -> (tensor<f32>) {
    %s = scf.if %p -> (tensor<f32>) {
      %e = tensor.empty() : tensor<f32>
      %d = linalg.generic {indexing_maps = [#s1, #s1], iterator_types = []} ins(%a : tensor<f32>) outs(%e : tensor<f32>) {
      ^bb0(%l: f32, %o: f32):
        %c = arith.addf %l, %l : f32
        linalg.yield %c : f32
      } -> tensor<f32>
      scf.yield %d : tensor<f32>
    } else {
      scf.yield %a : tensor<f32>
    }
    scf.yield %s : tensor<f32>
  }
  %f = tensor.empty() : tensor<4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>, affine_map<(d0) -> (d0)>],
                       iterator_types = ["parallel"]}
      ins(%x, %r : tensor<4xf32>, tensor<f32>) outs(%f : tensor<4xf32>) {
  ^bb0(%v: f32, %k: f32, %o: f32):
    %z = arith.addf %v, %k : f32
    linalg.yield %z : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// A value that depends on the device stays there, and so does all that it is carried with.
#s2 = affine_map<() -> ()>
// CHECK-LABEL: func.func @device
// CHECK: scf.for %{{.*}} iter_args(%{{.*}} = %{{.*}}) -> (tensor<f32>)
// CHECK: linalg.generic
// CHECK: return %{{.*}} : tensor<f32>
func.func @device(%x: tensor<f32>, %n: index) -> tensor<f32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant dense<1.0> : tensor<f32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %one) -> (tensor<f32>) {
    %e = tensor.empty() : tensor<f32>
    %d = linalg.generic {indexing_maps = [#s2, #s2, #s2], iterator_types = []} ins(%a, %x : tensor<f32>, tensor<f32>) outs(%e : tensor<f32>) {
    ^bb0(%l: f32, %m: f32, %o: f32):
      %c = arith.addf %l, %m : f32
      linalg.yield %c : f32
    } -> tensor<f32>
    scf.yield %d : tensor<f32>
  }
  return %r : tensor<f32>
}
