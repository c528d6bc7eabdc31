// Thread pool behind the OpenMP entry points that generated code calls.
//
// One pool for the process. A region takes the whole pool; a region that finds it taken (nested, or another Python
// thread's) runs serially on its own thread, which is always correct. Waiting threads spin for at most KC_SPIN_US
// (default 30) microseconds and then sleep on a futex: longer spinning steals the core that the work needs.
#include "threads.h"

#include <immintrin.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdarg>
#include <cstdlib>
#include <mutex>
#include <new>

#include "abi.h"
#include "error.h"
#include "kc_runtime.h"
#include "team.h"

namespace kc {
namespace {

constexpr int kMaxThreads = 256;
constexpr size_t kStack = size_t{16} << 20; // generated code may keep tiles on the stack

thread_local Member member;
thread_local int requested_threads = 0;

int environment_number(const char *name, int fallback) {
  const char *text = std::getenv(name);
  if (!text || !*text)
    return fallback;
  char *end;
  long value = std::strtol(text, &end, 10);
  return end == text || value < 0 ? fallback : static_cast<int>(std::min(value, 1000000L));
}

int team_size() {
  int threads = environment_number("KC_NUM_THREADS", 0);
  if (threads < 1)
    threads = environment_number("OMP_NUM_THREADS", 0);
  if (threads < 1) {
    cpu_set_t cpus;
    threads = sched_getaffinity(0, sizeof cpus, &cpus) == 0 ? CPU_COUNT(&cpus) : 1;
  }
  return std::clamp(threads, 1, kMaxThreads);
}

void futex_wait(std::atomic<uint32_t> &word, uint32_t value) {
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, nullptr, nullptr, 0);
}

void futex_wake(std::atomic<uint32_t> &word) {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, INT32_MAX, nullptr, nullptr, 0);
}

void run(const Team &team, int32_t thread) {
  using P = void *;
  int32_t global = thread, bound = thread;
  P const *a = team.arguments;
  void *f = team.microtask;
  switch (team.count) {
  case 0: return reinterpret_cast<void (*)(int32_t *, int32_t *)>(f)(&global, &bound);
  case 1: return reinterpret_cast<void (*)(int32_t *, int32_t *, P)>(f)(&global, &bound, a[0]);
  default: // surplus arguments are ignored by the callee (System V: caller pops)
    return reinterpret_cast<void (*)(int32_t *, int32_t *, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P)>(f)(
        &global, &bound, a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12], a[13], a[14],
        a[15]);
  }
}

class Pool {
public:
  explicit Pool(int size) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, kStack);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    for (int i = 1; i < size; ++i) {
      auto *start = new Start{this, i};
      pthread_t thread;
      if (pthread_create(&thread, &attributes, &Pool::start, start) != 0) { // out of threads: go on with fewer
        delete start;
        break;
      }
      size_ = i + 1;
    }
    pthread_attr_destroy(&attributes);
  }

  int size() const { return size_; }

  // False when another caller has the pool.
  bool execute(Team &team) {
    std::unique_lock<std::mutex> lock(busy_, std::try_to_lock);
    if (!lock.owns_lock())
      return false;
    team.error = &current_error();
    team.floating_point_state = _mm_getcsr();
    team_ = &team;
    running_.store(static_cast<uint32_t>(size_ - 1), std::memory_order_relaxed);
    generation_.fetch_add(1, std::memory_order_seq_cst);
    if (sleepers_.load(std::memory_order_seq_cst) > 0)
      futex_wake(generation_);
    work(team, 0);
    uint32_t left;
    while ((left = running_.load(std::memory_order_acquire)) != 0)
      wait_while(running_, left, &caller_sleeps_);
    return true;
  }

