#include "nccl.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>

#include "collective.h"
#include "cuda_program.h"
#include "error.h"
#include "kc_runtime.h"

namespace kc {
namespace {

using Comm = void *;
using Result = int;

// The part of NCCL's interface (nccl.h, version 2) that is used.
struct Nccl {
  Result (*InitAll)(Comm *, int, const int *) = nullptr;
  Result (*Abort)(Comm) = nullptr;
  Result (*AllGather)(const void *, void *, size_t, int, Comm, void *) = nullptr;
  Result (*AllReduce)(const void *, void *, size_t, int, int, Comm, void *) = nullptr;
  Result (*Broadcast)(const void *, void *, size_t, int, int, Comm, void *) = nullptr;
  Result (*Send)(const void *, size_t, int, int, Comm, void *) = nullptr;
  Result (*Recv)(void *, size_t, int, int, Comm, void *) = nullptr;
  Result (*GroupStart)() = nullptr;
  Result (*GroupEnd)() = nullptr;
  const char *(*GetErrorString)(Result) = nullptr;
  bool there = false;
  std::string problem; // why not, where the user has named a library
};

constexpr int kByte = 0; // ncclInt8
const std::map<std::string, int> kTypes = {{"i8", 0},  {"ui8", 1}, {"i32", 2}, {"ui32", 3}, {"i64", 4},
                                           {"ui64", 5}, {"f16", 6}, {"f32", 7}, {"f64", 8},  {"bf16", 9}};
const std::map<std::string, int> kOperations = {{"sum", 0}, {"prod", 1}, {"max", 2}, {"min", 3}};

std::string &library_path() {
  static std::string path;
  return path;
}

Nccl load() {
  Nccl nccl;
  // Other GPUs cannot read memory of a stream-ordered pool: NCCL must not try to from within one process.
  setenv("NCCL_P2P_DIRECT_DISABLE", "1", 0);
  const char *named = std::getenv("KC_NCCL_LIBRARY");
  const bool insists = named && *named;
  if (insists && std::string(named) == "none")
    return nccl;
  const std::string path = insists ? named : library_path().empty() ? "libnccl.so.2" : library_path();
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *why = dlerror();
    nccl.problem = insists ? format("KC_NCCL_LIBRARY: %s", why ? why : path.c_str()) : "";
    return nccl;
  }
  nccl.there = true;
  auto find = [&](auto &function, const char *name) {
    function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(library, name));
    if (!function) {
      nccl.there = false;
      nccl.problem = format("%s has no function %s", path.c_str(), name);
    }
  };
  find(nccl.InitAll, "ncclCommInitAll");
  find(nccl.Abort, "ncclCommAbort");
  find(nccl.AllGather, "ncclAllGather");
  find(nccl.AllReduce, "ncclAllReduce");
  find(nccl.Broadcast, "ncclBroadcast");
  find(nccl.Send, "ncclSend");
  find(nccl.Recv, "ncclRecv");
  find(nccl.GroupStart, "ncclGroupStart");
  find(nccl.GroupEnd, "ncclGroupEnd");
  find(nccl.GetErrorString, "ncclGetErrorString");
  return nccl;
}

const Nccl &library() {
  static const Nccl nccl = load();
  return nccl;
}

void require(Result result, const Call &call) {
  if (result != 0)
    throw ProcessFailure{call.where() + ": NCCL: " + library().GetErrorString(result)};
}

// Communicators that no run uses, by devices.
struct Store {
  std::mutex mutex;
  std::multimap<std::vector<int32_t>, std::vector<Comm>> idle;
};

Store &store() {
  static auto *kept = new Store; // for the life of the process: NCCL's own threads end with it
  return *kept;
}

} // namespace

class Communicators {
public:
  Communicators(std::vector<int32_t> devices, std::vector<Comm> comms)
      : devices_(std::move(devices)), comms_(std::move(comms)) {}
  ~Communicators() {
    if (comms_.empty())
      return;
    std::lock_guard<std::mutex> lock(store().mutex);
    store().idle.emplace(devices_, std::move(comms_));
  }
  Comm rank(size_t position) const { return comms_[position]; }
  void abort() {
    for (Comm comm : comms_)
      library().Abort(comm);
    comms_.clear();
  }

private:
  std::vector<int32_t> devices_;
  std::vector<Comm> comms_;
};

