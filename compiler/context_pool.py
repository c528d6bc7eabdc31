"""Contexts that one compilation leaves to the next.

A fresh context costs a compilation a quarter of its time: dialects are loaded, pipelines parsed, and the patterns of
native passes built again. A context is handed on only where nothing of the last compilation can be met in the next
one, see ``kept_context``.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kc.bindings import ir

#: a context ends after so many compilations, or so many characters of source: what it has uniqued is never freed
_USES, _CHARACTERS = 64, 4 << 20
#: longer sources may hold constants that are worth freeing, and gain little
_LONGEST = 256 << 10
_FREE = 2


class _Kept:
    def __init__(self) -> None:
        from kc.context import make_context

        self.context = make_context()
        self.uses = self.characters = 0


_free: list[_Kept] = []
_lock = threading.Lock()


def fits(source: object) -> bool:
    """Whether ``source`` may be compiled in a kept context: short text without resources.

    A resource is found by its name in the context, where that of an earlier module would be found for one that
    brings none. In bytecode resources cannot be told without parsing it.
    """
    return (
        isinstance(source, str)
        and len(source) <= _LONGEST
        and "func.func" in source  # not a path
        and "dense_resource" not in source
        and "{-#" not in source
    )


@contextlib.contextmanager
def kept_context(source: str) -> Iterator[ir.Context]:
    """A context for one compilation of ``source``, which ``fits``; nobody else has it while the block runs.

    It is handed on to a later one unless the block raises, a module of it is still held after the block, parameters
    were bound in it, or it has served long enough. What is attached to it is taken off. A forked process starts with
    none of its parent's contexts.
    """
    from kc import pass_manager
    from kc.context import forget_sources
    from kc.params import ParamTable

    with _lock:
        kept = _free.pop() if _free else None
    kept = kept or _Kept()
    context = kept.context
    kept.uses += 1
    kept.characters += len(source)
    pass_manager.keep_managers(context)
    reusable = False
    try:
        yield context
        reusable = (
            not ParamTable.drop(context)
            and not context._get_live_module_count()
            and kept.uses < _USES
            and kept.characters < _CHARACTERS
        )
    finally:
        forget_sources(context)
        with _lock:
            if reusable and len(_free) < _FREE:
                _free.append(kept)
            else:
                pass_manager.drop_managers(context)


def _start_anew() -> None:
    global _free, _lock
    _free, _lock = [], threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_anew)
