// A call of code that no compiler wrote, by the System V convention for x86-64 ("System V Application Binary Interface,
// AMD64 Architecture Processor Supplement", 3.2), which is checked: callee-saved registers, the stack pointer and what
// lies above the frame, the direction flag, the control bits of MXCSR, the control word and the stack of the x87 unit.
#include <cstddef>
#include <cstdio>
#include <cstring>

#include "checked.h"

namespace {

constexpr int64_t kAbove = 512; // bytes above the arguments on the stack that must stay as they are
constexpr uint8_t kFill = 0x5A;
constexpr uint64_t kSentinel = 0x5EED5EED00000000;
constexpr uint32_t kMxcsrControl = 0xFFC0, kDirection = 0x400, kNoX87 = 0xFFFF;

} // namespace

// What is called, and how. `stack`: the words that are passed there, lowest address first.
struct Machine {
  const void *function;
  int64_t integers[6];
  uint64_t floats[8][2]; // the second word: what stands above a float in its register
  int64_t stacked;
  const int64_t *stack;
  uint64_t poison; // what stands where nobody wrote: on the stack, and in registers that hold no argument
};
static_assert(offsetof(Machine, floats) == 56 && offsetof(Machine, stacked) == 184 && offsetof(Machine, poison) == 200);

// What the assembly below leaves behind.
struct After {
  uint64_t saved[6]; // rbx, rbp, r12 to r15
  uint64_t stack, expected_stack;
  uint64_t flags;
  uint32_t mxcsr, mxcsr_before;
  uint16_t x87_control, x87_control_before;
  uint32_t padding;
  uint8_t x87[28]; // as fnstenv writes it: control, status, tag word, four bytes each
  uint32_t padding2;
  uint64_t own_stack; // of the caller
  const uint8_t *above;
};
static_assert(offsetof(After, stack) == 48 && offsetof(After, flags) == 64 && offsetof(After, mxcsr) == 72 &&
              offsetof(After, x87_control) == 80 && offsetof(After, x87) == 88 && offsetof(After, own_stack) == 120 &&
              offsetof(After, above) == 128);

extern "C" {
extern __attribute__((visibility("hidden"))) After kc_machine_after;
void kc_machine_enter(const Machine *machine);
void kc_machine_extern();
[[noreturn]] void kc_machine_bad_call(uint64_t what);
}

// kc_machine_enter: rdi is the Machine. Everything that must survive is kept in kc_machine_after, not on the stack.
// kc_machine_extern: stands before each function that the code calls; r11 is the function. See `kc_checked_extern`.
asm(R"(
  .text
  .p2align 4
  .hidden kc_machine_enter
  .globl kc_machine_enter
  .type kc_machine_enter, @function
kc_machine_enter:
  pushq %rbx
  pushq %rbp
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  leaq kc_machine_after(%rip), %rbx
  movq %rsp, 120(%rbx)
  stmxcsr 76(%rbx)
  fnstcw 82(%rbx)
  movq %rdi, %r12
  subq $512, %rsp
  andq $-16, %rsp
  movq %rsp, 128(%rbx)
  movq %rsp, %rdi
  movabsq $0x5A5A5A5A5A5A5A5A, %rax
  movl $64, %ecx
  cld
  rep stosq
  leaq -65536(%rsp), %rdi
  movq 200(%r12), %rax
  movl $8192, %ecx
  rep stosq
  movq 184(%r12), %rcx
  leaq 1(%rcx), %rax
  andq $-2, %rax
  shlq $3, %rax
  subq %rax, %rsp
  movq %rsp, %rdi
  movq 192(%r12), %rsi
  rep movsq
  movq %rsp, 56(%rbx)
  movups 56(%r12), %xmm0
  movups 72(%r12), %xmm1
  movups 88(%r12), %xmm2
  movups 104(%r12), %xmm3
  movups 120(%r12), %xmm4
  movups 136(%r12), %xmm5
  movups 152(%r12), %xmm6
  movups 168(%r12), %xmm7
  movq 200(%r12), %xmm8
  punpcklqdq %xmm8, %xmm8
  movaps %xmm8, %xmm9
  movaps %xmm8, %xmm10
  movaps %xmm8, %xmm11
  movaps %xmm8, %xmm12
  movaps %xmm8, %xmm13
  movaps %xmm8, %xmm14
  movaps %xmm8, %xmm15
  movq 200(%r12), %r10
  movq 0(%r12), %r11
  movq 8(%r12), %rdi
  movq 16(%r12), %rsi
  movq 24(%r12), %rdx
  movq 32(%r12), %rcx
  movq 40(%r12), %r8
  movq 48(%r12), %r9
  movabsq $0x5EED5EED00000000, %rax
  leaq 1(%rax), %rbp
  leaq 2(%rax), %r12
  leaq 3(%rax), %r13
  leaq 4(%rax), %r14
  leaq 5(%rax), %r15
  movq %rax, %rbx
  movq %r10, %rax
  call *%r11
  movq %rbx, kc_machine_after+0(%rip)
  movq %rbp, kc_machine_after+8(%rip)
  leaq kc_machine_after(%rip), %rbx
  movq %r12, 16(%rbx)
  movq %r13, 24(%rbx)
  movq %r14, 32(%rbx)
  movq %r15, 40(%rbx)
  movq %rsp, 48(%rbx)
  movq 120(%rbx), %rsp
  pushfq
  popq 64(%rbx)
  cld
  stmxcsr 72(%rbx)
  ldmxcsr 76(%rbx)
  fnstcw 80(%rbx)
  fnstenv 88(%rbx)
  fninit
  fldcw 82(%rbx)
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbp
  popq %rbx
  ret
  .size kc_machine_enter, .-kc_machine_enter

  .p2align 4
  .hidden kc_machine_extern
  .globl kc_machine_extern
  .type kc_machine_extern, @function
kc_machine_extern:
  pushq %r11
  testb $15, %spl
  jnz 1f
  pushfq
  testl $0x400, (%rsp)
  jnz 2f
  stmxcsr (%rsp)
  movl (%rsp), %r11d
  andl $0xFFC0, %r11d
  cmpl $0x1F80, %r11d
  jne 3f
  popq %r11
  popq %r11
  jmp *%r11
1: xorl %edi, %edi
  jmp 4f
2: movl $1, %edi
  jmp 4f
3: movl $2, %edi
4: cld
  andq $-16, %rsp
  call kc_machine_bad_call
  .size kc_machine_extern, .-kc_machine_extern
)");

