// RUN: kc-opt %s --split-input-file --verify-diagnostics --verify-level=linalg
// RUN: not kc-opt %s --verify-level=linalgg 2>&1 | FileCheck %s
// CHECK: kc-opt: no level is named 'linalgg'; the levels are torch, stablehlo, linalg, loops, gpu, llvm, asm

func.func @stands_there(%a: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.exp ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

func.func @from_above(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'stablehlo.exponential' is illegal at level 'linalg'; it is legal at stablehlo}}
  %r = stablehlo.exponential %a : tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// expected-error@+1 {{'func.func' has the buffer type memref<4xf32>; values are tensors here (level 'linalg')}}
func.func @from_below(%a: memref<4xf32>) {
  // expected-error@+1 {{'memref.dealloc' is illegal at level 'linalg'; it is legal at loops and gpu}}
  memref.dealloc %a : memref<4xf32>
  return
}

// -----

func.func @branch() {
  // expected-error@+1 {{'cf.br' is illegal at level 'linalg'; it is legal at loops and gpu}}
  cf.br ^bb1
^bb1:
  return
}

// -----

// expected-error@+1 {{kernel "k" must be private}}
func.func @k(%a: tensor<4xf32>, %out: tensor<4xf32>) -> tensor<4xf32> attributes {kc.kernel} {
  return %a : tensor<4xf32>
}

// -----

// expected-error@+1 {{must take one destination of the same type per result, as its last arguments}}
func.func private @k(%out: tensor<4xf32>, %a: tensor<8xf32>) -> tensor<4xf32> attributes {kc.kernel} {
  return %out : tensor<4xf32>
}

// -----

// expected-error@+1 {{type !torch.int of 'func.func' is illegal: no '!torch' types here}}
func.func @type(%a: !torch.int) {
  return
}
