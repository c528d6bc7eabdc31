// RUN: kc-opt %s --split-input-file --pass-pipeline='builtin.module(kc-form-kernels,canonicalize)' | FileCheck %s

// A contraction takes the elementwise ops that follow it; the destination is the last argument and an empty tensor of
// the caller. The fill moves into the kernel.

// CHECK-LABEL: func.func @bias_tanh
// CHECK-SAME: (%[[X:.*]]: tensor<8x4xf32>, %[[W:.*]]: tensor<4x2xf32>, %[[B:.*]]: tensor<2xf32>)
// CHECK-NEXT: %[[E:.*]] = tensor.empty() : tensor<8x2xf32>
// CHECK-NEXT: %[[R:.*]] = call @bias_tanh_k0(%[[X]], %[[W]], %[[B]], %[[E]])
// CHECK-NEXT: return %[[R]]
// CHECK: func.func private @bias_tanh_k0
// CHECK-SAME: %[[OUT:[a-z0-9]+]]: tensor<8x2xf32>) -> tensor<8x2xf32> attributes {kc.kernel, kc.kind = "contraction"}
// CHECK: linalg.matmul
// CHECK: linalg.generic
// CHECK-SAME: outs(%[[OUT]] : tensor<8x2xf32>)
// CHECK: math.tanh
func.func @bias_tanh(%x: tensor<8x4xf32>, %w: tensor<4x2xf32>, %b: tensor<2xf32>) -> tensor<8x2xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x2xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x2xf32>) -> tensor<8x2xf32>
  %m = linalg.matmul ins(%x, %w : tensor<8x4xf32>, tensor<4x2xf32>) outs(%f : tensor<8x2xf32>) -> tensor<8x2xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%m, %b : tensor<8x2xf32>, tensor<2xf32>) outs(%e : tensor<8x2xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %s = arith.addf %a, %c : f32
    %t = math.tanh %s : f32
    linalg.yield %t : f32
  } -> tensor<8x2xf32>
  return %r : tensor<8x2xf32>
}

// -----

// Reductions over the same rows and what stands between them are one kernel: softmax.

// CHECK-LABEL: func.func @softmax
// CHECK-COUNT-1: call @
// CHECK-NOT: call @
// CHECK: func.func private @softmax_k0
// CHECK-SAME: kc.kind = "rows"
func.func @softmax(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %zero = arith.constant 0.0 : f32
  %ninf = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<8xf32>
  %f = tensor.empty() : tensor<8x16xf32>
  %i = linalg.fill ins(%ninf : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %m = linalg.reduce { arith.maximumf } ins(%x : tensor<8x16xf32>) outs(%i : tensor<8xf32>) dimensions = [1]
  %d = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x, %m : tensor<8x16xf32>, tensor<8xf32>) outs(%f : tensor<8x16xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %s = arith.subf %a, %c : f32
    %t = math.exp %s : f32
    linalg.yield %t : f32
  } -> tensor<8x16xf32>
  %n = linalg.reduce { arith.addf } ins(%d : tensor<8x16xf32>) outs(%z : tensor<8xf32>) dimensions = [1]
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%d, %n : tensor<8x16xf32>, tensor<8xf32>) outs(%f : tensor<8x16xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %s = arith.divf %a, %c : f32
    linalg.yield %s : f32
  } -> tensor<8x16xf32>
  return %r : tensor<8x16xf32>
}

// -----

// A product with two users is computed once: its kernel has it as a result, and the second product is a kernel of its
// own. The elementwise user joins the first.