After kc_machine_after;

void kc_machine_bad_call(uint64_t what) {
  static const char *const messages[] = {"calls a function with a stack pointer that is not aligned to 16 bytes",
                                         "calls a function while the direction flag is set",
                                         "calls a function with another MXCSR than it was given"};
  const uint32_t usual = 0x1F80;
  asm volatile("ldmxcsr %0" : : "m"(usual));
  kc::leave(5, messages[what]);
}

// What stands before each function outside that the code calls: jumps to r11, when the call keeps the convention.
KC_CHECKED_EXPORT const void *kc_checked_extern() { return reinterpret_cast<const void *>(&kc_machine_extern); }

// The call, for kc_checked_call: `arguments` is a Machine.
KC_CHECKED_EXPORT void kc_checked_machine(void **arguments) {
  static const char *const names[] = {"rbx", "rbp", "r12", "r13", "r14", "r15"};
  kc_machine_enter(reinterpret_cast<const Machine *>(arguments));
  const After &after = kc_machine_after;
  char message[200];
  message[0] = 0;
  uint16_t tags;
  std::memcpy(&tags, after.x87 + 8, sizeof tags);
  for (uint64_t i = 0; i < 6 && !message[0]; ++i)
    if (after.saved[i] != kSentinel + i)
      std::snprintf(message, sizeof message, "does not give back register %s, which is its caller's", names[i]);
  if (!message[0] && after.stack != after.expected_stack)
    std::snprintf(message, sizeof message, "returns with the stack pointer %lld bytes from where it was",
                  static_cast<long long>(after.stack - after.expected_stack));
  for (int64_t i = 0; i < kAbove && !message[0]; ++i)
    if (after.above[i] != kFill)
      std::snprintf(message, sizeof message, "writes into the frame of its caller");
  if (!message[0] && (after.flags & kDirection))
    std::snprintf(message, sizeof message, "returns with the direction flag set");
  if (!message[0] && ((after.mxcsr ^ after.mxcsr_before) & kMxcsrControl))
    std::snprintf(message, sizeof message,
                  "returns with other control bits in MXCSR (rounding, flushing of denormals, traps): 0x%04X, not 0x%04X",
                  after.mxcsr & kMxcsrControl, after.mxcsr_before & kMxcsrControl);
  if (!message[0] && after.x87_control != after.x87_control_before)
    std::snprintf(message, sizeof message, "returns with another x87 control word");
  if (!message[0] && tags != kNoX87)
    std::snprintf(message, sizeof message, "leaves values on the x87 stack (emms is missing)");
  if (message[0])
    kc::leave(5, message);
}
