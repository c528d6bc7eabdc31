"""Bulk copies between global and shared memory, by tensor maps and by plain addresses (PTX ISA, "cp.async.bulk").

A copy in is under way from where it is issued until nothing else can happen: then it arrives, and its bytes count for
its mbarrier. A copy out reads at once, and counts as reading (and writing) until its thread waits for its group.
"""
from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np

from kc.agents.execution.errors import ExecutionError
from kc.agents.execution.grid import mbarriers, tensor_maps
from kc.agents.execution.grid.agent import Agent
from kc.agents.execution.grid.clocks import FOREVER
from kc.agents.execution.grid.groups import block_of
from kc.agents.execution.grid.mbarriers import MBarrier
from kc.agents.execution.grid.nodes import Node
from kc.agents.execution.grid.registry import op
from kc.agents.execution.grid.tensor_maps import CHUNK

if TYPE_CHECKING:
    from kc.agents.execution.grid.blocks import Cluster
    from kc.agents.execution.grid.machine import Machine
    from kc.agents.execution.grid.memory import Region
    from kc.agents.execution.grid.warp import Warp

Array = np.ndarray


@dataclasses.dataclass
class Flight:
    """A copy into shared memory that is under way: ``places`` (chunks, bytes) of ``region`` get ``raw``."""

    node: Node
    writer: Agent
    region: Region | None
    places: Array
    raw: Array
    barrier: MBarrier
    bytes: int


class Flights:
    """The copies into shared memory that are under way in a cluster."""

    def __init__(self, machine: Machine):
        self._machine, self._order, self._waiting = machine, machine.checks.order, list[Flight]()
        self._turn = 0

    def add(self, flight: Flight) -> None:
        self._waiting.append(flight)

    def deliver(self) -> bool:
        """Let one arrive; whether there was one."""
        if not self._waiting:
            return False
        self._turn += 1
        last = self._order == "reversed" or (self._order == "interleaved" and self._turn % 2)
        flight = self._waiting.pop(-1 if last else 0)
        barrier = flight.barrier
        if barrier.pending == 0 and 0 < barrier.bytes < flight.bytes:  # fewer are expected than come
            flight.bytes -= barrier.bytes
            barrier.bytes = 0
            barrier.settle()
            self._waiting.append(flight)
            return True
        if flight.region is not None:
            flight.region.data[flight.places] = flight.raw
            flight.region.written[flight.places] = True
            if self._machine.memory.touched is not None:
                self._machine.now = flight.node
                self._machine.memory.touched(flight.region, flight.places[:, 0], CHUNK, False)
            flight.writer.settle(flight.region, flight.places, barrier.number + 1)
        barrier.bytes -= flight.bytes
        barrier.settle()
        return True

    def end(self, cluster: Cluster) -> None:
        """The threads have ended: tell of copies that are still under way."""
        for flight in self._waiting:
            who = flight.writer
            who.tell(who.findings, "races", "race", flight.region.name if flight.region else "", 0, flight.bytes, 0,
                     "is under way into shared memory when the block ends")
        for block in cluster.blocks:
            for out in block.outgoing.values():
                if out.issued > out.read:
                    out.who.tell(out.who.findings, "races", "race", "shared memory", 0, 0, 0,
                                 "may still read shared memory when the block ends: its thread does not wait for it")


class Outgoing:
    """The bulk copies out of one thread: groups ``committed``, of the last copy ``issued``, waited for ``read``."""

    def __init__(self) -> None:
        self.committed = self.issued = self.read = 0
        self.reader = self.writer = -1
        self.who: Agent


def _outgoing(warp: Warp, node: Node, lane: int) -> Outgoing:
    block = block_of(warp, node)
    thread = int(warp.who.threads[lane])
    if thread not in block.outgoing:
        made = block.outgoing[thread] = Outgoing()
        made.reader = block.clocks.agent(("out", thread), f"a bulk copy of thread {thread - block.first}")
        made.writer = block.clocks.agent(("into", thread), f"a bulk copy of thread {thread - block.first}")
    found: Outgoing = block.outgoing[thread]
    return found


# ------------------------------------------------------------------------------------------------------- copies in


def _refuse(node: Node, groups: list[list[Any]], names: tuple[tuple[int, str], ...]) -> None:
    for position, name in names:
        if position < len(groups) and groups[position]:
            message = f"{node.name} with {name} at {node.place} cannot be emulated"
            raise ExecutionError("unsupported", message, node.name)
    mode = str(node.attributes.get("mode", "tile"))
    if "tile" not in mode or "gather" in mode or "scatter" in mode or node.attributes.get("group") is not None:
        raise ExecutionError("unsupported", f"{node.name} of mode {mode} (or for two blocks) at {node.place} cannot be "
                             "emulated: only tiles", node.name)


