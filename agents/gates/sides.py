"""The two sides of a differential test: original and proposal, each in a process, and the original in f64."""

from __future__ import annotations

import dataclasses
from collections.abc import Generator, Sequence
from typing import Literal

import numpy as np

from kc.agents.execution import engine
from kc.agents.execution.calls import Call, Checks, Engine, Order, Outcome, Role
from kc.agents.gates import lowered, sandbox
from kc.agents.gates.inputs import Planned
from kc.agents.gates.lane import Lane
from kc.agents.gates.reading import Reading
from kc.agents.gates.reasons import Rejection
from kc.agents.gates.values import Array, is_float
from kc.errors import InputError

#: CPU seconds that one call of the proposal may take: at least, and times those of the original
STEP, TIMES = 1.5, 50.0
#: CPU seconds of a call of the original, and of its run in higher precision
_TRUSTED = 20.0
#: scalar operations of a StableHLO region up to which its interpreter runs it, and kc's road beyond
_INTERPRETED = 1 << 17
#: CPU seconds of a compilation and the first call
_COMPILING = 20.0
#: calls in which the original may die before it is given up
_LOST = 8

Outcomes = Generator[Outcome | None, None, None]
Answers = Generator[Outcome | Rejection, None, None]


@dataclasses.dataclass(frozen=True)
class Form:
    """A module that is run: its text, the level at which it stands, and what was read of it."""

    text: str
    level: str
    reading: Reading


class Sides:
    """Runs the modules. ``runs`` counts calls of the proposal, ``slowest`` is the longest call of the original in s."""

    def __init__(self, original: Form, proposal: Form, target: str):
        self.original, self.proposal, self.target = original, proposal, target
        self.runs = 0
        self.slowest = 0.0
        self._engine: Engine | None = None
        self.form: lowered.Form | None = None
        if proposal.level != original.level:
            form = lowered.form_of(original.reading, proposal.reading)
            assert form in ("after", "last", "returned"), form
            self.form = form  # type: ignore[assignment]
            self._engine = "road" if original.level == "stablehlo" else None  # rounds as the lower levels do
        elif original.level == "stablehlo":
            much = max(original.reading.work, proposal.reading.work) > _INTERPRETED
            self._engine = "road" if much else engine(original.text, proposal.text)
        self._roles = roles(original.reading)
        self._alignments = alignments(original.reading)
        self._original = Lane(lambda calls: self._start(original, calls, self._checks(_TRUSTED), _TRUSTED))
        self._higher = Lane(lambda calls: self._start(original, calls, self._checks(_TRUSTED), _TRUSTED, True))
        self._proposal = Lane(lambda calls: self._start(proposal, calls, self._their_checks(STEP), STEP))
        self._watched = Lane(lambda calls: self._start(proposal, calls, self._their_checks(STEP, True), STEP))

    def close(self) -> None:
        """End all processes."""
        for lane in (self._original, self._higher, self._proposal, self._watched):
            lane.close()

    def original_outcomes(self, calls: Sequence[Call]) -> Outcomes:
        """What the original does in each call; None where it does not end well: there it promises nothing.

        The calls are under way when this returns.
        """
        answers = self._original.begin(calls)

        def read() -> Outcomes:
            lost = 0
            try:
                for got in answers:
                    if isinstance(got, Outcome):
                        self.slowest = max(self.slowest, got.seconds)
                        yield got if got.fault is None and not got.fatal else None
                        continue
                    lost += 1
                    if got.kind == "error" or lost > _LOST:
                        raise InputError(f"the original cannot be run: {got.message}")
                    yield None
            finally:
                answers.close()

        return read()

    def proposal_outcomes(self, calls: Sequence[Call], *, watched: bool = False) -> Answers:
        """What the proposal does in each call; a Rejection where its process dies.

        ``watched``: every access is seen. The calls are under way when this returns.
        """
        return self._read((self._watched if watched else self._proposal).begin(calls))

    def proposal_in_order(self, calls: Sequence[Call], order: Order) -> Answers:
        """The same with the iterations of parallel loops in that order."""
        checks = dataclasses.replace(self._their_checks(STEP), order=order)
        lane = Lane(lambda c: self._start(self.proposal, c, checks, STEP))
        try:
            yield from self._read(lane.begin(calls))
        finally:
            lane.close()

    def with_undefined(self, calls: Sequence[Call], side: Literal["original", "proposal"]) -> Answers:
        """What one side does where results that MLIR leaves undefined are numbers of their own."""
        original = side == "original"
        form, seconds = (self.original, _TRUSTED) if original else (self.proposal, STEP)
        checks = self._checks(seconds) if original else self._their_checks(seconds)
        checks = dataclasses.replace(checks, undefined=True)
        lane = Lane(lambda c: self._start(form, c, checks, seconds))
        try:
            yield from self._read(lane.begin(calls))
        finally:
            lane.close()

    def proposal_with_time(self, call: Call, seconds: float) -> Outcome | Rejection:
        """One call of the proposal that may take so many CPU seconds."""
        lane = Lane(lambda c: self._start(self.proposal, c, self._their_checks(seconds), seconds))
        try:
            return next(self._read(lane.begin([call])))
        finally:
            lane.close()

    def higher_outcomes(self, calls: Sequence[Call]) -> list[tuple[Array, ...] | None]:
        """Results of the original in f64; raises InputError where it cannot be run so."""
        found: list[tuple[Array, ...] | None] = []
        for got in self._higher.begin([_widened(call) for call in calls]):
            if isinstance(got, sandbox.End):
                raise InputError(f"no run in higher precision: {got.message}")
            found.append(got.results if got.fault is None else None)
        return found

    def lowered(self, planned: Sequence[Planned], outcomes: Sequence[Outcome | None]) -> list[Call]:
        """The calls as the proposal takes them, where it stands below its region."""
        if self.form is None:
            return [p.call for p in planned]
        kinds = self.original.reading.results
        nothing = Outcome(tuple(np.zeros((0,) * len(kind.shape), kind.dtype) for kind in kinds))
        return [
            lowered.call(p.call, outcome or nothing, self.form, len(kinds))
            for p, outcome in zip(planned, outcomes, strict=True)
        ]

    def traced(self) -> tuple[Checks, Checks]:
        """How the original and the proposal run when each step is recorded."""
        return self._checks(STEP), self._their_checks(STEP)

    def _read(self, answers: Generator[Outcome | sandbox.End, None, None]) -> Answers:
        try:
            for got in answers:
                self.runs += 1
                yield got if isinstance(got, Outcome) else _died(got)
        finally:
            answers.close()

    def _checks(self, seconds: float) -> Checks:
        return Checks(roles=self._roles, seconds=seconds, engine=self._engine, alignments=self._alignments)

    def _their_checks(self, seconds: float, watched: bool = False) -> Checks:
        checks = dataclasses.replace(self._checks(seconds), instrument=watched)
        if self.form is None:
            return checks
        kept = checks.alignments if self.proposal.level == "asm" else None  # the text may rely on them, as its original
        return dataclasses.replace(checks, roles=lowered.roles(self.original.reading, self.form), alignments=kept)

    def _start(
        self, form: Form, calls: Sequence[Call], checks: Checks, step: float, retyped: bool = False
    ) -> sandbox.Job:
        first = step + 1 if form.level == "stablehlo" else _COMPILING
        limits = sandbox.Limits(step=step, first=first, wall=600.0)
        arguments = (form.text, form.level, list(calls), checks, self.target, retyped)
        return sandbox.start("kc.agents.gates.tasks:execute", *arguments, limits=limits, inbox=True)


