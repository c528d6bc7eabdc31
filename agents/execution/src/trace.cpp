// The trace of a run: every value that instrumented code computes, in order, and who wrote each byte last.
//
// An event is a value of a node of the code (`id` is the node's number) or an access to memory (`id` is ~site). Of a read
// `link` is the event that wrote what is read, -1 if none did in this call, and `bits` what stands there.
//
// A run may also be made with one node computing something else (a patch): whether that mends the results tells whether
// the node is at fault.
#include <cmath>
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

// What a patched node computes of its operands; `kFirst` is the first operand itself.
enum Code : int32_t {
  kFirst, kAdd, kSub, kMul, kDiv, kMax, kMin, kLess, kLessEqual, kEqual, kNotEqual, kSelect, // of any type
  kNegate, kAbs, kSqrt, kRsqrt, kExp, kLog, kTanh,                                             // of floats
  kAnd, kOr, kXor, kShiftLeft, kShiftRight, kRemainder                                         // of integers
};
// Of a node's operands: the bits of each, whether they are floats (kBrain: bf16), whether integers count as signed.
enum Form : int32_t { kFloat = 1 << 8, kSigned = 1 << 9, kNegated = 1 << 10, kBrain = 1 << 11 };
constexpr int kOperands = 3;

struct Patch {
  int64_t node;                // -1: none
  int32_t code, form;          // a Code, and the bits of a Form: kSigned, kNegated (the opposite of a comparison)
  int32_t from[kOperands];     // which operand is taken as first, second, third; 3: `constant`; from 4 on: the last value of node from - 4
  uint64_t constant;
};

Patch patch{-1, 0, 0, {0, 1, 2}, 0};
std::vector<uint64_t> last; // of each node the value computed last, when there is a patch

template <typename T> T as(uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

template <typename T> uint64_t bits_of(T value) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(value));
  return bits;
}

template <typename T> uint64_t of_floats(int32_t code, T a, T b, uint64_t condition) {
  bool nan = std::isnan(a) || std::isnan(b);
  switch (code) {
  case kAdd: return bits_of(static_cast<T>(a + b));
  case kSub: return bits_of(static_cast<T>(a - b));
  case kMul: return bits_of(static_cast<T>(a * b));
  case kDiv: return bits_of(static_cast<T>(a / b));
  case kMax: return bits_of(nan ? static_cast<T>(NAN) : a == b ? (std::signbit(a) ? b : a) : std::max(a, b));
  case kMin: return bits_of(nan ? static_cast<T>(NAN) : a == b ? (std::signbit(a) ? a : b) : std::min(a, b));
  case kLess: return a < b;
  case kLessEqual: return a <= b;
  case kEqual: return a == b;
  case kNotEqual: return a != b;
  case kSelect: return bits_of(condition & 1 ? a : b);
  case kNegate: return bits_of(-a);
  case kAbs: return bits_of(std::fabs(a));
  case kSqrt: return bits_of(std::sqrt(a));
  case kRsqrt: return bits_of(1 / std::sqrt(a));
  case kExp: return bits_of(std::exp(a));
  case kLog: return bits_of(std::log(a));
  case kTanh: return bits_of(std::tanh(a));
  default: return bits_of(a);
  }
}

template <typename T> uint64_t of_integers(int32_t code, T a, T b, uint64_t condition, int64_t width) {
  auto shift = static_cast<uint64_t>(b);
  switch (code) {
  case kAdd: return static_cast<uint64_t>(a) + static_cast<uint64_t>(b);
  case kSub: return static_cast<uint64_t>(a) - static_cast<uint64_t>(b);
  case kMul: return static_cast<uint64_t>(a) * static_cast<uint64_t>(b);
  case kDiv: return b == 0 || b == static_cast<T>(-1) ? 0 : static_cast<uint64_t>(a / b);
  case kRemainder: return b == 0 || b == static_cast<T>(-1) ? 0 : static_cast<uint64_t>(a % b);
  case kMax: return static_cast<uint64_t>(std::max(a, b));
  case kMin: return static_cast<uint64_t>(std::min(a, b));
  case kLess: return a < b;
  case kLessEqual: return a <= b;
  case kEqual: return a == b;
  case kNotEqual: return a != b;
  case kSelect: return static_cast<uint64_t>(condition & 1 ? a : b);
  case kAnd: return static_cast<uint64_t>(a & b);
  case kOr: return static_cast<uint64_t>(a | b);
  case kXor: return static_cast<uint64_t>(a ^ b);
  case kShiftLeft: return shift >= static_cast<uint64_t>(width) ? 0 : static_cast<uint64_t>(a) << shift;
  case kShiftRight: return shift >= static_cast<uint64_t>(width) ? 0 : static_cast<uint64_t>(a >> shift);
  default: return static_cast<uint64_t>(a);
  }
}

