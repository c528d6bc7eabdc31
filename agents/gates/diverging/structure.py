"""What stands in the proposal's text and not in the original's: ops told apart by name, attributes and operands.

Two ops are the same where all of these are, down to arguments and constants: names of values, order and layout of the
text play no part. It says nothing of what an op computes; it tells which of several ops somebody wrote.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from typing import TYPE_CHECKING, Any

from kc.agents.gates.case import FUNCTIONS, symbol

if TYPE_CHECKING:
    from kc.bindings import ir


#: new ops, and ops of another kind, up to which a text is the original with a change
_FEW = 2


@dataclasses.dataclass(eq=False)
class Op:
    """An op of a text. ``head``: the op without what is inside of it, ``key``: with it."""

    name: str
    place: tuple[int, int]
    head: int
    key: int
    operands: tuple[int, ...]
    #: the ops inside, and those that define its operands (None: an argument)
    children: list[Op]
    makers: list[Op | None]
    #: its name, attributes and types alone
    kind: int = 0
    #: its name alone, and of a constant its value
    own: int = 0

    @property
    def constant(self) -> bool:
        """Whether it is a constant."""
        return self.name.endswith(".constant")


class Text:
    """The ops of a module, in order of the text."""

    def __init__(self, module: ir.Module):
        self.ops: list[Op] = []
        self._values: dict[ir.Value, int] = {}
        self._makers: dict[ir.Value, Op] = {}
        for op in module.body.operations:
            self._read(op.operation)
        self.heads = {op.head for op in self.ops}
        self.keys = {op.key for op in self.ops}
        self.values = {0, *self._values.values()}

    def at(self, place: tuple[int, int]) -> Op | None:
        """The op that stands there; of several (aliases of one place) the first."""
        return next((op for op in self.ops if op.place == place), None) if place != (0, 0) else None

    def _read(self, op: ir.Operation) -> Op:
        from kc.diagnostics import location_of

        where = location_of(op)
        operands = tuple(self._value(value) for value in op.operands)
        attributes = _attributes(op)
        types = tuple(str(result.type) for result in op.results)
        head = hash((op.name, attributes, types, operands))
        found = Op(
            op.name,
            (where.line, where.col) if where is not None else (0, 0),
            head,
            head,
            operands,
            [],
            [self._makers.get(value) for value in op.operands],
            hash((op.name, attributes, types)),
            hash((op.name, attributes) if op.name.endswith(".constant") else op.name),
        )
        self.ops.append(found)
        # a block's arguments are known by the op around it and what that is given
        outer = symbol(op) if op.name in FUNCTIONS else head
        for number, region in enumerate(op.regions):
            for place, block in enumerate(region.blocks):
                for argument in block.arguments:
                    self._values[argument] = hash((op.name, outer, number, place, argument.arg_number))
        for region in op.regions:
            for block in region.blocks:
                found.children += [self._read(inner.operation) for inner in block.operations]
        found.key = hash((head, tuple(child.key for child in found.children)))
        for number, result in enumerate(op.results):
            self._values[result] = hash((found.key, number))
            self._makers[result] = found
        return found

    def _value(self, value: Any) -> int:
        return self._values.get(value, 0)  # 0: of an op further down, in a graph region


@dataclasses.dataclass
class Changes:
    """A proposal's text beside the original's.

    ``roots``: new ops that are given nothing new but constants, innermost, in order (a constant, where it is all that
    is new about an op); ``small``: whether next to nothing is different, so that the proposal is not another program.
    """

    original: Text
    proposal: Text
    roots: list[Op]
    small: bool

    @classmethod
    def of(cls, original: Text, proposal: Text) -> Changes:
        """What is new."""
        roots: list[Op] = []
        for op in proposal.ops:
            if op.key in original.keys or op.constant or op.name in (*FUNCTIONS, "builtin.module", "gpu.module"):
                continue
            if any(child.key not in original.keys for child in op.children) and op.head in original.heads:
                continue
            makers = zip(op.operands, op.makers, strict=True)
            if all(value in original.values or (maker is not None and maker.constant) for value, maker in makers):
                root = _other_constant(op, original) or op
                roots += [root] if root not in roots else []
        before, after = (Counter(op.own for op in text.ops) for text in (original, proposal))
        changed = max((after - before).total(), (before - after).total())
        return cls(original, proposal, roots, len(roots) <= _FEW and changed <= _FEW)

    def new(self, op: Op) -> bool:
        """Whether the original has no such op."""
        return op.key not in self.original.keys

    def innermost(self, op: Op) -> Op:
        """Where inside of an op lies what is new about it: the op itself, or the first op inside that is new."""
        while op.head in self.original.heads and self.new(op):
            inner = next((child for child in op.children if self.new(child)), None)
            if inner is None:
                break
            op = inner
        return op

    def constant(self, op: Op) -> Op:
        """The constant that alone makes an op new: the original has the op with another constant in that place.

        In another program that says nothing: there it is the op.
        """
        return (_other_constant(op, self.original) or op) if self.small else op


def _other_constant(op: Op, original: Text) -> Op | None:
    """The operand of an op that is a constant, where the original has the same op but for that constant."""
    for number, maker in enumerate(op.makers):
        if maker is None or not maker.constant or maker.key in original.keys:
            continue
        for other in original.ops:
            if other.kind != op.kind or len(other.operands) != len(op.operands):
                continue
            theirs = other.makers[number]
            rest = [k for k in range(len(op.operands)) if k != number]
            alike = all(other.operands[k] == op.operands[k] for k in rest)
            if alike and theirs is not None and theirs.constant and theirs.key != maker.key:
                return maker
    return None


def _attributes(op: ir.Operation) -> tuple[tuple[str, str], ...]:
    skipped = ("sym_name", "arg_attrs", "res_attrs", "sym_visibility") if op.name in FUNCTIONS else ()
    names = [name for name in op.attributes if name not in skipped and not name.startswith("kc.")]
    return tuple((name, str(op.attributes[name])) for name in sorted(names))
