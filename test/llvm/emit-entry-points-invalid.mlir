// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-emit-entry-points)' --split-input-file --verify-diagnostics

// expected-error @+1 {{'@kc_entry_f' exists already; that name is kept for the entry point of '@f'}}
llvm.func @f() {
  llvm.return
}
llvm.func @_mlir_ciface_f() {
  llvm.return
}
llvm.func @kc_entry_f(%args: !llvm.ptr) {
  llvm.return
}
