"""Shuffled, interleaved rounds of two programs, with every timed call checked against the other program's."""
from __future__ import annotations

import dataclasses
import random
import secrets
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kc.agents.measure.differences import difference
from kc.agents.measure.inputs import Argument
from kc.agents.measure.side import Side, SideError
from kc.agents.measure.statistics import interval_depth, median
from kc.temporary import Folder

#: calls of a window are as many as make it last so long (ns): clocks and their reading then do not matter
WINDOW = 2_000_000
MOST_CALLS = 64
#: bytes of all arguments of one window
MOST_BYTES = 64 << 20
LEAST_ROUNDS, MOST_ROUNDS = 9, 61
PATIENCE = 6.0
#: rounds before those that count: first touches, lazy loading, clocks that rise
WARM_UP = 2
#: CPU time outside of a window that is nobody's fault: so many ns, and a share of the CPU time of the window
IDLE_LEAST, IDLE_SHARE = 100_000, 0.05
#: on a GPU: how much more of it than the original a program may use
DRIVER_SHARE = 2.0
#: by how much two clocks may differ more for the proposal than for the original: ns, and a share of the window
CLOCK_LEAST, CLOCK_SHARE = 150_000, 0.10
#: on a GPU: windows of a round that find it busy; arguments take longer to draw than programs to run
QUEUED = 3
#: on a GPU: the most work that is queued before a program's own, ns
MOST_AHEAD = 20_000_000
#: on a GPU: how much of a gain that the events show the host's clock must show, too
SEEN_SHARE = 0.5


@dataclasses.dataclass(frozen=True)
class Program:
    """A program as a measured process loads it: ``loader`` (``module:function``) is called with ``path``.

    ``arguments``: those of the original, and in their places those of a proposal, which may have ``out`` buffers after
    them where the original has results.
    """

    path: str
    arguments: tuple[Argument, ...]
    loader: str = "kc.runtime:load"

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Program:
        """Inverse of ``dataclasses.asdict``."""
        return cls(data["path"], tuple(Argument.from_json(a) for a in data["arguments"]), data["loader"])


@dataclasses.dataclass(frozen=True)
class Job:
    """What to measure. ``device``: number of a GPU, None for the CPU; ``flush``: bytes that are written before each
    window to empty the caches; ``memory``: limit of a process in bytes; ``seconds``: for everything together, but
    the least number of rounds is waited for ``PATIENCE`` times as long."""

    original: Program
    proposal: Program
    seed: int | None = None
    device: int | None = None
    threads: int = 1
    flush: int = 0
    memory: int | None = None
    seconds: float = 30.0

    def to_json(self) -> dict[str, Any]:
        """As JSON values."""
        return dataclasses.asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Job:
        """Inverse of ``to_json``."""
        programs = {name: Program.from_json(data[name]) for name in ("original", "proposal")}
        return cls(**{**data, **programs})


@dataclasses.dataclass(frozen=True)
class Measurement:
    """What came out: ns per call of each round, in pairs; or ``problem``, the first thing that was wrong (``reason`` is
    a slug of the gate ``timing``), with ``message``. ``culprit``: ``original`` or ``proposal``."""

    original: tuple[float, ...] = ()
    proposal: tuple[float, ...] = ()
    calls: int = 0
    #: bytes of the results of one call
    result_bytes: int = 0
    reason: str | None = None
    message: str = ""
    culprit: str | None = None

    def to_json(self) -> dict[str, Any]:
        """As JSON values."""
        return dataclasses.asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Measurement:
        """Inverse of ``to_json``."""
        return cls(**{**data, "original": tuple(data["original"]), "proposal": tuple(data["proposal"])})


class _Problem(Exception):
    """A finding that ends the measurement."""

    def __init__(self, reason: str, message: str, culprit: str):
        super().__init__(message)
        self.reason, self.culprit = reason, culprit


#: findings that a busy machine can cause, too: they count when they come twice
_NOISY = frozenset({"clock", "background"})


def measure(job: Job) -> Measurement:
    """Measure both programs of a job; what is wrong with one of them is told in the answer."""
    return measure_all([job])[0]


def measure_all(jobs: Sequence[Job]) -> list[Measurement]:
    """Measure the same programs on arguments of several sizes, one job each, in one pair of processes.

    The first that finds something wrong is the last.
    """
    found = _measure(jobs)
    return found if found[-1].reason not in _NOISY else _measure(jobs)


