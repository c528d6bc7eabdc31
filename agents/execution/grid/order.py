"""Which accesses are ordered: per byte the last that touched it, judged by the clocks of ``clocks``.

Two accesses to one byte by different threads race when neither is ordered before the other by barriers (or, between
blocks and threads, by a fence and an atomic), one of them writes, and not both are atomic. What an agent does races
with everything, its own thread included, until it is waited for; and a thread's write races with what an agent does
later unless a proxy fence lies between them.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kc.agents.execution.calls import Finding
from kc.agents.execution.errors import ExecutionError
from kc.agents.execution.grid.clocks import FOREVER, Clocks, merge
from kc.agents.execution.grid.track import Inside, Track
from kc.agents.execution.grid.types import GLOBAL, LOCAL, SHARED

if TYPE_CHECKING:
    from kc.agents.execution.grid.memory import Findings, Region

Array = np.ndarray
#: entries of the table of readers of one region in one block: of the address space, not of memory
_MOST = 1 << 28
_BARRIER = "with no barrier (or fence and atomic) between them"
_PROXY = "with no proxy fence (nvvm.fence.proxy) between them: the asynchronous proxy may not see it"


class Who:
    """A warp that touches memory: its lanes' threads (numbers in their clocks), and the op that does it."""

    #: whether what it did before is no conflict with what it does now
    itself = True

    def __init__(self, clocks: Clocks | None, threads: Array, findings: Findings, places: list[tuple[str, str]]):
        self.clocks, self.threads, self.findings, self.places = clocks, threads, findings, places
        self.op, self.place = "", ""
        self._numbers: dict[tuple[str, str], int] = {}

    def at(self, op: str, place: str) -> None:
        """The op that comes next."""
        self.op, self.place = op, place

    def site(self) -> int:
        """The number of the op, in ``places``."""
        key = (self.op, self.place)
        if key not in self._numbers:
            self._numbers[key] = len(self.places)
            self.places.append(key)
        return self._numbers[key]

    def name(self, lane: int) -> tuple[int, ...]:
        """Block and thread of a lane."""
        return () if self.clocks is None else self.clocks.name(int(self.threads[lane]))

    def tell(
        self, findings: Findings, field: str, kind: str, buffer: str, offset: int, size: int, lane: int, text: str,
        other: tuple[str, str] = ("", ""), other_name: tuple[int, ...] = (),
    ) -> None:
        """Keep a finding."""
        who = f" {self.clocks.describe(int(self.threads[lane]))}" if self.clocks else ""
        findings.add(field, Finding(
            kind, self.op, self.place, buffer, offset, size, self.name(lane), other[0], other[1], other_name,
            f"{self.op} at {self.place}{who} {text}",
        ))

    # ------------------------------------------------------------------------------------------------- accesses

    def reads(self, region: Region, lanes: Array, places: Array, atomic: bool) -> None:
        """Lanes read ``places`` (lanes, bytes) of ``region``; an atomic update counts when it writes."""
        if self.clocks is not None and region.space != LOCAL and not atomic:
            self._touch(region, lanes, places, "read", None)

    def writes(self, region: Region, lanes: Array, places: Array, atomic: bool, values: Array) -> None:
        """Lanes write."""
        if self.clocks is not None and region.space != LOCAL:
            self._touch(region, lanes, places, "atomic" if atomic else "write", values)

    def _standing(self, space: str, lanes: Array) -> tuple[Array, Array, Array]:
        """Of lanes: what they know (lanes, threads and agents), the writes that they can see, their own clock."""
        assert self.clocks is not None
        known = self.clocks.of[space][self.threads[lanes]]
        return known, known, known[np.arange(len(lanes)), self.threads[lanes]]

    def _between_known(self, lane: int) -> dict[int, Array]:
        """What a lane knows of the clocks of other blocks."""
        assert self.clocks is not None
        return self.clocks.known[self.threads[lane]]

    def table(self, region: Region) -> Inside:
        """Who touched ``region`` within this block."""
        clocks = self.clocks
        assert clocks is not None
        if region.track is None:
            region.track = Track(region.size)
        inside = region.track.blocks.get(clocks.block)
        if inside is None:
            if region.size * clocks.count > _MOST:
                message = f"{region.name} of {region.size} bytes is too large to watch under {clocks.count} threads"
                raise ExecutionError("unsupported", message)
            inside = region.track.blocks[clocks.block] = Inside(region.size, clocks.count)
        return inside

    def _touch(self, region: Region, lanes: Array, places: Array, mode: str, values: Array | None) -> None:
        space = SHARED if region.space == SHARED else GLOBAL
        table = self.table(region)
        if region.owner is not None:
            region.owner.visited(self, region, lanes)
        assert region.track is not None
        self._inside(region, table, lanes, places, mode, values, space)
        if space == GLOBAL:
            self._between(region, region.track, lanes, places, mode)

    def _inside(
        self, region: Region, table: Inside, lanes: Array, places: Array, mode: str, values: Array | None, space: str
    ) -> None:
        assert self.clocks is not None
        threads = self.threads[lanes]
        known, visible, own = self._standing(space, lanes)
        rows = np.arange(len(lanes))
        writer = table.writer[places]
        bad = (writer >= 0) & (table.clock[places] > visible[rows[:, None], np.maximum(writer, 0)])
        if self.itself:
            bad &= writer != threads[:, None]
        if bad.any():
            fenced = (table.clock[places] > known[rows[:, None], np.maximum(writer, 0)])[bad].any()
            self._race(region, lanes, places, bad, lambda at, b: (int(table.writer[b]), int(table.place[b])), "writes",
                       "" if fenced else _PROXY)
        others = known[:, : self.clocks.count]
        if self.itself:
            others = others.copy()
            others[rows, threads] = FOREVER
        least = others.min(axis=1)[:, None] if self.itself else others[:1].min(axis=1)[:, None]
        for name, column, last, site in (
            ("read", table.reads, table.read_last, table.read_place),
            ("atomic", table.atomics, table.atomic_last, table.atomic_place),
        ):
            if mode == name:
                continue
            at, bytes_ = np.nonzero(last[places] > least)  # the others are ordered after all that was
            if not len(at):
                continue
            late = column.at(places[at, bytes_]) > others[at]
            worst = np.flatnonzero(late.any(axis=1))
            if len(worst):
                row, byte = int(at[worst[0]]), int(bytes_[worst[0]])
                place, thread = int(places[row, byte]), int(np.flatnonzero(late[worst[0]])[0])
                self._report(region, int(lanes[row]), place, thread, int(site[place]),
                             "reads" if name == "read" else "updates")
        if mode != "read":
            for agent, (clock, site) in table.agents.items():
                bad = clock[places] > known[:, agent][:, None]
                self._race(region, lanes, places, bad, lambda at, b, a=agent, s=site: (a, int(s[b])), "reads")
        self._keep(table, region, lanes, places, threads, own, mode, values)

    def _keep(
        self, table: Inside, region: Region, lanes: Array, places: Array, threads: Array, own: Array, mode: str,
        values: Array | None,
    ) -> None:
        """Note the access."""
        if mode == "read":
            table.reads.set(places, threads[:, None], own[:, None])
            np.maximum.at(table.read_last, places, np.broadcast_to(own[:, None], places.shape))
            table.read_place[places] = self.site()
        elif mode == "write":
            self._same_instruction(region, lanes, places, values)
            table.writer[places] = threads[:, None]
            table.clock[places] = own[:, None]
            table.place[places] = self.site()
        else:
            table.atomics.set(places, threads[:, None], own[:, None])
            np.maximum.at(table.atomic_last, places, np.broadcast_to(own[:, None], places.shape))
            table.atomic_place[places] = self.site()

    def _same_instruction(self, region: Region, lanes: Array, places: Array, values: Array | None) -> None:
        """Lanes of one store that write to one place: different values, or from different warps."""
        assert values is not None
        flat, bytes_ = places.reshape(-1), values.reshape(-1)
        order = np.argsort(flat, kind="stable")
        flat_, bytes_ = flat[order], bytes_[order]
        warps = np.repeat(self.threads[lanes] // 32, places.shape[1])[order]
        twice = (flat_[1:] == flat_[:-1]) & ((bytes_[1:] != bytes_[:-1]) | (warps[1:] != warps[:-1]))
        if twice.any():
            at = int(np.flatnonzero(twice)[0])
            one, other = (int(order[i]) // places.shape[1] for i in (at, at + 1))
            self._report(region, int(lanes[one]), int(flat[order[at]]), int(self.threads[lanes[other]]), self.site(),
                         "writes")

    def _between(self, region: Region, track: Track, lanes: Array, places: Array, mode: str) -> None:
        clocks = self.clocks
        assert clocks is not None
        block, threads = clocks.block, self.threads[lanes]
        against = {"read": ("writer", "atomic", "atomic2"), "write": tuple(track.last),
                   "atomic": ("writer", "reader", "reader2")}[mode]
        for name in against:
            blocks, others, when = track.last[name][:, places]
            bad = (blocks >= 0) & (blocks != block)
            if not bad.any():
                continue
            for at, byte in np.argwhere(bad):
                row = self._between_known(int(lanes[at])).get(int(blocks[at, byte]))
                if row is not None and row[others[at, byte]] >= when[at, byte]:
                    bad[at, byte] = False
                    self._ordered(region, name, int(others[at, byte]), int(blocks[at, byte]))
            site = track.places[name]
            verb = {"w": "writes", "r": "reads", "a": "updates"}[name[0]]
            self._race(region, lanes, places, bad, lambda at, b, name=name, site=site: (
                (int(track.last[name][0, b]), int(track.last[name][1, b])), int(site[b])), verb)
        kept = {"read": ("reader", "reader2"), "write": ("writer",), "atomic": ("atomic", "atomic2")}[mode]
        own = self._standing(GLOBAL, lanes)[2]
        entry = np.stack([np.full(places.shape, block, np.int32),
                          np.broadcast_to(threads[:, None], places.shape).astype(np.int32),
                          np.broadcast_to(own[:, None], places.shape).astype(np.int32)])
        first = track.last[kept[0]]
        into_second = np.zeros(places.shape, bool)
        if len(kept) > 1:
            into_second = (first[0, places] >= 0) & (first[0, places] != block)
        for name, which in zip(kept, (~into_second, into_second), strict=False):
            if which.any():
                track.last[name][:, places[which]] = entry[:, which]
                track.places[name][places[which]] = self.site()

    def _ordered(self, region: Region, name: str, column: int, block: int) -> None:
        """An access of another block is ordered before this one."""

    def synchronise(self, region: Region, lane: int, offset: int, ordering: str) -> None:
        """An atomic update by a lane: it sees what others released there, and releases what it fenced."""
        clocks = self.clocks
        if clocks is None or region.track is None:
            return
        thread = int(self.threads[lane])
        if ordering in ("release", "acq_rel", "seq_cst"):
            clocks.fence(thread)
        there = region.track.sync.setdefault(offset, {})
        merge(clocks.seen[thread], there)
        merge(there, clocks.released[thread])
        if ordering in ("acquire", "acq_rel", "seq_cst"):
            clocks.fence(thread)

    def _race(
        self, region: Region, lanes: Array, places: Array, bad: Array, other: Any, verb: str, end: str = ""
    ) -> None:
        if not bad.any():
            return
        lane, byte = (int(i) for i in np.argwhere(bad)[0])
        place = int(places[lane, byte])
        who, site = other((lane, byte), place)
        self._report(region, int(lanes[lane]), place, who, site, verb, end)

    def _report(
        self, region: Region, lane: int, place: int, other: int | tuple[int, int], site: int, verb: str, end: str = ""
    ) -> None:
        op, where = self.places[site] if site < len(self.places) else ("", "")
        assert self.clocks is not None
        name: tuple[int, ...]
        if isinstance(other, tuple):
            whom, name = f"in block {other[0]}, thread {other[1]}", other
        else:
            whom, name = self.clocks.describe(other), self.clocks.name(other)
            if other >= self.clocks.count:
                end = end or "before it is waited for"
        text = f"touches byte {place} of {region.name}, which {op} at {where} {verb} {whom}, {end or _BARRIER}"
        self.tell(self.findings, "races", "race", region.name, place, 1, lane, text, (op, where), name)
