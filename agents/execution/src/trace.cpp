// The trace of a run: every value that instrumented code computes, in order, and who wrote each byte last.
//
// An event is a value of a node of the code (`id` is the node's number) or an access to memory (`id` is ~site). Of a read
// `link` is the event that wrote what is read, -1 if none did in this call, and `bits` what stands there.
#include <cstring>

#include "trace.h"

namespace {

struct Event {
  int32_t id, link;
  uint64_t bits;
};

struct Trace {
  std::vector<Event> events;
  size_t limit = 0; // 0: nothing is recorded
};

Trace trace;

int64_t record(int32_t id, int32_t link, uint64_t bits) {
  if (trace.events.size() >= trace.limit)
    return -1;
  if (trace.events.size() == trace.events.capacity()) {
    kc::Unbroken guard;
    trace.events.reserve(trace.events.capacity() * 2 + 1024);
  }
  trace.events.push_back({id, link, bits});
  return static_cast<int64_t>(trace.events.size()) - 1;
}

} // namespace

namespace kc {

bool tracing() { return trace.limit != 0; }

void reset_trace() { trace.events.clear(); }

void trace_access(bool reads, bool writes, int32_t site, Block &block, int64_t offset, int64_t size, int64_t element) {
  if (block.writers.empty() && block.size) {
    Unbroken guard;
    block.writers.assign(static_cast<size_t>(block.size), 0);
  }
  element = element > 0 ? element : 1;
  for (int64_t at = offset; at < offset + size; at += element) {
    int64_t count = std::min(element, offset + size - at), event = -1;
    if (reads) {
      uint64_t bits = 0;
      auto *from = reinterpret_cast<const void *>(block.start + static_cast<uintptr_t>(at));
      std::memcpy(&bits, from, static_cast<size_t>(std::min<int64_t>(count, sizeof(bits))));
      event = record(~site, static_cast<int32_t>(block.writers[static_cast<size_t>(at)]) - 1, bits);
    }
    if (writes) {
      event = reads ? event : record(~site, -1, 0);
      for (int64_t byte = at; byte < at + count; ++byte)
        block.writers[static_cast<size_t>(byte)] = static_cast<uint32_t>(event + 1);
    }
  }
}

} // namespace kc

// A value of node `node`: its bits, in the low ones of a word. Vectors tell of their lanes one after the other.
KC_CHECKED_EXPORT void kc_shadow_value(int64_t node, uint64_t bits) { record(static_cast<int32_t>(node), -1, bits); }

// --- called by Python --------------------------------------------------------------------------------------------

// From now on at most `limit` events of each call are kept; 0: none.
KC_CHECKED_EXPORT void kc_checked_trace(int64_t limit) {
  trace.limit = static_cast<size_t>(limit);
  trace.events.clear();
}

// The number of events of this call; `*first` is the first, until the next call begins.
KC_CHECKED_EXPORT int64_t kc_checked_events(const void **first) {
  *first = trace.events.data();
  return static_cast<int64_t>(trace.events.size());
}

// The event that wrote the byte at `address` last; -1 if none did.
KC_CHECKED_EXPORT int64_t kc_checked_writer(uintptr_t address) {
  kc::Block *block = kc::find(address);
  if (!block || block->writers.empty() || address - block->start >= static_cast<uintptr_t>(block->size))
    return -1;
  return static_cast<int64_t>(block->writers[address - block->start]) - 1;
}
