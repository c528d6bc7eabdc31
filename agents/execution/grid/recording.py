"""Runs on the emulated machine of which each step is recorded, as ``kc.agents.execution.trace`` does of native code."""
from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kc.agents.execution.calls import Call, Checks
from kc.agents.execution.grid import registry
from kc.agents.execution.grid.machine import Program
from kc.agents.execution.grid.nodes import Node, Reader
from kc.agents.execution.grid.run import Run as Emulation
from kc.agents.execution.grid.types import type_of
from kc.agents.execution.grid.values import View
from kc.agents.execution.grid.warp import NeedWarps
from kc.agents.execution.signature import Signature
from kc.agents.execution.trace import MOST, Run, node_of
from kc.agents.execution.trace import Node as Known

if TYPE_CHECKING:
    from kc.agents.execution.grid.memory import Region
    from kc.agents.execution.grid.order import Who
    from kc.agents.execution.grid.warp import Warp
    from kc.bindings import ir

Array = np.ndarray


class Recorder:
    """The events of one call: those of one op together, lane by lane."""

    def __init__(self) -> None:
        self.count = 0
        self._ids: list[Array] = []
        self._bits: list[Array] = []
        self._links: list[Array] = []
        self._value: list[Array] = []
        #: of each op that computed values: first event, who, the lanes (None: the same in all)
        self._by: list[tuple[int, Who, Array | None]] = []

    def computed(self, warp: Warp, node: Node, results: Any, mask: Array) -> None:
        """An op has given values to the lanes of ``mask``."""
        number = node.attributes.get("kc.node")
        if number is None or self.count >= MOST:
            return
        several = isinstance(results, (list, tuple))
        for result in results if several else [results]:
            if not isinstance(result, np.ndarray) or result.ndim == 0:
                continue
            lanes = None
            if len(result) == warp.lanes and warp.lanes > 1:
                lanes = np.flatnonzero(mask)
                result = result[lanes]
            words = _words(result)
            if words is None:
                continue
            if len(words):
                each = len(words) // max(1, len(result))
                self._by.append((self.count, warp.who, None if lanes is None else np.repeat(lanes, each)))
            self._add(number, words, np.full(len(words), -1), True)

    def touched(self, node: Node | None, region: Region, offsets: Array, size: int, reads: bool) -> None:
        """Lanes read, or write, ``size`` bytes at ``offsets`` of a region."""
        number = -1 if node is None else node.attributes.get("kc.node", -1)
        if region.writers is None:
            region.writers = np.full(region.size, -1, np.int64)
        count = len(offsets)
        if reads:
            self._add(number, np.zeros(count, np.uint64), region.writers[offsets], False)
        else:
            region.writers[offsets[:, None] + np.arange(size)] = self.count + np.arange(count)[:, None]
            self._add(number, np.zeros(count, np.uint64), np.full(count, -1), False)

    def _add(self, number: int, words: Array, links: Array, value: bool) -> None:
        self._ids.append(np.full(len(words), number, np.int64))
        self._bits.append(words)
        self._links.append(links)
        self._value.append(np.full(len(words), value))
        self.count += len(words)

    def who(self, event: int) -> tuple[int, ...]:
        """Block and thread that an event is of; nothing of the host, and of what is the same in all threads."""
        for first, who, lanes in reversed(self._by):
            if first <= event:
                return () if lanes is None or event - first >= len(lanes) else who.name(int(lanes[event - first]))
        return ()

    def arrays(self) -> tuple[Array, Array, Array, Array]:
        """Node, bits, link and whether it is a value, of each event."""
        kinds: list[tuple[list[Array], Any]] = [
            (self._ids, np.int64), (self._bits, np.uint64), (self._links, np.int64), (self._value, np.bool_)
        ]
        ids, bits, links, value = (np.concatenate([np.zeros(0, kind), *parts]).astype(kind) for parts, kind in kinds)
        return ids, bits, links, value


def _words(values: Array) -> Array | None:
    """Numbers as words, lane by lane; None of what is none."""
    flat = np.ascontiguousarray(values).reshape(-1)
    if flat.dtype.kind == "c":
        flat = flat.view(f"f{flat.itemsize // 2}")
    if flat.dtype.kind == "O" or flat.itemsize not in (1, 2, 4, 8):
        return None
    return flat.view(f"u{flat.itemsize}").astype(np.uint64)


class Recorded(Emulation):
    """One call with a recorder."""

    def __init__(self, *given: Any):
        super().__init__(*given)
        self.recorder = Recorder()
        self.machine.record(self.recorder)
        self._returned_views: list[Any] = []

    def _returned(self, value: Any) -> Array:
        self._returned_views.append(value)
        return super()._returned(value)

    def run(self) -> Run:
        """Run to the end or to a fault."""
        outcome = self.outcome()
        ids, bits, links, value = self.recorder.arrays()
        writers = [] if outcome.fault is not None else [*map(self._view, self._returned_views), *self._writers()]
        found = Run(outcome, ids, bits, links, value, writers, self.recorder.count >= MOST)
        found.who = self.recorder.who
        return found

    def _view(self, value: Any) -> Array | None:
        if not isinstance(value, View):
            return None
        shape = tuple(int(s[0]) for s in value.sizes)
        grids = list(np.indices(shape).reshape(len(shape), math.prod(shape)))
        addresses = np.broadcast_to(value.addresses(grids), (math.prod(shape),))
        found = np.full(len(addresses), -1, np.int64)
        for k, address in enumerate(addresses.tolist()):
            region = self.machine.memory.region(address)
            if region is not None and region.writers is not None and 0 <= address - region.base < region.size:
                found[k] = region.writers[address - region.base]
        return found.reshape(shape)

    def _writers(self) -> Iterator[Array | None]:
        for position, region in enumerate(self.regions):
            if region is None or self.signature.roles[position] == "in":
                continue
            kind = type_of(self.signature.arguments[position].text)
            shape = np.asarray(self.given.arguments[position]).shape
            if region.writers is None or not region.size:
                yield np.full(shape, -1, np.int64)
            else:
                yield region.writers.reshape(math.prod(shape), -1)[:, : kind.bytes][:, 0].reshape(shape)


def record(module: ir.Module, calls: Sequence[Call], checks: Checks) -> tuple[list[Known], list[list[int]], list[Run]]:
    """The nodes of a module (changed), the nodes of ``@main``'s results, and each call with its steps."""
    from kc.bindings import ir
    from kc.dataflow import NODES, Nodes

    registry.load()
    signature = Signature.of(module, checks.roles)
    with module.context, ir.Location.unknown():
        Nodes(module.operation).write()
    told = json.loads(ir.StringAttr(module.operation.attributes[NODES]).value)
    program = Program(Reader().read(module.operation))
    runs = []
    for call in calls:
        with np.errstate(all="ignore"):
            given = (program, program.functions["main"], signature, call, checks)
            try:
                runs.append(Recorded(*given, True).run())
            except NeedWarps:
                runs.append(Recorded(*given, False).run())
    return [node_of(entry) for entry in told["nodes"]], told["returned"], runs
