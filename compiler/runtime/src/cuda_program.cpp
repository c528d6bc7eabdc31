#include "cuda_program.h"

#include <algorithm>
#include <cstdlib>

#include "abi.h"
#include "error.h"
#include "kc_runtime.h"
#include "program.h"

namespace kc {
namespace {

constexpr int kMaxDynamicShared = 8;                                                    // CUfunction_attribute
constexpr int kInfoLog = 3, kInfoLogSize = 4, kErrorLog = 5, kErrorLogSize = 6;          // CUjit_option

// What the call in progress on this thread launches into.
struct GpuCall {
  DeviceProgram *program = nullptr;
  LoadedModules *loaded = nullptr;
  CuStream stream = nullptr;
  CuContext caller_context = nullptr;
  GpuCall *outer = nullptr; // the call that this one is made from, by a custom call
  std::vector<void *> blocks; // device memory allocated and not freed yet
};
thread_local GpuCall call;

bool ready(const char *what) {
  if (current_error().raised())
    return false;
  if (!call.program) {
    current_error().raise(std::string(what) + " outside of a call of a GPU program (in a parallel region?)");
    return false;
  }
  return true;
}

// KC_GPU_SYNC=1: wait after every launch, so that a fault is reported with the kernel that made it.
bool synchronous() {
  static const char *text = std::getenv("KC_GPU_SYNC");
  static const bool on = text && *text && *text != '0';
  return on;
}

} // namespace

DeviceProgram::~DeviceProgram() {
  for (LoadedModules *loaded : by_device_) {
    if (!loaded)
      continue;
    ContextScope scope(*loaded->device);
    for (CuModule module : loaded->modules)
      driver().cuModuleUnload(module);
    delete loaded;
  }
}

size_t DeviceProgram::add_module(std::string name, const void *bytes, size_t size) {
  modules_.push_back({std::move(name), std::string(static_cast<const char *>(bytes), size)});
  return modules_.size() - 1;
}

size_t DeviceProgram::add_kernel(std::string name, size_t module) {
  kernels_.push_back({std::move(name), module});
  return kernels_.size() - 1;
}

bool DeviceProgram::load(LoadedModules &loaded) {
  const Driver &cu = driver();
  ContextScope scope(*loaded.device);
  for (const Module &module : modules_) {
    std::vector<char> info(4096), errors(16384);
    int options[] = {kInfoLog, kInfoLogSize, kErrorLog, kErrorLogSize};
    void *values[] = {info.data(), reinterpret_cast<void *>(info.size()), errors.data(),
                      reinterpret_cast<void *>(errors.size())};
    CuModule handle = nullptr;
    if (CuResult result = cu.cuModuleLoadDataEx(&handle, module.image.c_str(), 4, options, values)) {
      errors.back() = 0;
      current_error().raise(format("device %d does not load '%s': %s%s%s", loaded.device->ordinal, module.name.c_str(),
                                   describe(result).c_str(), errors[0] ? "\n" : "", errors.data()));
      return false;
    }
    loaded.modules.push_back(handle);
  }
  for (const Kernel &kernel : kernels_) {
    LoadedKernel entry;
    if (CuResult result = cu.cuModuleGetFunction(&entry.function, loaded.modules[kernel.module], kernel.name.c_str())) {
      current_error().raise(format("'%s' has no kernel '%s': %s", modules_[kernel.module].name.c_str(),
                                   kernel.name.c_str(), describe(result).c_str()));
      return false;
    }
    cu.cuFuncGetAttribute(&entry.shared_limit, kMaxDynamicShared, entry.function);
    loaded.kernels.push_back(entry);
  }
  return true;
}

LoadedModules *DeviceProgram::prepare(int32_t ordinal) {
  Device *device = get_device(ordinal);
  if (!device)
    return nullptr;
  std::lock_guard<std::mutex> lock(mutex_);
  auto index = static_cast<size_t>(ordinal);
  if (by_device_.size() <= index)
    by_device_.resize(index + 1, nullptr);
  if (by_device_[index])
    return by_device_[index];
  auto *loaded = new LoadedModules;
  loaded->device = device;
  if (!load(*loaded)) {
    ContextScope scope(*device);
    for (CuModule module : loaded->modules)
      driver().cuModuleUnload(module);
    delete loaded;
    return nullptr;
  }
  by_device_[index] = loaded;
  return loaded;
}

bool DeviceProgram::begin_call(int32_t ordinal, CuStream stream) {
  LoadedModules *loaded = prepare(ordinal);
  if (!loaded)
    return false;
  auto *outer = call.program ? new GpuCall(call) : nullptr;
  call = {this, loaded, stream, nullptr, outer, {}};
  driver().cuCtxGetCurrent(&call.caller_context);
  if (call.caller_context != loaded->device->context)
    driver().cuCtxSetCurrent(loaded->device->context);
  return true;
}

void DeviceProgram::end_call(bool completed) {
  if (!completed) // the call was left in the middle: what it would have freed later goes back now
    for (void *block : call.blocks)
      device_free(*call.loaded->device, call.stream, block);
  if (call.caller_context != call.loaded->device->context)
    driver().cuCtxSetCurrent(call.caller_context);
  GpuCall *outer = call.outer;
  call = outer ? std::move(*outer) : GpuCall{};
  delete outer;
}

bool in_gpu_call() { return call.program != nullptr; }

bool current_stream(int32_t *device, void **stream) {
  if (!ready("custom call"))
    return false;
  *device = call.loaded->device->ordinal;
  *stream = call.stream;
  return true;
}

} // namespace kc

