"""One batch of programs through kc and the interpreter, in this process."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from . import oracle, tolerance
from .case import Case, Verdict
from .tensors import dtype

Report = Callable[[str, int], None]


def check(cases: list[Case], report: Report, target: str = "cpu") -> list[Verdict]:
    """Verdicts on the cases, which are compiled together as one module of several functions.

    ``report(stage, index)`` is called before what may crash or hang.
    """
    if any(case.options != cases[0].options for case in cases):
        return [
            v for i, case in enumerate(cases) for v in check([case], lambda stage, _, i=i: report(stage, i), target)
        ]
    verdicts: list[Verdict | None] = [None] * len(cases)
    expected: list[list[np.ndarray]] = []
    for i, case in enumerate(cases):
        report("oracle", i)
        try:
            expected.append(_expected(case))
        except Exception as error:
            expected.append([])
            verdicts[i] = Verdict("oracle", _first(error))
    live = [i for i in range(len(cases)) if verdicts[i] is None]
    if live:
        import kc

        report("compile", -1 if len(live) > 1 else live[0])
        try:
            text = "\n".join(_renamed(cases[i].text, i) for i in live)
            executable = kc.compile(text, target, f"f{live[0]}", options=cases[live[0]].options)
        except Exception as error:
            if len(live) == 1:
                verdicts[live[0]] = Verdict("error", f"{type(error).__name__}: {_first(error, 1500)}")
            else:  # which of them it is
                for i in live:
                    (verdicts[i],) = check([cases[i]], lambda stage, _, i=i: report(stage, i), target)
            return [v for v in verdicts if v is not None]
        for i in live:
            report("run", i)
            verdicts[i] = _run(executable, f"f{i}", cases[i], expected[i], report, i)
    return [v for v in verdicts if v is not None]


def _run(executable: Any, entry: str, case: Case, expected: list[np.ndarray], report: Report, index: int) -> Verdict:
    arrays = [a.copy() for a, _ in case.arguments]
    try:
        results = [np.asarray(r) for r in executable.run(entry, *arrays)]
    except Exception as error:
        return Verdict("error", f"at run time: {type(error).__name__}: {_first(error)}")
    report("compare", index)
    for k, ((before, _), after) in enumerate(zip(case.arguments, arrays, strict=True)):
        if before.tobytes() != after.tobytes():
            return Verdict("wrong", f"argument {k} was written to")
    runs: list[list[np.ndarray]] = []
    undecided = total = 0
    state: dict[str, Any] = {}
    for k, (got, want, (element, exact)) in enumerate(zip(results, expected, case.results, strict=True)):
        if got.shape != want.shape or got.dtype != want.dtype:
            return Verdict("wrong", f"result {k} is {got.dtype}{list(got.shape)}, not {want.dtype}{list(want.shape)}")
        total += got.size
        if exact:
            faults = tolerance.exact_faults(got, want)
            if faults.any():
                return Verdict("wrong", _describe(k, faults, got, want, [], True))
            continue
        report("oracle-wide", index)
        try:
            if not runs:
                runs = _wide(case, [None, *range(1, 1 + tolerance.RUNS)], state)
            faults, unknown = tolerance.rounded_faults(got, want, [r[k] for r in runs], element)
            if faults.any() and len(runs) <= 1 + tolerance.RUNS:
                runs += _wide(case, list(range(100, 100 + tolerance.MORE_RUNS)), state)
                faults, unknown = tolerance.rounded_faults(got, want, [r[k] for r in runs], element)
        except Exception as error:
            return Verdict("oracle", _first(error))
        if case.low is None:  # an intermediate value may be beyond its type, which the runs in f64 do not show
            with np.errstate(all="ignore"):
                unknown, faults = unknown | (faults & ~np.isfinite(got)), faults & np.isfinite(got)
        undecided += int(unknown.sum())
        if faults.any():
            return Verdict("wrong", _describe(k, faults, got, want, [r[k] for r in runs], False))
    return Verdict("ok", undecided=undecided, elements=total)


def _expected(case: Case) -> list[np.ndarray]:
    """The interpreter's answer in the program's types; if it cannot, the one in f64, rounded."""
    if case.low is not None:
        return oracle.low(case.low, case.arguments, [e for e, _ in case.results])
    (results,) = _wide(case, [None], {})
    with np.errstate(all="ignore"):
        return [r.astype(dtype(e)) for r, (e, _) in zip(results, case.results, strict=True)]


def _wide(case: Case, seeds: list[int | None], state: dict[str, Any]) -> list[list[np.ndarray]]:
    assert case.wide is not None
    return oracle.wide(case.wide, case.noises, case.arguments, [e for e, _ in case.results], seeds, state)


def _renamed(text: str, i: int) -> str:
    return re.sub(r"@(main|helper\d+)\b", lambda m: f"@f{i}" if m[1] == "main" else f"@{m[1]}_{i}", text)


def _describe(
    k: int, faults: np.ndarray, got: np.ndarray, want: np.ndarray, runs: list[np.ndarray], exact: bool
) -> str:
    where = np.argwhere(faults)
    at = tuple(int(n) for n in where[0])
    text = f"result {k}: {len(where)} of {faults.size} elements differ, first at {list(at)}: "
    text += f"kc {got[at]!r}, interpreter {want[at]!r}"
    if not exact:
        spread = max((abs(complex(r[at]) - complex(runs[0][at])) for r in runs[1:]), default=0.0)
        text += f", in f64 {runs[0][at]!r}, scatter {spread:.3g}"
    return text


def _first(error: BaseException, limit: int = 400) -> str:
    return str(error)[:limit]
