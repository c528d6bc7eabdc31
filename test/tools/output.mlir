// Files in and out: text and bytecode, nothing half-written, clear errors.
// RUN: kc-opt %s -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: kc-opt %s -o=%t.mlirbc --emit-bytecode
// RUN: kc-opt %t.mlirbc | FileCheck %s
// RUN: cat %t.mlirbc | kc-opt - --cse | FileCheck %s
// RUN: kc-opt %s --emit-bytecode-version=3 | kc-opt | FileCheck %s
// CHECK-LABEL: func.func @f

// A failure leaves the file as it was.
// RUN: not kc-opt %s --load-pass=%S/Inputs/user_passes.py --test-talk=severity=error -o %t.mlir
// RUN: FileCheck %s < %t.mlir

// RUN: not kc-opt %s -o %t.none/x.mlir 2>&1 | FileCheck %s --check-prefix=FOLDER
// FOLDER: kc-opt: cannot open output file '{{.*}}x.mlir': No such file or directory
// RUN: not kc-opt %s -o %S 2>&1 | FileCheck %s --check-prefix=ISDIR
// ISDIR: kc-opt: cannot open output file '{{.*}}': Is a directory
// RUN: not kc-opt %t.none.mlir 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: kc-opt: cannot open input file '{{.*}}none.mlir': No such file or directory
// RUN: not kc-opt %s %s 2>&1 | FileCheck %s --check-prefix=TWO
// TWO: kc-opt: one input file, please
// RUN: not kc-opt %s -o 2>&1 | FileCheck %s --check-prefix=VALUE
// VALUE: kc-opt: option '--o' needs a value

// Bytecode that is cut off, and bytes that are nothing.
// RUN: head -c 60 %t.mlirbc > %t.cut
// RUN: not kc-opt %t.cut 2>&1 | FileCheck %s --check-prefix=CUT
// CUT: .cut: error:
// RUN: printf '\377\376\375' > %t.bin
// RUN: not kc-opt %t.bin 2>&1 | FileCheck %s --check-prefix=BIN
// BIN: kc-opt: '{{.*}}.bin' is neither MLIR bytecode nor UTF-8 text (byte 0)

func.func @f() {
  %c = arith.constant 0 : i32
  return
}
