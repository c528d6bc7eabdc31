"""Doing a task that a stranger's IR may crash, hang or blow up, in a process of its own.

``start(task, *arguments)`` gives a ``Job``; iterating it yields the messages of the task (a generator named
``module:function``) as they come; ``job.end`` says afterwards how it ended. What was computed before a crash counts.
Messages are read with an unpickler that knows plain data only, since a process that ran strange code sends them.
"""

from __future__ import annotations

import atexit
import contextlib
import dataclasses
import io
import json
import os
import pickle
import signal
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

from kc.errors import KcError


class SandboxError(KcError):
    """No sandbox could be started, or a task of kc's own failed in it: a fault of kc, not of a proposal."""


@dataclasses.dataclass(frozen=True)
class Limits:
    """``memory``: bytes beyond those of the idle process; ``step``: CPU seconds between two messages (ten times as much
    of wall time), ``first`` before the second message if that is more; ``wall``: seconds in all."""

    memory: int = 3 << 30
    step: float = 10.0
    first: float = 20.0
    wall: float = 120.0


@dataclasses.dataclass(frozen=True)
class End:
    """How a job ended: ``ok``, ``error`` (the task raised: ``error`` is the exception's name, text and traceback),
    ``time``, ``memory``, or ``crash`` (``message`` names the signal and what was printed)."""

    kind: str
    message: str = ""
    error: tuple[str, str, str] | None = None


class Job:
    """A task under way. Iterate it once; closing it early kills the task."""

    def __init__(self, stream: socket.socket, status: int):
        self._stream, self._status = stream, status
        self.end: End | None = None

    def __iter__(self) -> Iterator[Any]:
        from kc.agents.gates.zygote import _read_frame

        said: tuple[str, Any] | None = None
        try:
            while (frame := _read_frame(self._stream)) is not None:
                kind, value = _Plain(io.BytesIO(frame)).load()
                if kind == "message":
                    yield value
                else:
                    said = (kind, value)
            self.end = _end(said, self._last_word())
        except (pickle.UnpicklingError, EOFError, ValueError, TypeError, AttributeError, IndexError) as error:
            self.end = End("crash", f"sent what is no message: {error}")
        finally:
            self.close()

    def send(self, value: Any) -> bool:
        """Hand ``value`` to the task's inbox; False when the task has ended."""
        data = pickle.dumps(value, protocol=5)
        try:
            self._stream.sendall(struct.pack("q", len(data)) + data)
        except OSError:
            return False
        return self.end is None

    def _last_word(self) -> dict[str, Any]:
        data = b""
        while part := os.read(self._status, 1 << 16):
            data += part
        return json.loads(data) if data else {"end": "gone", "code": 0, "stderr": ""}

    def close(self) -> None:
        """Kill the task if it still runs, and free the descriptors."""
        self._stream.close()
        if self._status >= 0:
            os.close(self._status)
            self._status = -1


def _end(said: tuple[str, Any] | None, word: dict[str, Any]) -> End:
    """The end of a job from its own last message and what its supervisor saw."""
    if said is not None:
        kind, value = said
        if kind == "end":
            return End("ok")
        return End("memory", "out of memory") if kind == "memory" else End("error", value[1], tuple(value))
    printed = word["stderr"].strip()
    lines = " | ".join(line for line in printed.splitlines() if "PLEASE submit" not in line)[-400:]
    if word["end"] == "time":
        return End("time", "ran past its time limit")
    if word["end"] == "signal":
        name = signal.Signals(word["code"]).name
        if "bad_alloc" in printed or "out of memory" in printed.lower() or "Allocation failed" in printed:
            return End("memory", f"out of memory ({name})")
        if name == "SIGXCPU":
            return End("time", "used up its CPU time")
        return End("crash", f"died of {name}" + (f": {lines}" if lines else ""))
    return End("crash", f"ended without a word (exit code {word['code']})" + (f": {lines}" if lines else ""))


def start(task: str, *arguments: Any, limits: Limits | None = None, inbox: bool = False, level: str = "") -> Job:
    """Start a task: ``module:function``, a generator function of ``arguments`` that yields plain data.

    With ``inbox`` it has one more argument: an iterator over what ``Job.send`` hands it. ``level``: what later tasks
    will have to do with, so that it is loaded meanwhile.
    """
    limits = limits or Limits()
    ours, theirs = socket.socketpair()
    reading, writing = os.pipe()
    try:
        _request(theirs.fileno(), writing, level)
        data = pickle.dumps((task, arguments, {**dataclasses.asdict(limits), "inbox": inbox}), protocol=5)
        with contextlib.suppress(BrokenPipeError):  # it died before it read: the end will tell
            ours.sendall(struct.pack("q", len(data)) + data)
    except BaseException:
        ours.close()
        os.close(reading)
        raise
    finally:
        theirs.close()
        os.close(writing)
    return Job(ours, reading)


