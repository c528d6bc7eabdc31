"""Iteration spaces made small: unit loops dropped, neighbouring loops that every access walks as one merged."""
from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any

from kc.builder.cpu import ELEMENTS, STORAGE, CpuBuilder, memref_type
from kc.builder.cpu import Index as IndexValue
from kc.kernels.expr import Apply, Coord, Dim, Expr, Index, Kernel, Load, Operand, walk

#: ``(argument, coordinates)``: one way in which the kernel touches an operand
Access = tuple[int, tuple[Coord, ...]]


@dataclasses.dataclass(frozen=True)
class View:
    """An access after merging: the operand with ``groups`` of axes collapsed, at ``coords`` over merged loops."""

    arg: int
    groups: tuple[tuple[int, ...], ...]
    coords: tuple[Coord, ...]


@dataclasses.dataclass(frozen=True)
class Space:
    """Merged loops: ``loops[i]`` is the tuple of original dims that loop i walks; ``views`` maps each access."""

    dims: tuple[Dim, ...]
    loops: tuple[tuple[int, ...], ...]
    views: dict[Access, View]

    def static(self, loop: int) -> int | None:
        """The extent of a merged loop if it is known."""
        result = 1
        for dim in self.loops[loop]:
            size = self.dims[dim].size
            if size is None:
                return None
            result *= size
        return result

    def sizes(self, builder: CpuBuilder, arguments: Sequence[Any]) -> list[IndexValue]:
        """Extents of the merged loops, read off the arguments where they are dynamic."""
        return [builder.product([extent(builder, self.dims[dim], arguments) for dim in loop]) for loop in self.loops]


def coord_terms(coord: Coord) -> list[tuple[int, int]]:
    """The (dim, scale) terms of a coordinate."""
    return [] if coord.dim is None else [(coord.dim, coord.scale), *coord.more]


def scale_of(coord: Coord, dim: int) -> int:
    """How far the coordinate moves when ``dim`` moves by one."""
    return sum(scale for term, scale in coord_terms(coord) if term == dim)


def extent(builder: CpuBuilder, dim: Dim, arguments: Sequence[Any]) -> IndexValue:
    """The size of ``dim``: a number, or the extent of the argument's axis that it is the size of."""
    if dim.size is not None:
        return dim.size
    assert dim.source is not None
    return builder.dim(arguments[dim.source[0]], dim.source[1])


def accesses(roots: Iterable[Expr]) -> list[Access]:
    """Every distinct access by loads under ``roots``."""
    found: dict[Access, None] = {}
    for root in roots:
        for node in walk(root):
            if isinstance(node, Load):
                found.setdefault((node.arg, node.coords))
    return list(found)


def supported(kernel: Kernel, roots: Iterable[Expr], sliding: bool = False) -> bool:
    """Whether CPU vectors can hold every value under ``roots`` and every operand of ``kernel``.

    ``sliding``: loads at sums of loops (windows) are taken too.
    """
    if any(operand.type not in ELEMENTS | {"index"} for operand in kernel.operands):
        return False
    if any(operand.type == "index" and operand.shape is not None for operand in kernel.operands):
        return False
    for root in roots:
        for node in walk(root):
            if node.type not in ELEMENTS | {"index"}:
                return False
            if isinstance(node, Load) and not sliding and any(coord.more for coord in node.coords):
                return False
            if isinstance(node, Apply) and not node.op.startswith(("arith.", "math.")):
                return False
    return True


