"""Ops on memrefs, and values as bytes."""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from kc.agents.execution.errors import ExecutionError
from kc.agents.execution.grid.nodes import Node
from kc.agents.execution.grid.registry import op
from kc.agents.execution.grid.types import LOCAL, Type
from kc.agents.execution.grid.values import View

if TYPE_CHECKING:
    from kc.agents.execution.grid.warp import Warp

Array = np.ndarray
_DYNAMIC = -(1 << 63)


# ---------------------------------------------------------------------------------------------------- bytes and values


def to_bytes(value: Array) -> Array:
    """(lanes, …) as (lanes, bytes)."""
    raw = np.ascontiguousarray(value)
    size = int(np.prod(raw.shape[1:]))
    return raw.reshape(len(raw), size).view(np.uint8).reshape(len(raw), size * raw.itemsize)


def from_bytes(raw: Array, kind: Type, shape: tuple[int, ...]) -> Array:
    """(lanes, bytes) as values of ``kind``'s element type."""
    assert kind.dtype is not None
    raw = np.ascontiguousarray(raw)
    values = (raw & 1).view(np.bool_) if kind.dtype == np.bool_ else raw.view(kind.dtype)
    return values.reshape((len(raw), *shape))


def load_at(
    warp: Warp, addresses: Array, kind: Type, shape: tuple[int, ...], mask: Array, atomic: bool = False
) -> Array:
    """Values of ``kind``'s elements, ``shape`` per lane, from consecutive bytes."""
    assert kind.dtype is not None
    size = kind.dtype.itemsize * int(np.prod(shape, dtype=np.int64))
    return from_bytes(warp.memory.load(warp.who, addresses, size, mask, atomic), kind, shape)


def store_at(warp: Warp, addresses: Array, value: Array, mask: Array, atomic: bool = False) -> None:
    """Write each lane's value."""
    warp.memory.store(warp.who, addresses, to_bytes(value), mask, atomic)


def beyond(warp: Warp, view: View, indices: list[Array], mask: Array, count: int = 1) -> None:
    """Tell of indices outside of their dimension whose address may still be in the buffer."""
    bad = mask & ~view.inside(indices, count)
    if bad.any():
        lane = int(np.flatnonzero(bad)[0])
        at = tuple(int(i[lane if len(i) > 1 else 0]) for i in indices)
        sizes = tuple(int(s[lane if len(s) > 1 else 0]) for s in view.sizes)
        warp.who.tell(warp.findings, "beyond", "beyond", view.kind.text, 0, view.kind.bytes, lane,
                      f"takes index {at} of a memref of sizes {sizes}")


# ------------------------------------------------------------------------------------------------------- memref


@op("memref.load")
def _load(warp: Warp, node: Node, values: list[Any], mask: Array) -> Array:
    view, *indices = values
    beyond(warp, view, indices, mask)
    return load_at(warp, warp.spread(view.addresses(indices)), view.kind, view.kind.lanes, mask)


@op("memref.store")
def _store(warp: Warp, node: Node, values: list[Any], mask: Array) -> tuple[()]:
    value, view, *indices = values
    beyond(warp, view, indices, mask)
    store_at(warp, warp.spread(view.addresses(indices)), warp.spread(value), mask)
    return ()


def new_view(warp: Warp, kind: Type, sizes: list[Array], base: Array) -> View:
    """A memref of ``kind`` with these dynamic sizes at ``base``."""
    given = iter(sizes)
    extents = [np.array([e]) if e is not None else next(given) for e in kind.shape]
    strides: list[Array] = []
    stride = np.array([1])
    for extent in reversed(extents):
        strides.insert(0, stride)
        stride = stride * extent
    return View(kind, base, np.array([0]), extents, strides)


@op("memref.alloc", "memref.alloca", "gpu.alloc")
def _alloc(warp: Warp, node: Node, values: list[Any], mask: Array) -> View:
    kind = node.types[0]
    count = sum(e is None for e in kind.shape)
    sizes = values[len(values) - count :] if node.name == "gpu.alloc" else values[:count]
    if node.name == "memref.alloca" or kind.space == LOCAL:
        total = int(np.prod([e if e is not None else 1 for e in kind.shape], dtype=np.int64))
        for size in sizes:
            total *= int(size.max())
        return new_view(warp, kind, sizes, warp.local(max(total, 0) * kind.bytes, f"stack ({node.place})"))
    if warp.on_device:
        raise ExecutionError("unsupported", f"memref.alloc in a kernel at {node.place}", node.name)
    total = kind.bytes
    for extent in kind.shape:
        total *= 1 if extent is None else extent
    for size in sizes:
        total *= int(size[0])
    region = warp.memory.allocate(total, f"allocation ({node.place})", kind.space)
    warp.launch_owner.allocations.append(region)
    return new_view(warp, kind, sizes, np.array([region.base]))


