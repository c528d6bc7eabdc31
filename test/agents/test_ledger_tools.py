"""What ``kc agents`` is made of: pruning, comparing, explaining; and the ledger inside an artifact."""
from __future__ import annotations

import dataclasses
import zipfile
from pathlib import Path
from typing import Any

import pytest

from kc.agents import Agent, Ledger, LedgerError, Observation, Proposal, Verdict
from kc.agents.ledger import artifact_lines, of_artifact, report
from kc.agents.ledger.diff import diff, settled, text_diff
from kc.agents.ledger.prune import prune

GOOD = Verdict(
    True, seconds={"parse": 0.25, "numeric": 1.5}, runs=24, errors={"ulp": 1.5},
    timing={"original_us": 12.0, "proposal_us": 8.0, "speedup": 1.5, "interval": [1.4, 1.6], "roofline_us": 2.0},
)  # fmt: skip
BAD = Verdict(False, "numeric", "numeric.nan", "differs at [3]")


class Someone(Agent):
    name, levels = "someone", ("linalg",)


def observation(identity: str, name: str = "kernel_0", **fields: Any) -> Observation:
    return Observation("linalg", "before:cpu-schedule", name, "map", identity, "module {}", **fields)


def ir(text: str) -> Proposal:
    return Proposal("replace_ir", ir=text, rationale=f"because {text}")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Two regions settled, one of them twice, one only tried, one declined; two builds."""
    ledger = Ledger(tmp_path / "ledger.jsonl")
    ledger.record(observation("a" * 64), Someone(), ir("first"), BAD)
    ledger.record(observation("a" * 64), Someone(), ir("second"), GOOD)
    ledger.record(observation("a" * 64), Someone(), ir("third"), GOOD)
    ledger.record(observation("b" * 64, "kernel_1"), Someone(), ir("first"), BAD)
    ledger.record(observation("c" * 64, "kernel_2"), Someone(), None, None)
    ledger.finish("p", "model", "cpu", [], [])
    ledger.finish("p", "model", "cpu", [{"name": "someone", "version": "1"}], [])
    return tmp_path / "ledger.jsonl"


def test_pruning_keeps_what_builds_need(path: Path) -> None:
    before, old = path.read_bytes(), Ledger(path)
    told = prune(path, dry_run=True)
    assert path.read_bytes() == before
    assert told.summary() == {"rejected": 2, "superseded": 2, "unused": 1}
    assert prune(path) == told
    new = Ledger(path)
    assert [(a.name, a.outcome) for a in new.entries()] == [("kernel_0", "accepted"), ("kernel_2", "declined")]
    for identity in "abc":
        assert new.find(identity * 64, "someone", "1") == old.find(identity * 64, "someone", "1")
    assert new.last_build("p") == old.last_build("p") and len(new.builds()) == 1
    assert {r.name for r in new.regions()} == {"kernel_0", "kernel_2"}
    assert prune(path).summary() == {}


def test_pruning_by_reason(path: Path) -> None:
    stale = dataclasses.replace(Ledger(path).entries()[2], kc="0.0.1", time="")
    Ledger(path).append(stale)
    text = path.read_text().splitlines(keepends=True)
    path.write_text("".join([*text, text[0], text[1], "broken\n", '{"type": "x", "schema": 9}\n']))
    assert prune(path, ["stale"]).summary() == {"stale": 1, "double": 2, "broken": 1}
    assert '"schema": 9' in path.read_text() and len(Ledger(path).entries()) == 5
    assert prune(path, ["rejected"]).summary() == {"rejected": 2}
    assert len(Ledger(path).regions()) == 3


def test_comparing_ledgers(path: Path, tmp_path: Path) -> None:
    left = Ledger(tmp_path / "left.jsonl")
    for region in "ab":
        left.record(observation(region * 64, f"kernel_{'ab'.index(region)}"), Someone(), ir("second"), GOOD)
    left.record(observation("9" * 64, "kernel_2"), Someone(), ir("x"), GOOD)
    left.record(observation("8" * 64, "kernel_3"), Someone(), ir("x"), GOOD)
    Ledger(path).record(observation("7" * 64, "kernel_3"), Someone(), ir("x"), GOOD)
    changes = diff(settled(tmp_path / "left.jsonl"), settled(path))
    assert [(c.what, c.name) for c in changes] == [
        ("answer", "kernel_0"), ("region", "kernel_3"), ("removed", "kernel_1"), ("removed", "kernel_2"),
    ]  # fmt: skip
    assert text_diff(changes[0])[-2:] == ["-second", "+third"]
    shown = "\n".join(line for change in changes for line in report.changed(change, ir=True))
    assert "the region itself changed" in shown and "settled on the left only" in shown and "  +third" in shown
    assert diff(settled(path), settled(path)) == []
    before, again = settled(path), Ledger(path)
    again.append(dataclasses.replace(again.entries()[2], time=""))
    assert [c.what for c in diff(before, settled(path))] == ["verdict"]
    with pytest.raises(LedgerError, match="no such ledger"):
        settled(tmp_path / "none")


def test_explaining(path: Path) -> None:
    ledger = Ledger(path)
    region = ledger.region("a" * 64)
    assert region is not None
    default = {"schedule": "rows", "knobs": {"tile": 8}}
    region = dataclasses.replace(region, flops=2e9, bytes=1e6, roofline_us=2.0, default=default)
    shown = "\n".join(report.explain(ledger.attempts("a" * 64), region, ir=True))
    for words in (
        "@kernel_0 (linalg, map, cpu)", "2 G flops, 1 M bytes, at least 2 µs",
        "kc by itself: schedule rows {tile = 8}",
        "is replace_ir (1 line), by someone 1 at before:cpu-schedule", "because: because third", "| third",
        "gates passed: parse 0.25 s, numeric 1.5 s; 24 runs", "errors: ulp 1.5",
        "time: 12 µs → 8 µs (1.5x, 95 % 1.4…1.6), roofline 2 µs", "besides, 2 proposals",
        "rejected, numeric.nan: differs at [3]",
    ):  # fmt: skip
        assert words in shown, words
    assert f"(linalg, map, cpu)  region {'a' * 12}" in shown
    assert "none of 1 proposal was accepted" in "\n".join(report.explain(ledger.attempts("b" * 64)))
    assert "someone 1 had no proposal" in "\n".join(report.explain(ledger.attempts("c" * 64)))
    old = dataclasses.replace(ledger.attempts("c" * 64)[0], kc="0.0.1")
    assert "stale: it was judged by kc 0.0.1" in "\n".join(report.explain([old]))


@pytest.mark.parametrize(
    ("proposal", "words"),
    [
        (Proposal("schedule", knobs={"tile": [8, 8], "unroll": 2}), "schedule {tile = [8, 8], unroll = 2}"),
        (Proposal("library", library="cublaslt", parameters={"algo": 3}), "library cublaslt {algo = 3}"),
        (Proposal("cuda", source="a\nb", assumes=("nnan",), guard="M % 8 == 0"),
         "cuda (2 lines), assuming nnan, where M % 8 == 0"),
        (Proposal("replace_ir", ir="x", level="loops"), "replace_ir at loops (1 line)"),
        (Proposal("keep"), "keep"),
    ],
)  # fmt: skip
def test_answers_in_words(proposal: Proposal, words: str) -> None:
    attempt = Ledger().record(observation("a" * 64), Someone(), proposal, GOOD)
    assert report.answer(attempt) == words


def test_the_artifact_holds_what_was_used(path: Path, tmp_path: Path) -> None:
    entries = Ledger(path).entries()
    used = [entries[2], entries[4], entries[2]]
    data = artifact_lines(used)
    assert data == artifact_lines(used) and data.count(b"\n") == 2
    with zipfile.ZipFile(tmp_path / "m.kca", "w") as archive:
        archive.writestr("manifest.json", "{}")
        archive.writestr("agents.jsonl", data)
    assert of_artifact(tmp_path / "m.kca") == used[:2] == settled(tmp_path / "m.kca")
    with zipfile.ZipFile(tmp_path / "bad.kca", "w") as archive:
        archive.writestr("agents.jsonl", data.replace(b"third", b"fourth"))
    with pytest.raises(LedgerError, match=r"bad\.kca.*changed after it was written"):
        of_artifact(tmp_path / "bad.kca")
    with pytest.raises(LedgerError, match=r"none\.kca"):
        of_artifact(tmp_path / "none.kca")
