"""Where a kernel's loads and stores fall in memory: strides per loop, and which loops can be walked as one.

Operands have identity layout, so an access is linear in the loops with strides that are products of extents. An extent
that is only known at run time is a *symbol*: ``("dim", d)``, the size of loop ``d``, or ``("extent", arg, axis)``. An
axis is as long as its loop where it is a destination's or the loop's source; any other operand may be longer, when the
kernel reads a slice of it.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Sequence

from kc.kernels.expr import Dim, Kernel, Load, Operand, Output

Symbol = tuple  # ("dim", loop) or ("extent", arg, axis)


@dataclasses.dataclass(frozen=True)
class Extent:
    """``coefficient`` times the product of ``symbols`` (sorted)."""

    coefficient: int = 1
    symbols: tuple[Symbol, ...] = ()

    def __mul__(self, other: Extent) -> Extent:
        return Extent(self.coefficient * other.coefficient, tuple(sorted(self.symbols + other.symbols)))

    @property
    def static(self) -> int | None:
        """The value when it is known now."""
        return None if self.symbols else self.coefficient

    def multiple_of(self, number: int) -> bool:
        """Whether the value is a multiple of ``number`` whatever the symbols are."""
        return self.coefficient % number == 0


ONE = Extent()
ZERO = Extent(0)


@dataclasses.dataclass(frozen=True)
class Access:
    """Element ``sum(strides[i] * loop[i]) + sum(offset * stride for constants)`` of argument ``arg``.

    ``strides`` has one entry per loop (or per loop group after ``collapse``), ``ZERO`` where the loop does not matter;
    ``constants`` are (integer, Extent) pairs.
    """

    arg: int
    type: str
    strides: tuple[Extent, ...]
    constants: tuple[tuple[int, Extent], ...] = ()


@dataclasses.dataclass(frozen=True)
class Space:
    """Loop groups that are walked as one: ``groups`` of loops, outermost first, and their sizes."""

    groups: tuple[tuple[int, ...], ...]
    sizes: tuple[Extent, ...]

    @property
    def total(self) -> Extent:
        result = ONE
        for size in self.sizes:
            result = result * size
        return result


def dim_extent(dims: Sequence[Dim], loop: int) -> Extent:
    """The size of ``loop``."""
    size = dims[loop].size
    return Extent(1, (("dim", loop),)) if size is None else Extent(size)


def axis_strides(kernel: Kernel, dims: Sequence[Dim], node: Load | Output) -> list[Extent]:
    """The stride of each axis of the argument that ``node`` reads or writes, in elements."""
    shape = kernel.operands[node.arg].shape or ()
    strides: list[Extent] = []
    stride = ONE
    for axis in range(len(shape) - 1, -1, -1):
        strides.insert(0, stride)
        size, coord = shape[axis], node.coords[axis]
        if size is not None:
            stride = stride * Extent(size)
        elif coord.dim is not None and (isinstance(node, Output) or dims[coord.dim].source == (node.arg, axis)):
            stride = stride * dim_extent(dims, coord.dim)
        else:
            stride = stride * Extent(1, (("extent", node.arg, axis),))
    return strides


def access(kernel: Kernel, dims: Sequence[Dim], node: Load | Output) -> Access:
    """Strides of a ``Load`` or ``Output`` over the loops of ``dims``; NotImplementedError if they cannot be told."""
    strides = [ZERO] * len(dims)
    constants: list[tuple[int, Extent]] = []
    for coord, stride in zip(node.coords, axis_strides(kernel, dims, node), strict=True):
        if coord.offset:
            constants.append((coord.offset, stride))
        first = () if coord.dim is None else ((coord.dim, coord.scale),)
        for loop, scale in (*first, *coord.more):
            term = stride * Extent(scale)
            if strides[loop] != ZERO:  # the same loop on two axes: a diagonal
                total = _sum(strides[loop], term)
                if total is None:
                    raise NotImplementedError("a loop that indexes two axes of a tensor whose strides are not static")
                term = total
            strides[loop] = term
    return Access(node.arg, kernel.operands[node.arg].type, tuple(strides), tuple(constants))


def _sum(a: Extent, b: Extent) -> Extent | None:
    return Extent(a.coefficient + b.coefficient, a.symbols) if a.symbols == b.symbols else None


def collapse(dims: Sequence[Dim], order: Sequence[int], accesses: Iterable[Access]) -> Space:
    """Merges neighbours of ``order`` (outermost first) that every access walks as one loop; loops of size 1 vanish."""
    accesses = list(accesses)
    groups: list[list[int]] = []
    for loop in order:
        size = dim_extent(dims, loop)
        if size.static == 1:
            continue
        if groups and all(_continues(item, groups[-1][-1], loop, size) for item in accesses):
            groups[-1].append(loop)
        else:
            groups.append([loop])
    sizes = []
    for group in groups:
        extent = ONE
        for loop in group:
            extent = extent * dim_extent(dims, loop)
        sizes.append(extent)
    return Space(tuple(tuple(group) for group in groups), tuple(sizes))


def _continues(item: Access, outer: int, inner: int, size: Extent) -> bool:
    first, second = item.strides[outer], item.strides[inner]
    if ZERO in (first, second):
        return first == second
    return first == second * size


def grouped(item: Access, space: Space) -> Access:
    """``item`` with one stride per group of ``space`` (that of the group's innermost loop)."""
    return dataclasses.replace(item, strides=tuple(item.strides[group[-1]] for group in space.groups))


def symbols_of(extents: Iterable[Extent]) -> list[Symbol]:
    """The distinct symbols of ``extents``, in order of first appearance."""
    found: dict[Symbol, None] = {}
    for extent in extents:
        for symbol in extent.symbols:
            found.setdefault(symbol)
    return list(found)


def extents_of(items: Iterable[Access], space: Space | None = None) -> list[Extent]:
    """Every extent that addresses of ``items`` (and loops of ``space``) are computed from."""
    result = list(space.sizes) if space else []
    for item in items:
        result += list(item.strides) + [stride for _, stride in item.constants]
    return result


def aligned(item: Access, elements: int, inner: int) -> bool:
    """Whether ``item`` starts at a multiple of ``elements`` whenever loop group ``inner`` does (and has stride 1)."""
    others = [stride for number, stride in enumerate(item.strides) if number != inner]
    constants_fit = all((offset * stride.coefficient) % elements == 0 for offset, stride in item.constants)
    return item.strides[inner] == ONE and all(stride.multiple_of(elements) for stride in others) and constants_fit


def start(item: Access) -> list[Extent]:
    """What the element number of ``item`` at the origin of its loops is the sum of."""
    return [stride * Extent(count) for count, stride in item.constants]


def itemsize(kind: str) -> int:
    """Bytes of an element in memory: ``i1``, ``i4`` and ``f4E2M1FN`` take one, ``f8E4M3`` too."""
    if kind.startswith("complex<"):
        return 2 * itemsize(kind[len("complex<") : -1])
    width = re.match(r"[a-z]+(\d+)", kind)
    return 8 if width is None else max(1, int(width[1]) // 8)


SUPPORTED = frozenset({"f64", "f32", "f16", "bf16", "i64", "i32", "i16", "i8", "i1", "index"})


def supported(operands: Iterable[Operand]) -> bool:
    """Whether all operands have an element type that the builders can load and store."""
    return all(operand.type in SUPPORTED for operand in operands)
