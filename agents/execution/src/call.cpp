// A call of generated code that ends in a report, whatever the code does: bad addresses, traps, aborts, endless loops.
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <pthread.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "checked.h"

namespace {

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP};
constexpr int kCount = sizeof(kSignals) / sizeof(kSignals[0]);
constexpr size_t kHandlerStack = 64 << 10;
// Accesses below the stack pointer that still count as the stack's: a frame may be as large.
constexpr uintptr_t kNearStack = 1 << 20;

struct Report {
  int32_t code; // 0: came to its end, 1: signal, 2: time, 3: allocation over the limit, 4: a check of the code failed
  int32_t signal;
  uint64_t address;
  int32_t write; // of a bad access: 1 if it was a write
  int32_t stack; // 1: the stack pointer has left the stack
  char message[256];
};

sigjmp_buf landing;
Report *report;
volatile sig_atomic_t running, unbroken, expired;
uintptr_t stack_low, stack_high;
alignas(16) char handler_stack[kHandlerStack];

int timer_signal() { return SIGRTMIN + 5; }

void set_message(const char *text) { std::snprintf(report->message, sizeof(report->message), "%s", text); }

void on_fault(int number, siginfo_t *info, void *context) {
  if (!running) { // not of the call: as if nobody had asked
    std::signal(number, SIG_DFL);
    raise(number);
    return;
  }
  auto *registers = static_cast<ucontext_t *>(context)->uc_mcontext.gregs;
  auto pointer = static_cast<uintptr_t>(registers[REG_RSP]);
  report->code = 1;
  report->signal = number;
  report->address = reinterpret_cast<uint64_t>(info->si_addr);
  report->write = number == SIGSEGV && (registers[REG_ERR] & 2) != 0;
  bool below = pointer < stack_low + kHandlerStack;
  bool near = report->address + kNearStack > pointer && report->address < pointer + kNearStack;
  report->stack = number == SIGSEGV && (below || (near && report->address < stack_low + kHandlerStack));
  running = 0;
  siglongjmp(landing, 1);
}

void on_time(int, siginfo_t *, void *) {
  if (!running)
    return;
  if (unbroken) {
    expired = 1;
    return;
  }
  kc::leave(2, "");
}

// Where the stack of this thread lies, asked only when the thread changes: for the first thread of a
// process the answer takes a reading of all its mappings.
void find_stack() {
  static bool known = false;
  static pthread_t thread;
  if (known && pthread_equal(thread, pthread_self()))
    return;
  known = true;
  thread = pthread_self();
  pthread_attr_t attributes;
  void *low = nullptr;
  size_t size = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    pthread_attr_getstack(&attributes, &low, &size);
    pthread_attr_destroy(&attributes);
  }
  stack_low = reinterpret_cast<uintptr_t>(low);
  stack_high = stack_low + size;
}

// A timer on this thread's CPU time, so that a busy machine does not make a call late. False: there is none.
bool start_timer(double seconds, timer_t *id) {
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = timer_signal();
  event._sigev_un._tid = static_cast<pid_t>(syscall(SYS_gettid));
  if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, id))
    return false;
  itimerspec when{};
  when.it_value.tv_sec = static_cast<time_t>(seconds);
  when.it_value.tv_nsec = static_cast<long>((seconds - static_cast<double>(when.it_value.tv_sec)) * 1e9) + 1;
  timer_settime(*id, 0, &when, nullptr);
  return true;
}

} // namespace

namespace kc {

void leave(int32_t code, const char *message) {
  if (!running) {
    std::fprintf(stderr, "%s\n", message);
    std::abort();
  }
  report->code = code;
  set_message(message);
  running = 0;
  siglongjmp(landing, 1);
}

uintptr_t stack_top() { return stack_high; }

Unbroken::Unbroken() { ++unbroken; }
Unbroken::~Unbroken() {
  if (--unbroken == 0 && expired)
    leave(2, "");
}

} // namespace kc

// Calls function(arguments) for at most `seconds` of CPU time.
KC_CHECKED_EXPORT void kc_checked_call(void *function, void **arguments, double seconds, Report *out) {
  std::memset(out, 0, sizeof(*out));
  report = out;
  find_stack();
  stack_t alternate{}, previous_stack{};
  alternate.ss_sp = handler_stack;
  alternate.ss_size = kHandlerStack;
  sigaltstack(&alternate, &previous_stack);
  struct sigaction action{}, before[kCount], before_timer{};
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  action.sa_sigaction = on_fault;
  for (int i = 0; i < kCount; ++i)
    sigaction(kSignals[i], &action, &before[i]);
  action.sa_sigaction = on_time;
  sigaction(timer_signal(), &action, &before_timer);
  expired = unbroken = 0;
  timer_t timer{};
  const bool timed = start_timer(seconds, &timer);
  if (sigsetjmp(landing, 1) == 0) { // no destructor may be skipped by the jump back
    running = 1;
    reinterpret_cast<void (*)(void **)>(function)(arguments);
    running = 0;
  }
  if (timed)
    timer_delete(timer);
  for (int i = 0; i < kCount; ++i)
    sigaction(kSignals[i], &before[i], nullptr);
  signal(timer_signal(), SIG_IGN); // drops one that is pending
  sigaction(timer_signal(), &before_timer, nullptr);
  sigaltstack(&previous_stack, nullptr);
}

// A check of sizes or an assertion of the code under test that failed: {0} and {1} in the text stand for a and b.
KC_CHECKED_EXPORT void kc_fail_check(const char *text, int64_t a, int64_t b) {
  char message[256];
  size_t used = 0;
  for (const char *at = text; *at && used + 24 < sizeof(message); ++at) {
    if (at[0] == '{' && (at[1] == '0' || at[1] == '1') && at[2] == '}') {
      used += static_cast<size_t>(std::snprintf(message + used, 24, "%lld", static_cast<long long>(at[1] == '0' ? a : b)));
      at += 2;
    } else {
      message[used++] = *at;
    }
  }
  message[used] = 0;
  kc::leave(4, message);
}

KC_CHECKED_EXPORT void kc_raise(const char *message) { kc::leave(4, message); }
