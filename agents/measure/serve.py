"""The process of one program under measurement: draws arguments, runs, times, and hands the results over.

``python -m kc.agents.measure.serve FD`` reads one JSON command a line from stdin and answers on file descriptor FD: the
lines ``begin`` (after which it waits for a line) and ``end`` at the edges of a timed window, for whoever reads has a
clock of its own, then a JSON object.
Commands: ``load``, ``draw``, ``run``, ``results``, ``idle``, each a method of ``Server``.

What is watched beside the clock: CPU time of other threads outside of windows (work that was moved away), results that
still change after the window (written late), results of the window before that change (memory used again), read-only
arguments that changed.
"""
from __future__ import annotations

import contextlib
import ctypes
import importlib
import json
import os
import resource
import signal
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kc.agents.measure.inputs import Argument, draw, fingerprint
from kc.runtime import dtypes

# Bound before any program is loaded, so that whoever replaces them later changes nothing here.
_clock, _process_clock, _thread_clock = time.perf_counter_ns, time.process_time_ns, time.thread_time_ns
_sleep, _write = time.sleep, os.write

#: how long the process looks on after a window: a share of the window, but at least and at most so many seconds
SETTLE_SHARE, SETTLE_LEAST, SETTLE_MOST = 0.25, 0.002, 0.05

Array = np.ndarray[Any, Any]


class Host:
    """Where arrays of the CPU live; ``kc.agents.measure.gpu.Gpu`` is the other one."""

    def __init__(self, flush: int):
        self._flush = np.zeros(flush, np.uint8)

    def put(self, array: Array) -> Any:
        """An argument as the program takes it."""
        return array

    def get(self, array: Any) -> Array:
        """An argument or result as NumPy has it."""
        return array if type(array) is np.ndarray else np.asarray(array)

    def finish(self, result: Any) -> Any:
        """A result that is really there: what computes itself when it is looked at is computed by this."""
        return self.get(result)

    def prepare(self) -> None:
        """Right before a window: push earlier data out of the caches."""
        self._flush += 1

    def begin(self, ahead: int = 0) -> None:
        """The start of a window on the device's own clock, after ``ahead`` ns of other work that is queued on it."""

    def end(self) -> float | None:
        """Wait for all work of the device; nanoseconds since ``begin`` on its own clock, None where it has none."""
        return None


