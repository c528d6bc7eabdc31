"""Small immutable records that cost nothing at start-up.

``dataclasses`` takes 40 ms to import and the first ``NamedTuple`` 3 ms; a command that should start in 100 uses these.
"""
from __future__ import annotations

from typing import Any, ClassVar, dataclass_transform


@dataclass_transform(frozen_default=True)
class Record:
    """Base of records: the annotated names of a subclass are its fields, in order, with defaults as in a dataclass.

    Records are equal when their class and fields are, are hashable if their fields are, and are not to be changed.
    """

    _fields: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        own = cls.__dict__.get("__annotations__", {})  # noqa: RUF063 - importing inspect takes 20 ms
        cls._fields = (*cls._fields, *(name for name in own if name not in cls._fields))

    def __init__(self, *values: Any, **named: Any) -> None:
        fields = self._fields
        if len(values) > len(fields):
            raise TypeError(f"{type(self).__name__} has {len(fields)} fields, got {len(values)} values")
        mine = self.__dict__
        for name, value in zip(fields, values, strict=False):
            mine[name] = value
        for name, value in named.items():
            if name not in fields or name in mine:
                raise TypeError(f"{type(self).__name__} has no field '{name}', or got it twice")
            mine[name] = value
        for name in fields:
            if name not in mine:
                try:
                    mine[name] = getattr(type(self), name)
                except AttributeError:
                    raise TypeError(f"{type(self).__name__} needs a value for '{name}'") from None

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a {type(self).__name__} cannot be changed (field '{name}')")

    def replace(self, **changes: Any) -> Any:
        """A copy with some fields changed."""
        return type(self)(**{**self.__dict__, **changes})

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.__dict__ == self.__dict__

    def __hash__(self) -> int:
        return hash((type(self), *self.__dict__.values()))

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={self.__dict__[name]!r}" for name in self._fields)
        return f"{type(self).__name__}({shown})"
