// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-emit-entry-points)' --split-input-file --verify-diagnostics

// expected-error @+1 {{'@kc_entry_f' exists already; that name is kept for the entry point of '@f'}}
llvm.func @f() attributes {kc.signature = "{\22args\22: [], \22results\22: []}"} {
  llvm.return
}
llvm.func @kc_entry_f(%args: !llvm.ptr) {
  llvm.return
}

// -----

// expected-error @+1 {{'@f' has 2 arguments, which do not add up to those in its kc.signature}}
llvm.func @f(%b: !llvm.ptr, %x: !llvm.ptr) attributes {kc.signature = "{\22args\22: [{\22shape\22: [2]}], \22results\22: []}"} {
  llvm.return
}
