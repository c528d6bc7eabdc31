#include "symbols.h"

#include <dlfcn.h>
#include <string.h>

#include <unordered_map>

#include "abi.h"
#include "arithmetic.h"

namespace kc {
namespace {

using Table = std::unordered_map<std::string, void *>;

// From libm, each also with the suffix f. Complex functions are left out on purpose: LLVM and C disagree on how a
// complex float is returned, which would be a wrong number and not an error.
const char *const kMath[] = {
    "acos",  "acosh", "asin",  "asinh", "atan",      "atan2",     "atanh",     "cbrt",  "ceil",   "copysign",
    "cos",   "cosh",  "erf",   "erfc",  "exp",       "exp10",     "exp2",      "expm1", "fabs",   "fdim",
    "floor", "fma",   "fmax",  "fmin",  "fmod",      "frexp",     "hypot",     "ldexp", "lgamma", "log",
    "log10", "log1p", "log2",  "logb",  "modf",      "nearbyint", "nextafter", "pow",   "remainder",
    "rint",  "round", "roundeven", "scalbn", "sin",  "sincos",    "sinh",      "sqrt",  "tan",    "tanh",
    "tgamma", "trunc"};

template <typename F> void *address(F *function) { return reinterpret_cast<void *>(function); }

Table make_common() {
  Table table;
  if (void *libm = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL))
    for (const char *name : kMath)
      for (const char *suffix : {"", "f"}) {
        std::string symbol = std::string(name) + suffix;
        if (void *found = dlsym(libm, symbol.c_str()))
          table.emplace(symbol, found);
      }
  table.insert({
#define KC_SYMBOL(name) {#name, address(&name)}
      KC_SYMBOL(kc_raise),
      KC_SYMBOL(kc_fail_check),
      KC_SYMBOL(kc_custom_call),
      KC_SYMBOL(kc_random_state),
      KC_SYMBOL(kc_replica_id),
      KC_SYMBOL(kc_partition_id),
      KC_SYMBOL(kc_num_replicas),
      KC_SYMBOL(kc_num_partitions),
      KC_SYMBOL(kc_all_gather),
      KC_SYMBOL(kc_all_reduce),
      KC_SYMBOL(kc_all_to_all),
      KC_SYMBOL(kc_broadcast),
      KC_SYMBOL(kc_permute),
      KC_SYMBOL(kc_send),
      KC_SYMBOL(kc_recv),
      KC_SYMBOL(kc_infeed),
      KC_SYMBOL(kc_outfeed),
      KC_SYMBOL(kc_run_parallel),
      KC_SYMBOL(kc_print),
      KC_SYMBOL(kc_gpu_launch),
      KC_SYMBOL(kc_gpu_tensor_map_encode),
      KC_SYMBOL(kc_gpu_memcpy_d2h),
      KC_SYMBOL(kc_gpu_memcpy_h2d),
      KC_SYMBOL(kc_gpu_memcpy_d2d),
      KC_SYMBOL(kc_gpu_memset),
      KC_SYMBOL(__kmpc_fork_call),
      KC_SYMBOL(__kmpc_push_num_threads),
      KC_SYMBOL(__kmpc_global_thread_num),
      KC_SYMBOL(__kmpc_barrier),
      KC_SYMBOL(__kmpc_for_static_init_4),
      KC_SYMBOL(__kmpc_for_static_init_4u),
      KC_SYMBOL(__kmpc_for_static_init_8),
      KC_SYMBOL(__kmpc_for_static_init_8u),
      KC_SYMBOL(__kmpc_for_static_fini),
      KC_SYMBOL(__kmpc_dispatch_init_4u),
      KC_SYMBOL(__kmpc_dispatch_init_8u),
      KC_SYMBOL(__kmpc_dispatch_next_4u),
      KC_SYMBOL(__kmpc_dispatch_next_8u),
      KC_SYMBOL(__kmpc_dispatch_fini_4u),
      KC_SYMBOL(__kmpc_dispatch_fini_8u),
      KC_SYMBOL(__kmpc_dispatch_deinit),
      KC_SYMBOL(__kmpc_critical),
      KC_SYMBOL(__kmpc_end_critical),
      KC_SYMBOL(__kmpc_reduce),
      KC_SYMBOL(__kmpc_end_reduce),
      KC_SYMBOL(__kmpc_reduce_nowait),
      KC_SYMBOL(__kmpc_end_reduce_nowait),
      KC_SYMBOL(__truncsfhf2),
      KC_SYMBOL(__truncdfhf2),
      KC_SYMBOL(__extendhfsf2),
      KC_SYMBOL(__truncsfbf2),
      KC_SYMBOL(__truncdfbf2),
      KC_SYMBOL(__divti3),
      KC_SYMBOL(__modti3),
      KC_SYMBOL(__udivti3),
      KC_SYMBOL(__umodti3),
#undef KC_SYMBOL
      {"memcpy", address(static_cast<void *(*)(void *, const void *, size_t)>(&memcpy))},
      {"memmove", address(static_cast<void *(*)(void *, const void *, size_t)>(&memmove))},
      {"memset", address(static_cast<void *(*)(void *, int, size_t)>(&memset))},
      {"memcmp", address(static_cast<int (*)(const void *, const void *, size_t)>(&memcmp))},
  });
  return table;
}

} // namespace

void *find_host_symbol(const std::string &name, bool device_memory) {
  static const Table common = make_common();
  static const Table host = {
      {"_mlir_memref_to_llvm_alloc", address(&kc_memref_alloc)},
      {"_mlir_memref_to_llvm_aligned_alloc", address(&kc_memref_aligned_alloc)},
      {"_mlir_memref_to_llvm_free", address(&kc_memref_free)},
      {"memrefCopy", address(&kc_memref_copy)},
  };
  static const Table device = {
      {"_mlir_memref_to_llvm_alloc", address(&kc_gpu_memref_alloc)},
      {"_mlir_memref_to_llvm_aligned_alloc", address(&kc_gpu_memref_aligned_alloc)},
      {"_mlir_memref_to_llvm_free", address(&kc_gpu_memref_free)},
      {"memrefCopy", address(&kc_gpu_memref_copy)},
  };
  const Table &own = device_memory ? device : host;
  if (auto found = own.find(name); found != own.end())
    return found->second;
  auto found = common.find(name);
  return found == common.end() ? nullptr : found->second;
}

} // namespace kc
