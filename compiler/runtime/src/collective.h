// What the collectives share: how they read a member's buffer, and the reductions that the runtime does itself.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "grid.h"

namespace kc {

// A buffer of the call in progress: on its GPU, or in host memory.
Buffer buffer_of(const Array &array);
// Where the call in progress runs: its GPU and stream (0 and null on the CPU).
int32_t device_of_call();
void *stream_of_call();
// Waits until what was queued on the buffer's stream is done, so that another thread may read it (host memory: no-op).
void settle(const Buffer &buffer);
// Copies from any process's buffer into one of this call. Ends with ProcessFailure when the driver refuses.
void copy(const Buffer &to, const Buffer &from);
void clear(const Buffer &to);

// to = inputs[0] op inputs[1] op ..., in this order, on host memory. False: no such reduction.
bool reduce(const std::string &reduction, const std::string &dtype, void *to, const std::vector<Buffer> &inputs);

} // namespace kc
