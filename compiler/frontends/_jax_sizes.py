"""Names, ranges and constraints of ``jax.export``'s symbolic shapes, from the assertions that JAX puts in a program.

JAX checks the sizes of every call by ``custom_call @shape_assertion`` and says in the message what it checks: which
extent of which argument a dimension variable is, and the constraint. Only its own wording is read.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from kc.frontends._sizes import Sizes, write

if TYPE_CHECKING:
    from kc.bindings import ir

#: of a module: JAX exported it with symbolic shapes
MARK = "jax.uses_shape_polymorphism"
_VARIABLE = re.compile(r"'(\w+)' = \{(\d+)\} from specification '(\w+)' for dimension \S+ \(= \{\2\}\)")
_LEAST = re.compile(r"Expected value >= (\d+) for dimension variable '(\w+)'")
_CONSTRAINT = re.compile(r"do not match the symbolic shape constraint (.{1,400}?)\. Expected '")
_DERIVED = re.compile(r"inconsistency between dimension size \S+ \(= \{(\d+)\}\) and the specification '([^']{1,400})'")


def name_sizes(module: ir.Module, entry: str) -> None:
    """Write what JAX's assertions tell of the sizes of ``entry`` on it."""
    from kc.bindings import ir

    for view in module.body.operations:
        function = view.operation
        if function.name == "func.func" and ir.StringAttr(function.attributes["sym_name"]).value == entry:
            break
    else:
        return
    if not len(function.regions[0].blocks):
        return
    sizes = Sizes()
    extents: dict[tuple[int, int], str] = {}
    for view in function.regions[0].blocks[0].operations:
        op = view.operation
        if op.name != "stablehlo.custom_call" or "error_message" not in op.attributes:
            continue
        if ir.StringAttr(op.attributes["call_target_name"]).value != "shape_assertion":
            continue
        _read(op, sizes, extents)
    if extents:
        write(function, sizes, extents)


def _read(op: ir.Operation, sizes: Sizes, extents: dict[tuple[int, int], str]) -> None:
    """What one assertion tells."""
    from kc.bindings import ir

    message = ir.StringAttr(op.attributes["error_message"]).value
    told, _, variables = message.partition("Obtained dimension variables:")
    for name, number, specification in _VARIABLE.findall(variables):
        place = _place(op, int(number))
        if name == specification and place is not None:
            extents[place] = name
    if (match := _LEAST.search(told)) is not None:
        sizes.bound(match[2], int(match[1]))
    elif (match := _CONSTRAINT.search(told)) is not None:
        sizes.condition(plain(match[1]))
    elif (match := _DERIVED.search(told)) is not None:
        place = _place(op, int(match[1]))
        if place is not None:
            extents.setdefault(place, plain(match[2]))


def _place(op: ir.Operation, number: int) -> tuple[int, int] | None:
    """The argument and axis whose extent is number ``number`` of a message; None where it is something else."""
    from kc.bindings import ir

    if number + 1 >= len(op.operands):
        return None
    value = op.operands[number + 1]
    while not isinstance(value.owner, ir.Block) and value.owner.name == "stablehlo.convert":
        value = value.owner.operation.operands[0]
    if isinstance(value.owner, ir.Block) or value.owner.name != "stablehlo.get_dimension_size":
        return None
    size = value.owner.operation
    source = size.operands[0]
    if not isinstance(source.owner, ir.Block):
        return None
    return ir.BlockArgument(source).arg_number, int(ir.IntegerAttr(size.attributes["dimension"]).value)


def plain(text: str) -> str:
    """An expression in JAX's notation as ``kc.conditions`` reads it: ``mod(n, 8)`` is ``n % 8``."""
    try:
        tree = _Operators().visit(ast.parse(text, mode="eval"))
        return ast.unparse(tree)
    except (SyntaxError, ValueError, RecursionError):
        return text


_KINDS: dict[str, type[ast.operator]] = {"mod": ast.Mod, "floordiv": ast.FloorDiv}


class _Operators(ast.NodeTransformer):
    """Writes calls of ``mod`` and ``floordiv`` as operators."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        kind = _KINDS.get(node.func.id) if isinstance(node.func, ast.Name) else None
        if kind is None or len(node.args) != 2 or node.keywords:
            return node
        return ast.BinOp(node.args[0], kind(), node.args[1])
