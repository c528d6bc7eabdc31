"""Arithmetic on sizes that proposals write: ``ceildiv(M, 128) * N``; checked, evaluated and emitted, never run.

Names of dimensions, ``dim(arg0, 1)``, non-negative integers, ``+ - * // %``, ``ceildiv(a, b)``, ``min(a, b)``,
``max(a, b)``. All values are sizes; a difference that would be negative is 0.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from typing import Any

from kc.agents.protocol import ProtocolError

_MOST_CHARACTERS = 500
_BINARY = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "//", ast.Mod: "%"}
_FUNCTIONS = ("ceildiv", "max", "min")

#: a number, a dimension name, ("dim", argument, axis), or (operator, left, right)
Size = Any


def parse(text: object, field: str, names: Mapping[str, tuple[int, int]], ranks: list[int]) -> Size:
    """The expression in ``text`` (or an integer). ``names``: dimension names; ``ranks``: of each argument.

    Raises ProtocolError that names ``field`` for anything else.
    """
    if isinstance(text, bool) or not isinstance(text, (int, str)):
        raise ProtocolError(f"wants an expression over dimensions or an integer, not {text!r}", field)
    if isinstance(text, int):
        if text < 0:
            raise ProtocolError(f"{text} is negative", field)
        return text
    if len(text) > _MOST_CHARACTERS:
        raise ProtocolError(f"an expression has at most {_MOST_CHARACTERS} characters", field)
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ProtocolError(f"'{text}' is no expression", field) from None
    return _read(tree, field, names, ranks)


def _read(node: ast.AST, field: str, names: Mapping[str, tuple[int, int]], ranks: list[int]) -> Size:
    def inner(child: ast.AST) -> Size:
        return _read(child, field, names, ranks)

    if isinstance(node, ast.Constant) and type(node.value) is int:
        if not 0 <= node.value < 1 << 62:
            raise ProtocolError(f"{node.value} is no size", field)
        return node.value
    if isinstance(node, ast.Name):
        if node.id not in names:
            raise ProtocolError(
                f"no dimension is named '{node.id}'; there are {', '.join(names) or 'none'}, and dim(argN, AXIS)", field
            )
        return ("dim", *names[node.id])
    if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
        return (_BINARY[type(node.op)], inner(node.left), inner(node.right))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        arguments = node.args
        if node.func.id in _FUNCTIONS and len(arguments) == 2:
            return (node.func.id, inner(arguments[0]), inner(arguments[1]))
        if node.func.id == "dim" and len(arguments) == 1:  # dim(M)
            return inner(arguments[0])
        if node.func.id == "dim" and len(arguments) == 2 and isinstance(arguments[0], ast.Name):
            return _dim(arguments[0].id, inner(arguments[1]), field, ranks)
    raise ProtocolError(
        f"'{ast.unparse(node)}' is none of names, integers, + - * // %, ceildiv, min, max, dim(argN, AXIS)", field
    )


def _dim(name: str, axis: Size, field: str, ranks: list[int]) -> Size:
    match = re.fullmatch(r"arg(\d{1,4})", name)
    if match is None or int(match[1]) >= len(ranks):
        raise ProtocolError(f"'{name}' is no argument: there are arg0 to arg{len(ranks) - 1}", field)
    if not isinstance(axis, int) or axis >= ranks[int(match[1])]:
        raise ProtocolError(f"'{name}' has {ranks[int(match[1])]} dimensions, none has number {axis}", field)
    return ("dim", int(match[1]), axis)


def evaluate(size: Size, dim: Callable[[int, int], int | None]) -> int | None:
    """The value, where ``dim(argument, axis)`` gives sizes; None when it depends on one that is None."""
    if isinstance(size, int):
        return size
    if size[0] == "dim":
        return dim(size[1], size[2])
    left, right = evaluate(size[1], dim), evaluate(size[2], dim)
    if left is None or right is None:
        return None
    return _apply(size[0], left, right)


def _apply(operator: str, left: int, right: int) -> int | None:
    if operator in ("//", "%", "ceildiv") and right == 0:
        return None
    return {
        "+": lambda: left + right,
        "-": lambda: max(left - right, 0),
        "*": lambda: left * right,
        "//": lambda: left // right,
        "%": lambda: left % right,
        "ceildiv": lambda: -(-left // right),
        "min": lambda: min(left, right),
        "max": lambda: max(left, right),
    }[operator]()


class Emitter:
    """Writes expressions as text of ``index`` operations. ``lines`` is what was written."""

    def __init__(self, types: list[str], shapes: list[tuple[int | None, ...] | None]) -> None:
        self.types, self.shapes = types, shapes
        self.lines: list[str] = []
        self._known: dict[Any, str] = {}

    def size(self, size: Size) -> str:
        """The SSA name of an expression's value, of type ``index``."""
        if size in self._known:
            return self._known[size]
        if isinstance(size, int):
            made = self._line(f"arith.constant {size} : index")
        elif size[0] == "dim":
            made = self._extent(size[1], size[2])
        else:
            made = self._binary(size[0], self.size(size[1]), self.size(size[2]))
        self._known[size] = made
        return made

    def _line(self, text: str) -> str:
        name = f"%s{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        return name

    def line(self, text: str) -> str:
        """One more operation; the name of its result."""
        return self._line(text)

    def _extent(self, argument: int, axis: int) -> str:
        known = (self.shapes[argument] or ())[axis]
        if known is not None:
            return self.size(known)
        return self._line(f"memref.dim %a{argument}, {self.size(axis)} : {self.types[argument]}")

    def _binary(self, operator: str, left: str, right: str) -> str:
        if operator == "-":  # 0 when it would be negative
            return self._line(f"arith.subi {self._line(f'arith.maxui {left}, {right} : index')}, {right} : index")
        if operator in ("//", "%", "ceildiv"):  # division by zero is undefined: a size of 0 counts as 1
            right = self._line(f"arith.maxui {right}, {self.size(1)} : index")
        name = {"+": "addi", "*": "muli", "//": "divui", "%": "remui", "ceildiv": "ceildivui", "min": "minui",
                "max": "maxui"}[operator]  # fmt: skip
        return self._line(f"arith.{name} {left}, {right} : index")
