"""Ops of the grid: numbers of blocks and threads, barriers, shuffles and votes, copies under way, fences."""
from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from kc.agents.execution.errors import ExecutionError
from kc.agents.execution.grid.nodes import Node
from kc.agents.execution.grid.scalars import SCALARS, fma
from kc.agents.execution.grid.storage import from_bytes, new_view, to_bytes
from kc.agents.execution.grid.types import GLOBAL, SHARED
from kc.agents.execution.grid.vectors import combiner
from kc.agents.execution.grid.warp import COLLECTIVE, NeedWarps, Steps, Warp, control

if TYPE_CHECKING:
    from kc.agents.execution.grid.launch import BlockState

Array = np.ndarray
_WARP = 32
_ALL = (SHARED, GLOBAL)


def op(*names: str) -> Any:
    """Register a function of (warp, node, values, mask)."""

    def register(function: Any) -> Any:
        COLLECTIVE.update(dict.fromkeys(names, function))
        return function

    return register


def _block(warp: Warp, node: Node | None = None) -> BlockState:
    if warp.block is None:
        where = f"'{node.name}' at {node.place}" if node else "this op"
        raise ExecutionError("unsupported", f"{where} stands outside of a kernel", node.name if node else "")
    return warp.block


# ------------------------------------------------------------------------------------------------------- numbers


