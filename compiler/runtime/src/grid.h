// The grid of processes that run_parallel runs, and how they meet: rendezvous of groups, messages between two, and the
// queues to and from the host. A process is a thread.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace kc {

class Communicators;
class Grid;

// Ends the call of a process; thrown inside the runtime only, and turned into leave_call where generated code called.
struct ProcessFailure {
  std::string message;
};

// An operand or a result.
struct Array {
  void *data;
  int64_t item, rank;
  const int64_t *sizes;
  int64_t bytes() const {
    int64_t product = item;
    for (int64_t d = 0; d < rank; ++d)
      product *= sizes[d];
    return product;
  }
};

// What one call of a collective says of itself.
struct Call {
  std::string op;    // "stablehlo.all_reduce"
  std::string place; // "model.mlir:3:5", or empty
  std::string type;  // of what is transferred to or from the host, "tensor<2x2xi64>"
  std::string strategy = "cross_replica";
  std::string reduction; // of an all_reduce that the runtime does itself
  std::string dtype;
  int64_t channel = 0;
  int64_t part = 0, parts = 1;            // operand or result of the op that this call is for
  bool host = false;                      // a transfer between device and host
  bool ragged = false;                    // the result has slots for the largest group
  std::vector<std::vector<int>> groups;   // as written, -1 for padding
  std::vector<Array> arrays;
  std::string where() const { return place.empty() ? op : op + " at " + place; }
};

struct Process {
  Grid *grid = nullptr;
  int index = 0; // replica * partitions + partition
  int32_t device = 0; // its GPU, for programs for GPUs
  bool finished = false;
  bool blocked = false;
  std::string doing;            // the call that it waits in
  std::map<std::string, uint64_t> sequence; // rendezvous so far, by key
  std::condition_variable wake;
};

// A buffer of a process, which the others of its group read.
struct Buffer {
  void *data = nullptr;
  int64_t bytes = 0;
  bool on_device = false;
  int32_t device = 0;
};

// A meeting of a group. Every member puts its buffer down, waits for all, reads what it wants, and waits for all to
// have read.
struct Meeting {
  std::vector<Buffer> inputs; // by position in the group
  std::vector<int> arrived;   // positions
  std::string op;             // of the first to arrive
  std::string where;
  int64_t bytes = 0;
  int left = 0; // members that have read
};

struct Message {
  std::vector<char> bytes;
  std::string type, where;
  int sender = -1; // -1: the host
  std::vector<int64_t> shape;
  int64_t part = 0, parts = 1;
};

class Grid {
public:
  Grid(int replicas, int partitions, double timeout);
  ~Grid();

  const int replicas, partitions;
  bool has_host = false; // somebody feeds and empties the queues
  bool own_devices = false; // every process has a GPU that no other one has
  int size() const { return replicas * partitions; }
  Process &process(int index) { return processes_[static_cast<size_t>(index)]; }
  std::string name(int index) const; // "(replica, partition)"

  // The members of the group of `call` that process `index` is in, in order; empty when it is in none. Ends the call
  // with an error when the groups do not fit the grid.
  std::vector<int> group(const Call &call, int index) const;

  // The first half of a meeting: puts the input down and waits for the others. `read` may then use `inputs`.
  std::shared_ptr<Meeting> meet(Process &self, const Call &call, const std::vector<int> &members, Buffer input);
  // The second half: waits until all members have read.
  void part(Process &self, Meeting &meeting, const std::vector<int> &members);

  void post(Process &self, const std::string &box, Message message);
  Message take(Process &self, const Call &call, const std::string &box, const std::string &from);
  // Messages that the host gave before the run, and those that it takes after it.
  void post_from_host(const std::string &box, Message message);
  bool take_for_host(const std::string &box, Message &message);
  std::vector<std::string> boxes() const;

  // NCCL's communicators between the GPUs of these processes, made at first use.
  Communicators *communicators(const std::vector<int> &members);

  // Ends every process: what waits now or later in this grid fails with `message`.
  void fail(int index, const std::string &message);
  void finish(Process &self, bool failed, const std::string &message);
  bool failed() const;
  std::string failure() const;
  void check(Process &self); // ends the call if the grid has failed, or this process has raised an error

private:
  // Waits until `ready`; ends the call with an error after the timeout, when the grid fails, and when no process can
  // go on. `missing` says whom it waits for.
  template <typename Ready, typename Missing>
  void wait(std::unique_lock<std::mutex> &lock, Process &self, const Call &call, Ready ready, Missing missing);
  void fail_locked(const std::string &message);
  void check_deadlock_locked();
  std::string describe_locked(const std::vector<int> &indices) const;

  const double timeout_;
  mutable std::mutex mutex_;
  std::vector<Process> processes_;
  std::map<std::string, std::shared_ptr<Meeting>> meetings_;
  std::map<std::string, std::deque<Message>> boxes_;
  std::mutex communicators_mutex_;
  std::map<std::vector<int>, std::shared_ptr<Communicators>> communicators_;
  bool failed_ = false;
  std::string failure_;
};

// The process that this thread is; outside of run_parallel the only one of a grid of one.
Process &this_process();
// Makes this thread a process (null: no longer).
void become(Process *process);

// Reads the words that the compiler makes (abi.h). The text has fields "key=value" that end with ';', the place last.
Call read_call(const int64_t *words);

// Runs the body of a function that generated code called. A failure leaves the call, once all objects are gone.
[[noreturn]] void leave_failed_call();
void note_failure(const ProcessFailure &failure);
template <typename Body> void collective(const int64_t *words, Body body) {
  bool failed = false;
  try {
    Process &self = this_process();
    const Call call = read_call(words);
    self.grid->check(self);
    body(self, call);
  } catch (const ProcessFailure &failure) {
    note_failure(failure);
    failed = true;
  } catch (const std::exception &error) { // memory exhausted
    note_failure({error.what()});
    failed = true;
  }
  if (failed)
    leave_failed_call();
}

} // namespace kc
