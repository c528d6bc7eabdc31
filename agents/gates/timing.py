"""The timing gate: is the proposal faster, by a measurement that can be believed?

The baseline is what kc itself makes of the original, with its default options; nobody hands one in. Both programs are
measured by ``kc.agents.measure``, on inputs that no call has seen before, with every timed call's results compared. The
proposal passes when the whole 95 % interval of the ratio lies above 1 and the ratio is at least ``minimum``, twice, in
processes started anew: where code and data happen to lie in one process can make it faster than its twin (T. Mytkowicz
et al., "Producing wrong data without doing anything obviously wrong!", ASPLOS 2009). A time below the roofline floor is
rejected as impossible. Where sizes are open, small, middle and large ones are measured: the ratio then is the geometric
mean, and at none may the proposal be much slower (a guard keeps it from sizes that it is not for).
"""
from __future__ import annotations

import contextlib
import dataclasses
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from kc.agents.measure import least_work, prepare
from kc.agents.measure.machine import Machine, machine
from kc.agents.measure.prepare import Artifact
from kc.agents.measure.rounds import Job, Measurement, Program, measure_all
from kc.agents.measure.statistics import Ratio, mean_ratio, median, ratio
from kc.errors import KcError
from kc.runtime.errors import RuntimeFailure
from kc.temporary import Folder

#: least ratio of the times that counts as an improvement
MINIMUM = 1.02
#: a proposal is much slower where the ratio is below this
BEARABLE = 0.9
#: seconds for one measurement, of all sizes; a proposal that passes is measured twice
SECONDS = 10.0
#: memory of a measured process on the CPU, bytes of address space
MEMORY = 8 << 30

REASONS: dict[str, str] = {
    "timing.slower": "the proposal is slower than the original",
    "timing.somewhere": "the proposal is much slower at some of its sizes: a guard would keep it away from them",
    "timing.uncertain": "the interval of the speed-up holds 1: no improvement is shown",
    "timing.small": "the proposal is faster, but by less than the least improvement that counts",
    "timing.impossible": "the proposal's time lies below the roofline floor: work was not done, or not timed",
    "timing.results": "results of a timed call differ from the original's: work was skipped, or replayed",
    "timing.inputs": "a timed call changed an argument that is only to be read",
    "timing.late": "results still changed after the call had returned",
    "timing.reused": "a call changed the results that an earlier call had given",
    "timing.background": "threads or processes worked on after the call had returned",
    "timing.clock": "two clocks disagree about the proposal's time, or the proposal reads a clock",
    "timing.crash": "a timed call crashed",
    "timing.time": "the measurement did not fit in its time",
    "timing.failed": "a timed call failed",
    "timing.unsupported": "the proposal cannot be timed here, so no improvement can be shown",
}

#: how code asks for the time or where it runs: MLIR ops, LLVM intrinsics, PTX registers, x86 instructions
_CLOCKS = re.compile(
    r"readcyclecounter|readsteadycounter|read\.ptx\.sreg\.(?:clock|globaltimer)|%(?:clock(?:64|_hi)?|globaltimer\w*)\b"
    r"|\brdtscp?\b|\brdpmc\b|gpu\.clock|s_memtime|s_memrealtime|cntvct_el0"
)


@dataclasses.dataclass(frozen=True)
class Timing:
    """What the gate found: ``reason`` is a key of ``REASONS``, None when the proposal passed; ``figures`` are those of
    ``Verdict.timing``."""

    reason: str | None
    message: str
    figures: dict[str, Any] | None = None
    culprit: str | None = None

    def speedup(self) -> float:
        """The ratio of the times; 0 where nothing was measured."""
        return float(self.figures["speedup"]) if self.figures else 0.0

    @property
    def passed(self) -> bool:
        """Whether the proposal is an improvement."""
        return self.reason is None


