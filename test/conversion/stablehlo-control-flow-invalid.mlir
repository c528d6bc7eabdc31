// RUN: kc-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(kc-convert-stablehlo-control-flow)'

func.func @token(%t: !stablehlo.token, %p: tensor<i1>) -> !stablehlo.token {
  // expected-error @+2 {{'stablehlo.if' on !stablehlo.token cannot be converted to linalg}}
  // expected-note @+1 {{only tensors have a form there}}
  %0 = "stablehlo.if"(%p) ({
    stablehlo.return %t : !stablehlo.token
  }, {
    stablehlo.return %t : !stablehlo.token
  }) : (tensor<i1>) -> !stablehlo.token
  return %0 : !stablehlo.token
}
