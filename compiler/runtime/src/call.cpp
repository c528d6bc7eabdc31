// Programs and calls: the part of the C interface that Python goes through for every call.
#include "call.h"

#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <immintrin.h>
#include <vector>

#include "abi.h"
#include "error.h"
#include "kc_runtime.h"
#include "program.h"
#include "threads.h"

namespace kc {
namespace {

thread_local jmp_buf *way_back = nullptr;

// IEEE arithmetic whatever the caller's process has set (flush-to-zero is per thread): exceptions masked, to nearest.
constexpr unsigned kDefaultFloatingPoint = 0x1f80;

// memref.get_global gives this as the allocation pointer.
constexpr uint64_t kGlobalBase = 0xdeadbeef;

// Reader of the layout array of kc_invoke.
struct Layout {
  explicit Layout(const int64_t *words)
      : program(reinterpret_cast<kc_program *>(words[0])), function(reinterpret_cast<void (*)(void **)>(words[1])),
        arguments(words[2]), results(words[3]), at(words + 4) {}
  kc_program *program;
  void (*function)(void **);
  int64_t arguments, results;
  const int64_t *at;
};

int64_t words_of(int64_t rank) { return rank < 0 ? 2 : 3 + 2 * rank; }

bool is_contiguous(const int64_t *sizes, const int64_t *strides, int64_t rank) {
  int64_t expected = 1;
  for (int64_t d = rank - 1; d >= 0; --d) {
    if (sizes[d] != 1 && strides[d] != expected)
      return false;
    expected *= sizes[d];
  }
  return true;
}

// Whether the callee does not hand over a buffer of its own: it returned an argument, a constant, or one buffer twice.
bool is_borrowed(const kc_program &program, const int64_t *result, const int64_t *data, int64_t arguments,
                 const std::vector<int64_t> &owned) {
  auto base = static_cast<uint64_t>(result[0]);
  if (base == 0 || base == kGlobalBase || program.image.contains(reinterpret_cast<void *>(result[1])))
    return true;
  for (int64_t i = 0; i < arguments; ++i)
    if (static_cast<uint64_t>(data[i]) == base)
      return true;
  for (int64_t other : owned)
    if (static_cast<uint64_t>(other) == base)
      return true;
  return false;
}

// Replaces a borrowed result by a copy that the caller can own.
bool make_own(const kc_program &program, int64_t *result, int64_t rank, int64_t item_size, int32_t device,
              void *stream) {
  int64_t *sizes = result + 3, *strides = sizes + rank;
  int64_t bytes = item_size;
  for (int64_t d = 0; d < rank; ++d)
    bytes *= sizes[d];
  if (bytes != 0 && !is_contiguous(sizes, strides, rank)) {
    current_error().raise("the program returned a strided view of a buffer that it does not own");
    return false;
  }
  auto *from = reinterpret_cast<const char *>(result[1]) + result[2] * item_size;
  void *copy = program.device_memory ? kc_gpu_alloc(device, stream, bytes) : kc_alloc(bytes);
  if (!copy) {
    current_error().raise(format("out of memory: a result of %lld bytes", static_cast<long long>(bytes)));
    return false;
  }
  result[0] = result[1] = reinterpret_cast<int64_t>(copy);
  result[2] = 0;
  if (bytes == 0)
    return true;
  if (!program.device_memory)
    std::memcpy(copy, from, static_cast<size_t>(bytes));
  else if (program.image.contains(from))
    return kc_gpu_copy(device, stream, copy, from, bytes, 0) == 0;
  else
    return kc_gpu_copy(device, stream, copy, from, bytes, 2) == 0;
  return true;
}

// Hands the results over, or on an error frees what the callee allocated.
int32_t finish(kc_program &program, Layout layout, int64_t *descriptors, const int64_t *data, int64_t *out,
               int32_t device, void *stream) {
  std::vector<int64_t> owned;
  bool failed = current_error().raised();
  int64_t *result = descriptors;
  for (int64_t i = 0; i < layout.results; ++i) {
    int64_t rank = *layout.at++, item_size = *layout.at++;
    if (rank < 0) {
      out[0] = result[0];
      out[1] = result[1];
      out += 2;
      result += 2;
      continue;
    }
    bool borrowed = is_borrowed(program, result, data, layout.arguments, owned);
    if (!failed && borrowed)
      failed = !make_own(program, result, rank, item_size, device, stream);
    if (!failed || !borrowed)
      owned.push_back(result[0]);
    *out++ = result[0];
    *out++ = result[1] + result[2] * item_size;
    *out++ = is_contiguous(result + 3, result + 3 + rank, rank);
    for (int64_t d = 0; d < 2 * rank; ++d)
      *out++ = result[3 + d];
    result += words_of(rank);
  }
  if (!failed)
    return 0;
  for (int64_t base : owned)
    if (program.device_memory)
      kc_gpu_free(device, stream, reinterpret_cast<void *>(base));
    else
      kc_free(reinterpret_cast<void *>(base));
  return 1;
}

// Runs the entry point. No object with a destructor may live in this frame: leave_call jumps out of it.
bool enter(void (*function)(void **), void **arguments) {
  jmp_buf here;
  jmp_buf *const outer = way_back;
  const unsigned floating_point = _mm_getcsr();
  volatile bool completed = false;
  CallBlocks blocks;
  CallBlocks *const outer_blocks = track_blocks(&blocks);
  if (_setjmp(here) == 0) {
    way_back = &here;
    _mm_setcsr(kDefaultFloatingPoint);
    function(arguments);
    completed = true;
  }
  _mm_setcsr(floating_point);
  way_back = outer;
  track_blocks(outer_blocks);
  settle_blocks(blocks, completed);
  return completed;
}

} // namespace

void leave_call(const std::string &message) {
  current_error().raise(message);
  if (!way_back || in_parallel_region()) {
    std::fprintf(stderr, "kc runtime: %s (in a parallel region, cannot go on)\n", message.c_str());
    std::abort();
  }
  longjmp(*way_back, 1);
}

} // namespace kc

