// The collectives that generated code calls. Each gets the text that describes the call (read_call), the operand and
// the result; all are rendezvous of a group, or messages between two processes.
#include "collective.h"

#include <cstring>

#include "abi.h"
#include "call.h"
#include "cuda_program.h"
#include "error.h"
#include "kc_runtime.h"
#include "nccl.h"

namespace kc {

int32_t device_of_call() {
  int32_t device = 0;
  void *stream;
  if (in_gpu_call())
    current_stream(&device, &stream);
  return device;
}

void *stream_of_call() {
  int32_t device;
  void *stream = nullptr;
  if (in_gpu_call())
    current_stream(&device, &stream);
  return stream;
}

Buffer buffer_of(const Array &array) { return {array.data, array.bytes(), in_gpu_call(), device_of_call()}; }

namespace {

[[noreturn]] void fail(const std::string &message) { throw ProcessFailure{message}; }

Buffer slice(const Buffer &whole, int64_t index, int64_t bytes) {
  return {static_cast<char *>(whole.data) + index * bytes, bytes, whole.on_device, whole.device};
}

// The group of the process. Ends with an error when the op wants every process in one and this one is in none.
std::vector<int> group_of(Process &self, const Call &call) {
  std::vector<int> members = self.grid->group(call, self.index);
  if (members.empty())
    fail(call.where() + ": process " + self.grid->name(self.index) + " is in none of the replica groups");
  return members;
}

int64_t position(const Process &self, const std::vector<int> &members) {
  for (size_t i = 0; i < members.size(); ++i)
    if (members[i] == self.index)
      return static_cast<int64_t>(i);
  return -1;
}

void expect(const Call &call, const char *what, int64_t given, int64_t wanted) {
  if (given != wanted)
    fail(format("%s: the %s has %lld bytes, but %lld are needed for its group", call.where().c_str(), what,
                static_cast<long long>(given), static_cast<long long>(wanted)));
}

// A meeting in which this process reads what the others have put down.
template <typename Read>
void exchange(Process &self, const Call &call, const std::vector<int> &members, const Buffer &input, Read read) {
  settle(input);
  auto meeting = self.grid->meet(self, call, members, input);
  std::string problem; // the others wait for this process to have read: it stays in any case
  try {
    read(meeting->inputs);
  } catch (const ProcessFailure &failure) {
    problem = failure.message;
  } catch (const std::exception &error) {
    problem = error.what();
  }
  self.grid->part(self, *meeting, members);
  if (!problem.empty())
    fail(problem);
}

} // namespace

void settle(const Buffer &buffer) {
  if (buffer.on_device && kc_gpu_synchronize(buffer.device, stream_of_call()))
    fail(current_error().message());
}

void copy(const Buffer &to, const Buffer &from) {
  if (to.bytes == 0)
    return;
  if (!to.on_device && !from.on_device) {
    std::memcpy(to.data, from.data, static_cast<size_t>(to.bytes));
    return;
  }
  if (to.on_device && from.on_device && to.device != from.device) { // pools are not open to other GPUs: through the host
    std::vector<char> host(static_cast<size_t>(to.bytes));
    void *stream = nullptr;
    if (kc_gpu_own_stream(from.device, &stream) ||
        kc_gpu_copy(from.device, stream, host.data(), from.data, to.bytes, 1))
      fail(current_error().message());
    copy(to, {host.data(), to.bytes, false, 0});
    return settle(to);
  }
  const int kind = !from.on_device ? 0 : !to.on_device ? 1 : 2;
  const int32_t device = to.on_device ? to.device : from.device;
  void *stream = stream_of_call();
  if (from.on_device && from.device != device_of_call()) // another process's: its own stream is for what is settled
    kc_gpu_own_stream(from.device, &stream);
  if (kc_gpu_copy(device, stream, to.data, from.data, to.bytes, kind))
    fail(current_error().message());
}

void clear(const Buffer &to) {
  if (to.on_device)
    kc_gpu_memset(to.data, 0, to.bytes);
  else if (to.bytes)
    std::memset(to.data, 0, static_cast<size_t>(to.bytes));
}

} // namespace kc

using namespace kc;

