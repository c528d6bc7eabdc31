"""What each op does: filled by the modules that are named here, asked by ``warp``."""
from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any

#: op -> function of (warp, node, operands' values, mask) that gives the result, or a tuple of them
FUNCTIONS: dict[str, Callable[..., Any]] = {}
#: op -> generator function of (warp, node, mask), for ops with regions and those that may have to wait
CONTROL: dict[str, Callable[..., Any]] = {}
_MODULES = ("assembly", "barriers", "bulk", "clusters", "collective", "copies", "matrices", "mbarriers", "pointers",
            "storage", "structured", "vectors", "warpgroups")


def op(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function."""
    return functools.partial(_register, FUNCTIONS, names)


def control(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a generator function."""
    return functools.partial(_register, CONTROL, names)


def _register(table: dict[str, Any], names: tuple[str, ...], function: Callable[..., Any]) -> Callable[..., Any]:
    table.update(dict.fromkeys(names, function))
    return function


@functools.lru_cache(maxsize=1)
def load() -> None:
    """Fill the tables."""
    for name in _MODULES:
        importlib.import_module(f"kc.agents.execution.grid.{name}")
