// Functions outside of a program that it calls on whole buffers: StableHLO's custom calls, and the hidden state of rng.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kc_custom_call.h"

struct kc_program;

namespace kc {

enum class CallAbi : int32_t {
  Words = 0, // int32_t (*)(const int64_t *words, int32_t device, void *stream): the trampoline into Python
  Xla = 1,   // XLA's original custom calls: void (*)(void *out, const void **in), on a GPU
             // void (*)(CUstream, void **buffers, const char *opaque, size_t opaque_size)
  Kc = 2,    // kc_custom_function
};

// One custom call of a program, with what its C function must know of the buffers.
struct CustomCall {
  struct Buffer {
    int64_t word; // where its address stands in the words of the call; the sizes follow
    int32_t type_code, type_bits;
    std::vector<int64_t> minor_to_major;
  };
  std::string target;
  CallAbi abi;
  void *function;
  std::string attributes;
  std::vector<Buffer> operands, results;
};

// The program that this thread is in a call of, for what the program's code calls; null outside of calls.
const kc_program *current_program();
void set_current_program(const kc_program *program);

} // namespace kc
