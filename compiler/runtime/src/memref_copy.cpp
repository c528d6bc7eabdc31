// memref.copy between layouts that differ: what LLVM conversion turns into a call of memrefCopy.
#include <cstdint>
#include <cstring>
#include <vector>

#include "abi.h"

namespace {

// Calls copy(to, from, bytes) for each run of elements that is contiguous on both sides.
template <typename Copy>
void for_each_run(int64_t item_size, kc_unranked_memref *from, kc_unranked_memref *to, Copy copy) {
  int64_t rank = from->rank;
  auto *source = static_cast<int64_t *>(from->descriptor);
  auto *target = static_cast<int64_t *>(to->descriptor);
  const int64_t *sizes = source + 3, *source_strides = sizes + rank, *target_strides = target + 3 + rank;
  auto *read = reinterpret_cast<char *>(source[1]) + source[2] * item_size;
  auto *write = reinterpret_cast<char *>(target[1]) + target[2] * item_size;
  for (int64_t d = 0; d < rank; ++d)
    if (sizes[d] == 0)
      return;
  int64_t run = item_size, outer = rank;
  for (int64_t expected = 1; outer > 0; --outer) {
    int64_t d = outer - 1;
    if (sizes[d] != 1 && (source_strides[d] != expected || target_strides[d] != expected))
      break;
    expected *= sizes[d];
    run *= sizes[d];
  }
  std::vector<int64_t> index(static_cast<size_t>(outer), 0);
  for (;;) {
    copy(write, read, run);
    int64_t d = outer - 1;
    for (; d >= 0; --d) {
      auto i = static_cast<size_t>(d);
      read += source_strides[d] * item_size;
      write += target_strides[d] * item_size;
      if (++index[i] < sizes[d])
        break;
      read -= source_strides[d] * item_size * sizes[d];
      write -= target_strides[d] * item_size * sizes[d];
      index[i] = 0;
    }
    if (d < 0)
      return;
  }
}

} // namespace

extern "C" {

void kc_memref_copy(int64_t item_size, kc_unranked_memref *from, kc_unranked_memref *to) {
  for_each_run(item_size, from, to, [](char *write, const char *read, int64_t bytes) {
    std::memmove(write, read, static_cast<size_t>(bytes));
  });
}

// Right, not fast: a copy per run. Programs that copy much between layouts have kernels for it.
void kc_gpu_memref_copy(int64_t item_size, kc_unranked_memref *from, kc_unranked_memref *to) {
  for_each_run(item_size, from, to, [](char *write, char *read, int64_t bytes) {
    kc_gpu_memcpy_d2d(write, read, bytes);
  });
}

} // extern "C"
