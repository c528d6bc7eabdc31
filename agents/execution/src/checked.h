// libkc_checked.so: what code under test runs on. A heap of its own, a call that survives faults, shadow memory.
//
// One call at a time and one thread: everything is state of the process. Sizes and offsets are in bytes unless an
// argument says elements. Names that start with kc_checked_ are for Python (ctypes), the rest for generated code.
#pragma once

#include <cstdint>
#include <vector>

#define KC_CHECKED_EXPORT extern "C" __attribute__((visibility("default")))

namespace kc {

enum class Kind : int32_t { argument, allocation, scratch, constant };

// Who touched a byte: the iteration (a node of the tree of parallel iterations; 0: nobody) and the site in the code.
struct Touch {
  uint32_t node;
  int32_t site;
};
struct Cell {
  Touch writer, reader, atomic;
};

// Of each byte of a block.
enum : uint8_t { kValid = 1, kInitialised = 2 };

// Memory that code may touch. `number`: of the argument, or of the allocation in order.
struct Block {
  uintptr_t start;
  int64_t size;
  Kind kind;
  int64_t number;
  int64_t site; // of the op that made it, -1 if unknown
  bool read_only, freed;
  // the mapping or allocation that holds it, with red zones
  uint8_t *raw;
  int64_t raw_size;
  bool mapped;
  std::vector<uint8_t> state; // per byte, of what an instrumented run touched
  std::vector<Cell> cells;    // per byte, of what parallel loops touched
  std::vector<uint32_t> writers; // per byte, one more than the event of a trace that wrote it last; 0: none did
};

// The block that `address` points into or just behind; null if there is none.
Block *find(uintptr_t address);
// Takes a block into the table of those that `find` knows.
Block *enter(Block block);
// Takes an allocation out of the count of those that must be freed: it stands for one on the stack.
void not_to_be_freed(Block &block);

// Ends the call in progress; `code` as in kc_checked_fault.
[[noreturn]] void leave(int32_t code, const char *message);

// While one lives, the timer does not end the call: the heap would be left in pieces.
struct Unbroken {
  Unbroken();
  ~Unbroken();
};

// Blocks that the heap has handed out in this call.
int64_t blocks_made();

void reset_shadow();

// Just above the stack of the thread that makes the call.
uintptr_t stack_top();

} // namespace kc
