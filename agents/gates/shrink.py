"""Smaller counter-examples: smaller dimensions, fewer values that are not 0 or 1."""

from __future__ import annotations

import contextlib
import dataclasses
import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from kc.agents.gates import diverging
from kc.agents.gates.compare import plain
from kc.agents.gates.differential import Failure, Tester
from kc.agents.gates.inputs import Drawer, Planned
from kc.agents.gates.reasons import Rejection
from kc.agents.gates.sizes import Sizes
from kc.agents.gates.values import Array
from kc.errors import InputError

#: elements of an argument that a witness shows; rounds of halving, calls in each, and seconds for them
_SHOWN, _ROUNDS, _TRIES, _SECONDS = 256, 6, 24, 1.5
#: reasons that depend on more than one call, or cost a time limit each: these stay as they were found
_AS_FOUND = (
    "resource.time",
    "resource.memory",
    "resource.crash",
    "resource.unsupported",
    "aliasing.uninitialised",
    "numeric.undefined",
    "race.order",
    "resource.allocation",
)


def shrink(failure: Failure, tester: Tester, drawer: Drawer) -> Rejection:
    """The rejection that a failure makes, its counter-example as small as a few rounds of trying make it."""
    first, why = failure, failure.planned.why
    if failure.reason not in _AS_FOUND and failure.finding is None:
        with contextlib.suppress(InputError):  # the original does not take the smaller calls: what was found stands
            failure = _smaller(failure, tester, drawer)
    made = Rejection(failure.reason, f"{failure.message}; found with {why}", witness(failure))
    where = diverging.find(failure, first, tester, drawer)
    if where is None:
        return made
    told = {**(made.witness or {}), "diverging": where.to_json()}
    return dataclasses.replace(made, message=f"{made.message}; {where}", witness=told, op=where.op)


def _smaller(failure: Failure, tester: Tester, drawer: Drawer) -> Failure:
    failure = _first(failure, tester, _with_smaller_sizes(failure, drawer))
    failure = _first(failure, tester, _with_plain_arguments(failure.planned, drawer))
    parts, end = 2, time.monotonic() + _SECONDS
    for _ in range(_ROUNDS):
        if time.monotonic() > end:
            break
        found = _first(failure, tester, _with_plain_parts(failure.planned, drawer, parts))
        if found is failure and parts > 64:
            break
        failure, parts = found, min(4 * parts, 256) if found is failure else parts * 2
    return failure


def _first(failure: Failure, tester: Tester, candidates: Iterator[Planned]) -> Failure:
    """The first of the candidates that fails in the same gate, or the failure as it was."""
    tried = [planned for planned, _ in zip(candidates, range(_TRIES), strict=False)]
    if not tried:
        return failure
    gate = failure.reason.partition(".")[0]
    found = tester.failures(tried)
    return next((f for f in found if f is not None and f.reason.partition(".")[0] == gate), failure)


