"""Memrefs: loads, stores, extents, layout, and where their memory is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from kc.bindings import ir
from kc.passes.gpu._launch import Arith, Extent

_DYNAMIC = ir.ShapedType.get_dynamic_size()
_DYNAMIC_STRIDE = ir.ShapedType.get_dynamic_stride_or_offset()

# Ops whose (first) result is another view of their first operand's memory.
VIEWS = frozenset(
    [
        "memref.subview",
        "memref.cast",
        "memref.view",
        "memref.reinterpret_cast",
        "memref.collapse_shape",
        "memref.expand_shape",
        "memref.reshape",
        "memref.transpose",
        "memref.memory_space_cast",
        "memref.extract_strided_metadata",
        "memref.assume_alignment",
    ]
)


def load(a: Arith, buffer: Any, at: Sequence[Any]) -> Any:
    """``memref.load``."""
    return a.op("memref.load", [buffer, *at], [buffer.type.element_type])


def store(a: Arith, value: Any, buffer: Any, at: Sequence[Any]) -> None:
    """``memref.store``."""
    a.op("memref.store", [value, buffer, *at], [])


def extent_of(a: Arith, buffer: Any, axis: int) -> Extent:
    """The extent of ``axis``: an int where the type has it."""
    size = buffer.type.shape[axis]
    if size != _DYNAMIC:
        return int(size)
    return a.op("memref.dim", [buffer, a.value(axis)], [a.index_type])


def is_contiguous(kind: Any) -> bool:
    """Whether the elements of memref type ``kind`` lie one after the other in row-major order (from any offset)."""
    if isinstance(kind, ir.UnrankedMemRefType):
        return False
    try:
        strides, _ = kind.get_strides_and_offset()
    except ValueError:
        return False
    shape = list(kind.shape)
    if str(kind.layout).startswith("affine_map") and kind.layout == ir.AffineMapAttr.get(
        ir.AffineMap.get_identity(kind.rank)
    ):
        return True
    expected: int | None = 1
    for size, stride in zip(reversed(shape), reversed(strides), strict=False):
        if size == 1:
            continue
        if expected is None or stride != expected:
            return False
        expected = None if size == _DYNAMIC else expected * size
    return True


def element_bytes(kind: Any) -> int:
    """Bytes of one element in memory (i1 and i4 take one)."""
    if isinstance(kind, ir.ComplexType):
        return 2 * element_bytes(kind.element_type)
    if isinstance(kind, ir.IndexType):
        return 8
    if isinstance(kind, ir.VectorType):
        return math.prod(kind.shape) * element_bytes(kind.element_type)
    width = ir.IntegerType(kind).width if isinstance(kind, ir.IntegerType) else ir.FloatType(kind).width
    return max(1, 1 << (max(width, 8) - 1).bit_length() >> 3)


def strides_and_offset(a: Arith, buffer: Any) -> tuple[list[Extent], Extent]:
    """(strides, offset) of ``buffer``, in elements, ints where the type has them."""
    strides, offset = buffer.type.get_strides_and_offset()
    if offset == _DYNAMIC_STRIDE or any(stride == _DYNAMIC_STRIDE for stride in strides):
        rank = buffer.type.rank
        base = ir.MemRefType.get([], buffer.type.element_type, loc=a.location)
        results = a.op("memref.extract_strided_metadata", [buffer], [base] + [a.index_type] * (1 + 2 * rank))
        offset = results[1] if offset == _DYNAMIC_STRIDE else offset
        strides = [results[2 + rank + d] if stride == _DYNAMIC_STRIDE else stride for d, stride in enumerate(strides)]
    return list(strides), offset


def element_offset(a: Arith, buffer: Any, at: Sequence[Any]) -> Extent:
    """Where element ``at`` lies, in elements from the aligned base."""
    strides, result = strides_and_offset(a, buffer)
    for index, stride in zip(at, strides, strict=True):
        result = a.add(result, a.mul(index, stride))
    return result


def root_of(value: Any) -> Any:
    """The buffer that ``value`` is a view of: a block argument, an allocation, or another op's result."""
    while not isinstance(value, ir.BlockArgument):
        op = value.owner.operation
        if op.name not in VIEWS or op.results[0] != value:
            return value
        value = op.operands[0]
    return value


def buffer_of(value: Any) -> Any:
    """The buffer that ``value`` looks at a part or another form of; a ``memref.view`` of an arena is a buffer of
    its own.
    """
    while not isinstance(value, ir.BlockArgument):
        op = value.owner.operation
        if op.name == "memref.view" or op.name not in VIEWS or op.results[0] != value:
            return value
        value = op.operands[0]
    return value


def is_host_memory(value: Any) -> bool:
    """Whether the memory behind ``value`` is the host's: a stack allocation or a global of the host's object."""
    root = root_of(value)
    return not isinstance(root, ir.BlockArgument) and root.owner.operation.name in (
        "memref.alloca",
        "memref.get_global",
    )
