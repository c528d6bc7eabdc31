"""Tensor maps of a contraction, built in the host function, and the coordinates that go with them."""

from __future__ import annotations

from collections.abc import Sequence

from kc.builder.gpu import Value
from kc.builder.gpu_module import Host
from kc.schedules.gpu.access import ONE, ZERO, Access, Extent
from kc.schedules.gpu.arguments import Arguments
from kc.schedules.gpu.contraction.config import BK, Tile
from kc.schedules.gpu.contraction.problem import Operand, Problem

SLAB = 64  # half-type elements in the 128 bytes of a swizzled row


def by_slab(operand: Operand, across: Extent) -> bool:
    """Whether a tile whose M (or N) is contiguous comes as one box (its length a multiple of 64) or as one box a
    slab."""
    return not operand.k_major and across.multiple_of(SLAB)


def boxes(operand: Operand, across: Extent, tile_across: int) -> int:
    """Bulk copies a stage for this operand."""
    return 1 if operand.k_major or by_slab(operand, across) else tile_across // SLAB


def _encode(
    host: Host,
    arguments: Arguments,
    item: Access,
    element: str,
    dims: Sequence[Extent],
    strides: Sequence[Extent],
    box: Sequence[int],
) -> Value:
    size = 2  # bytes of a half type
    return host.tensor_map(
        item.arg,
        element,
        [arguments.host_extent(host, extent) for extent in dims],
        [arguments.host_extent(host, extent * Extent(size)) for extent in strides],
        list(box),
        arguments.host_start(host, item),
    )


def operand_map(
    host: Host, arguments: Arguments, problem: Problem, operand: Operand, across: Extent, tile_across: int
) -> Value:
    """K-major: (k, across, batch..); else (across, k, batch..), or (64, k, across / 64, batch..) when that divides."""
    batch_dims = [problem.batch[number] for number in operand.batch]
    batch_strides = [operand.access.strides[number] for number in operand.batch]
    ones = [1] * len(batch_dims)
    if operand.k_major:
        dims, strides, box = [problem.k, across], [operand.pitch], [BK, tile_across]
    elif by_slab(operand, across):
        slabs = Extent(across.coefficient // SLAB, across.symbols)
        dims, strides, box = (
            [Extent(SLAB), problem.k, slabs],
            [operand.pitch, Extent(SLAB)],
            [SLAB, BK, tile_across // SLAB],
        )
    else:
        dims, strides, box = [across, problem.k], [operand.pitch], [SLAB, BK]
    return _encode(
        host,
        arguments,
        operand.access,
        problem.element,
        [*dims, *batch_dims],
        [*strides, *batch_strides],
        [*box, *ones],
    )


def operand_coordinates(
    operand: Operand, across: Extent, box: int, start: Value, k: Value, zero: Value, batch: Sequence[Value]
) -> list[Value]:
    """Where box number ``box`` of the tile at (``start``, ``k``) begins."""
    tail = [batch[number] for number in operand.batch]
    if operand.k_major:
        return [k, start, *tail]
    if by_slab(operand, across):
        return [zero, k, start >> 6, *tail]
    return [start + SLAB * box, k, *tail]


def output_batches(output: Access) -> list[int]:
    return [number for number, stride in enumerate(output.strides[:-2]) if stride != ZERO]


def output_map(host: Host, arguments: Arguments, problem: Problem, output: Access, tile: Tile) -> Value:
    """(n, m, batch..), 64 columns of one warpgroup's rows a box."""
    used = output_batches(output)
    pitch = output.strides[-2] if output.strides[-2] != ZERO else Extent(SLAB)
    assert output.strides[-1] == ONE
    return _encode(
        host,
        arguments,
        output,
        output.type,
        [problem.n, problem.m, *(problem.batch[number] for number in used)],
        [pitch, *(output.strides[number] for number in used)],
        [SLAB, tile.warpgroup_rows, *([1] * len(used))],
    )
