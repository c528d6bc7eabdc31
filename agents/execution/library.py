"""``libkc_checked.so`` by ctypes: heap, calls that survive faults, shadow memory."""
from __future__ import annotations

import ctypes
import functools
from pathlib import Path

from kc.agents.execution.errors import ExecutionError

#: kinds of ``Report.code``
ENDED, SIGNAL, TIME, ALLOCATION, CHECK, CONVENTION = range(6)


class Report(ctypes.Structure):
    """How a call ended (call.cpp)."""

    _fields_ = (
        ("code", ctypes.c_int32), ("signal", ctypes.c_int32), ("address", ctypes.c_uint64), ("write", ctypes.c_int32),
        ("stack", ctypes.c_int32), ("message", ctypes.c_char * 256),
    )


class Site(ctypes.Structure):
    """One place in instrumented code that touches memory (shadow.cpp). ``mode``: 0 read, 1 write, 2 atomic update."""

    _fields_ = (("mode", ctypes.c_int32), ("bytes", ctypes.c_int32), ("lanes", ctypes.c_int32))


#: no index, in ``Found.iteration``
NONE = -(1 << 63)


class Found(ctypes.Structure):
    """One finding of an instrumented run (shadow.cpp)."""

    _fields_ = (
        ("sort", ctypes.c_int32), ("site", ctypes.c_int32), ("other_site", ctypes.c_int32),
        ("block_kind", ctypes.c_int32), ("block_number", ctypes.c_int64), ("block_site", ctypes.c_int64),
        ("offset", ctypes.c_int64), ("size", ctypes.c_int64), ("iteration", ctypes.c_int64 * 8),
        ("other_iteration", ctypes.c_int64 * 8),
    )


def path() -> Path:
    """Where the library lies: beside this file."""
    return Path(__file__).with_name("libkc_checked.so")


@functools.lru_cache(maxsize=1)
def load() -> ctypes.CDLL:
    """The library; raises ExecutionError when it was not built."""
    try:
        library = ctypes.CDLL(str(path()))
    except OSError as error:
        message = f"{path()} does not load ({error}); build it: cmake --build build/cmake"
        raise ExecutionError("unsupported", message) from None
    i32, i64, u64, pointer = ctypes.c_int32, ctypes.c_int64, ctypes.c_uint64, ctypes.c_void_p
    for name, types, result in (
        ("kc_checked_begin", (i32, i32, i64), None),
        ("kc_checked_call", (pointer, pointer, ctypes.c_double, pointer), None),
        ("kc_checked_heap", (pointer,), None),
        ("kc_checked_guarded", (u64,), i64),
        ("kc_checked_sites", (i64, pointer, i64), None),
        ("kc_checked_argument", (i64, u64, i64, i32, i32, pointer), None),
        ("kc_checked_findings", (pointer, i64), i64),
        ("kc_checked_trace", (i64,), None),
        ("kc_checked_patch", (i64, i64, i32, i32, pointer, u64), None),
        ("kc_checked_events", (pointer,), i64),
        ("kc_checked_writer", (u64,), i64),
        ("kc_checked_machine", (pointer,), None),
        ("kc_checked_extern", (), u64),
    ):
        function = getattr(library, name)
        function.argtypes, function.restype = types, result
    return library
