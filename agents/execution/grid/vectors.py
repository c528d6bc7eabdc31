"""Ops on vectors."""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from kc.agents.execution.errors import ExecutionError
from kc.agents.execution.grid.nodes import Node
from kc.agents.execution.grid.registry import op
from kc.agents.execution.grid.scalars import SCALARS
from kc.agents.execution.grid.storage import beyond, load_at, store_at

if TYPE_CHECKING:
    from kc.agents.execution.grid.warp import Warp

Array = np.ndarray
_DYNAMIC = -(1 << 63)


def _shape(node: Node, number: int = 0) -> tuple[int, ...]:
    return tuple(int(e or 0) for e in node.types[number].shape)


@op("vector.load")
def _load(warp: Warp, node: Node, values: list[Any], mask: Array) -> Array:
    view, *indices = values
    shape = _shape(node)
    if view.kind.lanes:
        return load_at(warp, warp.spread(view.addresses(indices)), view.kind, shape, mask)
    beyond(warp, view, indices, mask, int(np.prod(shape)))
    return load_at(warp, warp.spread(view.addresses(indices)), view.kind, shape, mask)


@op("vector.store")
def _store(warp: Warp, node: Node, values: list[Any], mask: Array) -> tuple[()]:
    value, view, *indices = values
    if not view.kind.lanes:
        beyond(warp, view, indices, mask, int(np.prod(value.shape[1:])))
    store_at(warp, warp.spread(view.addresses(indices)), warp.spread(value), mask)
    return ()


def _axes(node: Node) -> list[int | None]:
    from kc.bindings import ir

    results = node.attributes["permutation_map"].value.results
    return [ir.AffineDimExpr(e).position if isinstance(e, ir.AffineDimExpr) else None for e in results]


def _each(warp: Warp, node: Node, groups: list[list[Any]], shape: tuple[int, ...], mask: Array, write: bool) -> Any:
    """(place in the vector, addresses, which lanes take part) of every element of a transfer."""
    view = groups[1 if write else 0][0]
    indices = groups[2 if write else 1]
    masks = groups[-1]
    bounded, axes = node.attributes["in_bounds"], _axes(node)
    for place in np.ndindex(*shape):
        at = [warp.spread(i).copy() for i in indices]
        taken = mask.copy()
        for axis, lane in enumerate(place):
            memory = axes[axis]
            if memory is None:
                continue
            at[memory] = at[memory] + lane
            if not bounded[axis]:
                taken &= (at[memory] < view.sizes[memory]) & (at[memory] >= 0)
        if masks:
            taken &= warp.spread(masks[0])[(slice(None), *place)]
        beyond(warp, view, at, taken)
        yield place, warp.spread(view.addresses(at)), taken


@op("vector.transfer_read")
def _transfer_read(warp: Warp, node: Node, values: list[Any], mask: Array) -> Array:
    groups, shape = warp.groups(node, values), _shape(node)
    padding = warp.spread(groups[2][0])
    result = np.zeros((warp.lanes, *shape), node.types[0].dtype)
    for place, addresses, taken in _each(warp, node, groups, shape, mask, False):
        element = load_at(warp, addresses, groups[0][0].kind, (), taken)
        result[(slice(None), *place)] = np.where(taken, element, padding)
    return result


@op("vector.transfer_write")
def _transfer_write(warp: Warp, node: Node, values: list[Any], mask: Array) -> tuple[()]:
    groups = warp.groups(node, values)
    value = warp.spread(groups[0][0])
    for place, addresses, taken in _each(warp, node, groups, value.shape[1:], mask, True):
        store_at(warp, addresses, value[(slice(None), *place)], taken)
    return ()


@op("vector.maskedload", "vector.maskedstore", "vector.gather", "vector.scatter")
def _masked(warp: Warp, node: Node, values: list[Any], mask: Array) -> Any:
    view, *rest = values
    indexed = node.name in ("vector.gather", "vector.scatter")
    *indices, bits, last = rest
    places = None
    if indexed:
        *indices, places = indices
    bits, last = warp.spread(bits), warp.spread(last)
    result = last.copy()
    for lane in range(bits.shape[-1]):
        step = warp.spread(places)[:, lane].astype(np.int64) if places is not None else lane
        at = [*indices[:-1], indices[-1] + step]
        taken = mask & bits[:, lane]
        beyond(warp, view, at, taken)
        addresses = warp.spread(view.addresses(at))
        if node.name in ("vector.maskedload", "vector.gather"):
            result[:, lane] = np.where(taken, load_at(warp, addresses, view.kind, (), taken), last[:, lane])
        else:
            store_at(warp, addresses, last[:, lane], taken)
    return result if node.results else ()


@op("vector.broadcast", "vector.splat")
def _broadcast(warp: Warp, node: Node, values: list[Any], mask: Array) -> Array:
    value, shape = values[0], _shape(node)
    inner = value.shape[1:]
    widened = value.reshape((len(value), *((1,) * (len(shape) - len(inner))), *inner))
    return np.broadcast_to(widened, (len(value), *shape))


@op("vector.extract", "llvm.extractelement", "vector.extractelement")
def _extract(warp: Warp, node: Node, values: list[Any], mask: Array) -> Array:
    value, *dynamic = values
    position = node.attributes.get("static_position", [_DYNAMIC] * len(dynamic))
    given = iter(dynamic)
    value = warp.spread(value)
    for place in position:
        if place == _DYNAMIC:
            index = next(given)
            if len(index) == 1:
                value = value[:, min(max(int(index[0]), 0), value.shape[1] - 1)]
            else:
                value = value[np.arange(len(value)), np.clip(index, 0, value.shape[1] - 1)]
        else:
            value = value[:, place]
    return value


