"""Facts about the machine on which something was judged or timed: what explains a timing, and nothing private."""
from __future__ import annotations

import functools
import os
import platform
from typing import Any


@functools.cache
def _facts() -> tuple[tuple[str, Any], ...]:
    found: dict[str, Any] = {"system": platform.system(), "machine": platform.machine(), "cpu": _cpu()}
    affinity = getattr(os, "sched_getaffinity", None)
    found["cores"] = len(affinity(0)) if affinity else os.cpu_count()
    found["python"] = platform.python_version()
    return tuple(found.items())


def machine() -> dict[str, Any]:
    """``system``, ``machine`` (architecture), ``cpu`` (model), ``cores`` that this process may use, ``python``.

    No name of a host or a user: a ledger is committed and read by others.
    """
    return dict(_facts())


def _cpu() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
