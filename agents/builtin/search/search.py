"""One search: sample, guess, measure, keep; then measure the best ones again in earnest."""
from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from typing import Any

from kc.agents.builtin.search.bench import Worker, WorkerError
from kc.agents.builtin.search.candidates import Candidates
from kc.agents.builtin.search.model import CostModel
from kc.agents.builtin.tuning_db import Key, Point, TuningDatabase
from kc.agents.measure.statistics import Ratio, median, ratio
from kc.agents.protocol import Proposal
from kc.agents.realize.knob_space import KnobSpace

#: rounds of a point in the search, and of one that is to be believed
ROUNDS, CONFIRM_ROUNDS = 7, 41
#: candidates among which the model chooses
_POOL = 12
#: every so many points the model is not asked, and learns what was measured since
_BLIND = 4
#: seconds that one point may take
_PATIENCE = 30.0
#: how many of the best points are measured again, and the share of the time for that
_FINALISTS, _FINAL_SHARE = 3, 0.2


@dataclasses.dataclass(frozen=True)
class Limits:
    """``seconds`` of wall time, ``points`` to measure; ``model``: whether a cost model chooses."""

    seconds: float = 60.0
    points: int = 1_000
    model: bool = True


@dataclasses.dataclass(frozen=True)
class Result:
    """``best``: the point that won (the default when nothing beat it); ``gain``: its speed-up in the last rounds, None
    when none were run. ``course``: (seconds, best ratio so far) after each new point. ``known``: points from before."""

    best: Point
    gain: Ratio | None
    course: tuple[tuple[float, float], ...]
    measured: int
    known: int
    stopped: str
    #: how many of the measured points failed, and why the first did
    failed: int = 0
    failure: str = ""

    @property
    def better(self) -> bool:
        """Whether it is faster than the default beyond doubt."""
        return self.gain is not None and self.gain.low > 1.0


def search(
    space: KnobSpace,
    worker: Worker,
    database: TuningDatabase,
    key: Key,
    *,
    features: tuple[float, ...] = (),
    sampler: str = "evolution",
    seed: int = 0,
    resume: bool = True,
    limits: Limits | None = None,
    watch: Callable[[float, int, float], None] = lambda seconds, points, best: None,
) -> Result:
    """Search ``space``. ``resume``: go on from the points that the database has. ``watch`` is told (seconds, points
    measured, best ratio) as they change. Raises InputError when an extra is missing."""
    limits = limits or Limits()
    began = time.monotonic()
    candidates = Candidates(space, sampler, seed)
    own = [p for p in database.points(key) if p.schedule == space.schedule] if resume else []
    known = len(own)
    own.insert(0, Point(space.schedule, space.default, 1.0, features=features))
    candidates.know(own)
    others = database.family(key, space.schedule) if limits.model else []
    model = CostModel(list(space.knobs), seed) if limits.model else None
    best = max((p.ratio or 0.0 for p in own), default=1.0)
    course: list[tuple[float, float]] = [(0.0, max(best, 1.0))]
    end = began + limits.seconds * (1 - _FINAL_SHARE)
    stopped, measured, guided = "points", 0, False
    while measured < limits.points:
        spent = time.monotonic() - began
        watch(spent, measured, course[-1][1])
        if began + spent >= end:
            stopped = "seconds"
            break
        if model is not None and measured % _BLIND == 0:
            guided = model.fit(own, others)
        knobs = _next(candidates, model if guided and measured % _BLIND else None, features)
        if knobs is None:
            stopped = "every point is known"
            break
        point = dataclasses.replace(_measure(worker, space.schedule, knobs), features=features)
        database.add(key, point)
        candidates.tell(point)
        own.append(point)
        measured += 1
        course.append((time.monotonic() - began, max(course[-1][1], point.ratio or 0.0)))
    winner, gain = _final(space, worker, database, key, own, began + limits.seconds, features)
    watch(time.monotonic() - began, measured, course[-1][1])
    errors = [p.error for p in own[1 + known:] if p.ratio is None]
    return Result(winner, gain, tuple(course), measured, known, stopped, len(errors), errors[0] if errors else "")


def _next(candidates: Candidates, model: CostModel | None, features: tuple[float, ...]) -> dict[str, Any] | None:
    """The next point to measure: the sampler's, or the one of several that the model thinks most of."""
    if model is None:
        drawn = candidates.draw(1)
        return drawn[0] if drawn else None
    pool = candidates.draw(_POOL)
    if not pool:
        return None
    chosen = model.rank(pool, features)[0]
    for number, knobs in enumerate(pool):
        if number != chosen:
            candidates.give_back(knobs)
    return pool[chosen]


def _measure(worker: Worker, schedule: str, knobs: dict[str, Any], rounds: int = ROUNDS) -> Point:
    try:
        default, ours = worker.measure(Proposal("schedule", knobs=knobs), rounds, _PATIENCE)
    except WorkerError as error:
        return Point(schedule, knobs, None, error=error.message)
    pairs = [a / b for a, b in zip(default, ours, strict=True)]
    return Point(schedule, knobs, median(pairs), 1e6 * median(ours), 1e6 * median(default), len(pairs))


def _final(space: KnobSpace, worker: Worker, database: TuningDatabase, key: Key, own: list[Point], deadline: float,
           features: tuple[float, ...]) -> tuple[Point, Ratio | None]:
    """The best points once more, in rounds that did not choose them: the winner, and its gain with an interval."""
    default = Point(space.schedule, space.default, 1.0)
    ranked = sorted((p for p in own if (p.ratio or 0.0) > 1.0), key=lambda p: -(p.ratio or 0.0))
    winner, gain = default, None
    for finalist in ranked[:_FINALISTS]:
        if gain is not None and time.monotonic() > deadline:
            break
        try:
            proposal = Proposal("schedule", knobs=finalist.knobs)
            theirs, ours = worker.measure(proposal, CONFIRM_ROUNDS, 2 * _PATIENCE, least=CONFIRM_ROUNDS + 1)
        except WorkerError:
            continue
        found = ratio(theirs, ours)
        point = Point(space.schedule, finalist.knobs, found.value, 1e6 * median(ours), 1e6 * median(theirs),
                      found.pairs, features=features)
        database.add(key, point)
        if gain is None or found.low > gain.low:
            winner, gain = point, found
    if gain is not None and gain.low <= 1.0:
        return default, gain
    return winner, gain
