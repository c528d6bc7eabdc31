"""``judge``: a proposal through all gates, in order, to a verdict."""

from __future__ import annotations

import secrets
import time
from collections import OrderedDict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from kc.agents.gates import asm_level, sandbox, torch_level
from kc.agents.gates.reasons import Rejection
from kc.agents.protocol import Gate, Proposal, ProtocolError, Verdict
from kc.errors import InputError

if TYPE_CHECKING:
    from kc.agents.gates.differential import Form

#: readings of originals that are kept
_KEPT = 64
#: CPU seconds in which an original is tested against itself
_ITSELF = 5.0
#: characters of a message: names of a stranger's are quoted in it
_TOLD = 8_000
_readings: OrderedDict[tuple[str, str], Any] = OrderedDict()


def judge(
    original: str,
    proposal: Proposal | Mapping[str, Any],
    level: str = "linalg",
    target: str = "cpu",
    timing: bool = False,
    seed: int | None = None,
    budget: float | None = None,
) -> Verdict:
    """Whether ``proposal`` may take the place of ``original``, a module with ``@main`` under contract attributes.

    ``seed`` fixes the inputs (fresh ones otherwise); ``budget``: CPU seconds of differential testing. Never raises for
    a bad proposal; raises InputError for a bad original.
    """
    from kc.levels import level_named

    level_named(level)
    from_torch = level == torch_level.LEVEL
    above = original
    machine = original if level == asm_level.LEVEL else None
    if from_torch:
        original, level = torch_level.original_below(original), torch_level.BELOW
    elif machine is not None:
        original, level = asm_level.reference(original, target), asm_level.ABOVE
    trial = _Trial(original, level, target, seed, budget)
    trial.machine = machine
    trial.read_original()
    try:
        made = proposal if isinstance(proposal, Proposal) else Proposal.from_json(_stripped(proposal))
    except ProtocolError as error:
        return trial.rejected(Rejection("parse.message", str(error)))
    below = torch_level.proposal_below(above, made) if from_torch else made
    trial.ours = below is not made
    found = below if isinstance(below, Rejection) else trial.run(below, timing)
    if found is not None and from_torch and trial.ours and made.ir is not None:
        found = torch_level.above(found, made.ir)
    return trial.rejected(found) if found is not None else trial.accepted()


def _stripped(proposal: Any) -> Any:
    return dict(proposal) if isinstance(proposal, Mapping) else proposal


