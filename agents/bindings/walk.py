"""A walk down the road of one program: forward by phases, back to where it was, proposals spliced in on the way."""
from __future__ import annotations

import copy
import dataclasses
import difflib
import io
import os
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kc import api
from kc.agents.base import Agent, Budget, Match
from kc.agents.ledger import Ledger
from kc.agents.protocol import Observation, Proposal, Verdict
from kc.agents.session.asking import NotYet
from kc.agents.session.opening import open_session
from kc.errors import InputError, KcError
from kc.pipelines.roads import road
from kc.pipelines.run import run_phases
from kc.targets import get_target
from kc.temporary import Folder

if TYPE_CHECKING:
    from kc.bindings import ir

#: name and version of the agent in ledgers
NAME, VERSION = "mcp", "1"
START = "start"
#: of a file with a program
SOURCE_BYTES = 1 << 30

Report = Callable[[int, int, str], None]


class Desk(Agent):
    """The agent whose answers somebody lays on the desk: one region at a time is looked at, or answered."""

    name, version = NAME, VERSION
    budget = Budget(seconds=1e6, candidates=1 << 30)

    def __init__(self, levels: tuple[str, ...]):
        self.levels = levels
        self.seen: list[Observation] = []
        self.answers: dict[str, Proposal] = {}
        self.verdict: Verdict | None = None
        self.match = Match(most_ops=1 << 60, when=self._look)

    def propose(self, observation: Observation) -> Proposal | None:
        """What lies there for this region. A rejected answer is not the last: more may be laid down later."""
        if observation.name not in self.answers:
            raise NotYet
        return self.answers.pop(observation.name)

    def learn(self, observation: Observation, proposal: Proposal, verdict: Verdict) -> None:
        """Keep the verdict."""
        self.verdict = verdict

    def _look(self, observation: Observation) -> bool:
        self.seen.append(observation)
        return observation.name in self.answers


@dataclasses.dataclass(frozen=True)
class _State:
    """The module and what the session knows, at one moment."""

    position: int
    module: bytes
    session: dict[str, Any]
    edits: tuple[dict[str, Any], ...]


def _check_source(source: str) -> None:
    """Raises InputError for the name of what is no file (a device may never end), and of a file that is too big."""
    if "\0" in source:
        raise InputError("the source holds a NUL character, which neither a path nor MLIR text does")
    try:
        found = os.stat(source)
    except OSError:  # no file's name: text, or the front end says so
        return
    if not stat.S_ISREG(found.st_mode):
        raise InputError(f"'{source}' is no regular file: give the path of a file with the program, or its text")
    if found.st_size > SOURCE_BYTES:
        raise InputError(f"'{source}' has {found.st_size} bytes; programs of up to {SOURCE_BYTES} are taken here")


