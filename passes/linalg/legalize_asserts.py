"""kc-legalize-asserts: element reads made memory-safe, and the assertions that guard them kept, moved or dropped."""
from __future__ import annotations

import dataclasses
from typing import ClassVar, Literal

from kc.bindings import arith, ir, linalg, tensor
from kc.pass_base import Pass, PassContext
from kc.rewrite import erase_op, walk_ops

#: torch-mlir asserts this before 1/x; the division that follows is right without it (1/0 is inf)
_NEEDLESS = ("unimplemented: tensor with zero element",)


@dataclasses.dataclass(frozen=True)
class LegalizeAsserts(Pass):
    """Clamp the indices of ``tensor.extract`` in linalg bodies; drop assertions that are needless there.

    torch-mlir guards indexed reads by ``cf.assert`` or not at all. An index out of range would read foreign memory,
    so it is clamped to the tensor unless it is a loop index that cannot leave it. With ``mode=keep`` the assertion
    stays and fails the call (``kc-lower-asserts``); with ``mode=drop`` (devices that cannot raise) the clamped read
    is the result.

    Before::

        %i = arith.index_cast %in : i64 to index
        %ok = arith.cmpi slt, %i, %c10 : index
        cf.assert %ok, "index must be smaller than dim size"
        %e = tensor.extract %t[%i] : tensor<10xf32>

    After (mode=keep)::

        %i = arith.index_cast %in : i64 to index
        %ok = arith.cmpi slt, %i, %c10 : index
        cf.assert %ok, "index must be smaller than dim size"
        %low = arith.maxsi %i, %c0 : index
        %safe = arith.minsi %low, %c9 : index
        %e = tensor.extract %t[%safe] : tensor<10xf32>
    """

    name: ClassVar[str] = "kc-legalize-asserts"
    anchor: ClassVar[str] = "builtin.module"
    level: ClassVar[str] = "linalg"
    dialects: ClassVar[tuple[str, ...]] = ("arith", "tensor")
    mode: Literal["keep", "drop"] = "keep"

    def run(self, op: ir.Operation, ctx: PassContext) -> None:
        for check in walk_ops(op, ["cf.assert"]):
            inside = check.parent is not None and check.parent.name == "linalg.generic"
            message = ir.StringAttr(check.attributes["msg"]).value
            if message in _NEEDLESS or (inside and self.mode == "drop"):
                erase_op(check)
        for generic in walk_ops(op, ["linalg.generic"]):
            sizes = _loop_sizes(generic)
            for read in walk_ops(generic, ["tensor.extract"]):
                _clamp(read, sizes)


def _loop_sizes(generic: ir.Operation) -> list[int | None]:
    """The static extent of each loop of a linalg.generic, None where it is dynamic."""
    maps = [ir.AffineMapAttr(m).value for m in ir.ArrayAttr(generic.attributes["indexing_maps"])]
    sizes: list[int | None] = [None] * maps[0].n_dims
    for operand, map_ in zip(generic.operands, maps, strict=True):
        if not isinstance(operand.type, ir.RankedTensorType):
            continue
        for axis, result in enumerate(map_.results):
            if isinstance(result, ir.AffineDimExpr) and not operand.type.is_dynamic_dim(axis):
                sizes[result.position] = operand.type.get_dim_size(axis)
    return sizes


def _clamp(read: ir.Operation, sizes: list[int | None]) -> None:
    source = read.operands[0]
    shape = ir.RankedTensorType(source.type)
    for axis in range(shape.rank):
        index = read.operands[1 + axis]
        extent = None if shape.is_dynamic_dim(axis) else shape.get_dim_size(axis)
        if extent is not None and _in_range(index, extent, sizes):
            continue
        with ir.InsertionPoint(read), read.location:
            index_type = ir.IndexType.get()
            if extent is None:
                length = tensor.dim(source, arith.constant(index_type, axis))
            else:
                length = arith.constant(index_type, extent)
            last = arith.subi(length, arith.constant(index_type, 1))
            low = arith.maxsi(index, arith.constant(index_type, 0))
            read.operands[1 + axis] = arith.minsi(low, last)


def _in_range(index: ir.Value, extent: int, sizes: list[int | None]) -> bool:
    """Whether ``index`` is a loop index or a constant that cannot leave [0, extent)."""
    producer = index.owner
    if isinstance(producer, ir.Block):
        return False
    view = producer.opview if isinstance(producer, ir.Operation) else producer
    if isinstance(view, linalg.IndexOp):
        size = sizes[ir.IntegerAttr(view.operation.attributes["dim"]).value]
        return size is not None and size <= extent
    if isinstance(view, arith.ConstantOp):
        return 0 <= ir.IntegerAttr(view.operation.attributes["value"]).value < extent
    return False
