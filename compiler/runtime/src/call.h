// State of the call in progress on this thread (set by kc_invoke).
#pragma once

#include <string>

namespace kc {

// Abandons the call with an error: goes straight back to kc_invoke. For failures that generated code cannot survive
// (memory exhausted). Inside a parallel region there is no way back, and the process ends with the message.
[[noreturn]] void leave_call(const std::string &message);

// What the program has allocated in the call in progress on this thread: results when it completes, garbage when it is
// left. Blocks that worker threads of a parallel region allocate are freed by them and not listed.
struct CallBlocks {
  void *head = nullptr;
};

// From now on this thread's allocations are listed in `blocks` (null: nowhere); returns where they were listed before.
CallBlocks *track_blocks(CallBlocks *blocks);
// Empties the list; frees what is in it unless `keep`.
void settle_blocks(CallBlocks &blocks, bool keep);

} // namespace kc
