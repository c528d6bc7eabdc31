"""What a shared library needs of a runtime, in LLVM IR: enough to run in one thread where kc's runtime is not.

Every definition is weak: a program that links or loads another provider first (libomp, an allocator of its own) uses
that.
"""

from __future__ import annotations

#: ``__kmpc_fork_call`` is variadic in libomp. Here it takes the arguments that fit into registers, where a variadic
#: call puts pointers too (System V x86-64, AAPCS64 on Linux); MLIR passes one pointer, to a struct of all captured
#: values.
IR = r"""
declare ptr @aligned_alloc(i64, i64)
declare ptr @malloc(i64)
declare void @free(ptr)
declare i32 @puts(ptr)
declare void @abort() noreturn

define weak ptr @_mlir_memref_to_llvm_alloc(i64 %size) {
  %some = call i64 @llvm.umax.i64(i64 %size, i64 1)
  %p = call ptr @malloc(i64 %some)
  ret ptr %p
}
define weak ptr @_mlir_memref_to_llvm_aligned_alloc(i64 %wanted, i64 %size) {
  %alignment = call i64 @llvm.umax.i64(i64 %wanted, i64 64)
  %some = call i64 @llvm.umax.i64(i64 %size, i64 1)
  %last = sub i64 %alignment, 1
  %up = add i64 %some, %last
  %mask = xor i64 %last, -1
  %whole = and i64 %up, %mask
  %p = call ptr @aligned_alloc(i64 %alignment, i64 %whole)
  ret ptr %p
}
define weak void @_mlir_memref_to_llvm_free(ptr %p) {
  call void @free(ptr %p)
  ret void
}
define weak void @kc_raise(ptr %text) {
  %r = call i32 @puts(ptr %text)
  call void @abort()
  unreachable
}

define weak void @kc_fail_check(ptr %text, i64 %a, i64 %b) {
  call void @kc_raise(ptr %text)
  ret void
}

define weak void @__kmpc_fork_call(ptr %where, i32 %count, ptr %task, ptr %a, ptr %b, ptr %c) {
  %thread = alloca i32
  store i32 0, ptr %thread
  call void %task(ptr %thread, ptr %thread, ptr %a, ptr %b, ptr %c)
  ret void
}
define weak void @__kmpc_push_num_threads(ptr %where, i32 %thread, i32 %count) {
  ret void
}
define weak i32 @__kmpc_global_thread_num(ptr %where) {
  ret i32 0
}
define weak void @__kmpc_barrier(ptr %where, i32 %thread) {
  ret void
}
define weak void @__kmpc_for_static_init_8u(
    ptr %where, i32 %thread, i32 %kind, ptr %last, ptr %low, ptr %high, ptr %stride, i64 %step, i64 %chunk) {
  store i32 1, ptr %last
  ret void
}
define weak void @__kmpc_for_static_fini(ptr %where, i32 %thread) {
  ret void
}
declare i64 @llvm.umax.i64(i64, i64)
"""
