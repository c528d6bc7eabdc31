"""The fuzzer: mutants of corpus entries through the judge, and what came of them."""
from __future__ import annotations

import collections
import dataclasses
import json
import os
import random
import select
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from corpus import Entry
from mutations import Mutant, mutate
from worker import descendants

HERE = Path(__file__).resolve().parent
#: files and processes that a judge may keep for later: a warm sandbox, and what leads to it
_KEPT_FILES, _KEPT_PROCESSES = 12, 2


@dataclasses.dataclass(frozen=True)
class Finding:
    """Something wrong: ``kind`` is crash, hang, raised, leak or wrong accept."""

    kind: str
    entry: str
    seed: int
    message: str


@dataclasses.dataclass
class Fuzzer:
    """``seconds``: a limit on the whole run; ``timeout``: on one verdict."""

    entries: Sequence[Entry]
    timeout: float = 120.0
    seconds: float = float("inf")
    findings: list[Finding] = dataclasses.field(default_factory=list)
    counts: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    rechecks: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    longest: float = 0.0

    def __post_init__(self) -> None:
        self._folder = tempfile.mkdtemp(prefix="kc-proposal-fuzz-")
        self._process: subprocess.Popen[bytes] | None = None
        self._entry, self._seed = "", 0

    def run(self, seed: int, count: int) -> None:
        """``count`` mutants from ``seed`` on, or as many as the time allows."""
        end = time.monotonic() + self.seconds
        chooser = random.Random(seed)
        try:
            for number in range(count):
                if time.monotonic() > end:
                    break
                self._one(chooser.choice(self.entries), seed + number)
        finally:
            self._end()

    def _one(self, entry: Entry, seed: int) -> None:
        self._entry, self._seed = entry.id, seed
        start = time.monotonic()
        answer = self._ask({"entry": entry.id, "seed": seed})
        self.longest = max(self.longest, time.monotonic() - start)
        if answer is None:
            return
        reason = answer["reason"]
        self.counts[f"{answer['how']}: {reason}"] += 1
        if reason == "raised":
            self._find("raised", answer["message"])
        state = answer["state"]
        if state["files"] > _KEPT_FILES or state["processes"] > _KEPT_PROCESSES:
            self._find("leak", f"{state['files']} files open, {state['processes']} processes")
            self._end()
        if answer["accepted"]:
            self._recheck(mutate(entry, seed))

    def _recheck(self, mutant: Mutant) -> None:
        """An accepted mutant must be what the original is."""
        proposal = mutant.proposal
        if not isinstance(proposal, dict) or proposal.get("kind") != "replace_ir":
            self.rechecks["keep" if isinstance(proposal, dict) and proposal.get("kind") == "keep" else "other"] += 1
            if not isinstance(proposal, dict) or proposal.get("kind") != "keep":
                self._find("wrong accept", f"a message that is none: {str(proposal)[:200]}")
            return
        if proposal.get("guard"):
            self.rechecks["guarded"] += 1
            return
        task = {"original": mutant.entry.original, "proposal": proposal["ir"], "level": mutant.entry.level,
                "seed": mutant.seed}  # fmt: skip
        try:
            done = subprocess.run(
                [sys.executable, str(HERE / "recheck.py")], input=json.dumps(task).encode(), capture_output=True,
                timeout=self.timeout, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            self.rechecks["too slow"] += 1
            return
        lines = done.stdout.decode(errors="replace").strip().split("\n")
        said = lines[-1] if done.returncode == 0 else f"differs: ended with {done.returncode}"
        self.rechecks[said.partition(":")[0].rstrip("0123456789 cals")] += 1
        if said.startswith("differs"):
            self._find("wrong accept", said)

    def _find(self, kind: str, message: str) -> None:
        self.findings.append(Finding(kind, self._entry, self._seed, message))
        print(f"{kind}: {self._entry} seed {self._seed}: {message[:300]}", file=sys.stderr, flush=True)

    def _ask(self, task: dict[str, Any]) -> dict[str, Any] | None:
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, str(HERE / "worker.py")], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                env={**os.environ, "TMPDIR": self._folder},
            )  # fmt: skip
        process = self._process
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(json.dumps(task).encode() + b"\n")
        process.stdin.flush()
        line, end = b"", time.monotonic() + self.timeout
        while not line.endswith(b"\n"):
            if not select.select([process.stdout], [], [], max(0.0, end - time.monotonic()))[0]:
                self._find("hang", f"no verdict within {self.timeout:g} s")
                self._kill()
                return None
            piece = os.read(process.stdout.fileno(), 1 << 16)
            if not piece:
                self._find("crash", f"the judge's process ended with {process.wait()}")
                self._kill()
                return None
            line += piece
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def _end(self) -> None:
        """End the worker in good order; then nothing of it may be left: no process, no file."""
        if self._process is not None:
            below = descendants(self._process.pid)
            assert self._process.stdin is not None
            self._process.stdin.close()
            try:
                self._process.wait(20)
            except subprocess.TimeoutExpired:
                self._find("hang", "the process does not end")
                self._kill()
            self._process = None
            left = _alive(below, 5.0)
            if left:
                self._find("leak", f"processes that outlive the judge: {left}")
        files = [str(path.relative_to(self._folder)) for path in Path(self._folder).rglob("*")]
        if files:
            self._find("leak", f"{len(files)} temporary files: {files[:5]}")
        shutil.rmtree(self._folder, ignore_errors=True)
        os.makedirs(self._folder, exist_ok=True)

    def close(self) -> None:
        """Remove the folder for temporary files."""
        shutil.rmtree(self._folder, ignore_errors=True)


def _alive(pids: Sequence[int], patience: float) -> list[int]:
    """Which of the processes still run after ``patience`` seconds."""
    end = time.monotonic() + patience
    while True:
        left = []
        for pid in pids:
            try:
                if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z":
                    left.append(pid)
            except OSError:
                continue
        if not left or time.monotonic() > end:
            return left
        time.sleep(0.05)