def check(
    original: str,
    proposal: str | Artifact,
    *,
    level: str,
    proposal_level: str | None = None,
    target: str = "cpu",
    sizes: Mapping[str, int] | None = None,
    seconds: float = SECONDS,
    minimum: float = MINIMUM,
    seed: int | None = None,
    guard: Sequence[str] = (),
) -> Timing:
    """Time a proposal that has passed the other gates against the original.

    ``original``: text of the region; ``proposal``: text at ``proposal_level`` (default: the region's), or an artifact
    of a form that MLIR alone does not tell (``kc.agents.realize.build``), with the region's signature. ``sizes``:
    extents of named dimensions; small, middle and large ones where none are given. ``guard``: conditions on sizes
    outside of which the proposal is not used. ``seed``: for tests only; without one nobody can know what will be drawn.
    """
    text = proposal if isinstance(proposal, str) else ""
    found = _CLOCKS.search(text) or next(filter(None, map(_CLOCKS.search, _device_code(proposal))), None)
    if found:
        return Timing("timing.clock", f"the proposal reads a clock: '{found[0]}'", culprit="proposal")
    try:
        read = _surface(original, level)
        points = prepare.points(read, sizes, guard, most=1 if sizes is not None else 3)
        lower = bool(text) and proposal_level not in (None, level) and level in prepare.TENSORS
        baseline = _placed(original, None, target) if lower else _built(original, original, level, target)
    except (KcError, RuntimeFailure, ValueError) as error:
        return Timing("timing.unsupported", f"the original cannot be timed: {error}", culprit="original")
    try:
        if not isinstance(proposal, str):
            made = proposal
        elif lower:
            made = _placed(original, (text, str(proposal_level)), target)
        else:
            made = _built(original, text, proposal_level or level, target)
    except (KcError, RuntimeFailure, ValueError) as error:
        return Timing("timing.unsupported", f"the proposal cannot be timed: {error}", culprit="proposal")
    device = None if target.partition(":")[0] == "cpu" else 0
    with _saved(baseline, made) as paths:
        try:
            limits = machine(device)
        except RuntimeFailure as error:
            return Timing("timing.unsupported", f"no device to time on: {error}")
        jobs = [
            Job(
                Program(paths[0], drawn), Program(paths[1], drawn), seed=seed, device=device,
                seconds=seconds / len(points), threads=len(os.sched_getaffinity(0)), flush=2 * limits.cache_bytes,
                memory=MEMORY if device is None else None,  # CUDA reserves more addresses than any machine has bytes
            )
            for drawn in points
        ]
        works = [least_work.least_work(read, drawn) for drawn in points]
        at = [prepare.named_sizes(read, drawn) for drawn in points]
        first = judge_all(measure_all(jobs), works, limits, minimum=minimum, device=device, sizes=at)
        if not first.passed:
            return first
        second = judge_all(measure_all(jobs), works, limits, minimum=minimum, device=device, sizes=at)
    if not second.passed:
        return dataclasses.replace(second, message=f"not confirmed by a second measurement: {second.message}")
    return min(first, second, key=Timing.speedup)


def judge_all(
    measured: Sequence[Measurement],
    works: Sequence[least_work.Work],
    limits: Machine,
    *,
    minimum: float = MINIMUM,
    device: int | None = None,
    sizes: Sequence[Mapping[str, int]] = (),
) -> Timing:
    """What measurements at several sizes mean together; of fewer than there are sizes, the last found a problem."""
    told = [*sizes, *({} for _ in works)]
    each = [
        judge(one, work, limits, minimum=minimum, device=device, sizes=at)
        for one, work, at in zip(measured, works, told, strict=False)
    ]
    wrong = next((found for found in each if found.figures is None or found.reason == "timing.impossible"), None)
    if wrong is not None or len(each) == 1:
        return wrong or each[0]
    all_figures = [found.figures for found in each if found.figures is not None]
    mean = mean_ratio([(one.original, one.proposal) for one in measured])
    kept = ("sizes", "original_us", "proposal_us", "speedup", "interval", "roofline_us")
    figures = {
        **all_figures[0], "speedup": mean.value, "interval": [mean.low, mean.high], "rounds": mean.pairs,
        "at": [{name: one[name] for name in kept} for one in all_figures],
    }
    meaning = _meaning(mean, f" on the average of {len(each)} sizes", figures, minimum)
    worst = min(all_figures, key=lambda one: float(one["speedup"]))
    if meaning.reason != "timing.slower" and worst["speedup"] < BEARABLE and worst["interval"][1] < 1:
        where = ", ".join(f"{name} = {extent}" for name, extent in worst["sizes"].items())
        low, high = worst["interval"]
        message = f"{worst['speedup']:.3f} times as fast ({low:.3f} to {high:.3f}) at {where}"
        return Timing("timing.somewhere", message, figures, "proposal")
    return meaning


