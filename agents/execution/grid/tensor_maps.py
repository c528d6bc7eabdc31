"""Tensor maps: what describes a tensor in global memory and the box of it that one bulk copy moves.

Host code makes one by ``@kc_gpu_tensor_map_encode`` (the driver's cuTensorMapEncodeTiled), as kc's own kernels do.
"""
from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from kc.agents.execution.errors import ExecutionError
from kc.agents.execution.grid.machine import Machine, Stopped
from kc.agents.execution.grid.nodes import Node
from kc.agents.execution.grid.warp import Warp

Array = np.ndarray
_MAGIC = b"kc map  "
#: CUtensorMapDataType: bytes of an element
_BYTES = {0: 1, 1: 2, 2: 4, 3: 4, 4: 8, 5: 8, 6: 2, 7: 4, 8: 8, 9: 2}
#: CUtensorMapSwizzle: bytes of a row, and how many of the address bits from 7 on are mixed into those from 4 on
_SWIZZLES = {0: (None, 0), 1: (32, 1), 2: (64, 3), 3: (128, 7)}
CHUNK = 16


@dataclasses.dataclass(frozen=True)
class Chunks:
    """A box in pieces of 16 bytes: addresses in global memory, places in shared memory from the box's start on, and of
    each element whether it lies in the tensor."""

    addresses: Array
    places: Array
    inside: Array


@dataclasses.dataclass(frozen=True)
class TensorMap:
    """``dims`` in elements, innermost first; ``strides`` in bytes, the innermost one being an element's."""

    base: int
    element: int
    dims: tuple[int, ...]
    strides: tuple[int, ...]
    box: tuple[int, ...]
    swizzle: int

    @property
    def bytes(self) -> int:
        """Of a box."""
        return math.prod(self.box) * self.element

    def swizzled(self, addresses: Array) -> Array:
        """Where bytes go that would go to these shared addresses without a swizzle."""
        return addresses ^ ((addresses >> 7 & _SWIZZLES[self.swizzle][1]) << 4)

    def chunks(self, start: list[int]) -> Chunks:
        """The box that begins at ``start``, innermost first."""
        each = CHUNK // self.element
        inner = np.arange(self.box[0]).reshape(-1, each)
        rows = math.prod(self.box[1:])
        outer = np.indices(self.box[:0:-1]).reshape(len(self.box) - 1, rows)[::-1]  # of dims 1.., in the box's order
        addresses = np.full((rows, len(inner)), self.base, np.int64)
        inside = np.ones((rows, len(inner), each), np.bool_)
        columns = start[0] + inner
        addresses += columns[:, 0] * self.element
        inside &= (columns >= 0) & (columns < self.dims[0])
        for axis, steps in enumerate(outer, 1):
            at = start[axis] + steps
            addresses += (at * self.strides[axis])[:, None]
            inside &= ((at >= 0) & (at < self.dims[axis]))[:, None, None]
        count = rows * len(inner)
        return Chunks(addresses.reshape(count), np.arange(count) * CHUNK, inside.reshape(count, each))


def encode(host: Warp, node: Node, values: list[Any]) -> None:
    """``@kc_gpu_tensor_map_encode(map, type, rank, base, dims, strides, box, swizzle, promotion)``."""
    out, kind, rank, base, dims, strides, box, swizzle, _ = (int(v[0]) for v in values)

    def wrong(text: str) -> Stopped:
        return Stopped("launch", f"the tensor map at {node.place}: {text}")

    if kind not in _BYTES or swizzle not in _SWIZZLES or not 1 <= rank <= 5:
        raise wrong(f"type {kind} (0 to 9), swizzle {swizzle} (0 to 3), rank {rank} (1 to 5)")
    element = _BYTES[kind]
    sizes = _numbers(host, dims, rank, 8)
    steps = _numbers(host, strides, rank - 1, 8)
    extents = _numbers(host, box, rank, 4)
    if base % 16 or any(s % 16 or not 0 < s < 2**40 for s in steps):
        raise wrong(f"an address and pitches {steps} that are not all multiples of 16 bytes (and below 2^40)")
    if not all(0 < n <= 2**32 for n in sizes) or not all(0 < n <= 256 for n in extents):
        raise wrong(f"sizes {sizes} (1 to 2^32) and a box of {extents} (1 to 256)")
    row, widest = extents[0] * element, _SWIZZLES[swizzle][0]
    if row % CHUNK or (widest is not None and row > widest):
        raise wrong(f"a box of {row} bytes along its first dimension: a multiple of 16, with swizzle {swizzle} at most "
                    f"{widest}")
    if widest is not None and row != widest:
        raise ExecutionError("unsupported", f"the tensor map at {node.place}: a box of {row} bytes along its first "
                             f"dimension under a swizzle of {widest}: only boxes as wide are emulated", node.name)
    maps = host.machine.tensor_maps
    maps.append(TensorMap(base, element, tuple(sizes), (element, *steps), tuple(extents), swizzle))
    raw = np.frombuffer(_MAGIC + np.int64(len(maps) - 1).tobytes(), np.uint8)
    whole = np.zeros((1, 128), np.uint8)
    whole[0, : len(raw)] = raw
    if out % 64:
        raise wrong("its place is not a multiple of 64 bytes")
    host.memory.store(host.who, np.array([out]), whole, np.ones(1, np.bool_))


def _numbers(host: Warp, address: int, count: int, size: int) -> list[int]:
    addresses = address + size * np.arange(count)
    raw = host.memory.load(host.who, addresses, size, np.ones(count, np.bool_))
    return [int(n) for n in np.ascontiguousarray(raw).view(f"u{size}").reshape(count)]


def read(warp: Warp, node: Node, address: int) -> TensorMap:
    """The tensor map at an address."""
    machine: Machine = warp.machine
    region = warp.memory.region(address)
    if region is None or not region.holds_maps:
        raise Stopped("abort", f"{node.name} at {node.place} takes a tensor map from {region.name if region else '?'}: "
                      "only from an argument of the kernel with llvm.byval, nvvm.grid_constant and llvm.align = 64")
    raw, written = warp.memory.moving(warp.who, np.array([address]), 128, np.ones(1, np.bool_))
    found = raw[0].tobytes()
    if not written[0, : len(_MAGIC) + 8].all() or not found.startswith(_MAGIC):
        raise Stopped("abort", f"{node.name} at {node.place} takes a tensor map where there is none")
    return machine.tensor_maps[int(np.frombuffer(found[8:16], np.int64)[0])]
