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


class Runtime:
    """Emits calls into the runtime from one module, and declares what it calls there."""

    def __init__(self, module: Any) -> None:
        self._module = module
        self._declared = {
            str(ir.StringAttr(op.attributes["sym_name"]).value)
            for op in module.regions[0].blocks[0].operations
            if op.operation.name == "llvm.func"
        }

    def call(self, a: Arith, callee: str, operands: Sequence[Any]) -> None:
        """``llvm.call @callee(operands)`` at the ambient insertion point.

        The declaration is an ``llvm.func``: wrappers of the C interface are made for ``func.func`` only.
        """
        if callee not in self._declared:
            self._declared.add(callee)
            declaration = ir.Operation.parse(f"llvm.func @{callee}{SIGNATURES[callee]}", context=self._module.context)
            self._module.regions[0].blocks[0].append(declaration)
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


def pointer(a: Arith, buffer: Any, byte_offset: Any = 0, kind: str = "!llvm.ptr") -> Any:
    """Pointer of type ``kind`` to ``buffer``'s aligned base plus ``byte_offset`` (an int or an index value)."""
    address = a.op("memref.extract_aligned_pointer_as_index", [buffer], [a.index_type])
    return a.op("llvm.inttoptr", [integer(a, a.add(address, byte_offset))], [ir.Type.parse(kind)])


def entry_point(op: Any) -> Any:
    """Where stack slots of the function around ``op`` go: the start of its entry block."""
    while op.name != "func.func":
        op = op.parent.operation
    return ir.InsertionPoint.at_block_begin(op.regions[0].blocks[0])
