"""A module as plain Python objects: reading MLIR's through the bindings at every step would take most of the time."""
from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from kc.agents.execution.grid.types import Type, type_of


@dataclasses.dataclass
class Node:
    """One op. Values are numbers; ``successors`` are positions of blocks with the operands that they are given."""

    name: str
    operands: tuple[int, ...]
    results: tuple[int, ...]
    types: tuple[Type, ...]
    operand_types: tuple[Type, ...]
    attributes: dict[str, Any]
    regions: list[list[Block]]
    place: str
    successors: tuple[int, ...] = ()
    symbol: str = ""

    def groups(self) -> list[tuple[int, ...]]:
        """Operands by ``operandSegmentSizes``."""
        found, at = [], 0
        for size in self.attributes["operandSegmentSizes"]:
            found.append(self.operands[at : at + size])
            at += size
        return found


@dataclasses.dataclass
class Block:
    """Arguments and ops; the last op is the terminator."""

    arguments: tuple[int, ...]
    types: tuple[Type, ...]
    nodes: list[Node]


class Reader:
    """Numbers the values of one module."""

    def __init__(self) -> None:
        self._numbers: dict[Any, int] = {}

    def _number(self, value: Any) -> int:
        return self._numbers.setdefault(value, len(self._numbers))

    def read(self, op: Any) -> Node:
        """``op`` with all that is inside of it."""
        from kc.diagnostics import location_of

        operation = op.operation
        regions = [self._region(region) for region in operation.regions]
        where = location_of(operation)
        attributes = {name: plain(operation.attributes[name]) for name in operation.attributes}
        return Node(
            operation.name,
            tuple(self._number(v) for v in operation.operands),
            tuple(self._number(v) for v in operation.results),
            tuple(type_of(str(v.type)) for v in operation.results),
            tuple(type_of(str(v.type)) for v in operation.operands),
            attributes,
            regions,
            f"{where.line}:{where.col}" if where else "",
            symbol=attributes.get("sym_name", ""),
        )

    def _region(self, region: Any) -> list[Block]:
        blocks = list(region.blocks)
        made = [
            Block(
                tuple(self._number(a) for a in block.arguments),
                tuple(type_of(str(a.type)) for a in block.arguments),
                [],
            )
            for block in blocks
        ]
        for block, into in zip(blocks, made, strict=True):
            for op in block.operations:
                node = self.read(op)
                successors = list(op.operation.successors)
                if successors:
                    node.successors = tuple(blocks.index(s) for s in successors)
                into.nodes.append(node)
        return made


def plain(attribute: Any) -> Any:
    """An attribute as a Python value where it has one, else its text."""
    from kc.bindings import ir

    a = attribute
    if isinstance(a, ir.BoolAttr):
        return bool(a.value)
    if isinstance(a, ir.IntegerAttr):
        return int(a.value)
    if isinstance(a, (ir.StringAttr, ir.FlatSymbolRefAttr)):
        return a.value
    if isinstance(a, ir.SymbolRefAttr):
        return list(a.value)
    if isinstance(a, ir.ArrayAttr):
        return [plain(x) for x in a]
    if isinstance(a, (ir.DenseI64ArrayAttr, ir.DenseI32ArrayAttr, ir.DenseBoolArrayAttr, ir.DenseI8ArrayAttr)):
        return list(a)
    if isinstance(a, ir.UnitAttr):
        return True
    if isinstance(a, ir.TypeAttr):
        return str(a.value)
    if isinstance(a, (ir.DenseElementsAttr, ir.FloatAttr)):
        return constant(a)
    if isinstance(a, ir.AffineMapAttr):
        return a
    return str(a)


def constant(attribute: Any) -> np.ndarray | str:
    """The value of a float or a dense literal as an array; its text where its elements have no NumPy type."""
    from kc.agents.execution import literals
    from kc.agents.execution.errors import ExecutionError
    from kc.agents.execution.signature import dtype_of
    from kc.bindings import ir

    try:
        if isinstance(attribute, ir.FloatAttr):
            dtype = dtype_of(str(attribute.type))
            return np.array(attribute.value, np.float64).astype(dtype)
        text = str(attribute)
        head, _, kind = text.rpartition(" : ")
        return literals.read(f"{head} : {kind.replace('vector<', 'tensor<').replace('memref<', 'tensor<')}")
    except (ExecutionError, ValueError):
        return str(attribute)
