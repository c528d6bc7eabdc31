"""The differential test: original and proposal on the same inputs, compared call by call."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Iterator, Sequence
from typing import Any, Literal

import numpy as np

from kc.agents.execution.calls import Call, Order, Outcome
from kc.agents.gates import compare
from kc.agents.gates.compare import Difference, Errors
from kc.agents.gates.inputs import Planned
from kc.agents.gates.policy import Policy
from kc.agents.gates.reasons import Rejection
from kc.agents.gates.references import References, sum_length
from kc.agents.gates.sides import STEP, TIMES, Answers, Form, Outcomes, Sides
from kc.agents.gates.values import Array
from kc.errors import InputError

__all__ = ["Doubt", "Failure", "Form", "Tester"]

#: runs on inputs moved by a rounding, of every call whose results differ, and of one that seems to fail
_FEW, _MANY = 2, 12
#: bytes that a call may hold beyond its arguments and results: in all, and times the bytes of those
_SLACK, _SHARE = 64 << 20, 64
#: calls that are made before anybody looks whether to go on; results that differ and are judged at once
_CHUNKS, _SOON = (8, 16, 16, 32, 64), 12
#: calls that are made however long they take, and those of them that are made twice
_LEAST, _FEWEST = 40, 8
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
    "convention": "signature.convention",
    "signal": "resource.crash",
}

#: a call, what the original did, and the proposal's results, which differ from it
Doubt = tuple[Planned, Outcome, tuple[Array, ...]]
Results = list[tuple[Array, ...] | None]


@dataclasses.dataclass(frozen=True)
class Failure:
    """A call at which a proposal is wrong, and why."""

    planned: Planned
    reason: str
    message: str
    difference: Difference | None = None
    finding: dict[str, Any] | None = None
    #: of the result that differs
    shape: tuple[int, ...] = ()

    @classmethod
    def of(cls, planned: Planned, difference: Difference, results: Sequence[Array]) -> Failure:
        """The failure that a difference of results is."""
        shape = results[difference.result].shape if difference.result < len(results) else ()
        return cls(planned, difference.reason, str(difference), difference, shape=shape)


class Tester:
    """Says where a proposal differs from its original."""

    def __init__(self, original: Form, proposal: Form, policy: Policy, target: str = "cpu", seed: int = 0):
        self.sides = Sides(original, proposal, target)
        self.policy = policy
        self.errors = Errors()
        self._spent = 0.0
        self.references = References(self.sides, original.reading.bits < 53, policy, seed)
        self._random = random.Random(seed)

    def original_outcomes(self, calls: Sequence[Call]) -> Outcomes:
        """What the original does in each call; None where it does not end well."""
        return self.sides.original_outcomes(calls)

    # ---- whole tests

    def trial(
        self, planned: Sequence[Planned], large: Sequence[Planned], again: Sequence[int], seconds: float
    ) -> tuple[Failure | None, list[Outcome | None]]:
        """The first failure over ``planned`` and ``large``, and the original's outcomes of these.

        The calls of ``planned`` named in ``again`` are made twice, the second time in another order, over other
        memory: the proposal must give the same bits. ``seconds`` of CPU time that the calls themselves may take: those
        beyond the first ``_LEAST`` are left out after that. Nothing hangs on how busy the machine is.
        """
        self._spent = 0.0
        outcomes: list[Outcome | None] = []
        results: Results = []
        doubts: list[Doubt] = []
        for chunk in (*_chunks(planned), list(large)):
            if not chunk:
                continue
            failure = self._both(chunk, outcomes, results, doubts)
            if failure is None and len(doubts) >= _SOON:
                failure, doubts = self._judge(doubts), []
            if failure is not None:
                return failure, outcomes
            if len(outcomes) >= _LEAST and self._spent > seconds:
                break
        if all(outcome is None for outcome in outcomes):
            raise InputError("the original ends no call well: its contract allows inputs that it cannot take")
        failure = self._judge(doubts)
        order = [k for k in again if k < min(len(outcomes), len(planned))]
        spent = self._spent / max(1, len(outcomes))
        order = order[: max(_FEWEST, int(seconds / max(spent, 1e-9)))]
        return failure or self._again(planned, order, outcomes, results), outcomes

    def watched(
        self, planned: Sequence[Planned], outcomes: Sequence[Outcome | None], orders: Sequence[Order]
    ) -> Failure | None:
        """The first failure when every access is seen, and in each order of the parallel iterations."""
        calls = self.sides.lowered(planned, outcomes)
        doubts: list[Doubt] = []
        seen: list[Outcome] = []
        answers = self.sides.proposal_outcomes(calls, watched=True)
        failure = self._compare(planned, iter(outcomes), answers, [], [], doubts, seen) or self._judge(doubts)
        if failure is not None:
            return failure
        unwritten = [k for k, outcome in enumerate(seen) if outcome.uninitialised]
        if unwritten:
            failure = self._poisoned([planned[k] for k in unwritten], [calls[k] for k in unwritten])
        for order in orders if failure is None else ():
            doubts = []
            answers = self.sides.proposal_in_order(calls, order)
            failure = self._compare(planned, iter(outcomes), answers, [], [], doubts) or self._judge(doubts)
            if failure is not None and failure.reason.startswith("numeric"):
                message = f"with parallel iterations {order}: {failure.message}"
                return dataclasses.replace(failure, reason="race.order", message=message)
            if failure is not None:
                return failure
        return failure

    def undefined(self, planned: Sequence[Planned], outcomes: Sequence[Outcome | None]) -> Failure | None:
        """The first result of the proposal that hangs on what MLIR leaves undefined, where the original's does not."""
        chosen = [(p, want) for p, want in zip(planned, outcomes, strict=False) if want is not None]
        if not chosen:
            return None
        plans, wants = [p for p, _ in chosen], [want for _, want in chosen]
        answers = self.sides.with_undefined(self.sides.lowered(plans, wants), "proposal")
        different: list[tuple[Planned, Outcome, tuple[Array, ...]]] = []
        for plan, want, got in zip(plans, wants, answers, strict=False):
            if isinstance(got, Outcome) and got.fault is None and compare.exact(got.results, want.results, self.policy):
                different.append((plan, want, got.results))
        if not different:
            return None
        if self.sides.original.level == self.sides.proposal.level:  # what it leaves undefined itself may be anything
            calls = [plan.call for plan, _, _ in different]
            kept = zip(different, self.sides.with_undefined(calls, "original"), strict=False)
            different = [(p, want, _where(got, want, told)) for (p, want, got), told in kept]
        doubts: list[Doubt] = []
        for plan, want, results in different:
            difference = compare.exact(results, want.results, self.policy)
            if difference is not None and self.policy.exact:
                return _undefined(Failure.of(plan, difference, results))
            if difference is not None:
                doubts.append((plan, want, results))
        failure = self._judge(doubts)
        return _undefined(failure) if failure is not None else None

    def failures(self, planned: Sequence[Planned]) -> list[Failure | None]:
        """Of each call, whether and how the proposal fails in it."""
        outcomes = list(self.sides.original_outcomes([p.call for p in planned]))
        answers = self.sides.proposal_outcomes(self.sides.lowered(planned, outcomes))
        found: list[Failure | None] = []
        doubts: list[tuple[int, Doubt]] = []
        for plan, want, got in zip(planned, outcomes, answers, strict=False):
            failure = self._one(plan, got, want) if want is not None else None
            if isinstance(failure, tuple):
                doubts.append((len(found), failure))
                failure = None
            found.append(failure)
        if doubts:
            references = self.references.of([(plan.call, want) for _, (plan, want, _) in doubts], _MANY)
            for (number, doubt), runs in zip(doubts, references, strict=True):
                difference = self._excess(doubt, runs)
                found[number] = Failure.of(doubt[0], difference, doubt[2]) if difference is not None else None
        return found

    # ---- parts of tests

    def _both(
        self, planned: Sequence[Planned], outcomes: list[Outcome | None], results: Results, doubts: list[Doubt]
    ) -> Failure | None:
        """Make calls on both sides at the same time and compare."""
        calls = [p.call for p in planned]
        wants: Iterator[Outcome | None] = self.sides.original_outcomes(calls)
        if self.sides.form is not None:  # the shapes of the results are needed first
            known = list(wants)
            calls, wants = self.sides.lowered(planned, known), iter(known)
        return self._compare(planned, wants, self.sides.proposal_outcomes(calls), outcomes, results, doubts)

    def _compare(
        self,
        planned: Sequence[Planned],
        wants: Iterator[Outcome | None],
        answers: Answers,
        outcomes: list[Outcome | None],
        results: Results,
        doubts: list[Doubt],
        seen: list[Outcome] | None = None,
    ) -> Failure | None:
        """The first failure; the lists take the original's outcomes, results, what a bound may excuse, and all seen."""
        try:
            for plan, want, got in zip(planned, wants, answers, strict=True):
                outcomes.append(want)
                self._spent += _cpu_seconds(want) + _cpu_seconds(got)
                got = self._given_time(plan, got, want) if want is not None else got
                results.append(got.results if isinstance(got, Outcome) and got.fault is None else None)
                if seen is not None:
                    seen.append(got if isinstance(got, Outcome) else Outcome())
                found = self._one(plan, got, want) if want is not None else None
                if isinstance(found, Failure):
                    return found
                if found is not None:
                    doubts.append(found)
        finally:
            answers.close()
        return None

    def _one(self, plan: Planned, got: Outcome | Rejection, want: Outcome) -> Failure | Doubt | None:
        """What is wrong with one call, or results that differ and that a bound may excuse."""
        if isinstance(got, Rejection):
            return Failure(plan, got.reason, got.message)
        found = _misbehaviour(plan, got, want)
        if found is not None:
            return found
        difference = compare.exact(got.results, want.results, self.policy)
        if difference is None:
            return None
        if self.policy.exact or difference.reason == "numeric.shape":
            return Failure.of(plan, difference, got.results)
        return plan, want, got.results

    def _given_time(self, planned: Planned, got: Outcome | Rejection, want: Outcome) -> Outcome | Rejection:
        """What came of a call once it had as much time as the original's own asks for."""
        fault = got.fault.kind if isinstance(got, Outcome) and got.fault is not None else None
        late = fault == "time" or (isinstance(got, Rejection) and got.reason == "resource.time")
        if not late or TIMES * want.seconds <= STEP:
            return got
        return self.sides.proposal_with_time(self.sides.lowered([planned], [want])[0], TIMES * want.seconds)

    def _again(
        self, planned: Sequence[Planned], order: list[int], outcomes: Sequence[Outcome | None], results: Results
    ) -> Failure | None:
        """The second round: the proposal must give the same bits."""
        self._random.shuffle(order)
        calls = self.sides.lowered([planned[k] for k in order], [outcomes[k] for k in order])
        answers = self.sides.proposal_outcomes([_varied(call, n) for n, call in enumerate(calls)])
        try:
            for k, got in zip(order, answers, strict=True):
                want, first = outcomes[k], results[k]
                if want is None or first is None:
                    continue
                if isinstance(got, Rejection):
                    return Failure(planned[k], got.reason, got.message)
                found = _misbehaviour(planned[k], got, want)
                if found is not None:
                    return found
                difference = compare.exact(got.results, first, _SAME)
                if difference is not None:
                    message = f"over memory that held other bytes before, or after other calls, {difference}"
                    interpreted = self.sides.proposal.level == "stablehlo"  # there it has no memory to read
                    reason = "numeric.nondeterministic" if interpreted else "aliasing.uninitialised"
                    return Failure(planned[k], reason, message, difference)
        finally:
            answers.close()
        return None

    def _poisoned(self, planned: Sequence[Planned], calls: Sequence[Call]) -> Failure | None:
        """Whether results stay the same whatever bytes stand in memory that nobody wrote."""
        first: list[tuple[Array, ...]] = []
        for poison in _POISONS:
            answers = self.sides.proposal_outcomes([dataclasses.replace(c, poison=poison) for c in calls])
            for number, got in enumerate(answers):
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

    # ---- bounds

    def _judge(self, doubts: Sequence[Doubt]) -> Failure | None:
        """Of results that differ, the first that no bound excuses."""
        if not doubts:
            return None
        references = self.references.of([(plan.call, want) for plan, want, _ in doubts], _FEW)
        worse = [doubt for doubt, runs in zip(doubts, references, strict=True) if self._excess(doubt, runs)]
        while worse:  # a few moved runs may all by chance move a result too little: look again with more
            again, worse = worse[:_SOON], worse[_SOON:]
            references = self.references.of([(plan.call, want) for plan, want, _ in again], _MANY)
            for doubt, runs in zip(again, references, strict=True):
                difference = self._excess(doubt, runs)
                if difference is not None:
                    return Failure.of(doubt[0], difference, doubt[2])
        return None

    def _excess(self, doubt: Doubt, runs: list[tuple[Array, ...]]) -> Difference | None:
        plan, want, got = doubt
        length = sum_length(plan.call.arguments, want.results)
        magnified = self.references.magnified
        results = want.results
        return compare.bounded(
            got, results, runs, self.policy, length, self.errors, huge=plan.huge, magnified=magnified
        )


