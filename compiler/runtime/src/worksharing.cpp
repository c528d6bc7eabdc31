// Loops, barriers and critical sections inside a parallel region (the __kmpc_ entry points other than the fork).
#include <algorithm>
#include <mutex>
#include <type_traits>

#include "abi.h"
#include "team.h"

namespace kc {
namespace {

// Schedule numbers of the OpenMP ABI (kmp.h); the modifier bits are above them.
enum Schedule : int32_t { kStaticChunked = 33, kModifiers = 3 << 29 };

int32_t size_of_team() { return this_member().team ? this_member().team->size : 1; }

std::recursive_mutex critical_mutex;

// Gives this thread its share of [lower, upper] (inclusive bounds, `increment` != 0). Without iterations left for it
// the thread gets upper = lower - increment, which the generated code counts as none.
template <typename T>
void static_init(int32_t schedule, int32_t *last, T *lower, T *upper, std::make_signed_t<T> *stride,
                 std::make_signed_t<T> increment, std::make_signed_t<T> chunk) {
  using U = std::make_unsigned_t<T>;
  auto threads = static_cast<U>(size_of_team());
  auto thread = static_cast<U>(this_member().thread);
  auto step = static_cast<U>(increment);
  U first = static_cast<U>(*lower), end = static_cast<U>(*upper);
  // A loop without iterations arrives as upper = lower - increment: the count below is then 0 by wrap-around, also for
  // the unsigned form (0 .. 2^n - 1).
  U span = increment > 0 ? end - first : first - end;
  U magnitude = increment > 0 ? step : U(0) - step;
  bool none = increment > 0 ? *upper < *lower : *upper > *lower;
  U count = none ? 0 : span / magnitude + 1;
  U begin, size;
  if ((schedule & ~kModifiers) == kStaticChunked) {
    U each = chunk > 0 ? static_cast<U>(chunk) : 1;
    begin = thread * each;
    size = each; // the generated code clamps the last chunk and advances by the stride
    *stride = static_cast<std::make_signed_t<T>>(each * threads * step);
    U chunks = count / each + (count % each != 0);
    *last = chunks != 0 && (chunks - 1) % threads == thread;
    if (count == 0)
      size = 0;
  } else {
    U quotient = count / threads, rest = count % threads;
    begin = thread * quotient + std::min(thread, rest);
    size = quotient + (thread < rest);
    *stride = static_cast<std::make_signed_t<T>>(count * step);
    *last = size != 0 && begin + size == count;
  }
  *lower = static_cast<T>(first + begin * step);
  *upper = static_cast<T>(first + (begin + size) * step - step);
}

DynamicLoop &slot(Team &team, uint64_t loop) { return team.loops[loop % kLoopsInFlight]; }

void dispatch_init(uint64_t lower, uint64_t upper, uint64_t step, uint64_t chunk) {
  Member &member = this_member();
  Team &team = *member.team;
  uint64_t loop = ++member.loop;
  DynamicLoop &shared = slot(team, loop);
  // The slot may still serve the loop kLoopsInFlight before this one.
  auto turn = static_cast<uint32_t>((loop - 1) / kLoopsInFlight);
  for (uint32_t now; (now = shared.free_for.load(std::memory_order_acquire)) < turn;)
    wait_while(shared.free_for, now, nullptr);
  std::lock_guard<std::mutex> lock(shared.mutex);
  if (shared.loop == loop)
    return;
  shared.loop = loop;
  shared.first = lower;
  shared.step = step;
  shared.chunk = std::max<uint64_t>(chunk, 1);
  shared.iterations = upper < lower ? 0 : (upper - lower) / step + 1;
  shared.next.store(0, std::memory_order_relaxed);
  shared.left.store(team.size, std::memory_order_relaxed);
}

// The next chunk in inclusive bounds, or false when this thread is through with the loop.
bool dispatch_next(int32_t *last, uint64_t *lower, uint64_t *upper, uint64_t *stride) {
  Team &team = *this_member().team;
  DynamicLoop &shared = slot(team, this_member().loop);
  uint64_t begin = shared.next.load(std::memory_order_relaxed), end;
  do {
    if (begin >= shared.iterations) {
      if (shared.left.fetch_sub(1, std::memory_order_acq_rel) == 1) {
        shared.free_for.fetch_add(1, std::memory_order_release);
        wake_all(shared.free_for);
      }
      return false;
    }
    end = begin + std::min(shared.chunk, shared.iterations - begin);
  } while (!shared.next.compare_exchange_weak(begin, end, std::memory_order_relaxed));
  *lower = shared.first + begin * shared.step;
  *upper = shared.first + (end - 1) * shared.step;
  *stride = shared.step;
  if (last)
    *last = end == shared.iterations;
  return true;
}

} // namespace
} // namespace kc

