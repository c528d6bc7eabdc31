"""``libkc_runtime.so`` by ctypes: signatures of its C interface (``src/kc_runtime.h``), loaded on first use."""
from __future__ import annotations

import ctypes
import functools
import os
from pathlib import Path

from kc.runtime.errors import LoadError

ABI_VERSION = 1
NAME = "libkc_runtime.so"

_I32, _I64, _P, _S = ctypes.c_int32, ctypes.c_int64, ctypes.c_void_p, ctypes.c_char_p

# name → (result, arguments)
_FUNCTIONS: dict[str, tuple[object, tuple[object, ...]]] = {
    "kc_abi_version": (_I32, ()),
    "kc_last_error": (_S, ()),
    "kc_alloc": (_P, (_I64,)),
    "kc_free": (None, (_P,)),
    "kc_allocator_stats": (None, (_P,)),
    "kc_allocator_trim": (None, ()),
    "kc_num_threads": (_I32, ()),
    "kc_program_load": (_P, (_P, _P, _P, _I64, _I32)),
    "kc_program_unload": (None, (_P,)),
    "kc_program_symbol": (_P, (_P, _S)),
    "kc_program_add_module": (_I64, (_P, _S, _P, _I64)),
    "kc_program_add_kernel": (_I64, (_P, _S, _I64)),
    "kc_program_prepare": (_I32, (_P, _I32)),
    "kc_program_add_call": (_I32, (_P, _S, _I32, _P, _S, _I64, _I64, _I64, _P)),
    "kc_fail": (None, (_S,)),
    "kc_random_seed": (None, (ctypes.c_uint64,)),
    "kc_invoke": (_I32, (_P, _P)),
    "kc_grid_new": (_P, (_I32, _I32, ctypes.c_double)),
    "kc_grid_free": (None, (_P,)),
    "kc_grid_enter": (None, (_P, _I32)),
    "kc_grid_devices": (None, (_P, _P, _I32)),
    "kc_nccl_library": (None, (_S,)),
    "kc_grid_leave": (None, (_P, _I32, _I32, _S)),
    "kc_grid_fail": (None, (_P, _I32, _S)),
    "kc_grid_failure": (_S, (_P,)),
    "kc_grid_post": (None, (_P, _S, _S, _P, _I64, _I64, _P)),
    "kc_grid_boxes": (_S, (_P,)),
    "kc_grid_take": (_S, (_P, _S, _P, _P, _P)),
    "kc_gpu_count": (_I32, ()),
    "kc_gpu_describe": (_I32, (_I32, _P, _I64, _P)),
    "kc_gpu_alloc": (_P, (_I32, _P, _I64)),
    "kc_gpu_free": (_I32, (_I32, _P, _P)),
    "kc_gpu_copy": (_I32, (_I32, _P, _P, _P, _I64, _I32)),
    "kc_gpu_synchronize": (_I32, (_I32, _P)),
    "kc_gpu_own_stream": (_I32, (_I32, _P)),
    "kc_gpu_pointer_device": (_I32, (_P,)),
    "kc_gpu_stream_wait": (_I32, (_I32, _P, _P)),
    "kc_dlpack_new": (_P, (_P, _P, _I32, _P, _P, _I32, _I32, _I32, _I32, _P)),
}


def path() -> Path:
    """Where the library is: beside this file, or where ``KC_RUNTIME_LIBRARY`` points."""
    override = os.environ.get("KC_RUNTIME_LIBRARY")
    return Path(override) if override else Path(__file__).resolve().with_name(NAME)


@functools.cache
def library() -> ctypes.CDLL:
    """The library with typed functions. Calls release the GIL.

    Raises ``LoadError`` when it is not built, does not load, or is of another version than this package.
    """
    where = path()
    if not where.exists():
        raise LoadError(
            f"the C++ runtime is not built: {where} is missing. `python3 -m pip install .` (or `-e .`) builds it; so "
            "does `cmake -S . -B build/cmake -G Ninja && cmake --build build/cmake` in the source tree"
        )
    try:
        loaded = ctypes.CDLL(str(where))
    except OSError as error:
        raise LoadError(f"the C++ runtime {where} does not load: {error}") from error
    for name, (result, arguments) in _FUNCTIONS.items():
        function = getattr(loaded, name)
        function.restype = result
        function.argtypes = arguments
    version = loaded.kc_abi_version()
    if version != ABI_VERSION:
        raise LoadError(f"{where} has interface version {version}, this package needs {ABI_VERSION}; reinstall kc")
    return loaded


def last_error() -> str:
    """The message of the last failed call of this thread."""
    text: bytes = library().kc_last_error()
    return text.decode(errors="replace")
