"""What the static gates look at: the two modules, parsed, and what is known about them."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator
from typing import TYPE_CHECKING

from kc.agents.contract import Contract

if TYPE_CHECKING:
    from kc.bindings import ir

FUNCTIONS = ("func.func", "llvm.func", "gpu.func")


@dataclasses.dataclass
class Case:
    """Original and proposal, both parsed and verified.

    ``level``: where the proposal stands; ``same_level``: whether the original stands there too; ``assumes``, ``guard``:
    those of the proposal; ``ours``: whether kc's own schedules made the text.
    """

    original: ir.Module
    proposal: ir.Module
    level: str
    contract: Contract
    assumes: tuple[str, ...] = ()
    guard: str | None = None
    same_level: bool = True
    ours: bool = False

    @functools.cached_property
    def original_ops(self) -> frozenset[str]:
        """Names of the ops of the original."""
        return frozenset(op.name for op in walk(self.original.operation))


def walk(root: ir.Operation) -> Iterator[ir.Operation]:
    """Every op inside ``root``, in order of the text."""
    stack = [iter([root])]
    first = True
    while stack:
        op = next(stack[-1], None)
        if op is None:
            stack.pop()
            continue
        operation = op.operation
        if not first:
            yield operation
        first = False
        children = [child for region in operation.regions for block in region.blocks for child in block.operations]
        if children:
            stack.append(iter(children))


def symbol(op: ir.Operation) -> str | None:
    """The symbol that an op defines."""
    from kc.bindings import ir

    return ir.StringAttr(op.attributes["sym_name"]).value if "sym_name" in op.attributes else None


def has_body(op: ir.Operation) -> bool:
    """Whether a function has a body."""
    return len(op.regions) > 0 and len(op.regions[0].blocks) > 0


def functions(module: ir.Module) -> dict[str, ir.Operation]:
    """The functions at the top of a module and in its device modules, by name (of a device module: ``m::f``)."""
    found: dict[str, ir.Operation] = {}
    for op in module.body.operations:
        operation = op.operation
        name = symbol(operation)
        if operation.name in FUNCTIONS and name is not None:
            found[name] = operation
        elif operation.name == "gpu.module" and name is not None:
            for inner in operation.regions[0].blocks[0].operations:
                inner_name = symbol(inner.operation)
                if inner.operation.name in FUNCTIONS and inner_name is not None:
                    found[f"{name}::{inner_name}"] = inner.operation
    return found


def main_of(module: ir.Module) -> ir.Operation | None:
    """The public function ``@main`` with a body, if there is one."""
    found = functions(module).get("main")
    return found if found is not None and has_body(found) and is_public(found) else None


def is_public(op: ir.Operation) -> bool:
    """Whether a symbol can be seen from outside of the module."""
    from kc.bindings import ir

    if op.name.startswith("llvm."):
        linkage = str(op.attributes["linkage"]) if "linkage" in op.attributes else "external"
        return "internal" not in linkage and "private" not in linkage
    if "sym_visibility" not in op.attributes:
        return True
    return ir.StringAttr(op.attributes["sym_visibility"]).value == "public"


def place(op: ir.Operation) -> str:
    """``'memref.store' at line 12``: how messages name an op."""
    from kc.diagnostics import location_of

    where = location_of(op)
    return f"'{op.name}'" + (f" at line {where.line}" if where is not None and where.line else "")


def callee(op: ir.Operation) -> str | None:
    """The function that a call calls, where it is a direct one; a kernel as ``m::f``."""
    for name in ("callee", "kernel"):
        if name in op.attributes:
            return str(op.attributes[name]).replace("@", "").replace('"', "")
    return None
