"""``kc-convert-run-parallel``."""

from __future__ import annotations

import dataclasses
import re
from typing import ClassVar

from kc.bindings import ir
from kc.pass_base import Pass, PassContext
from kc.passes.conversion._collective_call import call_runtime, dtype_of, static_shape
from kc.passes.conversion._emit import Emitter
from kc.passes.conversion._movement import cast_elements
from kc.passes.conversion._scalar import unsigned_flags
from kc.rewrite import erase_op, replace_op, walk_ops

_OPS = frozenset(("interpreter.print", "interpreter.probe", "interpreter.run_parallel"))


@dataclasses.dataclass(frozen=True)
class ConvertRunParallel(Pass):
    """``interpreter.run_parallel`` of StableHLO's reference interpreter to a host call that starts a thread a process.

    The named functions become (or stay) public: the runtime calls their entry points. Results must have static shapes.
    ``interpreter.probe`` is the identity, ``interpreter.print`` a host call. Before / after::

        %r:2 = "interpreter.run_parallel"(%a, %b) {programs = [[@f], [@f]]}
            : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)

        %r:2 = call @kc_run_parallel_0(%a, %b, %empty0, %empty1)
    """

    name: ClassVar[str] = "kc-convert-run-parallel"
    level: ClassVar[tuple[str, str]] = ("stablehlo", "linalg")
    dialects: ClassVar[tuple[str, ...]] = ("func", "tensor")

    def acts_on(self) -> frozenset[str]:
        return _OPS

    def run(self, op: ir.Operation, ctx: PassContext) -> None:
        for found in walk_ops(op, _OPS):
            if found.name == "interpreter.probe":
                replace_op(found, [found.operands[0]])
            elif found.name == "interpreter.print":
                _print(found)
                erase_op(found)
            else:
                replace_op(found, _convert(op, found, ctx))


def _convert(module: ir.Operation, op: ir.Operation, ctx: PassContext) -> list[ir.Value]:
    rows = [_symbols(row) for row in ir.ArrayAttr(op.attributes["programs"])]
    programs = [name for row in rows for name in row]
    infeed = _symbols(op.attributes["infeed"]) if "infeed" in op.attributes else []
    functions = {
        ir.StringAttr(f.operation.attributes["sym_name"]).value: f.operation
        for f in module.regions[0].blocks[0].operations
        if f.operation.name == "func.func"
    }
    counts = []
    feeds: list[ir.Type] = []
    for number, name in enumerate((*programs, *infeed)):
        if not re.fullmatch(r"[\w.$-]+", name):
            ctx.error(op, f"a function named '{name}' cannot be run in parallel: rename it")
        function = functions[name]
        if "sym_visibility" in function.attributes:
            del function.attributes["sym_visibility"]
        kind = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
        counts += [len(kind.inputs), len(kind.results)]
        if number >= len(programs):
            feeds += kind.results
    text = "/".join(
        (
            f"replicas={len(rows)}",
            f"partitions={len(rows[0])}",
            f"programs={','.join(programs)}",
            f"infeed={','.join(infeed)}",
            f"arrays={','.join(map(str, counts))}",
        )
    )
    e = Emitter.before(op)
    shapes = [static_shape(op, r, ctx, "result") for r in op.results]
    # the infeed's functions give what is only passed on: scratch of their type
    for type_ in feeds:
        shapes.append(list(ir.RankedTensorType(type_).shape))
    called = {"kc.programs": ir.ArrayAttr.get([ir.FlatSymbolRefAttr.get(name) for name in (*programs, *infeed)])}
    types = [*(r.type for r in op.results), *feeds]
    made = call_runtime(e, op, "kc_run_parallel", {"type": text}, list(op.operands), types, shapes, called)
    return made[: len(op.results)]


def _print(op: ir.Operation) -> None:
    """The runtime writes integers, f32, f64 and complex numbers; narrower floats are widened for it, which is exact."""
    e = Emitter.before(op)
    value = op.operands[0]
    kind = ir.RankedTensorType(value.type)
    if isinstance(kind.element_type, ir.FloatType) and kind.element_type.width < 32:
        value = cast_elements(e, value, ir.F32Type.get())
    unsigned = unsigned_flags(op)
    is_unsigned = bool(unsigned) and unsigned[0]
    dtype = dtype_of(ir.RankedTensorType(value.type).element_type, is_unsigned)
    name = re.sub(r"i(\d+)>$", r"ui\1>", str(kind)) if is_unsigned else str(kind)
    call_runtime(e, op, "kc_print", {"type": name, "dtype": dtype}, [value], [], [])


def _symbols(attribute: ir.Attribute) -> list[str]:
    return [ir.FlatSymbolRefAttr(name).value for name in ir.ArrayAttr(attribute)]