// Floats of 16 bits are computed with in f32 and rounded once.
float widened(uint64_t bits, bool brain) {
  if (brain)
    return as<float>(bits << 16);
  return static_cast<float>(as<_Float16>(bits));
}

uint64_t narrowed(float value, bool brain) {
  if (!brain)
    return bits_of(static_cast<_Float16>(value));
  uint64_t bits = bits_of(value);
  return std::isnan(value) ? 0x7FC0 : ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16) & 0xFFFF;
}

uint64_t patched(int64_t form, const uint64_t (&operands)[kOperands]) {
  uint64_t given[kOperands];
  for (int k = 0; k < kOperands; ++k) {
    int32_t from = patch.from[k];
    auto node = static_cast<size_t>(from - kOperands - 1);
    given[k] = from < kOperands ? operands[from] : from == kOperands ? patch.constant : node < last.size() ? last[node] : 0;
  }
  int64_t width = form & 0xFF;
  uint64_t made;
  bool compares = patch.code >= kLess && patch.code <= kNotEqual;
  if (form & kFloat && width == 16) {
    bool brain = form & kBrain;
    made = of_floats(patch.code, widened(given[0], brain), widened(given[1], brain), given[2]);
    made = compares ? made : narrowed(as<float>(made), brain);
  } else if (form & kFloat) {
    made = width == 32 ? of_floats(patch.code, as<float>(given[0]), as<float>(given[1]), given[2])
                       : of_floats(patch.code, as<double>(given[0]), as<double>(given[1]), given[2]);
  } else if (patch.form & kSigned) {
    auto wide = [&](uint64_t bits) { return static_cast<int64_t>(bits << (64 - width)) >> (64 - width); };
    made = of_integers(patch.code, wide(given[0]), wide(given[1]), given[2], width);
  } else {
    made = of_integers(patch.code, given[0], given[1], given[2], width);
  }
  if (compares)
    return (made & 1) ^ (patch.form & kNegated ? 1 : 0);
  return width == 64 ? made : made & ((uint64_t{1} << width) - 1);
}

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

bool patching() { return patch.node >= 0; }

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
KC_CHECKED_EXPORT void kc_shadow_value(int64_t node, uint64_t bits) {
  if (patch.node >= 0 && static_cast<size_t>(node) < last.size())
    last[static_cast<size_t>(node)] = bits;
  record(static_cast<int32_t>(node), -1, bits);
}

// The value of a node that computes numbers from numbers, to be used in place of `value`: it is that, unless the node is
// patched. `form`: a Form of the operands.
KC_CHECKED_EXPORT uint64_t kc_shadow_choose(int64_t node, int64_t form, uint64_t value, uint64_t a, uint64_t b, uint64_t c) {
  if (node == patch.node)
    value = patched(form, {a, b, c});
  kc_shadow_value(node, value);
  return value;
}

// --- called by Python --------------------------------------------------------------------------------------------

// From now on at most `limit` events of each call are kept; 0: none.
KC_CHECKED_EXPORT void kc_checked_trace(int64_t limit) {
  trace.limit = static_cast<size_t>(limit);
  trace.events.clear();
}

// Until it is called again, node `node` (-1: none) of `nodes` computes what `Patch` says.
KC_CHECKED_EXPORT void kc_checked_patch(int64_t node, int64_t nodes, int32_t code, int32_t form, const int32_t *from,
                                        uint64_t constant) {
  patch = {node, code, form, {from[0], from[1], from[2]}, constant};
  last.assign(node < 0 ? 0 : static_cast<size_t>(nodes), 0);
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
