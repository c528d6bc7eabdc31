"""The sandbox: what a task does to its process becomes the end of a job, and nothing is left behind."""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kc.agents.gates import sandbox
from kc.agents.gates.sandbox import Limits

HERE = "test_gate_sandbox"


@pytest.fixture(autouse=True, scope="module")
def importable() -> Iterator[None]:
    """Tasks of this module can be named in the zygote."""
    sandbox._stop()
    sys.path.insert(0, str(Path(__file__).parent))
    yield
    sandbox._stop()
    sys.path.remove(str(Path(__file__).parent))


def count(upto: int) -> Iterator[int]:
    yield from range(upto)


def count_then(what: str) -> Iterator[Any]:
    yield 1
    yield 2
    if what == "segfault":
        ctypes.string_at(8)
    elif what == "abort":
        os.abort()
    elif what == "raise":
        raise ValueError("no good")
    elif what == "exit":
        os._exit(3)
    elif what == "spin":
        while True:
            pass
    elif what == "sleep":
        time.sleep(3600)
    elif what == "memory":
        yield bytes(1 << 40)


def tried(what: str) -> Iterator[str]:
    try:
        if what == "fork":
            os.fork()
        elif what == "exec":
            subprocess.run(["true"], check=True)
        elif what == "socket":
            socket.socket()
        elif what == "kill":
            os.kill(os.getppid(), signal.SIGKILL)
        elif what == "unlink":
            os.unlink(__file__)
        elif what == "write":
            with open(os.devnull, "wb") as file:
                file.write(b"fine")
        yield "done"
    except OSError as error:
        yield type(error).__name__


def thread() -> Iterator[int]:
    import threading

    found: list[int] = []
    worker = threading.Thread(target=found.append, args=(7,))
    worker.start()
    worker.join()
    yield found[0]


def echo(inbox: Iterator[Any]) -> Iterator[Any]:
    for value in inbox:
        yield [value, value]


def not_plain() -> Iterator[Any]:
    yield Limits()


def whose() -> Iterator[int]:
    yield os.getpid()
    time.sleep(3600)


def test_messages_come_in_order():
    assert sandbox.call(f"{HERE}:count", 5) == ([0, 1, 2, 3, 4], sandbox.End("ok"))


@pytest.mark.parametrize(
    ("what", "kind"),
    [
        ("segfault", "crash"),
        ("abort", "crash"),
        ("exit", "crash"),
        ("spin", "time"),
        ("sleep", "time"),
        ("memory", "memory"),
    ],
)
def test_what_was_said_before_the_end_counts(what, kind):
    limits = Limits(memory=1 << 30, step=0.3, first=0.3, wall=3.0)
    messages, end = sandbox.call(f"{HERE}:count_then", what, limits=limits)
    assert messages == [1, 2] and end.kind == kind


def test_an_exception_is_told():
    messages, end = sandbox.call(f"{HERE}:count_then", "raise")
    assert messages == [1, 2] and end.kind == "error" and end.error is not None
    assert end.error[:2] == ("ValueError", "no good") and "count_then" in end.error[2]


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the filter of system calls is for x86-64")
@pytest.mark.parametrize("what", ["fork", "exec", "socket", "kill", "unlink"])
def test_system_calls_that_no_module_needs_are_denied(what):
    assert sandbox.call(f"{HERE}:tried", what)[0] == ["PermissionError"]
    assert Path(__file__).exists()


def test_threads_and_open_files_are_not_denied():
    assert sandbox.call(f"{HERE}:thread")[0] == [7]
    assert sandbox.call(f"{HERE}:tried", "write")[0] == ["done"]


def test_an_inbox():
    job = sandbox.start(f"{HERE}:echo", inbox=True)
    messages = iter(job)
    for value in ("a", list(range(100_000))):
        assert job.send(value)
        assert next(messages) == [value, value]
    job.close()


def test_only_plain_data_is_read():
    messages, end = sandbox.call(f"{HERE}:not_plain")
    assert messages == [] and end.kind == "crash" and "no plain data" in end.message


def test_a_job_that_is_given_up_leaves_no_process():
    job = sandbox.start(f"{HERE}:whose")
    messages = iter(job)  # held: the end of an iterator ends the job
    pid = next(messages)
    assert Path(f"/proc/{pid}").exists()
    job.close()
    deadline = time.monotonic() + 10
    while Path(f"/proc/{pid}").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not Path(f"/proc/{pid}").exists()


def test_no_descriptor_is_left_open():
    sandbox.call(f"{HERE}:count", 1)
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(5):
        sandbox.call(f"{HERE}:count", 3)
        sandbox.start(f"{HERE}:whose").close()
    assert len(os.listdir("/proc/self/fd")) <= before


def test_a_zygote_that_died_is_replaced():
    sandbox.call(f"{HERE}:count", 1)
    assert sandbox._zygote is not None
    process = sandbox._zygote[2]
    assert isinstance(process, subprocess.Popen)
    process.kill()
    process.wait()
    assert sandbox.call(f"{HERE}:count", 2)[0] == [0, 1]


def test_a_process_of_one_thread_that_has_mlir_forks_its_zygote_and_leaves_nothing():
    script = (
        "import os, kc.bindings\nfrom kc.agents.gates import sandbox\n"
        "said = sandbox.call('kc.agents.gates.tasks:read_original', 'module {}')[0]\n"
        "print(said, type(sandbox._zygote[2]).__name__)\n"
        "child = sandbox._zygote[2]\nsandbox._stop()\n"
        "print(os.path.exists(f'/proc/{child}') if isinstance(child, int) else False)\n"
    )
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, env=environment)
    first, second = done.stdout.strip().splitlines()
    assert "no public function @main" in first and first.endswith("int") and second == "False", done.stderr
