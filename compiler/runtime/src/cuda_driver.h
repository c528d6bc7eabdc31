// The CUDA driver, found at run time: no toolkit to build with, and a machine without a GPU loads the library as well.
// Types and numbers are those of cuda.h (CUDA 12).
#pragma once

#include <cstdint>
#include <string>

namespace kc {

using CuResult = int;
using CuDevice = int;
using CuDevicePointer = uint64_t;
using CuContext = void *;
using CuStream = void *;
using CuModule = void *;
using CuFunction = void *;
using CuEvent = void *;
using CuPool = void *;

struct CuPoolProperties { // CUmemPoolProps
  int allocation_type = 1; // pinned
  int handle_types = 0;
  int location_type = 1; // device
  int location_id = 0;
  void *security = nullptr;
  size_t max_size = 0;
  unsigned char reserved[56] = {};
};
static_assert(sizeof(CuPoolProperties) == 88, "CUmemPoolProps has 88 bytes");

// name, arguments; the name is the versioned one that the driver exports
#define KC_CUDA_FUNCTIONS(F)                                                                                          \
  F(cuInit, (unsigned))                                                                                               \
  F(cuDriverGetVersion, (int *))                                                                                      \
  F(cuDeviceGetCount, (int *))                                                                                        \
  F(cuDeviceGet, (CuDevice *, int))                                                                                   \
  F(cuDeviceGetName, (char *, int, CuDevice))                                                                         \
  F(cuDeviceTotalMem_v2, (size_t *, CuDevice))                                                                        \
  F(cuDeviceGetAttribute, (int *, int, CuDevice))                                                                     \
  F(cuDevicePrimaryCtxRetain, (CuContext *, CuDevice))                                                                \
  F(cuCtxGetCurrent, (CuContext *))                                                                                   \
  F(cuCtxSetCurrent, (CuContext))                                                                                     \
  F(cuModuleLoadDataEx, (CuModule *, const void *, unsigned, int *, void **))                                         \
  F(cuModuleUnload, (CuModule))                                                                                       \
  F(cuModuleGetFunction, (CuFunction *, CuModule, const char *))                                                      \
  F(cuFuncSetAttribute, (CuFunction, int, int))                                                                       \
  F(cuFuncGetAttribute, (int *, int, CuFunction))                                                                     \
  F(cuLaunchKernel, (CuFunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CuStream,      \
                     void **, void **))                                                                               \
  F(cuTensorMapEncodeTiled, (void *, int, unsigned, void *, const uint64_t *, const uint64_t *, const uint32_t *,     \
                             const uint32_t *, int, int, int, int))                                                   \
  F(cuMemAlloc_v2, (CuDevicePointer *, size_t))                                                                       \
  F(cuMemFree_v2, (CuDevicePointer))                                                                                  \
  F(cuMemPoolCreate, (CuPool *, const CuPoolProperties *))                                                            \
  F(cuMemPoolSetAttribute, (CuPool, int, void *))                                                                     \
  F(cuMemAllocFromPoolAsync, (CuDevicePointer *, size_t, CuPool, CuStream))                                           \
  F(cuMemFreeAsync, (CuDevicePointer, CuStream))                                                                      \
  F(cuMemcpyHtoDAsync_v2, (CuDevicePointer, const void *, size_t, CuStream))                                          \
  F(cuMemcpyDtoHAsync_v2, (void *, CuDevicePointer, size_t, CuStream))                                                \
  F(cuMemcpyDtoDAsync_v2, (CuDevicePointer, CuDevicePointer, size_t, CuStream))                                       \
  F(cuMemsetD8Async, (CuDevicePointer, unsigned char, size_t, CuStream))                                              \
  F(cuStreamCreate, (CuStream *, unsigned))                                                                           \
  F(cuStreamSynchronize, (CuStream))                                                                                  \
  F(cuStreamWaitEvent, (CuStream, CuEvent, unsigned))                                                                 \
  F(cuEventCreate, (CuEvent *, unsigned))                                                                             \
  F(cuEventRecord, (CuEvent, CuStream))                                                                               \
  F(cuEventDestroy_v2, (CuEvent))                                                                                     \
  F(cuPointerGetAttribute, (void *, int, CuDevicePointer))                                                             \
  F(cuGetErrorName, (CuResult, const char **))                                                                        \
  F(cuGetErrorString, (CuResult, const char **))

struct Driver {
#define F(name, arguments) CuResult(*name) arguments = nullptr;
  KC_CUDA_FUNCTIONS(F)
#undef F
  std::string problem; // why there is no driver; empty when there is one
};

// Loads and initialises the driver once (KC_LIBCUDA names another library than libcuda.so.1, for tests).
const Driver &driver();

// "CUDA_ERROR_INVALID_VALUE (invalid argument)"
std::string describe(CuResult result);

} // namespace kc
