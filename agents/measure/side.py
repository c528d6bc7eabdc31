"""The parent's end of one measured process: start it, ask it, stop it with all that it started."""
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
from pathlib import Path
from typing import Any

import numpy as np

from kc.agents import children
from kc.runtime import dtypes

#: variables that a measured process gets from this one; whatever else is set cannot tell it anything
_PASSED = (
    "PATH", "HOME", "LD_LIBRARY_PATH", "PYTHONPATH", "KC_RUNTIME_LIBRARY", "KC_LIBCUDA", "CUDA_VISIBLE_DEVICES",
    "TMPDIR", "LANG",
)
#: command -> names in its answer
_ANSWERS = {
    "load": set(), "draw": set(), "results": {"results"}, "idle": {"outside"},
    "run": {"wall", "cpu", "device", "outside", "late", "reused", "changed"},
}
#: characters of what the process wrote to stderr that an error shows
_SHOWN = 1500


class SideError(Exception):
    """The process died, hung, or said that the program failed. ``kind``: ``crash``, ``time`` or ``failed``."""

    def __init__(self, kind: str, message: str):
        super().__init__(message)
        self.kind = kind


class Side:
    """One program in a process of its own.

    ``window`` after ``run`` holds the nanoseconds between the marks ``begin`` and ``end`` on this process's clock.
    """

    def __init__(self, name: str, folder: Path, threads: int):
        self.name, self._folder = name, folder
        self._file = folder / f"{name}.results"
        self._stderr = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - closed by close()
        self._buffer = b""
        self.window = 0
        reader, writer = os.pipe()
        self._reader = reader
        environment = {key: os.environ[key] for key in _PASSED if key in os.environ}
        environment.update(
            KC_NUM_THREADS=str(threads), OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", KC_SPIN_US="0",
            PYTHONHASHSEED="0",
        )
        try:
            self._process = children.start(
                [sys.executable, "-m", "kc.agents.measure.serve", str(writer)], stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL, stderr=self._stderr, pass_fds=(writer,), env=environment, cwd=folder,
            )
        finally:
            os.close(writer)

    @property
    def pid(self) -> int:
        """Process id."""
        return self._process.pid

    def ask(self, what: str, seconds: float, **values: Any) -> dict[str, Any]:
        """Send a command and wait for its answer. Raises SideError."""
        deadline = time.monotonic() + seconds
        if self._buffer or select.select([self._reader], [], [], 0)[0]:
            if not self._buffer and not os.read(self._reader, 1):
                raise self._died()
            raise self._forged()
        self._send(json.dumps({"do": what, **values}).encode())
        began = 0
        while True:
            line = self._line(deadline, what)
            if line == b"begin":
                began = time.perf_counter_ns()
                self._send(b"go")  # the window starts after this clock was read, however late that was
            elif line == b"end":
                self.window = time.perf_counter_ns() - began
            else:
                break
        try:
            answer = json.loads(line)
        except ValueError:
            raise self._forged() from None
        if isinstance(answer, dict) and "error" in answer:
            raise SideError("failed", f"the {self.name} failed: {answer['error']}")
        if not isinstance(answer, dict) or answer.keys() != _ANSWERS[what]:
            raise self._forged()
        return answer

    def results(self, seconds: float) -> list[list[np.ndarray[Any, Any]]]:
        """The results of each call of the last window, as they were at its end."""
        described = self.ask("results", seconds, path=str(self._file))["results"]
        data, at, calls = np.fromfile(self._file, np.uint8), 0, []
        for call in described:
            arrays = []
            for name, shape in call:
                kind = dtypes.by_name(name).numpy
                size = int(np.prod(shape, dtype=np.int64)) * kind.itemsize
                arrays.append(data[at : at + size].view(kind).reshape(shape))
                at += size
            calls.append(arrays)
        return calls

    def strays(self) -> list[int]:
        """Processes that this one started and that still live."""
        children: dict[int, list[int]] = {}
        for entry in os.listdir("/proc"):
            if entry.isdigit():
                with contextlib.suppress(OSError, IndexError, ValueError):
                    status = Path(f"/proc/{entry}/stat").read_text()
                    fields = status[status.rindex(")") + 2 :].split()
                    if fields[0] not in "ZX":
                        children.setdefault(int(fields[1]), []).append(int(entry))
        found, pending = [], [self.pid]
        while pending:
            below = children.get(pending.pop(), [])
            found += below
            pending += below
        return found

    def close(self) -> None:
        """Kill the process, its session and what it started; safe to call twice."""
        strays = self.strays() if self._process.poll() is None else []
        for pid in (*strays, self.pid):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        self._process.wait()
        if self._process.stdin is not None and not self._process.stdin.closed:
            with contextlib.suppress(OSError):
                self._process.stdin.close()
        if self._reader >= 0:
            os.close(self._reader)
            self._reader = -1
        self._stderr.close()

    def _send(self, line: bytes) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise self._died() from None

    def _line(self, deadline: float, what: str) -> bytes:
        """The next line of the channel."""
        while b"\n" not in self._buffer:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self._reader], [], [], left)[0]:
                raise SideError("time", f"the {self.name} did not finish '{what}' in its time")
            chunk = os.read(self._reader, 1 << 16)
            if not chunk:
                raise self._died()
            self._buffer += chunk
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line

    def _forged(self) -> SideError:
        return SideError("failed", f"the {self.name} wrote into the channel of the harness")

    def _died(self) -> SideError:
        code = self._process.wait()
        how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        self._stderr.seek(0, os.SEEK_END)
        self._stderr.seek(max(0, self._stderr.tell() - _SHOWN))
        said = self._stderr.read().decode(errors="replace").strip()
        return SideError("crash", f"the process of the {self.name} ended with {how}" + (f": {said}" if said else ""))
