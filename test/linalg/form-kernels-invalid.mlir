// RUN: kc-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(kc-form-kernels)'

// expected-error @+1 {{kernels can be formed only in structured control flow (scf), not between blocks}}
func.func @blocks(%x: tensor<4xf32>, %p: i1) -> tensor<4xf32> {
  cf.cond_br %p, ^yes, ^no
^yes:
  return %x : tensor<4xf32>
^no:
  %e = tensor.empty() : tensor<4xf32>
  return %e : tensor<4xf32>
}
