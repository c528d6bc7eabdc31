"""Programs for a GPU, for test_measure_gpu.py: the device is fake_events.c, its memory the host's."""
from __future__ import annotations

import ctypes
import os
import time
from typing import Any

import numpy as np

from kc.agents.measure.gpu import Uploaded
from kc.runtime import cuda


def doubled(x: Uploaded, seconds: float) -> Uploaded:
    """Twice the argument, after so long a time."""
    time.sleep(seconds)
    return Uploaded(2 * x.download(), 0, cuda.own_stream(0))


def honest(path: str) -> Any:
    return lambda x: (doubled(x, 0.004),)


def quick(path: str) -> Any:
    return lambda x: (doubled(x, 0.001),)


def other_stream(path: str) -> Any:
    """Quick on the stream that is timed, and as slow as ever on another."""
    driver = ctypes.CDLL(os.environ["KC_LIBCUDA"])

    def run(x: Uploaded) -> tuple[Uploaded]:
        driver.fake_elsewhere(3000)
        return (doubled(x, 0.001),)
    return run


def in_place(path: str) -> Any:
    def run(x: Uploaded) -> tuple[Uploaded]:
        result = doubled(x, 0.001)
        ctypes.memset(x.pointer, 0, 4)
        return (result,)
    return run


def nothing(path: str) -> Any:
    return lambda x: (Uploaded(np.zeros(x.shape, x.dtype), 0, cuda.own_stream(0)),)
