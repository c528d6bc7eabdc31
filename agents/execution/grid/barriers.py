"""Barriers of blocks and warps, fences of memory and of proxies."""
from __future__ import annotations

from typing import Any

import numpy as np

from kc.agents.execution.errors import ExecutionError
from kc.agents.execution.grid.groups import WARP, block_of, divergent, members
from kc.agents.execution.grid.machine import Stopped
from kc.agents.execution.grid.nodes import Node
from kc.agents.execution.grid.registry import control, op
from kc.agents.execution.grid.types import GLOBAL, SHARED
from kc.agents.execution.grid.warp import NeedWarps, Steps, Warp

Array = np.ndarray
_ALL = (SHARED, GLOBAL)
_REGISTERS = 65536


@control("gpu.barrier", "nvvm.barrier", "nvvm.barrier0", "rocdl.barrier")
def _barrier(warp: Warp, node: Node, mask: Array) -> Steps:
    block_of(warp, node)
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
        _named(node, key, wanted)
    partial = wanted is not None and wanted < block_of(warp).grid.threads_per_block
    if partial and warp.whole and len(warp.threads) > WARP:
        raise NeedWarps
    if divergent(warp, node, mask, "barrier"):
        return []  # it would wait forever; the finding says so
    yield ("barrier", key, wanted if partial else None, _spaces(node), int(mask.sum()))
    return []


def _named(node: Node, key: int, wanted: int | None) -> None:
    if not 0 <= key < 16 or (wanted is not None and (wanted <= 0 or wanted % WARP)):
        raise Stopped("barrier", f"{node.name} at {node.place} of number {key} for {wanted} threads: numbers 0 to 15, "
                      f"multiples of {WARP} threads")


def _spaces(node: Node) -> tuple[str, ...]:
    """Address spaces whose accesses the barrier orders."""
    named = node.attributes.get("address_spaces")
    if named is None:
        return _ALL
    text = " ".join(map(str, named))
    return tuple(space for space in _ALL if space in text)


@control("nvvm.barrier.arrive")
def _arrive(warp: Warp, node: Node, mask: Array) -> Steps:
    block_of(warp, node)
    if warp.whole and len(warp.threads) > WARP:
        raise NeedWarps
    which, count = node.operands[:-1], node.operands[-1:]
    key, wanted = int(warp.env[which[0]].max()) if which else 0, int(warp.env[count[0]].max())
    _named(node, key, wanted)
    divergent(warp, node, mask, "barrier")
    yield ("arrive", key, wanted, _ALL, int(mask.sum()), mask.copy())
    return []


def _join_warp(warp: Warp, mask: Array, spaces: tuple[str, ...] = _ALL) -> None:
    for group in warp.by_warp(mask):
        block_of(warp).clocks.join(warp.who.threads[group], spaces)


@op("nvvm.bar.warp.sync")
def _sync_warp(warp: Warp, node: Node, values: list[Any], mask: Array) -> tuple[()]:
    members(warp, node, values[0], mask)
    _join_warp(warp, mask)
    return ()


@op("nvvm.memory.barrier", "nvvm.fence.sc.cluster", "llvm.fence")
def _fence(warp: Warp, node: Node, values: list[Any], mask: Array) -> tuple[()]:
    scope = " ".join(str(v) for v in node.attributes.values())
    block = block_of(warp, node)
    if not any(name in scope for name in ("cta", "block", "workgroup", "singlethread", "warp")):
        for thread in warp.who.threads[mask].tolist():
            block.clocks.give(thread, block.cluster.barrier.fenced.setdefault(thread, {}))
    if any(name in scope for name in ("cta", "block", "workgroup", "cluster", "singlethread", "warp")):
        return ()  # between blocks it orders nothing
    for lane in np.flatnonzero(mask):
        block.clocks.fence(int(warp.who.threads[lane]))
    return ()


@op("nvvm.fence.proxy")
def _fence_proxy(warp: Warp, node: Node, values: list[Any], mask: Array) -> tuple[()]:
    a = {name: str(value) for name, value in node.attributes.items()}
    if "async" not in a["kind"]:
        raise ExecutionError("unsupported", f"{node.name} of kind {a['kind']} at {node.place} cannot be emulated: only "
                             "those of the asynchronous proxy", node.name)
    spaces = (SHARED,) if "shared" in a["kind"] else (GLOBAL,) if "global" in a["kind"] else _ALL
    block_of(warp, node).clocks.fence_proxy(warp.who.threads[mask], spaces)
    return ()


@op("nvvm.setmaxregister")
def _registers(warp: Warp, node: Node, values: list[Any], mask: Array) -> tuple[()]:
    """A warpgroup takes registers or gives them back; one that takes waits until enough were given back."""
    block = block_of(warp, node)
    divergent(warp, node, mask, node.name)
    threads, count = block.grid.threads_per_block, int(node.attributes["regCount"])
    groups = -(-threads // (4 * WARP))
    at_first = min(_REGISTERS // threads // 8 * 8, 255)
    for group in np.unique(warp.threads[mask] // (4 * WARP)):
        block.registers[int(group)] = count
    total = 4 * WARP * sum(block.registers.get(group, at_first) for group in range(groups))
    if total > _REGISTERS:
        block.short = (warp.who, node.place, total)
    else:
        block.short = None
    return ()


@op("nvvm.prefetch", "memref.prefetch",
    "llvm.intr.assume", "nvvm.breakpoint", "gpu.wait")
def _nothing(warp: Warp, node: Node, values: list[Any], mask: Array) -> tuple[()]:
    if node.results:
        raise ExecutionError("unsupported", f"{node.name} with a result at {node.place}", node.name)
    return ()
