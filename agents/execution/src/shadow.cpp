// Shadow memory: what an instrumented run tells of every access, and the tree of parallel iterations that finds races.
//
// Iterations run one after the other. Two of them may run at once if the paths that lead to them in the tree part at
// the same parallel loop. Per byte one writer, one reader and one atomic update are remembered, and a remembered one is
// replaced only by one that comes after it for certain: that finds a race on a byte if there is any (Feng and
// Leiserson, "Efficient detection of determinacy races in Cilk programs", 1997).
#include <algorithm>
#include <cstring>
#include <set>
#include <tuple>

#include "trace.h"

namespace {

constexpr int kIndices = 8; // of the loops around an access, outermost first, that a report shows
constexpr int64_t kNone = INT64_MIN;
enum class Mode : int32_t { read, write, atomic };
enum class Sort : int32_t { bounds, row, uninitialised, read_only, freed, race };
using kc::kInitialised;
using kc::kValid;

struct Site {
  int32_t mode;  // a Mode
  int32_t bytes; // of one element
  int32_t lanes; // consecutive elements
};

struct Finding {
  int32_t sort, site, other_site, block_kind;
  int64_t block_number, block_site, offset, size;
  int64_t iteration[kIndices], other_iteration[kIndices];
};

struct Node {
  uint32_t parent, instance, depth;
  int64_t iteration[kIndices];
  bool by_all; // every thread of a team does it
};

// A team of OpenMP's threads, of which one is run. What all threads do between two barriers is one iteration among
// those of the loops that are shared out there; `from`: blocks made from here on are of a thread's own.
struct Team {
  uint32_t outside; // the node that met the omp.parallel
  size_t forks;     // how many there are while no loop inside of a thread runs in parallel
  int64_t from;
};

struct Shadow {
  std::vector<Site> sites;
  std::vector<Finding> findings;
  std::set<std::tuple<int32_t, int32_t, int32_t, int32_t, int64_t>> told;
  std::vector<Node> nodes; // 0 is nobody, 1 the code outside of parallel loops
  std::vector<std::pair<uint32_t, uint32_t>> forks; // (instance, node that forked), innermost last
  uint32_t current = 1, instances = 0;
  std::vector<Team> teams;
  std::vector<bool> shared; // loops that are shared out: whether a team does so
  int32_t critical = 0;
  size_t limit = 64;
  Shadow() : nodes(2) {
    for (Node &node : nodes)
      std::fill(node.iteration, node.iteration + kIndices, kNone);
  }
};

Shadow shadow;

bool may_run_at_once(uint32_t a, uint32_t b) {
  const auto &nodes = shadow.nodes;
  if (a == b || !a || !b)
    return false;
  while (nodes[a].depth > nodes[b].depth)
    a = nodes[a].parent;
  while (nodes[b].depth > nodes[a].depth)
    b = nodes[b].parent;
  if (a == b)
    return false; // one is inside of the other: before the loop starts or after it has ended
  while (nodes[a].parent != nodes[b].parent) {
    a = nodes[a].parent;
    b = nodes[b].parent;
  }
  return nodes[a].instance == nodes[b].instance;
}

void tell(Sort sort, int32_t site, const kc::Block *block, int64_t offset, int64_t size, kc::Touch other = {0, -1}) {
  kc::Unbroken guard;
  int64_t number = block ? block->number : -1;
  int32_t kind = block ? static_cast<int32_t>(block->kind) : -1;
  if (shadow.findings.size() >= shadow.limit ||
      !shadow.told.insert({static_cast<int32_t>(sort), site, other.site, kind, number}).second)
    return;
  Finding finding{};
  finding.sort = static_cast<int32_t>(sort);
  finding.site = site;
  finding.other_site = other.site;
  finding.block_kind = kind;
  finding.block_number = number;
  finding.block_site = block ? block->site : -1;
  finding.offset = offset;
  finding.size = size;
  std::memcpy(finding.iteration, shadow.nodes[shadow.current].iteration, sizeof(finding.iteration));
  std::memcpy(finding.other_iteration, shadow.nodes[other.node].iteration, sizeof(finding.iteration));
  shadow.findings.push_back(finding);
}

std::vector<uint8_t> &state_of(kc::Block &block) {
  if (block.state.empty() && block.size) {
    kc::Unbroken guard;
    block.state.assign(static_cast<size_t>(block.size), kValid);
  }
  return block.state;
}

// Remembers the current iteration, unless the one that is there may run beside it: that one keeps the place.
void remember(kc::Touch &touch, int32_t site) {
  if (!may_run_at_once(touch.node, shadow.current))
    touch = {shadow.current, site};
}

void races(kc::Block &block, Mode mode, int32_t site, int64_t offset, int64_t size) {
  if (block.cells.empty()) {
    kc::Unbroken guard;
    block.cells.resize(static_cast<size_t>(block.size));
  }
  auto against = [&](const kc::Touch &touch) {
    if (may_run_at_once(touch.node, shadow.current))
      tell(Sort::race, site, &block, offset, size, touch);
  };
  for (int64_t at = offset; at < offset + size; ++at) {
    kc::Cell &cell = block.cells[static_cast<size_t>(at)];
    against(cell.writer);
    if (mode != Mode::read)
      against(cell.reader);
    if (mode != Mode::atomic)
      against(cell.atomic);
    remember(mode == Mode::read ? cell.reader : mode == Mode::write ? cell.writer : cell.atomic, site);
  }
}

// Whether every access to a block is by one and the same thread of the team.
bool of_one_thread(const kc::Block &block) {
  return !shadow.teams.empty() && shadow.forks.size() == shadow.teams.back().forks &&
         (block.kind == kc::Kind::allocation || block.kind == kc::Kind::scratch) &&
         block.number >= shadow.teams.back().from;
}

uint32_t new_node(uint32_t parent, uint32_t instance, bool by_all) {
  Node node = shadow.nodes[parent];
  node.parent = parent;
  node.instance = instance;
  node.by_all = by_all;
  ++node.depth;
  shadow.nodes.push_back(node);
  return static_cast<uint32_t>(shadow.nodes.size() - 1);
}

// One access of `size` bytes at `from_base` from `base`. `moving`: the value is only moved, it may be one that nobody
// wrote.
void touch(Mode mode, int32_t site, uintptr_t base, int64_t from_base, int64_t size, bool moving = false) {
  kc::Block *block = kc::find(base);
  int64_t offset = block ? static_cast<int64_t>(base - block->start) + from_base : -1;
  if (kc::patching() && (offset < 0 || size > block->size - offset || (mode != Mode::read && block->read_only)))
    kc::leave(4, "a patched run touches a wrong place");
  if (!block) {
    tell(Sort::bounds, site, nullptr, from_base, size);
    return;
  }
  if (offset < 0 || size > block->size - offset) {
    tell(Sort::bounds, site, block, offset, size);
    return;
  }
  if (block->freed)
    tell(Sort::freed, site, block, offset, size);
  if (mode != Mode::read && block->read_only)
    tell(Sort::read_only, site, block, offset, size);
  auto &state = state_of(*block);
  bool valid = true, initialised = true;
  for (int64_t at = offset; at < offset + size; ++at) {
    uint8_t &byte = state[static_cast<size_t>(at)];
    valid = valid && (byte & kValid);
    initialised = initialised && (byte & kInitialised);
    if (mode != Mode::read)
      byte |= kInitialised;
  }
  if (!valid)
    tell(Sort::bounds, site, block, offset, size);
  else if (mode != Mode::write && !initialised && !moving)
    tell(Sort::uninitialised, site, block, offset, size);
  if (shadow.current != 1 && !block->freed && !of_one_thread(*block)) {
    Mode seen = shadow.critical ? Mode::atomic : mode; // no two of those happen at once either
    if (seen == Mode::write && shadow.nodes[shadow.current].by_all)
      tell(Sort::race, site, block, offset, size, {shadow.current, site});
    races(*block, seen, site, offset, size);
  }
  if (kc::tracing()) {
    const Site &known = shadow.sites[static_cast<size_t>(site)];
    kc::trace_access(mode != Mode::write, mode != Mode::read, site, *block, offset, size,
                     known.lanes > 1 ? known.bytes : size);
  }
}

// `bytes` bytes from one place to another: in a trace by words, so that it is known which byte came from which.
void copy(int32_t site, uintptr_t target, uintptr_t source, int64_t bytes) {
  int64_t word = !kc::tracing() ? bytes : bytes % 4 == 0 ? 4 : 1;
  for (int64_t at = 0; at < bytes; at += word) {
    touch(Mode::read, site, source, at, word, true);
    touch(Mode::write, site + 1, target, at, word);
  }
}

// What is known of one byte moves with it: a copy of what nobody wrote is no use of it.
void move_state(uintptr_t from_base, int64_t from, uintptr_t to_base, int64_t to, int64_t bytes) {
  kc::Block *source = kc::find(from_base), *target = kc::find(to_base);
  if (!source || !target)
    return;
  from += static_cast<int64_t>(from_base - source->start);
  to += static_cast<int64_t>(to_base - target->start);
  if (from < 0 || to < 0 || from + bytes > source->size || to + bytes > target->size)
    return;
  auto &read = state_of(*source), &written = state_of(*target);
  for (int64_t i = 0; i < bytes; ++i)
    if (!(read[static_cast<size_t>(from + i)] & kInitialised))
      written[static_cast<size_t>(to + i)] &= static_cast<uint8_t>(~kInitialised);
}

} // namespace

