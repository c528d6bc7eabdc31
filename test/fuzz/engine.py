"""The loop: batches of programs are made, the runner judges them, findings are shrunk and written down.

Where findings are shrunk, hypothesis makes the programs; else they are drawn one by one, for hypothesis comes back to
variations of a program.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import pickle
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import hypothesis
from hypothesis import strategies as st
from hypothesis.errors import HypothesisException

from .builder import Random
from .case import Case, Verdict
from .families import build, programs
from .program import Program
from .runner import Runner

#: batches of one seed
ROUND = 8


class Wrong(Exception):
    """A wrong answer."""


class Failed(Exception):
    """An error where there should be an answer."""


class Died(Exception):
    """A crash or a hang."""


class Enough(BaseException):
    """Ends a run of hypothesis from within."""


_EXCEPTIONS = {"wrong": Wrong, "error": Failed, "crash": Died, "hang": Died}


@dataclasses.dataclass
class Finding:
    """A failing program, as small as it got."""

    seed: int
    verdict: Verdict
    case: Case
    shrunk: bool = False


@dataclasses.dataclass
class Statistics:
    """What was run. ``modules``: programs that were compared with the interpreter, or that kc failed on."""

    seeds: list[int] = dataclasses.field(default_factory=list)
    modules: int = 0
    kinds: Counter[str] = dataclasses.field(default_factory=Counter)
    families: Counter[str] = dataclasses.field(default_factory=Counter)
    refusals: Counter[str] = dataclasses.field(default_factory=Counter)
    exact_results: int = 0
    rounded_results: int = 0
    undecided: int = 0
    elements: int = 0
    seconds: float = 0.0

    def add(self, case: Case, verdict: Verdict) -> None:
        self.kinds[verdict.kind] += 1
        if verdict.kind != "oracle":
            self.modules += 1
            self.families.update(case.families)
        else:
            self.refusals[re.sub(r"\d+", "N", verdict.message)[-160:]] += 1
        self.undecided += verdict.undecided
        self.elements += verdict.elements
        for _, exact in case.results:
            self.exact_results += exact
            self.rounded_results += not exact

    def report(self) -> dict[str, object]:
        return {
            **dataclasses.asdict(self),
            "kinds": dict(self.kinds),
            "families": dict(self.families),
            "refusals": dict(self.refusals.most_common(8)),
        }


class Fuzzer:
    """See ``run``. ``batch``: programs that are compiled together; ``shrink``: seconds for a finding, 0 for none."""

    def __init__(self, runner: Runner, families: Sequence[str], batch: int, shrink: float, out: Path | None):
        self.runner, self.batch, self.shrink, self.out = runner, batch, shrink, out
        self.strategy = st.lists(programs(tuple(families)), min_size=1, max_size=batch)
        self.families = tuple(families)
        self.statistics = Statistics()
        self.findings: list[Finding] = []
        self._seen: set[int] = set()
        self._end = float("inf")

    def run(self, seed: int, count: int, seconds: float, stop_after: int = 1000) -> None:
        """Rounds from ``seed`` on until ``count`` modules were run, ``seconds`` are over or enough was found."""
        start = time.monotonic()
        self._end = start + seconds
        while (
            self.statistics.modules < count and time.monotonic() - start < seconds and len(self.findings) < stop_after
        ):
            self._round(seed)
            self.statistics.seeds.append(seed)
            seed += 1
            self.statistics.seconds = time.monotonic() - start
            self._progress(count)
            if self.out is not None:
                self.out.mkdir(parents=True, exist_ok=True)
                (self.out / "report.json").write_text(self.report())
        self.runner.close()

    def _round(self, seed: int) -> None:
        found: list[Finding] = []
        deadline = None
        # small kernels are compiled briefly, unless told otherwise: every other round takes schedules and LLVM's -O2
        options = {"brief": "0"} if seed % 2 and self.runner.target == "cpu" else {}

        def test(batch: list[Program]) -> None:
            nonlocal deadline
            now = time.monotonic()
            if (deadline is not None and now > deadline) or (deadline is None and now > self._end):
                raise Enough
            cases = [Case.of(p, options) for p in batch]
            if deadline is None:  # hypothesis comes back to what it has made
                fresh = list({c.key: i for i, c in enumerate(cases) if c.key not in self._seen}.values())
                batch, cases = [batch[i] for i in fresh], [cases[i] for i in fresh]
                self._seen.update(c.key for c in cases)
                if not cases:
                    return
            verdicts = self.runner.run(cases)
            if deadline is None:
                for case, verdict in zip(cases, verdicts, strict=True):
                    self.statistics.add(case, verdict)
            bad = [
                self._part(program, case, verdict)
                for program, case, verdict in zip(batch, cases, verdicts, strict=True)
                if verdict.bad
            ]
            found.extend(Finding(seed, v, c) for c, v in bad)
            if bad and self.shrink:
                deadline = deadline or time.monotonic() + self.shrink
                raise _EXCEPTIONS[bad[0][1].kind](bad[0][1].message)

        with contextlib.suppress(Wrong, Failed, Died, Enough, HypothesisException):
            if self.shrink:
                self._by_hypothesis(seed, test)
            else:
                choices = Random(random.Random(seed))
                for _ in range(ROUND):
                    test([build(choices, self.families) for _ in range(self.batch)])
        if self.shrink and found:
            kind = found[0].verdict.kind
            found = [min((f for f in found if f.verdict.kind == kind), key=lambda f: len(f.case.text))]
            found[0].shrunk = True
        for finding in found:
            self.findings.append(finding)
            self._write(finding)

    def _by_hypothesis(self, seed: int, test: Callable[[list[Program]], None]) -> None:
        settings = hypothesis.settings(
            max_examples=ROUND,
            database=None,
            deadline=None,
            phases=[hypothesis.Phase.generate, hypothesis.Phase.shrink],
            suppress_health_check=list(hypothesis.HealthCheck),
            report_multiple_bugs=False,
            verbosity=hypothesis.Verbosity.quiet,
        )
        hypothesis.seed(seed)(settings(hypothesis.given(self.strategy)(test)))()

    def _part(self, program: Program, case: Case, verdict: Verdict) -> tuple[Case, Verdict]:
        """The smallest part of a failing program that fails in the same way."""
        for part in program.parts():
            smaller = Case.of(part, case.options)
            (again,) = self.runner.run([smaller])
            if again.kind == verdict.kind:
                return smaller, again
        return case, verdict

    def _write(self, finding: Finding) -> None:
        if self.out is not None:
            self.out.mkdir(parents=True, exist_ok=True)
            name = f"{finding.seed}-{len(self.findings)}"
            (self.out / f"{name}.pickle").write_bytes(pickle.dumps(finding.case))
            head = f"// {finding.verdict.kind}: {finding.verdict.message}\n".replace("\n", "\n// ").rstrip("/ ")
            (self.out / f"{name}.mlir").write_text(f"{head}\n{finding.case.text}\n")

    def _progress(self, count: int) -> None:
        if sys.stderr.isatty() or count > 5000:
            s = self.statistics
            line = f"{s.modules} modules, {dict(s.kinds)}, seed {s.seeds[-1]}, {s.seconds:.0f} s"
            print(
                f"\r{line}" if sys.stderr.isatty() else line, end="" if sys.stderr.isatty() else "\n", file=sys.stderr
            )

    def report(self) -> str:
        findings = [{"seed": f.seed, "kind": f.verdict.kind, "message": f.verdict.message} for f in self.findings]
        return json.dumps({**self.statistics.report(), "findings": findings})
