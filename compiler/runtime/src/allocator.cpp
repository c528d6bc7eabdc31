// Caching host allocator. Blocks are 64-byte aligned and come in size classes, four to a doubling (at most 25 % over
// the request). A freed block goes to its class's list and is handed out again, so a program that runs repeatedly
// touches the same pages: fresh pages cost more than most kernels that write them (8-10 ms for 64 MB).
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>

#include "abi.h"
#include "call.h"
#include "error.h"
#include "kc_runtime.h"

namespace kc {
namespace {

constexpr size_t kAlignment = 64;
constexpr uint64_t kLive = 0x6b632d6c6976652eULL;
constexpr uint64_t kKept = 0x6b632d6b6570742eULL;
constexpr size_t kSmallest = 128;              // header included
constexpr size_t kSlab = size_t{1} << 20;      // small blocks are cut from slabs of this size
constexpr size_t kOwnMapping = size_t{1} << 18; // blocks from this size on have a mapping of their own
constexpr size_t kHugePage = size_t{1} << 21;
constexpr int kClasses = 4 * 40;

// Stands in the 64 bytes before the block; `next` links kept blocks, and live ones of a call with `previous`.
struct Header {
  uint64_t state;
  int64_t size_class;
  Header *next;
  Header *previous;
  CallBlocks *call; // the call in progress that allocated it (null: none)
  char *mapping; // own mapping: where it starts (null when cut from a slab)
  size_t mapping_size;
};
static_assert(sizeof(Header) <= kAlignment, "the header must fit before the aligned block");

thread_local CallBlocks *call_blocks = nullptr;

void link(Header *header) {
  header->call = call_blocks;
  if (!call_blocks)
    return;
  auto *head = static_cast<Header *>(call_blocks->head);
  header->previous = nullptr;
  header->next = head;
  if (head)
    head->previous = header;
  call_blocks->head = header;
}

void unlink(Header *header) {
  if (!header->call)
    return;
  if (header->previous)
    header->previous->next = header->next;
  else
    header->call->head = header->next;
  if (header->next)
    header->next->previous = header->previous;
  header->call = nullptr;
}

size_t class_size(int index) { return (kSmallest + kSmallest / 4 * (index % 4)) << (index / 4); }

int class_of(size_t size) {
  if (size <= kSmallest)
    return 0;
  int power = 63 - __builtin_clzll(size);
  int index = 4 * (power - 7) + static_cast<int>((size >> (power - 2)) & 3);
  return class_size(index) < size ? index + 1 : index;
}

size_t cache_limit() {
  const char *text = std::getenv("KC_CACHE_BYTES");
  if (text && *text)
    return std::strtoull(text, nullptr, 10);
  size_t memory = static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return memory / 4;
}

class Allocator {
public:
  void *allocate(size_t bytes) {
    if (bytes > (size_t{1} << 46))
      return nullptr;
    int index = class_of(bytes + kAlignment);
    Header *header = take(index);
    if (!header)
      header = index < own_mapping_class() ? cut(index) : map(index);
    if (!header) { // give back what is kept, then try once more
      trim();
      header = map(index);
    }
    if (!header)
      return nullptr;
    header->state = kLive;
    header->call = nullptr;
    live_.fetch_add(static_cast<int64_t>(class_size(index)), std::memory_order_relaxed);
    return reinterpret_cast<char *>(header) + kAlignment;
  }

  void release(void *pointer) {
    if (!pointer)
      return;
    Header *header = reinterpret_cast<Header *>(static_cast<char *>(pointer) - kAlignment);
    if (header->state != kLive) {
      bool twice = header->state == kKept;
      std::fprintf(stderr, "kc runtime: %s of %p\n",
                   twice ? "double free" : "free of memory that the runtime did not allocate", pointer);
      std::abort();
    }
    auto size = static_cast<int64_t>(class_size(static_cast<int>(header->size_class)));
    live_.fetch_sub(size, std::memory_order_relaxed);
    header->state = kKept;
    if (header->mapping && static_cast<size_t>(kept_.load(std::memory_order_relaxed) + size) > limit_) {
      munmap(header->mapping, header->mapping_size);
      return;
    }
    kept_.fetch_add(size, std::memory_order_relaxed);
    List &list = lists_[header->size_class];
    std::lock_guard<std::mutex> lock(list.mutex);
    header->next = list.head;
    list.head = header;
  }

  void trim() {
    for (int index = own_mapping_class(); index < kClasses; ++index) {
      Header *head;
      {
        std::lock_guard<std::mutex> lock(lists_[index].mutex);
        head = lists_[index].head;
        lists_[index].head = nullptr;
      }
      while (head) {
        Header *next = head->next;
        kept_.fetch_sub(static_cast<int64_t>(class_size(index)), std::memory_order_relaxed);
        munmap(head->mapping, head->mapping_size);
        head = next;
      }
    }
  }

