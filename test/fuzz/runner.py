"""Batches in a child process with a time limit: a crash or a hang is a verdict, and the next batch gets a new child."""

from __future__ import annotations

import os
import pickle
import select
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from .case import Case, Verdict

#: batches that one child takes before a new one is made
LIFE = 400


class Runner:
    """Runs batches. ``limit``: seconds for a batch; a case that needs longer alone hangs."""

    def __init__(self, limit: float = 120.0, target: str = "cpu"):
        self._limit, self.target = limit, target
        self._child: subprocess.Popen[bytes] | None = None
        self._left = 0
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 (closed with the runner)

    def run(self, cases: list[Case]) -> list[Verdict]:
        """Verdicts on the cases."""
        verdicts, kind, where, index = self._once(cases)
        if verdicts is not None:
            return verdicts
        if len(cases) > 1 and where.startswith("oracle"):  # the interpreter itself says which
            rest = self.run([*cases[:index], *cases[index + 1 :]])
            return [*rest[:index], Verdict("oracle", f"{kind} of the interpreter"), *rest[index:]]
        if len(cases) > 1:
            return [v for case in cases for v in self.run([case])]
        if where.startswith("oracle"):
            return [Verdict("oracle", f"{kind} of the interpreter: {self._said()[:160]}")]
        return [Verdict(kind, f"while: {where}; {self._said()}")]

    def close(self) -> None:
        if self._child is not None:
            self._child.kill()
            self._child.wait()
            self._child = None

    def _once(self, cases: list[Case]) -> tuple[list[Verdict] | None, str, str, int]:
        child = self._alive()
        assert child.stdin is not None
        stage, index = "start", 0
        deadline = time.monotonic() + self._limit
        try:
            pickle.dump((cases, self.target), child.stdin)
            child.stdin.flush()
            while True:
                message = self._receive(deadline)
                if message is None:
                    self.close()
                    return None, "hang", stage, index
                if message[0] == "done":
                    self._left -= 1
                    if self._left <= 0:
                        self.close()
                    return message[1], "", "", 0
                stage, index = message
        except (EOFError, BrokenPipeError):
            code = child.wait()
            self._child = None
            return None, "crash", f"{stage} (exit {code})", index

    def _receive(self, deadline: float) -> Any:
        """The child's next message; None when there is none in time."""
        ready, _, _ = select.select([self._answers], [], [], max(deadline - time.monotonic(), 0))
        return pickle.load(self._answers) if ready else None

    def _alive(self) -> subprocess.Popen[bytes]:
        if self._child is None:
            read, write = os.pipe()
            self._log.seek(0)
            self._log.truncate()
            self._child = subprocess.Popen(
                [sys.executable, str(Path(__file__).with_name("worker.py")), str(write)],
                stdin=subprocess.PIPE,
                stdout=self._log,
                stderr=self._log,
                pass_fds=[write],
                env={**os.environ, "KC_CACHE": "0"},
            )
            os.close(write)
            # unbuffered, so that select sees all that has come
            self._answers = os.fdopen(read, "rb", buffering=0)
            self._left = LIFE
            message = self._receive(time.monotonic() + 300)
            if message is None or message[0] != "ready":
                raise RuntimeError(f"the child did not start: {self._said()}")
        return self._child

    def _said(self) -> str:
        self._log.seek(0)
        return self._log.read()[-600:].decode(errors="replace")
