"""Memory of the emulated machine: regions with bounds, bytes that were written, and who touched them."""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from kc.agents.execution.calls import Finding
from kc.agents.execution.grid.types import LOCAL, SHARED

if TYPE_CHECKING:
    from kc.agents.execution.grid.blocks import BlockState
    from kc.agents.execution.grid.order import Who
    from kc.agents.execution.grid.track import Track

#: regions lie so far apart that an address tells its region, however wrong its offset: offsets of +-2^37 bytes; shared
#: ones, whose addresses must fit 32 bits, +-2^22
_SHIFT, _SHARED_SHIFT, _SHARED_REGIONS = 38, 23, 200


class Region:
    """A piece of memory. ``name`` is for messages; ``valid`` marks the bytes of elements (None: all of them)."""

    def __init__(self, base: int, size: int, name: str, space: str, poison: int):
        self.base, self.size, self.name, self.space = base, size, name, space
        self.data = np.full(size, poison, np.uint8)
        self.written = np.zeros(size, np.bool_)
        self.valid: np.ndarray | None = None
        self.read_only = self.freed = False
        #: memory of the host's stack; an argument of a kernel that tensor maps may be taken from
        self.of_host = self.holds_maps = False
        self.track: Track | None = None
        #: the block whose shared memory it is, where other blocks may come by
        self.owner: BlockState | None = None
        #: of each byte the event of a recorded run that wrote it last, -1: none
        self.writers: np.ndarray | None = None
        #: how many copies under way will write each byte
        self.arriving: np.ndarray | None = None


class Findings:
    """What went wrong, each thing once."""

    def __init__(self, limit: int):
        self.kept: dict[str, list[Finding]] = {}
        self._limit, self._told = limit, set[Any]()

    def add(self, field: str, finding: Finding) -> None:
        """Keep ``finding`` in the field of ``Outcome``."""
        key = (finding.kind, finding.place, finding.other_place, finding.buffer)
        kept = self.kept.setdefault(field, [])
        if key not in self._told and len(kept) < self._limit:
            self._told.add(key)
            kept.append(finding)


