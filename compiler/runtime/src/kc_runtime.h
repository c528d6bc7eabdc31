// The C interface of libkc_runtime.so: what kc.runtime (Python, by ctypes) calls. What generated code calls is in
// symbols.cpp (the table) and has its prototypes in abi.h.
//
// Conventions: a function that can fail returns 0 or a non-null pointer on success; after a failure kc_last_error()
// holds a message for the calling thread. Sizes are in bytes. Every function may be called from any thread.
#ifndef KC_RUNTIME_H
#define KC_RUNTIME_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KC_ABI_VERSION 1
#define KC_EXPORT __attribute__((visibility("default")))

typedef struct kc_program kc_program;

KC_EXPORT int32_t kc_abi_version(void);
// Message of the last failure on this thread; valid until the next call on this thread. Never null.
KC_EXPORT const char *kc_last_error(void);

// --- host memory -----------------------------------------------------------------------------------------------
// 64-byte aligned, from the caching allocator; a size of 0 gives a valid pointer. Null when memory is exhausted.
KC_EXPORT void *kc_alloc(int64_t bytes);
KC_EXPORT void kc_free(void *pointer);
// out = {bytes handed out, bytes kept for reuse, mappings made so far, requests served from kept blocks so far}.
KC_EXPORT void kc_allocator_stats(int64_t out[4]);
// Returns every kept block to the system.
KC_EXPORT void kc_allocator_trim(void);

// --- threads ---------------------------------------------------------------------------------------------------
// Size of a parallel team: KC_NUM_THREADS, else OMP_NUM_THREADS, else the CPUs this process may use.
KC_EXPORT int32_t kc_num_threads(void);

// --- programs --------------------------------------------------------------------------------------------------
// Links ELF64 x86-64 relocatable objects in memory. `names` are for messages only. With device_memory != 0 the
// allocation symbols of the generated code hand out memory of the GPU. Null on failure.
KC_EXPORT kc_program *kc_program_load(const void *const *objects, const int64_t *sizes, const char *const *names,
                                      int64_t count, int32_t device_memory);
KC_EXPORT void kc_program_unload(kc_program *program);
// Address of a global symbol that the objects define, or null.
KC_EXPORT void *kc_program_symbol(kc_program *program, const char *name);
// Adds a PTX or cubin image (copied) and returns its index.
KC_EXPORT int64_t kc_program_add_module(kc_program *program, const char *name, const void *bytes, int64_t size);
// Adds a kernel of a module to the kernel table and returns its index, the one kc_gpu_launch takes.
KC_EXPORT int64_t kc_program_add_kernel(kc_program *program, const char *name, int64_t module);
// Loads the modules on a device now (otherwise the first call does).
KC_EXPORT int32_t kc_program_prepare(kc_program *program, int32_t device);

// Adds a custom call; the first is number 0 of kc_custom_call. `abi` as in host_calls.h. `buffers`, for each operand and
// then each result: where its address stands in the words of the call, DLPack's type code and bits, rank, and the
// dimensions from the fastest to the slowest.
KC_EXPORT int32_t kc_program_add_call(kc_program *program, const char *target, int32_t abi, void *function,
                                      const char *attributes, int64_t attributes_size, int64_t operands,
                                      int64_t results, const int64_t *buffers);
// Sets this thread's error, for a function that a program calls.
KC_EXPORT void kc_fail(const char *message);
// Starts the numbers of StableHLO's rng anew (otherwise from KC_SEED, or from the system).
KC_EXPORT void kc_random_seed(uint64_t seed);

// Calls an entry point, void (*)(void **args). Two arrays, so that a call from Python converts two arguments:
//   layout   {program, address of the entry point, arguments, results, per argument: rank, sizes[rank], strides[rank];
//            per result: rank, item size}. The rank -1 stands for a scalar, passed (and given back) by pointer to its
//            value. The same for every call with the same shapes.
//   words    in:  per argument the address of its first element (of the value, for a scalar); then device and stream
//                 (for GPU programs; read in any case);
//            out, after those: per result base pointer (owned by the caller, for kc_free or kc_gpu_free), address of
//                 the first element, 1 if the strides are row-major else 0, sizes[rank], strides[rank] (in elements);
//                 for a scalar, 2 words that hold the value.
KC_EXPORT int32_t kc_invoke(const int64_t *layout, int64_t *words);

