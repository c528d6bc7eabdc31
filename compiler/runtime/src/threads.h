#pragma once

namespace kc {

// True on any thread that is executing a parallel region.
bool in_parallel_region();

} // namespace kc
