"""``kc-convert-stablehlo-gather``."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import ClassVar

from kc.bindings import ir, stablehlo_api
from kc.pass_base import PassContext
from kc.passes.conversion._attrs import ints
from kc.passes.conversion._convert import StablehloConversion
from kc.passes.conversion._emit import Emitter, Index, ranked
from kc.passes.conversion._scalar import unsigned_flags


@dataclasses.dataclass(frozen=True)
class ConvertStablehloGather(StablehloConversion):
    """``gather``, ``dynamic_slice`` and ``dynamic_update_slice``, every start index clamped so that the slice fits.

    A gather is a parallel ``linalg.generic`` over its result that reads the operand with ``tensor.extract``; a dynamic
    slice is a ``tensor.extract_slice`` (or ``insert_slice``) at clamped offsets. Unsigned
    indices are not sign-extended::

        %r = stablehlo.dynamic_slice %x, %i, sizes = [4] : (tensor<10xf32>, tensor<i32>) -> tensor<4xf32>

        %o = minsi(maxsi(index_cast(tensor.extract %i[]), 0), 6)
        %r = tensor.extract_slice %x[%o] [4] [1] : tensor<10xf32> to tensor<4xf32>
    """

    name: ClassVar[str] = "kc-convert-stablehlo-gather"
    converts: ClassVar[frozenset[str]] = frozenset(
        {"stablehlo.gather", "stablehlo.dynamic_slice", "stablehlo.dynamic_update_slice"}
    )

    def convert(self, e: Emitter, op: ir.Operation, ctx: PassContext) -> Sequence[ir.Value]:
        operands, unsigned = list(op.operands), unsigned_flags(op)
        if op.name == "stablehlo.gather":
            return [gather(e, op, [*ints(op, "slice_sizes")])]
        updating = op.name == "stablehlo.dynamic_update_slice"
        first = 2 if updating else 1
        extents = e.dims(operands[0])
        sizes: list[Index] = e.dims(operands[1]) if updating else [*ints(op, "slice_sizes")]
        offsets: list[Index] = [
            clamp_index(e, e.extract(start), e.sub(extent, size), unsigned[first + k])
            for k, (start, extent, size) in enumerate(zip(operands[first:], extents, sizes, strict=True))
        ]
        ones: list[Index] = [1] * len(sizes)
        if updating:
            return [e.insert_slice(operands[1], operands[0], offsets, sizes, ones)]
        return [e.extract_slice(operands[0], offsets, sizes, ones, op.results[0].type)]


def clamp_index(e: Emitter, value: ir.Value, high: Index, unsigned: bool) -> Index:
    """The integer ``value`` as an index in [0, high]."""
    if high == 0 and isinstance(high, int):
        return 0
    index = e.to_int(value, ir.IndexType.get(), unsigned)
    if unsigned:
        return e.bin("arith.minui", index, e.index(high))
    return e.min(e.max(index, 0), high)


def gather(e: Emitter, op: ir.Operation, slice_sizes: Sequence[Index]) -> ir.Value:
    """``stablehlo.gather`` (``dynamic_gather`` with given ``slice_sizes``)."""
    operand, starts = op.operands[0], op.operands[1]
    unsigned = unsigned_flags(op)[1]
    numbers = stablehlo_api.GatherDimensionNumbers(op.attributes["dimension_numbers"])
    offset_dims, collapsed = list(numbers.offset_dims), list(numbers.collapsed_slice_dims)
    operand_batch, starts_batch = list(numbers.operand_batching_dims), list(numbers.start_indices_batching_dims)
    vector_dim, start_map = numbers.index_vector_dim, list(numbers.start_index_map)
    type_ = ranked(op.results[0])
    batch_dims = [d for d in range(type_.rank) if d not in offset_dims]
    window = [d for d in range(ranked(operand).rank) if d not in collapsed and d not in operand_batch]
    starts_axes = [d for d in range(ranked(starts).rank) if d != vector_dim]

    operand_extents, starts_extents = e.dims(operand), e.dims(starts)
    extents: list[Index] = [0] * type_.rank
    for result_dim, axis in zip(batch_dims, starts_axes, strict=True):
        extents[result_dim] = starts_extents[axis]
    for result_dim, axis in zip(offset_dims, window, strict=True):
        extents[result_dim] = slice_sizes[axis]
    limits = [e.sub(n, s) for n, s in zip(operand_extents, slice_sizes, strict=True)]

    def body(i: Emitter, at: list[ir.Value]) -> ir.Value:
        where = dict(zip(starts_axes, (at[d] for d in batch_dims), strict=True))
        indices: list[Index] = [0] * len(limits)
        for k, axis in enumerate(start_map):
            place = [k if d == vector_dim else where[d] for d in range(ranked(starts).rank)]
            indices[axis] = clamp_index(i, i.extract(starts, place), limits[axis], unsigned)
        for axis, starts_axis in zip(operand_batch, starts_batch, strict=True):
            indices[axis] = where[starts_axis]
        for result_dim, axis in zip(offset_dims, window, strict=True):
            indices[axis] = i.add(indices[axis], at[result_dim])
        return i.extract(operand, indices)

    return e.tabulate(type_, extents, body)
