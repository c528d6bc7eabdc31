// A parallel region in execution, and a thread's place in it.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include "error.h"

namespace kc {

constexpr int kMaxArguments = 16;
// Loops of one region that may be in flight at once (a thread may run ahead through nowait loops).
constexpr int kLoopsInFlight = 8;

// A dynamically scheduled loop. `loop` counts the region's loops from 1; the threads of loop n share the slot
// n % kLoopsInFlight.
struct DynamicLoop {
  std::mutex mutex;
  std::atomic<uint32_t> free_for{0}; // number of loops this slot has finished
  uint64_t loop = 0;                 // set up for this one (under the mutex)
  std::atomic<uint64_t> next{0};     // next iteration to hand out, counted from 0
  uint64_t iterations = 0;
  uint64_t chunk = 1;
  uint64_t first = 0; // bounds as the program counts them
  uint64_t step = 1;
  std::atomic<int32_t> left{0}; // threads that have not finished it
};

struct Team {
  int32_t size = 1;
  int32_t count = 0;
  void *microtask = nullptr;
  void *arguments[kMaxArguments] = {};
  ErrorState *error = nullptr;
  uint32_t floating_point_state = 0;
  alignas(64) std::atomic<uint32_t> arrived{0};
  std::atomic<uint32_t> barrier_generation{0};
  DynamicLoop loops[kLoopsInFlight];
};

struct Member {
  Team *team = nullptr; // null outside regions
  int32_t thread = 0;
  uint64_t loop = 0; // dynamic loops begun in this region
};

Member &this_member();

// Returns at the latest when `word` is no longer `value` (it may return earlier); spins, then sleeps.
// `sleepers`, if given, counts those asleep, so that the waker can save the system call.
void wait_while(std::atomic<uint32_t> &word, uint32_t value, std::atomic<uint32_t> *sleepers);
void wake_all(std::atomic<uint32_t> &word);

} // namespace kc