class Walk:
    """One program under way.

    ``ledger``: path of the ledger (a temporary one otherwise); ``timing``: proposals must be faster, too; ``report``
    hears of progress (done, total, what).
    """

    def __init__(self, ledger: str | None = None, timing: bool = False, report: Report | None = None):
        self._folder = Folder("workbench")
        self._ledger = Ledger(ledger or str(Path(self._folder.name) / "agents.jsonl"))
        self._timing = timing
        self._report: Report = report or (lambda done, total, what: None)
        self._loaded = False

    # ------------------------------------------------------------------------------------------------- the program

    def load(
        self, source: str, target: str = "cpu", entry: str = "main", options: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Take up a program: text, or the path of a file. What stood on the bench before is put away."""
        from kc import frontends
        from kc.census import check

        _check_source(source)
        loaded = frontends.load(source, entry)
        self._target = get_target(target)
        self._phases = road(self._target, loaded.level)
        self._options = api.checked_options(options or {}, self._phases)
        check(loaded.module, self._target)
        api.bind_weights(loaded.module)
        self._module, self._context = loaded.module, loaded.module.context
        self._level, self._entry = loaded.level, entry
        self._moments = (f"before:{self._phases[0].name}", *(f"after:{phase.name}" for phase in self._phases))
        self._desk = Desk(self._moments)
        _, self._session = open_session(
            [self._desk], self._phases, loaded.module, target=self._target, options=self._options, entry=entry,
            ledger=self._ledger, timing=self._timing,
        )
        self._stand = self._session.stands[0]
        self._position = 0
        self._edits: list[dict[str, Any]] = []
        #: state on arrival at each position so far, and where it was left
        self._arrived = [self._state()]
        self._left: dict[int, bytes] = {}
        self._loaded = True
        return self.status()

    def status(self) -> dict[str, Any]:
        """Where the program stands: level, moment, phases done and to come, what was accepted."""
        self._need()
        return {
            "target": self._target.spec, "entry": self._entry, "level": self._here,
            "moment": self._moments[self._position],
            "phases": [
                {"name": p.name, "description": p.description, "from": p.start, "to": p.end, "done": i < self._position}
                for i, p in enumerate(self._phases)
            ],
            "accepted": list(self._edits), "ledger": str(self._ledger.path), "remarks": list(self._session.remarks),
        }

    def levels(self) -> list[dict[str, Any]]:
        """The levels of the ladder that this road passes, and after which phase the program stands at each."""
        self._need()
        from kc.agents.session import hooks
        from kc.levels import level_named

        found = []
        for level, moment in hooks.moments(self._phases).items():
            if level == hooks.ASM:
                continue
            about = level_named(level).summary
            found.append({"level": level, "moment": moment, "description": about, "here": level == self._here})
        return found

    # ----------------------------------------------------------------------------------------------------- walking

    def step(self, to: str | None = None) -> dict[str, Any]:
        """Run the next phase, or all up to ``to``: the name of a phase, or a level whose moment is to be reached."""
        self._need()
        last = self._position + 1 if to is None else self._find(to)
        if last > len(self._phases):
            raise InputError("the program has come to the end of the road: build it, or rewind")
        if last <= self._position:
            raise InputError(f"'{to}' lies behind (the program stands {self._moments[self._position]}): rewind to it")
        first = self._position
        while self._position < last:
            self._report(self._position - first, last - first, self._phases[self._position].name)
            self._forward()
        return self.status()

    def rewind(self, to: str) -> dict[str, Any]:
        """Go back to right after phase ``to``, to ``start``, or take back the last accepted proposal (``undo``).

        What was accepted there and later is dropped from the program; the ledger keeps it.
        """
        self._need()
        if to == "undo":
            self._undo()
            return self.status()
        position = self._find(to, every=True)
        if position > self._position:
            raise InputError(f"'{to}' lies ahead (the program stands {self._moments[self._position]}): step to it")
        self._restore(self._arrived[position])
        return self.status()

    # ------------------------------------------------------------------------------------------------------- inside

    def _undo(self) -> None:
        """Take back the last accepted proposal: what was accepted at its moment before it is accepted again."""
        if not self._edits:
            raise InputError("nothing was accepted yet")
        position = int(self._edits[-1]["position"])
        kept = [edit for edit in self._edits[:-1] if edit["position"] == position]
        self._restore(self._arrived[position])
        for edit in kept:  # their verdicts are in the ledger
            self._answer(edit["region"], Proposal.from_json(edit["proposal"]))

    @property
    def _here(self) -> str:
        return self._phases[self._position - 1].end if self._position else self._level

    def _need(self) -> None:
        if not self._loaded:
            raise InputError("no program is loaded: load one first")

    def _find(self, name: str, every: bool = False) -> int:
        """The position that ``name`` means: right after a phase, a level's own moment, or the start."""
        from kc.agents.session import hooks

        names = [START, *(phase.name for phase in self._phases)]
        if name in names:
            return names.index(name)
        moments = hooks.moments(self._phases)
        if moments.get(name) in self._moments:
            return self._moments.index(moments[name])
        if name in self._moments:
            return self._moments.index(name)
        known = [*names, *(m for m in moments if m != hooks.ASM)]
        near = difflib.get_close_matches(name, known, 1)
        hint = f"; did you mean '{near[0]}'?" if near else ""
        raise InputError(f"'{name}' is no phase or level of this road ({', '.join(known)}){hint}")

    def _forward(self) -> None:
        """Leave this moment and run one phase. When the phase fails the program stays where it was."""
        before = self._state()
        self._note_rest()
        self._stand.points = frozenset()  # the session only remembers; it asks when ``_ask`` says so
        try:
            run_phases(self._module, [self._phases[self._position]], self._options, hooks=[self._session])
        except KcError:
            self._restore(before, arrived=False)
            raise
        self._left[self._position] = before.module
        self._position += 1
        self._arrived = [*self._arrived[: self._position], self._state()]

    def _note_rest(self) -> None:
        """At a moment where something was accepted, note of the other regions that they were left as they are."""
        if any(e["position"] == self._position for e in self._edits):
            self._ask()

    def _answer(self, region: str, proposal: Proposal) -> dict[str, Any]:
        """Let the session judge a proposal for a region and, if it is accepted, put it in the region's place."""
        remarks, decisions = len(self._session.remarks), len(self._session.decisions)
        self._desk.answers, self._desk.verdict = {region: proposal}, None
        before = self._state()
        try:
            self._ask()
        except BaseException:
            self._restore(before, arrived=False)
            raise
        finally:
            self._desk.answers = {}
        told = self._session.remarks[remarks:]
        settled = [d for d in self._session.decisions[decisions:] if d.accepted]
        if settled:
            made = settled[-1]
            self._edits.append(
                {"region": region, "level": made.level, "at": made.at, "position": self._position,
                 "identity": made.identity, "proposal": proposal.to_json()}
            )
        verdict = self._desk.verdict
        if verdict is None and not told:
            told = ["the proposal was not judged"]
        return {
            "verdict": None if verdict is None else verdict.to_json(), "accepted": bool(settled), "remarks": list(told)
        }

    def _ask(self) -> None:
        """Let the session ask the desk about every region, here and now."""
        at = self._moments[self._position]
        self._desk.seen = []
        self._stand.points = frozenset({at})
        self._session.ask(self._module, self._here, at)

    def _at(self, moment: str, work: Callable[[], Any]) -> Any:
        """The result of ``work`` at a moment of the road; the program stands where it stood again after it."""
        here, arrived, left, edits = self._state(), list(self._arrived), dict(self._left), list(self._edits)
        wanted = self._moments.index(moment)
        try:
            if wanted < self._position:
                self._restore(self._arrived[wanted])
                self._module = self._parse(left.get(wanted, self._arrived[wanted].module))
            while self._position < wanted:
                self._report(self._position, wanted, self._phases[self._position].name)
                self._forward()
            return work()
        finally:
            self._restore(here, arrived=False)
            self._arrived, self._left, self._edits = arrived, left, edits

    def _state(self) -> _State:
        buffer = io.BytesIO()
        self._module.operation.write_bytecode(buffer)
        return _State(self._position, buffer.getvalue(), self._memory(), tuple(self._edits))

    def _memory(self) -> dict[str, Any]:
        """What the session has gathered so far."""
        return {key: copy.copy(value) for key, value in vars(self._session).items() if isinstance(value, (list, dict))}

    def _remember(self, memory: Mapping[str, Any]) -> None:
        for key, value in memory.items():
            if key != "stands":
                setattr(self._session, key, copy.copy(value))

    def _restore(self, state: _State, arrived: bool = True) -> None:
        """Stand where ``state`` was taken; ``arrived``: forget what lies ahead of it."""
        self._module, self._position = self._parse(state.module), state.position
        self._remember(state.session)
        self._edits = list(state.edits)
        if arrived:
            self._arrived = self._arrived[: state.position + 1]
            self._left = {p: m for p, m in self._left.items() if p < state.position}

    def _parse(self, data: bytes) -> ir.Module:
        from kc.context import parse_module

        return parse_module(data, self._context)
