#include "grid.h"

#include <algorithm>
#include <chrono>

#include "error.h"
#include "nccl.h"

namespace kc {
namespace {

thread_local Process *current = nullptr;

std::string list(const std::vector<std::string> &items) {
  std::string text;
  for (size_t i = 0; i < items.size(); ++i)
    text += (i == 0 ? "" : i + 1 == items.size() ? " and " : ", ") + items[i];
  return text;
}

} // namespace

Process &this_process() {
  if (current)
    return *current;
  // A program called on its own is a grid of one process.
  thread_local std::unique_ptr<Grid> alone;
  if (!alone || alone->failed())
    alone = std::make_unique<Grid>(1, 1, 60.0);
  return alone->process(0);
}

void become(Process *process) { current = process; }

Grid::Grid(int replicas, int partitions, double timeout)
    : replicas(replicas), partitions(partitions), timeout_(timeout),
      processes_(static_cast<size_t>(replicas) * static_cast<size_t>(partitions)) {
  for (int i = 0; i < size(); ++i) {
    processes_[static_cast<size_t>(i)].grid = this;
    processes_[static_cast<size_t>(i)].index = i;
  }
}

// What a failed run has queued may never end: its communicators are of no use to the next one.
Grid::~Grid() {
  if (failed_)
    for (auto &[members, communicators] : communicators_)
      abort_communicators(*communicators);
}

Communicators *Grid::communicators(const std::vector<int> &members) {
  std::lock_guard<std::mutex> lock(communicators_mutex_);
  std::shared_ptr<Communicators> &found = communicators_[members];
  if (!found) {
    std::vector<int32_t> devices;
    for (int member : members)
      devices.push_back(process(member).device);
    found = take_communicators(devices);
  }
  return found.get();
}

std::string Grid::name(int index) const {
  return format("(%d, %d)", index / partitions, index % partitions);
}

std::vector<int> Grid::group(const Call &call, int index) const {
  const int replica = index / partitions, partition = index % partitions;
  const bool flattened = call.strategy == "flattened_ids", across = call.strategy == "cross_partition";
  const bool both = call.strategy == "cross_replica_and_partition";
  const int limit = flattened ? size() : across ? partitions : replicas;
  const char *what = flattened ? "processes" : across ? "partitions" : "replicas";
  std::vector<std::vector<int>> groups = call.groups;
  if (groups.empty()) { // all in one
    groups.emplace_back();
    for (int id = 0; id < limit; ++id)
      groups[0].push_back(id);
  }
  std::vector<int> members;
  for (const std::vector<int> &ids : groups) {
    bool mine = false;
    for (int id : ids) {
      if (id >= limit)
        throw ProcessFailure{
            format("%s names number %d, but there are %d %s here; run the program with run_parallel on a larger grid "
                   "(this one has %d replicas of %d partitions)",
                   call.where().c_str(), id, limit, what, replicas, partitions)};
      mine |= id >= 0 && id == (flattened ? index : across ? partition : replica);
    }
    if (!mine || !members.empty())
      continue;
    for (int other = 0; other < (both ? partitions : 1); ++other)
      for (int id : ids)
        if (id >= 0)
          members.push_back(flattened ? id
                            : across  ? replica * partitions + id
                                      : id * partitions + (both ? other : partition));
  }
  return members;
}

template <typename Ready, typename Missing>
void Grid::wait(std::unique_lock<std::mutex> &lock, Process &self, const Call &call, Ready ready, Missing missing) {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                                            std::chrono::duration<double>(timeout_));
  self.doing = call.where();
  while (!ready() && !failed_) {
    self.blocked = true;
    check_deadlock_locked();
    if (failed_)
      break;
    if (self.wake.wait_until(lock, limit) == std::cv_status::timeout && !ready() && !failed_)
      fail_locked(format("process %s has waited %g s in %s for %s", name(self.index).c_str(), timeout_,
                         call.where().c_str(), missing().c_str()));
  }
  self.blocked = false;
  self.doing.clear();
  if (!ready()) {
    throw ProcessFailure{failure_};
  }
}

std::string Grid::describe_locked(const std::vector<int> &indices) const {
  std::vector<std::string> items;
  for (int index : indices) {
    const Process &process = processes_[static_cast<size_t>(index)];
    const std::string state = process.finished        ? "which has finished"
                              : !process.doing.empty() ? "which is in " + process.doing
                                                       : "which is computing";
    items.push_back(name(index) + ", " + state);
  }
  return list(items);
}

// When every process waits or has finished, nobody will ever come: no need to wait for the clock.
void Grid::check_deadlock_locked() {
  std::vector<int> waiting;
  for (const Process &process : processes_)
    if (process.blocked)
      waiting.push_back(process.index);
    else if (!process.finished)
      return;
  if (waiting.empty())
    return;
  fail_locked("deadlock: no process can go on; there wait " + describe_locked(waiting) +
              (waiting.size() < processes_.size() ? "; the others have finished" : ""));
}

