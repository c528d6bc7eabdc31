"""False accepts and false rejects of ``kc.agents.judge`` on proposals whose right verdict is known, by kind and level.

    python bench/gate_corpus.py [FOLDER ...] [--level LEVEL] [--kind TEXT] [--only TEXT] [--jobs N] [--json OUT]

Without a folder: kc's own corpus, ``test/agents/corpus``. A FOLDER holds JSON entries of the same form (``id``,
``level``, ``kind``, ``original``, ``proposal``, ``expect``). The gpu level is judged for the GPU, others for the CPU.

Each entry is judged in a worker process; one that gives no verdict within ``--timeout`` seconds, or dies, counts as
failed. Exit status 1 when there is a false accept, a false reject or a failure.
"""
from __future__ import annotations

import argparse
import collections
import dataclasses
import json
import os
import queue
import select
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent


@dataclasses.dataclass(frozen=True)
class Score:
    """One entry judged: ``verdict`` is accept, reject or failed; ``seconds`` of wall time."""

    id: str
    level: str
    kind: str
    expect: str
    verdict: str
    reason: str
    message: str
    seconds: float

    @property
    def right(self) -> bool:
        """Whether the verdict is the expected one."""
        return self.verdict == self.expect


class Worker:
    """A process that judges entries sent as lines of JSON, and is replaced when it hangs or dies."""

    def __init__(self, timeout: float, seed: int | None = None):
        self.timeout, self.seed = timeout, seed
        self.process: subprocess.Popen[bytes] | None = None

    def judge(self, entry: dict[str, Any]) -> Score:
        """The score of ``entry``."""
        target = "nvptx" if entry["level"] == "gpu" else "cpu"
        task = {key: entry[key] for key in ("original", "proposal", "level")} | {"target": target, "seed": self.seed}
        start = time.perf_counter()
        answer = self._ask(task)
        seconds = time.perf_counter() - start
        verdict = {True: "accept", False: "reject", None: "failed"}[answer.get("accepted")]
        told = {key: entry.get(key) or "" for key in ("id", "level", "kind", "expect")}
        reason, message = answer.get("reason", ""), " ".join(str(answer.get("message", "")).split())
        return Score(**told, verdict=verdict, reason=reason, message=message, seconds=seconds)

    def _ask(self, task: dict[str, Any]) -> dict[str, Any]:
        if self.process is None:
            command = [sys.executable, __file__, "--worker"]
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        process = self.process
        assert process.stdin is not None and process.stdout is not None
        try:
            process.stdin.write(json.dumps(task).encode() + b"\n")
            process.stdin.flush()
        except BrokenPipeError:
            return self._lost("the worker had died")
        line, end = b"", time.monotonic() + self.timeout
        while not line.endswith(b"\n"):
            if not select.select([process.stdout], [], [], max(0.0, end - time.monotonic()))[0]:
                return self._lost(f"no verdict within {self.timeout:g} s")
            piece = os.read(process.stdout.fileno(), 1 << 16)
            if not piece:
                return self._lost("the process died")
            line += piece
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _lost(self, message: str) -> dict[str, Any]:
        self.close()
        return {"reason": "failed", "message": message}

    def close(self) -> None:
        """End the process."""
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None


def work() -> None:
    """The worker's loop: tasks from stdin, verdicts to stdout."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print must not come between
    from kc.agents import judge

    for line in sys.stdin:
        task = json.loads(line)
        try:
            answer = judge(**task).to_json()
        except Exception as error:
            answer = {"reason": "failed", "message": f"{type(error).__name__}: {error}"}
        out.write(json.dumps(answer) + "\n")
        out.flush()


def score(
    entries: Sequence[dict[str, Any]], jobs: int = 1, timeout: float = 180, seed: int | None = None
) -> list[Score]:
    """All entries judged by ``jobs`` workers, in the order of ``entries``; progress goes to stderr."""
    todo: queue.SimpleQueue[int] = queue.SimpleQueue()
    for number in range(len(entries)):
        todo.put(number)
    scores: dict[int, Score] = {}

    def run() -> None:
        worker = Worker(timeout, seed)
        try:
            while True:
                number = todo.get_nowait()
                scores[number] = found = worker.judge(entries[number])
                if not found.right:
                    print(f"  {found.expect} but {found.verdict}: {found.id}", file=sys.stderr, flush=True)
        except queue.Empty:
            pass
        finally:
            worker.close()

    threads = [threading.Thread(target=run) for _ in range(jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [scores[number] for number in range(len(entries))]


def report(scores: Sequence[Score], columns: tuple[str, ...] = ("level", "kind")) -> Iterable[str]:
    """The tables, line by line."""
    for column in columns:
        groups: dict[str, list[Score]] = collections.defaultdict(list)
        for found in scores:
            groups[getattr(found, column)].append(found)
        if column != columns[0]:  # the long table: kinds with something wrong first
            groups = dict(sorted(groups.items(), key=lambda item: (all(s.right for s in item[1]), item[0])))
        yield (
            f"\n{column:<26} {'rejects':>7} {'false accepts':>14} {'accepts':>7} {'false rejects':>14} {'failed':>6} "
            f"{'s, median':>9}"
        )
        for name, group in [*groups.items(), ("all", list(scores))]:
            wrong = collections.Counter((s.expect, s.verdict) for s in group if not s.right)
            counts = collections.Counter(s.expect for s in group)
            failed = wrong["reject", "failed"] + wrong["accept", "failed"]
            yield (
                f"{name:<26} {counts['reject']:>7} {wrong['reject', 'accept']:>14} {counts['accept']:>7} "
                f"{wrong['accept', 'reject']:>14} {failed:>6} {statistics.median(s.seconds for s in group):>9.2f}"
            )
    for title, expect, verdict in (
        ("False accepts", "reject", "accept"), ("False rejects", "accept", "reject"), ("Failed", None, "failed"),
    ):  # fmt: skip
        chosen = [s for s in scores if s.verdict == verdict and expect in (None, s.expect)]
        if chosen:
            yield f"\n{title}:"
        for found in chosen:
            yield f"  {found.id:<48} {found.kind:<22} {found.reason} {found.message[:160]}"


def entries_of(folders: Sequence[Path], level: str | None) -> list[dict[str, Any]]:
    """The entries of the folders of JSON files, or kc's own."""
    if folders:
        entries = [json.loads(path.read_text()) for folder in folders for path in sorted(folder.glob("*.json"))]
    else:
        sys.path.insert(0, str(ROOT / "test" / "agents"))
        import corpus

        entries = [entry.to_json() for entry in corpus.load()]
    return [entry for entry in entries if level in (None, entry["level"])]


def main() -> int:
    """The command line."""
    if sys.argv[1:] == ["--worker"]:
        work()
        return 0
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--level")
    parser.add_argument("--kind", default="", help="kinds that contain this")
    parser.add_argument("--only", default="", help="ids that contain this")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--timeout", type=float, default=180)
    parser.add_argument("--seed", type=int, help="fix the seeds of the inputs (fresh ones otherwise)")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    chosen = [
        e for e in entries_of(options.folders, options.level) if options.kind in e["kind"] and options.only in e["id"]
    ]
    if not chosen:
        parser.error("no entry is left")
    scores = score(chosen, options.jobs, options.timeout, options.seed)
    print("\n".join(report(scores)))
    if options.json:
        options.json.write_text(json.dumps([dataclasses.asdict(s) for s in scores], indent=1))
    return 0 if all(s.right for s in scores) else 1


if __name__ == "__main__":
    sys.exit(main())
