"""A contraction's factors and results, each seen through the loops that it needs itself."""
from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from kc.builder.cpu import CpuBuilder
from kc.builder.cpu import Index as IndexValue
from kc.builder.expr import Emitter
from kc.kernels.expr import Acc, Contraction, Expr, Index, Kernel, Load
from kc.schedules.cpu.space import Access, Operands, Space, accesses, contiguous, diagonal, merge


@dataclasses.dataclass(frozen=True)
class Part:
    """Expressions over some of the loops, with these loops merged as far as *their* operands allow.

    ``groups`` maps ``b``, ``m``, ``n``, ``k`` to merged loops. A position in a group is one number, row-major over
    the group's loops, the same in every part.
    """

    roots: tuple[Expr, ...]
    touched: tuple[Access, ...]
    space: Space
    groups: dict[str, list[int]]

    @classmethod
    def of(cls, kernel: Contraction, roots: Sequence[Expr], outputs: Sequence[Access] = ()) -> Part:
        touched = tuple(dict.fromkeys([*accesses(roots), *outputs]))
        dims = {"b": kernel.batch, "m": kernel.m, "n": kernel.n, "k": kernel.k}
        barriers = [group[0] for group in dims.values() if group]
        space = merge(kernel.dims, kernel.operands, touched, roots, barriers)
        groups = {name: [number for number, loop in enumerate(space.loops) if loop[0] in group]
                  for name, group in dims.items()}
        return cls(tuple(roots), touched, space, groups)

    @property
    def fits(self) -> bool:
        """Whether loads at a point of this part can be built."""
        return not diagonal(self.space)

    def vectorises(self, group: str, lanes: int) -> bool:
        """Whether ``lanes`` positions of ``group``, from a multiple of ``lanes``, are neighbours in every operand."""
        loops = self.groups[group]
        if not loops or not contiguous(self.space, self.touched, loops[-1]):
            return False
        last = self.space.static(loops[-1])
        return len(loops) == 1 or (last is not None and last % lanes == 0)


class PartValues:
    """Emits a part's expressions inside one function."""

    def __init__(self, builder: CpuBuilder, kernel: Kernel, part: Part, arguments: Sequence[Any]) -> None:
        self.builder, self.part = builder, part
        self.operands = Operands(builder, kernel, part.space, arguments)
        self.sizes = part.space.sizes(builder, arguments)
        self._scalars = {number for number, operand in enumerate(kernel.operands) if operand.shape is None}
        self._where = {dim: number for number, loop in enumerate(part.space.loops) for dim in loop}

    def size(self, group: str) -> IndexValue:
        return self.builder.product([self.sizes[loop] for loop in self.part.groups[group]])

    def point(self, **flat: IndexValue) -> list[IndexValue | None]:
        """The point at these positions in the groups ``b``, ``m``, ``n``, ``k``."""
        result: list[IndexValue | None] = [None] * len(self.sizes)
        for group, value in flat.items():
            for loop, index in self.operands.unflatten(value, self.part.groups[group], self.sizes):
                result[loop] = index
        return result

    def emitter(self, point: Sequence[IndexValue | None], group: str | None = None, lanes: int | None = None,
                mask: Any = None, acc: Any = None) -> Emitter:
        """Emits at ``point``; vectors along ``group``'s last loop if ``lanes``. ``acc``: the value of ``Acc``."""
        loop = self.part.groups[group][-1] if group and self.part.groups[group] else None
        builder = self.builder

        def leaf(node: Expr) -> Any:
            if isinstance(node, Acc):
                return acc
            if isinstance(node, Index):
                number = self._where.get(node.dim)
                value = 0 if number is None else point[number]
                assert value is not None
                return builder.step_vector(value, lanes) if lanes and number == loop else builder.index(value)
            assert isinstance(node, Load)
            return self.operands.load(node, point, loop if lanes else None, lanes, mask)

        return Emitter(builder, leaf, lanes)

    def store(self, value: Any, access: Access, point: Sequence[IndexValue | None], group: str | None = None,
              lanes: int | None = None, mask: Any = None) -> None:
        loop = self.part.groups[group][-1] if group and self.part.groups[group] else None
        self.operands.store(value, access, point, loop, lanes, mask)