@op("memref.dealloc", "gpu.dealloc")
def _dealloc(warp: Warp, node: Node, values: list[Any], mask: Array) -> tuple[()]:
    base = int(values[-1].base[0])
    region = warp.memory.region(base)
    if region is None or region.base != base or region.freed or region not in warp.launch_owner.allocations:
        warp.launch_owner.heap.add("wrong-free")
    else:
        warp.memory.free(region)
    return ()


@op("memref.dim")
def _dim(warp: Warp, node: Node, values: list[Any], mask: Array) -> Array:
    view, axis = values
    return np.asarray(view.sizes[int(axis[0])], np.int64)


@op("memref.cast", "memref.memory_space_cast", "memref.assume_alignment")
def _cast(warp: Warp, node: Node, values: list[Any], mask: Array) -> View:
    view = values[0]
    return View(node.types[0], view.base, view.offset, view.sizes, view.strides)


def _mixed(static: list[int], dynamic: list[Any]) -> list[Array]:
    given = iter(dynamic)
    return [next(given) if s == _DYNAMIC else np.array([s]) for s in static]


@op("memref.subview")
def _subview(warp: Warp, node: Node, values: list[Any], mask: Array) -> View:
    groups = warp.groups(node, values)
    view = groups[0][0]
    a = node.attributes
    offsets, sizes, steps = (
        _mixed(a[name], given)
        for name, given in zip(("static_offsets", "static_sizes", "static_strides"), groups[1:], strict=True)
    )
    at = view.offset
    for offset, stride in zip(offsets, view.strides, strict=True):
        at = at + offset * stride
    strides = [stride * step for stride, step in zip(view.strides, steps, strict=True)]
    kind = node.types[0]
    if len(kind.shape) != len(sizes):  # dimensions of size one that the result leaves out
        kept, wanted = [], list(kind.shape)
        for axis, size in enumerate(a["static_sizes"]):
            extent = None if size == _DYNAMIC else size
            if wanted and wanted[0] == extent and len(sizes) - axis >= len(wanted):
                kept.append(axis)
                wanted.pop(0)
        sizes, strides = [sizes[i] for i in kept], [strides[i] for i in kept]
    return View(kind, view.base, at, sizes, strides)


@op("memref.reinterpret_cast")
def _reinterpret(warp: Warp, node: Node, values: list[Any], mask: Array) -> View:
    (view,), *groups = warp.groups(node, values)
    a = node.attributes
    offsets, sizes, strides = (
        _mixed(a[name], given)
        for name, given in zip(("static_offsets", "static_sizes", "static_strides"), groups, strict=True)
    )
    return View(node.types[0], view.base, offsets[0], sizes, strides)


@op("memref.view")
def _view(warp: Warp, node: Node, values: list[Any], mask: Array) -> View:
    source, shift, *sizes = values
    base = source.base + source.offset * source.kind.bytes + shift
    return new_view(warp, node.types[0], sizes, base)


@op("memref.collapse_shape", "memref.expand_shape")
def _reshape(warp: Warp, node: Node, values: list[Any], mask: Array) -> View:
    view, kind = values[0], node.types[0]
    groups = node.attributes["reassociation"]
    sizes: list[Array] = []
    strides: list[Array] = []
    if node.name == "memref.collapse_shape":
        for group in groups:
            size = np.array([1])
            for axis in group:
                size = size * view.sizes[axis]
            sizes.append(size)
            inner = [axis for axis in group if view.kind.shape[axis] != 1] or group
            strides.append(view.strides[inner[-1]])
        return View(kind, view.base, view.offset, sizes, strides)
    outputs = _mixed(node.attributes["static_output_shape"], values[1:])
    for axis, group in enumerate(groups):
        stride = view.strides[axis]
        made: list[Array] = []
        for inner in reversed(group):
            made.insert(0, stride)
            stride = stride * outputs[inner]
        strides += made
    return View(kind, view.base, view.offset, outputs, strides)