def _where(got: tuple[Array, ...], want: Outcome, told: Outcome | Rejection) -> tuple[Array, ...]:
    """``got``, with what the original gives where that hangs on what is undefined."""
    if not isinstance(told, Outcome) or told.fault is not None:
        return want.results
    made = []
    for mine, theirs, other in zip(got, want.results, told.results, strict=True):
        raw, beside = (np.ascontiguousarray(a).view(np.uint8).reshape(*a.shape, -1) for a in (theirs, other))
        made.append(np.where((raw == beside).all(axis=-1), mine, theirs) if mine.shape == theirs.shape else mine)
    return tuple(made)


def _undefined(failure: Failure) -> Failure:
    message = f"{failure.message}, which hangs on a shift by too much, or on a float that its integer type cannot hold"
    return dataclasses.replace(failure, reason="numeric.undefined", message=message)


def _cpu_seconds(got: Outcome | Rejection | None) -> float:
    return got.seconds if isinstance(got, Outcome) else 0.0


def _misbehaviour(planned: Planned, got: Outcome, want: Outcome) -> Failure | None:
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
            told = findings[0].to_json()
            return Failure(planned, reason, findings[0].message or str(told), finding=told)
    for stray in got.beyond:  # as far as it goes, an index may leave its dimension; not to where nobody wrote
        if any((f.buffer, f.offset, f.place) == (stray.buffer, stray.offset, stray.place) for f in got.uninitialised):
            return Failure(planned, "aliasing.bounds", stray.message, finding=stray.to_json())
    if got.leaked > want.leaked:
        return Failure(planned, "resource.leak", f"{got.leaked} allocations were not freed")
    size = sum(a.nbytes for a in (*planned.call.arguments, *got.results))
    if got.peak > 4 * want.peak + _SHARE * size + _SLACK:
        return Failure(planned, "resource.allocation", f"{got.peak:,} bytes were allocated for {size:,} bytes of data")
    return None


def _chunks(planned: Sequence[Planned]) -> Iterator[Sequence[Planned]]:
    start = 0
    for size in _CHUNKS:
        yield planned[start : start + size]
        start += size
    yield planned[start:]


def _varied(call: Call, number: int) -> Call:
    """The call of the second round: other poison, another side for the guard page, other strides."""
    sides: tuple[Literal["none", "before"], ...] = ("none", "before")
    return dataclasses.replace(call, poison=0xFF, guard=sides[number % 2], strided=number % 3 == 0)
