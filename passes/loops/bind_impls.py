"""``kc-bind-impls``: calls of scheduled kernels go to what their schedules built."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, ClassVar

from kc.bindings import ir
from kc.pass_base import Pass
from kc.passes.loops._functions import functions, unscheduled
from kc.rewrite import walk_ops

if TYPE_CHECKING:
    from kc.pass_base import PassContext


@dataclasses.dataclass(frozen=True)
class BindImpls(Pass):
    """Redirect calls of a kernel ``@k {kc.impl = @k__impl}`` to ``@k__impl`` and erase the kernel's reference body.

    Until bufferization is over, the linalg body of a kernel says what it does, so that the analysis of buffers sees
    it; from here on the schedule's code takes its place. Both must have the same arguments and no results
    (destinations are arguments). An ``@k__impl`` that nothing calls goes too. ::

        func.func private @k0(%x: memref<4xf32>, %out: memref<4xf32>) attributes {kc.kernel, kc.impl = @k0__impl} {…}
        call @k0(%a, %b) : (memref<4xf32>, memref<4xf32>) -> ()

    becomes ``call @k0__impl(%a, %b)``.
    """

    name: ClassVar[str] = "kc-bind-impls"
    anchor: ClassVar[str] = "builtin.module"
    level: ClassVar[str] = "loops"
    dialects: ClassVar[tuple[str, ...]] = ("func",)

    def run(self, op: ir.Operation, ctx: PassContext) -> None:
        """See the class."""
        named = {ir.StringAttr(f.attributes["sym_name"]).value: f for f in functions(op)}
        bound: dict[str, str] = {}
        for name, function in named.items():
            if "kc.impl" not in function.attributes:
                continue
            reference = function.attributes["kc.impl"]
            if not isinstance(reference, ir.FlatSymbolRefAttr):
                continue  # the marker on the implementation itself
            target = reference.value
            if target not in named:
                ctx.error(function, f"kernel '@{name}' names the implementation '@{target}', which does not exist")
            if "kc.impl" in named[target].attributes and isinstance(
                named[target].attributes["kc.impl"], ir.FlatSymbolRefAttr
            ):
                ctx.error(function, f"'@{target}' is a kernel with an implementation of its own")
            wanted, given = _type(function), _type(named[target])
            if wanted != given:
                ctx.error(
                    function,
                    f"kernel '@{name}' has type {wanted}, its implementation '@{target}' {given}",
                    ["a schedule's function takes the kernel's arguments as bufferized, destinations last, no results"],
                )
            bound[name] = target
        for root in unscheduled(op):
            for call in walk_ops(root, "func.call"):
                callee = ir.FlatSymbolRefAttr(call.attributes["callee"]).value
                if callee in bound:
                    call.attributes["callee"] = ir.FlatSymbolRefAttr.get(bound[callee])
        for name in bound:
            named[name].erase()


def _type(function: ir.Operation) -> ir.FunctionType:
    return ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
