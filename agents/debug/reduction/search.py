"""The search: edits in turn, large ones first, as long as what is left still fails."""
from __future__ import annotations

import dataclasses
import hashlib
import time
from collections.abc import Callable, Iterator

from kc.agents.debug.reduction import edits, rewriting
from kc.agents.debug.reduction.case import Case, Edit, apply
from kc.agents.debug.reduction.values import MODES

Predicate = Callable[[Case], bool]
#: what is told after each trial: the smallest case so far, trials so far
Progress = Callable[[Case, int], None]


@dataclasses.dataclass(frozen=True)
class Reduced:
    """The outcome: the smallest ``case`` found, after how many ``trials``; ``finished``: nothing smaller was left to
    try (no limit ended the search)."""

    case: Case
    trials: int
    finished: bool


class _Over(Exception):
    """A limit ends the search."""


class Reduction:
    """One search. ``seconds``: wall time for all of it; ``trials``: the most candidates that are tried."""

    def __init__(
        self, case: Case, predicate: Predicate, *, seconds: float = 600.0, trials: int = 5000,
        progress: Progress | None = None, locations: bool = False,
    ):
        self.case, self.trials = case, 0
        self._predicate, self._progress, self._locations = predicate, progress, locations
        self._deadline, self._most = time.monotonic() + seconds, trials
        self._tried: set[bytes] = set()

    def run(self) -> Reduced:
        """Shrink until nothing helps any more."""
        finished = True
        try:
            while self._round():
                pass
        except _Over:
            finished = False
        return Reduced(self.case, self.trials, finished)

    def _round(self) -> bool:
        before = self.case.size
        self._chunks(edits.count_functions, edits.without_functions, MODES)
        self._chunks(edits.count_ops, edits.without_ops, MODES)
        # behind the ops: what has no result is dead, and a pass that drops dead code would no longer see it
        self._chunks(edits.count_results, lambda numbers, _: edits.without_results(numbers), ("",))
        self._each(edits.count_ops, edits.unwrapped)
        self._edit(edits.without_unused_arguments())
        self._chunks(edits.count_attributes, lambda numbers, _: edits.without_attributes(numbers), ("",))
        for made in (rewriting.splat_constants, rewriting.smaller, rewriting.simpler_types):
            self._texts(made)
        return self.case.size < before

    def _chunks(
        self, count: Callable[[Case], int], edit: Callable[[range, str], Edit], modes: tuple[str, ...]
    ) -> None:
        """Drop things in chunks that are halved until they are single, from the last to the first."""
        size = max(1, count(self.case))
        while True:
            end = count(self.case)
            while end > 0:
                start = max(0, end - size)
                for mode in modes:
                    if self._edit(edit(range(start, end), mode)):
                        break
                end = min(start, count(self.case))
            if size == 1:
                return
            size = max(1, size // 2)

    def _each(self, count: Callable[[Case], int], edit: Callable[[int], Edit]) -> None:
        number = count(self.case)
        while number > 0:
            number -= 1
            self._edit(edit(number))
            number = min(number, count(self.case))

    def _texts(self, made: Callable[[Case], Iterator[Case]]) -> None:
        """Take the first candidate that still fails, and start over from it."""
        while any(self._try(candidate) for candidate in made(self.case)):
            pass

    def _edit(self, edit: Edit) -> bool:
        made = apply(self.case, edit, self._locations)
        return made is not None and self._try(made)

    def _try(self, candidate: Case) -> bool:
        if candidate.size >= self.case.size:
            return False
        key = hashlib.blake2b(candidate.text.encode(), digest_size=16).digest()
        if key in self._tried:
            return False
        if time.monotonic() > self._deadline or self.trials >= self._most:
            raise _Over
        self._tried.add(key)
        self.trials += 1
        kept = self._predicate(candidate)
        if kept:
            self.case = candidate
        if self._progress is not None:
            self._progress(self.case, self.trials)
        return kept
