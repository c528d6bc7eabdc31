// A module with resources of its own gets the reproducer into the same section; both come back.
// RUN: not kc-opt %s --load-pass=%S/Inputs/user_passes.py --test-talk=severity=error --mlir-pass-pipeline-crash-reproducer=%t.rep
// RUN: FileCheck %s --input-file=%t.rep
// RUN: not kc-opt %t.rep --load-pass=%S/Inputs/user_passes.py --run-reproducer 2>&1 | FileCheck %s --check-prefix=AGAIN
// RUN: kc-opt %t.rep --allow-unregistered-dialect 2>/dev/null | FileCheck %s --check-prefix=PLAIN

// CHECK:      weights: "0x040000000100000002000000"
// CHECK:      external_resources: {
// CHECK:      pipeline: "builtin.module(test-talk{severity=error})"
// AGAIN: error: no constants, please
// PLAIN: weights: "0x040000000100000002000000"
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
