"""The GPU that a thread's calls use when no argument says which: that of its process in ``run_parallel``, else 0."""
from __future__ import annotations

import threading

_local = threading.local()


def default_device() -> int:
    """The ordinal of the device."""
    return int(getattr(_local, "device", 0))


def set_default_device(device: int) -> None:
    """For this thread."""
    _local.device = device
