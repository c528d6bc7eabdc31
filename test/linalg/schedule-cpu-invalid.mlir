// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-schedule-cpu)' --split-input-file --verify-diagnostics

// A complex element type: the family is known, no schedule of it takes the type. The kernel becomes loops later.
#id = affine_map<(d0) -> (d0)>
// expected-remark @+1 {{kernel '@double' has no schedule: no CPU schedule of its family fits}}
func.func private @double(%x: tensor<4xcomplex<f32>>, %out: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
    attributes {kc.kernel, kc.kind = "map"} {
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<4xcomplex<f32>>) outs(%out : tensor<4xcomplex<f32>>) {
  ^bb0(%a: complex<f32>, %o: complex<f32>):
    %b = complex.add %a, %a : complex<f32>
    linalg.yield %b : complex<f32>
  } -> tensor<4xcomplex<f32>>
  return %0 : tensor<4xcomplex<f32>>
}

// -----

// A gather: no family at all.
#id = affine_map<(d0) -> (d0)>
// expected-remark @+1 {{kernel '@gather' has no schedule}}
func.func private @gather(%x: tensor<9xf32>, %i: tensor<4xi32>, %out: tensor<4xf32>) -> tensor<4xf32>
    attributes {kc.kernel, kc.kind = "general"} {
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%i : tensor<4xi32>) outs(%out : tensor<4xf32>) {
  ^bb0(%a: i32, %o: f32):
    %at = arith.index_cast %a : i32 to index
    %b = tensor.extract %x[%at] : tensor<9xf32>
    linalg.yield %b : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
