// Per-device state of the process: primary context, memory pool, the runtime's own stream.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda_driver.h"

namespace kc {

struct Device {
  int32_t ordinal = 0;
  CuDevice device = 0;
  CuContext context = nullptr;
  CuStream own_stream = nullptr;
  CuPool pool = nullptr; // null: stream-ordered allocation is not supported here
};

// Null, with the thread's error set, when there is no such device.
Device *get_device(int32_t ordinal);

// Makes the device's primary context current for the scope, and gives the caller's back.
class ContextScope {
public:
  explicit ContextScope(const Device &device);
  ~ContextScope();
  ContextScope(const ContextScope &) = delete;
  ContextScope &operator=(const ContextScope &) = delete;

private:
  CuContext previous_ = nullptr;
  bool changed_ = false;
};

// Sets the thread's error and gives false on a failure.
bool check(CuResult result, const char *what);

// Both need the context to be current. Null, with the error set, when memory is exhausted.
void *device_allocate(const Device &device, CuStream stream, size_t bytes);
bool device_free(const Device &device, CuStream stream, void *pointer);

} // namespace kc
