"""Which accesses are ordered: a vector clock per thread and address space, and per byte the last that touched it.

Two accesses to one byte by different threads race when neither is ordered before the other by barriers (or, between
blocks and threads, by a fence and an atomic), one of them writes, and not both are atomic.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kc.agents.execution.calls import Finding
from kc.agents.execution.errors import ExecutionError
from kc.agents.execution.grid.types import GLOBAL, LOCAL, SHARED

if TYPE_CHECKING:
    from kc.agents.execution.grid.memory import Findings, Region

#: entries of the table of readers of one region in one block: of the address space, not of memory
_MOST = 1 << 28
_FOREVER = 2**15 - 1
_CLOCK: Any = np.int16


class Clocks:
    """The clocks of one block of ``count`` threads. ``known``: what a thread knows of other blocks' clocks."""

    def __init__(self, block: int, count: int):
        self.block, self.count = block, count
        start = np.zeros((count, count), _CLOCK)
        np.fill_diagonal(start, 1)
        self.of = {SHARED: start, GLOBAL: start.copy()}
        self.known: list[dict[int, np.ndarray]] = [{} for _ in range(count)]
        #: what a thread has made visible by its last fence, and what it has seen by atomics since
        self.released: list[dict[int, np.ndarray]] = [{} for _ in range(count)]
        self.seen: list[dict[int, np.ndarray]] = [{} for _ in range(count)]

    def join(self, threads: np.ndarray, spaces: tuple[str, ...]) -> None:
        """A barrier of ``threads``."""
        for space in spaces:
            clocks = self.of[space]
            clocks[threads] = clocks[threads].max(axis=0)
            clocks[threads, threads] += 1
            if clocks[threads[0], threads[0]] == _FOREVER:
                raise ExecutionError("unsupported", f"a kernel with more than {_FOREVER - 1} barriers")
        if GLOBAL in spaces and any(self.known[t] for t in threads):
            together: dict[int, np.ndarray] = {}
            for thread in threads:
                _merge(together, self.known[thread])
            for thread in threads:
                _merge(self.known[thread], together)

    def fence(self, thread: int) -> None:
        """What the thread did before is visible to who sees what it does atomically after; and the other way round."""
        _merge(self.known[thread], self.seen[thread])
        own = self.known[thread].get(self.block)
        if own is not None:
            self.of[GLOBAL][thread] = np.maximum(self.of[GLOBAL][thread], own)
        snapshot = {block: row.copy() for block, row in self.known[thread].items()}
        snapshot[self.block] = self.of[GLOBAL][thread].copy()
        self.released[thread] = snapshot
        self.of[GLOBAL][thread, thread] += 1


def _merge(into: dict[int, np.ndarray], other: dict[int, np.ndarray]) -> None:
    for block, row in other.items():
        into[block] = np.maximum(into[block], row) if block in into else row.copy()


class Track:
    """Who touched the bytes of a region: within the block that runs, and by block over a launch."""

    def __init__(self, size: int):
        self.size = size
        self.blocks: dict[int, _Inside] = {}
        self.sync: dict[int, dict[int, np.ndarray]] = {}  # by offset of an atomic: what its users released
        # by block: the last plain writer, two readers of different blocks, two atomic users; -1: nobody
        self.last = {n: np.full((3, size), -1, np.int32) for n in ("writer", "reader", "reader2", "atomic", "atomic2")}
        self.places: dict[str, np.ndarray] = {name: np.zeros(size, np.int32) for name in self.last}


class _Inside:
    """Within one block: the last plain writer (thread, its clock), and for each thread the clock of its last read."""

    def __init__(self, size: int, threads: int):
        self.writer = np.full(size, -1, np.int32)
        self.clock = np.zeros(size, _CLOCK)
        self.place = np.zeros(size, np.int32)
        self.reads = np.zeros((size, threads), _CLOCK)
        self.read_last = np.zeros(size, _CLOCK)  # the largest of a byte's clocks in `reads`
        self.read_place = np.zeros(size, np.int32)
        self.atomics: np.ndarray | None = None
        self.atomic_last = np.zeros(size, _CLOCK)
        self.atomic_place = np.zeros(size, np.int32)


