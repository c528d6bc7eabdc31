"""A short run of the fuzzer, and its past findings. The long run is ``python test/fuzz``; see README.md."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from fuzz import corpus
from fuzz.engine import Fuzzer
from fuzz.families import FAMILIES
from fuzz.runner import Runner

CORPUS = sorted(corpus.FOLDER.glob("*.json"))


def test_past_findings_stay_mended():
    runner = Runner()
    try:
        cases = [corpus.load(path) for path in CORPUS]
        verdicts = [v for i in range(0, len(cases), 12) for v in runner.run(cases[i : i + 12])]
    finally:
        runner.close()
    bad = {path.stem: (v.kind, v.message) for path, v in zip(CORPUS, verdicts, strict=True) if v.kind != "ok"}
    assert not bad


@pytest.mark.timeout(280)
def test_random_programs_agree_with_the_interpreter():
    """The same programs each time; a limit on time rather than on count, for slow machines."""
    fuzzer = Fuzzer(Runner(), tuple(FAMILIES), batch=12, shrink=0, out=None)
    fuzzer.run(seed=1, count=150, seconds=25)
    found = [f"{f.verdict.kind}: {f.verdict.message}\n{f.case.text}" for f in fuzzer.findings]
    assert not found, "\n\n".join(found)
    assert fuzzer.statistics.modules >= 12 and fuzzer.statistics.kinds["ok"]
