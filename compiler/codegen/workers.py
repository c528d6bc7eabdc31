"""The compiler's side of the code generation worker: a small pool of child processes that outlive their requests.

A child that dies or exceeds the time limit costs its request a ``CompileError`` with a reproducer on disk; the next
request gets a fresh child. After ``fork`` (multiprocessing, pytest-xdist, lit's fork format) the child process
starts a pool of its own and leaves the parent's alone.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import itertools
import json
import os
import select
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from typing import Any

from kc.codegen.worker import pack_message
from kc.errors import CompileError

#: children that one compilation uses at most: no more than there are processors
SIDE_BY_SIDE = max(1, min(4, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1))
_KEEP = max(2, SIDE_BY_SIDE)  # idle children kept, all of a compilation's; more run only when several threads compile


_TOO_LONG = "it took longer than the limit (KC_CODEGEN_TIMEOUT, in seconds)"


class _Died(Exception):
    """The child ended or was ended in the middle of a request; the text says how."""


class Worker:
    """One child process."""

    def __init__(self) -> None:
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 (open as long as the child)
        environment = dict(os.environ)
        # The child must find the same kc and llvmlite as this process, however sys.path came about.
        environment["PYTHONPATH"] = os.pathsep.join(entry or os.getcwd() for entry in sys.path)
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "kc.codegen.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env=environment,
            start_new_session=True,  # a Ctrl-C at the terminal is for the compiler, which then closes the pipe
            bufsize=0,
        )

    def close(self) -> None:
        """End the child: it leaves by itself when its stdin closes."""
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        try:
            self._process.wait(timeout=2)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._log.close()

    def abandon(self) -> None:
        """Forget a child that belongs to the process this one was forked from (only this process's copies are
        closed)."""
        for stream in (self._process.stdin, self._process.stdout, self._log):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        self._process.returncode = 0  # not ours to wait for

    def request(self, header: dict[str, Any], payload: bytes, timeout: float) -> tuple[dict[str, Any], bytes]:
        """Send one request and wait for its reply. Raises ``_Died``."""
        deadline = time.monotonic() + timeout
        self._log.seek(0)
        self._log.truncate()
        self._write(pack_message(header, payload), deadline)
        header_size, payload_size = struct.unpack(">II", self._read(8, deadline))
        reply = json.loads(self._read(header_size, deadline))
        return reply, self._read(payload_size, deadline)

    def _write(self, message: bytes, deadline: float) -> None:
        assert self._process.stdin is not None
        descriptor = self._process.stdin.fileno()
        os.set_blocking(descriptor, False)
        view = memoryview(message)
        try:
            while view:
                _, ready, _ = select.select([], [descriptor], [], max(0.0, deadline - time.monotonic()))
                if not ready:
                    self._process.kill()
                    raise _Died(_TOO_LONG)
                view = view[os.write(descriptor, view) :]
        except BrokenPipeError:
            raise _Died(self._how()) from None

    def _read(self, size: int, deadline: float) -> bytes:
        assert self._process.stdout is not None
        descriptor = self._process.stdout.fileno()
        parts: list[bytes] = []
        while size:
            ready, _, _ = select.select([descriptor], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                self._process.kill()
                raise _Died(_TOO_LONG)
            part = os.read(descriptor, min(size, 1 << 20))
            if not part:
                raise _Died(self._how())
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def _how(self) -> str:
        try:
            code = self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            code = self._process.wait()
        self._log.seek(0)
        log = self._log.read().decode(errors="replace").strip()
        first = next((line for line in log.splitlines() if "LLVM ERROR" in line or "rror:" in line), "")
        how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit status {code}"
        return f"{how}: {first or log[-500:]}" if log else how


class WorkerPool:
    """Idle workers, handed out one per request."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[Worker] = []
        self._closed = False

    @contextlib.contextmanager
    def worker(self) -> Iterator[Worker]:
        """A worker for the length of the block; dropped when the block raises ``_Died`` or is interrupted."""
        with self._lock:
            taken = self._idle.pop() if self._idle else None
        worker = taken or Worker()
        try:
            yield worker
        except BaseException:
            worker.close()
            raise
        with self._lock:
            keep = len(self._idle) < _KEEP and not self._closed
            if keep:
                self._idle.append(worker)
        if not keep:
            worker.close()

    def warm(self) -> None:
        """Start a child now, if there is none, so that its imports run beside the compiler's passes."""
        with self._lock:
            if not self._idle:
                self._idle.append(Worker())

    def close(self) -> None:
        """End all idle children."""
        with self._lock:
            idle, self._idle, self._closed = self._idle, [], True
        for worker in idle:
            worker.close()

    def abandon(self) -> None:
        """In a forked child: drop the parent's children without touching them."""
        for worker in self._idle:
            worker.abandon()
        self._lock = threading.Lock()
        self._idle = []


