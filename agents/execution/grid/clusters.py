"""Clusters of blocks: their numbers, their barrier, and shared memory of other blocks."""
from __future__ import annotations

from typing import Any

import numpy as np

from kc.agents.execution.errors import ExecutionError
from kc.agents.execution.grid.clocks import Clocks
from kc.agents.execution.grid.groups import WARP, block_of, divergent
from kc.agents.execution.grid.nodes import Node
from kc.agents.execution.grid.registry import FUNCTIONS, control, op
from kc.agents.execution.grid.warp import NeedWarps, Steps, Warp

Array = np.ndarray


class ClusterBarrier:
    """All threads of a cluster arrive, and may wait later. Those that have ended count as arrived."""

    def __init__(self, count: int):
        self._count, self.number = count, 0
        #: the phases that each thread has arrived in, and waited for; ``_gone``: it has ended
        self.arrivals, self.waits = np.zeros(count, np.int64), np.zeros(count, np.int64)
        self._gone = np.zeros(count, np.bool_)
        self._rows: dict[str, Array] = {}
        self.released: dict[str, Array] = {}
        #: what each thread knew at its last fence of the cluster's scope: what a relaxed arrival passes on
        self.fenced: dict[int, dict[str, Array]] = {}

    def arrive(self, clocks: Clocks, thread: int, relaxed: bool) -> None:
        """A thread arrives."""
        if not relaxed:
            clocks.give(thread, self._rows)
        for name, row in self.fenced.get(thread, {}).items() if relaxed else ():
            self._rows[name] = np.maximum(self._rows[name], row) if name in self._rows else row
        self.arrivals[thread] += 1
        self._settle()

    def leave(self, threads: Array) -> None:
        """Threads have ended."""
        self._gone[threads] = True
        self._settle()

    def _settle(self) -> None:
        if not self._gone.all() and (self._gone | (self.arrivals > self.number)).all():
            self.number += 1
            self.released, self._rows = self._rows, {}


@op("nvvm.cluster.arrive", "nvvm.cluster.arrive.relaxed")
def _arrive(warp: Warp, node: Node, values: list[Any], mask: Array) -> tuple[()]:
    block = block_of(warp, node)
    if node.attributes.get("aligned"):
        divergent(warp, node, mask, "barrier")
    barrier = block.cluster.barrier
    for lane in np.flatnonzero(mask):
        thread = int(warp.who.threads[lane])
        if barrier.arrivals[thread] > barrier.waits[thread]:
            warp.who.tell(warp.findings, "divergence", "barrier", "cluster barrier", 0, 0, int(lane),
                          "arrives again before it has waited")
        barrier.arrive(block.clocks, thread, node.name.endswith("relaxed"))
    return ()


@control("nvvm.cluster.wait")
def _wait(warp: Warp, node: Node, mask: Array) -> Steps:
    if len(warp.threads) > WARP:
        raise NeedWarps
    block = block_of(warp, node)
    barrier, threads = block.cluster.barrier, warp.who.threads[mask]
    if node.attributes.get("aligned"):
        divergent(warp, node, mask, "barrier")
    missing = barrier.arrivals[threads] <= barrier.waits[threads]
    if missing.any():
        warp.who.tell(warp.findings, "divergence", "barrier", "cluster barrier", 0, 0,
                      int(np.flatnonzero(mask)[np.flatnonzero(missing)[0]]), "waits without having arrived")
        return []
    first = True
    while (barrier.number < barrier.arrivals[threads]).any():
        yield ("pause", first, node)
        first = False
    block.clocks.take(threads, barrier.released)
    barrier.waits[threads] = barrier.arrivals[threads]
    return []


@op("nvvm.mapa")
def _mapa(warp: Warp, node: Node, values: list[Any], mask: Array) -> Array:
    """The address in another block's shared memory of what lies at this one's ``values[0]``."""
    block = block_of(warp, node)
    addresses, ranks = warp.spread(values[0]), warp.spread(values[1])
    result = np.zeros(warp.lanes, np.int64)
    for lane in np.flatnonzero(mask):
        address, rank = int(addresses[lane]), int(ranks[lane])
        if not 0 <= rank < len(block.cluster.blocks):
            warp.who.tell(warp.findings, "bounds", "bounds", "cluster", rank, 0, int(lane),
                          f"asks for block {rank} of a cluster of {len(block.cluster.blocks)}")
            continue
        region = warp.memory.region(address)
        twin = block.twin(block.cluster.blocks[rank], region) if region is not None else None
        if region is None or twin is None:
            raise ExecutionError("unsupported", f"{node.name} at {node.place} of what is not the block's shared memory",
                                 node.name)
        result[lane] = twin.base + address - region.base
    return result


def _register(name: str, what: str, axis: int, dtype: Any) -> None:
    def apply(warp: Warp, node: Node, values: list[Any], mask: Array) -> Array:
        block = block_of(warp, node)
        size, index, count = (int(t[axis]) for t in (block.grid.cluster, block.index, block.grid.blocks))
        value = {"place": index % size, "size": size, "number": index // size, "count": count // size}[what]
        return np.array([value], dtype)

    FUNCTIONS[name] = apply


for _axis, _letter in enumerate("xyz"):
    for _name, _what in (("cluster.ctaid", "place"), ("cluster.nctaid", "size"), ("clusterid", "number"),
                         ("nclusterid", "count")):
        _register(f"nvvm.read.ptx.sreg.{_name}.{_letter}", _what, _axis, np.int32)


@op("gpu.cluster_id", "gpu.cluster_dim", "gpu.cluster_block_id", "gpu.cluster_dim_blocks")
def _gpu_ids(warp: Warp, node: Node, values: list[Any], mask: Array) -> Array:
    letter = node.attributes["dimension"].split()[-1].strip(">")
    name = {"gpu.cluster_id": "clusterid", "gpu.cluster_dim": "nclusterid", "gpu.cluster_block_id": "cluster.ctaid",
            "gpu.cluster_dim_blocks": "cluster.nctaid"}[node.name]
    found: Array = FUNCTIONS[f"nvvm.read.ptx.sreg.{name}.{letter}"](warp, node, values, mask)
    return found.astype(np.int64)


@op("nvvm.read.ptx.sreg.cluster.ctarank", "nvvm.read.ptx.sreg.cluster.nctarank")
def _rank(warp: Warp, node: Node, values: list[Any], mask: Array) -> Array:
    block = block_of(warp, node)
    return np.array([len(block.cluster.blocks) if node.name.endswith("nctarank") else block.rank], np.int32)