// --- processes that work together -------------------------------------------------------------------------------
typedef struct kc_grid kc_grid;
// replicas * partitions processes; a wait for another one ends with an error after `timeout` seconds.
KC_EXPORT kc_grid *kc_grid_new(int32_t replicas, int32_t partitions, double timeout);
KC_EXPORT void kc_grid_free(kc_grid *grid);
// Makes this thread process `index` (replica * partitions + partition): calls of kc_invoke until kc_grid_leave are its
// work. When it leaves as failed, the others fail as soon as they wait.
KC_EXPORT void kc_grid_enter(kc_grid *grid, int32_t index);
KC_EXPORT void kc_grid_leave(kc_grid *grid, int32_t index, int32_t failed, const char *message);
// Fails the grid on behalf of process `index`; what waits wakes up.
KC_EXPORT void kc_grid_fail(kc_grid *grid, int32_t index, const char *message);
// The GPU of each process; with `own` != 0 no two are the same (then NCCL may carry the data).
KC_EXPORT void kc_grid_devices(kc_grid *grid, const int32_t *devices, int32_t own);
// Where NCCL is, for when it is first needed; KC_NCCL_LIBRARY goes before.
KC_EXPORT void kc_nccl_library(const char *path);
// The first failure; empty if there was none. Valid until the next call with this grid.
KC_EXPORT const char *kc_grid_failure(kc_grid *grid);
// Queues between host and processes: "infeed" (for all), "infeed/2" (for process 2), "channel 3", "outfeed".
// `type`: the element type in kc's spelling. The data are copied.
KC_EXPORT void kc_grid_post(kc_grid *grid, const char *box, const char *type, const void *data, int64_t bytes,
                            int64_t rank, const int64_t *shape);
// Names of the queues that hold something, one a line.
KC_EXPORT const char *kc_grid_boxes(kc_grid *grid);
// Takes the next message: its type and where it was sent, on two lines, or null. out = {bytes, rank, process that sent
// it or -1, number of the operand, operands}. What is pointed to is valid until the next call with this grid.
KC_EXPORT const char *kc_grid_take(kc_grid *grid, const char *box, int64_t out[5], const void **data,
                                   const int64_t **shape);

// --- GPU -------------------------------------------------------------------------------------------------------
// Number of CUDA devices; -1 when there is no usable driver (kc_last_error says why).
KC_EXPORT int32_t kc_gpu_count(void);
// out = {driver version as 1000 * major + 10 * minor, compute capability as 10 * major + minor, multiprocessors,
//        bytes of memory}; name gets at most `size` characters with the final 0.
KC_EXPORT int32_t kc_gpu_describe(int32_t device, char *name, int64_t size, int64_t out[4]);
// Stream-ordered memory. Freeing on a stream that no longer exists falls back to a synchronising free.
KC_EXPORT void *kc_gpu_alloc(int32_t device, void *stream, int64_t bytes);
KC_EXPORT int32_t kc_gpu_free(int32_t device, void *stream, void *pointer);
// kind: 0 host to device, 1 device to host, 2 device to device. Device to host returns when the bytes are there.
KC_EXPORT int32_t kc_gpu_copy(int32_t device, void *stream, void *to, const void *from, int64_t bytes, int32_t kind);
KC_EXPORT int32_t kc_gpu_synchronize(int32_t device, void *stream);
// The runtime's own non-blocking stream of a device, for callers that have none.
KC_EXPORT int32_t kc_gpu_own_stream(int32_t device, void **stream);
// The device that an address belongs to; -1 for host memory and unknown addresses.
KC_EXPORT int32_t kc_gpu_pointer_device(const void *pointer);
// Makes `waiting` wait for the work that is in `on` now.
KC_EXPORT int32_t kc_gpu_stream_wait(int32_t device, void *waiting, void *on);

// --- DLPack ----------------------------------------------------------------------------------------------------
// A DLManagedTensor that owns `base`: its deleter calls kc_free (device_type 1) or kc_gpu_free (device_type 2).
// Strides are in elements.
KC_EXPORT void *kc_dlpack_new(void *base, void *data, int32_t rank, const int64_t *shape, const int64_t *strides,
                              int32_t code, int32_t bits, int32_t device_type, int32_t device, void *stream);
// Destructor for a PyCapsule named "dltensor": frees the tensor unless it was consumed.
KC_EXPORT void kc_dlpack_capsule_destructor(void *capsule);

#ifdef __cplusplus
}
#endif

#endif
