"""``kc-bind-host-calls``: declarations of host calls get a body for the analysis of buffers, and an implementation."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, ClassVar

from kc.bindings import ir
from kc.pass_base import Pass
from kc.passes.conversion._emit import Emitter, int_type
from kc.passes.conversion._host_call import CALLEE, WORDS
from kc.rewrite import walk_ops

if TYPE_CHECKING:
    from kc.pass_base import PassContext


@dataclasses.dataclass(frozen=True)
class BindHostCalls(Pass):
    """Give every declaration that names a host call (``kc.host_call``) a reference body and an implementation.

    The body is never run. It reads every input and overwrites one element of every destination, so that bufferization
    knows which buffers the call reads and which it writes; ``kc-bind-impls`` then puts the implementation in its place.
    That one fills a block of words on the stack and calls ``void callee(const int64_t *words)`` of libkc_runtime: the
    words of ``kc.host_words``, then for each buffer (inputs, then destinations) its address and its sizes. ::

        func.func private @c(tensor<?xf32>, tensor<4xf32>) -> tensor<4xf32>
            attributes {kc.host_call = "kc_custom_call", kc.host_words = array<i64: 0>}

    becomes ::

        func.func private @c(%x: tensor<?xf32>, %out: tensor<4xf32>) -> tensor<4xf32>
            attributes {kc.host_call, kc.impl = @c__impl} {
          %read = tensor.extract %x[%c0]
          %written = tensor.insert %zero into %out[%c0]
          return %written
        }
        func.func private @c__impl(%x: memref<?xf32>, %out: memref<4xf32>) attributes {kc.impl} {
          %words = llvm.alloca 4 x i64             // 0, address of %x, size of %x, address of %out, 4
          llvm.call @kc_custom_call(%words)
        }
    """

    name: ClassVar[str] = "kc-bind-host-calls"
    anchor: ClassVar[str] = "builtin.module"
    level: ClassVar[str] = "linalg"
    dialects: ClassVar[tuple[str, ...]] = ("arith", "complex", "func", "llvm", "memref", "tensor")

    def run(self, op: ir.Operation, ctx: PassContext) -> None:
        """See the class."""
        declared = {
            ir.StringAttr(view.operation.attributes["sym_name"]).value
            for view in op.regions[0].blocks[0].operations
            if view.operation.name == "llvm.func"
        }
        for function in walk_ops(op, "func.func"):
            if CALLEE not in function.attributes or len(function.regions[0].blocks):
                continue
            kind = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
            count = len(kind.inputs) - len(kind.results)
            if count < 0 or list(kind.inputs)[count:] != list(kind.results):
                ctx.error(function, "a host call's last arguments must be its destinations, one for each result")
            if not all(isinstance(type_, ir.RankedTensorType) for type_ in kind.inputs):
                ctx.error(function, f"a host call takes tensors, not {kind}")
            callee = ir.StringAttr(function.attributes[CALLEE]).value
            if callee not in declared:
                declared.add(callee)
                declaration = ir.Operation.parse(f"llvm.func @{callee}(!llvm.ptr)", context=op.context)
                op.regions[0].blocks[0].append(declaration)
            _implement(op, function, list(kind.inputs), callee)
            _reference(function, list(kind.inputs), count)


def _reference(function: ir.Operation, types: list[ir.RankedTensorType], inputs: int) -> None:
    """The body that stands for the call while buffers are analysed."""
    block = function.regions[0].blocks.append(*types, arg_locs=[function.location] * len(types))
    e = Emitter(ir.InsertionPoint(block), function.location)
    first = e.index(0)
    for value, type_ in zip(list(block.arguments)[:inputs], types, strict=False):
        e.op("tensor.extract", [value, *[first] * type_.rank], [type_.element_type])
    written = [
        e.one("tensor.insert", [e.const(type_.element_type, 0), value, *[first] * type_.rank], type_)
        for value, type_ in zip(list(block.arguments)[inputs:], types[inputs:], strict=True)
    ]
    e.op("func.return", written, [])


def _implement(module: ir.Operation, function: ir.Operation, types: list[ir.RankedTensorType], callee: str) -> None:
    """``@name__impl`` on buffers behind ``function``, which is told of it."""
    name = ir.StringAttr(function.attributes["sym_name"]).value + "__impl"
    location = function.location
    buffers = [ir.MemRefType.get(t.shape, t.element_type, loc=location) for t in types]
    told = [key for key in function.attributes if key.startswith("kc.") and key not in (CALLEE, WORDS)]
    made = ir.Operation.create(
        "func.func",
        attributes={
            **{key: function.attributes[key] for key in told},
            "sym_name": ir.StringAttr.get(name),
            "function_type": ir.TypeAttr.get(ir.FunctionType.get(buffers, [])),
            "sym_visibility": ir.StringAttr.get("private"),
            "kc.impl": ir.UnitAttr.get(),
            "no_inline": ir.UnitAttr.get(),  # its stack slot must not end up in a loop of the caller's
        },
        regions=1,
        loc=location,
        ip=ir.InsertionPoint(module.regions[0].blocks[0]),
    )
    block = made.regions[0].blocks.append(*buffers, arg_locs=[location] * len(buffers))
    e = Emitter(ir.InsertionPoint(block), location)
    word, pointer = int_type(64), ir.Type.parse("!llvm.ptr")
    words = [e.const(word, value) for value in ir.DenseI64ArrayAttr(function.attributes[WORDS])]
    for value in block.arguments:
        address = e.one("memref.extract_aligned_pointer_as_index", [value], ir.IndexType.get())
        words.append(e.to_int(address, word))
        for axis, extent in enumerate(value.type.shape):
            if extent != ir.ShapedType.get_dynamic_size():
                words.append(e.const(word, extent))
                continue
            words.append(e.to_int(e.one("memref.dim", [value, e.index(axis)], ir.IndexType.get()), word))
    count = e.const(word, max(1, len(words)))
    slot = e.one("llvm.alloca", [count], pointer, {"elem_type": ir.TypeAttr.get(word)})
    for number, stored in enumerate(words):
        attributes = {
            "rawConstantIndices": ir.DenseI32ArrayAttr.get([number]),
            "elem_type": ir.TypeAttr.get(word),
        }
        e.op("llvm.store", [stored, e.one("llvm.getelementptr", [slot], pointer, attributes)], [])
    segments = {
        "callee": ir.FlatSymbolRefAttr.get(callee),
        "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 0]),
        "op_bundle_sizes": ir.DenseI32ArrayAttr.get([]),
    }
    e.op("llvm.call", [slot], [], segments)
    e.op("func.return", [], [])
    function.attributes["kc.impl"] = ir.FlatSymbolRefAttr.get(name)
