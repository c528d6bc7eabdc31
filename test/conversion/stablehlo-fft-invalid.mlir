// RUN: kc-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(kc-convert-stablehlo-fft)'

func.func @dynamic(%x: tensor<?x6xcomplex<f32>>) -> tensor<?x6xcomplex<f32>> {
  // expected-error @+2 {{'stablehlo.fft' of a shape that is only known at run time cannot be compiled}}
  // expected-note @+1 {{nearest thing that works: a static shape}}
  %0 = stablehlo.fft %x, type = FFT, length = [6] : (tensor<?x6xcomplex<f32>>) -> tensor<?x6xcomplex<f32>>
  return %0 : tensor<?x6xcomplex<f32>>
}
