"""The differential test: original and proposal on the same inputs, in processes of their own, compared call by call."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Generator, Iterator, Sequence
from typing import Any, Literal

import numpy as np

from kc.agents.execution import engine
from kc.agents.execution.calls import Call, Checks, Engine, Outcome, Role
from kc.agents.gates import compare, lowered, sandbox
from kc.agents.gates.compare import Difference, Errors
from kc.agents.gates.inputs import Planned
from kc.agents.gates.policy import Policy
from kc.agents.gates.reading import Reading
from kc.agents.gates.reasons import Rejection
from kc.agents.gates.values import Array, is_float
from kc.errors import InputError

#: runs on inputs moved by a rounding of a call that seems to fail
_MOVED = 12
#: CPU seconds that one call may take: at least, and times that of the original
_STEP, _TIMES = 1.5, 50.0
#: bytes that a call may hold beyond its arguments and results: in all, and times the bytes of those
_SLACK, _SHARE = 64 << 20, 64


#: so many results that differ are judged as soon as they are there, the others at the end
_SOON = 12

Outcomes = Generator[Outcome | None, None, None]
Answers = Generator[Outcome | Rejection, None, None]


@dataclasses.dataclass(frozen=True)
class Form:
    """A module that is run: its text, the level at which it stands, and what was read of it."""

    text: str
    level: str
    reading: Reading


@dataclasses.dataclass(frozen=True)
class Failure:
    """A call at which a proposal is wrong, and why."""

    planned: Planned
    reason: str
    message: str
    difference: Difference | None = None
    finding: dict[str, Any] | None = None


#: a call, what the original did, and the proposal's results, which differ from it
Doubt = tuple[Planned, Outcome, tuple[Array, ...]]


class Tester:
    """Runs original and proposal on calls and says where they differ. ``runs`` counts calls of the proposal."""

    def __init__(self, original: Form, proposal: Form, policy: Policy, target: str = "cpu", seed: int = 0):
        self.original, self.proposal, self.policy, self.target = original, proposal, policy, target
        self.errors = Errors()
        self.runs = 0
        self.retypes = original.reading.bits < 53
        self._rng = np.random.default_rng(seed)
        self._random = random.Random(seed)
        self._roles = roles(original.reading)
        self._slowest = 0.0
        self._engine: Engine | None = None
        self._form: lowered.Form | None = None
        if proposal.level != original.level:
            form = lowered.form_of(original.reading, proposal.reading)
            assert form in ("after", "last", "returned"), form
            self._form = form  # type: ignore[assignment]
            self._engine = "road" if original.level == "stablehlo" else None  # rounds as the lower levels do
        elif original.level == "stablehlo":
            self._engine = engine(original.text, proposal.text)
        self._alignments = alignments(original.reading)

    # ---- runs

    def original_outcomes(self, calls: Sequence[Call], job: sandbox.Job | None = None) -> Outcomes:
        """What the original does in each call; None where it does not end well: there it promises nothing.

        ``job``: one that runs these calls already.
        """
        done = lost = 0
        try:
            while done < len(calls):
                job = job or self.start_original(calls[done:])
                for outcome in _outcomes(job):
                    done += 1
                    self._slowest = max(self._slowest, outcome.seconds)
                    yield outcome if outcome.fault is None and not outcome.fatal else None
                end, job = job.end, None
                assert end is not None
                if end.kind == "error" or (end.kind != "ok" and lost >= 8):
                    raise InputError(f"the original cannot be run: {end.message}")
                if done < len(calls):
                    done, lost = done + 1, lost + 1
                    yield None  # the call in which it died
        finally:
            if job is not None:
                job.close()

    def start_original(self, calls: Sequence[Call]) -> sandbox.Job:
        """Start running the original on ``calls``."""
        return self._start(self.original, calls, self._checks(Checks(), self._roles, 20.0), step=20.0)

    def proposal_outcomes(
        self, calls: Sequence[Call], checks: Checks | None = None, job: sandbox.Job | None = None
    ) -> Answers:
        """What the proposal does in each call; a Rejection where its process dies, after which the next call comes."""
        done = 0
        try:
            while done < len(calls):
                job = job or self.start_proposal(calls[done:], checks)
                for outcome in _outcomes(job):
                    done += 1
                    self.runs += 1
                    yield outcome
                end, job = job.end, None
                if end is None or end.kind == "ok":
                    break
                done += 1
                yield _died(end)
        finally:
            if job is not None:
                job.close()

    def start_proposal(self, calls: Sequence[Call], checks: Checks | None = None) -> sandbox.Job:
        """Start running the proposal on ``calls``."""
        step = max(_STEP, _TIMES * self._slowest)
        checks = self._checks(checks or Checks(), self._their_roles(), step)
        return self._start(self.proposal, calls, checks, step=step)

    def _their_roles(self) -> tuple[Role, ...]:
        return self._roles if self._form is None else lowered.roles(self.original.reading, self._form)

    def _checks(self, checks: Checks, roles: tuple[Role, ...], seconds: float) -> Checks:
        return dataclasses.replace(
            checks,
            roles=roles,
            seconds=seconds,
            engine=self._engine,
            alignments=self._alignments if self._form is None else None,
        )

    def _start(
        self, form: Form, calls: Sequence[Call], checks: Checks, *, step: float, retyped: bool = False
    ) -> sandbox.Job:
        limits = sandbox.Limits(step=max(step, 10.0) if retyped else step, wall=240.0)
        return sandbox.start(
            "kc.agents.gates.tasks:execute",
            form.text,
            form.level,
            list(calls),
            checks,
            self.target,
            retyped,
            limits=limits,
        )

    # ---- verdicts

    def trial(
        self, planned: Sequence[Planned], large: Sequence[Planned], again: Sequence[int]
    ) -> tuple[Failure | None, list[Outcome | None]]:
        """The first failure over ``planned`` and ``large``, and the original's outcomes of these.

        Both sides run at the same time. The calls of ``planned`` named in ``again`` are made twice, the second time in
        another order, over other memory: the proposal must give the same bits.
        """
        order = list(again)
        self._random.shuffle(order)
        both = [*planned, *large]
        calls = [p.call for p in both]
        wants = self.original_outcomes(calls, self.start_original(calls))
        if self._form is not None:  # the shapes of the results are needed first
            known = list(wants)
            wants = (outcome for outcome in known)
            calls = self._lowered(both, known)
        theirs = [*calls[: len(planned)], *(_varied(calls[k], n) for n, k in enumerate(order)), *calls[len(planned) :]]
        outcomes: list[Outcome | None] = []
        results: list[tuple[Array, ...] | None] = []
        answers = self.proposal_outcomes(theirs, None, self.start_proposal(theirs))
        try:
            failure = self._compare(planned, wants, answers, outcomes, results)
            if failure is None and all(outcome is None for outcome in outcomes):
                raise InputError("the original ends no call well: its contract allows inputs that it cannot take")
            failure = (
                failure
                or self._again(planned, order, answers, outcomes, results)
                or self._compare(large, wants, answers, outcomes, results)
            )
        finally:
            wants.close()
            answers.close()
        return failure, outcomes

    def reads_nothing_unwritten(self, planned: Sequence[Planned], outcomes: Sequence[Outcome | None]) -> Failure | None:
        """Whether results stay the same whatever bytes stand in memory that nobody wrote."""
        first: list[tuple[Array, ...]] = []
        for poison in _POISONS:
            calls = [dataclasses.replace(c, poison=poison) for c in self._lowered(planned, outcomes)]
            for number, got in enumerate(self.proposal_outcomes(calls)):
                if isinstance(got, Rejection) or got.fault is not None:
                    message = f"over memory filled with 0x{poison:02X} the call does not end well"
                    return Failure(planned[number], "aliasing.uninitialised", message)
                if poison == _POISONS[0]:
                    first.append(got.results)
                    continue
                difference = compare.exact(got.results, first[number], _SAME)
                if difference is not None:
                    message = f"over memory filled with 0x{poison:02X} instead of 0x{_POISONS[0]:02X}, {difference}"
                    return Failure(planned[number], "aliasing.uninitialised", message, difference)
        return None

    def first_failure(
        self,
        planned: Sequence[Planned],
        outcomes: Sequence[Outcome | None],
        checks: Checks | None = None,
        seen: list[Outcome] | None = None,
    ) -> Failure | None:
        """The first call at which the proposal misbehaves or differs from ``outcomes`` (None: pass over).

        ``seen`` takes what the proposal did in each call.
        """
        answers = self.proposal_outcomes(self._lowered(planned, outcomes), checks)
        try:
            return self._compare(planned, iter(outcomes), answers, [], [], seen)
        finally:
            answers.close()

    def _compare(
        self,
        planned: Sequence[Planned],
        wants: Iterator[Outcome | None],
        answers: Answers,
        outcomes: list[Outcome | None],
        results: list[tuple[Array, ...] | None],
        seen: list[Outcome] | None = None,
    ) -> Failure | None:
        doubtful: list[Doubt] = []
        soon = _SOON
        for plan, want in zip(planned, wants, strict=False):
            outcomes.append(want)
            got = next(answers, None)
            if got is None:
                return Failure(plan, "resource.crash", "the run ended before this call")
            if want is not None:
                got = self._given_time(plan, got, want)
            results.append(got.results if isinstance(got, Outcome) and got.fault is None else None)
            if want is None:
                continue
            if isinstance(got, Rejection):
                return Failure(plan, got.reason, got.message)
            if seen is not None:
                seen.append(got)
            found = self.misbehaviour(plan, got, want)
            if found is not None:
                return found
            difference = compare.exact(got.results, want.results, self.policy)
            if difference is None:
                continue
            if self.policy.exact or difference.reason == "numeric.shape":
                return Failure(plan, difference.reason, str(difference), difference)
            doubtful.append((plan, want, got.results))
            if len(doubtful) >= soon:
                failure = self._judge_doubtful(doubtful)
                if failure is not None:
                    return failure
                doubtful, soon = [], 10_000
        return self._judge_doubtful(doubtful) if doubtful else None

    def _again(
        self,
        planned: Sequence[Planned],
        order: Sequence[int],
        answers: Answers,
        outcomes: Sequence[Outcome | None],
        results: Sequence[tuple[Array, ...] | None],
    ) -> Failure | None:
        """The second round: the proposal must give the same bits."""
        for k, got in zip(order, answers, strict=False):
            want, first = outcomes[k], results[k]
            if want is None or first is None:
                continue
            if isinstance(got, Rejection):
                return Failure(planned[k], got.reason, got.message)
            found = self.misbehaviour(planned[k], got, want)
            if found is not None:
                return found
            difference = compare.exact(got.results, first, _SAME)
            if difference is not None:
                message = f"over memory that held other bytes before, or after other calls, {difference}"
                return Failure(planned[k], "aliasing.uninitialised", message, difference)
        return None

    def _given_time(self, planned: Planned, got: Outcome | Rejection, want: Outcome) -> Outcome | Rejection:
        """What came of a call once it had as much time as the original's own asks for."""
        late = (
            got.reason == "resource.time"
            if isinstance(got, Rejection)
            else (got.fault is not None and got.fault.kind == "time")
        )
        if not late or _TIMES * want.seconds <= _STEP:
            return got
        return next(self.proposal_outcomes(self._lowered([planned], [want])), got)

    def _lowered(self, planned: Sequence[Planned], outcomes: Sequence[Outcome | None]) -> list[Call]:
        """The calls as the proposal takes them."""
        if self._form is None:
            return [p.call for p in planned]
        count = len(self.original.reading.results)
        nothing = Outcome(tuple(np.zeros((0,) * len(k.shape), k.dtype) for k in self.original.reading.results))
        return [
            lowered.call(p.call, outcome or nothing, self._form, count)
            for p, outcome in zip(planned, outcomes, strict=True)
        ]

    def misbehaviour(self, planned: Planned, got: Outcome, want: Outcome) -> Failure | None:
        """What a call did beside its results."""
        if got.fault is not None:
            return Failure(planned, _FAULTS.get(got.fault.kind, "resource.crash"), got.fault.message)
        if got.mutated:
            return Failure(planned, "aliasing.read-only", f"argument {got.mutated[0]}, which is read-only, was changed")
        if got.outside:
            return Failure(planned, "aliasing.bounds", f"memory around argument {got.outside[0]} was changed")
        if got.heap:
            return Failure(planned, "aliasing.heap", f"heap: {', '.join(got.heap)}")
        for findings, reason in (
            (got.bounds, "aliasing.bounds"),
            (got.writes, "aliasing.read-only"),
            (got.races, "race.conflict"),
            (got.divergence, "race.barrier"),
        ):
            if findings:
                return Failure(
                    planned, reason, findings[0].message or str(findings[0].to_json()), finding=findings[0].to_json()
                )
        if got.leaked > want.leaked:
            return Failure(planned, "resource.leak", f"{got.leaked} allocations were not freed")
        size = sum(a.nbytes for a in (*planned.call.arguments, *got.results))
        if got.peak > 4 * want.peak + _SHARE * size + _SLACK:
            return Failure(
                planned, "resource.allocation", f"{got.peak:,} bytes were allocated for {size:,} bytes of data"
            )
        return None

    def _judge_doubtful(self, doubtful: Sequence[Doubt]) -> Failure | None:
        """Of results that differ, the first that no bound excuses."""
        references = self.references(doubtful, 2)
        worse = [doubt for doubt, runs in zip(doubtful, references, strict=True) if self._excess(doubt, runs)]
        while worse:  # a few moved runs may all by chance move a result too little: look again with more
            again, worse = worse[:_SOON], worse[_SOON:]
            for doubt, runs in zip(again, self.references(again, _MOVED), strict=True):
                found = self._excess(doubt, runs)
                if found is not None:
                    return Failure(doubt[0], found.reason, str(found), found)
        return None

    def _excess(self, doubt: Doubt, runs: list[tuple[Array, ...]]) -> Difference | None:
        plan, want, got = doubt
        length = sum_length(plan.call.arguments, want.results)
        return compare.bounded(got, want.results, runs, self.policy, length, self.errors, huge=plan.huge)

    def references(self, doubtful: Sequence[Doubt], moved: int) -> list[list[tuple[Array, ...]]]:
        """Of each call the results in higher precision, on its inputs and, ``moved`` times, on inputs moved a little.

        Where there is no such run, the original's own results stand for the truth.
        """
        calls = [plan.call for plan, _, _ in doubtful]
        results: list[tuple[Array, ...] | None] = []
        if self.retypes:
            try:
                flat = [c for call in calls for c in (call, *self._moves(call, moved))]
                results = self._higher([_widened(c) for c in flat])
            except InputError:
                self.retypes = False
        if not self.retypes:
            flat = [c for call in calls for c in (call, *(_rounded(m, call) for m in self._moves(call, moved)))]
            results = [o.results if o is not None else None for o in self.original_outcomes(flat)]
        found = []
        for number, (_, want, _) in enumerate(doubtful):
            group = results[number * (moved + 1) : (number + 1) * (moved + 1)]
            runs = [r for r in group if r is not None] if group and group[0] is not None else []
            found.append(runs if self.retypes and runs else [want.results, *runs])
        return found

    def _moves(self, call: Call, count: int) -> list[Call]:
        return [self._moved(call, alike=number % 2 == 1) for number in range(count)]

    def _higher(self, calls: Sequence[Call]) -> list[tuple[Array, ...] | None]:
        checks = self._checks(Checks(), self._roles, 20.0)
        job = self._start(self.original, calls, checks, step=20.0, retyped=True)
        found: list[tuple[Array, ...] | None] = [o.results if o.fault is None else None for o in _outcomes(job)]
        if job.end is not None and job.end.kind != "ok" and len(found) < len(calls):
            raise InputError(f"no run in higher precision: {job.end.message}")
        return found

    def _moved(self, call: Call, alike: bool) -> Call:
        """The call with each float moved by up to one rounding of the precision in which the original computes.

        ``alike``: equal values move alike, as they do when they are rounded.
        """
        arrays = []
        unit = self.policy.unit if self.retypes else 2 * self.policy.unit  # what is rounded again must move at all
        for array in call.arguments:
            if is_float(array.dtype) or array.dtype.kind == "c":
                wide = array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)
                shift = self._rng.uniform(-1, 1, wide.shape)
                if alike and wide.size:
                    _, kinds = np.unique(wide, return_inverse=True)
                    shift = shift.reshape(-1)[kinds.reshape(-1)].reshape(wide.shape)
                with np.errstate(all="ignore"):
                    arrays.append(np.asarray(wide * (1 + unit * shift)))
            else:
                arrays.append(array)
        return dataclasses.replace(call, arguments=tuple(arrays))


