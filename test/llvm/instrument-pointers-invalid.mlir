// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-instrument-pointers)' --split-input-file --verify-diagnostics

llvm.func @asm(%p: !llvm.ptr) {
  // expected-error @+1 {{'llvm.inline_asm' cannot be watched; loads, stores, copies and atomic updates can}}
  llvm.inline_asm has_side_effects "movl $$0, ($0)", "r" %p : (!llvm.ptr) -> ()
  llvm.return
}

// -----

llvm.func @unknown(%q: !llvm.ptr) {
  // expected-error @+1 {{'llvm.intr.vastart' cannot be watched}}
  "llvm.intr.vastart"(%q) : (!llvm.ptr) -> ()
  llvm.return
}
