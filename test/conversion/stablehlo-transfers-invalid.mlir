// RUN: kc-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(kc-convert-stablehlo-transfers)'

func.func @token_used(%x: tensor<4xf32>) -> !stablehlo.token {
  %t = stablehlo.create_token : !stablehlo.token
  // expected-error @+1 {{the token of 'stablehlo.outfeed' is used}}
  %o = "stablehlo.outfeed"(%x, %t) : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
  return %o : !stablehlo.token
}

// -----

func.func @token_returned() -> !stablehlo.token {
  // expected-error @+1 {{this token is handed on to an op that cannot be converted}}
  %t = stablehlo.create_token : !stablehlo.token
  return %t : !stablehlo.token
}