def roles(reading: Reading) -> tuple[Role, ...]:
    """What each argument is, by the contract."""
    return tuple("out" if a.out else "inout" if a.inout else "in" for a in reading.contract.arguments)


def alignments(reading: Reading) -> tuple[int, ...]:
    """Bytes to which the contract says that each argument's buffer is aligned; its element's size otherwise."""
    found = [max(1, kind.dtype.itemsize) for kind in reading.arguments]
    for fact in reading.contract.known:
        if fact.form == "align" and fact.argument < len(found):
            found[fact.argument] = max(found[fact.argument], fact.number)
    return tuple(found)


def _died(end: sandbox.End) -> Rejection:
    """Why a proposal's process did not live through a call."""
    if end.kind == "time":
        return Rejection("resource.time", "the call did not end in time")
    if end.kind == "memory":
        return Rejection("resource.memory", "the call ran out of memory")
    if end.kind == "error":
        assert end.error is not None
        name, text, _ = end.error
        if name in ("ExecutionError", "InputError", "CompileError", "UnsupportedError"):
            return Rejection("resource.unsupported", text)
        raise sandbox.SandboxError(f"running a proposal failed in kc itself: {name}: {text}\n{end.error[2]}")
    return Rejection("resource.crash", f"the process of the call {end.message}")


def _widened(call: Call) -> Call:
    """The call for the module in f64."""
    arrays = []
    for array in call.arguments:
        if is_float(array.dtype):
            arrays.append(array.astype(np.float64))
        else:
            arrays.append(array.astype(np.complex128) if array.dtype.kind == "c" else array)
    return dataclasses.replace(call, arguments=tuple(arrays))