// CHECK-LABEL: func.func @shared_product
// CHECK: %[[R:.*]]:2 = call @shared_product_k0(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}})
// CHECK: call @shared_product_k1(%[[R]]#0,
// CHECK: func.func private @shared_product_k0
// CHECK-SAME: -> (tensor<4x4xf32>, tensor<4x4xf32>) attributes {kc.kernel, kc.kind = "contraction"}
// CHECK: linalg.matmul
// CHECK-NOT: linalg.matmul
// CHECK: func.func private @shared_product_k1
// CHECK: linalg.matmul
func.func @shared_product(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %m = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%f : tensor<4x4xf32>) -> tensor<4x4xf32>
  %t = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%m : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = math.tanh %a : f32
    linalg.yield %s : f32
  } -> tensor<4x4xf32>
  %n = linalg.matmul ins(%m, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%f : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %t, %n : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// Two clusters that need each other are not possible: the last sum reads the product's kernel and, through a gather that
// cannot join, that kernel's result again. The sum may join only one side.

// CHECK-LABEL: func.func @no_cycle
// CHECK: %[[A:.*]] = call @no_cycle_k0
// CHECK: %[[B:.*]] = call @no_cycle_k1
// CHECK: call @no_cycle_k2(%[[A]], %[[B]],
// CHECK: func.func private @no_cycle_k1
// CHECK-SAME: kc.kind = "general"
func.func @no_cycle(%x: tensor<4xf32>, %i: tensor<4xindex>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %t = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = math.tanh %a : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  %g = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%i : tensor<4xindex>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: index, %o: f32):
    %s = tensor.extract %t[%a] : tensor<4xf32>
    linalg.yield %s : f32
  } -> tensor<4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                       iterator_types = ["parallel"]}
      ins(%t, %g : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// A loop's body is cut up like any other block; the constant fill it uses from outside is repeated inside its kernel.
// A size that belongs to none of the kernel's arguments is passed by value.

// CHECK-LABEL: func.func @loop
// CHECK: scf.for
// CHECK: %[[E:.*]] = tensor.empty(%{{.*}}) : tensor<?x4xf32>
// CHECK: func.call @loop_k0(%{{.*}}, %{{.*}}, %{{.*}}, %[[E]]) : (tensor<?x4xf32>, tensor<4x4xf32>, index, tensor<?x4xf32>)
// CHECK: func.func private @loop_k0
// CHECK-SAME: kc.kind = "contraction"
// CHECK: linalg.fill
// CHECK: linalg.matmul
func.func @loop(%x: tensor<?x4xf32>, %w: tensor<4x4xf32>, %n: index) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %d = tensor.dim %x, %c0 : tensor<?x4xf32>
  %e = tensor.empty(%d) : tensor<?x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<?x4xf32> {
    %m = linalg.matmul ins(%a, %w : tensor<?x4xf32>, tensor<4x4xf32>) outs(%f : tensor<?x4xf32>) -> tensor<?x4xf32>
    scf.yield %m : tensor<?x4xf32>
  }
  return %r : tensor<?x4xf32>
}

// -----

// A loop over single elements is one kernel, and padding is a kernel that fills and copies.

// CHECK-LABEL: func.func @elements
// CHECK: call @elements_k0
// CHECK: call @elements_k1
// CHECK: func.func private @elements_k0
// CHECK-SAME: %[[D:[a-z0-9]+]]: tensor<6xf32>) -> tensor<6xf32>
// CHECK: linalg.fill {{.*}}outs(%[[D]]
// CHECK: tensor.extract_slice
// CHECK: linalg.copy
// CHECK: tensor.insert_slice
// CHECK: func.func private @elements_k1
// CHECK: scf.for
func.func @elements(%x: tensor<4xf32>) -> tensor<6xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %p = tensor.pad %x low[1] high[1] {
  ^bb0(%i: index):
    tensor.yield %zero : f32
  } : tensor<4xf32> to tensor<6xf32>
  %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%a = %p) -> tensor<6xf32> {
    %j = arith.addi %i, %c1 : index
    %u = tensor.extract %a[%i] : tensor<6xf32>
    %v = tensor.extract %a[%j] : tensor<6xf32>
    %s = arith.addf %u, %v : f32
    %t = tensor.insert %s into %a[%j] : tensor<6xf32>
    scf.yield %t : tensor<6xf32>
  }
  return %r : tensor<6xf32>
}

