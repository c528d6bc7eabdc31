// State of the call in progress on this thread (set by kc_invoke).
#pragma once

#include <string>

namespace kc {

// Abandons the call with an error: goes straight back to kc_invoke. For failures that generated code cannot survive
// (memory exhausted). Inside a parallel region there is no way back, and the process ends with the message.
[[noreturn]] void leave_call(const std::string &message);

} // namespace kc
