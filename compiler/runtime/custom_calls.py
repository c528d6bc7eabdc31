"""Custom calls: functions of Python and C that programs call by name (``stablehlo.custom_call``).

    from kc.runtime import custom_calls

    def scale(inputs, outputs, attributes):
        outputs[0][...] = inputs[0] * attributes["factor"]

    custom_calls.register("my.scale", scale)

A function is looked up when a program is loaded. Names that nobody registered are a ``LoadError`` then, and an error
of the census when a program is compiled; ``declare`` tells the compiler of functions that exist only where the
program will run. The targets that JAX uses on CPUs (``lapack_*``) come with kc, see ``kc.runtime.lapack``; for
GPUs some of them, see ``kc.runtime.cusolver``.
"""
from __future__ import annotations

import ctypes
import dataclasses
import difflib
import importlib
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kc.runtime.errors import LoadError
from kc.runtime.libraries.names import TARGETS as LIBRARIES

PLATFORMS = ("cpu", "nvptx")
WORDS, XLA, KC = 0, 1, 2
_ABIS = {"xla": XLA, "kc": KC}

#: called as function(inputs, outputs, attributes)
Function = Callable[[Sequence[Any], Sequence[Any], Mapping[str, Any]], None]


@dataclasses.dataclass(frozen=True)
class Implementation:
    """A registered function: ``function`` in Python, or ``address`` of one in C with the ABI ``abi``."""

    name: str
    platform: str
    function: Function | None = None
    address: int = 0
    abi: int = WORDS
    keep: object = None  # the library that the address is in


_registered: dict[tuple[str, str], Implementation] = {}
_declared: set[str] = set()
_lock = threading.Lock()


def register(name: str, function: Function, platform: str = "cpu", *, replace: bool = False) -> None:
    """Make ``function`` the custom call ``name`` of programs for ``platform`` (``cpu`` or ``nvptx``).

    It is called as ``function(inputs, outputs, attributes)`` and writes its results into ``outputs``; what it returns
    is ignored. ``inputs`` and ``outputs`` are lists of arrays over the program's own memory, without a copy, and valid
    during the call only. On the CPU they are NumPy arrays, with the strides that the call's layouts ask for; inputs
    are read-only. On a GPU they are objects with ``__cuda_array_interface__``, whose ``stream`` the work has to be put
    on. ``attributes`` is the call's ``backend_config``: its dictionary as Python values, or
    ``{"backend_config": text}``. An exception ends the program's call with an ``ExecutionError`` that it is the cause
    of.

    Without a function for ``nvptx`` a GPU program calls that for ``cpu``, on copies of the arrays in host memory.

    Raises ``ValueError`` for a platform that does not exist, or a name that is taken unless ``replace`` is set.
    """
    if not callable(function):
        raise TypeError(f"a custom call is a function, not {type(function).__name__}")
    _add(Implementation(name, platform, function), replace)


def register_c(
    name: str,
    function: int | tuple[str, str] | Any,
    platform: str = "cpu",
    *,
    abi: str = "kc",
    replace: bool = False,
) -> None:
    """Make a C function the custom call ``name``.

    ``function``: its address, a ctypes function, or (path of a shared library, symbol). ``abi``: ``kc``, the
    ``kc_custom_function`` of ``runtime/src/kc_custom_call.h``; or ``xla``, XLA's original interface: on the CPU
    ``void f(void *out, const void **in)``, where ``out`` is the result's buffer, or an array of buffers unless there
    is exactly one; on a GPU ``void f(CUstream, void **buffers, const char *opaque, size_t opaque_size)``.

    The function is called without Python's global lock, and may be called by several threads at once. Raises
    ``LoadError`` when the library or the symbol is not there, ``ValueError`` as ``register`` does.
    """
    if abi not in _ABIS:
        raise ValueError(f"there is no ABI '{abi}' for custom calls: {' or '.join(_ABIS)}")
    keep: object = function
    if isinstance(function, tuple):
        path, symbol = function
        try:
            keep = ctypes.CDLL(path)
            function = getattr(keep, symbol)
        except (OSError, AttributeError) as error:
            raise LoadError(f"custom call '{name}': {error}") from None
    address = function if isinstance(function, int) else ctypes.cast(function, ctypes.c_void_p).value
    if not address:
        raise ValueError(f"custom call '{name}': the address of the function is null")
    _add(Implementation(name, platform, None, address, _ABIS[abi], keep), replace)


