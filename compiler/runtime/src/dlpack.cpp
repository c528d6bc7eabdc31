// Results as DLPack tensors (https://dmlc.github.io/dlpack, the unversioned struct that every framework takes).
#include <dlfcn.h>

#include <cstddef>
#include <cstring>

#include "kc_runtime.h"

namespace {

constexpr int32_t kCpu = 1;

struct Tensor { // DLTensor
  void *data;
  int32_t device_type;
  int32_t device;
  int32_t rank;
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
  int64_t *shape;
  int64_t *strides;
  uint64_t byte_offset;
};

struct ManagedTensor { // DLManagedTensor
  Tensor tensor;
  void *manager;
  void (*deleter)(ManagedTensor *);
};

struct Owned {
  ManagedTensor managed;
  void *base;
  void *stream;
  int64_t dimensions[1]; // shape, then strides
};

void release(ManagedTensor *managed) {
  auto *owned = static_cast<Owned *>(managed->manager);
  if (managed->tensor.device_type == kCpu)
    kc_free(owned->base);
  else
    kc_gpu_free(managed->tensor.device, owned->stream, owned->base);
  kc_free(owned);
}

} // namespace

extern "C" {

void *kc_dlpack_new(void *base, void *data, int32_t rank, const int64_t *shape, const int64_t *strides, int32_t code,
                    int32_t bits, int32_t device_type, int32_t device, void *stream) {
  auto dimensions = static_cast<size_t>(rank);
  auto *owned = static_cast<Owned *>(
      kc_alloc(static_cast<int64_t>(offsetof(Owned, dimensions) + (2 * dimensions + 1) * sizeof(int64_t))));
  if (!owned)
    return nullptr;
  std::memcpy(owned->dimensions, shape, dimensions * sizeof(int64_t));
  std::memcpy(owned->dimensions + rank, strides, dimensions * sizeof(int64_t));
  owned->base = base;
  owned->stream = stream;
  owned->managed.tensor = {data, device_type, device, rank, static_cast<uint8_t>(code), static_cast<uint8_t>(bits), 1,
                           owned->dimensions, owned->dimensions + rank, 0};
  owned->managed.manager = owned;
  owned->managed.deleter = release;
  return &owned->managed;
}

// Called by the interpreter with the GIL held. A consumer renames the capsule, which is how it tells that it took over.
void kc_dlpack_capsule_destructor(void *capsule) {
  using IsValid = int (*)(void *, const char *);
  using GetPointer = void *(*)(void *, const char *);
  static auto is_valid = reinterpret_cast<IsValid>(dlsym(RTLD_DEFAULT, "PyCapsule_IsValid"));
  static auto get_pointer = reinterpret_cast<GetPointer>(dlsym(RTLD_DEFAULT, "PyCapsule_GetPointer"));
  if (!is_valid || !get_pointer || !is_valid(capsule, "dltensor"))
    return;
  auto *managed = static_cast<ManagedTensor *>(get_pointer(capsule, "dltensor"));
  managed->deleter(managed);
}

} // extern "C"
