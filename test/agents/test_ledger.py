"""The ledger: what it finds, what it refuses, and that nothing written is lost."""
from __future__ import annotations

import dataclasses
import json
import multiprocessing
import os
import shutil
import signal
import subprocess
import threading
import time
import warnings
from pathlib import Path
from typing import Any

import pytest

from kc.agents import Agent, Ledger, LedgerError, Observation, Proposal, Verdict
from kc.agents.ledger import Attempt, Build, Region, Visit, lines, why_stale
from kc.agents.ledger.journal import Journal, Scan

GOOD = Verdict(True, timing={"original_us": 2.0, "proposal_us": 1.0}, seconds={"parse": 0.25})
BAD = Verdict(False, "numeric", "numeric.nan", "differs", witness={"got": float("nan"), "want": [float("-inf"), 1.5]})
PROPOSAL = Proposal("replace_ir", ir="module {}", rationale="shorter")


def observation(identity: str = "a" * 64, name: str = "kernel_0", **fields: Any) -> Observation:
    given = {"level": "linalg", "at": "before:cpu-schedule", "kind": "map", "ir": "module {}", **fields}
    return Observation(name=name, identity=identity, **given)


class Someone(Agent):
    name, levels = "someone", ("linalg",)


class Other(Agent):
    name, levels = "other", ("linalg",)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "kc-agents.jsonl"


# ---------------------------------------------------------------- questions


def test_what_was_recorded_is_found_again(path: Path) -> None:
    ledger = Ledger(path)
    written = ledger.record(observation(), Someone(), PROPOSAL, GOOD, seed=7)
    again = Ledger(path)
    found = again.find("a" * 64, "someone", "1")
    assert found == written and found is not None and found.hash == written.hash
    assert found.message() == PROPOSAL and found.judgement() == GOOD
    assert (found.seed, found.outcome, found.at) == (7, "accepted", "before:cpu-schedule")
    assert found.machine["cpu"] and found.kc and found.time.endswith("+00:00")
    assert again.region("a" * 64) == Region.of(observation())
    assert again.entry(written.hash) == written and again.entry("0") is None
    assert again.find("b" * 64, "someone", "1") is None
    assert again.find("a" * 64, "someone", "2") is None
    assert again.find("a" * 64, "other", "1") is None
    assert not again.problems


