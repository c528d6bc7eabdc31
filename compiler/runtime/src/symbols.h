#pragma once

#include <string>

namespace kc {

// Address of what generated code may call under this name, or null. Only names in the table resolve: whatever else the
// process has loaded stays out of reach, so a program that loads here loads everywhere.
void *find_host_symbol(const std::string &name, bool device_memory);

} // namespace kc
