"""Groups of processes as axes of a mesh (``#stablehlo.replica_group_mesh_axes``)."""

from __future__ import annotations

import itertools
import math
import re


def mesh_groups(text: str) -> list[list[int]] | None:
    """The groups that the attribute printed as ``text`` means, None when no mesh stands in it.

    Devices that differ only along the listed axes form a group, in the order of those axes (the first is the slowest).
    A sub-axis ``(pre)size`` is the part of an axis that has ``pre`` before it, "SubAxisInfo" of the specification.
    """
    sizes = re.findall(r'name = "([^"]*)", size = (\d+)', text)
    wanted = re.findall(r'axis_ref<name = "([^"]*)"(?:, sub_axis_info = \((\d+)\)(\d+))?', text)
    if not sizes or not wanted:
        return None
    # every axis in the pieces that the sub-axes cut it into
    pieces: list[tuple[str, int, int]] = []  # axis, product of what is before, size
    for name, size in sizes:
        cuts = {1, int(size)}
        for axis, before, part in wanted:
            if axis == name and before:
                cuts |= {int(before), int(before) * int(part)}
        ordered = sorted(cuts)
        if len(ordered) == 1:
            pieces.append((name, 1, 1))
        for low, high in itertools.pairwise(ordered):
            pieces.append((name, low, high // low))
    chosen: list[int] = []
    for axis, before, part in wanted:
        first = int(before) if before else 1
        last = first * int(part) if before else int(dict(sizes)[axis])
        chosen += [k for k, (n, low, size) in enumerate(pieces) if n == axis and first <= low and low * size <= last]
    extents = [size for _, _, size in pieces]
    strides = [math.prod(extents[k + 1 :]) for k in range(len(extents))]
    devices = _device_ids(text, math.prod(extents))
    if devices is None:
        return None
    others = [k for k in range(len(pieces)) if k not in chosen]

    def walk(axes: list[int]) -> list[int]:
        return [
            sum(i * strides[k] for i, k in zip(at, axes, strict=True))
            for at in itertools.product(*(range(extents[k]) for k in axes))
        ]

    return [[devices[start + step] for step in walk(chosen)] for start in walk(others)]


def _device_ids(text: str, count: int) -> list[int] | None:
    if "device_ids" not in text:
        return list(range(count))
    found = re.search(r"device_ids ?= ?dense<\[([\d, ]*)\]>", text)
    ids = [int(n) for n in found[1].split(",")] if found else []
    return ids if len(ids) == count else None