@op("vector.insert", "llvm.insertelement", "vector.insertelement")
def _insert(warp: Warp, node: Node, values: list[Any], mask: Array) -> Array:
    if node.name == "llvm.insertelement":
        target, piece, *dynamic = values
    else:
        piece, target, *dynamic = values
    position = node.attributes.get("static_position", [_DYNAMIC] * len(dynamic))
    given = iter(dynamic)
    made = warp.spread(target).copy()
    where: list[Any] = [np.arange(len(made))]
    for axis, place in enumerate(position):
        where.append(np.clip(warp.spread(next(given)), 0, made.shape[1 + axis] - 1) if place == _DYNAMIC else place)
    made[tuple(where)] = warp.spread(piece)
    return made


@op("vector.from_elements")
def _from_elements(warp: Warp, node: Node, values: list[Any], mask: Array) -> Array:
    parts = [warp.spread(v) for v in values]
    return np.stack(parts, axis=1).reshape((warp.lanes, *_shape(node)))


@op("vector.to_elements")
def _to_elements(warp: Warp, node: Node, values: list[Any], mask: Array) -> tuple[Array, ...]:
    flat = values[0].reshape(len(values[0]), -1)
    return tuple(flat[:, i] for i in range(flat.shape[1]))


@op("vector.shape_cast")
def _shape_cast(warp: Warp, node: Node, values: list[Any], mask: Array) -> Array:
    return values[0].reshape((len(values[0]), *_shape(node)))


@op("vector.transpose")
def _transpose(warp: Warp, node: Node, values: list[Any], mask: Array) -> Array:
    return values[0].transpose((0, *(1 + axis for axis in node.attributes["permutation"])))


@op("vector.shuffle", "llvm.shufflevector")
def _shuffle(warp: Warp, node: Node, values: list[Any], mask: Array) -> Array:
    both = np.concatenate([warp.spread(v) for v in values], axis=1)
    return both[:, [max(i, 0) for i in node.attributes["mask"]]]


@op("vector.extract_strided_slice")
def _slice(warp: Warp, node: Node, values: list[Any], mask: Array) -> Array:
    a = node.attributes
    cuts = [slice(o, o + s) for o, s in zip(a["offsets"], a["sizes"], strict=True)]
    return values[0][(slice(None), *cuts)]


@op("vector.insert_strided_slice")
def _insert_slice(warp: Warp, node: Node, values: list[Any], mask: Array) -> Array:
    piece, target = (warp.spread(v) for v in values)
    made, offsets = target.copy(), node.attributes["offsets"]
    extents = (1,) * (len(offsets) - (piece.ndim - 1)) + piece.shape[1:]
    cuts = [slice(o, o + e) for o, e in zip(offsets, extents, strict=True)]
    made[(slice(None), *cuts)] = piece.reshape((len(piece), *extents))
    return made


_REDUCTIONS = {
    "add": ("arith.addi", "arith.addf"), "mul": ("arith.muli", "arith.mulf"), "and": ("arith.andi", ""),
    "or": ("arith.ori", ""), "xor": ("arith.xori", ""), "minsi": ("arith.minsi", ""), "maxsi": ("arith.maxsi", ""),
    "minui": ("arith.minui", ""), "maxui": ("arith.maxui", ""), "maximumf": ("", "arith.maximumf"),
    "minimumf": ("", "arith.minimumf"), "maxnumf": ("", "arith.maxnumf"), "minnumf": ("", "arith.minnumf"),
}


def combiner(node: Node, text: str, dtype: np.dtype[Any]) -> Callable[[Array, Array], Array]:
    """The function of two arrays that a kind of reduction names."""
    name = text.split("<")[-1].split()[-1].strip(">")
    integer, real = _REDUCTIONS.get(name, ("", ""))
    chosen = integer if dtype.kind in "iub" else real
    if not chosen:
        raise ExecutionError("unsupported", f"{node.name} {text} at {node.place}", node.name)
    return lambda a, b: SCALARS[chosen](node, a, b)


@op("vector.reduction")
def _reduction(warp: Warp, node: Node, values: list[Any], mask: Array) -> Array:
    value = values[0]
    combine = combiner(node, str(node.attributes["kind"]), value.dtype)
    result = value[:, 0] if len(values) == 1 else combine(values[1], value[:, 0])
    for lane in range(1, value.shape[1]):
        result = combine(result, value[:, lane])
    return result


@op("vector.create_mask", "vector.constant_mask")
def _create_mask(warp: Warp, node: Node, values: list[Any], mask: Array) -> Array:
    shape = _shape(node)
    bounds = values or [np.array([n]) for n in node.attributes["mask_dim_sizes"]]
    result = np.ones((warp.lanes, *shape), np.bool_)
    for axis, (extent, bound) in enumerate(zip(shape, bounds, strict=True)):
        wide = (len(bound), *(1,) * axis, 1, *(1,) * (len(shape) - axis - 1))
        steps = np.arange(extent).reshape((1, *(1,) * axis, extent, *(1,) * (len(shape) - axis - 1)))
        result &= steps < bound.reshape(wide)
    return result


@op("vector.step")
def _step(warp: Warp, node: Node, values: list[Any], mask: Array) -> Array:
    return np.arange(_shape(node)[0], dtype=np.int64)[None, :]
