// Collectives between the GPUs of a host through NCCL, which is found at run time. Every call is preceded by a meeting
// of the processes, so that NCCL never waits for one that does not come: timeouts, deadlocks and disagreements are
// found there.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "grid.h"

namespace kc {

// The communicators of one group of devices, a rank each. Idle ones are kept for the next run.
class Communicators;

// Takes the communicators of these devices out of the store, or makes them. Ends with ProcessFailure when NCCL refuses.
std::shared_ptr<Communicators> take_communicators(const std::vector<int32_t> &devices);
// Aborts them, when the run that used them has failed.
void abort_communicators(Communicators &communicators);

// Whether NCCL carries the buffers of this process: it is there, and every process has a GPU of its own.
bool uses_nccl(const Process &self, const Buffer &buffer);

// In each, process `members[rank]` calls with its own buffers; `rank` is its place. Queued on the call's stream.
void nccl_all_gather(Process &self, const Call &call, const std::vector<int> &members, const Buffer &from,
                     const Buffer &to);
void nccl_all_reduce(Process &self, const Call &call, const std::vector<int> &members, const Buffer &from,
                     const Buffer &to);
void nccl_all_to_all(Process &self, const Call &call, const std::vector<int> &members, const Buffer &from,
                     const Buffer &to);
void nccl_broadcast(Process &self, const Call &call, const std::vector<int> &members, const Buffer &from,
                    const Buffer &to);
// source, target: process numbers, -1 for none. The caller has met both.
void nccl_permute(Process &self, const Call &call, int source, int target, const Buffer &from, const Buffer &to);

} // namespace kc
