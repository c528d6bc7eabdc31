"""``kc-expand-manual-sharding``."""

from __future__ import annotations

import dataclasses
import itertools
import math
import re
from typing import ClassVar

from kc.bindings import ir
from kc.pass_base import Pass, PassContext
from kc.passes.stablehlo._build import Builder
from kc.rewrite import replace_op, walk_ops

_SPLIT, _JOIN = "SPMDFullToShardShape", "SPMDShardToFullShape"


@dataclasses.dataclass(frozen=True)
class ExpandManualSharding(Pass):
    """Where a program goes over to code for one shard (JAX's ``shard_map``), each partition cuts its shard out; where
    it comes back, the shards are gathered.

    So the entry takes and gives whole arrays, the same on every partition, and what stands outside of the shards is
    computed by all. The shardings are those of XLA (``mhlo.sharding``, "HloSharding" in its source). Before / after::

        %s = stablehlo.custom_call @Sharding(%x) {mhlo.sharding = "{devices=[4]<=[4]}"}
        %m = stablehlo.custom_call @SPMDFullToShardShape(%s) {mhlo.sharding = "{manual}"}
            : (tensor<8xf32>) -> tensor<2xf32>
        %r = stablehlo.custom_call @SPMDShardToFullShape(%y) {mhlo.sharding = "{devices=[4]<=[4]}"}
            : (tensor<2xf32>) -> tensor<8xf32>

        %o = stablehlo.dynamic_slice (of the table of offsets, at stablehlo.partition_id)
        %m = stablehlo.dynamic_slice %x, %o, sizes = [2]
        %r = stablehlo.all_gather %y, all_gather_dim = 0, replica_groups = [[0, 1, 2, 3]]
    """

    name: ClassVar[str] = "kc-expand-manual-sharding"
    level: ClassVar[str] = "stablehlo"
    dialects: ClassVar[tuple[str, ...]] = ("stablehlo",)

    def acts_on(self) -> frozenset[str]:
        return frozenset(("stablehlo.custom_call",))

    def run(self, op: ir.Operation, ctx: PassContext) -> None:
        for call in walk_ops(op, "stablehlo.custom_call"):
            target = ir.StringAttr(call.attributes["call_target_name"]).value
            if target not in (_SPLIT, _JOIN):
                continue
            if call.operands[0].type == call.results[0].type:
                replace_op(call, [call.operands[0]])
            elif target == _SPLIT:
                replace_op(call, [_split(call, ctx)])
            else:
                replace_op(call, [_join(call, ctx)])


@dataclasses.dataclass(frozen=True)
class _Tiles:
    """How an array is cut: parts along each dimension, and which part each partition has."""

    counts: tuple[int, ...]
    parts: tuple[tuple[int, ...], ...]  # by partition: its place along each dimension


def _read(text: str, rank: int) -> _Tiles | None:
    """An HloSharding's text: ``{devices=[2,1,2]<=[2,2]T(1,0) last_tile_dim_replicate}``; None for what is no tiling."""
    found = re.match(r"\{devices=\[([\d,]+)\](?:<=\[([\d,]+)\](?:T\(([\d,]+)\))?|([\d,]+))", text)
    if found is None:
        return None
    dims = [int(n) for n in found[1].split(",")]
    count = math.prod(dims)
    if found[2]:
        shape = [int(n) for n in found[2].split(",")]
        order = [int(n) for n in found[3].split(",")] if found[3] else list(range(len(shape)))
        strides = [math.prod(shape[d + 1 :]) for d in range(len(shape))]
        devices = [
            sum(i * strides[d] for i, d in zip(at, order, strict=True))
            for at in itertools.product(*(range(shape[d]) for d in order))
        ]
    else:
        devices = [int(n) for n in found[4].split(",")]
    if len(devices) != count or sorted(devices) != list(range(count)) or len(dims) < rank:
        return None
    parts: list[tuple[int, ...]] = [()] * count
    for device, at in zip(devices, itertools.product(*map(range, dims)), strict=True):
        parts[device] = at[:rank]  # what follows are copies of the same part
    return _Tiles(tuple(dims[:rank]), tuple(parts))