def number(warp: Warp, what: str, axis: int) -> Array:
    """``block_id``, ``thread_id``, ``grid_dim`` or ``block_dim`` along an axis."""
    block = _block(warp)
    if what == "block_id":
        return np.array([block.index[axis]])
    if what == "grid_dim":
        return np.array([block.grid.blocks[axis]])
    if what == "block_dim":
        return np.array([block.grid.threads[axis]])
    x, y, _ = block.grid.threads
    return (warp.threads % x, warp.threads // x % y, warp.threads // (x * y))[axis]


@op("gpu.thread_id", "gpu.block_id", "gpu.grid_dim", "gpu.block_dim", "gpu.global_id")
def _id(warp: Warp, node: Node, values: list[Any], mask: Array) -> Array:
    _block(warp, node)
    axis = "xyz".index(node.attributes["dimension"].split()[-1].strip(">"))
    if node.name == "gpu.global_id":
        return number(warp, "block_id", axis) * number(warp, "block_dim", axis) + number(warp, "thread_id", axis)
    return number(warp, node.name[4:], axis).astype(np.int64)


@op("gpu.lane_id", "nvvm.read.ptx.sreg.laneid")
def _lane(warp: Warp, node: Node, values: list[Any], mask: Array) -> Array:
    return warp.lane.astype(node.types[0].dtype)


@op("gpu.subgroup_id", "gpu.num_subgroups", "gpu.subgroup_size", "nvvm.read.ptx.sreg.warpid",
    "nvvm.read.ptx.sreg.warpsize")
def _warps(warp: Warp, node: Node, values: list[Any], mask: Array) -> Array:
    block = _block(warp, node)
    if node.name.endswith("size"):
        value = _WARP
    elif node.name == "gpu.num_subgroups":
        value = -(-block.grid.threads_per_block // _WARP)
    else:
        return warp.group.astype(node.types[0].dtype)
    return np.array([value]).astype(node.types[0].dtype)


def _register(name: str, what: str) -> None:
    for axis, letter in enumerate("xyz"):
        COLLECTIVE[f"nvvm.read.ptx.sreg.{name}.{letter}"] = (
            lambda warp, node, values, mask, axis=axis: number(warp, what, axis).astype(np.int32)
        )


for _name, _what in (("tid", "thread_id"), ("ctaid", "block_id"), ("nctaid", "grid_dim"), ("ntid", "block_dim")):
    _register(_name, _what)


@op("gpu.dynamic_shared_memory")
def _dynamic(warp: Warp, node: Node, values: list[Any], mask: Array) -> Any:
    region = _block(warp, node).dynamic()
    return new_view(warp, node.types[0], [np.array([region.size])], np.array([region.base]))


# ------------------------------------------------------------------------------------------------------- barriers


def divergent(warp: Warp, node: Node, mask: Array, what: str) -> bool:
    """Tell when not all lanes of a warp are here; that they have ended is no excuse."""
    if mask.all():
        return False
    here = np.unique(warp.group[mask])
    if warp.whole and len(warp.threads) > _WARP and (mask == np.isin(warp.group, here)).all():
        raise NeedWarps  # whole warps are elsewhere, which they may
    mask = mask & (warp.group == next(g for g in here if not mask[warp.group == g].all()))
    elsewhere = (warp.group == warp.group[mask][0]) & ~mask
    missing = np.flatnonzero(elsewhere)
    how = "have ended" if not warp.live[missing[0]] else "are in another branch"
    lane = int(np.flatnonzero(mask)[0])
    warp.who.tell(warp.findings, "divergence", "barrier" if "barrier" in what else "shuffle", what, 0, 0, lane,
                  f"is reached by {int(mask.sum())} lanes of the warp; thread {int(warp.threads[missing[0]])} and "
                  f"others {how}")
    return True


@control("gpu.barrier", "nvvm.barrier", "nvvm.barrier0", "rocdl.barrier")
def _barrier(warp: Warp, node: Node, mask: Array) -> Steps:
    _block(warp, node)
    a = node.attributes
    if "subgroup" in str(a.get("scope", "")):
        divergent(warp, node, mask, "barrier")
        _join_warp(warp, mask, _spaces(node))
        return []
    key, wanted = 0, None
    if node.name == "nvvm.barrier":
        which, count = node.groups()
        key = int(warp.env[which[0]].max()) if which else 0
        wanted = int(warp.env[count[0]].max()) if count else None
    partial = wanted is not None and wanted < _block(warp).grid.threads_per_block
    if partial and warp.whole and len(warp.threads) > _WARP:
        raise NeedWarps
    if divergent(warp, node, mask, "barrier"):
        return []  # it would wait forever; the finding says so
    yield ("barrier", key, wanted if partial else None, _spaces(node), int(mask.sum()))
    return []


def _spaces(node: Node) -> tuple[str, ...]:
    """Address spaces whose accesses the barrier orders."""
    named = node.attributes.get("address_spaces")
    if named is None:
        return _ALL
    text = " ".join(map(str, named))
    return tuple(space for space in _ALL if space in text)


@control("nvvm.barrier.arrive")
def _arrive(warp: Warp, node: Node, mask: Array) -> Steps:
    raise ExecutionError("unsupported", f"nvvm.barrier.arrive at {node.place} cannot be emulated", node.name)
    yield ()


def _join_warp(warp: Warp, mask: Array, spaces: tuple[str, ...] = _ALL) -> None:
    for group in warp.by_warp(mask):
        _block(warp).clocks.join(warp.threads[group], spaces)


@op("nvvm.bar.warp.sync")
def _sync_warp(warp: Warp, node: Node, values: list[Any], mask: Array) -> tuple[()]:
    _members(warp, node, values[0], mask)
    _join_warp(warp, mask)
    return ()


def _members(warp: Warp, node: Node, bits: Array, mask: Array) -> None:
    """Tell when the lanes that are here are not those that the member mask names."""
    for group in warp.by_warp(mask):
        lane = int(np.flatnonzero(group)[0])
        named = int(warp.spread(bits)[lane]) & 0xFFFFFFFF
        wanted = (warp.group == warp.group[lane]) & (named >> warp.lane & 1 == 1)
        if (wanted != group).any():
            warp.who.tell(warp.findings, "divergence", "shuffle", "warp", 0, 0, lane,
                          f"names the lanes {named:#010x}, but it is reached by {int(group.sum())} lanes")


@op("nvvm.memory.barrier", "nvvm.fence.sc.cluster", "llvm.fence")
def _fence(warp: Warp, node: Node, values: list[Any], mask: Array) -> tuple[()]:
    scope = " ".join(str(v) for v in node.attributes.values())
    if any(name in scope for name in ("cta", "block", "workgroup", "cluster", "singlethread", "warp")):
        return ()  # between blocks it orders nothing
    for lane in np.flatnonzero(mask):
        _block(warp, node).clocks.fence(int(warp.threads[lane]))
    return ()


# ------------------------------------------------------------------------------------------------- between lanes


def exchange(warp: Warp, node: Node, value: Array, source: Array, valid: Array, mask: Array) -> Array:
    """Each lane's ``value`` from lane ``source`` of its warp where ``valid``, else its own."""
    value = warp.spread(value)
    place = warp.position[np.clip(warp.group * _WARP + source, 0, len(warp.position) - 1)]
    away = valid & mask & ((source < 0) | (source >= _WARP) | (place < 0) | ~mask[np.maximum(place, 0)])
    if away.any():
        lane = int(np.flatnonzero(away)[0])
        warp.who.tell(warp.findings, "divergence", "shuffle", "warp", 0, 0, lane,
                      f"takes the value of lane {int(source[lane])}, which is not there")
    taken = value[np.maximum(place, 0)]
    return np.where(valid.reshape((-1, *(1,) * (value.ndim - 1))), taken, value).astype(value.dtype)


def _source(mode: str, offset: Array, width: Array, lane: Array) -> tuple[Array, Array]:
    first = lane // width * width
    if mode in ("xor", "bfly"):
        source = lane ^ offset
        return source, source < first + width
    if mode == "up":
        source = lane - offset
        return source, source >= first
    if mode == "down":
        source = lane + offset
        return source, source < first + width
    source = first + offset % width
    return source, np.ones(len(lane), bool)


@op("gpu.shuffle")
def _shuffle(warp: Warp, node: Node, values: list[Any], mask: Array) -> tuple[Array, Array]:
    value, offset, width = (warp.spread(v) for v in values)
    divergent(warp, node, mask, "shuffle")
    mode = node.attributes["mode"].split()[-1].strip(">")
    source, valid = _source(mode, offset.astype(np.int64), width.astype(np.int64), warp.lane)
    return exchange(warp, node, value, source, valid, mask), valid


@op("nvvm.shfl.sync")
def _shfl(warp: Warp, node: Node, values: list[Any], mask: Array) -> Any:
    bits, value, offset, clamp = (warp.spread(v) for v in values)
    _members(warp, node, bits, mask)
    mode = node.attributes["kind"].split()[-1].strip(">")
    segment, last = clamp >> 8 & 31, clamp & 31
    lane = warp.lane
    low = lane & segment
    top = low | (last & ~segment)
    amount = offset.astype(np.int64) & 31
    if mode == "bfly":
        source, valid = lane ^ amount, (lane ^ amount) <= top
    elif mode == "up":
        source, valid = lane - amount, (lane - amount) >= low
    elif mode == "down":
        source, valid = lane + amount, (lane + amount) <= top
    else:
        source = low | (amount & ~segment)
        valid = source <= top
    made = exchange(warp, node, value, source, valid, mask)
    return (made, valid) if node.types[0].form == "struct" else made


@op("gpu.subgroup_reduce", "nvvm.redux.sync")
def _reduce(warp: Warp, node: Node, values: list[Any], mask: Array) -> Array:
    a = node.attributes
    if a.get("cluster_size"):
        raise ExecutionError("unsupported", f"gpu.subgroup_reduce in clusters at {node.place}", node.name)
    value = warp.spread(values[0])
    if node.name == "nvvm.redux.sync":
        _members(warp, node, values[1], mask)
    else:
        divergent(warp, node, mask, "subgroup_reduce")
    return _fold(warp, node, value, mask)


def _fold(warp: Warp, node: Node, value: Array, mask: Array) -> Array:
    text = str(node.attributes.get("op", node.attributes.get("kind")))
    name = {"umin": "minui", "umax": "maxui", "min": "minsi", "max": "maxsi"}.get(text.split()[-1].strip(">"), text)
    combine = combiner(node, name, value.dtype)
    result = value.copy()
    for group in warp.by_warp(mask):
        order = sorted(np.flatnonzero(group), key=lambda at: int(warp.lane[at]))
        total = value[order[0] : order[0] + 1]
        for lane in order[1:]:
            total = combine(total, value[lane : lane + 1])
        result[group] = total
    return result


@op("nvvm.vote.sync")
def _vote(warp: Warp, node: Node, values: list[Any], mask: Array) -> Array:
    _members(warp, node, values[0], mask)
    predicate = warp.spread(values[1])
    kind = node.attributes["kind"].split()[-1].strip(">")
    result = np.zeros(warp.lanes, np.int64)
    for group in warp.by_warp(mask):
        here = predicate & group
        if kind == "ballot":
            result[group] = sum(1 << int(lane) for lane in warp.lane[here])
        else:
            every = bool(predicate[group].all())
            result[group] = {"any": here.any(), "all": every, "uni": every or not here.any()}[kind]
    return result.astype(np.uint32).view(np.int32) if kind == "ballot" else result.astype(np.bool_)


@op("nvvm.elect.sync")
def _elect(warp: Warp, node: Node, values: list[Any], mask: Array) -> Array:
    chosen = np.zeros(warp.lanes, np.bool_)
    for group in warp.by_warp(mask):
        chosen[min(np.flatnonzero(group), key=lambda at: int(warp.lane[at]))] = True
    return chosen


# ----------------------------------------------------------------------------------------------- copies under way


@op("nvvm.cp.async.shared.global")
def _copy(warp: Warp, node: Node, values: list[Any], mask: Array) -> tuple[()]:
    target, source = warp.spread(values[0]), warp.spread(values[1])
    size = node.attributes["size"]
    bad = mask & ((target % size != 0) | (source % size != 0))
    if bad.any():
        warp.who.tell(warp.findings, "bounds", "alignment", "", 0, size, int(np.flatnonzero(bad)[0]),
                      f"copies {size} bytes between addresses that are not multiples of {size}")
    raw = np.zeros((warp.lanes, size), np.uint8)  # what is beyond the given size is filled with zeros
    taken = np.full(warp.lanes, size) if len(values) < 3 else warp.spread(values[2]).astype(np.int64)
    for length in np.unique(taken[mask]):
        here = mask & (taken == length)
        if length > 0:
            raw[here, :length] = warp.memory.load(warp.who, source, int(length), here)[here]
    warp.open_copies.append((target, raw, mask))
    return ()


def _together(warp: Warp, mask: Array) -> None:
    """Groups of copies are counted per thread: here for all lanes at once."""
    if not mask.all() and len(warp.threads) > _WARP:
        raise NeedWarps


@op("nvvm.cp.async.commit.group")
def _commit(warp: Warp, node: Node, values: list[Any], mask: Array) -> tuple[()]:
    _together(warp, mask)
    warp.groups_of_copies.append(warp.open_copies)
    warp.open_copies = []
    return ()


@op("nvvm.cp.async.wait.group", "nvvm.cp.async.wait.all")
def _wait(warp: Warp, node: Node, values: list[Any], mask: Array) -> tuple[()]:
    _together(warp, mask)
    if node.name.endswith("all"):
        _commit(warp, node, values, mask)
    while len(warp.groups_of_copies) > node.attributes.get("n", 0):
        for target, raw, lanes in warp.groups_of_copies.pop(0):
            warp.memory.store(warp.who, target, raw, lanes)
    return ()


# -------------------------------------------------------------------------------------------------- mbarriers


@dataclasses.dataclass
class MBarrier:
    """``pending``: arrivals that the phase still waits for, of ``count``; ``clocks``: of those who arrived."""

    count: int
    pending: int
    phase: int = 0
    bytes: int = 0
    arrived: dict[str, Array] = dataclasses.field(default_factory=dict)
    released: dict[str, Array] = dataclasses.field(default_factory=dict)

    def settle(self) -> None:
        """Go on to the next phase when nothing is missing."""
        if self.pending <= 0 and self.bytes <= 0:
            self.phase ^= 1
            self.pending = self.count
            self.released, self.arrived = self.arrived, {}


def _mbarrier(warp: Warp, node: Node, address: int) -> MBarrier:
    found = _block(warp, node).barriers.get(address)
    if found is None:
        message = f"{node.name} at {node.place} on an mbarrier that was not initialised"
        raise ExecutionError("unsupported", message, node.name)
    return found


@op("nvvm.mbarrier.init")
def _init(warp: Warp, node: Node, values: list[Any], mask: Array) -> tuple[()]:
    addresses, counts = warp.spread(values[0]), warp.spread(values[1])
    for lane in np.flatnonzero(mask):
        count = int(counts[lane])
        _block(warp, node).barriers[int(addresses[lane])] = MBarrier(count, count)
    return ()


@op("nvvm.mbarrier.arrive", "nvvm.mbarrier.arrive.expect_tx")
def _mbarrier_arrive(warp: Warp, node: Node, values: list[Any], mask: Array) -> Any:
    addresses = warp.spread(values[0])
    clocks = _block(warp, node).clocks
    for lane in np.flatnonzero(mask):
        barrier = _mbarrier(warp, node, int(addresses[lane]))
        thread = int(warp.threads[lane])
        for space in _ALL:
            row = clocks.of[space][thread]
            seen = barrier.arrived.get(space, row)
            barrier.arrived[space] = np.maximum(seen, row)
            clocks.of[space][thread, thread] += 1
        if node.name.endswith("expect_tx"):
            barrier.bytes += int(warp.spread(values[1])[lane])
        barrier.pending -= 1
        barrier.settle()
    return np.zeros(1, np.int64) if node.results else ()


@control("nvvm.mbarrier.try_wait.parity", "nvvm.mbarrier.test.wait")
def _try_wait(warp: Warp, node: Node, mask: Array) -> Steps:
    if len(warp.threads) > _WARP:
        raise NeedWarps
    addresses, parity = (warp.spread(warp.env[number]) for number in node.operands[:2])
    block = _block(warp, node)
    seen = np.zeros(warp.lanes, np.bool_)
    first = True
    while True:
        for lane in np.flatnonzero(mask & ~seen):
            barrier = _mbarrier(warp, node, int(addresses[lane]))
            if barrier.phase != int(parity[lane]) & 1:
                seen[lane] = True
                for space, row in barrier.released.items():
                    block.clocks.of[space][warp.threads[lane]] = np.maximum(
                        block.clocks.of[space][warp.threads[lane]], row
                    )
        if node.results or (seen | ~mask).all():  # a result says whether it is over; without one the op waits
            break
        yield ("pause", first)
        first = False
    yield ("pause", bool(seen.any()))
    return seen if node.results else []


@op("nvvm.fence.mbarrier.init", "nvvm.setmaxregister", "nvvm.fence.proxy", "nvvm.prefetch", "memref.prefetch",
    "llvm.intr.assume", "nvvm.breakpoint", "gpu.wait")
def _nothing(warp: Warp, node: Node, values: list[Any], mask: Array) -> tuple[()]:
    if node.results:
        raise ExecutionError("unsupported", f"{node.name} with a result at {node.place}", node.name)
    return ()


# ------------------------------------------------------------------------------------------------------ structs, asm


@op("llvm.extractvalue")
def _extractvalue(warp: Warp, node: Node, values: list[Any], mask: Array) -> Any:
    value = values[0]
    for place in node.attributes["position"]:
        value = value[place]
    return value


@op("llvm.insertvalue")
def _insertvalue(warp: Warp, node: Node, values: list[Any], mask: Array) -> Any:
    def put(into: Any, position: list[int]) -> Any:
        if not position:
            return values[1]
        return tuple(put(v, position[1:]) if i == position[0] else v for i, v in enumerate(into))

    return put(values[0], list(node.attributes["position"]))


def _flush(value: Array) -> Array:
    """Denormal f32 numbers as 0 (``.ftz``)."""
    return np.where(np.abs(value) < np.finfo(np.float32).tiny, np.copysign(0, value), value).astype(value.dtype)


_ASM = {
    "ex2.approx": "math.exp2", "lg2.approx": "math.log2", "sqrt.approx": "math.sqrt", "sqrt.rn": "math.sqrt",
    "rsqrt.approx": "math.rsqrt", "sin.approx": "math.sin", "cos.approx": "math.cos", "tanh.approx": "math.tanh",
    "abs": "math.absf", "neg": "arith.negf", "max": "arith.maxnumf", "min": "arith.minnumf",
    "max.NaN": "arith.maximumf", "min.NaN": "arith.minimumf", "add.rn": "arith.addf", "mul.rn": "arith.mulf",
    "div.rn": "arith.divf", "div.full": "arith.divf", "div.approx": "arith.divf",
}
_LINE = re.compile(r"^([a-z0-9]+(?:\.(?:approx|rn|full|NaN))?)(\.ftz)?\.(f16|bf16|f32|f64) (\$\d(?:, \$\d)*);$")


@op("llvm.inline_asm")
def _asm(warp: Warp, node: Node, values: list[Any], mask: Array) -> Array:
    """One instruction of a few; approximations are taken as exact."""
    match = _LINE.match(node.attributes["asm_string"].strip())
    if match is None or match[4] != ", ".join(f"${i}" for i in range(1 + len(values))):
        text = node.attributes["asm_string"]
        raise ExecutionError("unsupported", f"the assembly '{text[:60]}' at {node.place} cannot be emulated", node.name)
    name, flush = match[1], bool(match[2])
    arrays = [_flush(v) for v in values] if flush else values
    if name == "fma.rn":
        result = fma(node, *arrays)
    elif name == "rcp.approx" or name == "rcp.rn":
        result = (1 / arrays[0]).astype(arrays[0].dtype)
    elif name in _ASM:
        result = SCALARS[_ASM[name]](node, *arrays)
    else:
        raise ExecutionError("unsupported", f"the assembly '{match[0]}' at {node.place} cannot be emulated", node.name)
    return _flush(result) if flush else result


__all__ = ["MBarrier", "from_bytes", "number", "to_bytes"]
