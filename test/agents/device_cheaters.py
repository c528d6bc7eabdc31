"""Programs for a GPU, for test_measure_gpu.py: the device is fake_events.c, its memory the host's."""
from __future__ import annotations

import ctypes
import os
import time
from typing import Any

import numpy as np

from kc.agents.measure.gpu import Uploaded
from kc.runtime import cuda


def doubled(x: Uploaded, microseconds: int) -> Uploaded:
    """Twice the argument, after so long a time of the device, and two milliseconds of the host to queue it."""
    time.sleep(0.002)
    driver().fake_work(microseconds)
    return Uploaded(2 * x.download(), 0, cuda.own_stream(0))


def driver() -> Any:
    return ctypes.CDLL(os.environ["KC_LIBCUDA"])


def honest(path: str) -> Any:
    return lambda x: (doubled(x, 4000),)


def quick(path: str) -> Any:
    return lambda x: (doubled(x, 1000),)


def other_stream(path: str) -> Any:
    """Quick on the stream that is timed, and slower than ever on another."""
    def run(x: Uploaded) -> tuple[Uploaded]:
        result = doubled(x, 1000)
        driver().fake_elsewhere(6000)
        return (result,)
    return run


def beside(path: str) -> Any:
    """As slow as ever on another stream, beside what was queued before."""
    def run(x: Uploaded) -> tuple[Uploaded]:
        result = doubled(x, 1000)
        driver().fake_elsewhere(4000)
        return (result,)
    return run


def in_place(path: str) -> Any:
    def run(x: Uploaded) -> tuple[Uploaded]:
        result = doubled(x, 1000)
        ctypes.memset(x.pointer, 0, 4)
        return (result,)
    return run


def nothing(path: str) -> Any:
    return lambda x: (Uploaded(np.zeros(x.shape, x.dtype), 0, cuda.own_stream(0)),)