def merge(dims: Sequence[Dim], operands: Sequence[Operand], touched: Sequence[Access], roots: Iterable[Expr],
          barriers: Iterable[int] = ()) -> Space:
    """Drop loops of extent 1 and merge neighbours.

    Loops d and d + 1 merge when every access either has neither, or walks them by neighbouring axes that they cover
    whole. ``barriers``: loops that start a new group whatever comes before. Loops whose value is used (``Index``) stay.
    """
    kept = [dim for dim in range(len(dims)) if dims[dim].size != 1]
    indexed = {node.dim for root in roots for node in walk(root) if isinstance(node, Index)}
    barriers = set(barriers)
    loops: list[list[int]] = []
    previous: int | None = None
    for dim in kept:
        crosses = any(previous is not None and previous < barrier <= dim for barrier in barriers)
        if (loops and not crosses and previous not in indexed and dim not in indexed
                and all(_neighbours(access, previous, dim, dims, operands) for access in touched)):
            loops[-1].append(dim)
        else:
            loops.append([dim])
        previous = dim
    where = {dim: (number, loop) for number, loop in enumerate(loops) for dim in loop}
    views = {access: _view(access, where, operands) for access in touched}
    return Space(tuple(dims), tuple(tuple(loop) for loop in loops), views)


def _neighbours(access: Access, first: int | None, second: int, dims: Sequence[Dim], operands: Sequence[Operand]
                ) -> bool:
    arg, coords = access
    axes = [[axis for axis, coord in enumerate(coords) if dim is not None and scale_of(coord, dim)]
            for dim in (first, second)]
    if not axes[0] and not axes[1]:
        return True
    if any(coords[axis].more for axis in axes[0] + axes[1]):
        return False
    if len(axes[0]) != 1 or len(axes[1]) != 1 or axes[1][0] <= axes[0][0]:
        return False
    shape = operands[arg].shape
    assert shape is not None
    if any(shape[axis] != 1 for axis in range(axes[0][0] + 1, axes[1][0])):
        return False
    return all(coords[axis].scale == 1 and coords[axis].offset == 0 and shape[axis] == dims[dim].size
               for (axis,), dim in ((axes[0], first), (axes[1], second)) if dim is not None)


def _view(access: Access, where: dict[int, tuple[int, list[int]]], operands: Sequence[Operand]) -> View:
    arg, coords = access
    shape = operands[arg].shape or ()
    groups: list[list[int]] = []
    result: list[Coord] = []
    for axis, coord in enumerate(coords):
        terms = [(dim, scale) for dim, scale in coord_terms(coord) if dim in where]
        if not terms:  # constant, or a loop of extent 1
            if groups and shape[axis] == 1:
                groups[-1].append(axis)
                continue
            groups.append([axis])
            result.append(Coord(None, 1, coord.offset))
            continue
        number, loop = where[terms[0][0]]
        if len(loop) > 1 and terms[0][0] != loop[0]:
            groups[-1].append(axis)
            continue
        groups.append([axis])
        more = tuple((where[dim][0], scale) for dim, scale in terms[1:])
        result.append(Coord(number, terms[0][1], coord.offset, more))
    return View(arg, tuple(map(tuple, groups)), tuple(result))