std::shared_ptr<Communicators> take_communicators(const std::vector<int32_t> &devices) {
  {
    std::lock_guard<std::mutex> lock(store().mutex);
    auto found = store().idle.find(devices);
    if (found != store().idle.end()) {
      auto made = std::make_shared<Communicators>(devices, std::move(found->second));
      store().idle.erase(found);
      return made;
    }
  }
  std::vector<Comm> comms(devices.size());
  if (Result result = library().InitAll(comms.data(), static_cast<int>(devices.size()), devices.data()))
    throw ProcessFailure{format("NCCL does not connect %zu GPUs: %s", devices.size(),
                                library().GetErrorString(result))};
  return std::make_shared<Communicators>(devices, std::move(comms));
}

void abort_communicators(Communicators &communicators) { communicators.abort(); }

bool uses_nccl(const Process &self, const Buffer &buffer) {
  if (!buffer.on_device || !self.grid->own_devices)
    return false;
  const Nccl &nccl = library();
  if (!nccl.problem.empty())
    throw ProcessFailure{nccl.problem};
  return nccl.there;
}

namespace {

Comm comm_of(Process &self, const std::vector<int> &members) {
  const auto place = static_cast<size_t>(std::find(members.begin(), members.end(), self.index) - members.begin());
  return self.grid->communicators(members)->rank(place);
}

// The members that take part through NCCL have met, each with a buffer on its own GPU.
void gather_round(Process &self, const Call &call, const std::vector<int> &members, const Buffer &from) {
  auto meeting = self.grid->meet(self, call, members, from);
  for (const Buffer &buffer : meeting->inputs)
    if (!buffer.on_device)
      throw ProcessFailure{call.where() + ": processes on a CPU and on GPUs cannot be in one group"};
}

} // namespace

void nccl_all_gather(Process &self, const Call &call, const std::vector<int> &members, const Buffer &from,
                     const Buffer &to) {
  gather_round(self, call, members, from);
  if (from.bytes)
    require(library().AllGather(from.data, to.data, static_cast<size_t>(from.bytes), kByte, comm_of(self, members),
                                stream_of_call()),
            call);
}

void nccl_all_reduce(Process &self, const Call &call, const std::vector<int> &members, const Buffer &from,
                     const Buffer &to) {
  gather_round(self, call, members, from);
  auto type = kTypes.find(call.dtype);
  auto operation = kOperations.find(call.reduction);
  if (type == kTypes.end() || operation == kOperations.end())
    throw ProcessFailure{call.where() + ": NCCL has no reduction " + call.reduction + " of " + call.dtype};
  const auto count = static_cast<size_t>(from.bytes / call.arrays[0].item);
  if (count)
    require(library().AllReduce(from.data, to.data, count, type->second, operation->second, comm_of(self, members),
                                stream_of_call()),
            call);
}

void nccl_all_to_all(Process &self, const Call &call, const std::vector<int> &members, const Buffer &from,
                     const Buffer &to) {
  gather_round(self, call, members, from);
  const auto chunk = static_cast<size_t>(from.bytes) / members.size();
  if (!chunk)
    return;
  Comm comm = comm_of(self, members);
  void *stream = stream_of_call();
  require(library().GroupStart(), call);
  for (size_t peer = 0; peer < members.size(); ++peer) {
    require(library().Send(static_cast<char *>(from.data) + peer * chunk, chunk, kByte, static_cast<int>(peer), comm,
                           stream),
            call);
    require(library().Recv(static_cast<char *>(to.data) + peer * chunk, chunk, kByte, static_cast<int>(peer), comm,
                           stream),
            call);
  }
  require(library().GroupEnd(), call);
}

void nccl_broadcast(Process &self, const Call &call, const std::vector<int> &members, const Buffer &from,
                    const Buffer &to) {
  gather_round(self, call, members, from);
  if (from.bytes)
    require(library().Broadcast(from.data, to.data, static_cast<size_t>(from.bytes), kByte, 0, comm_of(self, members),
                                stream_of_call()),
            call);
}

void nccl_permute(Process &self, const Call &call, int source, int target, const Buffer &from, const Buffer &to) {
  if (!from.bytes)
    return;
  std::vector<int> everyone;
  for (int index = 0; index < self.grid->size(); ++index)
    everyone.push_back(index);
  Comm comm = comm_of(self, everyone);
  void *stream = stream_of_call();
  require(library().GroupStart(), call);
  if (target >= 0)
    require(library().Send(from.data, static_cast<size_t>(from.bytes), kByte, target, comm, stream), call);
  if (source >= 0)
    require(library().Recv(to.data, static_cast<size_t>(to.bytes), kByte, source, comm, stream), call);
  require(library().GroupEnd(), call);
}

} // namespace kc

extern "C" void kc_nccl_library(const char *path) { kc::library_path() = path; }
