// RUN: kc-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(kc-stablehlo-to-signless)'

func.func @extract(%a: tensor<4xui8>, %i: index) -> ui8 {
  // expected-error @+2 {{'tensor.extract' has unsigned integers, but only StableHLO and CHLO ops say what they mean by them}}
  // expected-note @+1 {{nearest thing that works: the same op of stablehlo, or signless integers}}
  %0 = tensor.extract %a[%i] : tensor<4xui8>
  return %0 : ui8
}