class Server:
    """One program and the arguments drawn for it."""

    def __init__(self, channel: int):
        self._channel = channel
        self._program: Callable[..., Any]
        self._arguments: list[Argument] = []
        self._device: Any = None
        self._sets: list[list[Any]] = []
        #: what was drawn, as NumPy holds it, and its fingerprints
        self._memory: list[list[Array]] = []
        self._marks_drawn: list[list[int]] = []
        #: results of the last window as they were at its end; those results themselves, and their fingerprints
        self._copies: list[list[Array]] = []
        self._kept: list[Any] = []
        self._kept_marks: list[int] = []
        self._foreign_mark = 0

    def load(self, command: dict[str, Any]) -> dict[str, Any]:
        """Load the program: ``loader`` is ``module:function``, which gets ``path`` and returns a callable.

        A second time: for arguments of other sizes.
        """
        self._memory, self._sets = [], []
        self._arguments = [Argument.from_json(a) for a in command["arguments"]]
        if command["device"] is None:
            self._device = Host(command["flush"])
        else:
            from kc.agents.measure.gpu import Gpu

            self._device = Gpu(command["device"], command["flush"])
        module, _, function = command["loader"].partition(":")
        self._program = getattr(importlib.import_module(module), function)(command["path"])
        self._foreign_mark = _foreign()
        return {}

    def draw(self, command: dict[str, Any]) -> dict[str, Any]:
        """Draw one set of arguments per seed, where those of the last window stood: an address tells nothing."""
        seeds, held = command["seeds"], self._memory
        self._memory = [draw(self._arguments, s, held[i] if i < len(held) else None) for i, s in enumerate(seeds)]
        self._marks_drawn = [[fingerprint(a) for a in arrays] for arrays in self._memory]
        self._sets = [[self._device.put(a) for a in arrays] for arrays in self._memory]
        return {}

    def run(self, command: dict[str, Any]) -> dict[str, Any]:
        """One timed window: a call per set that was drawn. ``ahead``: see ``Host.begin``."""
        program, device, sets, channel = self._program, self._device, self._sets, self._channel
        calls = []
        device.prepare()
        outside = _foreign() - self._foreign_mark
        _write(channel, b"begin\n")
        sys.stdin.buffer.readline()
        process, started = _process_clock(), _clock()
        device.begin(command["ahead"])
        for arrays in sets:
            calls.append([device.finish(result) for result in program(*arrays)])
        on_device = device.end()
        ended, busy = _clock(), _process_clock()
        _write(channel, b"end\n")
        self._foreign_mark = _foreign()
        self._copies = [self._outcome(*pair) for pair in zip(calls, sets, strict=True)]
        _sleep(min(max(SETTLE_SHARE * (ended - started) * 1e-9, SETTLE_LEAST), SETTLE_MOST))
        late = [self._outcome(*pair) for pair in zip(calls, sets, strict=True)]
        reused = self._marks(self._kept) != self._kept_marks
        self._kept = [result for call in calls for result in call]
        self._kept_marks = self._marks(self._kept)
        return {
            "wall": ended - started, "cpu": busy - process, "device": on_device, "outside": outside,
            "late": self._fingerprints(late) != self._fingerprints(self._copies), "reused": reused,
            "changed": self._changed(),
        }

    def results(self, command: dict[str, Any]) -> dict[str, Any]:
        """Write the results of the last window, as they were at its end, to ``path``: raw bytes on end."""
        with open(command["path"], "wb") as file:
            for copies in self._copies:
                for array in copies:
                    file.write(array.reshape(-1).view(np.uint8).data)
        return {"results": [[[_type_of(array), list(array.shape)] for array in copies] for copies in self._copies]}

    def idle(self, command: dict[str, Any]) -> dict[str, Any]:
        """CPU time in ns of other threads since the last window."""
        return {"outside": _foreign() - self._foreign_mark}

    def _outcome(self, results: Sequence[Any], arrays: Sequence[Any]) -> list[Array]:
        """Copies of what a call gave: its results, then the buffers that it may write."""
        pairs = zip(arrays, self._arguments, strict=True)
        written = [array for array, argument in pairs if argument.role != "in"]
        return [np.array(self._device.get(array), order="C", copy=True) for array in (*results, *written)]

    def _changed(self) -> list[int]:
        """Numbers of the read-only arguments whose bytes are not those that were drawn."""
        return sorted({
            number
            for arrays, marks in zip(self._sets, self._marks_drawn, strict=True)
            for number, argument in enumerate(self._arguments)
            if argument.role == "in" and fingerprint(self._device.get(arrays[number])) != marks[number]
        })

    def _marks(self, arrays: Sequence[Any]) -> list[int]:
        return [fingerprint(self._device.get(array)) for array in arrays]

    @staticmethod
    def _fingerprints(outcomes: Sequence[Sequence[Array]]) -> list[int]:
        return [fingerprint(array) for outcome in outcomes for array in outcome]


def _type_of(array: Array) -> str:
    """kc's name of an array's element type."""
    found = dtypes.of_numpy(array.dtype)
    if found is None:
        raise TypeError(f"the program gave an array of {array.dtype}")
    return found.name


def _foreign() -> int:
    """CPU time in ns that other threads of this process have used so far."""
    return _process_clock() - _thread_clock()


def _limit(memory: int | None) -> None:
    """No core files, a bound on memory, and an end with the parent."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
        ctypes.CDLL(None).prctl(36, 1)  # PR_SET_CHILD_SUBREAPER: what forks away stays a child of this process
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if memory is not None:
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))


def main() -> None:
    """Answer commands until stdin ends."""
    channel = int(sys.argv[1])
    server = Server(channel)
    for line in sys.stdin.buffer:
        command = json.loads(line)
        if command["do"] == "load":
            _limit(command["memory"])
        try:
            answer = getattr(server, command["do"])(command)
        except BaseException as error:
            answer = {"error": f"{type(error).__name__}: {error}"[:2000]}
        os.write(channel, json.dumps(answer).encode() + b"\n")
    os._exit(0)  # threads of the program must not hold it


if __name__ == "__main__":
    main()