// -----

// A widening cast is repeated in each consumer, which then reads the narrow tensor; a transpose becomes part of a read.

// CHECK-LABEL: func.func @cheap
// CHECK-NOT: tensor<4x4xf32> {{.*}}tensor.empty
// CHECK: call @cheap_k0(%arg0, %arg1, %{{.*}}) : (tensor<4x4xbf16>, tensor<4x4xf32>, tensor<4x4xf32>)
// CHECK: call @cheap_k1(%arg0, %{{.*}}) : (tensor<4x4xbf16>, tensor<4xf32>)
// CHECK: func.func private @cheap_k0
// CHECK-SAME: kc.kind = "contraction"
// CHECK: func.func private @cheap_k1
// CHECK-SAME: kc.kind = "rows"
func.func @cheap(%x: tensor<4x4xbf16>, %w: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x4xf32>
  %v = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %z = linalg.fill ins(%zero : f32) outs(%v : tensor<4xf32>) -> tensor<4xf32>
  %c = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x4xbf16>) outs(%e : tensor<4x4xf32>) {
  ^bb0(%a: bf16, %o: f32):
    %s = arith.extf %a : bf16 to f32
    linalg.yield %s : f32
  } -> tensor<4x4xf32>
  %t = linalg.transpose ins(%w : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) permutation = [1, 0]
  %m = linalg.matmul ins(%c, %t : tensor<4x4xf32>, tensor<4x4xf32>) outs(%f : tensor<4x4xf32>) -> tensor<4x4xf32>
  %r = linalg.reduce { arith.addf } ins(%c : tensor<4x4xf32>) outs(%z : tensor<4xf32>) dimensions = [1]
  return %m, %r : tensor<4x4xf32>, tensor<4xf32>
}

// -----

// A constant of complex numbers is an operand like another; one that repeats a number needs no memory.

// CHECK-LABEL: func.func @complex
// CHECK: arith.constant dense<[(1.000000e+00,2.000000e+00), (3.000000e+00,4.000000e+00)]> : tensor<2xcomplex<f32>>
// CHECK: call @complex_k0
func.func @complex(%x: tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>> {
  %c = arith.constant dense<[(1.0, 2.0), (3.0, 4.0)]> : tensor<2xcomplex<f32>>
  %d = arith.constant dense<(1.0, 2.0)> : tensor<2xcomplex<f32>>
  %e = tensor.empty() : tensor<2xcomplex<f32>>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>,
                                        affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x, %c, %d : tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>)
      outs(%e : tensor<2xcomplex<f32>>) {
  ^bb0(%a: complex<f32>, %b: complex<f32>, %f: complex<f32>, %o: complex<f32>):
    %s = complex.add %a, %b : complex<f32>
    %t = complex.mul %s, %f : complex<f32>
    linalg.yield %t : complex<f32>
  } -> tensor<2xcomplex<f32>>
  return %r : tensor<2xcomplex<f32>>
}

// -----

// A kernel returns tensors: control flow with a scalar that somebody reads stays where it is.

// CHECK-LABEL: func.func @scalar_beside_tensor
// CHECK: scf.if
// CHECK-NOT: call
// CHECK: return
func.func @scalar_beside_tensor(%p: i1, %i: index, %v: i32, %x: tensor<4xi32>) -> (i32, tensor<4xi32>) {
  %0:2 = scf.if %p -> (i32, tensor<4xi32>) {
    %e = tensor.extract %x[%i] : tensor<4xi32>
    %s = arith.addi %e, %v : i32
    %t = tensor.insert %s into %x[%i] : tensor<4xi32>
    scf.yield %s, %t : i32, tensor<4xi32>
  } else {
    scf.yield %v, %x : i32, tensor<4xi32>
  }
  return %0#0, %0#1 : i32, tensor<4xi32>
}