def _with_smaller_sizes(failure: Failure, drawer: Drawer) -> Iterator[Planned]:
    """The call cut down to smaller dimensions, the smallest first."""
    planned = failure.planned
    shapes = drawer.shapes
    names = list(planned.sizes)
    wanted: list[Sizes] = [dict.fromkeys(names, size) for size in (0, 1, 2, 3, 5)]
    for name in names:
        wanted += [{**planned.sizes, name: size} for size in (0, 1, 2, 3, planned.sizes[name] // 2)]
    wanted += [{n: 1 for n in names if n != name} | {name: planned.sizes[name]} for name in names]
    seen = [dict(planned.sizes)]
    fitted = [s for w in wanted if (s := shapes.fit({n: min(w[n], planned.sizes[n]) for n in names})) is not None]
    for sizes in sorted(fitted, key=lambda s: (shapes.elements(s), sum(s.values()))):
        if sizes in seen or any(sizes[n] > planned.sizes[n] for n in names):
            continue
        seen.append(sizes)
        for place in _places(names, planned.sizes, failure):
            arrays = [
                _cut(a, shapes.shape(k, sizes), shapes.arguments[k], place)
                for k, a in enumerate(planned.call.arguments)
            ]
            yield _changed(planned, _scalars(arrays, planned.sizes, sizes, drawer), sizes)


def _scalars(arrays: list[Array], old: Sizes, new: Sizes, drawer: Drawer) -> list[Array]:
    """Extents that are handed over as numbers follow the sizes."""
    for number, array in enumerate(arrays):
        dims = drawer.contract(number).dims
        if array.ndim == 0 and dims and dims[0] in old:
            arrays[number] = np.asarray(new[dims[0]]).astype(array.dtype)
    return arrays


def _places(names: list[str], sizes: Sizes, failure: Failure) -> list[dict[str, float]]:
    """Where to cut along each dimension, from 0, its beginning, to 1: at the failing element, or at either end."""
    places = [dict.fromkeys(names, 0.0), dict.fromkeys(names, 1.0)]
    if failure.difference is not None and failure.difference.index:
        shape = failure.shape
        found = {}
        for name in names:
            axes = [k for k, extent in enumerate(shape) if extent == sizes[name]]
            found[name] = failure.difference.index[axes[0]] / max(1, sizes[name] - 1) if axes else 0.0
        places.insert(0, found)
    return places


def _cut(array: Array, shape: tuple[int, ...], dims: Sequence[str | int], place: dict[str, float]) -> Array:
    starts = [
        round((have - want) * place.get(str(dim), 0.0))
        for have, want, dim in zip(array.shape, shape, dims, strict=True)
    ]
    parts = tuple(slice(start, start + want) for start, want in zip(starts, shape, strict=True))
    return np.ascontiguousarray(array[parts]).reshape(shape)


def _with_plain_arguments(planned: Planned, drawer: Drawer) -> Iterator[Planned]:
    """The call with whole arguments plain: all but one, then one at a time."""
    count = len(planned.call.arguments)
    for keep in [{k} for k in range(count)] + [set(range(count)) - {k} for k in range(count)]:
        arrays = [a if k in keep else _plain(a, drawer, k, slice(None)) for k, a in enumerate(planned.call.arguments)]
        yield _changed(planned, arrays, planned.sizes)


def _with_plain_parts(planned: Planned, drawer: Drawer, parts: int) -> Iterator[Planned]:
    """The call with one of so many parts of each argument plain, or all but that one."""
    for number, array in enumerate(planned.call.arguments):
        if drawer.contract(number).out or array.size < 2:
            continue
        step = max(1, -(-array.size // parts))
        for only in (True, False):
            for start in range(0, array.size, step):
                here = np.zeros(array.size, bool)
                here[start : start + step] = True
                arrays = list(planned.call.arguments)
                arrays[number] = _plain(array, drawer, number, ~here if only else here)
                if arrays[number].tobytes() != array.tobytes():
                    yield _changed(planned, arrays, planned.sizes)


def _plain(array: Array, drawer: Drawer, number: int, where: Any) -> Array:
    """The array with 0 at some places (or the number next to it that the contract allows)."""
    if drawer.bound(number) or (array.ndim == 0 and drawer.contract(number).dims):
        return array
    flat = array.reshape(-1).copy()
    flat[where] = np.asarray(drawer.plainest(number)).astype(array.dtype)
    return flat.reshape(array.shape)


def _changed(planned: Planned, arrays: Sequence[Array], sizes: Sizes) -> Planned:
    arrays = list(arrays)
    for second, first in planned.call.aliases:
        arrays[second] = arrays[first]
    return dataclasses.replace(planned, call=dataclasses.replace(planned.call, arguments=tuple(arrays)), sizes=sizes)


def witness(failure: Failure) -> dict[str, Any]:
    """The counter-example as JSON values."""
    call = failure.planned.call
    found: dict[str, Any] = {
        "sizes": dict(failure.planned.sizes),
        "arguments": [_value(a) for a in call.arguments],
    }
    if call.aliases:
        found["aliases"] = [list(pair) for pair in call.aliases]
    if failure.difference is not None:
        d = failure.difference
        found.update(result=d.result, index=list(d.index), got=d.got, want=d.want)
    if failure.finding is not None:
        found["finding"] = failure.finding
    return found


def _value(array: Array) -> Any:
    if array.ndim == 0 and array.dtype.kind != "c":
        return plain(array[()])
    flat = array.reshape(-1)
    told: dict[str, Any] = {"shape": list(array.shape), "dtype": str(array.dtype)}
    if array.dtype.kind == "c":
        flat = np.ascontiguousarray(flat).view(f"f{array.dtype.itemsize // 2}")
    told["values" if flat.size <= _SHOWN else "first"] = [plain(x) for x in flat[:_SHOWN]]
    return told
