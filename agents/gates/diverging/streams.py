"""What each op of a run computed, in order, and which op of the other run computed the same."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from kc.agents.execution.trace import Node, Run, Traced, values

Array = np.ndarray[Any, Any]
#: how alike: the same numbers in the same order; in any order and number of times; each among those of one op
Likeness = str
STRICT, LOOSE, PART = "strict", "loose", "part"
#: different numbers that a stream must hold for its order to be left out of account
_TELLING = 3
#: bytes of an element -> rounding that may lie between values that count as the same, where rounding is free
_ROUNDING = {"f64": 1e-9, "f32": 2e-4, "f16": 2e-2, "bf16": 5e-2}


class Observed:
    """The runs of one module: of each node the numbers that it computed in each call. ``traced``: the code that ran."""

    def __init__(
        self,
        nodes: Sequence[Node],
        returned: Sequence[Sequence[int]],
        runs: Sequence[Run],
        traced: Traced | None = None,
    ):
        self.nodes, self.returned, self.runs, self.traced = list(nodes), returned, list(runs), traced
        #: of each call: node -> numbers, and node -> events at which it computed them
        self.values: list[dict[int, Array]] = []
        self.times: list[dict[int, Array]] = []
        for run in self.runs:
            computed, times = self._read(run)
            self.values.append(computed)
            self.times.append(times)

    def _read(self, run: Run) -> tuple[dict[int, Array], dict[int, Array]]:
        own = set(np.unique(run.nodes[run.value]).tolist())
        moved = ~run.value & ~np.isin(run.nodes, list(own)) & (run.nodes >= 0)
        reads = moved & (np.array([not n.stores for n in self.nodes] or [False])[np.clip(run.nodes, 0, None)])
        events = np.flatnonzero(run.value | reads)
        order = events[np.argsort(run.nodes[events], kind="stable")]
        split = np.flatnonzero(np.diff(run.nodes[order])) + 1
        computed, times = {}, {}
        for part in np.split(order, split):
            if len(part):
                node = int(run.nodes[part[0]])
                computed[node] = values(run.bits[part], self.nodes[node].element)
                times[node] = part
        return computed, times

    def stream(self, node: int) -> list[Array]:
        """The numbers of a node in each call; an empty list where it never computed any."""
        parts = [found.get(node) for found in self.values]
        if all(part is None for part in parts):
            return []
        kind = next(part for part in parts if part is not None).dtype
        return [np.zeros(0, kind) if part is None else part for part in parts]

    def writers(self, node: int, call: int) -> set[int]:
        """Nodes that wrote what a node read in a call."""
        run = self.runs[call]
        links = run.links[(run.nodes == node) & ~run.value]
        return {int(n) for n in np.unique(run.nodes[links[links >= 0]]) if n >= 0}


@dataclasses.dataclass
class _Stream:
    parts: list[Array]
    kind: str
    lengths: tuple[int, ...]
    flat: Array
    rounding: float

    @classmethod
    def of(cls, parts: list[Array], rounding: float, zero_sign: bool) -> _Stream:
        kind = parts[0].dtype.kind
        if kind == "f":
            parts = [np.where(np.isnan(p), np.nan, p + (0.0 if not zero_sign else -0.0)) for p in parts]
        return cls(parts, kind, tuple(len(p) for p in parts), np.concatenate(parts), rounding)

    def changed(self, how: Any) -> _Stream:
        parts = [how(p) for p in self.parts]
        return _Stream(parts, self.kind, tuple(len(p) for p in parts), np.concatenate(parts), self.rounding)


class Pool:
    """The streams of the original, to be searched.

    ``rounded``: whether values that a rounding parts are the same; ``constants``: of its text, by element type.
    """

    def __init__(
        self,
        streams: Sequence[tuple[list[Array], str]],
        rounded: bool,
        zero_sign: bool,
        constants: Mapping[str, Collection[Any]] | None = None,
    ):
        self.rounded, self.zero_sign = rounded, zero_sign
        self._streams = [self._made(parts, element) for parts, element in streams if parts]
        self._constants = constants or {}
        self._tables: dict[str, dict[Any, list[_Stream]]] = {}

    def _made(self, parts: list[Array], element: str) -> _Stream:
        rounding = _ROUNDING.get(element, 0.0) if self.rounded else 0.0
        return _Stream.of(parts, rounding, self.zero_sign)

    def holds(self, parts: list[Array], element: str, likeness: Likeness) -> bool:
        """Whether the original computed these numbers."""
        one = self._made(parts, element)
        if not one.flat.size:
            return True
        if likeness == STRICT:
            return self._same(one, "order", lambda p: p)
        distinct = len(np.unique(one.flat[~np.isnan(one.flat)] if one.kind == "f" else one.flat))
        if self._same(one, "sorted", np.sort):
            return True
        if distinct < _TELLING or one.kind == "b":
            return self._same(one, "order", lambda p: p)
        if self._same(one, "set", np.unique):
            return True
        return likeness == PART and self._part(one)

    def constant(self, parts: list[Array], element: str) -> bool:
        """Whether these are one constant of the original, over and over."""
        flat = np.unique(self._made(parts, element).flat) if parts else np.zeros(0)
        return len(flat) == 1 and flat[0].item() in self._constants.get(element, ())

    def prefix(self, part: Array, element: str, call: int) -> int:
        """How many of the first numbers of one call some node of the original computed, in that order."""
        one = self._made([part], element)
        most = 0
        for other in self._streams:
            theirs = other.parts[call]
            if other.kind != one.kind:
                continue
            count = min(len(theirs), len(one.flat))
            equal = alike(one.flat[:count], theirs[:count], one.rounding)
            most = max(most, count if equal.all() else int(np.argmin(equal)))
        return most

    def _table(self, name: str, how: Any) -> dict[Any, list[_Stream]]:
        if name not in self._tables:
            table: dict[Any, list[_Stream]] = {}
            for stream in self._streams:
                made = stream.changed(how)
                table.setdefault((made.kind, made.lengths), []).append(made)
            self._tables[name] = table
        return self._tables[name]

    def _same(self, one: _Stream, name: str, how: Any) -> bool:
        made = one.changed(how)
        others = self._table(name, how).get((made.kind, made.lengths), ())
        return any(bool(alike(made.flat, other.flat, made.rounding).all()) for other in others)

    def _part(self, one: _Stream) -> bool:
        mine = one.changed(np.unique)
        for group in self._table("set", np.unique).values():
            for other in group:
                if other.kind == mine.kind and all(
                    _among(a, b, mine.rounding) for a, b in zip(mine.parts, other.parts, strict=True)
                ):
                    return True
        return False


def alike(one: Array, other: Array, rounding: float) -> Array:
    """Where numbers are the same, up to ``rounding`` of each and a hundredth of it of the largest; NaN is NaN."""
    if one.dtype.kind != "f":
        return np.asarray(one == other)
    with np.errstate(all="ignore"):
        same = (one == other) & (np.signbit(one) == np.signbit(other)) | (np.isnan(one) & np.isnan(other))
        if rounding:
            size = np.maximum(np.abs(one), np.abs(other))
            finite = np.abs(other[np.isfinite(other)])
            scale = float(finite.max(initial=0.0))
            same |= np.abs(one - other) <= rounding * size + rounding * 1e-2 * scale
    return np.asarray(same)


def _among(some: Array, all_: Array, rounding: float) -> bool:
    if not some.size:
        return True
    if not all_.size:
        return False
    if some.dtype.kind == "f":
        if np.isnan(some).any() and not np.isnan(all_).any():
            return False
        some, all_ = some[~np.isnan(some)], np.sort(all_[~np.isnan(all_)])
        if not all_.size:
            return not some.size
        at = np.clip(np.searchsorted(all_, some), 1 if all_.size > 1 else 0, all_.size - 1)
        near = [all_[at], all_[np.clip(at - 1, 0, None)]]
        return bool((alike(some, near[0], rounding) | alike(some, near[1], rounding)).all())
    return bool(np.isin(some, all_).all())
