"""A child process that speaks in lines: time limits, a bound on a line, stderr kept, killed as a group."""
from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import threading
import time
from collections.abc import Sequence

from kc.agents import children

#: how often a waiting parent looks whether the child still runs
LOOK_SECONDS = 0.1
#: bytes of stderr that are kept, and how many of them a message shows
STDERR_BYTES, STDERR_SHOWN = 64 << 10, 1000


class ChildFailure(Exception):
    """The child ended, was too slow, or wrote a line that is too long."""


class LineProcess:
    """A command with pipes to its stdin, stdout and stderr, in a process group of its own. Raises OSError."""

    def __init__(self, command: Sequence[str], line_bytes: int):
        self._process = children.start(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0,
        )
        assert self._process.stdin is not None and self._process.stdout is not None
        self._stdin, self._stdout = self._process.stdin.fileno(), self._process.stdout.fileno()
        os.set_blocking(self._stdin, False)
        self._line_bytes = line_bytes
        self._buffer = bytearray()
        self._searched = 0
        self._stderr = bytearray()
        self._reader = threading.Thread(target=self._keep_stderr, daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        """Process id, and that of the group."""
        return self._process.pid

    def send(self, line: str, deadline: float) -> None:
        """Write a line. Raises ChildFailure when the child has not taken it at ``deadline`` (of ``time.monotonic``)."""
        data = memoryview(line.encode() + b"\n")
        while data:
            self._await(write=True, deadline=deadline)
            try:
                data = data[os.write(self._stdin, data[: 1 << 20]) :]
            except BlockingIOError:
                continue
            except BrokenPipeError:
                raise self._ended() from None

    def receive(self, deadline: float) -> bytes:
        """The next line, without its end; blank ones are skipped. Raises ChildFailure."""
        while True:
            end = self._buffer.find(b"\n", self._searched)
            if end >= 0:
                line, self._searched = bytes(self._buffer[:end]), 0
                del self._buffer[: end + 1]
                if line.strip():
                    return line
                continue
            self._searched = len(self._buffer)
            if len(self._buffer) > self._line_bytes:
                raise ChildFailure(f"wrote a line of more than {self._line_bytes} bytes")
            self._await(write=False, deadline=deadline)
            chunk = os.read(self._stdout, 1 << 20)
            if not chunk:
                raise self._ended()
            self._buffer += chunk

    def wait(self, seconds: float) -> None:
        """Wait for the child to end by itself. Raises ChildFailure when it does not."""
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise ChildFailure("did not end") from None

    def kill(self) -> None:
        """End the child and all of its group at once, and close the pipes; safe to call twice."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._reader.join(1.0)
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None and not (pipe is self._process.stderr and self._reader.is_alive()):
                with contextlib.suppress(OSError):
                    pipe.close()

    def stderr_tail(self) -> str:
        """The end of what the child wrote to stderr."""
        return bytes(self._stderr[-STDERR_SHOWN:]).decode(errors="replace").strip()

    def _await(self, *, write: bool, deadline: float) -> None:
        """Wait until the pipe can be written or read."""
        reading, writing = ([], [self._stdin]) if write else ([self._stdout], [])
        while (left := deadline - time.monotonic()) > 0:
            over = self._process.poll() is not None  # what it started may hold the pipe open
            if any(select.select(reading, writing, [], min(left, LOOK_SECONDS))):
                return
            if over:
                raise self._ended()
        raise ChildFailure("did not take the request in time" if write else "did not answer in time")

    def _ended(self) -> ChildFailure:
        try:
            code = self._process.wait(1.0)
        except subprocess.TimeoutExpired:
            return ChildFailure("closed its end of the pipe")
        how = f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
        self._reader.join(LOOK_SECONDS)
        return ChildFailure(how)

    def _keep_stderr(self) -> None:
        assert self._process.stderr is not None
        with contextlib.suppress(OSError, ValueError):
            while chunk := os.read(self._process.stderr.fileno(), 1 << 16):
                self._stderr = (self._stderr + chunk)[-STDERR_BYTES:]
