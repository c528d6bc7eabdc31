"""What results are held against: the original in higher precision, on the inputs and on some a rounding away."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from kc.agents.execution.calls import Call, Outcome
from kc.agents.gates.policy import Policy
from kc.agents.gates.sides import Sides
from kc.agents.gates.values import Array, is_float
from kc.errors import InputError


class References:
    """Runs of the original that tell how far results may lie apart.

    ``retypes``: whether the original can be run in a wider type; found out to be False where it cannot.
    """

    def __init__(self, sides: Sides, retypes: bool, policy: Policy, seed: int):
        self._sides, self._retypes, self._policy = sides, retypes, policy
        self._rng = np.random.default_rng(seed)

    def of(self, known: Sequence[tuple[Call, Outcome]], moved: int) -> list[list[tuple[Array, ...]]]:
        """Of each call the results in higher precision, on its inputs and, ``moved`` times, on inputs moved a little.

        ``known``: the calls with their outcomes in the original, whose results stand for the truth where there is no
        such run.
        """
        calls = [call for call, _ in known]
        results: list[tuple[Array, ...] | None] = []
        if self._retypes:
            try:
                results = self._sides.higher_outcomes([c for call in calls for c in (call, *self._moves(call, moved))])
            except InputError:
                self._retypes = False
        if not self._retypes:
            flat = [c for call in calls for c in (call, *(_rounded(m, call) for m in self._moves(call, moved)))]
            results = [o.results if o is not None else None for o in self._sides.original_outcomes(flat)]
        found = []
        for number, (_, want) in enumerate(known):
            group = results[number * (moved + 1) : (number + 1) * (moved + 1)]
            runs = [r for r in group if r is not None] if group and group[0] is not None else []
            found.append(runs if self._retypes and runs else [want.results, *runs])
        return found

    @property
    def magnified(self) -> float:
        """By how many roundings inputs are moved: where the original's own precision must do, one is lost in it."""
        return 1.0 if self._retypes else self._policy.unit**-0.2

    def _moves(self, call: Call, count: int) -> list[Call]:
        return [self._moved(call, alike=number % 2 == 1) for number in range(count)]

    def _moved(self, call: Call, alike: bool) -> Call:
        """The call with each float moved by up to one rounding of the precision in which the original computes.

        ``alike``: equal values move alike, as they do when they are rounded.
        """
        arrays = []
        unit = self._policy.unit * self.magnified
        for array in call.arguments:
            if is_float(array.dtype) or array.dtype.kind == "c":
                wide = array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)
                shift = self._rng.uniform(-1, 1, wide.shape)
                if alike and wide.size:
                    _, kinds = np.unique(wide, return_inverse=True)
                    shift = shift.reshape(-1)[kinds.reshape(-1)].reshape(wide.shape)
                with np.errstate(all="ignore"):
                    arrays.append(np.asarray(wide * (1 + unit * shift)))
            else:
                arrays.append(array)
        return dataclasses.replace(call, arguments=tuple(arrays))


def _rounded(call: Call, original: Call) -> Call:
    """The call in the types of ``original``."""
    with np.errstate(all="ignore"):
        arrays = [a.astype(b.dtype) for a, b in zip(call.arguments, original.arguments, strict=True)]
    return dataclasses.replace(call, arguments=tuple(arrays))


def sum_length(arguments: Sequence[Array], results: Sequence[Array]) -> int:
    """A guess at the length of the longest sum: the longest axis, or the elements that one result is made of."""
    longest = max((extent for a in arguments for extent in a.shape), default=1)
    most = max((a.size for a in arguments), default=1)
    least = min((r.size for r in results if r.size and is_float(r.dtype)), default=1)
    return int(max(longest, -(-most // max(1, least)), 1))
