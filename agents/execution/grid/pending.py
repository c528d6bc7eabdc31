"""Registers as products of warpgroups see them: those that one under way will write, and when others were written."""
from __future__ import annotations

import dataclasses
import weakref
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from kc.agents.execution.grid.nodes import Node
    from kc.agents.execution.grid.warp import Warp
    from kc.agents.execution.grid.warpgroups import Products

Array = np.ndarray
_LANES = 32


@dataclasses.dataclass(frozen=True, eq=False)
class Pending:
    """A register of a warp: number ``number`` of a product's ``bank`` (registers, lanes) when group ``group`` of the
    warp's ``products`` is over; ``shape`` of the product, and the op that makes it."""

    bank: Array
    number: int
    products: Products
    group: int
    shape: str
    op: str
    place: str

    @property
    def array(self) -> Array:
        """Its values."""
        value: Array = self.bank[self.number]
        return value

    @property
    def over(self) -> bool:
        """Whether it was waited for."""
        return self.products.done >= self.group


def look(warp: Warp, node: Node, value: Any) -> Any:
    """``value`` for an op that computes with it; tells of registers that are not there yet."""
    if isinstance(value, tuple):
        return tuple(look(warp, node, v) for v in value)
    if not isinstance(value, Pending):
        return value
    if not value.over:
        warp.who.tell(warp.findings, "races", "race", "registers", 0, 0, 0,
                      f"takes accumulators of {value.op} at {value.place}, whose group is not waited for "
                      "(nvvm.wgmma.commit.group and wait.group)", (value.op, value.place))
    return value.array


class Stamps:
    """When arrays were computed: of those that may be registers of a product."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[weakref.ref[Array], int]] = {}

    def note(self, value: Any, step: int) -> None:
        """``value`` was computed."""
        for array in value if isinstance(value, tuple) else (value,):
            if isinstance(array, np.ndarray) and len(array) == _LANES:
                if len(self._known) > 20000:
                    self._known = {k: v for k, v in self._known.items() if v[0]() is not None}
                self._known[id(array)] = weakref.ref(array), step

    def of(self, array: Array) -> int:
        """Its step; -1 of a constant."""
        found = self._known.get(id(array))
        return found[1] if found is not None and found[0]() is array else -1
