"""Factors copied into panels: what the register kernel reads then lies in the order in which it reads.

A panel holds ``width`` rows of the left factor (or columns of the right one): element (k, i) stands at ``k * width +
i``. Prologues (casts, dequantisation) are applied on the way. Positions past the end of the matrix hold repeated or
zero values, which never reach the result.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kc.builder.cpu import CpuBuilder
from kc.builder.cpu import Index as IndexValue
from kc.schedules.cpu.contraction.parts import PartValues


def transpose(builder: CpuBuilder, rows: Sequence[Any], lanes: int) -> list[Any]:
    """The transpose of ``lanes`` vectors of ``lanes`` elements (J. Eklundh: log2(lanes) rounds of swaps)."""
    result = list(rows)
    step = 1
    while step < lanes:
        for i in range(lanes):
            if i & step:
                continue
            a, b = result[i], result[i + step]
            low = [lane + lanes - step if lane & step else lane for lane in range(lanes)]
            high = [lane + lanes if lane & step else lane + step for lane in range(lanes)]
            result[i], result[i + step] = builder.shuffle(a, b, low), builder.shuffle(a, b, high)
        step *= 2
    return result


def pack_panel(values: PartValues, panel: Any, prefix: Sequence[IndexValue], group: str, width: int, lanes: int,
               batch: IndexValue, start: IndexValue, size: IndexValue, k0: IndexValue, depth: IndexValue) -> None:
    """Fill one panel with positions ``start .. start + width`` of ``group`` and ``k0 .. k0 + depth`` of the k loops.

    ``panel[*prefix, e]`` is its element ``e``; up to ``lanes - 1`` elements past the end may be written. ``size`` is
    the extent of ``group``.
    """
    part = values.part
    if part.vectorises("k", lanes):
        _along_k(values, panel, prefix, group, width, lanes, batch, start, size, k0, depth)
    elif part.vectorises(group, lanes) and (width % lanes == 0 or len(part.groups[group]) == 1):
        _along_group(values, panel, prefix, group, width, lanes, batch, start, size, k0, depth)
    else:
        _one_by_one(values, panel, prefix, group, width, batch, start, size, k0, depth)


def _along_k(values: PartValues, panel: Any, prefix: Sequence[IndexValue], group: str, width: int, lanes: int,
             batch: IndexValue, start: IndexValue, size: IndexValue, k0: IndexValue, depth: IndexValue) -> None:
    """k is contiguous: read ``lanes`` of it at a time for every position, transpose in registers."""
    builder = values.builder
    root = values.part.roots[0]
    loops = values.part.groups["k"]
    last = builder.sub(size, 1)
    points = [values.point(b=batch, **{group: builder.min(builder.add(start, i), last)}) for i in range(width)]

    def step(k: Any, mask: Any = None) -> None:
        rows = []
        depth_point = values.operands.unflatten(builder.add(k0, k), loops, values.sizes)
        for point in points:
            here = list(point)
            for loop, index in depth_point:
                here[loop] = index
            rows.append(values.emitter(here, "k", lanes, mask).vector(root))
        rows += [rows[-1]] * (-width % lanes)
        blocks = [transpose(builder, rows[at:at + lanes], lanes) for at in range(0, len(rows), lanes)]
        base = builder.mul(k, width)
        for i in range(lanes):  # in the order of k: what a block writes past its width, the next k overwrites
            for number, block in enumerate(blocks):
                where = builder.add(base, i * width + number * lanes)
                builder.vector_store(block[i], panel, [*prefix, where], lanes)

    main = builder.round_down(depth, lanes)
    builder.loop(0, main, lanes, lambda k: step(k))
    builder.loop(main, depth, lanes, lambda k: step(k, builder.mask(builder.sub(depth, k), lanes)))


def _along_group(values: PartValues, panel: Any, prefix: Sequence[IndexValue], group: str, width: int, lanes: int,
                 batch: IndexValue, start: IndexValue, size: IndexValue, k0: IndexValue, depth: IndexValue) -> None:
    """The positions are contiguous: read ``lanes`` of them at a time for every k."""
    builder = values.builder
    root = values.part.roots[0]

    def copy(masked: bool) -> None:
        def step(k: Any) -> None:
            for at in range(0, width, lanes):
                position = builder.add(start, at)
                mask = builder.mask(builder.difference(size, position), lanes) if masked else None
                point = values.point(b=batch, k=builder.add(k0, k), **{group: position})
                vector = values.emitter(point, group, lanes, mask).vector(root)
                builder.vector_store(vector, panel, [*prefix, builder.add(builder.mul(k, width), at)], lanes)

        builder.loop(0, depth, 1, step)

    # whole vectors may be read while they end inside the matrix
    reach = builder.add(start, -(-width // lanes) * lanes)
    if isinstance(reach, int) and isinstance(size, int):
        copy(reach > size)
    else:
        builder.when(builder.compare("ule", reach, size), lambda: copy(False), lambda: copy(True))


def _one_by_one(values: PartValues, panel: Any, prefix: Sequence[IndexValue], group: str, width: int,
                batch: IndexValue, start: IndexValue, size: IndexValue, k0: IndexValue, depth: IndexValue) -> None:
    """Nothing is contiguous: element by element, with what depends on the position alone outside the loop over k."""
    builder = values.builder
    root = values.part.roots[0]
    loops = values.part.groups["k"]
    last = builder.sub(size, 1)
    points = [values.point(b=batch, **{group: builder.min(builder.add(start, i), last)}) for i in range(width)]

    def step(k: Any) -> None:
        depth_point = values.operands.unflatten(builder.add(k0, k), loops, values.sizes)
        base = builder.mul(k, width)
        for i, point in enumerate(points):
            here = list(point)
            for loop, index in depth_point:
                here[loop] = index
            builder.store(values.emitter(here)(root), panel, [*prefix, builder.add(base, i)])

    builder.loop(0, depth, 1, step)
