// The error of the call in progress. Generated code cannot throw: it sets the error and goes on, and kc_invoke looks.
#pragma once

#include <atomic>
#include <mutex>
#include <string>

namespace kc {

class ErrorState {
public:
  // The first message wins: what fails later is mostly a consequence.
  void raise(std::string message);
  void clear() {
    raised_.store(false, std::memory_order_relaxed);
  }
  bool raised() const { return raised_.load(std::memory_order_acquire); }
  const char *message() const { return message_.c_str(); }

private:
  std::atomic<bool> raised_{false};
  std::mutex mutex_;
  std::string message_;
};

// The state that this thread reports to: its own, or that of the caller whose parallel region it works for.
ErrorState &current_error();
// Makes this thread report to another one's state (null: to its own again).
void redirect_errors(ErrorState *state);

// Clears this thread's error, then sets it: for failures of the C interface itself.
void set_last_error(std::string message);

std::string format(const char *pattern, ...) __attribute__((format(printf, 1, 2)));

} // namespace kc
