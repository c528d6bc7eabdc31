"""Names, ranges and conditions of the open sizes of a ``torch.export`` program.

``Dim("rows", min=4, max=64)`` reaches the program as a symbol (``s17``) with a range; PyTorch keeps the user's names
and the conditions that it traced under (``4*rows``, ``rows % 2 == 0``) beside it. A program that was saved and loaded
has lost the names, and keeps symbols.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import torch
from torch.fx.experimental.symbolic_shapes import is_symbolic

from kc import conditions
from kc.frontends._sizes import UNLIMITED, Sizes

#: PyTorch traces under 2 <= size, and does not hold calls to it (0 and 1 are sizes, too): nor does kc
_TRACED_FROM = 2
_SIZE = re.compile(r"L\['(\w+)'\]\.size\(\)\[(\d+)\]")


def of_program(program: torch.export.ExportedProgram) -> tuple[Sizes, dict[str, str]]:
    """What ``program`` says of its sizes, and the names of its symbols."""
    shapes = _shapes(program)
    names = _names(shapes)
    texts = {name: [renamed(str(size), names) for size in shape] for name, shape in shapes.items()}
    sizes = Sizes()
    sizes.take([text for own in texts.values() for text in own])
    dims = {name: sizes.dims(own) for name, own in texts.items()}
    called = {text: dims[name][axis] for name, own in texts.items() for axis, text in enumerate(own)}
    for symbol, given in program.range_constraints.items():
        name = called.get(renamed(str(symbol), names))
        if name is not None:
            low, high = _limit(given.lower, 0), _limit(given.upper, UNLIMITED)
            sizes.bound(name, low if low > _TRACED_FROM else 0, high)
    for guard in getattr(program, "_guards_code", None) or ():
        condition = conditions.parse(_SIZE.sub(lambda match: _extent(match, dims), str(guard)))
        if condition is None or (len(condition.names) == 1 and not _divides(condition)):
            continue  # limits of one size are in its range
        if condition.left != condition.right:
            sizes.condition(str(condition))
    return sizes, names


def renamed(text: str, names: dict[str, str]) -> str:
    """The text of an extent with names in the place of symbols."""
    return re.sub(r"[A-Za-z_]\w*", lambda match: names.get(match[0], match[0]), text)


def _shapes(program: torch.export.ExportedProgram) -> dict[str, Sequence[Any]]:
    """Placeholder -> its sizes, symbols among them."""
    return {
        node.name: node.meta["val"].shape
        for node in program.graph.nodes
        if node.op == "placeholder" and isinstance(node.meta.get("val"), torch.Tensor)
    }


def _names(shapes: dict[str, Sequence[Any]]) -> dict[str, str]:
    """Symbol -> the user's name, where PyTorch still knows it and it is a name of one symbol only."""
    found: dict[str, str] = {}
    for name, shape in shapes.items():
        for axis, size in enumerate(shape):
            if not is_symbolic(size):
                continue
            told = getattr(size.node.shape_env, "source_name_to_debug_name", {}).get(f"L['{name}'].size()[{axis}]")
            symbol = str(size.node.expr)
            if isinstance(told, str) and told.isidentifier() and symbol.isidentifier():
                found.setdefault(symbol, told)
    symbols = {str(size.node.expr) for shape in shapes.values() for size in shape if is_symbolic(size)}
    return {s: name for s, name in found.items() if list(found.values()).count(name) == 1 and name not in symbols}


def _extent(match: re.Match[str], dims: dict[str, list[str]]) -> str:
    """The name of the extent that a guard speaks of; its own words where no input has it."""
    own, axis = dims.get(match[1], []), int(match[2])
    return own[axis] if axis < len(own) else match[0]


def _divides(condition: conditions.Condition) -> bool:
    """Whether it says what a size leaves when divided."""
    return isinstance(condition.left, tuple) and condition.left[0] == "%" and condition.compare == "=="


def _limit(value: Any, otherwise: int) -> int:
    """An end of a range as an integer; ``otherwise`` for an infinity."""
    text = str(value)  # an integer of sympy's, or an infinity of its or PyTorch's
    if not re.fullmatch(r"-?\d+", text):
        return otherwise
    return int(text) if abs(int(text)) < UNLIMITED else otherwise