class Memory:
    """All regions."""

    def __init__(self, poison: int, findings: Findings, limit: int):
        self.poison, self.findings, self.limit = poison, findings, limit
        self._regions: dict[int, Region] = {}
        self._shared: dict[int, Region] = {}
        self._next = 1
        self._next_shared = 1
        self.live = self.peak = 0
        #: told of each access, in a run of which each step is recorded: region, offsets, bytes, whether it reads
        self.touched: Callable[[Region, np.ndarray, int, bool], None] | None = None

    def allocate(self, size: int, name: str, space: str) -> Region:
        """A new region of ``size`` bytes; raises MemoryError over the limit."""
        if size < 0 or (space not in (SHARED, LOCAL) and self.live + size > self.limit):
            raise MemoryError(f"asks for {size} bytes with {self.live} in use; the limit is {self.limit}")
        if space == SHARED:
            number = self._next_shared % _SHARED_REGIONS + 1
            self._next_shared += 1
            region = self._shared[number] = Region(number << _SHARED_SHIFT, size, name, space, self.poison)
        else:
            region = self._regions[self._next] = Region(self._next << _SHIFT, size, name, space, self.poison)
            self._next += 1
        if space not in (SHARED, LOCAL):
            self.live += size
            self.peak = max(self.peak, self.live)
        return region

    def move(self, region: Region, offset: int) -> None:
        """Let a new shared region begin ``offset`` bytes (below 2^18) further on."""
        region.base += offset

    def free(self, region: Region) -> None:
        """End a region."""
        region.freed = True
        region.data[:] = 0xDD
        self.live -= region.size

    def forget(self, region: Region) -> None:
        """Drop a region of a block or thread that has ended."""
        for table, shift in ((self._regions, _SHIFT), (self._shared, _SHARED_SHIFT)):
            if table.get(region.base >> shift) is region:
                del table[region.base >> shift]

    def region(self, address: int) -> Region | None:
        """The region that an address belongs to, also when it lies outside of it."""
        small = address < 1 << 31
        table, shift = (self._shared, _SHARED_SHIFT) if small else (self._regions, _SHIFT)
        return table.get((address + (1 << (shift - 1))) >> shift)

    def load(self, who: Who, addresses: np.ndarray, size: int, mask: np.ndarray, atomic: bool = False) -> np.ndarray:
        """``size`` bytes per lane, as (lanes, size); poison for lanes that are off or read nothing valid."""
        out = np.full((len(addresses), size), self.poison, np.uint8)
        for region, lanes, offsets in self.by_region(who, addresses, size, mask, "reads"):
            places = offsets[:, None] + np.arange(size)
            out[lanes] = region.data[places]
            self._not_arriving(who, region, lanes, offsets, places, "reads")
            missing = np.logical_not(region.written[places].all(axis=1))
            if missing.any():
                self._tell("uninitialised", "uninitialised", who, region, lanes, offsets, size, missing, "reads",
                           "which nobody wrote")
            who.reads(region, lanes, places, atomic)
            if self.touched is not None:
                self.touched(region, offsets, size, True)
        return out

    def store(
        self, who: Who, addresses: np.ndarray, values: np.ndarray, mask: np.ndarray, atomic: bool = False
    ) -> None:
        """Write (lanes, size) bytes; of lanes that write the same place the last one stays."""
        size = values.shape[1]
        for region, lanes, offsets in self.by_region(who, addresses, size, mask, "writes"):
            if region.read_only:
                self._tell("read-only", "writes", who, region, lanes, offsets, size, np.ones(len(lanes), bool),
                           "writes", "which may only be read")
            places = offsets[:, None] + np.arange(size)
            self._not_arriving(who, region, lanes, offsets, places, "writes")
            who.writes(region, lanes, places, atomic, values[lanes])
            region.data[places] = values[lanes]
            region.written[places] = True
            if self.touched is not None:
                self.touched(region, offsets, size, False)

    def start_copy(self, who: Who, addresses: np.ndarray, values: np.ndarray, mask: np.ndarray) -> None:
        """A copy sets out to write (lanes, size) bytes, at any time until ``store_copy``."""
        for region, lanes, offsets in self.by_region(who, addresses, values.shape[1], mask, "writes"):
            places = offsets[:, None] + np.arange(values.shape[1])
            who.writes(region, lanes, places, False, values[lanes])
            if region.arriving is None:
                region.arriving = np.zeros(region.size, np.int32)
            np.add.at(region.arriving, places, 1)

    def store_copy(self, who: Who, addresses: np.ndarray, values: np.ndarray, mask: np.ndarray) -> None:
        """The copy has arrived."""
        for region, _, offsets in self.by_region(who, addresses, values.shape[1], mask, "writes"):
            assert region.arriving is not None
            np.subtract.at(region.arriving, offsets[:, None] + np.arange(values.shape[1]), 1)
        self.store(who, addresses, values, mask)

    def _not_arriving(
        self, who: Who, region: Region, lanes: np.ndarray, offsets: np.ndarray, places: np.ndarray, verb: str
    ) -> None:
        if region.arriving is None:
            return
        early = (region.arriving[places] > 0).any(axis=1)
        if early.any():
            self._tell("race", "races", who, region, lanes, offsets, places.shape[1], early, verb,
                       "which a copy under way writes")

    def moving(self, who: Who, addresses: np.ndarray, size: int, mask: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """As ``load``, of bytes that are only moved: gives which were written, too, and says nothing of the others."""
        out = np.full((len(addresses), size), self.poison, np.uint8)
        written = np.zeros((len(addresses), size), np.bool_)
        for region, lanes, offsets in self.by_region(who, addresses, size, mask, "reads"):
            places = offsets[:, None] + np.arange(size)
            out[lanes], written[lanes] = region.data[places], region.written[places]
        return out, written

    def mark(self, addresses: np.ndarray, size: int, written: np.ndarray) -> None:
        """Which of the bytes there count as written."""
        for address, flags in zip(addresses, written, strict=True):
            region = self.region(int(address))
            offset = int(address) - region.base if region else -1
            if region is not None and 0 <= offset <= region.size - size:
                region.written[offset : offset + size] = flags

    def by_region(
        self, who: Who, addresses: np.ndarray, size: int, mask: np.ndarray, verb: str
    ) -> list[tuple[Region, np.ndarray, np.ndarray]]:
        """The lanes with a valid place: (region, lanes, offsets); the others are told of."""
        found: list[tuple[Region, np.ndarray, np.ndarray]] = []
        active = np.flatnonzero(mask)
        if not len(active):
            return found
        first = self.region(int(addresses[active[0]]))
        groups: list[tuple[Region | None, np.ndarray]]
        reach = addresses[active] - first.base if first is not None else np.array([-1])
        if first is not None and ((reach >= 0) & (reach < first.size)).all():
            groups = [(first, active)]
        else:
            by: dict[int, tuple[Region | None, list[int]]] = {}
            for at in active:
                region = self.region(int(addresses[at]))
                by.setdefault(id(region), (region, []))[1].append(int(at))
            groups = [(region, np.array(lanes)) for region, lanes in by.values()]
        for region, lanes in groups:
            if region is None:
                lane = int(lanes[0])
                who.tell(self.findings, "bounds", "bounds", "no known buffer", int(addresses[lane]), size, lane,
                         f"{verb} {size} bytes at address {int(addresses[lane]):#x}, which is nobody's")
                continue
            if region.of_host and who.clocks is not None:
                self._tell("bounds", "bounds", who, region, lanes, addresses[lanes] - region.base, size,
                           np.ones(len(lanes), bool), verb, "which is the host's: a kernel cannot reach it")
            offsets = addresses[lanes] - region.base
            bad = (offsets < 0) | (offsets + size > region.size)
            if region.valid is not None:
                places = np.clip(offsets[:, None] + np.arange(size), 0, max(region.size - 1, 0))
                bad |= ~region.valid[places].all(axis=1)
            if bad.any():
                self._tell("bounds", "bounds", who, region, lanes, offsets, size, bad, verb,
                           f"where no element of it lies (it has {region.size} bytes)")
                lanes, offsets = lanes[~bad], offsets[~bad]
            if region.freed and len(lanes):
                self._tell("freed", "bounds", who, region, lanes, offsets, size, np.ones(len(lanes), bool), verb,
                           "which is freed")
            if len(lanes):
                found.append((region, lanes, offsets))
        return found

    def _tell(
        self, kind: str, field: str, who: Who, region: Region, lanes: np.ndarray, offsets: np.ndarray, size: int,
        which: np.ndarray, verb: str, end: str,
    ) -> None:
        at = int(np.flatnonzero(which)[0])
        offset = int(offsets[at])
        who.tell(self.findings, field, kind, region.name, offset, size, int(lanes[at]),
                 f"{verb} {size} bytes at offset {offset} of {region.name}, {end}")
