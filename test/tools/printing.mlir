// How the result is printed.
// RUN: kc-opt %s --allow-unregistered-dialect --mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC
// GENERIC: "func.func"() <{
// RUN: kc-opt %s --allow-unregistered-dialect --mlir-print-debuginfo | FileCheck %s --check-prefix=DEBUG
// DEBUG: #loc = loc("{{.*}}printing.mlir":0:0)
// DEBUG: loc("{{.*}}printing.mlir":[[L:[0-9]+]]:8)
// RUN: kc-opt %s --allow-unregistered-dialect --mlir-pretty-debuginfo --mlir-print-debuginfo | FileCheck %s --check-prefix=PRETTY
// PRETTY: arith.constant dense{{.*}} {{.*}}printing.mlir:[[L:[0-9]+]]:8
// RUN: kc-opt %s --allow-unregistered-dialect --mlir-elide-elementsattrs-if-larger=2 | FileCheck %s --check-prefix=ELIDE
// ELIDE: arith.constant dense_resource<__elided__> : tensor<4xi32>
// RUN: kc-opt %s --allow-unregistered-dialect --mlir-elide-elementsattrs-if-larger 4 | FileCheck %s --check-prefix=KEEP
// KEEP: arith.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
// RUN: kc-opt %s --allow-unregistered-dialect -mlir-print-local-scope | FileCheck %s --check-prefix=LOCAL
// LOCAL-NOT: #map
// LOCAL: affine_map<(d0) -> (d0)>

func.func @f() -> tensor<4xi32> {
  %c = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  "test.use"() {map = affine_map<(d0) -> (d0)>} : () -> ()
  return %c : tensor<4xi32>
}
