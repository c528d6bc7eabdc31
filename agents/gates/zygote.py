"""The process from which sandboxes are forked: MLIR and NumPy are loaded here once, so that one starts in a few ms.

It reads requests from a Unix socket, each one byte (the level with which the job has to do, if any: what that level
needs is loaded then) with two file descriptors: the stream of a job (the task comes in over it, messages go out) and a
pipe for the last word. For each it forks a *supervisor*, which forks the *worker*: the
worker does the task under limits; the supervisor watches its time, kills it and whatever it left behind, and writes how
it ended. The zygote runs no stranger's code and ends when its socket is closed.
"""

from __future__ import annotations

import array
import contextlib
import gc
import importlib
import json
import mmap
import os
import pickle
import select
import signal
import socket
import struct
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

from kc.agents.gates import confine

#: how often a supervisor looks at its worker, in seconds
_LOOK = 0.02


#: what a request says -> the level with which it has to do
LEVELS = {b"s": "stablehlo", b"l": "linalg", b"p": "loops"}


def serve(control: socket.socket) -> None:
    """Fork a supervisor for each request until the socket is closed; load what tasks need while there is none."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for supervisors
    steps: list[Callable[[], object]] = []
    known: set[bytes] = set()
    while True:
        while steps and not select.select([control], [], [], 0)[0]:
            with contextlib.suppress(Exception):  # a task that needs it will say what is wrong
                steps.pop(0)()
            gc.freeze()
        try:
            message, ancillary, _, _ = control.recvmsg(1, socket.CMSG_SPACE(8))
        except InterruptedError:
            continue
        if not message:
            return
        if message not in known:
            known.add(message)
            steps += importlib.import_module("kc.agents.gates.warming").steps(LEVELS.get(message, ""))
        descriptors = array.array("i")
        for level, kind, data in ancillary:
            if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                descriptors.frombytes(data[: len(data) // 4 * 4])
        stream, status = descriptors
        if os.fork() == 0:
            code = 1
            try:
                control.close()
                _supervise(stream, status)
                code = 0
            finally:
                os._exit(code)
        os.close(stream)
        os.close(status)


def _supervise(stream: int, status: int) -> None:
    """Run one job: fork its worker, watch it, clean up, and tell how it ended (JSON on ``status``)."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    confine.die_with_parent()
    confine.adopt_orphans()
    job = socket.socket(fileno=stream)
    request = _read_frame(job)
    if request is None:
        return
    errors = os.memfd_create("stderr")
    progress = mmap.mmap(-1, 16)  # number of messages sent; whether the worker waits to be asked
    task, arguments, limits = pickle.loads(request)
    worker = os.fork()
    if worker == 0:
        try:
            os.close(status)
            _work(job, errors, progress, task, arguments, limits)
        finally:
            os._exit(1)
    word = _watch(worker, job, progress, limits)
    _kill(worker)
    tail = os.pread(errors, 4096, max(0, os.fstat(errors).st_size - 4096)).decode(errors="replace")
    word["stderr"] = tail
    job.close()
    with contextlib.suppress(OSError):
        os.write(status, json.dumps(word).encode())


def _watch(worker: int, job: socket.socket, progress: mmap.mmap, limits: dict[str, Any]) -> dict[str, Any]:
    """Wait for the worker's end: ``{"end": "exit" | "signal" | "time" | "gone", "code": …}``."""
    start = last = time.monotonic()
    seen, cpu_then = 0, 0.0
    poller = select.poll()
    poller.register(job.fileno(), select.POLLHUP | select.POLLERR)
    handle = os.pidfd_open(worker)
    poller.register(handle, select.POLLIN)
    while True:
        ready = dict(poller.poll(_LOOK * 1000))
        if handle in ready:
            code = os.waitpid(worker, 0)[1]
            if os.WIFSIGNALED(code):
                return {"end": "signal", "code": os.WTERMSIG(code)}
            return {"end": "exit", "code": os.WEXITSTATUS(code)}
        if job.fileno() in ready:
            return {"end": "gone", "code": 0}
        now, cpu = time.monotonic(), _cpu_seconds(worker)
        count, waits = struct.unpack("qq", progress[:16])
        if count != seen or waits:
            seen, last, cpu_then = count, now, cpu
        step = limits["step"] if count > 1 else max(limits["step"], limits["first"])
        if cpu - cpu_then > step or now - last > 10 * step + 5 or now - start > limits["wall"]:
            return {"end": "time", "code": 0}


def _kill(worker: int) -> None:
    """End the worker's process group and every descendant that outlived it."""
    for _ in range(50):
        with contextlib.suppress(OSError):
            os.killpg(worker, signal.SIGKILL)
        with open("/proc/thread-self/children") as file:
            left = [int(child) for child in file.read().split()]
        if not left:
            return
        for child in left:
            with contextlib.suppress(OSError):
                os.kill(child, signal.SIGKILL)
            with contextlib.suppress(OSError):
                os.waitpid(child, 0)


def _cpu_seconds(pid: int) -> float:
    """CPU time that a process has used, its threads included."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _work(
    job: socket.socket, errors: int, progress: mmap.mmap, task: str, arguments: tuple[Any, ...], limits: dict[str, Any]
) -> None:
    """Do the task in this process: each value that it yields is a message."""
    confine.die_with_parent()
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDWR)
    for number, source in ((0, nothing), (1, errors), (2, errors)):
        os.dup2(source, number)
    module, _, name = task.partition(":")
    function = getattr(importlib.import_module(module), name)
    confine.limit(limits["memory"], int(limits["wall"]) + 10)
    confine.deny_system_calls()
    count = 0

    def inbox() -> Iterator[Any]:
        while True:
            progress[8:] = struct.pack("q", 1)
            frame = _read_frame(job)
            progress[8:] = struct.pack("q", 0)
            if frame is None:
                return
            yield pickle.loads(frame)

    def send(kind: str, value: Any) -> None:
        nonlocal count
        data = pickle.dumps((kind, value), protocol=5)
        job.sendall(struct.pack("q", len(data)) + data)
        count += 1
        progress[:8] = struct.pack("q", count)

    try:
        for value in function(*arguments, inbox()) if limits["inbox"] else function(*arguments):
            send("message", value)
        send("end", None)
    except MemoryError:
        send("memory", "")
    except BaseException as error:
        import traceback

        send("error", (type(error).__name__, str(error)[:4000], traceback.format_exc(limit=-6)[:4000]))
    os._exit(0)


def _read_frame(source: socket.socket) -> bytes | None:
    """One message: 8 bytes of length, then the data; None at the end of the stream."""
    head = _read(source, 8)
    return None if head is None else _read(source, struct.unpack("q", head)[0])


def _read(source: socket.socket, size: int) -> bytes | None:
    data = bytearray()
    while len(data) < size:
        part = source.recv(min(1 << 20, size - len(data)))
        if not part:
            return None
        data += part
    return bytes(data)


def main() -> None:
    """Serve on the socket whose file descriptor is the argument."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    control = socket.socket(fileno=int(sys.argv[1]))
    serve(control)


if __name__ == "__main__":
    main()
