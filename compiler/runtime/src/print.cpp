// interpreter.print: an array on the standard output, as StableHLO's reference interpreter writes it.
#include <cstdio>
#include <cstring>
#include <mutex>

#include "abi.h"
#include "collective.h"
#include "error.h"

namespace kc {
namespace {

template <typename T> T read(const char *at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

// One element; types narrower than f32 come as f32 (the compiler converts them).
std::string number(const std::string &dtype, const char *at) {
  if (dtype == "i1")
    return *at ? "true" : "false";
  if (dtype == "f64")
    return format("%e", read<double>(at));
  if (dtype == "f32")
    return format("%e", static_cast<double>(read<float>(at)));
  if (dtype == "complex64")
    return format("[%e, %e]", static_cast<double>(read<float>(at)), static_cast<double>(read<float>(at + 4)));
  if (dtype == "complex128")
    return format("[%e, %e]", read<double>(at), read<double>(at + 8));
  const bool is_signed = dtype[0] == 'i';
  const std::string bits = dtype.substr(is_signed ? 1 : 2);
  if (bits == "64")
    return is_signed ? std::to_string(read<int64_t>(at)) : std::to_string(read<uint64_t>(at));
  if (bits == "32")
    return is_signed ? std::to_string(read<int32_t>(at)) : std::to_string(read<uint32_t>(at));
  if (bits == "16")
    return is_signed ? std::to_string(read<int16_t>(at)) : std::to_string(read<uint16_t>(at));
  return is_signed ? std::to_string(read<int8_t>(at)) : std::to_string(read<uint8_t>(at));
}

void print(std::string &text, const Call &call, const Array &array, int64_t axis, const char *&at, int indent) {
  if (axis == array.rank - 1) {
    text += std::string(static_cast<size_t>(indent), ' ') + "[";
    for (int64_t i = 0; i < array.sizes[axis]; ++i, at += array.item)
      text += (i ? ", " : "") + number(call.dtype, at);
    text += "]";
    return;
  }
  text += std::string(static_cast<size_t>(indent), ' ') + "[\n";
  for (int64_t i = 0; i < array.sizes[axis]; ++i) {
    print(text, call, array, axis + 1, at, indent + 2);
    text += i + 1 < array.sizes[axis] ? ",\n" : "\n";
  }
  text += std::string(static_cast<size_t>(indent), ' ') + "]";
}

} // namespace
} // namespace kc

extern "C" void kc_print(const int64_t *words) {
  using namespace kc;
  collective(words, [](Process &, const Call &call) {
    const Array &array = call.arrays[0];
    const Buffer from = buffer_of(array);
    std::vector<char> host(static_cast<size_t>(from.bytes));
    copy({host.data(), from.bytes, false, 0}, from);
    const char *at = host.data();
    std::string text = call.type + " {";
    if (array.rank == 0) {
      text += number(call.dtype, at) + "}\n";
    } else {
      text += "\n";
      print(text, call, array, 0, at, 2);
      text += "\n}\n";
    }
    static std::mutex mutex; // one array at a time
    std::lock_guard<std::mutex> lock(mutex);
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
  });
}
