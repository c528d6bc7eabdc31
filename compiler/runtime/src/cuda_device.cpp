#include "cuda_device.h"

#include <cstring>
#include <mutex>

#include "error.h"
#include "kc_runtime.h"

namespace kc {
namespace {

constexpr int kMaxDevices = 64;
constexpr int kMultiprocessors = 16, kMajor = 75, kMinor = 76, kMemoryPools = 115; // CUdevice_attribute
constexpr int kDeviceOrdinal = 9;                                                 // CUpointer_attribute
constexpr int kReleaseThreshold = 4;                                              // CUmemPool_attribute
constexpr unsigned kNonBlocking = 1, kNoTiming = 2;

bool open(Device &device, int32_t ordinal) {
  const Driver &cu = driver();
  device.ordinal = ordinal;
  if (!check(cu.cuDeviceGet(&device.device, ordinal), "cuDeviceGet") ||
      !check(cu.cuDevicePrimaryCtxRetain(&device.context, device.device), "cuDevicePrimaryCtxRetain"))
    return false;
  ContextScope scope(device);
  if (!check(cu.cuStreamCreate(&device.own_stream, kNonBlocking), "cuStreamCreate"))
    return false;
  int pools = 0;
  if (cu.cuDeviceGetAttribute(&pools, kMemoryPools, device.device) != 0 || !pools)
    return true;
  CuPoolProperties properties;
  properties.location_id = ordinal;
  if (cu.cuMemPoolCreate(&device.pool, &properties) != 0) {
    device.pool = nullptr;
    return true;
  }
  // Keep freed memory in the pool: by default every synchronisation gives it back to the system.
  uint64_t threshold = UINT64_MAX;
  cu.cuMemPoolSetAttribute(device.pool, kReleaseThreshold, &threshold);
  return true;
}

} // namespace

bool check(CuResult result, const char *what) {
  if (result == 0)
    return true;
  current_error().raise(std::string(what) + " failed: " + describe(result));
  return false;
}

ContextScope::ContextScope(const Device &device) {
  driver().cuCtxGetCurrent(&previous_);
  changed_ = previous_ != device.context;
  if (changed_)
    driver().cuCtxSetCurrent(device.context);
}

ContextScope::~ContextScope() {
  if (changed_)
    driver().cuCtxSetCurrent(previous_);
}

Device *get_device(int32_t ordinal) {
  static std::mutex mutex;
  static Device *devices[kMaxDevices] = {};
  const Driver &cu = driver();
  if (!cu.problem.empty()) {
    current_error().raise(cu.problem);
    return nullptr;
  }
  int count = 0;
  if (ordinal < 0 || ordinal >= kMaxDevices) {
    current_error().raise(format("there is no CUDA device %d", ordinal));
    return nullptr;
  }
  std::lock_guard<std::mutex> lock(mutex);
  if (devices[ordinal])
    return devices[ordinal];
  if (!check(cu.cuDeviceGetCount(&count), "cuDeviceGetCount"))
    return nullptr;
  if (ordinal >= count) {
    current_error().raise(format("there is no CUDA device %d (the driver shows %d)", ordinal, count));
    return nullptr;
  }
  auto *device = new Device; // kept for the life of the process: arrays may be freed at any time
  if (!open(*device, ordinal)) {
    delete device;
    return nullptr;
  }
  devices[ordinal] = device;
  return device;
}

void *device_allocate(const Device &device, CuStream stream, size_t bytes) {
  const Driver &cu = driver();
  CuDevicePointer pointer = 0;
  size_t size = bytes ? bytes : 1; // 0 bytes is an error for the driver
  CuResult result = device.pool ? cu.cuMemAllocFromPoolAsync(&pointer, size, device.pool, stream)
                                : cu.cuMemAlloc_v2(&pointer, size);
  if (result != 0) {
    current_error().raise(format("allocation of %zu bytes on device %d failed: %s", bytes, device.ordinal,
                                 describe(result).c_str()));
    return nullptr;
  }
  return reinterpret_cast<void *>(pointer);
}

bool device_free(const Device &device, CuStream stream, void *pointer) {
  const Driver &cu = driver();
  auto address = reinterpret_cast<CuDevicePointer>(pointer);
  if (!address)
    return true;
  if (device.pool && cu.cuMemFreeAsync(address, stream) == 0)
    return true;
  // No pool: work in flight may still use it. A stream that is gone: its work is not known to be done.
  return check(cu.cuMemFree_v2(address), "cuMemFree");
}

} // namespace kc

