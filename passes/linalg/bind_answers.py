"""``kc-bind-answers``: functions that have an answer get it for their body, or become kernels that wait for it."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, ClassVar

from kc import answers
from kc.bindings import ir
from kc.kernels.result_sizes import result_sizes
from kc.pass_base import Pass
from kc.rewrite import walk_ops

if TYPE_CHECKING:
    from kc.pass_base import PassContext


@dataclasses.dataclass(frozen=True)
class BindAnswers(Pass):
    """Prepare functions with ``kc.answer`` (see ``kc.answers``) that are no kernels.

    An answer on tensors becomes the function's body. One on buffers waits for ``kc-place-answers``: the function
    becomes a kernel in destination-passing style, and its body one that reads every argument and writes every
    destination, which is what the analysis of buffers has to know. Callers make the destinations; sizes that only the
    function's body tells are computed there. ::

        %0 = call @f(%x) : (tensor<?xf32>) -> tensor<?xf32>
        func.func private @f(%x: tensor<?xf32>) -> tensor<?xf32> attributes {kc.answer = "… memref …"} { … }

    becomes ::

        %n = tensor.dim %x, %c0 : tensor<?xf32>
        %e = tensor.empty(%n) : tensor<?xf32>
        %0 = call @f(%x, %e) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
        func.func private @f(%x: tensor<?xf32>, %out: tensor<?xf32>) -> tensor<?xf32>
            attributes {kc.kernel, kc.kind = "answer", kc.answer = "… memref …"}
    """

    name: ClassVar[str] = "kc-bind-answers"
    anchor: ClassVar[str] = "builtin.module"
    level: ClassVar[str] = "linalg"
    dialects: ClassVar[tuple[str, ...]] = ("arith", "complex", "func", "tensor")

    def run(self, op: ir.Operation, ctx: PassContext) -> None:
        """See the class."""
        for function in answers.answered(op):
            if "kc.kernel" in function.attributes:
                continue
            module, main = answers.parse_answer(function)
            name = ir.StringAttr(function.attributes["sym_name"]).value
            if not answers.on_buffers(main):
                if _type(function) != _type(main):
                    ctx.error(function, f"function '@{name}' has type {_type(function)}, its answer {_type(main)}")
                answers.place(function, module, main)
                continue
            if "sym_visibility" not in function.attributes:
                ctx.error(
                    function,
                    f"'@{name}' is an entry point: an answer on buffers must stand on a private function that it calls",
                )
            self._make_kernel(op, function, name, ctx)

    def _make_kernel(self, module: ir.Operation, function: ir.Operation, name: str, ctx: PassContext) -> None:
        kind = _type(function)
        for type_ in (*kind.inputs, *kind.results):
            if isinstance(type_, ir.UnrankedTensorType):
                ctx.error(function, f"'@{name}' takes or gives {type_}: an answer needs tensors with a rank")
        for call in walk_ops(module, "func.call"):
            if ir.FlatSymbolRefAttr(call.attributes["callee"]).value == name:
                _pass_destinations(call, function)
        _stub(function, kind)


def _pass_destinations(call: ir.Operation, function: ir.Operation) -> None:
    """Replace ``call`` by one that gets an empty tensor for each result."""
    with ir.InsertionPoint(call), call.location:
        made = []
        for number, result in enumerate(call.results):
            type_ = ir.RankedTensorType(result.type)
            sizes = result_sizes(function, number, list(call.operands)) if not type_.has_static_shape else []
            made.append(ir.Operation.create("tensor.empty", [type_], sizes).result)
        operands = [*call.operands, *made]
        new = ir.Operation.create(
            "func.call", [r.type for r in call.results], operands, {"callee": call.attributes["callee"]}
        )
    for old, value in zip(call.results, new.results, strict=True):
        old.replace_all_uses_with(value)
    call.erase()


def _stub(function: ir.Operation, kind: ir.FunctionType) -> None:
    """Make ``function`` a kernel whose body reads every argument and writes every destination."""
    for op in reversed([view.operation for view in function.regions[0].blocks[0].operations]):
        op.erase()
    location, block = function.location, function.regions[0].blocks[0]
    inputs = list(block.arguments)
    outputs = [block.add_argument(type_, location) for type_ in kind.results]
    with ir.InsertionPoint(block), location:
        first = _constant(ir.IndexType.get(), 0)
        for value in inputs:
            if isinstance(value.type, ir.RankedTensorType):
                at = [first] * value.type.rank
                ir.Operation.create("tensor.extract", [value.type.element_type], [value, *at])
        written = []
        for value in outputs:
            at = [first] * value.type.rank
            zero = _constant(value.type.element_type, 0)
            written.append(ir.Operation.create("tensor.insert", [value.type], [zero, value, *at]).result)
        ir.Operation.create("func.return", [], written)
    types = [*kind.inputs, *kind.results]
    function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(types, list(kind.results)))
    for name in ("arg_attrs", "res_attrs"):
        if name in function.attributes:
            del function.attributes[name]
    function.attributes["kc.kernel"] = ir.UnitAttr.get()
    function.attributes["kc.kind"] = ir.StringAttr.get("answer")


def _constant(type_: ir.Type, value: int) -> ir.Value:
    if isinstance(type_, ir.ComplexType):
        part = ir.FloatAttr.get(type_.element_type, float(value))
        return ir.Operation.create("complex.constant", [type_], [], {"value": ir.ArrayAttr.get([part, part])}).result
    attribute = (
        ir.FloatAttr.get(type_, float(value)) if isinstance(type_, ir.FloatType) else ir.IntegerAttr.get(type_, value)
    )
    return ir.Operation.create("arith.constant", [type_], [], {"value": attribute}).result


def _type(function: ir.Operation) -> ir.FunctionType:
    return ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
