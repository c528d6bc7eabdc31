"""Child processes that take jobs one by one: a job that kills or hangs its process costs that job alone.

Jobs and answers are lines of JSON. The child's ends are the standard input and the file descriptor that ``serve`` is
given; what it prints goes to a log, whose end is told with a crash.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

#: what a child answers with to be replaced before the next job (its CUDA context is lost, say)
RETIRE = "retire"


def serve(descriptor: int, handle: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """In a child: answer the jobs of the standard input until it is closed, or until an answer has ``retire``."""
    with os.fdopen(descriptor, "w", buffering=1) as out:
        out.write("{}\n")  # ready: starting up does not count against the first job's time
        for line in sys.stdin:
            answer = handle(json.loads(line))
            out.write(json.dumps(answer) + "\n")
            if answer.get(RETIRE):
                return


class _Child:
    def __init__(self, command: list[str]) -> None:
        self.log = tempfile.TemporaryFile("w+b")  # noqa: SIM115 - lives as long as the child
        self._read, write = os.pipe()
        self.process = subprocess.Popen(
            [*command, str(write)], stdin=subprocess.PIPE, stdout=self.log, stderr=self.log, pass_fds=[write], text=True
        )
        os.close(write)
        self._buffer = b""

    def receive(self, seconds: float) -> dict[str, Any] | None:
        """The next answer; None when the process died. Raises TimeoutError."""
        deadline = time.monotonic() + seconds
        while b"\n" not in self._buffer:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self._read], [], [], left)[0]:
                raise TimeoutError
            data = os.read(self._read, 1 << 16)
            if not data:
                return None
            self._buffer += data
        line, self._buffer = self._buffer.split(b"\n", 1)
        answer: dict[str, Any] = json.loads(line)
        return answer

    def send(self, job: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(job) + "\n")
        self.process.stdin.flush()

    def death(self) -> str:
        """How the process ended, with the last line that it printed."""
        code = self.process.wait()
        how = signal.Signals(-code).name if code < 0 else f"exit {code}"
        self.log.seek(0)
        lines = [line for line in self.log.read().decode(errors="replace").splitlines() if line.strip()]
        telling = [line for line in lines if "LLVM ERROR" in line or "Assertion" in line or "terminate" in line]
        return f"{how}: {(telling or lines or [''])[-1].strip()[:300]}"

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        if self.process.stdin is not None:
            self.process.stdin.close()
        os.close(self._read)
        self.log.close()


def run(
    command: list[str], jobs: Iterable[dict[str, Any]], workers: int, seconds: float, recycle: int = 400
) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Run ``jobs`` in ``workers`` processes of ``command``; yields (job, answer) as they come.

    A job that takes longer than ``seconds`` has the answer ``{"status": "timeout"}``, one whose process dies
    ``{"status": "crash", "error": how}``. A process is replaced after ``recycle`` jobs. Raises RuntimeError when a
    process does not start.
    """
    todo = iter(jobs)
    lock = threading.Lock()
    done: list[tuple[dict[str, Any], dict[str, Any]]] = []
    arrived = threading.Condition()
    failures: list[BaseException] = []

    def loop() -> None:
        child: _Child | None = None
        used = 0
        try:
            while not failures:
                with lock:
                    job = next(todo, None)
                if job is None:
                    break
                if child is None:
                    child, used = _start(command), 0
                used += 1
                answer, alive = _one(child, job, seconds)
                if not alive or answer.pop(RETIRE, False) or used >= recycle:
                    child.close()
                    child = None
                with arrived:
                    done.append((job, answer))
                    arrived.notify()
        except BaseException as error:
            failures.append(error)
        finally:
            if child is not None:
                child.close()
            with arrived:
                arrived.notify()

    threads = [threading.Thread(target=loop, daemon=True) for _ in range(workers)]
    for thread in threads:
        thread.start()
    while True:
        with arrived:
            arrived.wait_for(lambda: done or not any(t.is_alive() for t in threads), timeout=1)
            ready, done[:] = list(done), []
        yield from ready
        if not ready and not done and not any(thread.is_alive() for thread in threads):
            break
    if failures:
        raise failures[0]


def _start(command: list[str]) -> _Child:
    child = _Child(command)
    try:
        ready = child.receive(300)
    except TimeoutError:
        ready = None
    if ready is None:
        death = child.death() if child.process.poll() is not None else "it does not answer"
        child.close()
        raise RuntimeError(f"'{' '.join(command)}' does not start: {death}")
    return child


def _one(child: _Child, job: dict[str, Any], seconds: float) -> tuple[dict[str, Any], bool]:
    try:
        child.send(job)
        answer = child.receive(seconds)
    except TimeoutError:
        return {"status": "timeout", "error": f"over {seconds:g} s"}, False
    except BrokenPipeError:
        answer = None
    if answer is None:
        return {"status": "crash", "error": child.death()}, False
    return answer, True
