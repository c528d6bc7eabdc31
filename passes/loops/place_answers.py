"""``kc-place-answers``: kernels that have an answer on buffers get it for their body."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, ClassVar

from kc import answers
from kc.bindings import ir
from kc.pass_base import Pass

if TYPE_CHECKING:
    from kc.pass_base import PassContext


@dataclasses.dataclass(frozen=True)
class PlaceAnswers(Pass):
    """Replace a kernel with ``kc.answer`` by the ``@main`` of the module in that text (see ``kc.answers``).

    Until bufferization is over the kernel's body on tensors says what it does; from here on the answer takes its
    place. Both must have the same arguments. Code that is a schedule's (``kc.impl`` on ``@main``) or launches GPU
    kernels is left alone by passes that follow; other code is optimised like the program's own. ::

        func.func private @k0(%x: memref<4xf32>, %out: memref<4xf32>)
            attributes {kc.kernel, kc.answer = "func.func @main(%x: memref<4xf32>, %out: memref<4xf32>) { A }"} { B }

    becomes ``func.func private @k0(%x: memref<4xf32>, %out: memref<4xf32>) attributes {kc.kernel} { A }``.
    """

    name: ClassVar[str] = "kc-place-answers"
    anchor: ClassVar[str] = "builtin.module"
    level: ClassVar[str] = "loops"
    dialects: ClassVar[tuple[str, ...]] = ("func",)

    def run(self, op: ir.Operation, ctx: PassContext) -> None:
        """See the class."""
        for function in answers.answered(op):
            module, main = answers.parse_answer(function)
            name = ir.StringAttr(function.attributes["sym_name"]).value
            wanted, given = _type(function), _type(main)
            if wanted != given:
                ctx.error(
                    function,
                    f"kernel '@{name}' has type {wanted}, its answer {given}",
                    ["an answer takes the kernel's arguments as bufferized, destinations last, and has no results"],
                )
            device = any(inner.operation.name == "gpu.module" for inner in module.body.operations)
            placed = answers.place(function, module, main)
            if device or "kc.impl" in placed.attributes:
                placed.attributes["kc.impl"] = ir.UnitAttr.get()
                # inlined into a loop, stack slots of launches would grow with every turn
                placed.attributes["no_inline"] = ir.UnitAttr.get()
            else:
                placed.attributes["kc.kernel"] = ir.UnitAttr.get()


def _type(function: ir.Operation) -> ir.FunctionType:
    return ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
