"""Calls from host code into the runtime's GPU ABI (``compiler/runtime/src/abi.h``), on the caller's current stream."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kc.bindings import ir
from kc.passes.gpu._launch import Arith

SIGNATURES = {
    "kc_gpu_launch": "(i64, i64, i64, i64, i64, i64, i64, i64, !llvm.ptr)",
    "kc_gpu_memcpy_d2d": "(!llvm.ptr, !llvm.ptr, i64)",
    "kc_gpu_memcpy_d2h": "(!llvm.ptr, !llvm.ptr, i64)",
    "kc_gpu_memcpy_h2d": "(!llvm.ptr, !llvm.ptr, i64)",
}


def module_of(op: Any) -> Any:
    """The ``builtin.module`` around ``op``."""
    while op.name != "builtin.module":
        op = op.parent.operation
    return op


def call(a: Arith, module: Any, callee: str, operands: Sequence[Any]) -> None:
    """``llvm.call @callee(operands)`` at the ambient insertion point; declares ``callee`` in ``module`` when it is not.

    The declaration is an ``llvm.func``: wrappers of the C interface are made for ``func.func`` only.
    """
    body = module.regions[0].blocks[0]
    if not any("sym_name" in op.attributes and ir.StringAttr(op.attributes["sym_name"]).value == callee for op in body):
        body.append(ir.Operation.parse(f"llvm.func @{callee}{SIGNATURES[callee]}", context=module.context))
    ir.Operation.create(
        "llvm.call",
        operands=list(operands),
        loc=a.location,
        attributes={
            "callee": ir.FlatSymbolRefAttr.get(callee),
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([len(operands), 0]),
            "op_bundle_sizes": ir.DenseI32ArrayAttr.get([]),
        },
    )


def integer(a: Arith, value: Any) -> Any:
    """An index value or a Python int as i64."""
    i64 = ir.IntegerType.get_signless(64)
    if isinstance(value, int):
        return a.constant(value, i64)
    return value if value.type == i64 else a.op("arith.index_cast", [value], [i64])


def pointer(a: Arith, buffer: Any, byte_offset: Any = 0) -> Any:
    """``!llvm.ptr`` to ``buffer``'s aligned base plus ``byte_offset`` (an int or an index value)."""
    address = a.op("memref.extract_aligned_pointer_as_index", [buffer], [a.index_type])
    return a.op("llvm.inttoptr", [integer(a, a.add(address, byte_offset))], [ir.Type.parse("!llvm.ptr")])


def entry_point(op: Any) -> Any:
    """Where stack slots of the function around ``op`` go: the start of its entry block."""
    while op.name != "func.func":
        op = op.parent.operation
    return ir.InsertionPoint.at_block_begin(op.regions[0].blocks[0])
