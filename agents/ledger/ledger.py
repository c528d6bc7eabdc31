"""The ledger as a compilation uses it: look up what is settled, what was tried, and append what happens."""
from __future__ import annotations

import dataclasses
import datetime
import os
import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from kc.agents.ledger import code, missing, stale
from kc.agents.ledger.code import Code
from kc.agents.ledger.errors import LedgerError
from kc.agents.ledger.journal import Journal, Problem, Scan
from kc.agents.ledger.lines import Attempt, Build, Line, Region, Visit
from kc.agents.ledger.machine import machine
from kc.agents.protocol import VERSION, Observation, Proposal, Verdict

if TYPE_CHECKING:
    from kc.agents.base import Agent, Budget

#: ``ask``: agents are asked about every region; ``replay``: what is settled is used, they are asked for the rest;
#: ``frozen``: only what is settled, no agent is asked, anything else is a LedgerError; ``verified``: as ``frozen``, and
#: the gates judge again what was accepted
Mode = Literal["ask", "replay", "frozen", "verified"]
#: characters of an error that are kept
_TOLD = 2000
MODES: tuple[str, ...] = ("ask", "replay", "frozen", "verified")


def load(path: str | os.PathLike[str] | None) -> Ledger:
    """The ledger at ``path``, which need not exist yet; without a path, one that is kept in memory only."""
    return Ledger(path)