def test_numbers_that_json_does_not_have_come_back(path: Path) -> None:
    Ledger(path).record(observation(), Someone(), PROPOSAL, BAD)
    json.loads(path.read_text().splitlines()[-1], parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    (attempt,) = Ledger(path).entries()
    witness = attempt.judgement().witness  # type: ignore[union-attr]
    assert witness is not None and witness["got"] != witness["got"] and witness["want"] == [float("-inf"), 1.5]


def test_rejected_attempts_are_kept_and_settle_nothing(path: Path) -> None:
    ledger = Ledger(path)
    ledger.record(observation(), Someone(), PROPOSAL, BAD)
    assert ledger.find("a" * 64, "someone", "1") is None
    assert [a.outcome for a in ledger.attempts("a" * 64, "someone")] == ["rejected"]
    ledger.record(observation(), Someone(), Proposal("keep"), GOOD)
    ledger.record(observation(), Someone(), PROPOSAL, BAD)  # a later failure does not unsettle what was accepted
    found = ledger.find("a" * 64, "someone", "1")
    assert found is not None and found.proposal == Proposal("keep").to_json()
    assert [a.outcome for a in Ledger(path).attempts("a" * 64)] == ["rejected", "accepted", "rejected"]


def test_the_newest_answer_settles_whatever_the_clock_did(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = Ledger(path)
    ledger.record(observation(), Someone(), PROPOSAL, GOOD)
    import datetime

    class Slow(datetime.datetime):
        @classmethod
        def now(cls, tz: Any = None) -> datetime.datetime:
            return datetime.datetime(2001, 1, 1, tzinfo=tz)

    monkeypatch.setattr("kc.agents.ledger.ledger.datetime.datetime", Slow)
    ledger.record(observation(), Someone(), None, None)
    found = ledger.find("a" * 64, "someone", "1")
    assert found is not None and found.outcome == "declined"


def test_the_same_proposal_need_not_be_judged_again() -> None:
    ledger = Ledger()
    ledger.record(observation(), Other(), PROPOSAL, BAD)
    found = ledger.same("a" * 64, dataclasses.replace(PROPOSAL, rationale="another reason"))
    assert found is not None and found.agent == "other"
    assert ledger.same("a" * 64, dataclasses.replace(PROPOSAL, ir="module { }")) is None
    assert ledger.same("b" * 64, PROPOSAL) is None
    assert ledger.path is None


def test_verdicts_that_rest_on_a_measurement_are_of_their_machine() -> None:
    untimed = dataclasses.replace(GOOD, timing=None)
    slow = Verdict(False, "timing", "timing.slower", timing=GOOD.timing)
    for verdict, plain, timed in ((untimed, True, False), (GOOD, True, True), (slow, False, True), (BAD, True, True)):
        ledger = Ledger()
        attempt = ledger.record(observation(), Someone(), PROPOSAL, verdict)
        assert (ledger.same("a" * 64, PROPOSAL) is not None) == plain
        assert (ledger.same("a" * 64, PROPOSAL, timing=True) is not None) == timed
        other = Ledger()
        other.append(dataclasses.replace(attempt, machine={"cpu": "another"}))
        assert (other.same("a" * 64, PROPOSAL, timing=True) is not None) == (verdict is BAD)


@pytest.mark.parametrize("change", [{"kc": "0.0.1"}, {"protocol": 0}, {"gates": 12345}], ids=lambda c: next(iter(c)))
def test_what_was_judged_by_other_rules_is_stale(change: dict[str, Any]) -> None:
    ledger = Ledger()
    fresh = ledger.record(observation(), Someone(), PROPOSAL, GOOD)
    assert why_stale(fresh) is None
    old = ledger.append(dataclasses.replace(fresh, time="", **change))
    reason = why_stale(old)
    assert reason is not None and str(next(iter(change.values()))) in reason
    assert ledger.find("a" * 64, "someone", "1") is None
    assert ledger.recall("a" * 64, "someone", "1") == old
    with pytest.raises(LedgerError, match=r"(?s)@kernel_0.*judged by|@kernel_0.*speaks version 0"):
        ledger.require("a" * 64, "someone", "1", name="kernel_0", level="linalg")


def test_a_frozen_build_says_what_is_missing_and_why(path: Path) -> None:
    ledger = Ledger(path)
    ledger.record(observation(), Someone(), PROPOSAL, GOOD)
    ledger.record(observation("c" * 64, "kernel_1"), Someone(), PROPOSAL, BAD)

    def ask(identity: str, agent: str = "someone", version: str = "1", name: str = "kernel_0") -> str:
        with pytest.raises(LedgerError) as caught:
            ledger.require(identity, agent, version, name=name, level="linalg", at="before:cpu-schedule")
        assert caught.value.region == name and caught.value.identity == identity
        message = str(caught.value)
        assert f"@{name}" in message and str(path) in message and "mode 'replay'" in message
        return message

    assert ledger.require("a" * 64, "someone", "1", name="kernel_0", level="linalg") is not None
    assert "settled for version 1 of the agent" in ask("a" * 64, version="2")
    assert "asked of 'someone' only" in ask("a" * 64, agent="other")
    assert "contract, target or options changed" in ask("d" * 64)
    assert "never seen" in ask("e" * 64, name="fresh")
    assert "all 1 proposals were rejected" in ask("c" * 64, name="kernel_1")
    ledger.finish("p", "model", "cpu", [{"name": "someone", "version": "1"}],
                  [Visit("before:cpu-schedule", "fresh", "e" * 64, "someone", "1", None)])  # fmt: skip
    assert ledger.require("e" * 64, "someone", "1", name="fresh", level="linalg") is None


def test_builds_tell_who_took_part(path: Path) -> None:
    ledger = Ledger(path)
    with pytest.raises(LedgerError, match=r"has no build of 'model' for target 'cpu' .it knows no build at all"):
        ledger.require_build("p", "model", "cpu")
    visits = [Visit("before:x", "k", "a" * 64, "someone", "1", "0" * 32)]
    who = [{"name": "someone", "version": "1", "levels": ("linalg",)}]
    first = ledger.finish("p", "model", "cpu", who, visits)
    assert ledger.finish("p", "model", "cpu", who, visits) == first  # the same build again is no news
    again = Ledger(path)
    assert again.finish("p", "model", "cpu", who, visits).hash == first.hash
    assert again.builds() == [first] and again.require_build("p", "model", "cpu") == first
    assert again.last_build("q", "model", "cpu") == first  # the program changed: who takes part did not
    assert again.last_build("q", "model", "nvptx") is None
    second = again.finish("p", "model", "cpu", [], [])
    assert Ledger(path).last_build("p") == second and second.order > first.order


# ---------------------------------------------------------------- the file


def test_no_line_holds_what_is_no_json(path: Path) -> None:
    ledger = Ledger(path)
    ledger.record(observation(), Someone(), PROPOSAL, GOOD)
    before = path.read_bytes()
    attempt = ledger.entries()[0]
    for wrong in ({"x": object()}, {"x": {1: 2}}, {"x": b"bytes"}):
        with pytest.raises(LedgerError, match=r"JSON"):
            ledger.append(dataclasses.replace(attempt, proposal=wrong, time=""))
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises((LedgerError, RecursionError)):
        ledger.append(dataclasses.replace(attempt, proposal={"x": deep}, time=""))
    assert path.read_bytes() == before


def test_every_cut_of_the_file_loses_only_the_line_that_was_cut(path: Path) -> None:
    ledger = Ledger(path)
    for number in range(3):
        ledger.record(observation(str(number) * 64), Someone(), Proposal("keep", rationale="ä\n€"), GOOD)
    whole = path.read_bytes()
    ends = [at + 1 for at, byte in enumerate(whole) if byte == 10]
    for cut in [*range(ends[-3], len(whole), 31), len(whole) - 1]:
        path.write_bytes(whole[:cut])
        reader = Ledger(path)
        lines_before = sum(end <= cut for end in ends)
        assert len(reader.regions()) + len(reader.entries()) == lines_before
        assert [p.line for p in reader.problems] == ([] if cut in ends else [lines_before + 1])
        mended = cut + 1 in ends  # only the newline was missing: the line is whole
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            reader.record(observation("9" * 64), Someone(), PROPOSAL, GOOD)
        assert len(told) == (cut not in ends and not mended)
        after = Ledger(path)
        assert not after.problems and not reader.problems
        assert len(after.regions()) + len(after.entries()) == lines_before + 2 + mended
        assert path.read_bytes().startswith(whole[: ends[lines_before - 1]])


def test_changed_lines_are_left_out_and_named(path: Path) -> None:
    ledger = Ledger(path)
    ledger.record(observation(), Someone(), PROPOSAL, BAD)
    text = path.read_text()
    path.write_text(text.replace('"accepted": false', '"accepted": true'))
    (problem,) = Ledger(path).problems
    assert problem.line == 2 and "changed after it was written" in problem.message
    assert Ledger(path).find("a" * 64, "someone", "1") is None
    shapes = ('{"type": "attempt"}', '{"type": "attempt", "schema": 1}')
    for junk in ("null", "[]", "{}", "nonsense", "[" * 100_000, "\xff", *shapes):
        path.write_bytes(text.encode() + junk.encode("latin-1") + b"\n")
        found = Ledger(path)
        assert [p.line for p in found.problems] == [3] and len(found.entries()) == 1, junk


def test_lines_with_wrong_fields_are_refused() -> None:
    attempt = Ledger().record(observation(), Someone(), PROPOSAL, GOOD)
    fields = json.loads(lines.text_of(attempt))
    for change in ({"identity": 3}, {"extra": 1}, {"time": "yesterday"}, {"machine": []}, {"seed": "x"}):
        changed = {key: value for key, value in {**fields, **change}.items() if key != "hash"}
        changed["hash"] = lines._hash(changed)
        with pytest.raises(lines.LineError):
            lines.parse(json.dumps(changed))
    assert lines.parse(json.dumps(fields)) == attempt


def test_lines_of_a_newer_kc_are_left_alone(path: Path) -> None:
    newer = '{"type": "dream", "schema": 1, "hash": "x"}\n{"type": "attempt", "schema": 2, "hash": "y"}\n'
    path.write_text(newer)
    ledger = Ledger(path)
    assert [p.keep for p in ledger.problems] == [True, True] and "newer kc" in ledger.problems[0].message
    ledger.record(observation(), Someone(), PROPOSAL, GOOD)
    Journal(path).rewrite(lambda scan: scan.lines[1:])
    assert path.read_text().startswith(newer)
    assert [type(line) for line in Journal(path).read().lines] == [Attempt]


def test_rewriting_is_seen_by_those_who_have_the_old_file_open(path: Path) -> None:
    first, second = Ledger(path), Ledger(path)
    first.record(observation(), Someone(), PROPOSAL, BAD)
    first.record(observation(), Someone(), Proposal("keep"), GOOD)
    second.refresh()
    mode = 0o640
    path.chmod(mode)
    Journal(path).rewrite(lambda scan: [line for line in scan.lines if not isinstance(line, Attempt)])
    assert path.stat().st_mode & 0o777 == mode
    second.record(observation(), Other(), PROPOSAL, GOOD)
    first.refresh()
    for ledger in (first, second, Ledger(path)):
        assert [a.agent for a in ledger.entries()] == ["other"] and len(ledger.regions()) == 1
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_a_failed_rewrite_changes_nothing(path: Path) -> None:
    Ledger(path).record(observation(), Someone(), PROPOSAL, GOOD)
    before = path.read_bytes()
    with pytest.raises(ZeroDivisionError):
        Journal(path).rewrite(lambda scan: [1 // 0])  # type: ignore[list-item]
    assert path.read_bytes() == before and [p.name for p in path.parent.iterdir()] == [path.name]


def test_what_a_killed_rewrite_left_goes_with_the_next(path: Path) -> None:
    Ledger(path).record(observation(), Someone(), PROPOSAL, GOOD)
    ours, other = path.parent / f".kc-ledger-{path.name}-abcd_123", path.parent / ".kc-ledger-other.jsonl-abcd_123"
    for left in (ours, other):
        left.write_text("half a led")
    Journal(path).rewrite(lambda scan: scan.lines)
    assert sorted(path.parent.iterdir()) == sorted([path, other])


def test_errors_of_the_file_system_name_the_ledger(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match=r"cannot read the ledger .*: Is a directory"):
        Ledger(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(LedgerError, match=r"pipe': it is no regular file"):
        Ledger(tmp_path / "pipe")
    ledger = Ledger(tmp_path / "nowhere" / "ledger.jsonl")
    with pytest.raises(LedgerError, match=r"cannot write the ledger .*nowhere.*No such file"):
        ledger.record(observation(), Someone(), PROPOSAL, GOOD)


def test_a_full_disk_leaves_the_file_as_it_was(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = Ledger(path)
    ledger.record(observation(), Someone(), PROPOSAL, GOOD)
    before, real = path.read_bytes(), os.write
    free = [40]

    def full(descriptor: int, data: Any) -> int:
        if not free:
            raise OSError(28, "No space left on device")
        return real(descriptor, data[: free.pop()])

    monkeypatch.setattr("kc.agents.ledger.journal.os.write", full)
    with pytest.raises(LedgerError, match="No space left"):
        ledger.record(observation("b" * 64), Someone(), PROPOSAL, GOOD)
    monkeypatch.undo()
    assert path.read_bytes() == before
    ledger.record(observation("b" * 64), Someone(), PROPOSAL, GOOD)
    assert len(Ledger(path).entries()) == 2


# ---------------------------------------------------------------- several writers


def _write(path: str, worker: int, count: int) -> None:
    ledger = Ledger(path)
    for number in range(count):
        ledger.record(observation(f"{worker}-{number}"), Someone(), Proposal("keep", rationale="x" * 5000), GOOD)


def test_many_processes_lose_nothing(path: Path) -> None:
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=_write, args=(str(path), worker, 6)) for worker in range(8)]
    for worker in workers:
        worker.start()
    pruned = 0
    while any(worker.is_alive() for worker in workers):  # and one that rewrites the file meanwhile
        if path.exists():
            Journal(path).rewrite(lambda scan: scan.lines)
            pruned += 1
        time.sleep(0.02)
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
    ledger = Ledger(path)
    assert pruned and not ledger.problems
    assert {a.identity for a in ledger.entries()} == {f"{w}-{n}" for w in range(8) for n in range(6)}
    assert len(ledger.regions()) == len(ledger.entries()) == 48


def test_threads_of_one_process_share_a_ledger(path: Path) -> None:
    ledger = Ledger(path)

    def work(worker: int) -> None:
        for number in range(10):
            ledger.record(observation(f"{worker}-{number}"), Someone(), PROPOSAL, GOOD)

    threads = [threading.Thread(target=work, args=(worker,)) for worker in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(Ledger(path).entries()) == len(ledger.entries()) == 60


def test_a_writer_that_is_killed_loses_nothing_that_was_written(path: Path) -> None:
    context = multiprocessing.get_context("fork")
    for _ in range(3):
        worker = context.Process(target=_write, args=(str(path), 0, 10_000))
        worker.start()
        while not path.exists() or path.stat().st_size < 20_000:
            assert worker.is_alive()
        before = Ledger(path).entries()
        os.kill(worker.pid or 0, signal.SIGKILL)
        worker.join()
        ledger = Ledger(path)
        assert len(ledger.entries()) >= len(before)
        assert all(p.message.startswith("the last line") for p in ledger.problems)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ledger.record(observation("z"), Someone(), PROPOSAL, GOOD)
        assert not Ledger(path).problems
        path.unlink()


def test_two_branches_merge(tmp_path: Path) -> None:
    if shutil.which("git") is None:
        pytest.skip("needs git")
    path = tmp_path / "kc-agents.jsonl"

    def git(*arguments: str) -> int:
        command = ["git", "-c", "user.name=t", "-c", "user.email=t@t", "-C", str(tmp_path), *arguments]
        return subprocess.run(command, capture_output=True).returncode

    def commit(identity: str, agent: Agent) -> Attempt:
        made = Ledger(path).record(observation(identity), agent, PROPOSAL, GOOD)
        git("add", "."), git("commit", "-qm", identity)
        return made

    git("init", "-q", "-b", "one")
    commit("a" * 64, Someone())
    git("branch", "two")
    commit("b" * 64, Someone())
    git("checkout", "-q", "two")
    later = commit("b" * 64, Someone())
    assert git("merge", "one") != 0  # a conflict: both appended at the end
    ledger = Ledger(path)
    assert len(ledger.entries()) == 3 and ledger.find("b" * 64, "someone", "1") == later
    assert len(ledger.problems) == 3 and all("conflict" in p.message for p in ledger.problems)
    git("merge", "--abort")
    (tmp_path / ".gitattributes").write_text("*.jsonl merge=union\n")
    git("add", "."), git("commit", "-qm", "attributes")
    assert git("merge", "one") == 0
    merged = Ledger(path)
    assert not merged.problems and len(merged.entries()) == 3 and merged.find("b" * 64, "someone", "1") == later


def test_reading_goes_on_where_it_ended(path: Path) -> None:
    one = Ledger(path)
    one.record(observation(), Someone(), PROPOSAL, GOOD)
    scan = Journal(path).read()
    assert len(scan.lines) == 2
    one.record(observation("b" * 64), Someone(), PROPOSAL, GOOD)
    more = Journal(path).read(dataclasses.replace(scan, lines=[]))
    assert [line.identity for line in more.lines if not isinstance(line, Build)] == ["b" * 64] * 2
    assert Journal(path.with_name("none")).read() == Scan()
