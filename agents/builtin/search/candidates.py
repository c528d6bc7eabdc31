"""Where candidates come from: optuna's samplers over the knobs of a schedule, filtered by what is legal and new."""
from __future__ import annotations

import json
import math
import random
from collections.abc import Callable, Sequence
from typing import Any

from kc.agents.builtin.tuning_db import Point
from kc.agents.realize.knob_space import KnobSpace
from kc.errors import InputError

SAMPLERS = ("evolution", "random", "tpe")
#: asks in a row that bring nothing new, after which the rest of the space is listed
_VAIN = 60
#: individuals of a generation
_POPULATION = 8


class Candidates:
    """New points of a space. ``tell`` what was measured, so that the sampler learns.

    Raises InputError when optuna is missing or the sampler unknown.
    """

    def __init__(self, space: KnobSpace, sampler: str = "evolution", seed: int = 0):
        try:
            import optuna
        except ImportError as error:
            raise InputError(f"searching schedules needs optuna: pip install 'kc[search]' ({error})") from None
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self._optuna, self._space, self._random = optuna, space, random.Random(seed)
        makers: dict[str, Callable[[], Any]] = {
            "evolution": lambda: optuna.samplers.NSGAIISampler(population_size=_POPULATION, seed=seed),
            "random": lambda: optuna.samplers.RandomSampler(seed=seed),
            "tpe": lambda: optuna.samplers.TPESampler(n_startup_trials=_POPULATION, seed=seed),
        }
        if sampler not in makers:
            raise InputError(f"there are the samplers {', '.join(SAMPLERS)}, not '{sampler}'")
        self._study = optuna.create_study(direction="maximize", sampler=makers[sampler]())
        self._distributions = {
            name: optuna.distributions.CategoricalDistribution(tuple(knob.values)) for name, knob in space.knobs.items()
        }
        self._seen: set[str] = set()
        self._trials: dict[str, Any] = {}
        self._rest: list[dict[str, Any]] | None = None

    def know(self, points: Sequence[Point]) -> None:
        """Points of an earlier search: they are not asked for again, and the sampler goes on from them."""
        for point in points:
            name = _name(point.knobs)
            if name in self._seen or self._space.problem(point.knobs) is not None:
                continue
            self._seen.add(name)
            if point.ratio:
                self._study.add_trial(self._optuna.trial.create_trial(
                    params=point.knobs, distributions=self._distributions, value=math.log2(point.ratio)
                ))

    def draw(self, count: int) -> list[dict[str, Any]]:
        """Up to ``count`` legal points that were not drawn before; none when the space is used up."""
        found: list[dict[str, Any]] = []
        vain = 0
        while len(found) < count and self._rest is None:
            trial = self._study.ask(self._distributions)
            knobs = dict(trial.params)
            name = _name(knobs)
            if name in self._seen or self._space.problem(knobs) is not None:
                self._study.tell(trial, state=self._optuna.trial.TrialState.FAIL)
                vain += 1
                if vain > _VAIN:
                    self._rest = [p for p in self._space.points() if _name(p) not in self._seen]
                    self._random.shuffle(self._rest)
                continue
            self._seen.add(name)
            self._trials[name] = trial
            found.append(knobs)
        while self._rest and len(found) < count:
            knobs = self._rest.pop()
            if _name(knobs) not in self._seen:
                self._seen.add(_name(knobs))
                found.append(knobs)
        return found

    def give_back(self, knobs: dict[str, Any]) -> None:
        """A point that was drawn and not measured: it may come again."""
        name = _name(knobs)
        self._seen.discard(name)
        trial = self._trials.pop(name, None)
        if trial is not None:
            self._study.tell(trial, state=self._optuna.trial.TrialState.FAIL)
        elif self._rest is not None:
            self._rest.insert(0, knobs)

    def tell(self, point: Point) -> None:
        """What was measured."""
        trial = self._trials.pop(_name(point.knobs), None)
        if trial is None:
            return
        if point.ratio:
            self._study.tell(trial, math.log2(point.ratio))
        else:
            self._study.tell(trial, state=self._optuna.trial.TrialState.FAIL)


def _name(knobs: dict[str, Any]) -> str:
    return json.dumps(knobs, sort_keys=True)