class Operands:
    """The arguments of one function seen through views, and reads and writes at a point of the merged space."""

    def __init__(self, builder: CpuBuilder, kernel: Kernel, space: Space, arguments: Sequence[Any]) -> None:
        self.builder, self.space = builder, space
        self.arguments = arguments
        self._kernel = kernel
        self._collapsed: dict[tuple[int, tuple[tuple[int, ...], ...]], Any] = {}
        for view in space.views.values():
            operand = kernel.operands[view.arg]
            key = view.arg, view.groups
            if operand.shape is not None and key not in self._collapsed:
                raw = builder.raw(arguments[view.arg], operand.shape, operand.type)
                element = STORAGE.get(operand.type, operand.type)
                self._collapsed[key] = builder.collapse(raw, operand.shape, element, view.groups)

    def view(self, access: Access) -> View:
        return self.space.views[access]

    def memref(self, access: Access) -> Any:
        view = self.view(access)
        return self._collapsed[view.arg, view.groups]

    def indices(self, view: View, point: Sequence[IndexValue | None]) -> list[IndexValue]:
        """Indices of ``view`` at ``point`` (one value a merged loop)."""
        result: list[IndexValue] = []
        for coord in view.coords:
            if coord.dim is None:
                result.append(coord.offset)
                continue
            total: IndexValue = coord.offset
            for loop, scale in coord_terms(coord):
                value = point[loop]
                assert value is not None
                total = self.builder.add(self.builder.mul(value, scale), total)
            result.append(total)
        return result

    def unflatten(self, flat: IndexValue, loops: Sequence[int], sizes: Sequence[IndexValue]
                  ) -> list[tuple[int, IndexValue]]:
        """(loop, value) for the loops of a group walked in row-major order by ``flat``."""
        result: list[tuple[int, IndexValue]] = []
        rest = flat
        for loop in reversed(loops[1:]):
            result.append((loop, self.builder.rem(rest, sizes[loop])))
            rest = self.builder.div(rest, sizes[loop])
        return [*result, (loops[0], rest)] if loops else []

    def varies(self, access: Access, loop: int | None) -> bool:
        """Whether the access depends on merged loop ``loop``."""
        return loop is not None and any(scale_of(coord, loop) for coord in self.view(access).coords)

    def load(self, node: Load, point: Sequence[IndexValue | None], loop: int | None = None, lanes: int | None = None,
             mask: Any = None) -> Any:
        """The value of ``node`` at ``point``: a vector along merged loop ``loop`` if it varies so, else a scalar."""
        access = (node.arg, node.coords)
        if self._kernel.operands[node.arg].shape is None:
            return self.arguments[node.arg]
        view, memref = self.view(access), self.memref(access)
        indices = self.indices(view, point)
        axes = {} if loop is None else {axis: scale_of(coord, loop) for axis, coord in enumerate(view.coords)}
        axes = {axis: scale for axis, scale in axes.items() if scale}
        if not axes or lanes is None:
            value = self.builder.load(memref, indices)
        elif axes == {len(view.coords) - 1: 1}:
            value = self.builder.vector_load(memref, indices, lanes, mask)
        else:
            ((axis, scale),) = axes.items()  # ``diagonal`` spaces are refused by the schedules
            value = self.builder.gather(memref, indices, axis, scale, lanes, mask)
        return self.builder.from_storage(value, self._kernel.operands[node.arg].type)

    def store(self, value: Any, access: Access, point: Sequence[IndexValue | None], loop: int | None = None,
              lanes: int | None = None, mask: Any = None) -> None:
        """Store ``value`` (a vector when ``lanes``) at ``point`` of a destination, narrowed to its element type."""
        view, memref = self.view(access), self.memref(access)
        indices = self.indices(view, point)
        value = self.builder.to_storage(value, self._kernel.operands[view.arg].type)
        if lanes is None:
            self.builder.store(value, memref, indices)
            return
        axis = next(axis for axis, coord in enumerate(view.coords) if coord.dim == loop)
        if axis == len(view.coords) - 1:
            self.builder.vector_store(value, memref, indices, lanes, mask)
        else:
            self.builder.scatter(value, memref, indices, axis, lanes, mask)


def contiguous(space: Space, touched: Iterable[Access], loop: int) -> bool:
    """Whether every access that varies along ``loop`` does so by neighbouring elements."""
    return all(scale_of(coord, loop) in ((0, 1) if axis == len(space.views[access].coords) - 1 else (0,))
               for access in touched for axis, coord in enumerate(space.views[access].coords))


def diagonal(space: Space) -> bool:
    """Whether some access walks two axes with one loop, which no vector load does."""
    for view in space.views.values():
        loops = [loop for coord in view.coords for loop, _ in coord_terms(coord)]
        if len(loops) != len(set(loops)):
            return True
    return False


def argument_types(kernel: Kernel) -> list[str]:
    """Types of the implementation's arguments."""
    return [operand.type if operand.shape is None else memref_type(operand.shape, operand.type)
            for operand in kernel.operands]