#: what fills memory that nobody wrote, when something is read from there
_POISONS = (0x00, 0xA5, 0xFF, 0x7F, 0x3F, 0x80, 0x01)

#: the policy under which a proposal is compared with itself
_SAME = Policy()

_FAULTS = {
    "read-only": "aliasing.read-only",
    "bounds": "aliasing.bounds",
    "memory": "aliasing.bounds",
    "stack": "resource.stack",
    "time": "resource.time",
    "allocation": "resource.allocation",
    "arithmetic": "aliasing.abort",
    "abort": "aliasing.abort",
    "barrier": "race.barrier",
    "signal": "resource.crash",
}


def _varied(call: Call, number: int) -> Call:
    """The call of the second round: other poison, another side for the guard page, other strides."""
    sides: tuple[Literal["none", "before"], ...] = ("none", "before")
    return dataclasses.replace(call, poison=0xFF, guard=sides[number % 2], strided=number % 3 == 0)


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


def sum_length(arguments: Sequence[Array], results: Sequence[Array]) -> int:
    """A guess at the length of the longest sum: the longest axis, or the elements that one result is made of."""
    longest = max((extent for a in arguments for extent in a.shape), default=1)
    most = max((a.size for a in arguments), default=1)
    least = min((r.size for r in results if r.size and is_float(r.dtype)), default=1)
    return int(max(longest, -(-most // max(1, least)), 1))


def _outcomes(job: sandbox.Job) -> Iterator[Outcome]:
    for message in job:
        if isinstance(message, Outcome):
            yield message


def _died(end: sandbox.End) -> Rejection:
    """Why a proposal's process did not live through all calls."""
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
            arrays.append(compare.widen(array))
        else:
            arrays.append(array.astype(np.complex128) if array.dtype.kind == "c" else array)
    return dataclasses.replace(call, arguments=tuple(arrays))


def _rounded(call: Call, original: Call) -> Call:
    """The call in the types of ``original``."""
    with np.errstate(all="ignore"):
        arrays = [a.astype(b.dtype) for a, b in zip(call.arguments, original.arguments, strict=True)]
    return dataclasses.replace(call, arguments=tuple(arrays))
