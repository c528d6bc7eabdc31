"""Programs for test_measure.py, as the harness loads them: ``name(path)`` returns a callable. Most of them cheat.

Real proposals are IR and could do little of this; the harness must not depend on it.
"""
from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import time
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def work(x: Array) -> Array:
    """What every one of them should compute."""
    return np.sqrt(np.abs(x)) + np.tanh(x)


def honest(path: str) -> Any:
    return lambda x: (work(x),)


def thrice(path: str) -> Any:
    """Slow, and right."""
    def run(x: Array) -> tuple[Array]:
        work(x), work(x)
        return (work(x),)
    return run


def thread_after(path: str) -> Any:
    """A thread fills the result after the call has returned."""
    def run(x: Array) -> tuple[Array]:
        out = np.empty_like(x)

        def fill() -> None:
            time.sleep(0.001)
            out[...] = work(x)

        threading.Thread(target=fill, daemon=True).start()
        return (out,)
    return run


def thread_busy(path: str) -> Any:
    """Right and slow; a thread that burns time, from the first call on, slows the other program down."""
    started = []

    def burn() -> None:
        x = np.ones(1 << 16, np.float32)
        while True:
            np.sqrt(x, out=x)

    def run(x: Array) -> tuple[Array]:
        if not started:
            started.append(threading.Thread(target=burn, daemon=True))
            started[0].start()
        return (work(x),)
    return run


def forks(path: str) -> Any:
    """A child process goes on."""
    def run(x: Array) -> tuple[Array]:
        if os.fork() == 0:
            os.setsid()
            time.sleep(30)
            os._exit(0)
        return (work(x),)
    return run


def replays(path: str) -> Any:
    """The results of the first call, for ever."""
    kept: list[Array] = []

    def run(x: Array) -> tuple[Array]:
        if not kept:
            kept.append(work(x))
        return (kept[0].copy(),)
    return run


def remembers_address(path: str) -> Any:
    """The result of an earlier call whose argument stood at the same address."""
    kept: dict[int, Array] = {}

    def run(x: Array) -> tuple[Array]:
        place = x.ctypes.data
        if place not in kept:
            kept[place] = work(x)
        return (kept[place].copy(),)
    return run


def remembers_bytes(path: str) -> Any:
    """The result of an earlier call with the same argument: right, but it cannot pay when no argument comes twice."""
    kept: dict[bytes, Array] = {}

    def run(x: Array) -> tuple[Array]:
        key = x.tobytes()
        if key not in kept:
            kept[key] = work(x)
        return (kept[key].copy(),)
    return run


def half(path: str) -> Any:
    """The upper half of the rows only, in memory that held the whole result of the call before."""
    out: list[Array] = []

    def run(x: Array) -> tuple[Array]:
        if not out:
            out.append(work(x))
        rows = len(x) // 2
        out[0][:rows] = work(x[:rows])
        return (out[0].copy(),)
    return run


def in_place(path: str) -> Any:
    def run(x: Array) -> tuple[Array]:
        result = work(x)
        x[0, 0] += 1
        return (result,)
    return run


def one_buffer(path: str) -> Any:
    """Every call writes its result where the one before did."""
    out: list[Array] = []

    def run(x: Array) -> tuple[Array]:
        out[:] = out or [np.empty_like(x)]
        out[0][...] = work(x)
        return (out[0],)
    return run


class Lazy:
    """An array that is computed when somebody looks at it."""

    def __init__(self, x: Array):
        self.x = x

    def __array__(self, dtype: Any = None, copy: Any = None) -> Array:
        for _ in range(2):
            work(self.x)
        return work(self.x)


def lazy(path: str) -> Any:
    return lambda x: (Lazy(x),)


def slow_clock(path: str) -> Any:
    """Makes the clocks of the harness go slowly."""
    server = sys.modules["__main__"]
    clock, begun = server._clock, server._clock()  # type: ignore[attr-defined]
    server._clock = lambda: begun + (clock() - begun) // 20  # type: ignore[attr-defined]
    return thrice(path)


def other_clock(path: str) -> Any:
    """Replaces the clocks of Python's own module, after the harness has taken hold of them."""
    time.perf_counter_ns = lambda: 0
    return thrice(path)


def told(path: str) -> Any:
    """Skips all work when a variable of the agent's is set."""
    return (lambda x: (np.zeros_like(x),)) if "KC_TEST_CHEAT" in os.environ else honest(path)


def crashes(path: str) -> Any:
    return lambda x: ctypes.string_at(0)


def hangs(path: str) -> Any:
    def run(x: Array) -> tuple[Array]:
        signal.pause()
        return (x,)
    return run


def raises(path: str) -> Any:
    def run(x: Array) -> tuple[Array]:
        raise ValueError("no such luck")
    return run


def answers_itself(path: str) -> Any:
    """Writes what it likes into the channel of the harness."""
    def run(x: Array) -> tuple[Array]:
        os.write(int(sys.argv[1]), b"end\n{\"wall\": 1}\n")
        return (work(x),)
    return run


def answers_well(path: str) -> Any:
    """Forges a whole answer, marks and all, before it does its work."""
    answer = b'{"wall": 1, "cpu": 1, "device": null, "outside": 0, "late": false, "reused": false, "changed": []}'

    def run(x: Array) -> tuple[Array]:
        os.write(int(sys.argv[1]), b"end\n" + answer + b"\n")
        return (work(x),)
    return run