extern "C" {

kc_program *kc_program_load(const void *const *objects, const int64_t *sizes, const char *const *names, int64_t count,
                            int32_t device_memory) {
  try {
    std::vector<kc::ObjectBytes> bytes;
    for (int64_t i = 0; i < count; ++i)
      bytes.push_back({static_cast<const uint8_t *>(objects[i]), static_cast<size_t>(sizes[i]), names[i]});
    return new kc_program(bytes, device_memory != 0);
  } catch (const std::exception &error) {
    kc::set_last_error(error.what());
    return nullptr;
  }
}

void kc_program_unload(kc_program *program) { delete program; }

void *kc_program_symbol(kc_program *program, const char *name) { return program->image.symbol(name); }

void kc_fail_check(const char *text, int64_t a, int64_t b) {
  std::string message = text;
  for (auto [mark, number] : {std::pair{"{0}", a}, std::pair{"{1}", b}})
    if (size_t at = message.find(mark); at != std::string::npos)
      message.replace(at, 3, std::to_string(number));
  kc::leave_call(message);
}

int32_t kc_invoke(const int64_t *layout_words, int64_t *data) {
  kc::current_error().clear();
  kc::Layout layout(layout_words);
  kc_program *program = layout.program;
  auto device = static_cast<int32_t>(data[layout.arguments]);
  auto *stream = reinterpret_cast<void *>(data[layout.arguments + 1]);
  // Descriptors of arguments then results, one after another.
  int64_t words = 0;
  const int64_t *at = layout.at;
  for (int64_t i = 0; i < layout.arguments; ++i) {
    int64_t rank = *at++;
    words += rank < 0 ? 0 : kc::words_of(rank);
    at += rank < 0 ? 0 : 2 * rank;
  }
  for (int64_t i = 0; i < layout.results; ++i, at += 2)
    words += kc::words_of(*at);
  constexpr int64_t kInline = 512;
  int64_t inline_words[kInline];
  void *inline_arguments[kInline / 4];
  std::vector<int64_t> many_words;
  std::vector<void *> many_arguments;
  int64_t *storage = inline_words;
  void **arguments = inline_arguments;
  if (words > kInline || layout.arguments + layout.results > kInline / 4) {
    many_words.resize(static_cast<size_t>(words));
    many_arguments.resize(static_cast<size_t>(layout.arguments + layout.results));
    storage = many_words.data();
    arguments = many_arguments.data();
  }
  int64_t *next = storage;
  for (int64_t i = 0; i < layout.arguments; ++i) {
    int64_t rank = *layout.at++;
    if (rank < 0) {
      arguments[i] = reinterpret_cast<void *>(data[i]);
      continue;
    }
    arguments[i] = next;
    next[0] = next[1] = data[i];
    next[2] = 0;
    std::memcpy(next + 3, layout.at, static_cast<size_t>(2 * rank) * sizeof(int64_t));
    layout.at += 2 * rank;
    next += kc::words_of(rank);
  }
  int64_t *results = next;
  at = layout.at;
  for (int64_t i = 0; i < layout.results; ++i, at += 2) {
    arguments[layout.arguments + i] = next;
    std::memset(next, 0, static_cast<size_t>(kc::words_of(*at)) * sizeof(int64_t));
    next += kc::words_of(*at);
  }
  if (program->device_memory && !program->device.begin_call(device, stream))
    return 1;
  const kc_program *outer = kc::current_program();
  kc::set_current_program(program);
  bool completed = kc::enter(layout.function, arguments);
  kc::set_current_program(outer);
  if (program->device_memory)
    program->device.end_call(completed);
  if (!completed)
    return 1;
  return kc::finish(*program, layout, results, data, data + layout.arguments + 2, device, stream);
}

} // extern "C"
