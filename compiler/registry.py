"""Passes by name: the lazy registry, passes registered at run time, files and entry points of users."""
from __future__ import annotations

import functools
import importlib
import os
import sys
from typing import TYPE_CHECKING

from kc.errors import InputError, KcError
from kc.passes import REGISTRY

if TYPE_CHECKING:
    from kc.pass_base import Pass

ENTRY_POINT_GROUP = "kc.passes"

_user: dict[str, type[Pass]] = {}
#: the names that ``register`` was given; a pipeline that was planned when there were fewer may hold another pass
registered: list[str] = []
_entry_points: dict[str, object] | None = None


def find_pass(name: str) -> type[Pass] | None:
    """The class of the pass ``name`` if it is kc's own or was registered by the user; None otherwise.

    Entry points are not looked at (that costs 100 ms): see ``find_plugin``.
    """
    if name in _user:
        return _user[name]
    path = REGISTRY.get(name)
    return None if path is None else _load(name, path)


def is_known(name: str) -> bool:
    """Whether ``find_pass`` would find ``name``, without importing it."""
    return name in _user or name in REGISTRY


@functools.cache
def _load(name: str, path: str) -> type[Pass]:
    module, _, attribute = path.partition(":")
    try:
        cls: type[Pass] = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise KcError(f"pass '{name}' is registered as {path}, which cannot be loaded: {error}") from error
    if cls.name != name:
        raise KcError(f"pass '{name}' is registered as {path}, but that pass calls itself '{cls.name}'")
    return cls


def find_plugin(name: str) -> type[Pass] | None:
    """A pass from an installed package's entry point in the group ``kc.passes`` (entry name = pass name)."""
    global _entry_points
    if _entry_points is None:
        from importlib.metadata import entry_points

        _entry_points = {point.name: point for point in entry_points(group=ENTRY_POINT_GROUP)}
    point = _entry_points.get(name)
    if point is None:
        return None
    cls: type[Pass] = point.load()  # type: ignore[attr-defined]
    register(cls)
    return cls


def register(cls: type[Pass]) -> type[Pass]:
    """Make a pass known under its name for this process; usable as a decorator.

    Raises InputError when the name is empty or taken by another pass, or when a class with options is no dataclass.
    """
    if not cls.name:
        raise InputError(f"{cls.__module__}.{cls.__qualname__} has no name: set `name: ClassVar[str] = \"...\"`")
    own = cls.__dict__.get("__annotations__", {})  # noqa: RUF063 - importing inspect takes 20 ms
    options = [name for name, kind in own.items() if "ClassVar" not in str(kind)]
    if options and "__dataclass_fields__" not in cls.__dict__:
        raise InputError(
            f"{_where(cls)} has options ({', '.join(options)}) and is no dataclass: "
            "write @dataclasses.dataclass(frozen=True) above it"
        )
    if cls.name in REGISTRY and REGISTRY[cls.name] != f"{cls.__module__}:{cls.__qualname__}":
        raise InputError(f"the name '{cls.name}' belongs to a pass of kc ({REGISTRY[cls.name]})")
    taken = _user.get(cls.name)
    if taken is not None and (taken.__module__, taken.__qualname__) != (cls.__module__, cls.__qualname__):
        raise InputError(f"two passes are named '{cls.name}': {_where(taken)} and {_where(cls)}")
    if taken is not cls:
        _user[cls.name] = cls
        registered.append(cls.name)
    return cls


def _where(cls: type[Pass]) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


def load_pass_file(path: str) -> list[str]:
    """Run a Python file and register the passes in it: subclasses of ``kc.Pass`` and ``@kc.rewrite`` functions.

    Returns their names. Raises InputError when the file is missing, raises, or holds no pass.
    """
    import importlib.util

    from kc.pass_base import Pass

    module_name = "kc_user_passes_" + "".join(c if c.isalnum() else "_" for c in os.path.abspath(path))
    spec = importlib.util.spec_from_file_location(module_name, path)
    if spec is None or spec.loader is None or not os.path.isfile(path):
        reason = "not a .py file" if os.path.exists(path) else "no such file"
        raise InputError(f"cannot load passes from '{path}': {reason}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module  # dataclasses look their module up there
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[module_name]
        raise InputError(f"'{path}' raised {type(error).__name__} while it was loaded: {error}") from error
    found = []
    for value in vars(module).values():
        candidate = getattr(value, "pass_class", value)
        if isinstance(candidate, type) and issubclass(candidate, Pass) and candidate.__module__ == module_name:
            register(candidate)
            found.append(candidate.name)
    if not found:
        raise InputError(f"'{path}' holds no pass: neither a subclass of kc.Pass nor a function under @kc.rewrite")
    return found


def known_names() -> list[str]:
    """Names of all kc passes and passes registered in this process, sorted."""
    return sorted({*REGISTRY, *_user})
