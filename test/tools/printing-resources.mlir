// RUN: kc-opt %s | FileCheck %s --check-prefix=FULL
// RUN: kc-opt %s --mlir-elide-resource-strings-if-larger=8 | FileCheck %s --check-prefix=ELIDED
// RUN: kc-opt %s --emit-bytecode | kc-opt | FileCheck %s --check-prefix=FULL
// RUN: kc-opt %s -o /dev/null --cse --mlir-print-ir-before-all --mlir-elide-resource-strings-if-larger=8 2>&1 | FileCheck %s --check-prefix=ELIDED

// FULL: weights: "0x040000000100000002000000
// ELIDED: dense_resource<weights>
// ELIDED-NOT: 0x0400
func.func @f() -> tensor<2xi32> {
  %c = arith.constant dense_resource<weights> : tensor<2xi32>
  return %c : tensor<2xi32>
}

{-#
  dialect_resources: {
    builtin: {
      weights: "0x040000000100000002000000"
    }
  }
#-}
