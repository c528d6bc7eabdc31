"""``kc-convert-stablehlo-collectives``."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import ClassVar

from kc.bindings import ir
from kc.pass_base import PassContext
from kc.passes.conversion._attrs import integer
from kc.passes.conversion._collective_call import (
    call_runtime,
    channel_of,
    check_sizes,
    groups_of,
    groups_text,
    scalar_call,
)
from kc.passes.conversion._collective_reduce import fold_slots, native_reduction
from kc.passes.conversion._convert import StablehloConversion
from kc.passes.conversion._emit import (
    Emitter,
    Index,
    element,
    int_type,
    ranked,
    shape_of,
    tensor_type,
)
from kc.passes.conversion._reshape import regroup

_ACROSS = ("stablehlo.all_to_all", "stablehlo.collective_broadcast", "stablehlo.collective_permute")
_ROOTED = ("stablehlo.collective_broadcast", "stablehlo.collective_reduce")


@dataclasses.dataclass(frozen=True)
class ConvertStablehloCollectives(StablehloConversion):
    """Collectives to host calls of libkc_runtime, which know the process grid; what is arithmetic stays generated code.

    ``all_gather``, ``all_reduce``, ``reduce_scatter``, ``collective_reduce`` and ``cross-replica-sum`` meet in one
    call that puts the operands of the group one after the other; a parallel ``linalg.generic`` then folds them in the
    order of the group with the op's own region, so that every process computes the same bits. A plain sum, product,
    minimum or maximum of a type that NCCL reduces is left to the runtime. ``all_to_all`` and ``reduce_scatter`` send
    one chunk to each member. Several operands become several calls. ``replica_id``, ``partition_id`` are asked of the
    runtime. Before / after::

        %r = "stablehlo.all_gather"(%x) {all_gather_dim = 1, replica_groups = dense<[[0, 1]]>}
            : (tensor<2x2xf32>) -> tensor<2x4xf32>

        %slots = call @kc_all_gather_0(%x, %empty) : (tensor<2x2xf32>, tensor<2x2x2xf32>) -> tensor<2x2x2xf32>
        %t = linalg.generic {transpose} ins(%slots) ...
        %r = tensor.collapse_shape %t [[0], [1, 2]]
    """

    name: ClassVar[str] = "kc-convert-stablehlo-collectives"
    converts: ClassVar[frozenset[str]] = frozenset(
        f"stablehlo.{name}"
        for name in (
            "all_gather",
            "all_reduce",
            "all_to_all",
            "collective_broadcast",
            "collective_permute",
            "collective_reduce",
            "cross-replica-sum",
            "partition_id",
            "reduce_scatter",
            "replica_id",
        )
    )

    #: only ``replica_id`` and ``partition_id``, whose unsigned results must be gone before ``kc-stablehlo-to-signless``
    ids_only: bool = False

    def convert(self, e: Emitter, op: ir.Operation, ctx: PassContext) -> Sequence[ir.Value] | None:
        if op.name in ("stablehlo.replica_id", "stablehlo.partition_id"):
            number = e.from_elements([scalar_call(e, "kc_" + op.name.partition(".")[2])], tensor_type([], int_type(32)))
            return [e.one("stablehlo.bitcast_convert", [number], op.results[0].type)]
        if self.ids_only:
            return None
        return _Collective(e, op, ctx).values()


class _Collective:
    """Writes one collective in front of it."""

    def __init__(self, e: Emitter, op: ir.Operation, ctx: PassContext):
        self.e, self.op, self.ctx = e, op, ctx
        name = "source_target_pairs" if op.name == "stablehlo.collective_permute" else "replica_groups"
        self.groups = groups_of(op, name, ctx)
        self.channel = channel_of(op)
        self.strategy = self._strategy()
        self.fields: dict[str, object] = {
            "strategy": self.strategy,
            "channel": self.channel,
            "groups": groups_text(self.groups),
        }

    def values(self) -> list[ir.Value]:
        op = self.op
        make = {
            "stablehlo.all_gather": self._all_gather,
            "stablehlo.all_reduce": self._all_reduce,
            "stablehlo.all_to_all": self._all_to_all,
            "stablehlo.collective_broadcast": self._broadcast,
            "stablehlo.collective_permute": self._permute,
            "stablehlo.collective_reduce": self._all_reduce,
            "stablehlo.cross-replica-sum": self._all_reduce,
            "stablehlo.reduce_scatter": self._reduce_scatter,
        }[op.name]
        if len(op.operands) != len(op.results):
            self.ctx.error(op, f"'{op.name}' with another number of results than operands cannot be converted")
        return [
            self._fitted(make(operand, result.type), result.type)
            for operand, result in zip(op.operands, op.results, strict=True)
        ]

    def _fitted(self, value: ir.Value, type_: ir.Type) -> ir.Value:
        """``value`` in the result's type, whose sizes are checked where they are only known at run time."""
        e = self.e
        for axis, (known, wanted) in enumerate(zip(shape_of(value), shape_of(type_), strict=True)):
            if known is None and wanted is not None:
                size = e.dim(value, axis)
                text = f"dimension {axis} of the result has size {{0}}, its type says {{1}}"
                check_sizes(e, self.op, e.cmpi("eq", e.index(size), e.index(wanted)), size, wanted, text)
        return e.cast(value, type_)

    def _strategy(self) -> str:
        """How the specification splits the process grid into groups."""
        if self.op.name in _ACROSS or self.op.name in _ROOTED:
            return "cross_partition" if self.channel > 0 else "cross_replica"
        if "use_global_device_ids" in self.op.attributes:
            return "flattened_ids"
        return "cross_replica_and_partition" if self.channel > 0 else "cross_replica"

    def _size(self) -> Index:
        """Processes in the largest group."""
        e, index = self.e, ir.IndexType.get()
        both = self.strategy == "cross_replica_and_partition"
        if self.groups:
            size: Index = max(map(len, self.groups))
        else:
            callee = "kc_num_partitions" if self.strategy == "cross_partition" else "kc_num_replicas"
            size = e.to_int(scalar_call(e, callee), index)
            both |= self.strategy == "flattened_ids"
        if both:
            size = e.mul(size, e.to_int(scalar_call(e, "kc_num_partitions"), index))
        return size

    def _ragged(self) -> bool:
        return any(-1 in ids for ids in self.groups) or self.op.name in _ROOTED

    def _call(
        self,
        callee: str,
        x: ir.Value,
        type_: ir.Type,
        extents: Sequence[Index],
        fields: dict[str, object] | None = None,
    ) -> ir.Value:
        return call_runtime(self.e, self.op, callee, {**self.fields, **(fields or {})}, [x], [type_], [extents])[0]

    def _stack(self, x: ir.Value, size: Index) -> tuple[ir.Type, list[Index]]:
        """Type and extents of ``size`` tensors like ``x``, one after the other."""
        known = size if isinstance(size, int) else None
        return tensor_type([known, *shape_of(x)], element(x)), [size, *self.e.dims(x)]

    # --------------------------------------------------------------------------------------- data movement

    def _all_gather(self, x: ir.Value, result: ir.Type) -> ir.Value:
        axis = integer(self.op, "all_gather_dim")
        size = self._size()
        inside, outside = shape_of(x)[axis], shape_of(result)[axis]
        if isinstance(size, ir.Value) and inside and outside is not None:
            size = outside // inside  # the runtime checks that the group has as many
        type_, extents = self._stack(x, size)
        return self._joined(self._call("kc_all_gather", x, type_, extents), axis)

    def _all_to_all(self, x: ir.Value, result: ir.Type) -> ir.Value:
        split, concat = integer(self.op, "split_dimension"), integer(self.op, "concat_dimension")
        chunks = self._chunks(x, split, integer(self.op, "split_count"))
        exchanged = self._call("kc_all_to_all", chunks, chunks.type, self.e.dims(chunks))
        return self._joined(exchanged, concat)

    def _broadcast(self, x: ir.Value, result: ir.Type) -> ir.Value:
        return self._call("kc_broadcast", x, x.type, self.e.dims(x))

    def _permute(self, x: ir.Value, result: ir.Type) -> ir.Value:
        return self._call("kc_permute", x, x.type, self.e.dims(x))

    def _chunks(self, x: ir.Value, axis: int, size: Index) -> ir.Value:
        """``x`` cut along ``axis`` into ``size`` chunks, one after the other."""
        e, shape, extents = self.e, shape_of(x), self.e.dims(x)
        known = size if isinstance(size, int) else None
        part: Index = e.floordiv(extents[axis], size)
        if isinstance(part, ir.Value):
            rest = e.index(e.rem(extents[axis], size))
            text = f"dimension {axis} of the operand has size {{0}}, which {{1}} processes do not divide"
            check_sizes(e, self.op, e.cmpi("eq", rest, e.index(0)), extents[axis], size, text)
        cut = [*shape[:axis], known, part if isinstance(part, int) else None, *shape[axis + 1 :]]
        sizes = [*extents[:axis], size, part, *extents[axis + 1 :]]
        groups = [[d] if d < axis else [axis, axis + 1] if d == axis else [d + 1] for d in range(len(shape))]
        wide = regroup(e, "tensor.expand_shape", x, groups, tensor_type(cut, element(x)), sizes)
        return self._moved(wide, axis, 0)

    def _joined(self, slots: ir.Value, axis: int) -> ir.Value:
        """The slots side by side along ``axis``."""
        e = self.e
        moved = self._moved(slots, 0, axis)
        shape = shape_of(moved)
        a, b = shape[axis], shape[axis + 1]
        joined = [*shape[:axis], None if a is None or b is None else a * b, *shape[axis + 2 :]]
        groups = [[d] if d < axis else [axis, axis + 1] if d == axis else [d + 1] for d in range(len(joined))]
        type_ = tensor_type(joined, element(slots))
        return regroup(e, "tensor.collapse_shape", moved, groups, type_, [])

    def _moved(self, x: ir.Value, source: int, target: int) -> ir.Value:
        """Axis ``source`` moved to the place ``target``."""
        if source == target:
            return x
        e, rank = self.e, ranked(x).rank
        order = [d for d in range(rank) if d != source]
        order.insert(target, source)
        extents, shape = e.dims(x), shape_of(x)
        exprs: list[ir.AffineExpr] = [ir.AffineDimExpr.get(order.index(d)) for d in range(rank)]
        maps = [ir.AffineMap.get(rank, 0, exprs), ir.AffineMap.get_identity(rank)]
        init = e.empty(tensor_type([shape[d] for d in order], element(x)), [extents[d] for d in order])
        return e.generic([x], [init], maps, ["parallel"] * rank, lambda _, a: [a[0]])[0]

    # ------------------------------------------------------------------------------------------ reductions

    def _all_reduce(self, x: ir.Value, result: ir.Type) -> ir.Value:
        native = native_reduction(self.op, x, result)
        if native is not None:
            return self._call("kc_all_reduce", x, x.type, self.e.dims(x), native)
        size = self._size()
        type_, extents = self._stack(x, size)
        if not self._ragged():
            return fold_slots(self.e, self.op, self._call("kc_all_gather", x, type_, extents), size, result, self.ctx)
        facts = tensor_type([2], int_type(64))  # processes in the group, and the place of this one in it
        slots, about = call_runtime(
            self.e, self.op, "kc_all_gather", {**self.fields, "ragged": 1}, [x], [type_, facts], [extents, [2]]
        )
        return fold_slots(self.e, self.op, slots, about, result, self.ctx, only_root=self.op.name in _ROOTED)

    def _reduce_scatter(self, x: ir.Value, result: ir.Type) -> ir.Value:
        axis = integer(self.op, "scatter_dimension")
        size = self._size()
        inside, outside = shape_of(x)[axis], shape_of(result)[axis]
        if isinstance(size, ir.Value) and inside is not None and outside:
            size = inside // outside
        chunks = self._chunks(x, axis, size)
        exchanged = self._call("kc_all_to_all", chunks, chunks.type, self.e.dims(chunks))
        return fold_slots(self.e, self.op, exchanged, size, result, self.ctx)

