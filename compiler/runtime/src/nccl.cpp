#include "nccl.h"

namespace kc {

bool nccl_all_gather(Process &, const Call &, const std::vector<int> &, const Buffer &, const Buffer &) { return false; }
bool nccl_all_reduce(Process &, const Call &, const std::vector<int> &, const Buffer &, const Buffer &) { return false; }
bool nccl_all_to_all(Process &, const Call &, const std::vector<int> &, const Buffer &, const Buffer &) { return false; }
bool nccl_broadcast(Process &, const Call &, const std::vector<int> &, const Buffer &, const Buffer &) { return false; }
bool nccl_permute(Process &, const Call &, int, int, const Buffer &, const Buffer &) { return false; }

} // namespace kc
