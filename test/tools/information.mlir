// RUN: kc-opt --show-dialects | FileCheck %s --check-prefix=DIALECTS
// DIALECTS: Available Dialects: {{.*}}arith,{{.*}}chlo,{{.*}}linalg,{{.*}}stablehlo,{{.*}}torch,{{.*}}vhlo
// RUN: kc-opt --list-passes --load-pass=%S/Inputs/user_passes.py | FileCheck %s --check-prefix=PASSES
// PASSES: kc passes:
// PASSES: --kc-form-kernels
// PASSES: --test-mark{{ +}}- Mark every op of a function with its options.
// PASSES:     on func.func, level linalg
// PASSES:     --sizes{{ +}}- tuple[int, ...], default ()
// PASSES: native passes:
// PASSES: canonicalize
// RUN: kc-opt --help | FileCheck %s --check-prefix=HELP
// HELP: usage: kc-opt [FILE] [options]
// HELP: --mlir-pass-pipeline-crash-reproducer=TEXT
// RUN: kc-opt --version | FileCheck %s --check-prefix=VERSION
// VERSION: kc {{[0-9.]+}}, MLIR of torch-mlir {{[0-9]+}}
