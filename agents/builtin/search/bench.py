"""The searching process's end of a worker: start it, ask it, start it again when a point has killed or hung it."""
from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from typing import Any

from kc.agents import children
from kc.agents.protocol import Proposal
from kc.errors import CompileError


class WorkerError(CompileError):
    """A point (or the default) could not be measured: the message says why."""


class Worker:
    """A process that measures proposals for one region. ``threads``: of the runtime, 0 for all; a context manager.

    ``default_us``: of a call of the region as the compiler makes it. Raises WorkerError when not even that can be
    measured.
    """

    def __init__(self, ir: str, target: str, sizes: dict[str, int], *, level: str = "linalg", threads: int = 0,
                 seed: int = 0):
        self._open = {"do": "open", "ir": ir, "level": level, "target": target, "sizes": sizes, "seed": seed}
        self.default_us = 0.0
        self._threads = threads
        self._process: subprocess.Popen[bytes] | None = None
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed by close()
        self._buffer = b""
        try:
            self._start()
        except WorkerError:
            self.close()
            raise

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def measure(
        self, proposal: Proposal, rounds: int, seconds: float, least: int = 3
    ) -> tuple[list[float], list[float]]:
        """Seconds per call of the default and with the proposal, in pairs; fewer than ``rounds`` when it is clearly
        slower after ``least``. Raises WorkerError."""
        if self._process is None:
            self._start()
        command = {"do": "measure", "proposal": proposal.to_json(), "rounds": rounds, "least": least}
        answer = self._ask(command, seconds)
        return answer["default"], answer["point"]

    def close(self) -> None:
        """End the process."""
        self._stop()
        self._errors.close()

    def _start(self) -> None:
        environment = dict(os.environ)
        if self._threads:  # of kc's runtime, and of the libraries that a proposal may call
            for name in ("KC_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
                environment[name] = str(self._threads)
        self._process = children.start(
            [sys.executable, "-m", "kc.agents.builtin.search.worker"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=self._errors, env=environment,
        )
        self._buffer = b""
        self.default_us = self._ask(self._open, 120.0)["us"]

    def _stop(self) -> None:
        if self._process is None:
            return
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._process = None

    def _ask(self, command: dict[str, Any], seconds: float) -> dict[str, Any]:
        process = self._process
        assert process is not None and process.stdin is not None and process.stdout is not None
        deadline = time.monotonic() + seconds
        try:
            process.stdin.write(json.dumps(command).encode() + b"\n")
            process.stdin.flush()
        except BrokenPipeError:
            raise self._died() from None
        while b"\n" not in self._buffer:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([process.stdout], [], [], left)[0]:
                self._stop()
                raise WorkerError(f"took longer than {seconds:g} s")
            part = os.read(process.stdout.fileno(), 1 << 16)
            if not part:
                raise self._died()
            self._buffer += part
        line, _, self._buffer = self._buffer.partition(b"\n")
        answer = json.loads(line)
        if "error" in answer:
            raise WorkerError(answer["error"])
        return answer  # type: ignore[no-any-return]

    def _died(self) -> WorkerError:
        assert self._process is not None
        code = self._process.wait()
        self._stop()
        self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(0, self._errors.tell() - 400))
        said = self._errors.read().decode(errors="replace").strip()
        return WorkerError(f"the measuring process died ({code}): {said}")
