// memref.copy between layouts that differ: what LLVM conversion turns into a call of memrefCopy.
#include <cstring>

#include "checked.h"

struct Unranked {
  int64_t rank;
  int64_t *descriptor;
};

KC_CHECKED_EXPORT void memrefCopy(int64_t bytes, Unranked *source, Unranked *target) {
  int64_t rank = source->rank;
  const int64_t *from = source->descriptor, *to = target->descriptor, *sizes = from + 3;
  const int64_t *from_strides = sizes + rank, *to_strides = to + 3 + rank;
  for (int64_t d = 0; d < rank; ++d)
    if (sizes[d] <= 0)
      return;
  auto *read = reinterpret_cast<char *>(from[1]) + from[2] * bytes;
  auto *write = reinterpret_cast<char *>(to[1]) + to[2] * bytes;
  std::vector<int64_t> index;
  {
    kc::Unbroken guard;
    index.resize(static_cast<size_t>(rank));
  }
  for (;;) {
    std::memcpy(write, read, static_cast<size_t>(bytes));
    int64_t d = rank - 1;
    for (; d >= 0; --d) {
      auto i = static_cast<size_t>(d);
      read += from_strides[d] * bytes;
      write += to_strides[d] * bytes;
      if (++index[i] < sizes[d])
        break;
      read -= from_strides[d] * sizes[d] * bytes;
      write -= to_strides[d] * sizes[d] * bytes;
      index[i] = 0;
    }
    if (d < 0)
      return;
  }
}