extern "C" {

int32_t kc_gpu_count(void) {
  const kc::Driver &cu = kc::driver();
  kc::current_error().clear();
  if (!cu.problem.empty()) {
    kc::current_error().raise(cu.problem);
    return -1;
  }
  int count = 0;
  return kc::check(cu.cuDeviceGetCount(&count), "cuDeviceGetCount") ? count : -1;
}

int32_t kc_gpu_describe(int32_t ordinal, char *name, int64_t size, int64_t out[4]) {
  kc::current_error().clear();
  const kc::Driver &cu = kc::driver();
  if (!cu.problem.empty()) {
    kc::current_error().raise(cu.problem);
    return 1;
  }
  kc::CuDevice device;
  int version = 0, major = 0, minor = 0, processors = 0;
  size_t memory = 0;
  if (!kc::check(cu.cuDeviceGet(&device, ordinal), "cuDeviceGet") ||
      !kc::check(cu.cuDeviceGetName(name, static_cast<int>(size), device), "cuDeviceGetName"))
    return 1;
  cu.cuDriverGetVersion(&version);
  cu.cuDeviceGetAttribute(&major, kc::kMajor, device);
  cu.cuDeviceGetAttribute(&minor, kc::kMinor, device);
  cu.cuDeviceGetAttribute(&processors, kc::kMultiprocessors, device);
  cu.cuDeviceTotalMem_v2(&memory, device);
  out[0] = version;
  out[1] = 10 * major + minor;
  out[2] = processors;
  out[3] = static_cast<int64_t>(memory);
  return 0;
}

void *kc_gpu_alloc(int32_t ordinal, void *stream, int64_t bytes) {
  kc::current_error().clear();
  kc::Device *device = kc::get_device(ordinal);
  if (!device)
    return nullptr;
  kc::ContextScope scope(*device);
  return kc::device_allocate(*device, stream, static_cast<size_t>(bytes));
}

int32_t kc_gpu_free(int32_t ordinal, void *stream, void *pointer) {
  kc::Device *device = kc::get_device(ordinal);
  if (!device)
    return 1;
  kc::ContextScope scope(*device);
  return kc::device_free(*device, stream, pointer) ? 0 : 1;
}

int32_t kc_gpu_copy(int32_t ordinal, void *stream, void *to, const void *from, int64_t bytes, int32_t kind) {
  kc::Device *device = kc::get_device(ordinal);
  if (!device)
    return 1;
  if (bytes == 0)
    return 0;
  const kc::Driver &cu = kc::driver();
  kc::ContextScope scope(*device);
  auto size = static_cast<size_t>(bytes);
  auto target = reinterpret_cast<kc::CuDevicePointer>(to), source = reinterpret_cast<kc::CuDevicePointer>(from);
  switch (kind) {
  case 0: return kc::check(cu.cuMemcpyHtoDAsync_v2(target, from, size, stream), "copy to the device") ? 0 : 1;
  case 1:
    return kc::check(cu.cuMemcpyDtoHAsync_v2(to, source, size, stream), "copy from the device") &&
                   kc::check(cu.cuStreamSynchronize(stream), "cuStreamSynchronize")
               ? 0
               : 1;
  default: return kc::check(cu.cuMemcpyDtoDAsync_v2(target, source, size, stream), "copy on the device") ? 0 : 1;
  }
}

int32_t kc_gpu_synchronize(int32_t ordinal, void *stream) {
  kc::current_error().clear();
  kc::Device *device = kc::get_device(ordinal);
  if (!device)
    return 1;
  kc::ContextScope scope(*device);
  return kc::check(kc::driver().cuStreamSynchronize(stream), "cuStreamSynchronize") ? 0 : 1;
}

int32_t kc_gpu_own_stream(int32_t ordinal, void **stream) {
  kc::current_error().clear();
  kc::Device *device = kc::get_device(ordinal);
  if (!device)
    return 1;
  *stream = device->own_stream;
  return 0;
}

int32_t kc_gpu_pointer_device(const void *pointer) {
  const kc::Driver &cu = kc::driver();
  int ordinal = -1;
  if (!cu.problem.empty() ||
      cu.cuPointerGetAttribute(&ordinal, kc::kDeviceOrdinal, reinterpret_cast<kc::CuDevicePointer>(pointer)) != 0)
    return -1;
  return ordinal;
}

int32_t kc_gpu_stream_wait(int32_t ordinal, void *waiting, void *on) {
  kc::current_error().clear();
  kc::Device *device = kc::get_device(ordinal);
  if (!device)
    return 1;
  const kc::Driver &cu = kc::driver();
  kc::ContextScope scope(*device);
  kc::CuEvent event = nullptr;
  if (!kc::check(cu.cuEventCreate(&event, kc::kNoTiming), "cuEventCreate"))
    return 1;
  bool done = kc::check(cu.cuEventRecord(event, on), "cuEventRecord") &&
              kc::check(cu.cuStreamWaitEvent(waiting, event, 0), "cuStreamWaitEvent");
  cu.cuEventDestroy_v2(event); // takes effect when the event has happened
  return done ? 0 : 1;
}

} // extern "C"