extern "C" {

int32_t kc_replica_id(void) {
  Process &self = this_process();
  return self.index / self.grid->partitions;
}

int32_t kc_partition_id(void) {
  Process &self = this_process();
  return self.index % self.grid->partitions;
}

int32_t kc_num_replicas(void) { return this_process().grid->replicas; }

int32_t kc_num_partitions(void) { return this_process().grid->partitions; }

void kc_all_gather(const int64_t *words) {
  collective(words, [&](Process &self, const Call &call) {
    const Buffer from = buffer_of(call.arrays[0]), to = buffer_of(call.arrays[1]);
    const std::vector<int> members = call.arrays.size() > 2 ? self.grid->group(call, self.index) : group_of(self, call);
    const auto size = static_cast<int64_t>(members.size());
    if (call.arrays.size() > 2) { // members of the group, and the place of this process among them (-1 in no group)
      int64_t facts[2] = {size, position(self, members)};
      copy(buffer_of(call.arrays[2]), {facts, sizeof facts, false, 0});
      settle(buffer_of(call.arrays[2]));
    }
    if (members.empty()) // collective_reduce: who is in no group has nothing to do
      return clear(to);
    if (!call.ragged || to.bytes < size * from.bytes)
      expect(call, "result", to.bytes, size * from.bytes);
    if (uses_nccl(self, from))
      return nccl_all_gather(self, call, members, from, to);
    exchange(self, call, members, from, [&](const std::vector<Buffer> &inputs) {
      for (int64_t i = 0; i < size; ++i)
        copy(slice(to, i, from.bytes), inputs[static_cast<size_t>(i)]);
      settle(to);
    });
  });
}

void kc_all_reduce(const int64_t *words) {
  collective(words, [&](Process &self, const Call &call) {
    const Buffer from = buffer_of(call.arrays[0]), to = buffer_of(call.arrays[1]);
    const std::vector<int> members = group_of(self, call);
    expect(call, "result", to.bytes, from.bytes);
    if (uses_nccl(self, from))
      return nccl_all_reduce(self, call, members, from, to);
    exchange(self, call, members, from, [&](const std::vector<Buffer> &inputs) {
      if (!to.on_device) {
        if (!reduce(call.reduction, call.dtype, to.data, inputs))
          fail(call.where() + ": the runtime has no reduction " + call.reduction + " of " + call.dtype);
        return;
      }
      // GPUs without NCCL: by way of the host, which is slow and right.
      std::vector<std::vector<char>> copies;
      std::vector<Buffer> host;
      for (const Buffer &input : inputs) {
        copies.emplace_back(static_cast<size_t>(from.bytes));
        host.push_back({copies.back().data(), from.bytes, false, 0});
        copy(host.back(), input);
      }
      std::vector<char> total(static_cast<size_t>(from.bytes));
      if (!reduce(call.reduction, call.dtype, total.data(), host))
        fail(call.where() + ": the runtime has no reduction " + call.reduction + " of " + call.dtype);
      copy(to, {total.data(), from.bytes, false, 0});
      settle(to);
    });
  });
}

// The operand is one chunk for each member, in order; the result one from each.
void kc_all_to_all(const int64_t *words) {
  collective(words, [&](Process &self, const Call &call) {
    const Buffer from = buffer_of(call.arrays[0]), to = buffer_of(call.arrays[1]);
    const std::vector<int> members = group_of(self, call);
    const auto size = static_cast<int64_t>(members.size());
    const int64_t chunk = from.bytes / size, own = position(self, members);
    expect(call, "operand", from.bytes, chunk * size);
    expect(call, "result", to.bytes, from.bytes);
    if (uses_nccl(self, from))
      return nccl_all_to_all(self, call, members, from, to);
    exchange(self, call, members, from, [&](const std::vector<Buffer> &inputs) {
      for (int64_t i = 0; i < size; ++i)
        copy(slice(to, i, chunk), slice(inputs[static_cast<size_t>(i)], own, chunk));
      settle(to);
    });
  });
}

// From the first member to all; zeros for who is in no group.
void kc_broadcast(const int64_t *words) {
  collective(words, [&](Process &self, const Call &call) {
    const Buffer from = buffer_of(call.arrays[0]), to = buffer_of(call.arrays[1]);
    const std::vector<int> members = self.grid->group(call, self.index);
    expect(call, "result", to.bytes, from.bytes);
    if (members.empty())
      return clear(to);
    if (uses_nccl(self, from))
      return nccl_broadcast(self, call, members, from, to);
    exchange(self, call, members, from, [&](const std::vector<Buffer> &inputs) {
      copy(to, inputs[0]);
      settle(to);
    });
  });
}

// The groups are pairs of source and target. Zeros for who is no target.
void kc_permute(const int64_t *words) {
  collective(words, [&](Process &self, const Call &call) {
    const Buffer from = buffer_of(call.arrays[0]), to = buffer_of(call.arrays[1]);
    expect(call, "result", to.bytes, from.bytes);
    int source = -1, target = -1;
    for (const std::vector<int> &pair : call.groups) {
      Call one = call;
      one.groups = {pair};
      const std::vector<int> members = self.grid->group(one, self.index);
      if (members.size() == 2 && members[0] == self.index)
        target = members[1];
      if (members.size() == 2 && members[1] == self.index)
        source = members[0];
    }
    auto box = [&](int sender, int receiver) {
      return format("%s/%lld/%d>%d", call.op.c_str(), static_cast<long long>(call.channel), sender, receiver);
    };
    if (source < 0)
      clear(to);
    if (source == self.index) // then it is its own target too
      return copy(to, from);
    const bool nccl = uses_nccl(self, from);
    // A message is a copy: no process waits for its target, so that rings cannot lock. For NCCL it only says that this
    // process is there.
    auto post = [&](const std::string &name) {
      Message message;
      message.where = call.where();
      message.bytes.resize(nccl ? 0 : static_cast<size_t>(from.bytes));
      if (!nccl)
        copy({message.bytes.data(), from.bytes, false, 0}, from);
      message.shape = {from.bytes};
      self.grid->post(self, name, std::move(message));
    };
    auto take = [&](int other, const std::string &name) {
      Message message = self.grid->take(self, call, name, self.grid->name(other));
      expect(call, ("operand of process " + self.grid->name(other)).c_str(), message.shape[0], to.bytes);
      return message;
    };
    if (target >= 0)
      post(box(self.index, target));
    if (nccl && source >= 0)
      post(box(self.index, source) + " ready");
    if (nccl && target >= 0)
      take(target, box(target, self.index) + " ready");
    if (source < 0)
      return nccl ? nccl_permute(self, call, source, target, from, to) : void();
    Message message = take(source, box(source, self.index));
    if (nccl)
      return nccl_permute(self, call, source, target, from, to);
    copy(to, {message.bytes.data(), to.bytes, false, 0});
    settle(to);
  });
}

} // extern "C"
