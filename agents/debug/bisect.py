"""The phase, the pass and the op that first break a program."""
from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, Literal

from kc.agents.debug import whole
from kc.agents.debug.compare import Tolerance, difference
from kc.agents.debug.params import Params
from kc.agents.debug.reduction.predicates import ask
from kc.agents.debug.trace import Failure, Leg, Step, Trace, follow
from kc.errors import InputError

#: what a module at some place of the road computes, against the reference
State = Literal["right", "wrong", "unknown"]
_SEQUENTIAL = "builtin.module(func.func(scf-forall-to-for,scf-parallel-for-to-nested-fors))"
#: told what is done next
Say = Callable[[str], None]


@dataclasses.dataclass(frozen=True)
class Culprit:
    """What broke the program first. ``phase`` None: code generation or the runtime, behind all phases.

    ``steps``: the pass; several where no oracle runs what stands between them; none where it is not a pass (an op that
    no pass of the phase takes away). ``before``: the module (bytecode) before the first of them, ``after`` behind the
    last one, where it came to its end.
    """

    #: ``wrong``, a kind of ``Failure``, ``generation`` or ``run``
    kind: str
    message: str
    phase: Leg | None
    steps: tuple[Step, ...] = ()
    #: the op that a diagnostic names, and its place
    op: str = ""
    place: str = ""
    before: bytes = b""
    after: bytes | None = None
    failure: Failure | None = None


