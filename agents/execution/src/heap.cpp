// The heap of the code under test: every block poisoned, between red zones or guard pages, counted, kept after its end.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <sys/mman.h>

#include "checked.h"

namespace {

constexpr int64_t kZone = 256;
constexpr int64_t kPage = 4096;
constexpr uint8_t kFreed = 0xDD;
// Freed blocks are kept so that a later use shows, but not for ever.
constexpr int64_t kKeptBytes = 256 << 20;
constexpr size_t kKeptBlocks = 1 << 16;
// Each guarded block is a mapping of its own, of which a process may have some ten thousand.
constexpr int64_t kMaxGuarded = 4096;

enum : int32_t { kRedZone = 1, kWrongFree = 2, kUseAfterFree = 4 };
enum Guard : int32_t { none, before, after };

struct Heap {
  std::map<uintptr_t, std::unique_ptr<kc::Block>> blocks; // by start
  std::deque<uintptr_t> kept;                              // freed, oldest first
  int64_t live_bytes = 0, peak = 0, kept_bytes = 0, live = 0, made = 0, guarded = 0, limit = INT64_MAX;
  int32_t seen = 0;
  uint8_t poison = 0xA5;
  Guard guard = none;
  kc::Block *last = nullptr; // that `find` gave
};

Heap heap;

bool all(const uint8_t *from, const uint8_t *to, uint8_t value) {
  return std::find_if(from, to, [value](uint8_t byte) { return byte != value; }) == to;
}

void check(const kc::Block &block) {
  if (block.kind == kc::Kind::argument || block.kind == kc::Kind::constant)
    return;
  const uint8_t *start = reinterpret_cast<const uint8_t *>(block.start), *end = start + block.size;
  const uint8_t *low = block.raw, *high = block.raw + block.raw_size;
  if (block.mapped) { // the guard pages cannot be read
    low += kPage;
    high -= kPage;
  }
  if (!all(low, start, heap.poison) || !all(end, high, heap.poison))
    heap.seen |= kRedZone;
  if (block.freed && !all(start, end, kFreed))
    heap.seen |= kUseAfterFree;
}

void release(const kc::Block &block) {
  if (block.kind == kc::Kind::argument || block.kind == kc::Kind::constant)
    return;
  if (block.mapped)
    munmap(block.raw, static_cast<size_t>(block.raw_size));
  else
    std::free(block.raw);
}

bool map_guarded(kc::Block &block, int64_t bytes, int64_t alignment) {
  int64_t body = (bytes + kPage - 1) / kPage * kPage;
  if (body == 0)
    body = kPage;
  int64_t total = body + 2 * kPage;
  void *raw = mmap(nullptr, static_cast<size_t>(total), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (raw == MAP_FAILED)
    return false;
  auto *first = static_cast<uint8_t *>(raw);
  mprotect(first, kPage, PROT_NONE);
  mprotect(first + kPage + body, kPage, PROT_NONE);
  std::memset(first + kPage, heap.poison, static_cast<size_t>(body));
  // no gap before the guard page: any element's alignment divides the size
  alignment = std::max(alignment, bytes == 0 ? 1 : std::min<int64_t>(bytes & -bytes, 64));
  int64_t slack = heap.guard == before ? 0 : (body - bytes) / alignment * alignment;
  block.start = reinterpret_cast<uintptr_t>(first + kPage + slack);
  block.raw = first;
  block.raw_size = total;
  block.mapped = true;
  ++heap.guarded;
  return true;
}

bool map_zoned(kc::Block &block, int64_t bytes, int64_t alignment) {
  int64_t unit = std::max<int64_t>(alignment, 64);
  int64_t zone = (kZone + unit - 1) / unit * unit;
  int64_t body = (bytes + unit - 1) / unit * unit;
  auto *raw = static_cast<uint8_t *>(std::aligned_alloc(static_cast<size_t>(unit), static_cast<size_t>(body + 2 * zone)));
  if (!raw)
    return false;
  std::memset(raw, heap.poison, static_cast<size_t>(body + 2 * zone));
  block.start = reinterpret_cast<uintptr_t>(raw + zone);
  block.raw = raw;
  block.raw_size = body + 2 * zone;
  block.mapped = false;
  return true;
}

void *allocate(int64_t bytes, int64_t alignment) {
  kc::Unbroken guard;
  if (bytes < 0 || bytes > heap.limit - heap.live_bytes) {
    char message[128];
    std::snprintf(message, sizeof(message), "asks for %lld bytes with %lld in use; the limit is %lld",
                  static_cast<long long>(bytes), static_cast<long long>(heap.live_bytes),
                  static_cast<long long>(heap.limit));
    kc::leave(3, message);
  }
  kc::Block block{};
  block.size = bytes;
  block.kind = kc::Kind::allocation;
  block.number = heap.made++;
  block.site = -1;
  bool use_guard = heap.guard != none && heap.guarded < kMaxGuarded;
  if (!(use_guard ? map_guarded(block, bytes, alignment) : map_zoned(block, bytes, alignment)))
    kc::leave(3, "the system has no more memory");
  heap.live_bytes += bytes;
  heap.peak = std::max(heap.peak, heap.live_bytes);
  ++heap.live;
  auto *made = reinterpret_cast<void *>(block.start);
  kc::enter(std::move(block));
  return made;
}

} // namespace

namespace kc {

Block *enter(Block block) {
  uintptr_t start = block.start;
  auto &slot = heap.blocks[start];
  slot = std::make_unique<Block>(std::move(block));
  heap.last = nullptr;
  return slot.get();
}

Block *find(uintptr_t address) {
  // one past the end belongs to the block: pointers of views of no elements stand there
  Block *last = heap.last;
  if (last && address >= last->start && address - last->start < static_cast<uintptr_t>(last->size))
    return last;
  auto next = heap.blocks.upper_bound(address);
  if (next == heap.blocks.begin())
    return nullptr;
  Block *block = std::prev(next)->second.get();
  if (address - block->start > static_cast<uintptr_t>(block->size))
    return nullptr;
  return heap.last = block;
}

int64_t blocks_made() { return heap.made; }

void not_to_be_freed(Block &block) {
  if (block.kind == Kind::allocation && !block.freed) {
    block.kind = Kind::scratch;
    --heap.live;
  }
}

} // namespace kc

KC_CHECKED_EXPORT void *_mlir_memref_to_llvm_alloc(int64_t bytes) { return allocate(bytes, 1); }
KC_CHECKED_EXPORT void *_mlir_memref_to_llvm_aligned_alloc(int64_t alignment, int64_t bytes) {
  return allocate(bytes, alignment);
}

KC_CHECKED_EXPORT void _mlir_memref_to_llvm_free(void *pointer) {
  kc::Unbroken guard;
  if (!pointer)
    return;
  auto found = heap.blocks.find(reinterpret_cast<uintptr_t>(pointer));
  if (found == heap.blocks.end() || found->second->freed || found->second->kind == kc::Kind::argument ||
      found->second->kind == kc::Kind::constant) {
    heap.seen |= kWrongFree;
    return;
  }
  kc::Block &block = *found->second;
  check(block);
  std::memset(pointer, kFreed, static_cast<size_t>(block.size));
  if (block.kind == kc::Kind::allocation)
    --heap.live;
  block.freed = true;
  heap.live_bytes -= block.size;
  heap.kept.push_back(block.start);
  heap.kept_bytes += block.size;
  while (heap.kept_bytes > kKeptBytes || heap.kept.size() > kKeptBlocks) {
    auto oldest = heap.blocks.find(heap.kept.front());
    heap.kept.pop_front();
    heap.kept_bytes -= oldest->second->size;
    check(*oldest->second);
    release(*oldest->second);
    heap.blocks.erase(oldest);
    heap.last = nullptr;
  }
}

// Starts a call: no blocks, nothing seen. `limit`: bytes that may be allocated at one time.
KC_CHECKED_EXPORT void kc_checked_begin(int32_t poison, int32_t guard, int64_t limit) {
  for (auto &entry : heap.blocks)
    release(*entry.second);
  heap = Heap();
  heap.poison = static_cast<uint8_t>(poison);
  heap.guard = static_cast<Guard>(guard);
  heap.limit = limit;
  kc::reset_shadow();
}

// What was seen until now: out = {bits of what happened, allocations that live, most bytes at one time, blocks made}.
KC_CHECKED_EXPORT void kc_checked_heap(int64_t out[4]) {
  for (auto &entry : heap.blocks)
    check(*entry.second);
  out[0] = heap.seen;
  out[1] = heap.live;
  out[2] = heap.peak;
  out[3] = heap.made;
}

// The allocation in whose guard page `address` lies, or -1.
KC_CHECKED_EXPORT int64_t kc_checked_guarded(uint64_t address) {
  for (auto &entry : heap.blocks) {
    const kc::Block &block = *entry.second;
    auto low = reinterpret_cast<uint64_t>(block.raw);
    if (block.mapped && address >= low && address < low + static_cast<uint64_t>(block.raw_size))
      return block.number;
  }
  return -1;
}