def _aligned(warp: Warp, lane: int, address: int, wanted: int, what: str) -> None:
    if address % wanted:
        warp.who.tell(warp.findings, "bounds", "alignment", "", 0, wanted, lane,
                      f"has {what} that is not a multiple of {wanted} bytes")


@op("nvvm.cp.async.bulk.tensor.shared.cluster.global")
def _tensor_in(warp: Warp, node: Node, values: list[Any], mask: Array) -> tuple[()]:
    groups = warp.groups(node, values)
    _refuse(node, groups, ((4, "im2col offsets"), (5, "a multicast mask"), (7, "a predicate (use scf.if)")))
    (target,), (source,), starts, (bar,) = groups[:4]
    for lane in np.flatnonzero(mask):
        at = int(warp.spread(target)[lane])
        tensor = tensor_maps.read(warp, node, int(warp.spread(source)[lane]))
        start = _start(warp, node, tensor, starts, int(lane))
        chunks = tensor.chunks(start)
        _aligned(warp, int(lane), at, 128, "a shared address")
        _in(warp, node, int(lane), int(warp.spread(bar)[lane]), chunks.addresses, tensor.swizzled(at + chunks.places),
            chunks.inside, tensor.element)
    return ()


def _start(warp: Warp, node: Node, tensor: tensor_maps.TensorMap, starts: list[Any], lane: int) -> list[int]:
    if len(starts) != len(tensor.dims):
        raise ExecutionError("compile", f"{node.name} at {node.place} gives {len(starts)} coordinates for a tensor map "
                             f"of rank {len(tensor.dims)}", node.name)
    return [int(warp.spread(s)[lane]) for s in starts]


