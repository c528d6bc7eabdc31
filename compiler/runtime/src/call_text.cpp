// The text by which the compiler describes a collective.
#include <cstdlib>

#include "grid.h"

#include "call.h"
#include "error.h"

namespace kc {
namespace {

// "0,1|2,-1"
std::vector<std::vector<int>> read_groups(const std::string &text) {
  std::vector<std::vector<int>> groups;
  if (text.empty())
    return groups;
  groups.emplace_back();
  const char *at = text.c_str();
  while (*at) {
    char *end;
    groups.back().push_back(static_cast<int>(std::strtol(at, &end, 10)));
    if (*end == '|')
      groups.emplace_back();
    at = *end ? end + 1 : end;
  }
  return groups;
}

} // namespace

Call read_call(const int64_t *words) {
  Call call;
  const auto *text = reinterpret_cast<const char *>(words + 1);
  const int64_t *counts = words + 1 + words[0], *at_array = counts + 1 + 2 * counts[0];
  for (int64_t i = 0; i < counts[0]; ++i) {
    const int64_t item = counts[1 + 2 * i], rank = counts[2 + 2 * i];
    call.arrays.push_back({reinterpret_cast<void *>(at_array[0]), item, rank, at_array + 1});
    at_array += 1 + rank;
  }
  for (const char *at = text; *at;) {
    const char *equals = at;
    while (*equals && *equals != '=')
      ++equals;
    const std::string key(at, equals);
    const char *value = *equals ? equals + 1 : equals, *end = value;
    if (key == "place") { // the last: a path may hold anything
      call.place = value;
      break;
    }
    while (*end && *end != ';')
      ++end;
    const std::string field(value, end);
    if (key == "op")
      call.op = field;
    else if (key == "type")
      call.type = field;
    else if (key == "strategy")
      call.strategy = field;
    else if (key == "reduction")
      call.reduction = field;
    else if (key == "dtype")
      call.dtype = field;
    else if (key == "channel")
      call.channel = std::atoll(field.c_str());
    else if (key == "part")
      call.part = std::atoll(field.c_str());
    else if (key == "parts")
      call.parts = std::atoll(field.c_str());
    else if (key == "host")
      call.host = field == "1";
    else if (key == "ragged")
      call.ragged = field == "1";
    else if (key == "groups")
      call.groups = read_groups(field);
    at = *end ? end + 1 : end;
  }
  return call;
}

void note_failure(const ProcessFailure &failure) { current_error().raise(failure.message); }

void leave_failed_call() { leave_call(std::string()); }

} // namespace kc
