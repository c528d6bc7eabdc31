"""``kc-externalize-constants``: big constants become parameters of the entry functions."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, ClassVar

from kc import params
from kc.bindings import ir
from kc.pass_base import Pass

if TYPE_CHECKING:
    from kc.pass_base import PassContext

_CONSTANTS = ("stablehlo.constant", "arith.constant")


@dataclasses.dataclass(frozen=True)
class ExternalizeConstants(Pass):
    """Turn constants above ``threshold`` bytes into trailing arguments ``{kc.param = N}``, their bytes into the
    ParamTable.

    Text is no place for weights: printing, translating and parsing them costs seconds per MB. Splats stay (they take no
    room). A private function that holds such a constant, or calls one that does, gets the argument too, and so do its
    calls; a function that is used other than by ``func.call`` keeps its constants. Equal constants share a
    parameter. ::

        func.func @main(%x: tensor<512xf32>) -> tensor<512xf32> {
          %w = arith.constant dense_resource<w> : tensor<512xf32>
          %y = arith.addf %x, %w : tensor<512xf32>

    becomes ::

        func.func @main(%x: tensor<512xf32>, %w: tensor<512xf32> {kc.param = 0 : i64}) -> tensor<512xf32> {
          %y = arith.addf %x, %w : tensor<512xf32>
    """

    name: ClassVar[str] = "kc-externalize-constants"
    anchor: ClassVar[str] = "builtin.module"
    level: ClassVar[str] = "linalg"
    dialects: ClassVar[tuple[str, ...]] = ("func",)
    threshold: int = 1024

    def run(self, op: ir.Operation, ctx: PassContext) -> None:
        """See the class."""
        table = params.ParamTable.of(ctx.context)
        functions = _functions(op)
        calls = {name: _calls(function) for name, function in functions.items()}
        fixed = _reachable(_used_otherwise(op, set(functions)), calls)  # these cannot take or pass another argument
        constants = {name: self._collect(function, table) for name, function in functions.items() if name not in fixed}
        needs = {name: {number for _, number in found} for name, found in constants.items()}
        changed = True
        while changed:  # callers need what their callees need; a few rounds even for recursion
            changed = False
            for name in needs:
                for callee, _ in calls[name]:
                    missing = needs.get(callee, set()) - needs[name]
                    if missing:
                        needs[name] |= missing
                        changed = True
        arguments = {
            name: _add_arguments(functions[name], sorted(numbers), table) for name, numbers in needs.items() if numbers
        }
        for name, found in constants.items():
            for constant, number in found:
                constant.results[0].replace_all_uses_with(arguments[name][number])
                constant.erase()
        for name, own in calls.items():
            for callee, call in own:
                if callee in arguments:
                    _extend_call(call, [arguments[name][number] for number in sorted(needs[callee])])

    def _collect(self, function: ir.Operation, table: params.ParamTable) -> list[tuple[ir.Operation, int]]:
        found: list[tuple[ir.Operation, int]] = []

        def visit(op: ir.Operation) -> ir.WalkResult:
            if op.name in _CONSTANTS and isinstance(op.results[0].type, ir.RankedTensorType):
                tensor = ir.RankedTensorType(op.results[0].type)
                dtype = params.type_dtype(tensor.element_type)
                try:
                    nbytes = params.itemsize(dtype)
                except ValueError:
                    return ir.WalkResult.ADVANCE
                for extent in tensor.shape:
                    nbytes *= extent
                if nbytes > self.threshold:
                    data = params.constant_bytes(op, "value", nbytes)
                    if data is not None:
                        found.append((op, table.add_constant(data, dtype, tuple(tensor.shape))))
            return ir.WalkResult.ADVANCE

        function.walk(visit)
        return found


def _functions(module: ir.Operation) -> dict[str, ir.Operation]:
    block = module.regions[0].blocks[0]
    return {
        ir.StringAttr(op.attributes["sym_name"]).value: op.operation
        for op in block.operations
        if op.operation.name == "func.func" and len(op.operation.regions[0].blocks)
    }


def _calls(function: ir.Operation) -> list[tuple[str, ir.Operation]]:
    found: list[tuple[str, ir.Operation]] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name in ("func.call", "call"):
            found.append((ir.FlatSymbolRefAttr(op.attributes["callee"]).value, op))
        return ir.WalkResult.ADVANCE

    function.walk(visit)
    return found


def _used_otherwise(module: ir.Operation, names: set[str]) -> set[str]:
    """Functions whose symbol occurs outside the callee of a ``func.call`` (composites, ``func.constant``)."""
    found: set[str] = set()

    def symbols(attribute: ir.Attribute) -> None:
        if isinstance(attribute, ir.FlatSymbolRefAttr):
            found.add(attribute.value)
        elif isinstance(attribute, ir.ArrayAttr):
            for element in attribute:
                symbols(element)
        elif isinstance(attribute, ir.DictAttr):
            for entry in attribute:
                symbols(entry.attr)

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name not in _CONSTANTS:
            for name in op.attributes:
                if not (op.name == "func.call" and name == "callee"):
                    symbols(op.attributes[name])
        return ir.WalkResult.ADVANCE

    module.walk(visit)
    return found & names


def _reachable(roots: set[str], calls: dict[str, list[tuple[str, ir.Operation]]]) -> set[str]:
    """``roots`` and everything they call, directly or not."""
    seen, stack = set(roots), list(roots)
    while stack:
        for callee, _ in calls.get(stack.pop(), ()):
            if callee not in seen:
                seen.add(callee)
                stack.append(callee)
    return seen


def _add_arguments(function: ir.Operation, numbers: list[int], table: params.ParamTable) -> dict[int, ir.Value]:
    block = function.regions[0].blocks[0]
    kind = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
    inputs = list(kind.inputs)
    if "arg_attrs" in function.attributes:
        attributes = list(ir.ArrayAttr(function.attributes["arg_attrs"]))
    else:
        attributes = [ir.DictAttr.get({}) for _ in inputs]
    public = "sym_visibility" not in function.attributes or (
        ir.StringAttr(function.attributes["sym_visibility"]).value == "public"
    )
    result: dict[int, ir.Value] = {}
    for number in numbers:
        param = table[number]
        tensor = ir.RankedTensorType.get(list(param.shape), _element_type(param.dtype), loc=function.location)
        result[number] = block.add_argument(tensor, function.location)
        inputs.append(tensor)
        mark = {params.ATTRIBUTE: ir.IntegerAttr.get(ir.IntegerType.get_signless(64), number)} if public else {}
        attributes.append(ir.DictAttr.get(mark))
    function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(inputs, list(kind.results)))
    function.attributes["arg_attrs"] = ir.ArrayAttr.get(attributes)
    return result


def _element_type(dtype: str) -> ir.Type:
    return ir.Type.parse({"complex64": "complex<f32>", "complex128": "complex<f64>"}.get(dtype, dtype))


def _extend_call(call: ir.Operation, values: list[ir.Value]) -> None:
    new = ir.Operation.create(
        call.name,
        results=[result.type for result in call.results],
        operands=[*call.operands, *values],
        attributes={name: call.attributes[name] for name in call.attributes},
        loc=call.location,
        ip=ir.InsertionPoint(call),
    )
    for old, fresh in zip(call.results, new.results, strict=True):
        old.replace_all_uses_with(fresh)
    call.erase()
