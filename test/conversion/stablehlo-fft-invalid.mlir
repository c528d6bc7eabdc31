// RUN: kc-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(kc-convert-stablehlo-fft)'

func.func @dynamic(%x: tensor<6x?xcomplex<f32>>) -> tensor<6x?xcomplex<f32>> {
  // expected-error @+2 {{'stablehlo.fft' along a dimension whose size is only known at run time cannot be compiled}}
  // expected-note @+1 {{nearest thing that works: static sizes of the transformed dimensions; the others may be dynamic}}
  %0 = stablehlo.fft %x, type = FFT, length = [6] : (tensor<6x?xcomplex<f32>>) -> tensor<6x?xcomplex<f32>>
  return %0 : tensor<6x?xcomplex<f32>>
}