def judge(
    measured: Measurement,
    work: least_work.Work,
    limits: Machine,
    *,
    minimum: float = MINIMUM,
    device: int | None = None,
    sizes: Mapping[str, int] | None = None,
    again: bool = True,
) -> Timing:
    """What a measurement at ``sizes`` means.

    ``again``: look at this machine once more before a time is called impossible.
    """
    if measured.reason is not None:
        return Timing(f"timing.{measured.reason}", measured.message, culprit=measured.culprit)
    floor = limits.floor_us(work.input_bytes + measured.result_bytes, work.operations)
    times = {"original": median(measured.original) / 1e3, "proposal": median(measured.proposal) / 1e3}
    found = ratio(measured.original, measured.proposal)
    figures: dict[str, Any] = {
        "original_us": times["original"], "proposal_us": times["proposal"], "speedup": found.value,
        "interval": [found.low, found.high], "confidence": found.confidence, "roofline_us": floor,
        "rounds": found.pairs, "calls": measured.calls, "machine": limits.name,
        "sizes": dict(sizes or {}),
    }
    if times["proposal"] < floor:
        if again and device is None:
            return judge(measured, work, machine(again=True), minimum=minimum, sizes=sizes, again=False)
        message = f"{times['proposal']:.3g} µs is below the roofline floor of {floor:.3g} µs on {limits.name}"
        return Timing("timing.impossible", message, figures, "proposal")
    return _meaning(found, "", figures, minimum)


def _meaning(found: Ratio, where: str, figures: dict[str, Any], minimum: float) -> Timing:
    """What a ratio means."""
    shown = f"{found.value:.3f} times as fast{where}, 95 % interval {found.low:.3f} to {found.high:.3f}"
    shown += f", {found.pairs} rounds"
    if found.high < 1:
        return Timing("timing.slower", shown, figures, "proposal")
    if found.low <= 1:
        return Timing("timing.uncertain", shown, figures, "proposal")
    if found.value < minimum:
        return Timing("timing.small", f"{shown}; at least {minimum:g} counts", figures, "proposal")
    return Timing(None, shown, figures)


def _surface(original: str, level: str) -> str:
    """The text that tells a region's arguments and their contract."""
    if level not in ("llvm", "asm"):
        return original
    from kc.agents.measure import below
    from kc.agents.regions import assembly

    return below.surface(assembly.parts(original).reference if level == "asm" else original)


def _built(original: str, text: str, level: str, target: str) -> Artifact:
    """A program of a text at ``level``, of ``original`` or a form of it."""
    if level != "asm":
        return prepare.build(text, level, target)
    from kc.agents.measure import below
    from kc.agents.regions import assembly

    return below.build(assembly.parts(original).reference, target, assembly.code_of(text))


def _placed(region: str, answer: tuple[str, str] | None, target: str) -> Artifact:
    """A region as a program, computed by itself or by an answer (its text and level) as it would be in a program."""
    from kc.agents.realize.building import build
    from kc.agents.realize.realized import Realized

    realized = None if answer is None else Realized(answer[1], answer[0], answer=answer[0])
    made = build(region, realized, target)
    return made.manifest, made.files


def _device_code(proposal: str | Artifact) -> list[str]:
    """The PTX in an artifact."""
    files = {} if isinstance(proposal, str) else proposal[1]
    return [bytes(data).decode(errors="replace") for name, data in files.items() if name.endswith(".ptx")]


@contextlib.contextmanager
def _saved(*artifacts: Artifact) -> Iterator[list[str]]:
    """Paths of artifacts in a folder that goes away."""
    from kc import artifact

    with Folder("timing") as folder:
        paths = []
        for number, (manifest, files) in enumerate(artifacts):
            paths.append(str(Path(folder) / f"{number}.kca"))
            artifact.save(paths[-1], manifest, files)
        yield paths