@op("nvvm.cp.async.bulk.shared.cluster.global")
def _in_plain(warp: Warp, node: Node, values: list[Any], mask: Array) -> tuple[()]:
    groups = warp.groups(node, values)
    _refuse(node, groups, ((4, "a multicast mask"),))
    target, source, bar, size = (warp.spread(group[0]) for group in groups[:4])
    for lane in np.flatnonzero(mask):
        count = _size(warp, int(lane), int(size[lane]))
        _aligned(warp, int(lane), int(target[lane]), CHUNK, "a shared address")
        _aligned(warp, int(lane), int(source[lane]), CHUNK, "a global address")
        steps = CHUNK * np.arange(count // CHUNK)
        _in(warp, node, int(lane), int(bar[lane]), int(source[lane]) + steps, int(target[lane]) + steps,
            np.ones((len(steps), 1), np.bool_), CHUNK)
    return ()


def _size(warp: Warp, lane: int, size: int) -> int:
    if size % CHUNK or size < 0:
        warp.who.tell(warp.findings, "bounds", "alignment", "", 0, size, lane,
                      f"copies {size} bytes: a multiple of {CHUNK}")
    return max(size, 0) // CHUNK * CHUNK


def _in(
    warp: Warp, node: Node, lane: int, bar: int, sources: Array, targets: Array, inside: Array, element: int
) -> None:
    """Set a copy of chunks on: (chunks, elements) ``inside`` the tensor, zeros for the others."""
    block = block_of(warp, node)
    barrier = mbarriers.known(warp, node, bar, lane, agent=True)
    count = len(sources)
    reader = Agent(warp.who, np.array([lane]), barrier.agent, min(barrier.number + 1, FOREVER - 1), count)
    raw = _gather(warp, reader, sources, inside, element)
    writer = Agent(warp.who, np.array([lane]), barrier.agent, FOREVER, count)
    region, places, kept = None, np.zeros((0, CHUNK), np.int64), raw
    for found, lanes, offsets in warp.memory.by_region(writer, targets, CHUNK, np.ones(count, np.bool_), "writes"):
        if found not in block.regions:
            raise ExecutionError("unsupported", f"{node.name} at {node.place} into what is not the block's shared "
                                 "memory cannot be emulated", node.name)
        region, kept = found, raw[lanes]
        places = offsets[:, None] + np.arange(CHUNK)
        writer.writes(found, lanes, places, False, raw)
    block.cluster.flights.add(Flight(node, writer, region, places, kept, barrier, count * CHUNK))


def _gather(warp: Warp, reader: Agent, sources: Array, inside: Array, element: int) -> Array:
    whole: Array = np.asarray(inside.all(axis=1))
    raw = np.where(whole[:, None], warp.memory.load(reader, sources, CHUNK, whole), 0).astype(np.uint8)
    if not whole.all():
        for place in range(inside.shape[1]):
            some = inside[:, place] & ~whole
            if some.any():
                one = warp.memory.load(reader, sources + place * element, element, some)
                raw[some, place * element : (place + 1) * element] = one[some]
    return raw


# ------------------------------------------------------------------------------------------------------ copies out


@op("nvvm.cp.async.bulk.tensor.global.shared.cta")
def _tensor_out(warp: Warp, node: Node, values: list[Any], mask: Array) -> tuple[()]:
    groups = warp.groups(node, values)
    _refuse(node, groups, ((4, "a predicate (use scf.if)"),))
    (target,), (source,), starts = groups[:3]
    for lane in np.flatnonzero(mask):
        at = int(warp.spread(source)[lane])
        tensor = tensor_maps.read(warp, node, int(warp.spread(target)[lane]))
        chunks = tensor.chunks(_start(warp, node, tensor, starts, int(lane)))
        _aligned(warp, int(lane), at, 128, "a shared address")
        _out(warp, node, int(lane), tensor.swizzled(at + chunks.places), chunks.addresses, chunks.inside,
             tensor.element)
    return ()


@op("nvvm.cp.async.bulk.global.shared.cta")
def _out_plain(warp: Warp, node: Node, values: list[Any], mask: Array) -> tuple[()]:
    groups = warp.groups(node, values)
    _refuse(node, groups, ((4, "a byte mask"),))
    target, source, size = (warp.spread(group[0]) for group in groups[:3])
    for lane in np.flatnonzero(mask):
        count = _size(warp, int(lane), int(size[lane]))
        _aligned(warp, int(lane), int(source[lane]), CHUNK, "a shared address")
        _aligned(warp, int(lane), int(target[lane]), CHUNK, "a global address")
        steps = CHUNK * np.arange(count // CHUNK)
        _out(warp, node, int(lane), int(source[lane]) + steps, int(target[lane]) + steps,
             np.ones((len(steps), 1), np.bool_), CHUNK)
    return ()


def _out(warp: Warp, node: Node, lane: int, sources: Array, targets: Array, inside: Array, element: int) -> None:
    out = _outgoing(warp, node, lane)
    clock = out.issued = out.committed + 1
    count = len(sources)
    reader, writer = (Agent(warp.who, np.array([lane]), column, clock, count) for column in (out.reader, out.writer))
    out.who = reader
    raw = warp.memory.load(reader, sources, CHUNK, np.asarray(inside.any(axis=1)))
    whole: Array = np.asarray(inside.all(axis=1))
    warp.memory.store(writer, targets, raw, whole)
    if not whole.all():
        for place in range(inside.shape[1]):
            some = inside[:, place] & ~whole
            if some.any():
                one = np.ascontiguousarray(raw[:, place * element : (place + 1) * element])
                warp.memory.store(writer, targets + place * element, one, some)


@op("nvvm.cp.async.bulk.commit.group")
def _commit(warp: Warp, node: Node, values: list[Any], mask: Array) -> tuple[()]:
    for lane in np.flatnonzero(mask):
        if int(warp.who.threads[lane]) in block_of(warp, node).outgoing:  # groups before the first copy are empty
            _outgoing(warp, node, int(lane)).committed += 1
    return ()


@op("nvvm.cp.async.bulk.wait_group")
def _wait(warp: Warp, node: Node, values: list[Any], mask: Array) -> tuple[()]:
    clocks = block_of(warp, node).clocks
    for lane in np.flatnonzero(mask):
        if int(warp.who.threads[lane]) not in block_of(warp).outgoing:
            continue
        out, thread = _outgoing(warp, node, int(lane)), warp.who.threads[lane : lane + 1]
        done = max(out.committed - int(node.attributes["group"]), 0)
        out.read = max(out.read, done)
        clocks.learn(thread, out.reader, done)
        if not node.attributes.get("read"):
            clocks.learn(thread, out.writer, done)
    return ()


@op("nvvm.cp.async.bulk.tensor.prefetch")
def _prefetch_tensor(warp: Warp, node: Node, values: list[Any], mask: Array) -> tuple[()]:
    for lane in np.flatnonzero(mask):
        tensor_maps.read(warp, node, int(warp.spread(values[0])[lane]))
    return ()


@op("nvvm.cp.async.bulk.prefetch")
def _prefetch(warp: Warp, node: Node, values: list[Any], mask: Array) -> tuple[()]:
    source, size = (warp.spread(value) for value in values[:2])
    for lane in np.flatnonzero(mask):
        _aligned(warp, int(lane), int(source[lane]), CHUNK, "a global address")
        count = _size(warp, int(lane), int(size[lane]))
        warp.memory.moving(warp.who, source[lane : lane + 1], count, np.ones(1, np.bool_))  # tells of bytes outside
    return ()
