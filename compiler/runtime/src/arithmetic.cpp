#include "arithmetic.h"

#include <cstdint>
#include <cstring>

namespace {

template <typename To, typename From> To bits(From value) {
  static_assert(sizeof(To) == sizeof(From), "same size");
  To result;
  std::memcpy(&result, &value, sizeof result);
  return result;
}

float in_register(uint32_t low) { return bits<float>(low); }

// Rounds a double to a binary format of 16 bits: `fraction` bits of fraction, `exponent` bits of exponent; round to
// nearest even from the full double, so that there is one rounding only. NaN keeps its sign and becomes quiet.
uint32_t narrow(double value, int fraction, int exponent) {
  uint64_t all = bits<uint64_t>(value);
  auto sign = static_cast<uint32_t>(all >> 63) << 15;
  uint64_t magnitude = all & ~(uint64_t{1} << 63);
  const uint32_t infinity = ((1u << exponent) - 1) << fraction;
  if (magnitude > 0x7ff0000000000000ULL) {
    auto payload = static_cast<uint32_t>(magnitude >> (52 - fraction)) & ((1u << fraction) - 1);
    return sign | infinity | (1u << (fraction - 1)) | payload;
  }
  if (magnitude == 0x7ff0000000000000ULL)
    return sign | infinity;
  int power = static_cast<int>(magnitude >> 52) - 1023;
  const int bias = (1 << (exponent - 1)) - 1;
  uint64_t significand = (magnitude & ((uint64_t{1} << 52) - 1)) | (uint64_t{1} << 52);
  if (magnitude >> 52 == 0)
    return sign; // denormal doubles are far below half of the smallest number
  int shift = 52 - fraction;
  if (power < 1 - bias) // denormal result
    shift += 1 - bias - power;
  if (shift > 63)
    return sign;
  uint64_t kept = significand >> shift, rest = significand & ((uint64_t{1} << shift) - 1);
  uint64_t half = uint64_t{1} << (shift - 1);
  kept += rest > half || (rest == half && (kept & 1));
  // `kept` holds the implicit bit for normal results; adding (not or-ing) lets a carry move into the exponent.
  auto biased = power < 1 - bias ? 0u : static_cast<uint32_t>(power + bias - 1) << fraction;
  auto result = biased + static_cast<uint32_t>(kept);
  return sign | (result >= infinity ? infinity : result);
}

} // namespace

extern "C" {

float __truncdfhf2(double value) { return in_register(narrow(value, 10, 5)); }
float __truncsfhf2(float value) { return in_register(narrow(value, 10, 5)); }
float __truncdfbf2(double value) { return in_register(narrow(value, 7, 8)); }
float __truncsfbf2(float value) { return in_register(narrow(value, 7, 8)); }

float __extendhfsf2(float value) {
  uint32_t half = bits<uint32_t>(value) & 0xffff;
  uint32_t sign = (half & 0x8000) << 16, exponent = (half >> 10) & 31, fraction = half & 1023;
  if (exponent == 31)
    return bits<float>(sign | 0x7f800000u | (fraction ? 0x400000u : 0) | (fraction << 13));
  if (exponent == 0) {
    float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return bits<float>(sign | bits<uint32_t>(magnitude));
  }
  return bits<float>(sign | ((exponent + 112) << 23) | (fraction << 13));
}

} // extern "C"
