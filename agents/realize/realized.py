"""What a proposal becomes, and how it is put on the function that it is for."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from kc.errors import InputError

if TYPE_CHECKING:
    from kc.bindings import ir


class RealizeError(InputError):
    """A proposal cannot be made part of a program: the verdict is a rejection by ``gate`` with code ``reason``."""

    def __init__(self, gate: str, reason: str, message: str):
        super().__init__(message)
        self.gate, self.reason = gate, reason


class MissingError(InputError):
    """A package or library without which a proposal of this kind cannot be realized here; the text names it."""


@dataclasses.dataclass(frozen=True)
class Realized:
    """A proposal as code.

    ``ir``: text of a module that stands at ``level``, whose ``@main`` has the region's signature there. ``answer``:
    None when that is the region's own level; else the text that goes with the region's function (``kc.answers``).
    ``files``: foreign code by file name (PTX); it stands in ``ir`` too. ``needs``: the machine that can run it.
    ``runs``: ``mlir`` when ``ir`` is all there is to run, ``kc`` when it calls libraries or holds PTX, so that only
    kc's runtime runs it. ``guarded``: of a proposal with a guard the module, at the region's level, that takes the
    region's place: it asks for the sizes, and has the region's old code in it too. ``notes``: what the tools on the way
    had to say (registers, spills).
    """

    level: str
    ir: str
    answer: str | None = None
    files: Mapping[str, bytes] = dataclasses.field(default_factory=dict)
    needs: Literal["cpu", "gpu"] = "cpu"
    runs: Literal["mlir", "kc"] = "mlir"
    guarded: str | None = None
    notes: tuple[str, ...] = ()


def splice(function: ir.Operation, realized: Realized) -> ir.Operation:
    """Put an answer on a region's function (``func.func`` in the program's module) and return the function that
    carries it.

    A kernel or a private function keeps its body and gets the answer beside it. A public function stays an entry
    point: it gets a private one, which it calls, for the region. Raises ValueError when ``realized`` has no answer:
    it is then IR of the region's own level.
    """
    from kc.answers import ANSWER
    from kc.bindings import ir

    if realized.answer is None:
        raise ValueError("this proposal stands at the region's own level: its module takes the region's place")
    if "kc.kernel" not in function.attributes and "sym_visibility" not in function.attributes:
        function = _outline(function)
    with function.context:
        function.attributes[ANSWER] = ir.StringAttr.get(realized.answer)
        if "kc.kernel" not in function.attributes:
            function.attributes["no_inline"] = ir.UnitAttr.get()
    return function


def splice_ptx(device: ir.Operation, realized: Realized) -> None:
    """Give a ``gpu.module`` at the llvm level edited PTX for its code; its ops stay as the reference."""
    from kc.answers import PTX
    from kc.bindings import ir

    with device.context:
        device.attributes[PTX] = ir.StringAttr.get(realized.ir)


def splice_assembly(function: ir.Operation, realized: Realized) -> None:
    """Give an ``llvm.func`` assembly for its code, under its own symbol; its body stays as the reference."""
    from kc.agents.realize.x86.lines import renamed
    from kc.answers import ASM
    from kc.bindings import ir

    name = ir.StringAttr(function.attributes["sym_name"]).value
    with function.context:
        function.attributes[ASM] = ir.StringAttr.get(renamed(realized.ir, "main", name))


def _outline(function: ir.Operation) -> ir.Operation:
    """Move the body of a public function into a private one that it calls; returns that."""
    from kc.answers import names_of
    from kc.bindings import ir

    assert function.parent is not None
    module = function.parent.operation
    name, taken = ir.StringAttr(function.attributes["sym_name"]).value, names_of(module)
    number = 0
    while (private := f"{name}_region{number or ''}") in taken:
        number += 1
    with function.context, function.location:
        moved = function.clone(ip=ir.InsertionPoint(module.regions[0].blocks[0])).operation
        moved.attributes["sym_name"] = ir.StringAttr.get(private)
        moved.attributes["sym_visibility"] = ir.StringAttr.get("private")
        block = function.regions[0].blocks[0]
        for op in reversed([view.operation for view in block.operations]):
            op.erase()
        kind = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
        with ir.InsertionPoint(block):
            call = ir.Operation.create(
                "func.call",
                list(kind.results),
                list(block.arguments),
                {"callee": ir.FlatSymbolRefAttr.get(private)},
            )
            ir.Operation.create("func.return", [], list(call.results))
    return moved