class _Trial:
    """One judgement under way: what was passed, what it took."""

    def __init__(self, original: str, level: str, target: str, seed: int | None, budget: float | None):
        #: whether kc's own road made the text of the proposal
        self.ours = False
        #: at level asm: the region's text; ``original`` is its reference
        self.machine: str | None = None
        self.original, self.level, self.target = original, level, target
        self.seed = secrets.randbits(64) if seed is None else seed
        self.budget = budget
        self.seconds: dict[str, float] = {}
        self.runs = 0
        self.errors: dict[str, float] | None = None
        self.timing: dict[str, Any] | None = None
        self.reading: Any = None

    def read_original(self) -> None:
        """What the original is; raises InputError when it is not fit to be one."""
        key = (self.level, self.original)
        if key not in _readings:
            messages, end = sandbox.call("kc.agents.gates.tasks:read_original", self.original, level=self.level)
            if end.kind != "ok":
                raise InputError(f"the original cannot be read: {end.message}")
            ((kind, value),) = messages
            if kind == "bad":
                raise InputError(f"the original cannot be judged against: {value}")
            _readings[key] = value
            if len(_readings) > _KEPT:
                _readings.popitem(last=False)
        _readings.move_to_end(key)
        self.reading = _readings[key]

    def run(self, proposal: Proposal, timing: bool) -> Rejection | None:
        """All gates; the first rejection."""
        from kc.agents.gates.differential import Form
        from kc.agents.gates.realized import ARTIFACT, realize

        if proposal.kind == "keep":
            return None
        if self.machine is None and (self.level, proposal.level) == (asm_level.ABOVE, asm_level.LEVEL):
            machine = asm_level.region_of(self.original, self.target)
            if isinstance(machine, Rejection):
                return machine
            self.machine = machine
        if self.machine is not None:
            return self.run_machine(self.machine, proposal, timing)
        form = realize(self.original, proposal, self.level, self.target)
        if isinstance(form, Rejection):
            return form
        text, level = form
        if level == ARTIFACT:
            return self.run_artifact(proposal, timing)
        reading = self.static(text, level, proposal)
        if isinstance(reading, Rejection):
            return reading
        found = self.dynamic(Form(text, level, reading), proposal)
        return found if found is not None or not timing else self.time(text, level, proposal)

    def run_machine(self, region: str, proposal: Proposal, timing: bool) -> Rejection | None:
        """The gates of machine code."""
        start = time.perf_counter()
        form = asm_level.form(region, proposal, self.target, self.reading)
        if isinstance(form, Rejection):
            return form
        self.seconds["level"] = time.perf_counter() - start
        found = self.dynamic(form, proposal)
        if found is not None or not timing:
            return found
        assert proposal.ir is not None
        return self.time(proposal.ir, asm_level.LEVEL, proposal)

    def dynamic(self, form: Form, proposal: Proposal) -> Rejection | None:
        """The gates that run the proposal."""
        from kc.agents.gates import diverging
        from kc.agents.gates.assumptions import guard_parts
        from kc.agents.gates.differential import Form
        from kc.agents.gates.dynamic import Setting, test

        start = time.perf_counter()
        guard = tuple(guard_parts(proposal.guard)) if proposal.guard else ()
        original = Form(self.original, self.level, self.reading)
        report = test(Setting(original, form, self.target, self.seed, self.budget, guard))
        self.runs, self.errors = report.runs, report.errors
        if report.rejection is None:
            taken = time.perf_counter() - start
            self.seconds.update({"race": report.race_seconds, "numeric": taken - report.race_seconds})
            return None
        if self.reading.unnamed:
            self.pass_itself(original)
        return report.rejection if form.text == proposal.ir else diverging.unplaced(report.rejection)

    def pass_itself(self, original: Form) -> None:
        """Raise InputError when the original fails its own test, for want of names of sizes that go together."""
        from kc.agents.gates.dynamic import Setting, test
        from kc.agents.gates.naming import complaint

        alone = test(Setting(original, original, self.target, self.seed, _ITSELF, ()))
        if alone.rejection is not None:
            raise InputError(complaint(self.reading, alone.rejection.message))

    def run_artifact(self, proposal: Proposal, timing: bool) -> Rejection | None:
        """The gates of a proposal that runs in kc's own artifacts only."""
        from kc.agents.gates import packed

        start = time.perf_counter()
        found = packed.test(self.original, self.reading, proposal, self.level, self.target, self.seed, timing)
        self.runs, self.errors, self.timing = found.runs, found.errors, found.timing
        self.seconds["numeric"] = time.perf_counter() - start
        return found.rejection

    def time(self, text: str, level: str, proposal: Proposal) -> Rejection | None:
        """The timing gate."""
        from kc.agents.gates import timing
        from kc.agents.gates.assumptions import guard_parts

        start = time.perf_counter()
        original, own = (self.original, self.level) if self.machine is None else (self.machine, asm_level.LEVEL)
        guard = tuple(guard_parts(proposal.guard)) if proposal.guard else ()
        found = timing.check(original, text, level=own, proposal_level=level, target=self.target, guard=guard)
        self.seconds["timing"] = time.perf_counter() - start
        self.timing = found.figures
        return Rejection(found.reason, found.message) if found.reason is not None else None

    def static(self, text: str, level: str, proposal: Proposal) -> Any:
        """The gates that do not run the proposal: its Reading, or a Rejection."""
        job = sandbox.start(
            "kc.agents.gates.tasks:inspect",
            self.original,
            text,
            level,
            level == self.level,
            proposal.assumes,
            proposal.guard,
            self.ours or proposal.kind == "schedule",
            limits=sandbox.Limits(step=10.0, wall=60.0),
        )
        found: Any = None
        for message in job:
            if isinstance(message, Rejection):
                found = message
            elif message[0] == "passed":
                self.seconds[message[1]] = message[2]
            else:
                found = message[1]
        end = job.end
        assert end is not None
        if end.kind == "ok":
            return found
        if end.kind == "error":
            raise sandbox.SandboxError(f"a static gate failed: {end.error}")
        return Rejection(f"parse.{end.kind}", f"reading the proposal: {end.message}")

    def rejected(self, found: Rejection) -> Verdict:
        """The verdict of a rejection."""
        return Verdict(
            False,
            cast(Gate, found.gate),
            found.reason,
            found.message if len(found.message) <= _TOLD else f"{found.message[:_TOLD]} …",
            found.witness,
            found.op,
            self.errors,
            self.timing,
            self.seconds,
            self.runs,
        )

    def accepted(self) -> Verdict:
        """The verdict when every gate was passed."""
        return Verdict(True, errors=self.errors, timing=self.timing, seconds=self.seconds, runs=self.runs)