extern "C" {

int64_t kc_program_add_module(kc_program *program, const char *name, const void *bytes, int64_t size) {
  return static_cast<int64_t>(program->device.add_module(name, bytes, static_cast<size_t>(size)));
}

int64_t kc_program_add_kernel(kc_program *program, const char *name, int64_t module) {
  if (module < 0 || static_cast<size_t>(module) >= program->device.module_count()) {
    kc::set_last_error(kc::format("kernel '%s' is in module %lld, which is not there", name,
                                  static_cast<long long>(module)));
    return -1;
  }
  return static_cast<int64_t>(program->device.add_kernel(name, static_cast<size_t>(module)));
}

int32_t kc_program_prepare(kc_program *program, int32_t device) {
  kc::current_error().clear();
  return program->device.prepare(device) ? 0 : 1;
}

void kc_gpu_launch(int64_t kernel, int64_t grid_x, int64_t grid_y, int64_t grid_z, int64_t block_x, int64_t block_y,
                   int64_t block_z, int64_t shared_bytes, void **parameters) {
  using namespace kc;
  if (!ready("kernel launch"))
    return;
  if (grid_x == 0 || grid_y == 0 || grid_z == 0) // nothing to do (an empty array); the driver would refuse it
    return;
  if (kernel < 0 || static_cast<size_t>(kernel) >= call.loaded->kernels.size()) {
    current_error().raise(format("launch of kernel %lld of %zu", static_cast<long long>(kernel),
                                 call.loaded->kernels.size()));
    return;
  }
  const Driver &cu = driver();
  LoadedKernel &loaded = call.loaded->kernels[static_cast<size_t>(kernel)];
  CuResult result = 0;
  if (shared_bytes > loaded.shared_limit) { // more than the usual 48 KiB has to be asked for, once
    result = cu.cuFuncSetAttribute(loaded.function, kMaxDynamicShared, static_cast<int>(shared_bytes));
    if (result == 0)
      loaded.shared_limit = static_cast<int>(shared_bytes);
  }
  auto u = [](int64_t value) { return static_cast<unsigned>(std::clamp<int64_t>(value, 0, UINT32_MAX)); };
  if (result == 0)
    result = cu.cuLaunchKernel(loaded.function, u(grid_x), u(grid_y), u(grid_z), u(block_x), u(block_y), u(block_z),
                               u(shared_bytes), call.stream, parameters, nullptr);
  if (result == 0 && synchronous())
    result = cu.cuStreamSynchronize(call.stream);
  if (result != 0)
    current_error().raise(format("launch of kernel '%s' with grid %lld x %lld x %lld, block %lld x %lld x %lld, %lld "
                                 "bytes of shared memory failed: %s",
                                 call.program->kernel(static_cast<size_t>(kernel)).name.c_str(),
                                 static_cast<long long>(grid_x), static_cast<long long>(grid_y),
                                 static_cast<long long>(grid_z), static_cast<long long>(block_x),
                                 static_cast<long long>(block_y), static_cast<long long>(block_z),
                                 static_cast<long long>(shared_bytes), describe(result).c_str()));
}

void kc_gpu_tensor_map_encode(void *out, int64_t dtype, int64_t rank, void *base, const uint64_t *dims,
                              const uint64_t *strides, const uint32_t *box, int64_t swizzle, int64_t l2_promotion) {
  using namespace kc;
  if (!ready("tensor map"))
    return;
  static const uint32_t ones[5] = {1, 1, 1, 1, 1};
  CuResult result = driver().cuTensorMapEncodeTiled(out, static_cast<int>(dtype), static_cast<unsigned>(rank), base,
                                                    dims, strides, box, ones, 0, static_cast<int>(swizzle),
                                                    static_cast<int>(l2_promotion), 0);
  if (result == 0)
    return;
  std::string text = format("tensor map (base %p, type %lld", base, static_cast<long long>(dtype));
  for (int64_t d = 0; d < rank; ++d)
    text += format("; dimension %lld: size %llu, box %u", static_cast<long long>(d),
                   static_cast<unsigned long long>(dims[d]), box[d]);
  for (int64_t d = 0; d + 1 < rank; ++d)
    text += format("; pitch %llu", static_cast<unsigned long long>(strides[d]));
  current_error().raise(text + ") failed: " + describe(result));
}

void kc_gpu_memcpy_d2h(void *to, void *from, int64_t bytes) {
  if (kc::ready("copy"))
    kc_gpu_copy(kc::call.loaded->device->ordinal, kc::call.stream, to, from, bytes, 1);
}

void kc_gpu_memcpy_h2d(void *to, void *from, int64_t bytes) {
  if (kc::ready("copy"))
    kc_gpu_copy(kc::call.loaded->device->ordinal, kc::call.stream, to, from, bytes, 0);
}

void kc_gpu_memcpy_d2d(void *to, void *from, int64_t bytes) {
  if (kc::ready("copy"))
    kc_gpu_copy(kc::call.loaded->device->ordinal, kc::call.stream, to, from, bytes, 2);
}

void kc_gpu_memset(void *pointer, int64_t byte, int64_t bytes) {
  if (kc::ready("memset") && bytes > 0)
    kc::check(kc::driver().cuMemsetD8Async(reinterpret_cast<kc::CuDevicePointer>(pointer),
                                           static_cast<unsigned char>(byte), static_cast<size_t>(bytes),
                                           kc::call.stream),
              "memset");
}

void *kc_gpu_memref_alloc(int64_t bytes) {
  if (!kc::ready("allocation"))
    return nullptr;
  void *pointer = kc::device_allocate(*kc::call.loaded->device, kc::call.stream, static_cast<size_t>(bytes));
  if (pointer)
    kc::call.blocks.push_back(pointer);
  return pointer;
}

// Device memory is aligned to 256 bytes at least.
void *kc_gpu_memref_aligned_alloc(int64_t alignment, int64_t bytes) {
  if (alignment > 256)
    kc::current_error().raise(kc::format("alignment of %lld bytes asked for, at most 256 is given",
                                         static_cast<long long>(alignment)));
  return kc_gpu_memref_alloc(bytes);
}

void kc_gpu_memref_free(void *pointer) {
  if (!kc::call.program) // also after an error: what was allocated goes back
    return;
  auto &blocks = kc::call.blocks;
  auto at = std::find(blocks.rbegin(), blocks.rend(), pointer);
  if (at != blocks.rend())
    blocks.erase(std::next(at).base());
  kc::device_free(*kc::call.loaded->device, kc::call.stream, pointer);
}

} // extern "C"