def call(task: str, *arguments: Any, limits: Limits | None = None, level: str = "") -> tuple[list[Any], End]:
    """All messages of a task, and how it ended; see ``start``."""
    job = start(task, *arguments, limits=limits, level=level)
    messages = list(job)
    assert job.end is not None
    return messages, job.end


#: modules whose dataclasses may come in a message
_RECORDS = frozenset(
    {
        "kc.agents.contract",
        "kc.agents.execution.calls",
        "kc.agents.execution.signature",
        "kc.agents.gates.reading",
        "kc.agents.gates.reasons",
    }
)


class _Plain(pickle.Unpickler):
    """Reads plain data, NumPy arrays, and the records of this package and of ``kc.agents.execution``."""

    def find_class(self, module: str, name: str) -> Any:
        if module in ("numpy.core.multiarray", "numpy._core.multiarray", "numpy._core.numeric", "numpy.core.numeric"):
            if name in ("_reconstruct", "scalar", "_frombuffer"):
                return super().find_class(module, name)
        elif (module, name) in (("numpy", "ndarray"), ("numpy", "dtype")) or module == "ml_dtypes":
            return super().find_class(module, name)
        elif module in _RECORDS:
            found = super().find_class(module, name)
            if isinstance(found, type) and dataclasses.is_dataclass(found):
                return found
        elif (module, name) == ("builtins", "frozenset"):
            return frozenset
        raise pickle.UnpicklingError(f"{module}.{name} is no plain data")


# ---- the zygote of this process

_lock = threading.Lock()
_zygote: tuple[int, socket.socket, subprocess.Popen[bytes] | int] | None = None


def _request(stream: int, status: int, level: str) -> None:
    """Hand a job's descriptors to the zygote; starts one when there is none (any more)."""
    from kc.agents.gates.zygote import LEVELS

    word = next((byte for byte, name in LEVELS.items() if name == level), b"j")
    with _lock:
        for attempt in range(2):
            control = _control()
            try:
                socket.send_fds(control, [word], [stream, status])
                return
            except OSError as error:
                _stop()
                if attempt:
                    raise SandboxError(f"no sandbox could be started: {error}") from error


def _control() -> socket.socket:
    global _zygote
    if _zygote is not None and _zygote[0] != os.getpid():
        _zygote[1].close()  # that of the process that forked this one
        _zygote = None
    if _zygote is None:
        ours, theirs = socket.socketpair()
        if _can_fork():
            _zygote = (os.getpid(), ours, _fork(theirs))
            atexit.register(_stop)
            return ours
        os.set_inheritable(theirs.fileno(), True)
        environment = {
            **os.environ,
            "OPENBLAS_NUM_THREADS": "1",
            "OMP_NUM_THREADS": "1",
            "MKL_NUM_THREADS": "1",
            "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        }
        process = subprocess.Popen(
            [sys.executable, "-m", "kc.agents.gates.zygote", str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            env=environment,
            start_new_session=True,
        )
        theirs.close()
        _zygote = (os.getpid(), ours, process)
        atexit.register(_stop)
    return _zygote[1]


def _can_fork() -> bool:
    """Whether the zygote can be forked from this process instead of started anew: it has MLIR, and nothing but it."""
    heavy = ("torch", "jax", "jaxlib", "tensorflow", "pytest")
    return (
        "torch_mlir.ir" in sys.modules
        and not any(name in sys.modules for name in heavy)
        and threading.active_count() == 1
        and len(os.listdir("/proc/self/task")) == 1
    )


def _fork(theirs: socket.socket) -> int:
    """Make a child of this process the zygote; its process id."""
    child = os.fork()
    if child != 0:
        theirs.close()
        return child
    code = 1
    try:
        keep = theirs.fileno()
        os.setsid()
        os.closerange(3, keep)
        os.closerange(keep + 1, os.sysconf("SC_OPEN_MAX"))
        nothing = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1):
            os.dup2(nothing, number)
        from kc.agents.gates.zygote import serve

        signal.signal(signal.SIGINT, signal.SIG_IGN)
        serve(theirs)
        code = 0
    finally:
        os._exit(code)


def _stop() -> None:
    """End the zygote of this process."""
    global _zygote
    if _zygote is None:
        return
    owner, control, process = _zygote
    _zygote = None
    control.close()
    if owner != os.getpid():
        return
    if isinstance(process, int):
        with contextlib.suppress(ChildProcessError):
            os.waitpid(process, 0)
        return
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
