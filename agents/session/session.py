"""A session: the part of agents in one compilation.

At each moment where an agent takes part, for each region: look into the ledger, else show the region to the agent, have
its answer judged, tell it the verdict, and put what was accepted in the region's place. Whatever goes wrong on an
agent's side becomes a remark, and the original goes on.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kc.agents.base import Agent
from kc.agents.ledger import Attempt, Ledger, LedgerError, Visit
from kc.agents.ledger.ledger import MODES
from kc.agents.realize.realized import MissingError
from kc.agents.session import hooks
from kc.agents.session.asking import Lapse, Stand
from kc.agents.session.converse import Conversations
from kc.agents.session.decision import Decision
from kc.errors import CompileError, InputError

if TYPE_CHECKING:
    from kc.agents.contract import Contract
    from kc.agents.protocol import Observation, Proposal
    from kc.agents.regions import Region
    from kc.agents.session.converse import Judge
    from kc.agents.session.recovery import Trial
    from kc.bindings import ir
    from kc.pipelines import Phase
    from kc.pipelines.run import HookPoint
    from kc.targets.base import Target


class Session:
    """Drives agents through one compilation; an instance is a hook of ``kc.pipelines.run.run_phases``.

    ``mode``: see ``kc.agents.ledger``. ``timing``: whether an answer must also be faster. ``remarks`` collects what
    went wrong with agents, ``decisions`` what was settled. ``program`` and ``name`` name the build in the ledger.
    ``moment``: the only one, at which all agents take part (of a pass that has no road around it).
    """

    def __init__(
        self,
        agents: Sequence[Agent],
        phases: Sequence[Phase],
        *,
        target: Target,
        options: Mapping[str, Any] | None = None,
        ledger: Ledger | None = None,
        mode: str = "ask",
        timing: bool = False,
        seed: int | None = None,
        judge: Judge | None = None,
        program: str = "",
        name: str = "main",
        moment: str = "",
    ):
        if mode not in MODES:
            raise InputError(f"the ledger is used in mode {', '.join(MODES)}, not {mode!r}")
        self.target, self.options = target, dict(options or {})
        self.ledger = Ledger(None) if ledger is None else ledger
        self.mode = mode
        self.program, self.name = program, name
        self.remarks: list[str] = []
        self.decisions: list[Decision] = []
        self._conversations = Conversations(
            self.ledger, target.spec, mode == "replay", timing, seed, judge, self.remarks
        )
        self._visits: list[Visit] = []
        self._kernels: dict[str, Contract] = {}
        self._kinds: dict[str, str] = {}
        #: decisions that are taken over, by ``Decision.key``; ``silent``: nobody is asked about other regions
        self._settled: dict[tuple[str, str, str], Decision] = {}
        self._silent = False
        self.frozen, self._verifies = mode in ("frozen", "verified"), mode == "verified"
        if self.frozen and not agents:
            agents = self._recorded()
        alone = frozenset({moment} if moment else ())
        self.stands = [Stand(agent, alone) if alone else self._stand(agent, phases) for agent in agents]
        for stand in self.stands:
            if not self.frozen:
                self.remarks += [f"agent '{stand.agent.name}': {note}" for note in stand.agent.notes]
            if self.ledger.path and not self.frozen and hasattr(stand.agent, "beside"):
                stand.agent.beside(str(self.ledger.path))
        self._points = frozenset(point for stand in self.stands for point in stand.points)
        self._last = f"after:{phases[-1].name}" if phases else ""
        self._llvm = any(f"after:{phase.name}" in self._points and phase.end == "llvm" for phase in phases)
        self._llvm |= hooks.ASM in self._points and target.name == "cpu"
        self._below = any(p == hooks.ASM or p.partition(":")[2] not in _LINALG for p in self._points)

    # ------------------------------------------------------------------------------------------- moments

    def __call__(self, point: HookPoint, module: ir.Module) -> None:
        """Ask at a hook point."""
        at = f"{point.when}:{point.phase.name}"
        if at in self._points:
            self.ask(module, point.level, at)
        if self._below and at == "after:form-kernels":
            self._remember(module)
        if at == self._last and hooks.ASM in self._points:
            self.ask(module, hooks.ASM, hooks.ASM)
        if self._llvm and point.when == "before" and point.phase.end == "llvm" != point.phase.start:
            self._remember_buffers(module)

    def ask(self, module: ir.Module | ir.Operation, level: str, at: str) -> None:
        """Ask every agent that takes part at ``at`` about every region of ``module``, which stands at ``level``."""
        from kc.agents.regions import find

        for stand in self.stands:
            if at not in stand.points:
                continue
            for region in find(module, level, self.target):
                kind = self._kinds.get(region.name, region.kind)
                self._region(stand, dataclasses.replace(region, kind=kind), at)

    def finish(self) -> None:
        """Enter the build into the ledger: the compilation has come to its end."""
        if not self.frozen and self.stands:
            agents = [
                {"name": s.agent.name, "version": s.agent.version, "levels": sorted(s.points)} for s in self.stands
            ]
            self.ledger.finish(self.program, self.name, self.target.spec, agents, self._visits)

    def into(self, manifest: dict[str, Any], files: dict[str, bytes]) -> None:
        """Write into an artifact which answers it holds: the same in a frozen build."""
        from kc.agents.ledger.artifact import FILE, artifact_lines

        if self.used:
            manifest["agents"] = [attempt.hash for attempt in self.used]
            files[FILE] = artifact_lines(self.used)

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *error: object) -> None:
        """Let every agent give back what it holds."""
        for stand in self.stands:
            if not self.frozen:
                self._guarded(stand, stand.asking.close)

    def again(self, decisions: Sequence[Decision] | None = None) -> Session:
        """A session that does what this one did, or only ``decisions``, in the same program, and asks nobody."""
        made = copy.copy(self)
        made.remarks, made.decisions, made._visits, made.frozen, made._silent = [], [], [], True, True
        chosen = self.decisions if decisions is None else decisions
        made._settled = {d.key: d for d in chosen if d.accepted}
        return made

    def recover(self, error: CompileError, trial: Trial) -> Any:
        """See ``kc.agents.session.recovery.recover``."""
        from kc.agents.session.recovery import recover

        return recover(self, error, trial)

    def take_back(self, decision: Decision, why: Exception) -> None:
        """Enter into the ledger that kc cannot compile the program with what was accepted."""
        assert decision.attempt is not None
        self.remarks.append(f"agent '{decision.agent}', region '@{decision.region}': taken back: {why}")
        self.ledger.take_back(decision.attempt, why)
        self._conversations.reopened.add((decision.identity, decision.agent))

    def restart(self, refused: Sequence[Decision]) -> None:
        """Be ready to go through the program once more: what was settled stays so, but for what was ``refused``."""
        gone = {(decision.identity, decision.agent) for decision in refused}
        kept = [d for d in self.decisions if d.attempt is not None and (d.identity, d.agent) not in gone]
        self._settled = {decision.key: decision for decision in kept}
        self.decisions.clear()
        self._visits.clear()
        self._kernels.clear()
        self._kinds.clear()

    @property
    def used(self) -> list[Attempt]:
        """The attempts whose proposals are part of the program, in order."""
        return [d.attempt for d in self.decisions if d.accepted and d.attempt is not None]

    # ------------------------------------------------------------------------------------------- one region

    def _region(self, stand: Stand, region: Region, at: str) -> None:
        observation = self._observe(region, at)
        if observation is None:
            return
        again = self._settled.get((at, observation.identity, stand.agent.name))
        if again is not None:
            assert again.attempt is not None
            self._settle(stand, region, observation, again.attempt, again.tried, again.from_ledger)
            return
        if self._silent:
            return
        if self.frozen:
            settled = self.ledger.require(observation.identity, *stand.key, name=region.name, level=region.level, at=at)
            if settled is not None:
                if self._verifies:
                    self._verify(region, observation, settled)
                self._settle(stand, region, observation, settled, from_ledger=True)
            return
        if not self._matches(stand, observation):
            self._visit(stand, observation, None)
            return
        replay, key = self.mode == "replay", (observation.identity, *stand.key)
        settled = self.ledger.find(*key, stand.agent.budget) if replay else None
        if settled is not None:
            self._settle(stand, region, observation, settled, from_ledger=True)
            return
        tried: list[Attempt] = []
        settled = self._conversations.hold(stand, observation, tried)
        if settled is not None:
            self._settle(stand, region, observation, settled, tried)
            return
        self._visit(stand, observation, None)  # a frozen build then leaves it, as this one does
        if tried:
            self._decided(stand, region, observation, None, tried)

    def _settle(
        self,
        stand: Stand,
        region: Region,
        observation: Observation,
        attempt: Attempt,
        tried: Sequence[Attempt] = (),
        from_ledger: bool = False,
    ) -> None:
        """Do what ``attempt`` says, and note it."""
        proposal = attempt.message() if attempt.outcome == "accepted" else None
        if proposal is not None and proposal.kind != "keep":
            try:
                self._place(stand, region, observation, attempt, proposal)
            except (InputError, CompileError) as error:
                if self.frozen:
                    raise
                self.remarks.append(f"agent '{stand.agent.name}', region '@{region.name}': {error}")
                attempt = self.ledger.take_back(attempt, error)
        self._visit(stand, observation, attempt)
        if from_ledger:
            known = self.ledger.attempts(observation.identity, *stand.key)
            tried = [other for other in known if other.outcome == "rejected" and other.order < attempt.order]
        self._decided(stand, region, observation, attempt, tried, from_ledger)

    def _decided(
        self,
        stand: Stand,
        region: Region,
        observation: Observation,
        attempt: Attempt | None,
        tried: Sequence[Attempt],
        from_ledger: bool = False,
    ) -> None:
        told = (observation.at, region.level, region.name, observation.identity, stand.agent.name)
        self.decisions.append(Decision(*told, attempt, from_ledger, tuple(tried)))

    def _place(
        self, stand: Stand, region: Region, observation: Observation, attempt: Attempt, proposal: Proposal
    ) -> None:
        """Place what was accepted, with the code that was compiled then. Raises LedgerError where that is lost, and
        cannot be had again."""
        from kc.agents.realize.compiled import holding
        from kc.agents.session.placing import place

        code, lost = None, None
        try:
            code = self.ledger.code(attempt)
        except LedgerError as error:
            lost = error
        with holding(code) as held:
            try:
                place(region, observation, proposal, self.target, stand.agent.name)
            except MissingError as error:
                raise error if lost is None else LedgerError(f"{lost.message}; and {error.message}") from None
        if lost is not None and (held.code is None or held.code.digest not in attempt.code["file"]):
            by = held.code.compiler if held.code else "the compiler here"
            raise LedgerError(f"{lost.message}; {by} makes other code of its source: have the file back, or build anew")

    def _verify(self, region: Region, observation: Observation, attempt: Attempt) -> None:
        """Judge what the ledger settles again; raises LedgerError when it is not accepted here and now."""
        from kc.agents.session.verifying import check

        if attempt.outcome != "accepted" or (attempt.proposal or {}).get("kind") == "keep":
            return
        found = check(self.ledger, attempt, observation.ir, timing=self._conversations.timing)
        if found.outcome != "same":
            what = "is not accepted" if found.outcome == "differs" else "cannot be judged here"
            raise LedgerError(
                f"region '@{region.name}' (level {region.level}): what the ledger settles for agent '{attempt.agent}' "
                f"(attempt {attempt.hash[:12]}) {what}: {found.message}",
                region.name,
                observation.identity,
            )

    # ------------------------------------------------------------------------------------------- parts

    def _observe(self, region: Region, at: str) -> Observation | None:
        """What is shown of a region; None where no contract can tell what it may do."""
        from kc.agents.regions.buffers import Withheld
        from kc.agents.session import observe

        try:
            return observe.observe(region, at, self.target, self.options, self._kernels)
        except Withheld as why:
            self.remarks.append(f"region '@{region.name}' is not shown to agents: {why}")
            return None

    def _matches(self, stand: Stand, observation: Observation) -> bool:
        try:
            return bool(stand.agent.match(observation))
        except Exception as error:  # a condition of the agent's
            self.remarks.append(f"agent '{stand.agent.name}': its match raised {type(error).__name__}: {error}")
            return False

    def _guarded(self, stand: Stand, call: Callable[[], object]) -> None:
        try:
            call()
        except Lapse as lapse:
            self.remarks.append(f"agent '{stand.agent.name}': {lapse}")

    def _visit(self, stand: Stand, observation: Observation, attempt: Attempt | None) -> None:
        known = None if attempt is None else attempt.hash
        self._visits.append(Visit(observation.at, observation.name, observation.identity, *stand.key, known))

    def _remember(self, module: ir.Module) -> None:
        """Keep the contracts of kernels on tensors for the levels where their tensors are buffers."""
        from kc.agents.regions import find
        from kc.agents.regions.known import contract_of, destinations

        for region in find(module, "linalg"):
            contract = contract_of(region, self.target.spec, self.options)
            self._kinds[region.name] = self._kinds[f"{region.name}__impl"] = region.kind
            self._kernels[region.name] = destinations(region.operation, contract)

    def _remember_buffers(self, module: ir.Module) -> None:
        """Keep the contracts of functions on buffers for the llvm level, where these are pointers and sizes."""
        from kc.agents.regions import find
        from kc.agents.regions.buffers import Overlap
        from kc.agents.regions.known import contract_of, note_buffers

        for region in find(module, "loops"):
            try:
                contract = contract_of(region, self.target.spec, self.options, self._kernels)
            except Overlap:
                continue
            self._kernels[region.name] = contract
            note_buffers(region.operation)

    def _stand(self, agent: Agent, phases: Sequence[Phase]) -> Stand:
        points = frozenset(hooks.resolve(where, phases) for where in agent.levels if hooks.passes_level(where, phases))
        if not points:
            levels = ", ".join(agent.levels) or "no level"
            self.remarks.append(f"agent '{agent.name}' takes no part: this road does not pass {levels}")
        return Stand(agent, points)

    def _recorded(self) -> list[Agent]:
        """Stand-ins for the agents that took part in the last build of this program."""
        build = self.ledger.require_build(self.program, self.name, self.target.spec)
        made = []
        for told in build.agents:
            agent = Agent()
            agent.name, agent.version, agent.levels = told["name"], told["version"], tuple(told["levels"])
            made.append(agent)
        return made


#: phases up to the forming of kernels: what comes before them needs no memory of kernels
_LINALG = frozenset(
    {"torch-decompose", "torch-to-linalg", "stablehlo-normalize", "stablehlo-to-linalg", "linalg-clean-up",
     "form-kernels"}
)  # fmt: skip
