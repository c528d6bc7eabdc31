"""The agent ``schedule-search``: measures other schedules of a kernel and proposes the fastest.

    kc compile model.mlir --agent 'linalg=schedule-search{seconds=30}' …
    kc tune model.mlir --budget 120          # the same at leisure; a compilation then takes what was found:
    kc compile model.mlir --agent 'linalg=schedule-search{seconds=0}' …

Every point goes into the tuning database, and the next search of the same kernel goes on from there.
"""
from __future__ import annotations

import dataclasses

from kc.agents.base import Agent, Budget
from kc.agents.protocol import Observation, Proposal, Verdict


@dataclasses.dataclass
class ScheduleSearchAgent(Agent):
    """Searches the knobs of a kernel's schedule and proposes those that beat the compiler's own beyond doubt.

    ``seconds`` per kernel (0: take the best point of the database, measure nothing), ``points`` per kernel;
    ``sampler``: ``evolution``, ``random`` or ``tpe``; ``model``: let a learned cost model choose among candidates;
    ``resume``: go on from the database; ``database``: its file (default: ``KC_TUNING_DB``, else in kc's cache folder);
    ``sizes``: of open dimensions (``M=512,N=384``), typical ones otherwise; ``threads``: 0 for all.
    """

    seconds: float = 30.0
    points: int = 1_000
    sampler: str = "evolution"
    model: bool = True
    resume: bool = True
    database: str = ""
    sizes: str = ""
    threads: int = 0
    seed: int = 0

    name = "schedule-search"
    version = "1"
    levels = ("linalg",)

    def __post_init__(self) -> None:
        from kc.agents.builtin.search.kernels import parse_sizes

        self.budget = Budget(seconds=86_400.0, candidates=3)  # the agent keeps to ``seconds`` by itself
        self._sizes = parse_sizes(self.sizes)
        uses = {"optuna": True, "sklearn": self.model}
        #: packages that a search needs, each with the extra of kc that brings it
        self.needs = tuple((package, "search") for package in uses if self.seconds > 0 and uses[package])
        #: regions that were searched -> proposals that are left, the best first
        self._left: dict[str, list[Proposal]] = {}

    def propose(self, observation: Observation) -> Proposal | None:
        """The best knobs found; after a rejection the next best. None where nothing beats the default."""
        if observation.identity not in self._left:
            self._left[observation.identity] = self._search(observation)
        left = self._left[observation.identity]
        return left.pop(0) if left else None

    def learn(self, observation: Observation, proposal: Proposal, verdict: Verdict) -> None:
        """Nothing more is proposed for a kernel that is settled."""
        if verdict.accepted:
            self._left[observation.identity] = []

    def _search(self, observation: Observation) -> list[Proposal]:
        from kc.agents.builtin.search.kernels import key_of, space_of, tune
        from kc.agents.builtin.search.search import Limits
        from kc.agents.builtin.tuning_db import TuningDatabase

        space = space_of(observation)
        if space is None:
            return []
        with TuningDatabase(self.database) as database:
            if self.seconds <= 0:
                best = database.best(key_of(observation, self._sizes))
                found = best if best is not None and (best.ratio or 0.0) > 1.0 else None
                why = "from the tuning database"
            else:
                result = tune(
                    observation, space, database, sizes=self._sizes, sampler=self.sampler, seed=self.seed,
                    resume=self.resume, threads=self.threads, limits=Limits(self.seconds, self.points, self.model),
                )
                found = result.best if result.better else None
                why = f"of {result.measured + result.known} measured points"
        if found is None or found.knobs == space.default or space.problem(found.knobs) is not None:
            return []
        changed = {name: value for name, value in found.knobs.items() if value != space.default[name]}
        text = ", ".join(f"{name}={value}" for name, value in changed.items())
        rationale = f"{found.ratio:.2f} times as fast as schedule '{space.schedule}' with its own knobs, {why}: {text}"
        return [Proposal("schedule", knobs=changed, rationale=rationale)]