namespace kc {

void reset_shadow() {
  auto sites = std::move(shadow.sites);
  size_t limit = shadow.limit;
  shadow = Shadow();
  shadow.sites = std::move(sites);
  shadow.limit = limit;
  reset_trace();
}

} // namespace kc

// --- called by instrumented code -------------------------------------------------------------------------------

// An access at site `site`: to `offset` elements after `base`, the aligned pointer of the memref's descriptor.
// `inside`: whether each index is within its dimension.
KC_CHECKED_EXPORT void kc_shadow_access(int64_t site, uintptr_t base, int64_t offset, int64_t inside) {
  const Site &known = shadow.sites[static_cast<size_t>(site)];
  int64_t size = int64_t{known.bytes} * known.lanes;
  if (!inside) {
    kc::Block *block = kc::find(base);
    tell(Sort::row, static_cast<int32_t>(site), block,
         (block ? static_cast<int64_t>(base - block->start) : 0) + offset * known.bytes, size);
  }
  touch(static_cast<Mode>(known.mode), static_cast<int32_t>(site), base, offset * known.bytes, size);
}

// One element of a memref.copy. The site is that of the read, the next one that of the write.
KC_CHECKED_EXPORT void kc_shadow_move(int64_t site, uintptr_t from_base, int64_t from, uintptr_t to_base, int64_t to) {
  int64_t bytes = shadow.sites[static_cast<size_t>(site)].bytes;
  touch(Mode::read, static_cast<int32_t>(site), from_base, from * bytes, bytes, true);
  touch(Mode::write, static_cast<int32_t>(site) + 1, to_base, to * bytes, bytes);
  move_state(from_base, from * bytes, to_base, to * bytes, bytes);
}

