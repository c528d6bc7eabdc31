// The device part of a program: modules, kernel table, and the launches of the call in progress.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "cuda_device.h"

namespace kc {

struct Kernel {
  std::string name;
  size_t module;
};

struct LoadedKernel {
  CuFunction function = nullptr;
  int shared_limit = 0; // dynamic shared memory that the function is allowed now
};

// A program's modules on one device.
struct LoadedModules {
  Device *device = nullptr;
  std::vector<CuModule> modules;
  std::vector<LoadedKernel> kernels;
};

class DeviceProgram {
public:
  DeviceProgram() = default;
  ~DeviceProgram();
  DeviceProgram(const DeviceProgram &) = delete;
  DeviceProgram &operator=(const DeviceProgram &) = delete;

  size_t add_module(std::string name, const void *bytes, size_t size);
  size_t add_kernel(std::string name, size_t module);
  size_t module_count() const { return modules_.size(); }
  const Kernel &kernel(size_t index) const { return kernels_[index]; }

  // Loads onto the device if need be. Null, with the error set, on a failure.
  LoadedModules *prepare(int32_t ordinal);

  // Sets up the launches of this thread. False, with the error set, on a failure.
  bool begin_call(int32_t ordinal, CuStream stream);
  // Frees what the call has allocated unless it has completed.
  void end_call(bool completed);

private:
  struct Module {
    std::string name;
    std::string image; // std::string keeps a 0 after the bytes, which PTX text needs
  };

  bool load(LoadedModules &loaded);

  std::vector<Module> modules_;
  std::vector<Kernel> kernels_;
  std::mutex mutex_;
  std::vector<LoadedModules *> by_device_;
};

// Device and stream of the call in progress on this thread. False, with the error set, outside of one.
bool current_stream(int32_t *device, void **stream);
// Whether this thread is in a call of a GPU program.
bool in_gpu_call();

} // namespace kc
