#include "host_calls.h"

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <sys/random.h>

#include "abi.h"
#include "call.h"
#include "error.h"
#include "kc_runtime.h"
#include "program.h"

namespace kc {
namespace {

thread_local const kc_program *current = nullptr;

void *address(const int64_t *words, const CustomCall::Buffer &buffer) {
  return reinterpret_cast<void *>(words[buffer.word]);
}

void call_xla(const CustomCall &call, const int64_t *words, void *stream, bool device_memory) {
  std::vector<void *> in, out;
  for (const auto &buffer : call.operands)
    in.push_back(address(words, buffer));
  for (const auto &buffer : call.results)
    out.push_back(address(words, buffer));
  if (device_memory) {
    in.insert(in.end(), out.begin(), out.end());
    using Function = void (*)(void *, void **, const char *, size_t);
    reinterpret_cast<Function>(call.function)(stream, in.data(), call.attributes.data(), call.attributes.size());
    return;
  }
  using Function = void (*)(void *, const void **);
  void *results = out.size() == 1 ? out[0] : static_cast<void *>(out.data());
  reinterpret_cast<Function>(call.function)(results, const_cast<const void **>(in.data()));
}

std::string call_kc(const CustomCall &call, const int64_t *words, void *stream) {
  // Sizes in the words are those of the buffer in memory; dims are the logical ones.
  std::vector<std::vector<int64_t>> dims;
  std::vector<kc_buffer> buffers;
  dims.reserve(call.operands.size() + call.results.size());
  for (const auto *list : {&call.operands, &call.results})
    for (const auto &buffer : *list) {
      auto rank = static_cast<int64_t>(buffer.minor_to_major.size());
      std::vector<int64_t> sizes(static_cast<size_t>(rank));
      for (int64_t i = 0; i < rank; ++i)
        sizes[static_cast<size_t>(buffer.minor_to_major[static_cast<size_t>(i)])] = words[buffer.word + rank - i];
      dims.push_back(std::move(sizes));
      buffers.push_back({address(words, buffer), buffer.type_code, buffer.type_bits, rank, dims.back().data(),
                         buffer.minor_to_major.data()});
    }
  char message[1024] = "";
  kc_call frame = {1,
                   static_cast<int32_t>(call.operands.size()),
                   static_cast<int32_t>(call.results.size()),
                   buffers.data(),
                   buffers.data() + call.operands.size(),
                   call.attributes.c_str(),
                   static_cast<int64_t>(call.attributes.size()),
                   stream,
                   message,
                   sizeof message};
  int32_t status = reinterpret_cast<kc_custom_function *>(call.function)(&frame);
  if (status == 0)
    return {};
  message[sizeof message - 1] = 0;
  return message[0] ? message : format("it returned %d", status);
}

} // namespace

const kc_program *current_program() { return current; }

void set_current_program(const kc_program *program) { current = program; }

namespace {

// The state of rng: a key, and how many draws were made with it. One for the process, so that programs do not repeat
// each other's numbers.
struct RandomState {
  std::mutex mutex;
  bool seeded = false;
  uint64_t key = 0, draws = 0;
};

RandomState &random_state() {
  static RandomState state;
  return state;
}

uint64_t first_key() {
  if (const char *text = std::getenv("KC_SEED"); text && *text)
    return std::strtoull(text, nullptr, 0);
  uint64_t key = 0;
  if (getrandom(&key, sizeof key, 0) != sizeof key)
    current_error().raise("the system gives no random numbers: set KC_SEED or call kc.runtime.seed");
  return key;
}

} // namespace
} // namespace kc

extern "C" {

int32_t kc_program_add_call(kc_program *program, const char *target, int32_t abi, void *function,
                            const char *attributes, int64_t attributes_size, int64_t operands, int64_t results,
                            const int64_t *buffers) {
  kc::CustomCall call{target, static_cast<kc::CallAbi>(abi), function,
                      std::string(attributes, static_cast<size_t>(attributes_size)), {}, {}};
  for (int64_t i = 0; i < operands + results; ++i) {
    kc::CustomCall::Buffer buffer{buffers[0], static_cast<int32_t>(buffers[1]), static_cast<int32_t>(buffers[2]), {}};
    int64_t rank = buffers[3];
    buffer.minor_to_major.assign(buffers + 4, buffers + 4 + rank);
    buffers += 4 + rank;
    (i < operands ? call.operands : call.results).push_back(std::move(buffer));
  }
  program->calls.push_back(std::move(call));
  return 0;
}

void kc_fail(const char *message) { kc::set_last_error(message); }

void kc_custom_call(const int64_t *words) {
  using namespace kc;
  if (current_error().raised())
    return;
  const kc_program *program = current_program();
  if (!program) { // a thread of a parallel loop: custom calls stand outside of those
    current_error().raise("custom call outside of a call of a program");
    return;
  }
  auto index = static_cast<size_t>(words[0]);
  if (index >= program->calls.size()) {
    current_error().raise(format("custom call %zu of %zu", index, program->calls.size()));
    return;
  }
  const CustomCall &call = program->calls[index];
  int32_t device = 0;
  void *stream = nullptr;
  if (program->device_memory && !current_stream(&device, &stream))
    return;
  switch (call.abi) {
  case CallAbi::Words: {
    using Function = int32_t (*)(const int64_t *, int32_t, void *);
    if (reinterpret_cast<Function>(call.function)(words, device, stream) == 0)
      current_error().clear(); // of a program that the function called and whose error it dealt with
    else
      current_error().raise("custom call '" + call.target + "' failed");
    break;
  }
  case CallAbi::Xla:
    call_xla(call, words, stream, program->device_memory);
    break;
  case CallAbi::Kc:
    if (std::string message = call_kc(call, words, stream); !message.empty())
      current_error().raise("custom call '" + call.target + "' failed: " + message);
    break;
  }
  if (current_error().raised())
    leave_call(current_error().message()); // a loop that waits for what the call would have computed must not go on
}

void kc_random_seed(uint64_t seed) {
  kc::RandomState &state = kc::random_state();
  std::lock_guard<std::mutex> lock(state.mutex);
  state.seeded = true;
  state.key = seed;
  state.draws = 0;
}

// words: address of two u64 for the result. A draw has the key and a counter whose upper half is its own.
void kc_random_state(const int64_t *words) {
  uint64_t drawn[2];
  {
    kc::RandomState &state = kc::random_state();
    std::lock_guard<std::mutex> lock(state.mutex);
    if (!state.seeded) {
      state.key = kc::first_key();
      state.seeded = true;
    }
    drawn[0] = state.key;
    drawn[1] = state.draws++ << 32;
  }
  auto *to = reinterpret_cast<void *>(words[0]);
  const kc_program *program = kc::current_program();
  if (program && program->device_memory)
    kc_gpu_memcpy_h2d(to, drawn, sizeof drawn);
  else
    std::memcpy(to, drawn, sizeof drawn);
}

} // extern "C"