_pool = WorkerPool()
atexit.register(_pool.close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.abandon)


def warm() -> None:
    """Start a code generation child in the background if none is idle."""
    _pool.warm()


def timeout_seconds() -> float:
    """The limit for one request: ``KC_CODEGEN_TIMEOUT`` seconds, 600 by default."""
    try:
        return float(os.environ.get("KC_CODEGEN_TIMEOUT", "600"))
    except ValueError:
        return 600.0


def reproducer(header: dict[str, Any], text: str) -> str:
    """Write ``text`` with the options that go with it to a file and return its path (empty if no file can be
    written)."""
    name = f"kc-codegen-{hashlib.sha256(text.encode()).hexdigest()[:12]}.ll"
    path = os.path.join(os.environ.get("KC_REPRODUCER_DIR") or tempfile.gettempdir(), name)
    options = " ".join(f"{key}={value}" for key, value in header.items())
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"; kc code generation: {options}\n{text}")
    except OSError:
        return ""
    return path


def run(header: dict[str, Any]) -> dict[str, Any]:
    """The reply to a question about machines (see ``worker``). Raises ``CompileError``."""
    reply, _ = _ask(header, b"")
    if not reply["ok"]:
        raise _failure(header, reply["error"])
    return reply


def generate(header: dict[str, Any], parts: Sequence[tuple[str, str]]) -> list[bytes]:
    """What one worker makes of the LLVM IR texts ``parts``, each with its optimisation level (see ``worker``).

    Raises ``CompileError`` that names a reproducer of the text at fault when LLVM refuses it or dies.
    """
    encoded = [text.encode() for text, _ in parts]
    described = [{"size": len(text), "opt": opt} for text, (_, opt) in zip(encoded, parts, strict=True)]
    reply, results = _ask({**header, "parts": described}, b"".join(encoded))
    if reply["ok"]:
        ends = list(itertools.accumulate(reply["sizes"]))
        return [results[end - size : end] for size, end in zip(reply["sizes"], ends, strict=True)]
    if len(parts) > 1:  # which of them was it?
        return [generate(header, [part])[0] for part in parts]
    ((text, opt),) = parts
    if text.startswith("module asm "):  # a person's or an agent's assembly, not LLVM's fault
        raise _failure(header, reply["error"])
    raise _failure(header, reply["error"], reproducer({**header, "opt": opt}, text))


def _ask(header: dict[str, Any], payload: bytes) -> tuple[dict[str, Any], bytes]:
    try:
        with _pool.worker() as worker:
            return worker.request(header, payload, timeout_seconds())
    except _Died as death:
        return {"ok": False, "error": f"the code generation process died ({death})"}, b""


def _failure(header: dict[str, Any], error: str, path: str = "") -> CompileError:
    hint = f"; reproducer: {path}" if path else ""
    return CompileError(f"LLVM code generation failed for {header.get('triple') or 'the host'}: {error}{hint}")