class Who:
    """A warp that touches memory: its lanes' threads, and the op that does it."""

    def __init__(self, clocks: Clocks | None, threads: np.ndarray, findings: Findings, places: list[tuple[str, str]]):
        self.clocks, self.threads, self.findings, self.places = clocks, threads, findings, places
        self.op, self.place = "", ""
        self._numbers: dict[tuple[str, str], int] = {}

    def at(self, op: str, place: str) -> None:
        """The op that comes next."""
        self.op, self.place = op, place

    def _site(self) -> int:
        key = (self.op, self.place)
        if key not in self._numbers:
            self._numbers[key] = len(self.places)
            self.places.append(key)
        return self._numbers[key]

    def name(self, lane: int) -> tuple[int, ...]:
        """Block and thread of a lane."""
        return () if self.clocks is None else (self.clocks.block, int(self.threads[lane]))

    def tell(
        self, findings: Findings, field: str, kind: str, buffer: str, offset: int, size: int, lane: int, text: str,
        other: tuple[str, str] = ("", ""), other_name: tuple[int, ...] = (),
    ) -> None:
        """Keep a finding."""
        who = f" in block {self.name(lane)[0]}, thread {self.name(lane)[1]}" if self.clocks else ""
        findings.add(field, Finding(
            kind, self.op, self.place, buffer, offset, size, self.name(lane), other[0], other[1], other_name,
            f"{self.op} at {self.place}{who} {text}",
        ))

    # ------------------------------------------------------------------------------------------------- accesses

    def reads(self, region: Region, lanes: np.ndarray, places: np.ndarray, atomic: bool) -> None:
        """Lanes read ``places`` (lanes, bytes) of ``region``; an atomic update counts when it writes."""
        if self.clocks is not None and region.space != LOCAL and not atomic:
            self._touch(region, lanes, places, "read", None)

    def writes(self, region: Region, lanes: np.ndarray, places: np.ndarray, atomic: bool, values: np.ndarray) -> None:
        """Lanes write."""
        if self.clocks is not None and region.space != LOCAL:
            self._touch(region, lanes, places, "atomic" if atomic else "write", values)

    def _touch(
        self, region: Region, lanes: np.ndarray, places: np.ndarray, mode: str, values: np.ndarray | None
    ) -> None:
        clocks = self.clocks
        assert clocks is not None
        if region.track is None:
            region.track = Track(region.size)
        track, space = region.track, SHARED if region.space == SHARED else GLOBAL
        threads = self.threads[lanes]
        known = clocks.of[space][threads]  # (lanes, threads of the block)
        inside = track.blocks.get(clocks.block)
        if inside is None:
            if region.size * clocks.count > _MOST:
                message = f"{region.name} of {region.size} bytes is too large to watch under {clocks.count} threads"
                raise ExecutionError("unsupported", message)
            inside = track.blocks[clocks.block] = _Inside(region.size, clocks.count)
        self._inside(region, inside, lanes, threads, places, known, mode, values)
        if space == GLOBAL:
            self._between(region, track, lanes, threads, places, mode)

    def _inside(
        self, region: Region, table: _Inside, lanes: np.ndarray, threads: np.ndarray, places: np.ndarray,
        known: np.ndarray, mode: str, values: np.ndarray | None,
    ) -> None:
        count = np.arange(len(lanes))[:, None]
        writer = table.writer[places]
        bad = (writer >= 0) & (writer != threads[:, None]) & (table.clock[places] > known[count, np.maximum(writer, 0)])
        self._race(region, lanes, places, bad, lambda at, b: (int(table.writer[b]), int(table.place[b])), "writes")
        own = known[np.arange(len(lanes)), threads]
        others = known.copy()
        others[np.arange(len(lanes)), threads] = _FOREVER
        least = others.min(axis=1)[:, None]
        for name, column, last, site in (
            ("read", table.reads, table.read_last, table.read_place),
            ("atomic", table.atomics, table.atomic_last, table.atomic_place),
        ):
            if column is None or mode == name:
                continue
            rows, bytes_ = np.nonzero(last[places] > least)  # the others are ordered after all that was
            if not len(rows):
                continue
            late = column[places[rows, bytes_]] > others[rows]
            worst = np.flatnonzero(late.any(axis=1))
            if len(worst):
                row, byte = int(rows[worst[0]]), int(bytes_[worst[0]])
                place, thread = int(places[row, byte]), int(np.flatnonzero(late[worst[0]])[0])
                self._report(region, int(lanes[row]), place, (self.clocks.block if self.clocks else 0, thread),
                             int(site[place]), "reads" if name == "read" else "updates")
        if mode == "read":
            table.reads[places, threads[:, None]] = own[:, None]
            np.maximum.at(table.read_last, places, np.broadcast_to(own[:, None], places.shape))
            table.read_place[places] = self._site()
        elif mode == "write":
            self._same_instruction(region, lanes, places, values)
            table.writer[places] = threads[:, None]
            table.clock[places] = own[:, None]
            table.place[places] = self._site()
        else:
            if table.atomics is None:
                table.atomics = np.zeros_like(table.reads)
            table.atomics[places, threads[:, None]] = own[:, None]
            np.maximum.at(table.atomic_last, places, np.broadcast_to(own[:, None], places.shape))
            table.atomic_place[places] = self._site()

    def _same_instruction(
        self, region: Region, lanes: np.ndarray, places: np.ndarray, values: np.ndarray | None
    ) -> None:
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
            name = self.name(int(lanes[other]))
            self._report(region, int(lanes[one]), int(flat[order[at]]), name, self._site(), "writes")

    def _between(
        self, region: Region, track: Track, lanes: np.ndarray, threads: np.ndarray, places: np.ndarray, mode: str
    ) -> None:
        clocks = self.clocks
        assert clocks is not None
        block = clocks.block
        against = {"read": ("writer", "atomic", "atomic2"), "write": tuple(track.last),
                   "atomic": ("writer", "reader", "reader2")}[mode]
        for name in against:
            blocks, others, when = track.last[name][:, places]
            bad = (blocks >= 0) & (blocks != block)
            if not bad.any():
                continue
            for lane, byte in np.argwhere(bad):
                row = clocks.known[threads[lane]].get(int(blocks[lane, byte]))
                if row is not None and row[others[lane, byte]] >= when[lane, byte]:
                    bad[lane, byte] = False
            site = track.places[name]
            verb = {"w": "writes", "r": "reads", "a": "updates"}[name[0]]
            self._race(region, lanes, places, bad, lambda at, b, name=name, site=site: (
                (int(track.last[name][0, b]), int(track.last[name][1, b])), int(site[b])), verb)
        kept = {"read": ("reader", "reader2"), "write": ("writer",), "atomic": ("atomic", "atomic2")}[mode]
        own = clocks.of[GLOBAL][threads, threads]
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
                track.places[name][places[which]] = self._site()

    def synchronise(self, region: Region, lane: int, offset: int, ordering: str) -> None:
        """An atomic update by a lane: it sees what others released there, and releases what it fenced."""
        clocks = self.clocks
        if clocks is None or region.track is None:
            return
        thread = int(self.threads[lane])
        if ordering in ("release", "acq_rel", "seq_cst"):
            clocks.fence(thread)
        there = region.track.sync.setdefault(offset, {})
        _merge(clocks.seen[thread], there)
        _merge(there, clocks.released[thread])
        if ordering in ("acquire", "acq_rel", "seq_cst"):
            clocks.fence(thread)

    def _race(
        self, region: Region, lanes: np.ndarray, places: np.ndarray, bad: np.ndarray, other: Any, verb: str
    ) -> None:
        if not bad.any():
            return
        lane, byte = (int(i) for i in np.argwhere(bad)[0])
        place = int(places[lane, byte])
        who, site = other((lane, byte), place)
        name = who if isinstance(who, tuple) else (self.clocks.block if self.clocks else 0, who)
        self._report(region, int(lanes[lane]), place, name, site, verb)

    def _report(
        self, region: Region, lane: int, place: int, other: tuple[int, ...], site: int, verb: str
    ) -> None:
        op, where = self.places[site] if site < len(self.places) else ("", "")
        text = (f"touches byte {place} of {region.name}, which {op} at {where} {verb} in block {other[0]}, thread "
                f"{other[1]}, with no barrier (or fence and atomic) between them")
        self.tell(self.findings, "races", "race", region.name, place, 1, lane, text, (op, where), other)
