"""Ops of the grid: numbers of blocks and threads, shuffles, votes and reductions in a warp."""
from __future__ import annotations

from typing import Any

import numpy as np

from kc.agents.execution.errors import ExecutionError
from kc.agents.execution.grid.groups import WARP, block_of, divergent, members
from kc.agents.execution.grid.nodes import Node
from kc.agents.execution.grid.registry import FUNCTIONS, op
from kc.agents.execution.grid.storage import new_view
from kc.agents.execution.grid.vectors import combiner
from kc.agents.execution.grid.warp import Warp

Array = np.ndarray


# ------------------------------------------------------------------------------------------------------- numbers


def coordinate(warp: Warp, what: str, axis: int) -> Array:
    """``block_id``, ``thread_id``, ``grid_dim`` or ``block_dim`` along an axis."""
    block = block_of(warp)
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
    block_of(warp, node)
    axis = "xyz".index(node.attributes["dimension"].split()[-1].strip(">"))
    if node.name == "gpu.global_id":
        block, size, thread = (coordinate(warp, name, axis) for name in ("block_id", "block_dim", "thread_id"))
        return block * size + thread
    return coordinate(warp, node.name[4:], axis).astype(np.int64)


@op("gpu.lane_id", "nvvm.read.ptx.sreg.laneid")
def _lane(warp: Warp, node: Node, values: list[Any], mask: Array) -> Array:
    return warp.lane.astype(node.types[0].dtype)


@op("gpu.subgroup_id", "gpu.num_subgroups", "gpu.subgroup_size", "nvvm.read.ptx.sreg.warpid",
    "nvvm.read.ptx.sreg.warpsize")
def _warps(warp: Warp, node: Node, values: list[Any], mask: Array) -> Array:
    block = block_of(warp, node)
    if node.name.endswith("size"):
        value = WARP
    elif node.name == "gpu.num_subgroups":
        value = -(-block.grid.threads_per_block // WARP)
    else:
        return warp.group.astype(node.types[0].dtype)
    return np.array([value]).astype(node.types[0].dtype)


def _register(name: str, what: str) -> None:
    for axis, letter in enumerate("xyz"):
        FUNCTIONS[f"nvvm.read.ptx.sreg.{name}.{letter}"] = (
            lambda warp, node, values, mask, axis=axis: coordinate(warp, what, axis).astype(np.int32)
        )


for _name, _what in (("tid", "thread_id"), ("ctaid", "block_id"), ("nctaid", "grid_dim"), ("ntid", "block_dim")):
    _register(_name, _what)


@op("gpu.dynamic_shared_memory")
def _dynamic(warp: Warp, node: Node, values: list[Any], mask: Array) -> Any:
    region = block_of(warp, node).dynamic()
    return new_view(warp, node.types[0], [np.array([region.size])], np.array([region.base]))


# ------------------------------------------------------------------------------------------------- between lanes


def exchange(warp: Warp, node: Node, value: Array, source: Array, valid: Array, mask: Array) -> Array:
    """Each lane's ``value`` from lane ``source`` of its warp where ``valid``, else its own."""
    value = warp.spread(value)
    place = warp.position[np.clip(warp.group * WARP + source, 0, len(warp.position) - 1)]
    away = valid & mask & ((source < 0) | (source >= WARP) | (place < 0) | ~mask[np.maximum(place, 0)])
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
    members(warp, node, bits, mask)
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
        members(warp, node, values[1], mask)
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
    members(warp, node, values[0], mask)
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