def _tiles(call: ir.Operation, text: str, full: ir.Type, shard: ir.Type, ctx: PassContext) -> _Tiles:
    """The tiling that leads from ``full`` to ``shard``; ends the pass when ``text`` does not say so."""
    whole, piece = ir.RankedTensorType(full), ir.RankedTensorType(shard)
    tiles = _read(text, whole.rank)
    fits = tiles is not None and whole.has_static_shape and piece.has_static_shape and whole.rank == piece.rank
    if not fits or any(n != c * m for n, c, m in zip(whole.shape, tiles.counts, piece.shape, strict=True)):  # type: ignore[union-attr]
        ctx.error(
            call,
            f"the sharding '{text}' does not lead from {full} to {shard}",
            ["nearest thing that works: shards of equal, static shapes, of an operand that a Sharding call marks"],
        )
    assert tiles is not None
    return tiles


def _sharding(op: ir.Operation) -> str:
    return ir.StringAttr(op.attributes["mhlo.sharding"]).value if "mhlo.sharding" in op.attributes else ""


def _split(call: ir.Operation, ctx: PassContext) -> ir.Value:
    full, shard = call.operands[0], ir.RankedTensorType(call.results[0].type)
    marker = full.owner
    text = _sharding(marker.operation) if not isinstance(marker, ir.Block) else ""
    tiles = _tiles(call, text, full.type, shard, ctx)
    b = Builder(call)
    i32 = ir.IntegerType.get_signless(32)
    scalar = b.tensor([], i32)
    number = b.make("partition_id", [], b.tensor([], ir.IntegerType.get_unsigned(32)))
    number = b.make("convert", [number], scalar)
    offsets = []
    for axis, count in enumerate(tiles.counts):
        if count == 1:
            offsets.append(b.splat(0, scalar))
            continue
        table = [part[axis] * shard.shape[axis] for part in tiles.parts]
        type_ = b.tensor([len(table)], i32)
        values = ir.Attribute.parse(f"dense<{table}> : {type_}")
        one = {"slice_sizes": ir.DenseI64ArrayAttr.get([1])}
        starts = b.make("constant", [], type_, {"value": values})
        entry = b.make("dynamic_slice", [starts, number], b.tensor([1], i32), one)
        offsets.append(b.reshape(entry, []))
    sizes = {"slice_sizes": ir.DenseI64ArrayAttr.get(list(shard.shape))}
    return b.make("dynamic_slice", [full, *offsets], shard, sizes)


def _join(call: ir.Operation, ctx: PassContext) -> ir.Value:
    shard, full = call.operands[0], ir.RankedTensorType(call.results[0].type)
    tiles = _tiles(call, _sharding(call), full, shard.type, ctx)
    b = Builder(call)
    i64 = ir.IntegerType.get_signless(64)
    element, shape, count = full.element_type, ir.RankedTensorType(shard.type).shape, len(tiles.parts)
    group = ir.Attribute.parse(f"dense<{[list(range(count))]}> : tensor<1x{count}xi64>")
    gathered = b.make(
        "all_gather",
        [b.reshape(shard, [1, *shape])],
        b.tensor([count, *shape], element),
        {
            "all_gather_dim": ir.IntegerAttr.get(i64, 0),
            "replica_groups": group,
            "channel_handle": ir.Attribute.parse("#stablehlo.channel_handle<handle = 1, type = 0>"),
            "use_global_device_ids": ir.UnitAttr.get(),
        },
    )
    order = [tiles.parts.index(at) for at in itertools.product(*map(range, tiles.counts))]
    if order != list(range(count)):
        rows = [b.slice(gathered, [device, *[0] * len(shape)], [device + 1, *shape]) for device in order]
        gathered = b.concatenate(rows, 0)
    rank = full.rank
    split = b.reshape(gathered, [*tiles.counts, *shape])
    order = [d for axis in range(rank) for d in (axis, rank + axis)]
    sides = [n for axis in range(rank) for n in (tiles.counts[axis], shape[axis])]
    turned = b.make("transpose", [split], b.tensor(sides, element), {"permutation": ir.DenseI64ArrayAttr.get(order)})
    return b.reshape(turned, full.shape)