std::shared_ptr<Meeting> Grid::meet(Process &self, const Call &call, const std::vector<int> &members, Buffer input) {
  check(self);
  std::string key = format("%lld/", static_cast<long long>(call.channel));
  for (int member : members)
    key += std::to_string(member) + ",";
  key += "#" + std::to_string(self.sequence[key]++);
  const auto position = static_cast<size_t>(std::find(members.begin(), members.end(), self.index) - members.begin());
  std::unique_lock<std::mutex> lock(mutex_);
  std::shared_ptr<Meeting> &slot = meetings_[key];
  if (!slot) {
    slot = std::make_shared<Meeting>();
    slot->inputs.resize(members.size());
    slot->op = call.op;
    slot->where = call.where();
    slot->bytes = input.bytes;
  }
  std::shared_ptr<Meeting> meeting = slot;
  if (meeting->op != call.op || meeting->bytes != input.bytes) {
    const int first = members[static_cast<size_t>(meeting->arrived[0])];
    fail_locked(format("processes of one group do not agree: %s is in %s with %lld bytes, %s in %s with %lld bytes",
                       name(first).c_str(), meeting->where.c_str(), static_cast<long long>(meeting->bytes),
                       name(self.index).c_str(), call.where().c_str(), static_cast<long long>(input.bytes)));
    throw ProcessFailure{failure_};
  }
  meeting->inputs[position] = input;
  meeting->arrived.push_back(static_cast<int>(position));
  if (meeting->arrived.size() == members.size()) {
    meetings_.erase(key);
    for (int member : members) {
      process(member).blocked = false; // as of now, so that nobody takes them for stuck
      process(member).wake.notify_all();
    }
    return meeting;
  }
  wait(
      lock, self, call, [&] { return meeting->arrived.size() == members.size(); },
      [&] {
        std::vector<int> absent, present;
        for (size_t i = 0; i < members.size(); ++i)
          (std::count(meeting->arrived.begin(), meeting->arrived.end(), static_cast<int>(i)) ? present : absent)
              .push_back(members[i]);
        std::vector<std::string> here;
        for (int index : present)
          here.push_back(name(index));
        return describe_locked(absent) + "; arrived: " + list(here);
      });
  return meeting;
}

// All have come, and reading ends by itself: this waits without the clock, and on after a failure, because leaving
// early would free a buffer that another process reads.
void Grid::part(Process &self, Meeting &meeting, const std::vector<int> &members) {
  std::unique_lock<std::mutex> lock(mutex_);
  if (++meeting.left == static_cast<int>(members.size())) {
    for (int member : members)
      process(member).wake.notify_all();
    return;
  }
  self.wake.wait(lock, [&] { return meeting.left == static_cast<int>(members.size()); });
}

void Grid::post(Process &self, const std::string &box, Message message) {
  check(self);
  message.sender = self.index;
  post_from_host(box, std::move(message));
}

void Grid::post_from_host(const std::string &box, Message message) {
  std::lock_guard<std::mutex> lock(mutex_);
  boxes_[box].push_back(std::move(message));
  for (Process &process : processes_) {
    process.blocked = false; // may be its message: it looks, and says so if it is not
    process.wake.notify_all();
  }
}

Message Grid::take(Process &self, const Call &call, const std::string &box, const std::string &from) {
  check(self);
  std::unique_lock<std::mutex> lock(mutex_);
  std::deque<Message> &queue = boxes_[box];
  wait(lock, self, call, [&] { return !queue.empty(); }, [&] { return from; });
  Message message = std::move(queue.front());
  queue.pop_front();
  return message;
}

bool Grid::take_for_host(const std::string &box, Message &message) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto found = boxes_.find(box);
  if (found == boxes_.end() || found->second.empty())
    return false;
  message = std::move(found->second.front());
  found->second.pop_front();
  return true;
}

std::vector<std::string> Grid::boxes() const {
  std::lock_guard<std::mutex> lock(mutex_);
  std::vector<std::string> names;
  for (const auto &[name, queue] : boxes_)
    if (!queue.empty())
      names.push_back(name);
  return names;
}

void Grid::fail_locked(const std::string &message) {
  if (failed_)
    return;
  failed_ = true;
  failure_ = message;
  for (Process &process : processes_)
    process.wake.notify_all();
}

void Grid::fail(int index, const std::string &message) {
  std::lock_guard<std::mutex> lock(mutex_);
  fail_locked(size() == 1 ? message : "process " + name(index) + ": " + message);
}

void Grid::finish(Process &self, bool failed, const std::string &message) {
  if (failed)
    fail(self.index, message);
  std::lock_guard<std::mutex> lock(mutex_);
  self.finished = true;
  check_deadlock_locked();
}

bool Grid::failed() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return failed_;
}

std::string Grid::failure() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return failure_;
}

void Grid::check(Process &self) {
  if (current_error().raised()) {
    const std::string message = current_error().message();
    fail(self.index, message);
    throw ProcessFailure{message};
  }
  std::lock_guard<std::mutex> lock(mutex_);
  if (failed_)
    throw ProcessFailure{failure_};
}

} // namespace kc