extern "C" {

void __kmpc_for_static_init_4(void *, int32_t, int32_t schedule, int32_t *last, int32_t *lower, int32_t *upper,
                              int32_t *stride, int32_t increment, int32_t chunk) {
  kc::static_init(schedule, last, lower, upper, stride, increment, chunk);
}

void __kmpc_for_static_init_4u(void *, int32_t, int32_t schedule, int32_t *last, uint32_t *lower, uint32_t *upper,
                               int32_t *stride, int32_t increment, int32_t chunk) {
  kc::static_init(schedule, last, lower, upper, stride, increment, chunk);
}

void __kmpc_for_static_init_8(void *, int32_t, int32_t schedule, int32_t *last, int64_t *lower, int64_t *upper,
                              int64_t *stride, int64_t increment, int64_t chunk) {
  kc::static_init(schedule, last, lower, upper, stride, increment, chunk);
}

void __kmpc_for_static_init_8u(void *, int32_t, int32_t schedule, int32_t *last, uint64_t *lower, uint64_t *upper,
                               int64_t *stride, int64_t increment, int64_t chunk) {
  kc::static_init(schedule, last, lower, upper, stride, increment, chunk);
}

void __kmpc_for_static_fini(void *, int32_t) {}

void __kmpc_dispatch_init_4u(void *, int32_t, int32_t, uint32_t lower, uint32_t upper, int32_t step, int32_t chunk) {
  kc::dispatch_init(lower, upper, static_cast<uint64_t>(step), static_cast<uint64_t>(std::max(chunk, 1)));
}

void __kmpc_dispatch_init_8u(void *, int32_t, int32_t, uint64_t lower, uint64_t upper, int64_t step, int64_t chunk) {
  kc::dispatch_init(lower, upper, static_cast<uint64_t>(step), static_cast<uint64_t>(std::max<int64_t>(chunk, 1)));
}

int32_t __kmpc_dispatch_next_4u(void *, int32_t, int32_t *last, uint32_t *lower, uint32_t *upper, int32_t *stride) {
  uint64_t first, end, step;
  if (!kc::dispatch_next(last, &first, &end, &step))
    return 0;
  *lower = static_cast<uint32_t>(first);
  *upper = static_cast<uint32_t>(end);
  *stride = static_cast<int32_t>(step);
  return 1;
}

int32_t __kmpc_dispatch_next_8u(void *, int32_t, int32_t *last, uint64_t *lower, uint64_t *upper, int64_t *stride) {
  uint64_t step;
  if (!kc::dispatch_next(last, lower, upper, &step))
    return 0;
  *stride = static_cast<int64_t>(step);
  return 1;
}

void __kmpc_dispatch_fini_4u(void *, int32_t) {}
void __kmpc_dispatch_fini_8u(void *, int32_t) {}
void __kmpc_dispatch_deinit(void *, int32_t) {}

void __kmpc_barrier(void *, int32_t) {
  kc::Team *team = kc::this_member().team;
  if (!team || team->size == 1)
    return;
  uint32_t generation = team->barrier_generation.load(std::memory_order_acquire);
  if (team->arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == static_cast<uint32_t>(team->size)) {
    team->arrived.store(0, std::memory_order_relaxed);
    team->barrier_generation.fetch_add(1, std::memory_order_acq_rel);
    kc::wake_all(team->barrier_generation);
    return;
  }
  while (team->barrier_generation.load(std::memory_order_acquire) == generation)
    kc::wait_while(team->barrier_generation, generation, nullptr);
}

// One lock for every critical section and reduction: they are rare and short in generated code.
void __kmpc_critical(void *, int32_t, void *) { kc::critical_mutex.lock(); }
void __kmpc_end_critical(void *, int32_t, void *) { kc::critical_mutex.unlock(); }

// 1 means "combine your own value now, you hold the lock": each thread of the team does so in turn.
int32_t __kmpc_reduce_nowait(void *, int32_t, int32_t, uint64_t, void *, void *, void *) {
  kc::critical_mutex.lock();
  return 1;
}
void __kmpc_end_reduce_nowait(void *, int32_t, void *) { kc::critical_mutex.unlock(); }
int32_t __kmpc_reduce(void *, int32_t, int32_t, uint64_t, void *, void *, void *) {
  kc::critical_mutex.lock();
  return 1;
}
void __kmpc_end_reduce(void *location, int32_t thread, void *) {
  kc::critical_mutex.unlock();
  __kmpc_barrier(location, thread);
}

} // extern "C"
