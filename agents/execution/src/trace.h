// What shadow memory tells the trace of a run (trace.cpp).
#pragma once

#include <algorithm>

#include "checked.h"

namespace kc {

// Whether events are recorded.
bool tracing();
// Whether a node computes something else than the code says: then an access to a wrong place ends the call.
bool patching();
// Forgets the events of the last call.
void reset_trace();
// An access of `size` bytes at `offset` of a block, `element` bytes each; what reads and writes is told of once.
void trace_access(bool reads, bool writes, int32_t site, Block &block, int64_t offset, int64_t size, int64_t element);

} // namespace kc
