#include "error.h"

#include <cstdarg>
#include <cstdio>
#include <utility>
#include <vector>

#include "abi.h"
#include "kc_runtime.h"

namespace kc {
namespace {
thread_local ErrorState own_error;
thread_local ErrorState *redirected = nullptr;
} // namespace

void ErrorState::raise(std::string message) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (raised_.load(std::memory_order_relaxed))
    return;
  message_ = std::move(message);
  raised_.store(true, std::memory_order_release);
}

ErrorState &current_error() { return redirected ? *redirected : own_error; }

void redirect_errors(ErrorState *state) { redirected = state; }

void set_last_error(std::string message) {
  ErrorState &state = current_error();
  state.clear();
  state.raise(std::move(message));
}

std::string format(const char *pattern, ...) {
  va_list arguments;
  va_start(arguments, pattern);
  va_list again;
  va_copy(again, arguments);
  int size = std::vsnprintf(nullptr, 0, pattern, arguments);
  va_end(arguments);
  std::vector<char> text(static_cast<size_t>(size) + 1);
  std::vsnprintf(text.data(), text.size(), pattern, again);
  va_end(again);
  return std::string(text.data(), static_cast<size_t>(size));
}

} // namespace kc

extern "C" {

int32_t kc_abi_version(void) { return KC_ABI_VERSION; }

const char *kc_last_error(void) { return kc::current_error().message(); }

void kc_raise(const char *message) { kc::current_error().raise(message ? message : "unknown error"); }

} // extern "C"