def declare(*names: str) -> None:
    """Tell the compiler that these custom calls are registered where the program will run."""
    with _lock:
        _declared.update(names)


def unregister(name: str, platform: str = "cpu") -> None:
    """Take a function out again. Programs that are loaded keep it. Raises ``KeyError`` when there is none."""
    with _lock:
        del _registered[name, platform]


def _add(implementation: Implementation, replace: bool) -> None:
    if implementation.platform not in PLATFORMS:
        raise ValueError(f"there is no platform '{implementation.platform}': {' or '.join(PLATFORMS)}")
    key = (implementation.name, implementation.platform)
    with _lock:
        if key in _registered and not replace:
            raise ValueError(f"custom call '{key[0]}' is registered for {key[1]} already (replace=True replaces it)")
        _registered[key] = implementation


# ------------------------------------------------------------------------------------------------------------- look-up


def _built_in(name: str, platform: str) -> Implementation | None:
    """What kc brings itself: cuSOLVER for GPUs where it is found, LAPACK for the CPU."""
    from kc.runtime.lapack import names

    if in_cusolver(name, platform):
        from kc.runtime.cusolver import library
        from kc.runtime.cusolver.names import TARGETS

        if library.load() is not None:
            module = importlib.import_module(f"kc.runtime.cusolver.{TARGETS[name]}")
            return Implementation(name, platform, module.implementation(name))
    if name in LIBRARIES and LIBRARIES[name][1] == platform:
        module = importlib.import_module(f"kc.runtime.libraries.{LIBRARIES[name][0]}")
        return Implementation(name, platform, module.implementation(name))
    if name not in names.TARGETS:
        return None
    module = importlib.import_module(f"kc.runtime.lapack.{names.TARGETS[name]}")
    return Implementation(name, "cpu", module.implementation(name))


def knows(name: str, platform: str) -> bool:
    """Whether a program for ``platform`` may call ``name``: it is declared, or has a function there or on the CPU."""
    from kc.runtime.lapack import names

    with _lock:
        return name in _declared or name in names.TARGETS or LIBRARIES.get(name, ("", ""))[1] == platform or any(
            (name, place) in _registered for place in (platform, "cpu")
        )


def on_host(name: str, platform: str) -> bool:
    """Whether a program for ``platform`` calls ``name`` on copies in host memory, for want of an own function (of
    those ``in_cusolver``: where that is not found)."""
    if LIBRARIES.get(name, ("", ""))[1] == platform:
        return False
    return platform != "cpu" and (name, platform) not in _registered and name not in _declared


def in_cusolver(name: str, platform: str) -> bool:
    """Whether a program for ``platform`` calls cuSOLVER for ``name``, where that is found."""
    from kc.runtime.cusolver.names import TARGETS

    with _lock:
        taken = name in _declared or any((name, place) in _registered for place in PLATFORMS)
    return platform == "nvptx" and name in TARGETS and not taken


def find(name: str, platform: str) -> Implementation | None:
    """The function for ``platform``, else that for the CPU; None when there is neither."""
    with _lock:
        found = _registered.get((name, platform)) or _registered.get((name, "cpu"))
    return found or _built_in(name, platform)


def near(name: str, platform: str) -> list[str]:
    """Known names that look like ``name``."""
    from kc.runtime.lapack import names

    with _lock:
        known = {n for n, place in _registered if place in (platform, "cpu")} | _declared
    return difflib.get_close_matches(name, sorted(known | set(names.TARGETS)), 3)
