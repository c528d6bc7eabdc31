"""Packing buffers into one arena: offsets such that no two buffers that live at once overlap."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy


@dataclasses.dataclass(frozen=True)
class Interval:
    """A buffer: first and last time it is needed (both inclusive) and its size in bytes."""

    start: int
    end: int
    size: int


def pack(intervals: Sequence[Interval], alignment: int) -> tuple[list[int], int]:
    """Offsets (multiples of ``alignment``) for ``intervals``, and the size of the arena that holds them all.

    Greedy by size, best fit: the largest buffer first, each into the smallest gap that holds it between the buffers
    already placed that live at the same time (Y. Pisarchyk and J. Lee, "Efficient Memory Management for Deep Neural
    Net Inference", 2020, section 5.2). The arena is never smaller than the largest sum of sizes that live at one
    time, usually equal to it.
    """
    count = len(intervals)
    sizes = [-(-interval.size // alignment) * alignment for interval in intervals]
    order = sorted(range(count), key=lambda i: (-sizes[i], intervals[i].start))
    starts = numpy.array([intervals[i].start for i in order], dtype=numpy.int64)
    ends = numpy.array([intervals[i].end for i in order], dtype=numpy.int64)
    lows = numpy.zeros(count, dtype=numpy.int64)
    highs = numpy.zeros(count, dtype=numpy.int64)
    offsets = [0] * count
    total = 0
    for placed, item in enumerate(order):
        size = sizes[item]
        alive = (starts[:placed] <= ends[placed]) & (ends[:placed] >= starts[placed])
        offset = _best_gap(lows[:placed][alive], highs[:placed][alive], size)
        offsets[item] = offset
        lows[placed], highs[placed] = offset, offset + size
        total = max(total, offset + size)
    return offsets, total


def _best_gap(lows: numpy.ndarray, highs: numpy.ndarray, size: int) -> int:  # type: ignore[type-arg]
    if not len(lows):
        return 0
    order = numpy.argsort(lows, kind="stable")
    lows, reach = lows[order], numpy.maximum.accumulate(highs[order])
    # gap i lies between the reach of the first i buffers and the low of buffer i
    begins = numpy.concatenate(([0], reach[:-1]))
    gaps = lows - begins
    fits = numpy.nonzero(gaps >= size)[0]
    if not len(fits):
        return int(reach[-1])
    return int(begins[fits[numpy.argmin(gaps[fits])]])


def peak(intervals: Sequence[Interval]) -> int:
    """The largest sum of sizes that live at one time: no arena can be smaller."""
    events = sorted(
        [(interval.start, 1, interval.size) for interval in intervals]
        + [(interval.end, 2, -interval.size) for interval in intervals]
    )
    most = live = 0
    for _, _, change in events:
        live += change
        most = max(most, live)
    return most