class Ledger:
    """What agents proposed for which region and what became of it. Safe among threads and processes.

    ``problems`` are the lines that were left out, with their numbers: torn, changed by hand, of a newer kc.
    """

    def __init__(self, path: str | os.PathLike[str] | None = None):
        self._journal = None if path is None else Journal(path)
        self._lock = threading.RLock()
        self._clear()
        self.refresh()

    @property
    def path(self) -> str | None:
        """Absolute path of the file."""
        return None if self._journal is None else self._journal.path

    @property
    def problems(self) -> list[Problem]:
        """Lines that were left out, in the order of the file."""
        return [self._problems[number] for number in sorted(self._problems)]

    def refresh(self) -> None:
        """Take in what other processes have appended."""
        if self._journal is not None:
            with self._lock:
                self._take(self._journal.read(self._scan))

    # ------------------------------------------------------------------ questions

    def find(self, identity: str, agent: str, version: str, budget: Budget | None = None) -> Attempt | None:
        """What settles the region for this agent: its newest attempt that was accepted, declined or stopped.

        None when there is none, or it no longer stands (``why_stale``, or the file of its compiled code is gone); then
        the agent has to be asked, or the proposal of ``recall`` judged again. Nor does it settle that the agent's
        seconds were used up, which are those of a whole compilation, or its candidates when ``budget`` now grants more.
        """
        found = self.recall(identity, agent, version)
        if found is None or not self._stands(found) or "seconds" in found.ended:
            return None
        most = found.ended.get("candidates")
        return None if most is not None and budget is not None and budget.candidates > most else found

    def recall(self, identity: str, agent: str, version: str) -> Attempt | None:
        """As ``find``, stale ones included."""
        settled = [a for a in self.attempts(identity, agent, version) if a.outcome != "rejected"]
        return settled[-1] if settled else None

    def attempts(self, identity: str, agent: str | None = None, version: str | None = None) -> list[Attempt]:
        """All that was tried for the region, oldest first, rejected ones too."""
        with self._lock:
            found = self._attempts.get(identity, {}).values()
            chosen = [a for a in found if agent in (None, a.agent) and version in (None, a.agent_version)]
        return sorted(chosen, key=lambda a: a.order)

    def same(self, identity: str, proposal: Proposal, *, timing: bool = False) -> Attempt | None:
        """The newest attempt of any agent with just this proposal (its rationale aside) that still stands.

        With it a proposal need not be judged twice. ``timing``: whether it must be faster, too; a verdict that rests on
        a measurement counts on a machine like the one at hand only.
        """
        wanted = substance(proposal.to_json())
        for attempt in reversed(self.attempts(identity)):
            if attempt.proposal is None or substance(attempt.proposal) != wanted or not self._stands(attempt):
                continue
            if _answers(attempt, timing):
                return attempt
        return None

    def _stands(self, attempt: Attempt) -> bool:
        if stale.why_stale(attempt):
            return False
        try:
            self.code(attempt)
        except LedgerError:
            return False
        return True

    def code(self, attempt: Attempt) -> Code | None:
        """The compiled code of an attempt, None where it has none. Raises LedgerError when its file is not there, or
        was changed."""
        if not attempt.code:
            return None
        if self.path is None:
            raise LedgerError("a ledger that is kept in memory has no files of compiled code")
        return code.read(self.path, attempt.code)

    def require(
        self, identity: str, agent: str, version: str, *, name: str, level: str, at: str = ""
    ) -> Attempt | None:
        """What settles the region in a frozen build; None: in every build the agent's ``match`` left it out.

        Raises LedgerError that names the region ``name``, says why nothing settles it, and what to do.
        """
        found = self.recall(identity, agent, version)
        why = stale.why_stale(found) if found is not None else None
        if found is not None and why is None:
            return found
        with self._lock:
            if found is None and (identity, agent, version) in self._left_out:
                return None
        if why is None:
            why = missing.why_missing(self, identity, agent, version, name, level)
        where = f" at {at}" if at else ""
        raise LedgerError(
            f"frozen: {self._named()} does not settle region '@{name}' (level {level}{where}) for agent '{agent}' "
            f"version {version}: {why}; build once in mode 'replay', which asks for what is missing only, and commit "
            "the ledger",
            name,
            identity,
        )

    def last_build(self, program: str, name: str = "", target: str = "") -> Build | None:
        """The newest build of the program of this hash; failing that, of one of this name for this target.

        A frozen build without agents takes from it who takes part.
        """
        with self._lock:
            builds = sorted(self._builds.values(), key=lambda b: b.order)
        same = [b for b in builds if b.program == program]
        alike = [b for b in builds if name and b.name == name and b.target == target]
        found = same or alike
        return found[-1] if found else None

    def require_build(self, program: str, name: str, target: str) -> Build:
        """``last_build``, for a frozen build; raises LedgerError when there is none."""
        found = self.last_build(program, name, target)
        if found is None:
            others = sorted({f"{b.name} for {b.target}" for b in self.builds()})
            known = f"it knows {', '.join(others)}" if others else "it knows no build at all"
            message = f"frozen: {self._named()} has no build of '{name}' for target '{target}' ({known}); "
            raise LedgerError(f"{message}build once in mode 'replay' with the agents, and commit the ledger", name)
        return found

    def region(self, identity: str) -> Region | None:
        """What the ledger knows of the region itself."""
        with self._lock:
            return self._regions.get(identity)

    def regions(self) -> list[Region]:
        """All regions, in the order in which they were first seen."""
        with self._lock:
            return list(self._regions.values())

    def entries(self) -> list[Attempt]:
        """All attempts, oldest first."""
        with self._lock:
            return sorted((a for group in self._attempts.values() for a in group.values()), key=lambda a: a.order)

    def entry(self, hash: str) -> Attempt | None:
        """The attempt of that hash."""
        with self._lock:
            return next((group[hash] for group in self._attempts.values() if hash in group), None)

    def builds(self) -> list[Build]:
        """All builds, oldest first."""
        with self._lock:
            return sorted(self._builds.values(), key=lambda b: b.order)

    # ------------------------------------------------------------------ writing

    def record(
        self,
        observation: Observation,
        agent: Agent,
        proposal: Proposal | None,
        verdict: Verdict | None,
        *,
        seed: int | None = None,
        ended: Mapping[str, Any] | None = None,
        compiled: Code | None = None,
    ) -> Attempt:
        """Append what ``agent`` answered (None: nothing further) and its verdict; returns the attempt as written.

        ``ended``: why it was not asked further, see ``Attempt``. ``compiled``: what a compiler made of the proposal; it
        is kept in a file beside the ledger.
        """
        from kc import __version__

        made = Attempt(
            observation.identity, observation.level, observation.at, observation.name, observation.kind,
            observation.target, agent.name, agent.version,
            None if proposal is None else proposal.to_json(),
            None if verdict is None else verdict.to_json(),
            __version__, VERSION, stale.gates_revision(), machine=machine(), seed=seed,
            ended=dict(ended or {}),
        )  # fmt: skip
        return self.append(made, Region.of(observation), compiled)

    def take_back(self, attempt: Attempt, why: Exception) -> Attempt:
        """Append that kc cannot compile a program with what was accepted: as a rejection of it, which tells the agent,
        and as what settles the region, which stays as it is; returns the latter."""
        from kc import __version__

        message = f"kc cannot compile the program with it: {why}"[:_TOLD]
        verdict = Verdict(False, "verify", "verify.compile", message).to_json()
        judged: dict[str, Any] = {"kc": __version__, "gates": stale.gates_revision(), "machine": machine()}
        new = {**judged, "time": "", "code": {}}
        self.append(dataclasses.replace(attempt, verdict=verdict, **new))
        ended = {"taken_back": str(why)[:_TOLD], "attempt": attempt.hash}
        return self.append(dataclasses.replace(attempt, proposal=None, verdict=None, ended=ended, **new))

    def append(self, attempt: Attempt, region: Region | None = None, compiled: Code | None = None) -> Attempt:
        """Append an attempt, and the region where the ledger does not know it yet; returns it with its time.

        ``compiled``: see ``record``.
        """

        def lines() -> list[Line]:
            nonlocal attempt
            if compiled is not None and self.path is not None:  # under the lock: pruning does not see it too soon
                attempt = dataclasses.replace(attempt, code=code.write(self.path, compiled, attempt.target))
            known = region is None or region.identity in self._regions
            return [attempt] if known or region is None else [region, attempt]

        with self._lock:
            if not attempt.time:
                attempt = dataclasses.replace(attempt, time=self._now())
            self._append(lines)
        return attempt

    def finish(
        self, program: str, name: str, target: str, agents: Sequence[Mapping[str, Any]], visits: Iterable[Visit]
    ) -> Build:
        """Append that a compilation came to its end; ``agents``: ``name``, ``version``, ``levels`` in order.

        Nothing is appended when the newest build of the program is the same but for its time.
        """
        from kc import __version__

        who = tuple({**agent, "levels": list(agent.get("levels", ()))} for agent in agents)
        made = Build(program, name, target, who, tuple(visits), __version__)
        with self._lock:
            last = self.last_build(program)
            if last is not None and dataclasses.replace(last, time="") == made:
                return last
            made = dataclasses.replace(made, time=self._now())
            self._append(lambda: [made])
        return made

    # ------------------------------------------------------------------ inside

    def _clear(self) -> None:
        self._scan = Scan()
        self._regions: dict[str, Region] = {}
        self._attempts: dict[str, dict[str, Attempt]] = {}  # identity -> hash -> attempt
        self._builds: dict[str, Build] = {}
        self._left_out: set[tuple[str, str, str]] = set()
        self._problems: dict[int, Problem] = {}
        self._newest = ""

    def _append(self, lines: Any) -> None:
        if self._journal is None:
            for line in lines():
                self._index(line)
            return

        def made(news: Scan) -> list[Line]:
            self._take(news)
            return list(lines())

        written = self._journal.append(made, self._scan)
        self._take(written)

    def _take(self, news: Scan) -> None:
        """Index what a scan found; all anew when it did not go on where the last one ended."""
        if self._scan.file is not None and (news.file != self._scan.file or news.offset < self._scan.offset):
            self._clear()
        # a last line that was torn is looked at again: it may have been finished, or cut off
        self._problems = {n: p for n, p in self._problems.items() if n <= self._scan.count}
        for problem in news.problems:
            self._problems[problem.line] = problem
        for line in news.lines:
            self._index(line)
        self._scan = dataclasses.replace(news, lines=[], problems=[])

    def _index(self, line: Line) -> None:
        if isinstance(line, Region):
            self._regions.setdefault(line.identity, line)
            return
        self._newest = max(self._newest, line.time)
        if isinstance(line, Attempt):
            self._attempts.setdefault(line.identity, {})[line.hash] = line
            return
        self._builds[line.hash] = line
        self._left_out.update((v.identity, v.agent, v.agent_version) for v in line.visits if v.attempt is None)

    def _now(self) -> str:
        """The time, later than that of any line seen: what is appended later counts, whatever the clock did."""
        now = datetime.datetime.now(datetime.UTC)
        if self._newest:
            least = datetime.datetime.fromisoformat(self._newest) + datetime.timedelta(microseconds=1)
            now = max(now, least)
        return now.isoformat(timespec="microseconds")

    def _named(self) -> str:
        return "the ledger" if self.path is None else f"the ledger '{self.path}'"


def _answers(attempt: Attempt, timing: bool) -> bool:
    """Whether the verdict would be given here as well, by the gates that ``timing`` includes or not."""
    verdict = attempt.verdict or {}
    measured = bool(verdict.get("timing")) or verdict.get("gate") == "timing"
    if not timing:
        return verdict.get("gate") != "timing"
    if attempt.outcome == "rejected" and not measured:
        return True
    return measured and attempt.machine.get("cpu") == machine()["cpu"]


def substance(proposal: Mapping[str, Any]) -> dict[str, Any]:
    """A proposal as JSON values without what is said about it."""
    return {key: value for key, value in proposal.items() if key != "rationale"}