  void stats(int64_t out[4]) const {
    out[0] = live_.load();
    out[1] = kept_.load();
    out[2] = mappings_.load();
    out[3] = reused_.load();
  }

private:
  struct List {
    std::mutex mutex;
    Header *head = nullptr;
  };

  static int own_mapping_class() {
    static const int index = class_of(kOwnMapping);
    return index;
  }

  Header *take(int index) {
    List &list = lists_[index];
    std::lock_guard<std::mutex> lock(list.mutex);
    Header *header = list.head;
    if (!header)
      return nullptr;
    list.head = header->next;
    kept_.fetch_sub(static_cast<int64_t>(class_size(index)), std::memory_order_relaxed);
    reused_.fetch_add(1, std::memory_order_relaxed);
    return header;
  }

  static Header *place(char *at, int index, char *mapping, size_t mapping_size) {
    auto *header = reinterpret_cast<Header *>(at);
    header->size_class = index;
    header->mapping = mapping;
    header->mapping_size = mapping_size;
    return header;
  }

  Header *cut(int index) {
    size_t size = class_size(index);
    size = (size + kAlignment - 1) / kAlignment * kAlignment;
    std::lock_guard<std::mutex> lock(slab_mutex_);
    if (slab_left_ < size) { // what is left of the old slab (less than one block) stays unused
      void *memory = mmap(nullptr, kSlab, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (memory == MAP_FAILED)
        return nullptr;
      mappings_.fetch_add(1, std::memory_order_relaxed);
      slab_ = static_cast<char *>(memory);
      slab_left_ = kSlab;
    }
    Header *header = place(slab_, index, nullptr, 0);
    slab_ += size;
    slab_left_ -= size;
    return header;
  }

  Header *map(int index) {
    // From a huge page on: aligned to huge pages and advised so, which makes the first touch several times cheaper.
    size_t size = class_size(index);
    bool huge = size >= 2 * kHugePage;
    size_t mapping_size = huge ? size + kHugePage : size;
    void *memory = mmap(nullptr, mapping_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
      return nullptr;
    mappings_.fetch_add(1, std::memory_order_relaxed);
    char *mapping = static_cast<char *>(memory);
    char *start = mapping;
    if (huge) {
      auto address = reinterpret_cast<uintptr_t>(mapping);
      start = reinterpret_cast<char *>((address + kHugePage - 1) / kHugePage * kHugePage);
      madvise(start, size, MADV_HUGEPAGE);
    }
    return place(start, index, mapping, mapping_size);
  }

  List lists_[kClasses];
  std::mutex slab_mutex_;
  char *slab_ = nullptr;
  size_t slab_left_ = 0;
  std::atomic<int64_t> live_{0}, kept_{0}, mappings_{0}, reused_{0};
  const size_t limit_ = cache_limit();
};

// Never destroyed: arrays that outlive the interpreter's modules still free into it.
Allocator &allocator() {
  static auto *instance = new Allocator;
  return *instance;
}

void *allocate_or_leave(int64_t bytes) {
  void *pointer = kc_alloc(bytes);
  if (!pointer)
    leave_call(format("out of memory: the program asked for %lld bytes", static_cast<long long>(bytes)));
  link(reinterpret_cast<Header *>(static_cast<char *>(pointer) - kAlignment));
  return pointer;
}

} // namespace

CallBlocks *track_blocks(CallBlocks *blocks) {
  CallBlocks *outer = call_blocks;
  call_blocks = blocks;
  return outer;
}

void settle_blocks(CallBlocks &blocks, bool keep) {
  while (auto *header = static_cast<Header *>(blocks.head)) {
    unlink(header);
    if (!keep)
      allocator().release(reinterpret_cast<char *>(header) + kAlignment);
  }
}

} // namespace kc

extern "C" {

void *kc_alloc(int64_t bytes) { return bytes < 0 ? nullptr : kc::allocator().allocate(static_cast<size_t>(bytes)); }

void kc_free(void *pointer) { kc::allocator().release(pointer); }

void kc_allocator_stats(int64_t out[4]) { kc::allocator().stats(out); }

void kc_allocator_trim(void) { kc::allocator().trim(); }

void *kc_memref_alloc(int64_t bytes) { return kc::allocate_or_leave(bytes); }

void *kc_memref_aligned_alloc(int64_t alignment, int64_t bytes) {
  if (alignment > static_cast<int64_t>(kc::kAlignment))
    kc::leave_call(kc::format("alignment of %lld bytes asked for, at most 64 is given",
                              static_cast<long long>(alignment)));
  return kc::allocate_or_leave(bytes);
}

void kc_memref_free(void *pointer) {
  if (pointer)
    kc::unlink(reinterpret_cast<kc::Header *>(static_cast<char *>(pointer) - kc::kAlignment));
  kc_free(pointer);
}

} // extern "C"
