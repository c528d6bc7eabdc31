// RUN: kc-opt %s --verify-diagnostics --pass-pipeline='builtin.module(kc-schedule-nvptx)'

// A kernel that no family describes is left to loops, and says so.

// expected-remark @+1 {{kernel '@complex' has no schedule: no GPU schedule of its family fits}}
func.func private @complex(%x: tensor<8xcomplex<f32>>, %out: tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>>
    attributes {kc.kernel, kc.kind = "map"} {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<8xcomplex<f32>>) outs(%out : tensor<8xcomplex<f32>>) {
  ^bb0(%a: complex<f32>, %o: complex<f32>):
    %m = complex.mul %a, %a : complex<f32>
    linalg.yield %m : complex<f32>
  } -> tensor<8xcomplex<f32>>
  return %r : tensor<8xcomplex<f32>>
}
