// Collectives between the GPUs of a host through NCCL, which is found at run time. Each function gives false when NCCL
// is not there, the data is in host memory, or processes share a GPU: the caller then copies by itself.
#pragma once

#include <vector>

#include "grid.h"

namespace kc {

bool nccl_all_gather(Process &, const Call &, const std::vector<int> &members, const Buffer &from, const Buffer &to);
bool nccl_all_reduce(Process &, const Call &, const std::vector<int> &members, const Buffer &from, const Buffer &to);
bool nccl_all_to_all(Process &, const Call &, const std::vector<int> &members, const Buffer &from, const Buffer &to);
bool nccl_broadcast(Process &, const Call &, const std::vector<int> &members, const Buffer &from, const Buffer &to);
// source, target: -1 for none.
bool nccl_permute(Process &, const Call &, int source, int target, const Buffer &from, const Buffer &to);

} // namespace kc