@dataclasses.dataclass
class Bisection:
    """One search. ``calls``: sets of inputs; ``expected``: right results of each, by the oracle of the source if None.

    ``target``: where the generated code is run; None: it is not (no such device here).
    """

    module: bytes
    legs: Sequence[Leg]
    calls: Sequence[Sequence[Any]]
    target: str | None = "cpu"
    expected: Sequence[Sequence[Any]] | None = None
    tolerance: Tolerance | None = None
    load: Sequence[str] = ()
    seconds: float = 60.0
    say: Say = lambda words: None
    params: Params = dataclasses.field(default_factory=dict)
    _twins: list[Trace] | None = None
    #: the first place of the road that is known to be right
    _first: int = 0

    def run(self) -> Culprit | None:
        """The culprit; None when the program comes out right. Raises InputError when nothing can tell what is right."""
        self.say(f"running {len(self.legs)} phases")
        self.trace = follow(self.module, self.legs, load=self.load, params=self.params, seconds=self.seconds)
        try:
            if self.trace.failure is not None:
                return self._failed(self.trace.failure)
            return self._compared()
        finally:
            for trace in (self.trace, *(self._twins or ())):
                trace.close()

    # ------------------------------------------------------------------------------------------- it fails

    def _failed(self, failure: Failure) -> Culprit:
        trace, leg = self.trace, self.legs[failure.leg]
        if failure.kind == "level":
            steps = _makers(trace, failure)
            first = steps[0].number if steps else sum(s.leg < failure.leg for s in trace.steps)
            last = steps[-1].number + 1 if steps else len(trace.steps)
        else:
            assert failure.step is not None or not trace.steps or failure.kind in ("failed", "raised")
            steps = () if failure.step is None else (trace.steps[failure.step],)
            first, last = failure.step or 0, None
        after = None if last is None else trace.snapshot(last)
        return Culprit(
            failure.kind, failure.message, leg, steps, failure.op, failure.place, trace.snapshot(first), after, failure
        )

    # ------------------------------------------------------------------------------------------- it computes

    def _compared(self) -> Culprit | None:
        trace, end = self.trace, len(self.trace.steps)
        self.want = self._reference()
        real = self._real()
        named = dict(zip(trace.ends(), (leg.name for leg in self.legs), strict=True))
        places = sorted({self._first, *(place for place in named if place > self._first)})
        self._told: dict[int, tuple[State, str]] = {self._first: ("right", "")}
        if real is not None and real[0] == "right":
            return None
        if real is None and self._state(end)[0] == "right":
            return None
        low, high = self._between(places, lambda n: f"after {named[n]}")
        if high is None:
            if real is None:
                reached = named.get(low, 'the source')
                raise InputError(f"right as far as {reached}; no oracle runs what follows: {self._why(end)}")
            if self._state(end)[0] == "right":
                kind = "wrong" if real[0] == "wrong" else real[0]
                return Culprit(kind, f"code generation or the runtime: {real[1]}", None, before=trace.snapshot(end))
            high = end
            self._told[end] = ("wrong", real[1])
        inside = [low, *(n + 1 for n in range(low, high) if trace.changed.get(n)), high]
        low, found = self._between(list(dict.fromkeys(inside)), lambda n: f"after {trace.steps[n - 1].text}")
        high = high if found is None else found
        steps = tuple(s for s in trace.steps[low:high] if trace.changed.get(s.number)) or tuple(trace.steps[low:high])
        message = self._told.get(high, ("wrong", real[1] if real else ""))[1]
        if high == end and real is not None and self._look(end)[0] == "unknown":
            message += "\nno oracle runs what the last phase leaves: code generation is not excluded"
        leg = self.legs[steps[0].leg]
        return Culprit("wrong", message, leg, steps, before=trace.snapshot(low), after=trace.snapshot(high))

    def _reference(self) -> list[Sequence[Any]]:
        if self.expected is not None:
            return list(self.expected)
        self.say("running the source by its oracle")
        why = ""
        for place in [0, *self.trace.ends()]:
            if place and self.legs[self.trace.steps[place - 1].leg].end not in ("stablehlo", "linalg"):
                break
            told = [ask(self.trace.snapshot(place), call, self.seconds, self.trace.params) for call in self.calls]
            if all(kind == "results" for kind, _ in told):
                if place:
                    leg = self.legs[self.trace.steps[place - 1].leg].name
                    self.say(f"no oracle runs the source: what stands after {leg} is taken to be right")
                self._first = place
                return [value for _, value in told]
            why = why or next(str(value) for kind, value in told if kind != "results").partition("\n")[0]
        hint = "give the right results with --expect"
        raise InputError(f"no oracle tells what the program should compute: {why}; {hint}")

    def _real(self) -> tuple[str, str] | None:
        """``right``, ``wrong``, ``generation`` or ``run`` and why; None where it cannot be run."""
        if self.target is None or self.legs[-1].end != "llvm":
            return None
        self.say("running the program")
        for call, want in zip(self.calls, self.want, strict=True):
            end = self.trace.snapshot(len(self.trace.steps))
            kind, value = whole.run(end, self.trace.params, self.target, call, seconds=self.seconds * 4, load=self.load)
            if kind != "results":
                return kind, str(value)
            found = difference(value, want, self.tolerance)
            if found is not None:
                return "wrong", found["message"]
        return "right", ""

    def _state(self, number: int) -> tuple[State, str]:
        """Whether the module before step ``number`` computes what it should, and why not."""
        if number not in self._told:
            self._told[number] = self._look(number)
        return self._told[number]

    def _look(self, number: int) -> tuple[State, str]:
        leg = self.trace.steps[number - 1].leg
        start = sum(s.leg < leg for s in self.trace.steps)
        if self.legs[leg].end != "llvm":
            return self._judged(self.trace.snapshot(number), None)
        state = self._judged(self.trace.snapshot(number), self.trace.snapshot(start))
        twin = self._twin(leg, start) if state[0] == "unknown" else None
        return state if twin is None else self._judged(twin.snapshot(number - start), twin.snapshot(0))

    def _twin(self, leg: int, start: int) -> Trace | None:
        """The way of phase ``leg`` again, with parallel loops made sequential; None where that hides the fault.

        No oracle runs OpenMP: what it tells of the twin's modules holds for those of the program.
        """
        if self._twins is None:
            self.say(f"following {self.legs[leg].name} again, with sequential loops")
            sequential = follow(self.trace.snapshot(start), [Leg("sequential", _SEQUENTIAL)], params=self.trace.params)
            module = sequential.snapshot(len(sequential.steps))
            sequential.close()
            made = follow(module, [self.legs[leg]], load=self.load, params=self.trace.params, seconds=self.seconds)
            alike = made.failure is None and len(made.steps) == len(self.trace.steps) - start
            wrong = alike and self._judged(made.snapshot(len(made.steps)), made.snapshot(0))[0] == "wrong"
            self._twins = [made] if wrong else []
        return self._twins[0] if self._twins else None

    def _judged(self, module: bytes, like: bytes | None) -> tuple[State, str]:
        for call, want in zip(self.calls, self.want, strict=True):
            kind, value = ask(module, call, self.seconds, self.trace.params, like)
            if kind == "unknown":
                return "unknown", str(value)
            found = {"message": str(value)} if kind == "fault" else difference(value, want, self.tolerance)
            if found is not None:
                return "wrong", found["message"]
        return "right", ""

    def _why(self, number: int) -> str:
        return self._state(number)[1].partition("\n")[0]

    def _between(self, places: list[int], words: Callable[[int], str]) -> tuple[int, int | None]:
        """(last place that is right, first that is wrong), the first of ``places`` being right; by halves.

        Places in between are unknown. None: no place is known to be wrong.
        """
        low, high = 0, len(places)
        while True:
            inside = sorted(range(low + 1, high), key=lambda n: abs(n - (low + high) / 2))
            known = next((n for n in inside if self._ask(places[n], words) != "unknown"), None)
            if known is None:
                return places[low], places[high] if high < len(places) else None
            if self._state(places[known])[0] == "right":
                low = known
            else:
                high = known

    def _ask(self, place: int, words: Callable[[int], str]) -> State:
        known = place in self._told
        state = self._state(place)[0]
        if not known:
            self.say(f"{words(place)}: {state}")
        return state


def _makers(trace: Trace, failure: Failure) -> tuple[Step, ...]:
    """The pass of the failing phase that made the first op named in ``failure``; none where it stood there before."""
    from kc.context import make_context, parse_module
    from kc.rewrite import walk_ops

    def holds(number: int) -> bool:
        module = parse_module(trace.snapshot(number), make_context(allow_unregistered=True), "module")
        return any(True for _ in walk_ops(module.operation, failure.op))

    inside = [step for step in trace.steps if step.leg == failure.leg]
    if not failure.op or not inside or holds(inside[0].number):
        return ()
    for step in inside:
        if trace.changed.get(step.number) and holds(step.number + 1):
            return (step,)
    return ()
