// Reductions over the buffers of a group, element by element and in the order of the group: every member computes the
// same bits.
#include "collective.h"

#include <cstring>

namespace kc {
namespace {

constexpr int64_t kChunk = 4096; // elements: what one pass over the members keeps in the first cache

float from_bfloat(uint16_t bits) {
  uint32_t wide = static_cast<uint32_t>(bits) << 16;
  float value;
  std::memcpy(&value, &wide, sizeof value);
  return value;
}

// Round to nearest even; NaN stays NaN.
uint16_t to_bfloat(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  if (value != value)
    return static_cast<uint16_t>((bits >> 16) | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

template <typename T, typename F> void fold(void *to, const std::vector<Buffer> &inputs, F f) {
  auto *out = static_cast<T *>(to);
  const int64_t count = inputs[0].bytes / static_cast<int64_t>(sizeof(T));
  for (int64_t start = 0; start < count; start += kChunk) {
    const int64_t end = start + kChunk < count ? start + kChunk : count;
    const auto *first = static_cast<const T *>(inputs[0].data);
    for (int64_t i = start; i < end; ++i)
      out[i] = first[i];
    for (size_t member = 1; member < inputs.size(); ++member) {
      const auto *in = static_cast<const T *>(inputs[member].data);
      for (int64_t i = start; i < end; ++i)
        out[i] = static_cast<T>(f(out[i], in[i]));
    }
  }
}

// bf16 is folded in f32 and rounded once, as kc's other sums of narrow floats are.
template <typename F> void fold_bfloat(void *to, const std::vector<Buffer> &inputs, F f) {
  auto *out = static_cast<uint16_t *>(to);
  const int64_t count = inputs[0].bytes / 2;
  float total[kChunk];
  for (int64_t start = 0; start < count; start += kChunk) {
    const int64_t size = start + kChunk < count ? kChunk : count - start;
    for (size_t member = 0; member < inputs.size(); ++member) {
      const auto *in = static_cast<const uint16_t *>(inputs[member].data) + start;
      for (int64_t i = 0; i < size; ++i)
        total[i] = member ? f(total[i], from_bfloat(in[i])) : from_bfloat(in[i]);
    }
    for (int64_t i = 0; i < size; ++i)
      out[start + i] = to_bfloat(total[i]);
  }
}

bool bfloats(const std::string &reduction, void *to, const std::vector<Buffer> &inputs) {
  if (reduction == "sum")
    fold_bfloat(to, inputs, [](float a, float b) { return a + b; });
  else if (reduction == "prod")
    fold_bfloat(to, inputs, [](float a, float b) { return a * b; });
  else
    return false;
  return true;
}

// Integers wrap around: unsigned arithmetic on the bits. U is unsigned, S signed of the same width.
template <typename U, typename S>
bool integers(const std::string &reduction, bool is_signed, void *to, const std::vector<Buffer> &inputs) {
  using Wide = uint64_t;
  if (reduction == "sum")
    fold<U>(to, inputs, [](U a, U b) { return static_cast<Wide>(a) + b; });
  else if (reduction == "prod")
    fold<U>(to, inputs, [](U a, U b) { return static_cast<Wide>(a) * b; });
  else if (reduction == "min" && is_signed)
    fold<S>(to, inputs, [](S a, S b) { return a < b ? a : b; });
  else if (reduction == "max" && is_signed)
    fold<S>(to, inputs, [](S a, S b) { return a > b ? a : b; });
  else if (reduction == "min")
    fold<U>(to, inputs, [](U a, U b) { return a < b ? a : b; });
  else if (reduction == "max")
    fold<U>(to, inputs, [](U a, U b) { return a > b ? a : b; });
  else
    return false;
  return true;
}

template <typename T> bool floats(const std::string &reduction, void *to, const std::vector<Buffer> &inputs) {
  if (reduction == "sum")
    fold<T>(to, inputs, [](T a, T b) { return a + b; });
  else if (reduction == "prod")
    fold<T>(to, inputs, [](T a, T b) { return a * b; });
  else
    return false; // NCCL's minimum and maximum drop NaN, so the compiler does not ask for them
  return true;
}

} // namespace

bool reduce(const std::string &reduction, const std::string &dtype, void *to, const std::vector<Buffer> &inputs) {
  const bool is_signed = dtype[0] == 'i';
  const std::string width = dtype.substr(dtype.find_first_of("0123456789"));
  if (dtype == "f32")
    return floats<float>(reduction, to, inputs);
  if (dtype == "f64")
    return floats<double>(reduction, to, inputs);
  if (dtype == "bf16")
    return bfloats(reduction, to, inputs);
  if (width == "8")
    return integers<uint8_t, int8_t>(reduction, is_signed, to, inputs);
  if (width == "32")
    return integers<uint32_t, int32_t>(reduction, is_signed, to, inputs);
  if (width == "64")
    return integers<uint64_t, int64_t>(reduction, is_signed, to, inputs);
  return false;
}

} // namespace kc