// An access through a pointer of which no more is known. What lies on the stack and was not told of is the compiler's.
KC_CHECKED_EXPORT void kc_shadow_touch(int64_t site, uintptr_t address) {
  const Site &known = shadow.sites[static_cast<size_t>(site)];
  uintptr_t here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  if (!kc::find(address) && address >= here && address < kc::stack_top())
    return;
  touch(static_cast<Mode>(known.mode), static_cast<int32_t>(site), address, 0, int64_t{known.bytes} * known.lanes);
}

// The same of the lanes whose bit is set.
KC_CHECKED_EXPORT void kc_shadow_touch_masked(int64_t site, uintptr_t address, uint64_t bits) {
  const Site &known = shadow.sites[static_cast<size_t>(site)];
  for (int32_t lane = 0; lane < known.lanes; ++lane)
    if (bits >> lane & 1)
      touch(static_cast<Mode>(known.mode), static_cast<int32_t>(site), address, int64_t{lane} * known.bytes,
            known.bytes);
}

// memcpy of `bytes` bytes: the site is that of the read, the next one that of the write.
KC_CHECKED_EXPORT void kc_shadow_bytes(int64_t site, uintptr_t target, uintptr_t source, int64_t bytes) {
  if (bytes <= 0)
    return;
  copy(static_cast<int32_t>(site), target, source, bytes);
  move_state(source, 0, target, 0, bytes);
}

