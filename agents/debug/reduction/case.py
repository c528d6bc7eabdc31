"""A module under reduction, with the inputs of its ``@main``."""
from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from kc.bindings import ir
from kc.context import make_context, parse_module
from kc.errors import KcError
from kc.rewrite import walk_ops

if TYPE_CHECKING:
    import numpy

#: ops that a reduction does not count: they hold values or structure, and compute nothing
PLAIN = frozenset(
    {
        "builtin.module", "func.func", "func.return", "llvm.func", "llvm.return", "gpu.module", "gpu.func",
        "gpu.return", "gpu.terminator", "arith.constant", "stablehlo.constant", "complex.constant",
        "llvm.mlir.constant", "tensor.empty", "memref.alloc", "memref.alloca", "memref.dealloc", "stablehlo.return",
        "linalg.yield", "scf.yield", "scf.condition", "affine.yield", "tensor.yield",
    }
)  # fmt: skip

#: changes a module and its inputs in place; False when there was nothing to change
Edit = Callable[["Draft"], bool]


@dataclasses.dataclass(frozen=True)
class Case:
    """``text`` verifies. ``inputs``: one array per argument of ``@main``; None where nothing is run."""

    text: str
    inputs: tuple[Any, ...] | None = None

    @functools.cached_property
    def ops(self) -> int:
        """The ops that compute something."""
        module = parse(self.text)
        return sum(op.name not in PLAIN for op in walk_ops(module.operation))

    @functools.cached_property
    def size(self) -> tuple[int, int]:
        """What must shrink: the ops, then the length of the text without locations, all extents, unusual types."""
        text = _LOCATION.sub("", self.text)
        return self.ops, len(text) + sum(map(int, _EXTENT.findall(text))) + len(_UNUSUAL.findall(text))


_EXTENT = re.compile(r"(?<=[<x])(\d{1,9})(?=x)")
_UNUSUAL = re.compile(r"(?<=[x<: (])(?:f64|bf16|f16|i64|i16|ui8)\b")
_LOCATION = re.compile(r"^#loc.*$| loc\([^()]*(?:\([^()]*\)[^()]*)*\)", re.MULTILINE)


@dataclasses.dataclass
class Draft:
    """A copy of a case while an edit changes it."""

    module: ir.Module
    inputs: list[Any] | None

    def main(self) -> ir.Operation | None:
        """``@main``, or the only function with a body."""
        found = self.functions()
        named = [f for f in found if symbol(f) == "main"]
        return named[0] if named else found[0] if len(found) == 1 else None

    def functions(self) -> list[ir.Operation]:
        """The functions with a body, in order."""
        ops = (op.operation for op in self.module.body.operations)
        return [op for op in ops if op.name == "func.func" and len(op.regions[0].blocks)]


def symbol(op: ir.Operation) -> str:
    """The symbol that ``op`` defines, empty when it defines none."""
    return ir.StringAttr(op.attributes["sym_name"]).value if "sym_name" in op.attributes else ""


def parse(text: str) -> ir.Module:
    """``text`` in a context of its own, ops of unknown dialects allowed."""
    return parse_module(text, make_context(allow_unregistered=True), "case")


def show(module: ir.Module, locations: bool = True) -> str:
    """A module as text."""
    return str(module.operation.get_asm(enable_debug_info=locations)).rstrip("\n") + "\n"


def apply(case: Case, edit: Edit, locations: bool = True) -> Case | None:
    """``case`` after ``edit``; None when the edit does not apply, or leaves what does not verify."""
    try:
        draft = Draft(parse(case.text), None if case.inputs is None else list(case.inputs))
        with draft.module.context, ir.Location.unknown():
            if not edit(draft) or not draft.module.operation.verify():
                return None
        return checked(show(draft.module, locations), draft.inputs)
    except (KcError, ir.MLIRError, ValueError, TypeError, RuntimeError, IndexError, KeyError):
        return None  # many edits fit few ops: what does not fit is no candidate


def checked(text: str, inputs: list[numpy.ndarray[Any, Any]] | None) -> Case | None:
    """The case of ``text``, None when it does not parse or verify."""
    try:
        parse(text)
    except KcError:
        return None
    return Case(text, None if inputs is None else tuple(inputs))