def _measure(jobs: Sequence[Job]) -> list[Measurement]:
    """One measurement of each, in new processes."""
    made: list[Measurement] = []
    with Folder("measure") as folder:
        sides = {name: Side(name, Path(folder), jobs[0].threads) for name in ("original", "proposal")}
        try:
            for job in jobs:
                made.append(_Rounds(job, sides).run())
        except _Problem as problem:
            made.append(Measurement(reason=problem.reason, message=str(problem), culprit=problem.culprit))
        finally:
            for side in sides.values():
                side.close()
    return made


class _Rounds:
    """One measurement on its way."""

    def __init__(self, job: Job, sides: Mapping[str, Side]):
        self._job, self._sides = job, sides
        self._soon = time.monotonic() + job.seconds
        self._deadline = time.monotonic() + PATIENCE * job.seconds
        # Whoever proposes cannot know what will be drawn, not even with the source of this file.
        self._random = random.Random(secrets.randbits(128) if job.seed is None else job.seed)
        self._result_bytes = 0
        self._windows: dict[str, list[dict[str, Any]]] = {name: [] for name in sides}
        #: those of a GPU that find it busy
        self._queued: dict[str, list[dict[str, Any]]] = {name: [] for name in sides}

    def run(self) -> Measurement:
        """See ``measure``."""
        job = self._job
        for name in self._sides:
            self._ask(
                name, "load", **dataclasses.asdict(getattr(job, name)), device=job.device, flush=job.flush,
                memory=job.memory,
            )
        self._round(1)
        calls = self._calls()
        began = time.monotonic()
        for _ in range(WARM_UP):
            self._round(calls)
        spent = (time.monotonic() - began) / WARM_UP
        rounds = max(LEAST_ROUNDS, min(MOST_ROUNDS, int((self._soon - time.monotonic()) * 0.8 / spent)))
        if time.monotonic() + 2 * LEAST_ROUNDS * spent > self._deadline:
            fit = f"{LEAST_ROUNDS} rounds of {spent:.2g} s do not fit in {PATIENCE * job.seconds:g} s"
            raise _Problem("time", fit, "original")
        for windows in (*self._windows.values(), *self._queued.values()):
            windows.clear()
        for _ in range(rounds):
            self._round(calls)
        self._check_idle()
        self._check_clocks()
        if job.device is not None:
            self._check_gain()
        counted = self._windows if job.device is None else self._queued
        times = {n: tuple(self._time(w) / calls for w in windows) for n, windows in counted.items()}
        return Measurement(times["original"], times["proposal"], calls, self._result_bytes)

    def _round(self, calls: int) -> None:
        """Both programs on the same new inputs, in random order; on a GPU again, in the wake of other work.

        A device that waits shows the host's time between two launches in its own. One that is busy while a program
        queues its work does not: these windows count. But what ran beside that other work they would not see, so a gain
        must show in the first windows, too (``_check_gain``).
        """
        seeds = [self._random.getrandbits(63) for _ in range(calls)]
        order = list(self._sides)
        self._random.shuffle(order)
        for name in order:
            self._ask(name, "draw", seeds=seeds)
        self._run(order, self._windows, ahead=0)
        if self._job.device is None:
            return
        ahead = min(MOST_AHEAD, max(self._windows[name][-1]["wall"] for name in order))
        written = any(argument.role != "in" for argument in self._job.original.arguments)
        for _ in range(QUEUED):
            self._random.shuffle(order)
            for name in order if written else ():
                self._ask(name, "draw", seeds=seeds)  # what was written is as it was
            self._run(order, self._queued, ahead=ahead)

    def _run(self, order: Sequence[str], windows: Mapping[str, list[dict[str, Any]]], *, ahead: int) -> None:
        """One window of each program, with its results compared."""
        for name in order:
            window = self._ask(name, "run", ahead=ahead)
            window["host"] = self._sides[name].window
            windows[name].append(window)
            self._check_window(name, window)
        results = {name: self._results(name) for name in order}
        self._result_bytes = sum(array.nbytes for array in results["original"][0])
        for number, (want, got) in enumerate(zip(results["original"], results["proposal"], strict=True)):
            self._compare(number, len(results["original"]), want, got)

    def _check_window(self, name: str, window: Mapping[str, Any]) -> None:
        """What a window says of its program beside the time."""
        if window["changed"]:
            raise _Problem("inputs", f"the {name} changed read-only argument {window['changed'][0]}", name)
        if window["late"]:
            raise _Problem("late", f"results of the {name} still changed after the call had returned", name)
        if window["reused"]:
            raise _Problem("reused", f"a call of the {name} changed results that an earlier call had given", name)
        strays = self._sides[name].strays()
        if strays:
            raise _Problem("background", f"the {name} left {len(strays)} processes running", name)

    def _compare(self, number: int, calls: int, want: Sequence[Any], got: Sequence[Any]) -> None:
        """Raise _Problem when two calls on the same inputs gave different results."""
        if len(want) != len(got):
            raise _Problem("results", f"the proposal gave {len(got)} results in place of {len(want)}", "proposal")
        for index, pair in enumerate(zip(want, got, strict=True)):
            found = difference(*pair)
            if found:
                where = f"result {index} of timed call {number + 1} of {calls}"
                raise _Problem("results", f"{where} is not that of the original: {found}", "proposal")

    def _check_idle(self) -> None:
        """Raise _Problem when threads worked while their program had been told nothing.

        On a GPU the driver's own threads do, for a millisecond or so (801 to 1191 µs on an H200), of whatever program:
        there the proposal is compared with the original.
        """
        typical: dict[str, float] = {}
        for name, windows in self._windows.items():
            # A window reports what happened between it and the one before.
            outside = [w["outside"] for w in windows[1:]] + [self._ask(name, "idle")["outside"]]
            typical[name] = median(outside)
        for name, windows in self._windows.items():
            allowed = IDLE_LEAST + IDLE_SHARE * median([w["cpu"] for w in windows])
            if self._job.device is not None:
                allowed += DRIVER_SHARE * typical["original"]
            if typical[name] > allowed:
                what = f"{typical[name] / 1e3:.0f} µs of CPU time after each window (allowed: {allowed / 1e3:.0f} µs)"
                raise _Problem("background", f"threads of the {name} used {what}", name)

    def _check_clocks(self) -> None:
        """Raise _Problem when the clocks disagree about the proposal, more than they do about the original."""
        pairs = [("host", "wall", "the clock of the measuring process")]
        if self._job.device is not None:
            pairs.append(("wall", "device", "the host's clock after a full synchronisation"))
        for outer, inner, what in pairs:
            # The outer window holds the inner one, and load makes the gap larger but never smaller.
            gaps = {n: min(w[outer] - w[inner] for w in windows) for n, windows in self._windows.items()}
            scale = median([w[outer] for w in self._windows["proposal"]])
            if gaps["proposal"] - gaps["original"] > CLOCK_LEAST + CLOCK_SHARE * scale:
                ours, theirs = gaps["original"] / 1e3, gaps["proposal"] / 1e3
                gap = f"{theirs:.0f} µs more than the proposal's own (with the original: {ours:.0f} µs)"
                raise _Problem("clock", f"{what} shows {gap}", "proposal")

    def _check_gain(self) -> None:
        """Raise _Problem when the host's clock does not see what the proposal gains by its events.

        Such a gain can be work that ran out of their sight, beside what was queued before it.
        """
        first, second = ([self._time(w) for w in self._queued[name]] for name in ("original", "proposal"))
        shown = median(first) - median(second)
        pairs = zip(self._windows["original"], self._windows["proposal"], strict=True)
        gains = sorted(original["wall"] - proposal["wall"] for original, proposal in pairs)
        most = gains[-max(1, interval_depth(len(gains), 0.95))]
        if most < SEEN_SHARE * shown:
            gap = f"{shown / 1e3:.1f} µs less by events, but at most {most / 1e3:.1f} µs less for whoever waits for it"
            raise _Problem("clock", f"the proposal takes {gap}", "proposal")

    def _calls(self) -> int:
        """How many calls a window has."""
        quickest = min(self._time(windows[-1]) for windows in self._windows.values())
        size = max(1, sum(a.nbytes for a in self._job.proposal.arguments))
        return max(1, min(MOST_CALLS, MOST_BYTES // size, int(WINDOW // max(quickest, 1)) + 1))

    def _time(self, window: Mapping[str, Any]) -> float:
        """Nanoseconds of a window: on the device's clock where it has one."""
        return float(window["wall"] if window["device"] is None else window["device"])

    def _ask(self, name: str, what: str, **values: Any) -> dict[str, Any]:
        try:
            return self._sides[name].ask(what, max(0.1, self._deadline - time.monotonic()), **values)
        except SideError as error:
            raise _Problem(error.kind, str(error), name) from None

    def _results(self, name: str) -> list[list[Any]]:
        try:
            return self._sides[name].results(max(0.1, self._deadline - time.monotonic()))
        except SideError as error:
            raise _Problem(error.kind, str(error), name) from None
