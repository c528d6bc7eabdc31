"""The agent ``router``: decides for each region whether and where to step in, lets another agent do it, and says why.

    kc compile model.mlir --agent 'linalg=router{seconds=10}' …
    kc agents explain kc-agents.jsonl         # the reasons

It looks at evidence first (time of the default against the roofline, tuning database, ledger), tries the ways in the
order of what they promise, and hands on only what it measured to be faster.
"""
from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from kc.agents.base import Agent, Budget
from kc.agents.builtin.evidence import Evidence, history, tuned_ratio
from kc.agents.builtin.routes import Route, missing, routes, ways
from kc.agents.builtin.search.bench import Worker, WorkerError
from kc.agents.protocol import Observation, Proposal, Verdict
from kc.errors import KcError

#: rounds in which a candidate meets the default
_ROUNDS = 21
#: proposals of one agent for one way, the first and its repairs
_TRIES = 3


@dataclasses.dataclass
class RouterAgent(Agent):
    """Leaves a region alone, or proposes a schedule, a library call, other IR or another compiler, with the reason.

    ``use``: the ways allowed (``schedule``, ``library``, ``replace_ir``, ``triton``, ``stablehlo_out``; when empty, all
    for which kc's extras are installed; ``notes`` says which are off, and why). ``delegates``: more agents to ask for
    proposals, as ``--agent`` names them (an ``llm``, a file of yours). ``seconds``: of a search of schedules.
    ``leave``: gap to the roofline up to which a region is left alone; ``least_us``: time of a call below which it is.
    ``threads``, ``database``: as in ``schedule-search``.
    """

    use: tuple[str, ...] = ()
    delegates: tuple[str, ...] = ()
    seconds: float = 10.0
    leave: float = 1.25
    least_us: float = 10.0
    threads: int = 0
    database: str = ""

    name = "router"
    version = "1"
    levels = ("linalg",)

    def __post_init__(self) -> None:
        from kc.agents.loading import load

        self._ways, self.notes = ways(self.use, self.delegates, self.seconds)
        self.budget = Budget(seconds=86_400.0, candidates=6)
        self._others = [load(name) for name in self.delegates]
        self._ledger = ""
        #: region -> what is still to be proposed
        self._plans: dict[str, Iterator[Proposal]] = {}
        #: region -> who made its last proposal
        self._authors: dict[str, Agent] = {}

    def beside(self, ledger: str) -> None:
        """Learn of the ledger, which tells what was tried before."""
        self._ledger = ledger
        for other in self._others:
            if callable(getattr(other, "beside", None)):
                other.beside(ledger)  # type: ignore[attr-defined]

    def propose(self, observation: Observation) -> Proposal | None:
        """The next way that was measured to be faster; ``keep`` with the reason when there is none."""
        plan = self._plans.get(observation.identity)
        if plan is None:
            plan = self._plans[observation.identity] = self._plan(observation)
        return next(plan, None)

    def learn(self, observation: Observation, proposal: Proposal, verdict: Verdict) -> None:
        """A settled region needs no plan; whoever made the proposal hears of its verdict."""
        author = self._authors.get(observation.identity)
        if author is not None:
            author.learn(observation, proposal, verdict)
        if verdict.accepted:
            self._plans[observation.identity] = iter(())

    def close(self) -> None:
        """Close the delegates."""
        for other in self._others:
            other.close()

    def _plan(self, observation: Observation) -> Iterator[Proposal]:
        """Proposals in the order of what they promise, each measured; at the end ``keep``."""
        if observation.target.partition(":")[0] != "cpu":
            yield _keep(f"left alone: nothing can be measured here for target '{observation.target}'")
            return
        try:
            worker = Worker(observation.ir, observation.target, {}, level=observation.level, threads=self.threads)
        except WorkerError as error:
            yield _keep(f"left alone: it cannot be measured ({error.message})")
            return
        with worker:
            evidence = Evidence(worker.default_us, observation.roofline_us, tuned_ratio(observation, self.database),
                                history(observation.identity, self._ledger))
            if worker.default_us < self.least_us:
                yield _keep(f"left alone: {evidence}; less than {self.least_us:g} µs are not worth the trouble")
                return
            if evidence.gap is not None and evidence.gap <= self.leave:
                yield _keep(f"left alone: {evidence}; there is no room to gain")
                return
            told: list[str] = []
            ready: dict[str, Proposal | None] = {}
            for way in routes(observation, evidence, self._ways):
                yield from self._walk(way, observation, evidence, worker, told, ready)
        yield _keep(f"left alone: {evidence}; {'; '.join([*told, *self.notes]) or 'no way fits'}")

    def _walk(
        self, way: Route, observation: Observation, evidence: Evidence, worker: Worker, told: list[str],
        ready: dict[str, Proposal | None],
    ) -> Iterator[Proposal]:
        """The proposals of one way that beat the default; what became of the others goes to ``told``.

        ``ready``: answers of agents that were asked for another way.
        """
        from kc.agents.measure.statistics import ratio

        found = False
        for agent in self._walkers(way.name, observation):
            for _ in range(_TRIES):
                try:
                    proposal = ready.pop(agent.name) if agent.name in ready else agent.propose(observation)
                except KcError as error:
                    told.append(f"'{agent.name}' failed: {error.message}")
                    break
                if proposal is None or proposal.kind != way.name:
                    ready[agent.name] = proposal
                    break
                found = True
                try:
                    gain = ratio(*worker.measure(proposal, _ROUNDS, 60.0, least=_ROUNDS + 1))
                except WorkerError as error:
                    told.append(f"{way.name} failed: {error.message.partition(chr(10))[0]}")
                    agent.learn(observation, proposal, Verdict(False, "parse", "parse.realize", error.message))
                    continue
                figures = f"{gain.value:.2f} times as fast ({gain.low:.2f} to {gain.high:.2f} in {gain.pairs} rounds)"
                if gain.low <= 1.0:
                    told.append(f"{way.name} is {figures}")
                    agent.learn(observation, proposal, Verdict(False, "timing", "timing.failed", f"only {figures}"))
                    continue
                reason = f"{way.name}, since {evidence}, {way.why}, and it is {figures}"
                if told:
                    reason += f"; tried before: {'; '.join(told)}"
                self._authors[observation.identity] = agent
                yield dataclasses.replace(proposal, rationale=f"{reason}. {proposal.rationale}".strip())
                told.append(f"{way.name} ({figures}) was rejected")
        if not found:
            told.append(f"nobody here proposes {way.name}")

    def _walkers(self, way: str, observation: Observation) -> list[Agent]:
        """The agents to ask for a way: kc's own, then the user's."""
        from kc.agents.builtin import make
        from kc.agents.builtin.library_calls import LibraryAgent, OtherCompilerAgent
        from kc.agents.builtin.schedule_search import ScheduleSearchAgent

        own: list[Agent] = []
        if way == "schedule" and (self.seconds <= 0 or not missing(way)):
            own = [ScheduleSearchAgent(seconds=self.seconds, database=self.database, threads=self.threads)]
        elif way == "library" and not missing(way):
            own = [LibraryAgent()]
        elif way == "stablehlo_out":
            own = [OtherCompilerAgent()]
        elif way == "replace_ir":
            own = [*([] if missing(way) else [make("algebra")]), make("patterns")]
        return [agent for agent in (*own, *self._others) if observation.level in agent.levels]


def _keep(why: str) -> Proposal:
    return Proposal("keep", rationale=why)
