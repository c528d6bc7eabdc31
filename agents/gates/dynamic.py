"""The gates that run the proposal: races, results, memory, time. Cheap and telling calls come first."""

from __future__ import annotations

import dataclasses
import time
from typing import Literal

from kc.agents.execution.calls import Checks, Outcome
from kc.agents.gates.differential import Failure, Form, Tester
from kc.agents.gates.inputs import Drawer, Planned, plan, plan_large
from kc.agents.gates.policy import Policy
from kc.agents.gates.reasons import Rejection

#: ordinary calls by level: an interpreter is slower
_CALLS = {"stablehlo": 100, "torch": 60, "gpu": 60}
_USUAL = 280
#: calls under instrumentation, and the most elements that one may have
_INSTRUMENTED, _SMALL = 32, 1 << 11
_LARGE = 6
#: levels at which runs repeat the interpreter bit by bit: a few are enough
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
    drawer = Drawer(original.reading, policy, integers, floats, setting.seed, setting.guard)
    tester = Tester(original, proposal, policy, setting.target, setting.seed)
    failure, race_seconds = _failure(setting, drawer, tester, integers)
    rejection = shrink(failure, tester, drawer) if failure is not None else None
    errors = {"ulp": tester.errors.ulp, "original_ulp": tester.errors.original_ulp} if tester.errors.ulp else None
    return Report(rejection, tester.runs, errors, race_seconds)


def _failure(setting: Setting, drawer: Drawer, tester: Tester, integers: list[int]) -> tuple[Failure | None, float]:
    level = setting.proposal.level
    most = _CALLS.get(setting.original.level, _USUAL)
    if setting.budget is not None:
        most = max(40, min(most, int(most * setting.budget / 5)))
    planned = [_guarded(p) for p in plan(drawer, setting.original.reading, tester.policy, integers, most)]
    if not planned:
        return _no_calls(setting), 0.0
    failure, outcomes = tester.trial(planned, len(planned) if level != "stablehlo" else _INTERPRETED)
    if failure is not None:
        return failure, 0.0
    start = time.perf_counter()
    failure = _instrumented(setting, planned, outcomes, tester) if level != "stablehlo" else None
    race_seconds = time.perf_counter() - start
    if failure is not None:
        return failure, race_seconds
    big = plan_large(drawer, integers, _LARGE)
    if big:
        failure = tester.first_failure(big, list(tester.original_outcomes([p.call for p in big])))
    return failure, race_seconds


def _no_calls(setting: Setting) -> Failure:
    raise ValueError(f"no sizes are allowed by the contract and the guard {setting.guard}")


def _guarded(planned: Planned) -> Planned:
    """With a page behind each buffer that may not be touched."""
    return dataclasses.replace(planned, call=dataclasses.replace(planned.call, guard="after"))


def _instrumented(
    setting: Setting, planned: list[Planned], outcomes: list[Outcome | None], tester: Tester
) -> Failure | None:
    """Runs that see every access, and runs in other orders of the parallel iterations."""
    if setting.proposal.level not in ("linalg", "loops", "gpu"):
        return None
    small = [
        k for k, p in enumerate(planned) if outcomes[k] is not None and sum(a.size for a in p.call.arguments) <= _SMALL
    ]
    chosen = small[:_INSTRUMENTED]
    plans, wants = [planned[k] for k in chosen], [outcomes[k] for k in chosen]
    failure = tester.first_failure(plans, wants, Checks(instrument=True))
    if failure is None and setting.proposal.reading.parallel:
        orders: tuple[Literal["reversed", "interleaved"], ...] = ("reversed", "interleaved")
        for order in orders:
            failure = tester.first_failure(plans, wants, Checks(order=order))
            if failure is not None and failure.reason.startswith("numeric"):
                return dataclasses.replace(
                    failure, reason="race.order", message=f"with parallel iterations {order}: {failure.message}"
                )
            if failure is not None:
                return failure
    return failure