@op("memref.transpose")
def _transpose(warp: Warp, node: Node, values: list[Any], mask: Array) -> View:
    from kc.bindings import ir

    view = values[0]
    order = [ir.AffineDimExpr(e).position for e in node.attributes["permutation"].value.results]
    return View(node.types[0], view.base, view.offset, [view.sizes[i] for i in order], [view.strides[i] for i in order])


@op("memref.extract_strided_metadata")
def _metadata(warp: Warp, node: Node, values: list[Any], mask: Array) -> tuple[Any, ...]:
    view = values[0]
    base = View(node.types[0], view.base, np.array([0]), [], [])
    return (base, view.offset, *view.sizes, *view.strides)


@op("memref.extract_aligned_pointer_as_index")
def _pointer(warp: Warp, node: Node, values: list[Any], mask: Array) -> Array:
    return np.asarray(values[0].base, np.int64)


@op("memref.get_global")
def _get_global(warp: Warp, node: Node, values: list[Any], mask: Array) -> View:
    region = warp.global_named(node.attributes["name"], node.types[0].space)
    return new_view(warp, node.types[0], [], np.array([region.base]))


@op("memref.copy", "gpu.memcpy")
def _copy(warp: Warp, node: Node, values: list[Any], mask: Array) -> tuple[()]:
    source, target = values[-2:] if node.name == "memref.copy" else (values[-1], values[-2])
    if warp.lanes != 1:
        raise ExecutionError("unsupported", f"memref.copy in a kernel at {node.place}", node.name)
    shape = [int(s[0]) for s in source.sizes]
    grids = np.indices(shape).reshape(len(shape), math.prod(shape))
    read, written = (view.addresses(list(grids)) if shape else view.addresses([]) for view in (source, target))
    everything = np.ones(len(read), bool)
    known = warp.memory.moving(warp.who, read, source.kind.bytes, everything)
    warp.memory.store(warp.who, written, known[0], everything)
    warp.memory.mark(written, source.kind.bytes, known[1])
    return ()


#: arith's AtomicRMWKind by number
_ATOMIC_KINDS = ("addf", "addi", "andi", "assign", "maximumf", "maxnumf", "maxs", "maxu", "minimumf", "minnumf", "mins",
                 "minu", "mulf", "muli", "ori", "xori")
_ATOMIC_OPS = {
    "addf": "arith.addf", "addi": "arith.addi", "maximumf": "arith.maximumf", "maxs": "arith.maxsi",
    "maxu": "arith.maxui", "minimumf": "arith.minimumf", "mins": "arith.minsi", "minu": "arith.minui",
    "mulf": "arith.mulf", "ori": "arith.ori", "andi": "arith.andi", "xori": "arith.xori", "maxnumf": "arith.maxnumf",
    "minnumf": "arith.minnumf", "muli": "arith.muli",
}


def update(
    warp: Warp, node: Node, addresses: Array, value: Array, kind: Type, combine: Callable[[Array, Array], Array],
    mask: Array, ordering: str = "monotonic",
) -> Array:
    """Atomic updates of the lanes, one after the other; gives the old values."""
    assert kind.dtype is not None
    old = np.zeros((warp.lanes, *kind.lanes), kind.dtype)
    for lane in np.flatnonzero(mask):
        only = np.zeros(warp.lanes, bool)
        only[lane] = True
        before = load_at(warp, addresses, kind, kind.lanes, only, atomic=True)
        old[lane] = before[lane]
        after = before.copy()
        after[lane] = combine(before[lane : lane + 1], value[lane : lane + 1])[0]
        store_at(warp, addresses, after, only, atomic=True)
        region = warp.memory.region(int(addresses[lane]))
        if region is not None:
            warp.who.synchronise(region, int(lane), int(addresses[lane]) - region.base, ordering)
    return old


@op("memref.atomic_rmw")
def _atomic(warp: Warp, node: Node, values: list[Any], mask: Array) -> Array:
    from kc.agents.execution.grid.scalars import SCALARS

    value, view, *indices = values
    beyond(warp, view, indices, mask)
    kind = node.attributes["kind"]
    name = _ATOMIC_KINDS[kind] if isinstance(kind, int) else str(kind)
    if name != "assign" and name not in _ATOMIC_OPS:
        raise ExecutionError("unsupported", f"memref.atomic_rmw {name} at {node.place}", node.name)
    combine = (lambda a, b: b) if name == "assign" else (lambda a, b: SCALARS[_ATOMIC_OPS[name]](node, a, b))
    return update(warp, node, warp.spread(view.addresses(indices)), warp.spread(value), view.kind, combine, mask)
