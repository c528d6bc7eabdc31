"""Where NCCL is: the library of NVIDIA's wheel (``nvidia-nccl-cu13`` or ``-cu12``), which PyTorch brings too."""
from __future__ import annotations

import functools
import importlib.util
from pathlib import Path

from kc.runtime.library import library


def find() -> str | None:
    """The path of the wheel's library; None when no such wheel is installed (the system's own may be there)."""
    try:
        spec = importlib.util.find_spec("nvidia")
    except (ImportError, ValueError):
        return None
    folders = (spec.submodule_search_locations or ()) if spec is not None else ()
    libraries = (path for folder in folders for path in sorted(Path(folder).glob("*/lib/libnccl.so.2")))
    return next(map(str, libraries), None)


@functools.cache
def locate() -> None:
    """Tell the C++ runtime, once; it loads the library when a collective first needs it."""
    found = find()
    if found is not None:
        library().kc_nccl_library(found.encode())
