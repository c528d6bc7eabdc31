// RUN: kc-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(kc-flatten-tuples)'

func.func @aliases(%t: tuple<tensor<1xf32>>) -> tensor<1xf32> {
  // expected-error @+1 {{'stablehlo.custom_call' with output_operand_aliases takes a tuple or a token, which moves what they number}}
  %a = stablehlo.custom_call @f(%t) {output_operand_aliases = [
    #stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = [0]>
  ]} : (tuple<tensor<1xf32>>) -> tensor<1xf32>
  return %a : tensor<1xf32>
}
