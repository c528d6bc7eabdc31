"""Names for the dimensions of a region's arguments: equal names where extents are equal in every run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from kc.agents.regions.axes import SCALAR, Axis, classes, open_axes, shape_of
from kc.bindings import ir
from kc.rewrite import walk_ops


def dimensions(
    function: ir.Operation,
    equal: Iterable[tuple[Axis, Axis]] = (),
    preferred: Mapping[Axis, str] | None = None,
) -> list[tuple[str, ...]]:
    """One name per axis of each argument of ``function``; a static extent's name is its number.

    A scalar has none, but for an ``index`` that is one of the extents in every run: its name is that extent's. Extents
    are equal where the function's own ops say so, and those in ``equal``. What stands in ``kc.dims`` already is kept,
    and spread to all axes that must agree with it; next come the names in ``preferred``, each for one extent only.
    Other names are ``d0``, ``d1`` … in order, as far as they are free.
    """
    arguments = list(function.regions[0].blocks[0].arguments)
    given = declared(function, len(arguments))
    union = classes(function)
    for one, other in equal:
        union.join(one, other)
    names: dict[Axis, str] = {}
    for argument, told in zip(arguments, given, strict=True):
        for axis, name in enumerate(told):
            if name and not name.isdigit():
                names.setdefault(union.find((argument, axis)), name)
    taken = {name for told in given for name in told}
    for place, name in (preferred or {}).items():
        root = union.find(place)
        if root not in names and name not in taken:
            names[root] = name
            taken.add(name)
    fresh = (name for name in (f"d{number}" for number in range(1 << 20)) if name not in taken)
    result = []
    sized = list(dict.fromkeys(union.find(axis) for axis in open_axes(arguments)))
    for root in sized:
        if root not in names:
            names[root] = next(fresh)
    for argument in arguments:
        own = []
        if isinstance(argument.type, ir.IndexType):
            root = union.find((argument, SCALAR))
            own = [names[root]] if root in sized and root in names else []
        for axis, extent in enumerate(shape_of(argument)):
            if extent is not None:
                own.append(str(extent))
                continue
            own.append(names[union.find((argument, axis))])
        result.append(tuple(own))
    return result


class Extents:
    """The extents of the values of a function, told by the names of its arguments' dimensions."""

    def __init__(self, function: ir.Operation, dims: Sequence[Sequence[str]]):
        from kc.kernels.shapes import Extents as OfLinalg
        from kc.kernels.structured import Cache

        arguments = list(function.regions[0].blocks[0].arguments)
        numbers = {value: number for number, value in enumerate(arguments)}
        self._dims = dims
        self._classes = classes(function)
        self._linalg = OfLinalg(walk_ops(function), numbers.get, Cache())
        self._names = {
            self._classes.find((argument, axis)): name
            for argument, own in zip(arguments, dims, strict=True)
            for axis, name in enumerate(own)
        }

    def shape(self, value: ir.Value, sizes: Mapping[str, int]) -> list[int] | None:
        """The shape of a tensor or buffer where dimensions are as ``sizes``; None where one is not known."""
        shape = []
        for axis, extent in enumerate(shape_of(value)):
            if extent is None:
                name = self._names.get(self._classes.find((value, axis)))
                if name is None and isinstance(value.type, ir.RankedTensorType):
                    source = self._linalg.source(value, axis)
                    name = None if source is None else self._dims[source[0]][source[1]]
                extent = None if name is None else int(name) if name.isdigit() else sizes.get(name)
            if extent is None:
                return None
            shape.append(extent)
        return shape


def declared(function: ir.Operation, count: int) -> list[tuple[str, ...]]:
    """The names that stand in ``kc.dims`` of each argument; empty where there is none."""
    if "arg_attrs" not in function.attributes:
        return [()] * count
    found: list[tuple[str, ...]] = []
    for entries in ir.ArrayAttr(function.attributes["arg_attrs"]):
        named = {entry.name: entry.attr for entry in ir.DictAttr(entries)}
        dims = named.get("kc.dims")
        found.append(tuple(ir.StringAttr(d).value for d in ir.ArrayAttr(dims)) if dims is not None else ())
    return found