private:
  struct Start {
    Pool *pool;
    int thread;
  };

  static void *start(void *argument) {
    auto *start = static_cast<Start *>(argument);
    Pool *pool = start->pool;
    int thread = start->thread;
    delete start;
    for (uint32_t seen = 0;; ++seen) {
      while (pool->generation_.load(std::memory_order_acquire) == seen)
        wait_while(pool->generation_, seen, &pool->sleepers_);
      Team &team = *pool->team_;
      if (thread < team.size) {
        redirect_errors(team.error);
        _mm_setcsr(team.floating_point_state);
        work(team, thread);
        redirect_errors(nullptr);
      }
      if (pool->running_.fetch_sub(1, std::memory_order_seq_cst) == 1 &&
          pool->caller_sleeps_.load(std::memory_order_seq_cst) > 0)
        futex_wake(pool->running_);
    }
    return nullptr;
  }

  static void work(Team &team, int32_t thread) {
    Member saved = member;
    member = {&team, thread, 0};
    run(team, thread);
    member = saved;
  }

  std::mutex busy_;
  int size_ = 1;
  Team *team_ = nullptr;
  alignas(64) std::atomic<uint32_t> generation_{0};
  alignas(64) std::atomic<uint32_t> running_{0};
  alignas(64) std::atomic<uint32_t> sleepers_{0};
  std::atomic<uint32_t> caller_sleeps_{0};
};

std::atomic<Pool *> pool{nullptr};
std::mutex pool_mutex;

// The child of a fork has none of the pool's threads: it makes its own pool when it needs one.
void after_fork_in_child() {
  pool.store(nullptr, std::memory_order_relaxed);
  new (&pool_mutex) std::mutex;
  member = Member{};
}

Pool &get_pool() {
  Pool *current = pool.load(std::memory_order_acquire);
  if (current)
    return *current;
  std::lock_guard<std::mutex> lock(pool_mutex);
  current = pool.load(std::memory_order_acquire);
  if (!current) {
    static const int registered = pthread_atfork(nullptr, nullptr, after_fork_in_child);
    (void)registered;
    current = new Pool(team_size());
    pool.store(current, std::memory_order_release);
  }
  return *current;
}

void serial(Team &team) {
  Member saved = member;
  team.size = 1;
  member = {&team, 0, 0};
  run(team, 0);
  member = saved;
}

} // namespace

Member &this_member() { return member; }

void wait_while(std::atomic<uint32_t> &word, uint32_t value, std::atomic<uint32_t> *sleepers) {
  using Clock = std::chrono::steady_clock;
  static const auto limit = std::chrono::microseconds(environment_number("KC_SPIN_US", 30));
  for (auto start = Clock::now(); Clock::now() - start < limit;)
    for (int i = 0; i < 32; ++i) {
      if (word.load(std::memory_order_acquire) != value)
        return;
      _mm_pause();
    }
  if (sleepers)
    sleepers->fetch_add(1, std::memory_order_seq_cst);
  if (word.load(std::memory_order_seq_cst) == value)
    futex_wait(word, value);
  if (sleepers)
    sleepers->fetch_sub(1, std::memory_order_relaxed);
}

void wake_all(std::atomic<uint32_t> &word) { futex_wake(word); }

bool in_parallel_region() { return member.team != nullptr; }

} // namespace kc

extern "C" {

int32_t kc_num_threads(void) { return kc::get_pool().size(); }

void __kmpc_push_num_threads(void *, int32_t, int32_t threads) { kc::requested_threads = threads; }

void __kmpc_fork_call(void *, int32_t count, void *microtask, ...) {
  kc::Team team;
  team.microtask = microtask;
  team.count = count;
  if (count > kc::kMaxArguments) {
    kc_raise(kc::format("a parallel region with %d captured values; at most %d are supported", count,
                        kc::kMaxArguments).c_str());
    return;
  }
  va_list list;
  va_start(list, microtask);
  for (int i = 0; i < count; ++i)
    team.arguments[i] = va_arg(list, void *);
  va_end(list);
  int requested = kc::requested_threads;
  kc::requested_threads = 0;
  if (kc::in_parallel_region())
    return kc::serial(team);
  kc::Pool &pool = kc::get_pool();
  team.size = requested > 0 ? std::min(requested, pool.size()) : pool.size();
  if (team.size == 1 || !pool.execute(team))
    kc::serial(team);
}

int32_t __kmpc_global_thread_num(void *) { return kc::member.thread; }

} // extern "C"