// memrefCopy of elements of `bytes` bytes between unranked memrefs {rank, descriptor}: `site` is that of the write, the
// one before it that of the read.
KC_CHECKED_EXPORT void kc_shadow_memref_copy(int64_t site, int64_t bytes, const int64_t *source, const int64_t *target) {
  int64_t rank = source[0];
  auto *from = reinterpret_cast<const int64_t *>(source[1]), *to = reinterpret_cast<const int64_t *>(target[1]);
  const int64_t *sizes = from + 3, *from_strides = sizes + rank, *to_strides = to + 3 + rank;
  int64_t count = 1;
  for (int64_t d = 0; d < rank; ++d)
    count *= std::max<int64_t>(sizes[d], 0);
  for (int64_t number = 0; number < count; ++number) {
    int64_t rest = number, read = from[2], written = to[2];
    for (int64_t d = rank - 1; d >= 0; --d) {
      read += rest % sizes[d] * from_strides[d];
      written += rest % sizes[d] * to_strides[d];
      rest /= sizes[d];
    }
    auto from_base = static_cast<uintptr_t>(from[1]), to_base = static_cast<uintptr_t>(to[1]);
    touch(Mode::read, static_cast<int32_t>(site) - 1, from_base, read * bytes, bytes, true);
    touch(Mode::write, static_cast<int32_t>(site), to_base, written * bytes, bytes);
    move_state(from_base, read * bytes, to_base, written * bytes, bytes);
  }
}

// memset of `bytes` bytes.
KC_CHECKED_EXPORT void kc_shadow_set(int64_t site, uintptr_t target, int64_t bytes) {
  if (bytes > 0)
    touch(Mode::write, static_cast<int32_t>(site), target, 0, bytes);
}

// An allocation came from `site`; with `scratch` it stands for one on the stack.
KC_CHECKED_EXPORT void kc_shadow_made(int64_t site, uintptr_t base, int64_t scratch) {
  kc::Block *block = kc::find(base);
  if (!block)
    return;
  block->site = site;
  if (scratch)
    kc::not_to_be_freed(*block);
}

// A global of `bytes` bytes; `state`: 0 not initialised, 1 initialised, 2 constant.
KC_CHECKED_EXPORT void kc_shadow_global(int64_t site, uintptr_t base, int64_t bytes, int64_t state) {
  kc::Block *block = kc::find(base);
  if (block && block->start == base && block->kind == kc::Kind::constant)
    return;
  kc::Unbroken guard;
  kc::Block made{};
  made.start = base;
  made.size = bytes;
  made.kind = kc::Kind::constant;
  made.number = made.site = site;
  made.read_only = state == 2;
  made.state.assign(static_cast<size_t>(bytes), state ? kValid | kInitialised : kValid);
  kc::enter(std::move(made));
}

// A parallel loop starts; kc_shadow_iteration starts each of its iterations (with up to four indices, INT64_MIN for none),
// kc_shadow_join ends the loop.
KC_CHECKED_EXPORT void kc_shadow_fork() {
  kc::Unbroken guard;
  shadow.forks.emplace_back(++shadow.instances, shadow.current);
}

