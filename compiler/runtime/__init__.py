"""Runs compiled programs. Imports nothing else of kc and no MLIR or LLVM: NumPy is all it needs.

    program = kc.runtime.load("model.kca")
    (y,) = program(x)

Arrays of NumPy, PyTorch, JAX, CuPy, or anything with DLPack are taken without a copy; results are of the caller's kind.

Environment: ``KC_NUM_THREADS`` (threads of a parallel loop), ``KC_SPIN_US`` (how long idle threads spin before they
sleep, 30), ``KC_CACHE_BYTES`` (freed host memory kept for reuse, a quarter of the machine's), ``KC_SEED`` (see
``seed``), ``KC_GPU_SYNC=1`` (wait after every launch, so that a fault names its kernel), ``KC_LIBCUDA`` and
``KC_RUNTIME_LIBRARY`` (other libraries than the usual ones), ``KC_COLLECTIVE_TIMEOUT`` (how long a process waits for
another one, 60 seconds).
"""
from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kc.runtime.container import load as load
    from kc.runtime.dlpack import DeviceArray as DeviceArray
    from kc.runtime.parallel import Message as Message
    from kc.runtime.parallel import run_parallel as run_parallel
    from kc.runtime.program import Program as Program
    from kc.runtime.signature import Signature as Signature

from kc.runtime.errors import ArgumentError, DeviceError, ExecutionError, LoadError, RuntimeFailure

_LAZY = {"load": "container", "DeviceArray": "dlpack", "Message": "parallel",
         "Program": "program", "run_parallel": "parallel", "Signature": "signature"}

__all__ = [
    "ArgumentError", "DeviceArray", "DeviceError", "ExecutionError", "LoadError", "Message", "Program",
    "RuntimeFailure", "Signature", "load", "num_threads", "run_parallel", "seed", "version",
]


def version() -> str:
    """Version of the interface between this package and its C++ library, as the library states it."""
    from kc.runtime.library import library

    return str(library().kc_abi_version())


def seed(number: int) -> None:
    """Starts the random numbers of StableHLO's ``rng`` anew, for all programs of the process: after the same seed, the
    same calls in the same order give the same numbers. Without it they start from ``KC_SEED``, or anywhere."""
    from kc.runtime.library import library

    library().kc_random_seed(number & (2**64 - 1))


def num_threads() -> int:
    """Threads that a parallel loop of a program uses (``KC_NUM_THREADS``, else ``OMP_NUM_THREADS``, else all CPUs)."""
    from kc.runtime.library import library

    return int(library().kc_num_threads())


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(importlib.import_module(f"kc.runtime.{_LAZY[name]}"), name)
    raise AttributeError(f"module 'kc.runtime' has no attribute {name!r}")
