"""The gates that run the proposal: races, results, memory, time. Cheap and telling calls come first."""

from __future__ import annotations

import dataclasses
import random
import time
from collections.abc import Sequence

from kc.agents.execution.calls import Order, Outcome
from kc.agents.facts import parse_fact
from kc.agents.gates.differential import Failure, Form, Tester
from kc.agents.gates.inputs import Drawer, Planned
from kc.agents.gates.plan import Planner
from kc.agents.gates.policy import Policy
from kc.agents.gates.reasons import Rejection
from kc.agents.gates.sizes import Shapes, Sizes, ordinary
from kc.errors import InputError

#: ordinary calls by level: an interpreter is slower
_CALLS = {"stablehlo": 110, "torch": 60, "gpu": 36}
_USUAL = 240
#: CPU seconds of ordinary calls, unless a budget is given
_SECONDS = 30.0
#: of the ordinary calls, these first ones are made twice, and every fourth after them
_AGAIN = 48
#: calls under instrumentation, and the most elements that one may have
_INSTRUMENTED, _SMALL = 32, 1 << 11
#: calls with many iterations that are watched for races, and the most elements or iterations of one
_CROWDED, _WATCHED = 4, 1 << 17
#: calls at the upper ends of the sizes
_LARGE = 6
#: of interpreted runs, which see every access or have no memory, a few made twice are enough
_INTERPRETED = 8


@dataclasses.dataclass(frozen=True)
class Setting:
    """What is tested against what: ``guard``: conditions outside of which the original runs."""

    original: Form
    proposal: Form
    target: str
    seed: int
    budget: float | None = None
    guard: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Report:
    """What came of it; ``race_seconds`` of it went into races."""

    rejection: Rejection | None
    runs: int
    errors: dict[str, float] | None
    race_seconds: float = 0.0


def test(setting: Setting) -> Report:
    """Run the proposal beside the original until it fails or every call is made."""
    from kc.agents.gates.shrink import shrink

    original, proposal = setting.original, setting.proposal
    policy = Policy.of(original.reading)
    integers = [*proposal.reading.integers, *original.reading.integers]
    floats = [*proposal.reading.floats, *original.reading.floats]
    traits = original.reading.traits | proposal.reading.traits
    divisors = [*original.reading.divisors, *proposal.reading.divisors]
    if setting.guard and not _sizes(setting, setting.guard) and _sizes(setting, ()):
        message = f"'{' and '.join(setting.guard)}' holds at no sizes of the contract that can be tested"
        return Report(Rejection("assumptions.guard", message), 0, None)
    drawer = Drawer(original.reading, policy, integers, floats, setting.seed, setting.guard, traits, divisors)
    tester = Tester(original, proposal, policy, setting.target, setting.seed)
    try:
        failure, race_seconds = _failure(setting, drawer, tester, integers)
        rejection = shrink(failure, tester, drawer) if failure is not None else None
    finally:
        tester.sides.close()
    errors = {"ulp": tester.errors.ulp, "original_ulp": tester.errors.original_ulp} if tester.errors.ulp else None
    return Report(rejection, tester.sides.runs, errors, race_seconds)


def _sizes(setting: Setting, guard: Sequence[str]) -> list[Sizes]:
    """Sizes of ordinary calls under a guard."""
    shapes = Shapes(setting.original.reading, [parse_fact(part) for part in guard])
    return ordinary(shapes, setting.proposal.reading.integers, random.Random(setting.seed))


def _failure(setting: Setting, drawer: Drawer, tester: Tester, integers: list[int]) -> tuple[Failure | None, float]:
    level = setting.proposal.level
    most = _CALLS.get(setting.original.level, _USUAL)
    seconds = _SECONDS if setting.budget is None else setting.budget
    singled = [*setting.proposal.reading.singled, *setting.original.reading.singled]
    planner = Planner(drawer, setting.original.reading, integers, singled)
    planned = [_guarded(p) for p in planner.plan(most)]
    if not planned:
        raise InputError("no sizes are allowed by the contract")
    again = [k for k in range(len(planned)) if k < _AGAIN or k % 4 == 0]
    if level in ("stablehlo", "gpu"):
        again = again[:_INTERPRETED]
    large = [_guarded(p) for p in planner.large(_LARGE)]
    failure, outcomes = tester.trial(planned, large, again, seconds)
    if failure is not None:
        return failure, 0.0
    if "undefined" in setting.proposal.reading.traits and level in ("linalg", "loops"):
        failure = tester.undefined(planned, outcomes)
        if failure is not None:
            return failure, 0.0
    start = time.perf_counter()
    parallel = setting.proposal.reading.parallel
    if level in ("linalg", "loops", "gpu", "llvm"):
        chosen = _chosen(planned[: len(outcomes)], outcomes)
        if level == "gpu":  # there every run sees every access, and large buffers cost little more: other orders only
            chosen = chosen[:_INTERPRETED] or [k for k, found in enumerate(outcomes) if found is not None][:2]
        # at llvm iterations have one order: the shadow memory tells of races
        orders: tuple[Order, ...] = ("reversed", "interleaved") if parallel and level != "llvm" else ()
        failure = tester.watched([planned[k] for k in chosen], [outcomes[k] for k in chosen], orders)
        if failure is None and parallel and level != "gpu":
            failure = _conflicts(drawer, tester, planner.large(_LARGE + _CROWDED))
    return failure, time.perf_counter() - start


def _conflicts(drawer: Drawer, tester: Tester, large: list[Planned]) -> Failure | None:
    """Races among many iterations: such as fall on one place only beyond some number of them."""
    crowded = [p for p in large if max(drawer.shapes.elements(p.sizes), drawer.shapes.work(p.sizes)) <= _WATCHED]
    crowded = [_guarded(p) for p in crowded[:_CROWDED]]
    if not crowded:
        return None
    failure = tester.watched(crowded, list(tester.original_outcomes([p.call for p in crowded])), ())
    # what takes long here may do so because it is watched
    return None if failure is not None and failure.reason == "resource.time" else failure


def _guarded(planned: Planned) -> Planned:
    """With a page behind each buffer that may not be touched."""
    return dataclasses.replace(planned, call=dataclasses.replace(planned.call, guard="after"))


def _chosen(planned: list[Planned], outcomes: list[Outcome | None]) -> list[int]:
    """Calls to be watched: small ones, of as many different sizes as there are."""
    small = [
        k for k, p in enumerate(planned) if outcomes[k] is not None and sum(a.size for a in p.call.arguments) <= _SMALL
    ]
    sizes: dict[tuple[tuple[str, int], ...], int] = {}
    for k in small:
        sizes.setdefault(tuple(sorted(planned[k].sizes.items())), k)
    first = list(sizes.values())[: _INSTRUMENTED // 2]
    return first + [k for k in small if k not in first][: _INSTRUMENTED - len(first)]
