// RUN: kc-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(kc-convert-tm-tensor)'

func.func @topk(%x: tensor<9xf32>, %v: tensor<3xf32>, %p: tensor<3xi32>) -> tensor<3xf32> {
  // expected-note @+2 {{nearest thing that works: scatter, index_put, sort, topk, cumsum and cumprod work}}
  // expected-error @+1 {{'tm_tensor.topk' cannot be converted to linalg}}
  %0:2 = tm_tensor.topk dimension(0) ins(%x : tensor<9xf32>) outs(%v, %p : tensor<3xf32>, tensor<3xi32>) {
  ^bb0(%a: f32, %b: f32):
    %q = arith.cmpf olt, %a, %b : f32
    tm_tensor.yield %q : i1
  } -> tensor<3xf32>, tensor<3xi32>
  return %0#0 : tensor<3xf32>
}

// -----

func.func @bytes(%x: tensor<9xi8>) -> tensor<9xi8> {
  %0 = tm_tensor.sort dimension(0) outs(%x : tensor<9xi8>) {
  ^bb0(%a: i8, %b: i8):
    // expected-note @+2 {{nearest thing that works: convert to int16 or wider before}}
    // expected-error @+1 {{'tm_tensor.sort' that compares 8-bit integers: int8 and uint8 cannot be told apart here}}
    %q = arith.cmpi sle, %a, %b : i8
    tm_tensor.yield %q : i1
  } -> tensor<9xi8>
  return %0 : tensor<9xi8>
}

// -----

func.func @two_keys(%x: tensor<9xf32>, %y: tensor<9xf32>) -> tensor<9xf32> {
  // expected-note @+2 {{what works: scatter, index_put, sort}}
  // expected-error @+1 {{'tm_tensor.sort' by anything but one comparison of the first tensor}}
  %0:2 = tm_tensor.sort dimension(0) outs(%x, %y : tensor<9xf32>, tensor<9xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    %q = arith.cmpf ole, %c, %d : f32
    tm_tensor.yield %q : i1
  } -> tensor<9xf32>, tensor<9xf32>
  return %0#0 : tensor<9xf32>
}

// -----

func.func @exclusive(%x: tensor<9xf32>, %o: tensor<9xf32>, %t: tensor<f32>) -> tensor<9xf32> {
  // expected-note @+2 {{what works: cumsum and cumprod}}
  // expected-error @+1 {{'tm_tensor.scan' that is exclusive or whose total is used}}
  %0:2 = tm_tensor.scan dimension(0) inclusive(false) ins(%x : tensor<9xf32>)
    outs(%o, %t : tensor<9xf32>, tensor<f32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tm_tensor.yield %s : f32
  } -> tensor<9xf32>, tensor<f32>
  return %0#0 : tensor<9xf32>
}
