"""The process in which points are built and timed: ``python -m kc.agents.builtin.search.worker``.

It reads commands as JSON lines from stdin and answers each with one JSON line. A proposal is timed against what the
compiler itself makes in rounds of both, in random order, on the same arguments; its results are compared with that
one's. Where the runtime has one thread, the CPU time of the process counts, which other processes disturb least; else
wall time.
"""
from __future__ import annotations

import json
import os
import random
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from kc.agents.measure.inputs import draw
from kc.agents.measure.prepare import arguments
from kc.agents.measure.statistics import median

#: seconds that the calls of one window take together, at the default's speed
WINDOW = 0.004
MOST_CALLS = 2000


class Bench:
    """One region: its arguments and the default's program."""

    def __init__(self, ir: str, level: str, target: str, sizes: dict[str, int], seed: int):
        from kc.agents.realize import build

        self.ir, self.level, self.target = ir, level, target
        self._random = random.Random(seed)
        described = arguments(ir, sizes)
        self.arrays = draw(described, seed)
        self.shapes = [list(argument.shape) for argument in described]
        self.default = self._runner(build(self.ir, None, target))
        self.want = [np.array(array) for array in self.default()]
        self.once = min(_time(self.default, 1) for _ in range(3))
        self.calls = max(1, min(MOST_CALLS, int(WINDOW / max(self.once, 1e-7))))

    def _runner(self, made: Any) -> Callable[[], tuple[Any, ...]]:
        program = made.program
        return lambda: program.run("main", *self.arrays)

    def point(self, proposal: dict[str, Any]) -> Callable[[], tuple[Any, ...]]:
        """The program with the proposal in it; raises what kc raises, and ValueError for wrong results."""
        from kc.agents.protocol import Proposal
        from kc.agents.realize import build, realize

        realized = realize(self.ir, Proposal.from_json(proposal), self.level, self.target)
        run = self._runner(build(self.ir, realized, self.target))
        for number, (got, want) in enumerate(zip(run(), self.want, strict=True)):
            if not _close(np.asarray(got), want):
                raise ValueError(f"result {number} differs from that of the default schedule")
        return run

    def rounds(self, run: Callable[[], Any], most: int, least: int = 3) -> tuple[list[float], list[float]]:
        """Seconds per call of the default and of ``run``, in pairs; fewer rounds when ``run`` is clearly slower."""
        times: tuple[list[float], list[float]] = ([], [])
        _time(run, max(1, self.calls // 4))
        for number in range(most):
            order = [0, 1]
            self._random.shuffle(order)
            for which in order:
                times[which].append(_time((self.default, run)[which], self.calls))
            if number + 1 == least and median(times[0]) < 0.85 * median(times[1]):
                break
        return times


def _time(run: Callable[[], Any], calls: int) -> float:
    clock = time.process_time if os.environ.get("KC_NUM_THREADS") == "1" else time.perf_counter
    began = clock()
    for _ in range(calls):
        run()
    return max(clock() - began, 1e-9) / calls


def _close(got: np.ndarray, want: np.ndarray) -> bool:
    """Equal up to another order of sums; the gates decide in earnest what is right."""
    if got.shape != want.shape or got.dtype != want.dtype:
        return False
    if got.dtype.kind not in "fc" and got.dtype.name not in ("bfloat16", "float16"):
        return bool((got == want).all())
    wide = np.complex128 if got.dtype.kind == "c" else np.float64
    a, b = got.astype(wide), want.astype(wide)
    scale = max(1.0, float(np.nanmax(np.abs(b), initial=0.0)))
    rough = 1e-2 if got.dtype.itemsize == 2 else 1e-4
    return bool(np.allclose(a, b, rtol=rough, atol=rough * scale, equal_nan=True))


def main() -> int:
    """Serve commands until stdin ends."""
    channel = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever prints must not get into the answers
    bench: Bench | None = None
    for line in sys.stdin:
        command = json.loads(line)
        answer: dict[str, Any]
        try:
            if command["do"] == "open":
                bench = Bench(*(command[name] for name in ("ir", "level", "target", "sizes", "seed")))
                answer = {"shapes": bench.shapes, "calls": bench.calls, "us": 1e6 * bench.once}
            else:
                assert bench is not None
                pairs = bench.rounds(bench.point(command["proposal"]), command["rounds"], command["least"])
                answer = {"default": pairs[0], "point": pairs[1]}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"[:500]}
        channel.write(json.dumps(answer) + "\n")
        channel.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
