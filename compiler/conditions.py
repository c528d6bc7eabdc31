"""Conditions on sizes, read from text: ``N % 8 == 0``, ``rows <= cols``, ``d0 == 4 * rows + 1``.

A comparison (``== != <= >= < >``) of two expressions over names of dimensions and integers, with ``+ - * // %`` and
brackets. ``//`` and ``%`` round down, by positive integers only. Read from text, evaluated, never run.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import math
import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

#: an integer, a name, or (operator, left, right)
Expr = Any
#: (modulus, rest): numbers that leave ``rest`` when divided by ``modulus``; modulus 0: that number, 1: any
Residue = tuple[int, int]
ANY: Residue = (1, 0)

COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "==": operator.eq, "!=": operator.ne, "<=": operator.le, ">=": operator.ge, "<": operator.lt, ">": operator.gt,
}  # fmt: skip
_ARITHMETIC: dict[str, Callable[[int, int], int]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "//": operator.floordiv, "%": operator.mod,
}  # fmt: skip
_COMPARE_NODES = {ast.Eq: "==", ast.NotEq: "!=", ast.LtE: "<=", ast.GtE: ">=", ast.Lt: "<", ast.Gt: ">"}
_BINARY_NODES = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "//", ast.Mod: "%"}
_MOST_CHARACTERS = 500
_ALPHABET = re.compile(r"[\w\s%*+\-/()=<>!]+", re.ASCII)


@dataclasses.dataclass(frozen=True)
class Condition:
    """``left compare right``; both sides are expressions (``Expr``)."""

    compare: str
    left: Expr
    right: Expr

    @property
    def names(self) -> tuple[str, ...]:
        """The names of dimensions in it, each once, in order."""
        return tuple(dict.fromkeys([*names_in(self.left), *names_in(self.right)]))

    def holds(self, sizes: Mapping[str, int]) -> bool:
        """Whether it is true of these sizes, which must have all its names."""
        return COMPARISONS[self.compare](evaluate(self.left, sizes), evaluate(self.right, sizes))

    def to_json(self) -> list[Any]:
        """As nested lists, operator first: what the runtime evaluates."""
        return [self.compare, _listed(self.left), _listed(self.right)]

    def __str__(self) -> str:
        return f"{written(self.left)} {self.compare} {written(self.right)}"


@functools.lru_cache(maxsize=1024)
def parse(text: str) -> Condition | None:
    """The condition that ``text`` states; None where it states something else."""
    if len(text) > _MOST_CHARACTERS or not _ALPHABET.fullmatch(text):
        return None
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    if not isinstance(tree, ast.Compare) or len(tree.ops) != 1 or type(tree.ops[0]) not in _COMPARE_NODES:
        return None
    try:
        left, right = _read(tree.left), _read(tree.comparators[0])
    except (_NoExpression, RecursionError):
        return None
    found = Condition(_COMPARE_NODES[type(tree.ops[0])], left, right)
    return found if found.names else None


class _NoExpression(Exception):
    """A part of a text is no expression over sizes."""


def _read(node: ast.AST) -> Expr:
    if isinstance(node, ast.Constant) and type(node.value) is int and node.value < 1 << 62:
        return node.value
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _read(node.operand)
        return -inner if isinstance(inner, int) else ("-", 0, inner)
    if isinstance(node, ast.BinOp) and type(node.op) in _BINARY_NODES:
        op, left, right = _BINARY_NODES[type(node.op)], _read(node.left), _read(node.right)
        if op in ("//", "%") and not (isinstance(right, int) and right > 0):
            raise _NoExpression
        if isinstance(left, int) and isinstance(right, int):
            return _ARITHMETIC[op](left, right)
        return (op, left, right)
    raise _NoExpression


def evaluate(expr: Expr, sizes: Mapping[str, int]) -> int:
    """The value of an expression. Raises KeyError for a name that ``sizes`` lacks."""
    if isinstance(expr, int):
        return expr
    if isinstance(expr, str):
        return sizes[expr]
    op, left, right = expr
    return _ARITHMETIC[op](evaluate(left, sizes), evaluate(right, sizes))


def names_in(expr: Expr) -> list[str]:
    """The names in an expression, in order."""
    if isinstance(expr, str):
        return [expr]
    return [] if isinstance(expr, int) else [*names_in(expr[1]), *names_in(expr[2])]


def written(expr: Expr, outer: int = 0) -> str:
    """An expression as text, with the brackets that it needs inside one that binds as strongly as ``outer``."""
    if isinstance(expr, (int, str)):
        return str(expr)
    op, left, right = expr
    strength = 1 if op in "+-" else 2
    text = f"{written(left, strength)} {op} {written(right, strength + 1)}"
    return f"({text})" if strength < outer else text


def renamed(expr: Expr, names: Mapping[str, Expr]) -> Expr:
    """``expr`` with other expressions in the place of names. Raises KeyError for a name that ``names`` lacks."""
    if isinstance(expr, str):
        return names[expr]
    return expr if isinstance(expr, int) else (expr[0], renamed(expr[1], names), renamed(expr[2], names))


def _listed(expr: Expr) -> Any:
    return expr if isinstance(expr, (int, str)) else [expr[0], _listed(expr[1]), _listed(expr[2])]


def residue(expr: Expr, known: Mapping[str, Residue]) -> Residue:
    """What is known of the value of ``expr`` by what is known of its names."""
    if isinstance(expr, int):
        return 0, expr
    if isinstance(expr, str):
        return known.get(expr, ANY)
    op = expr[0]
    (m, r), (n, s) = residue(expr[1], known), residue(expr[2], known)
    if op in ("+", "-"):
        return reduced(math.gcd(m, n), r + s if op == "+" else r - s)
    if op == "*":
        return reduced(math.gcd(r * n, s * m, m * n), r * s)
    if n or s <= 0:
        return ANY
    if op == "%":
        return (0, r % s) if m % s == 0 else reduced(math.gcd(m, s), r)
    return reduced(m // s, r // s) if m % s == 0 and (m == 0 or r % s == 0) else ANY


def reduced(modulus: int, rest: int) -> Residue:
    """A residue with its rest below the modulus."""
    return modulus, rest % modulus if modulus else rest
