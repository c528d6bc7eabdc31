// What generated code may call. Everything here is bound by name in symbols.cpp; nothing is exported from the library.
#pragma once

#include <stdint.h>

extern "C" {

// Reports a failure of the running program; execution goes on, and the caller of the entry point sees the message.
void kc_raise(const char *message);
// Ends the call in progress: a check of sizes has failed, and what follows would read beyond its arrays. {0} and {1} in
// the text stand for a and b.
void kc_fail_check(const char *text, int64_t a, int64_t b);

// Allocation (finalize-memref-to-llvm{use-generic-functions=1}). For GPU programs the same names mean the kc_gpu_ ones.
void *kc_memref_alloc(int64_t bytes);
void *kc_memref_aligned_alloc(int64_t alignment, int64_t bytes);
void kc_memref_free(void *pointer);
void *kc_gpu_memref_alloc(int64_t bytes);
void *kc_gpu_memref_aligned_alloc(int64_t alignment, int64_t bytes);
void kc_gpu_memref_free(void *pointer);

// Strided copy between two unranked memrefs {rank, descriptor}: what a memref.copy that is not contiguous becomes.
struct kc_unranked_memref {
  int64_t rank;
  void *descriptor;
};
void kc_memref_copy(int64_t item_size, kc_unranked_memref *from, kc_unranked_memref *to);
void kc_gpu_memref_copy(int64_t item_size, kc_unranked_memref *from, kc_unranked_memref *to);

// OpenMP, the part that MLIR's lowering of omp.parallel, omp.wsloop and reductions uses (names as in LLVM's libomp).
void __kmpc_fork_call(void *location, int32_t count, void *microtask, ...);
void __kmpc_push_num_threads(void *location, int32_t thread, int32_t threads);
int32_t __kmpc_global_thread_num(void *location);
void __kmpc_barrier(void *location, int32_t thread);
void __kmpc_for_static_init_4(void *, int32_t, int32_t, int32_t *, int32_t *, int32_t *, int32_t *, int32_t, int32_t);
void __kmpc_for_static_init_4u(void *, int32_t, int32_t, int32_t *, uint32_t *, uint32_t *, int32_t *, int32_t,
                               int32_t);
void __kmpc_for_static_init_8(void *, int32_t, int32_t, int32_t *, int64_t *, int64_t *, int64_t *, int64_t, int64_t);
void __kmpc_for_static_init_8u(void *, int32_t, int32_t, int32_t *, uint64_t *, uint64_t *, int64_t *, int64_t,
                               int64_t);
void __kmpc_for_static_fini(void *location, int32_t thread);
void __kmpc_dispatch_init_4u(void *, int32_t, int32_t, uint32_t, uint32_t, int32_t, int32_t);
void __kmpc_dispatch_init_8u(void *, int32_t, int32_t, uint64_t, uint64_t, int64_t, int64_t);
int32_t __kmpc_dispatch_next_4u(void *, int32_t, int32_t *, uint32_t *, uint32_t *, int32_t *);
int32_t __kmpc_dispatch_next_8u(void *, int32_t, int32_t *, uint64_t *, uint64_t *, int64_t *);
void __kmpc_dispatch_fini_4u(void *location, int32_t thread);
void __kmpc_dispatch_fini_8u(void *location, int32_t thread);
void __kmpc_dispatch_deinit(void *location, int32_t thread);
void __kmpc_critical(void *location, int32_t thread, void *lock);
void __kmpc_end_critical(void *location, int32_t thread, void *lock);
int32_t __kmpc_reduce(void *, int32_t, int32_t, uint64_t, void *, void *, void *lock);
void __kmpc_end_reduce(void *location, int32_t thread, void *lock);
int32_t __kmpc_reduce_nowait(void *, int32_t, int32_t, uint64_t, void *, void *, void *lock);
void __kmpc_end_reduce_nowait(void *location, int32_t thread, void *lock);

// Custom calls and the state of rng, on whole buffers: words as kc-bind-host-calls makes them (host_calls.cpp).
void kc_custom_call(const int64_t *words);
void kc_random_state(const int64_t *words);

// Processes of run_parallel (grid.h). `words`: the text that describes the call (its length in words, then the
// characters), the number of arrays, item size and rank of each, then address and sizes of each: operands first, then
// results, all in row-major order, on the GPU for GPU programs. A failure ends the call.
int32_t kc_replica_id(void);
int32_t kc_partition_id(void);
int32_t kc_num_replicas(void);
int32_t kc_num_partitions(void);
void kc_all_gather(const int64_t *words);
void kc_all_reduce(const int64_t *words);
void kc_all_to_all(const int64_t *words);
void kc_broadcast(const int64_t *words);
void kc_permute(const int64_t *words);
void kc_send(const int64_t *words);
void kc_recv(const int64_t *words);
void kc_infeed(const int64_t *words);
void kc_outfeed(const int64_t *words);
void kc_run_parallel(const int64_t *words);
void kc_print(const int64_t *words);

// GPU. All on the stream that the entry point was called with; after a failure they do nothing.
void kc_gpu_launch(int64_t kernel, int64_t grid_x, int64_t grid_y, int64_t grid_z, int64_t block_x, int64_t block_y,
                   int64_t block_z, int64_t shared_bytes, void **parameters);
void kc_gpu_tensor_map_encode(void *out, int64_t dtype, int64_t rank, void *base, const uint64_t *dims,
                              const uint64_t *strides, const uint32_t *box, int64_t swizzle, int64_t l2_promotion);
void kc_gpu_memcpy_d2h(void *to, void *from, int64_t bytes);
void kc_gpu_memcpy_h2d(void *to, void *from, int64_t bytes);
void kc_gpu_memcpy_d2d(void *to, void *from, int64_t bytes);
void kc_gpu_memset(void *pointer, int64_t byte, int64_t bytes);

} // extern "C"
