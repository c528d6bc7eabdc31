"""Values that are no plain arrays: memrefs; and choosing between values by lane."""
from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from kc.agents.execution.errors import ExecutionError
from kc.agents.execution.grid.pending import Pending
from kc.agents.execution.grid.types import Type


@dataclasses.dataclass
class View:
    """A memref: address of its base and, in elements, offset, sizes and strides; each an array over lanes (or one)."""

    kind: Type
    base: np.ndarray
    offset: np.ndarray
    sizes: list[np.ndarray]
    strides: list[np.ndarray]

    def addresses(self, indices: list[np.ndarray]) -> np.ndarray:
        """Of one element per lane."""
        at = self.offset
        for index, stride in zip(indices, self.strides, strict=True):
            at = at + index * stride
        return self.base + at * self.kind.bytes

    def inside(self, indices: list[np.ndarray], count: int = 1) -> np.ndarray:
        """Whether every index (and those of ``count`` elements along the last dimension) lies in its dimension."""
        result = np.ones(1, bool)
        for axis, (index, size) in enumerate(zip(indices, self.sizes, strict=True)):
            last = count if axis == len(self.sizes) - 1 else 1
            result = result & (index >= 0) & (index + last <= size)
        return result

    @property
    def contiguous(self) -> bool:
        """Whether its elements lie side by side, for a view that is the same in all lanes."""
        expected = 1
        for size, stride in zip(reversed(self.sizes), reversed(self.strides), strict=True):
            if int(size[0]) != 1 and int(stride[0]) != expected:
                return False
            expected *= int(size[0])
        return True


def select(condition: np.ndarray, a: Any, b: Any) -> Any:
    """``a`` in the lanes where ``condition`` holds, else ``b``."""
    if condition.all():
        return a
    if isinstance(a, Pending) or isinstance(b, Pending):
        raise ExecutionError("unsupported", "accumulators of a product under way in a branch that only some lanes take")
    if isinstance(a, View):
        def pick(x: np.ndarray, y: np.ndarray) -> np.ndarray:
            return np.where(condition, x, y)

        return View(a.kind, pick(a.base, b.base), pick(a.offset, b.offset),
                    [pick(x, y) for x, y in zip(a.sizes, b.sizes, strict=True)],
                    [pick(x, y) for x, y in zip(a.strides, b.strides, strict=True)])
    if isinstance(a, tuple):
        return tuple(select(condition, x, y) for x, y in zip(a, b, strict=True))
    extra = max(a.ndim, b.ndim) - condition.ndim
    chosen = np.where(condition.reshape(condition.shape + (1,) * extra), a, b)
    return chosen.astype(a.dtype, copy=False)


def lanes(value: Any, count: int) -> Any:
    """``value`` with an entry for each of ``count`` lanes."""
    if isinstance(value, View):
        return View(value.kind, *(lanes(x, count) for x in (value.base, value.offset)),
                    *([lanes(x, count) for x in xs] for xs in (value.sizes, value.strides)))
    if isinstance(value, Pending):
        return value
    if isinstance(value, tuple):
        return tuple(lanes(x, count) for x in value)
    return value if len(value) == count else value.repeat(count, axis=0)