KC_CHECKED_EXPORT void kc_shadow_iteration(int64_t i0, int64_t i1, int64_t i2, int64_t i3) {
  kc::Unbroken guard;
  auto [instance, parent] = shadow.forks.back();
  shadow.current = new_node(parent, instance, false);
  Node &node = shadow.nodes.back();
  auto *end = node.iteration + kIndices, *free = std::find(node.iteration, end, kNone);
  for (int64_t index : {i0, i1, i2, i3})
    if (index != kNone && free != end)
      *free++ = index;
}
KC_CHECKED_EXPORT void kc_shadow_join() {
  kc::Unbroken guard;
  shadow.current = shadow.forks.back().second;
  shadow.forks.pop_back();
}

// --- called by Python --------------------------------------------------------------------------------------------

// The sites that instrumented code will name, and how many findings to keep per call.
KC_CHECKED_EXPORT void kc_checked_sites(int64_t count, const void *sites, int64_t limit) {
  auto *first = static_cast<const Site *>(sites);
  shadow.sites.assign(first, first + count);
  shadow.limit = static_cast<size_t>(limit);
}

// An argument's buffer. `valid`: a byte per byte, 0 where no element lies (gaps), or null. After kc_checked_begin.
KC_CHECKED_EXPORT void kc_checked_argument(int64_t number, uintptr_t start, int64_t bytes, int32_t read_only,
                                           int32_t initialised, const uint8_t *valid) {
  kc::Block block{};
  block.start = start;
  block.size = bytes;
  block.kind = kc::Kind::argument;
  block.number = number;
  block.site = -1;
  block.read_only = read_only != 0;
  uint8_t whole = initialised ? kValid | kInitialised : kValid;
  block.state.assign(static_cast<size_t>(bytes), whole);
  for (int64_t i = 0; valid && i < bytes; ++i)
    if (!valid[i])
      block.state[static_cast<size_t>(i)] = 0;
  kc::enter(std::move(block));
}

// Number of findings of this call; up to `room` of them go to `out`.
KC_CHECKED_EXPORT int64_t kc_checked_findings(void *out, int64_t room) {
  auto count = std::min(room, static_cast<int64_t>(shadow.findings.size()));
  if (count)
    std::memcpy(out, shadow.findings.data(), static_cast<size_t>(count) * sizeof(Finding));
  return static_cast<int64_t>(shadow.findings.size());
}

// An omp.parallel starts: what follows is done by every thread of a team, up to kc_shadow_team_end.
KC_CHECKED_EXPORT void kc_shadow_team() {
  kc::Unbroken guard;
  shadow.forks.emplace_back(++shadow.instances, shadow.current);
  shadow.teams.push_back({shadow.current, shadow.forks.size(), kc::blocks_made()});
  shadow.current = new_node(shadow.current, shadow.instances, true);
}
KC_CHECKED_EXPORT void kc_shadow_team_end() {
  kc::Unbroken guard;
  shadow.current = shadow.teams.back().outside;
  shadow.forks.pop_back();
  shadow.teams.pop_back();
}

// All threads of the team have come here before any goes on.
KC_CHECKED_EXPORT void kc_shadow_barrier() {
  kc::Unbroken guard;
  if (shadow.teams.empty() || shadow.forks.size() != shadow.teams.back().forks)
    return;
  shadow.forks.back().first = ++shadow.instances;
  shadow.current = new_node(shadow.teams.back().outside, shadow.instances, true);
}

// A loop whose iterations a team shares out (kc_shadow_iteration starts each), with the barrier at its end. Outside of
// a team, a parallel loop.
KC_CHECKED_EXPORT void kc_shadow_share() {
  kc::Unbroken guard;
  bool by_team = !shadow.teams.empty() && shadow.forks.size() == shadow.teams.back().forks;
  shadow.shared.push_back(by_team);
  if (!by_team)
    kc_shadow_fork();
}
KC_CHECKED_EXPORT void kc_shadow_share_end() {
  kc::Unbroken guard;
  bool by_team = shadow.shared.back();
  shadow.shared.pop_back();
  if (by_team)
    kc_shadow_barrier();
  else
    kc_shadow_join();
}

// What no two threads do at once starts, or ends.
KC_CHECKED_EXPORT void kc_shadow_critical(int64_t on) { shadow.critical += on ? 1 : -1; }
