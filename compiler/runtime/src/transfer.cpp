// send, recv, infeed and outfeed: messages through the boxes of the grid. A message is a copy, so no sender waits.
#include <cstring>

#include "abi.h"
#include "collective.h"
#include "error.h"

namespace kc {
namespace {

void need_host(const Process &self, const Call &call) {
  if (!self.grid->has_host)
    throw ProcessFailure{call.where() + " talks to the host: call the program with run_parallel, which has infeed, "
                                        "outfeed and channels"};
}

// The other end of a transfer between devices, by its pairs of source and target; -1 when the pairs leave it open.
int partner(Process &self, const Call &call, bool sends) {
  Call one = call;
  one.strategy = self.grid->partitions > 1 ? "cross_partition" : "cross_replica";
  for (const std::vector<int> &pair : call.groups) {
    one.groups = {pair};
    const std::vector<int> members = self.grid->group(one, self.index);
    if (members.size() == 2 && members[sends ? 0 : 1] == self.index)
      return members[sends ? 1 : 0];
  }
  return -1;
}

std::string channel_box(const Call &call) {
  return format("channel %lld", static_cast<long long>(call.channel));
}

std::string device_box(const Call &call, int source, int target) {
  return channel_box(call) + format("/%d>%d", source, target);
}

std::string type_of(const std::string &dtype, const std::vector<int64_t> &shape) {
  std::string text = dtype + "[";
  for (size_t d = 0; d < shape.size(); ++d)
    text += (d ? ", " : "") + std::to_string(shape[d]);
  return text + "]";
}

void fill(const Call &call, Message &message) {
  const Array &array = call.arrays[0];
  const Buffer to = buffer_of(array);
  const std::vector<int64_t> shape(array.sizes, array.sizes + array.rank);
  const bool known = !message.type.empty(); // infeed functions of a program do not say
  if (static_cast<int64_t>(message.bytes.size()) != to.bytes ||
      (known && (message.type != call.type || message.shape != shape)))
    throw ProcessFailure{format("%s wants %s, but the next message is %s%s%s", call.where().c_str(),
                                type_of(call.type, shape).c_str(),
                                known ? type_of(message.type, message.shape).c_str()
                                      : format("%zu bytes", message.bytes.size()).c_str(),
                                message.where.empty() ? "" : " from ", message.where.c_str())};
  copy(to, {message.bytes.data(), to.bytes, false, 0});
  settle(to);
}

Message make_message(const Call &call) {
  const Array &array = call.arrays[0];
  const Buffer from = buffer_of(array);
  Message message;
  message.type = call.type;
  message.where = call.where();
  message.shape.assign(array.sizes, array.sizes + array.rank);
  message.part = call.part;
  message.parts = call.parts;
  message.bytes.resize(static_cast<size_t>(from.bytes));
  copy({message.bytes.data(), from.bytes, false, 0}, from);
  settle(from);
  return message;
}

} // namespace
} // namespace kc

using namespace kc;

extern "C" {

void kc_send(const int64_t *words) {
  collective(words, [&](Process &self, const Call &call) {
    Message message = make_message(call);
    if (call.host || call.groups.empty()) {
      need_host(self, call);
      return self.grid->post(self, channel_box(call), std::move(message));
    }
    const int target = partner(self, call, true);
    if (target >= 0) // who is no source in the pairs sends nothing
      self.grid->post(self, device_box(call, self.index, target), std::move(message));
  });
}

void kc_recv(const int64_t *words) {
  collective(words, [&](Process &self, const Call &call) {
    if (call.host || call.groups.empty()) {
      need_host(self, call);
      Message message = self.grid->take(self, call, channel_box(call), "a message on " + channel_box(call));
      return fill(call, message);
    }
    const int source = partner(self, call, false);
    if (source < 0) // who is no target in the pairs gets zeros, as in collective_permute
      return clear(buffer_of(call.arrays[0]));
    Message message = self.grid->take(self, call, device_box(call, source, self.index), self.grid->name(source));
    fill(call, message);
  });
}

void kc_infeed(const int64_t *words) {
  collective(words, [&](Process &self, const Call &call) {
    need_host(self, call);
    Message message;
    // A queue of the process's own comes first.
    if (!self.grid->take_for_host(format("infeed/%d", self.index), message) &&
        !self.grid->take_for_host("infeed", message))
      throw ProcessFailure{call.where() + ": the infeed is empty; give run_parallel as many arrays as are read"};
    fill(call, message);
  });
}

void kc_outfeed(const int64_t *words) {
  collective(words, [&](Process &self, const Call &call) {
    need_host(self, call);
    self.grid->post(self, "outfeed", make_message(call));
  });
}

} // extern "C"
