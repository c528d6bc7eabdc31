"""Messages as JSON: written, and read from strangers with an error that names the field at fault.

A message is a dataclass whose fields are JSON values. Whatever a text or value holds, it is a message or raises
ProtocolError; nothing in it is evaluated.
"""
from __future__ import annotations

import dataclasses
import functools
import json
import math
import types
import typing
from collections.abc import Mapping
from typing import Any, Literal, TypeVar

from kc.errors import InputError

#: of all three messages; raised when a reader of the old one would misread the new one
VERSION = 1


class ProtocolError(InputError):
    """A message is not one: a field is missing, unknown or of the wrong type.

    ``field`` is its path (``launch.grid``).
    """

    def __init__(self, message: str, field: str = ""):
        super().__init__(f"{field}: {message}" if field else message)
        self.field = field


Message = TypeVar("Message")


def to_json(message: Any, *, defaults: bool = True) -> dict[str, Any]:
    """A message (a dataclass) as JSON values; without ``defaults``, fields that have their default are left out."""
    result = {}
    for field in dataclasses.fields(message):
        value = getattr(message, field.name)
        default = field.default_factory() if callable(field.default_factory) else field.default
        if defaults or field.name == "version" or value != default:
            result[field.name] = list(value) if isinstance(value, tuple) else value
    return result


#: how JSON text tells floats for which JSON has no number (protobuf's JSON form does so too); a reader takes them for
#: floats where a field is a float, and leaves them as they are elsewhere
NON_FINITE = ("NaN", "Infinity", "-Infinity")


def told(value: Any) -> Any:
    """A value of a message without numbers that JSON does not have."""
    if isinstance(value, float) and not math.isfinite(value):
        return NON_FINITE[0] if math.isnan(value) else NON_FINITE[1 if value > 0 else 2]
    if isinstance(value, (list, tuple)):
        return [told(item) for item in value]
    if isinstance(value, dict):
        return {key: told(item) for key, item in value.items()}
    return value


def loads(cls: type[Message], text: str | bytes) -> Message:
    """The message that JSON text holds. Whatever the text is, it is a message or raises ProtocolError."""
    try:
        data = json.loads(text, parse_constant=_refuse, parse_float=_finite)
    except (ValueError, RecursionError) as error:  # UnicodeDecodeError and too long integers are ValueErrors
        raise ProtocolError(f"no JSON: {str(error)[:200]}") from None
    made: Message = cls.from_json(data)  # type: ignore[attr-defined]  # all messages have it
    return made


def dumps(message: Any, *, defaults: bool = True) -> str:
    """A message as one line of JSON text."""
    return json.dumps(told(to_json(message, defaults=defaults)), allow_nan=False, ensure_ascii=False)


def _refuse(name: str) -> Any:
    raise ValueError(f"{name[:40]} is no number of JSON's")


def _finite(text: str) -> float:
    return float(text) if math.isfinite(float(text)) else _refuse(text)


def from_json(cls: type[Message], data: Any) -> Message:
    """``data`` as a message of type ``cls``; raises ProtocolError that names the field at fault."""
    if not isinstance(data, Mapping):
        raise ProtocolError(f"a {cls.__name__.lower()} is a JSON object, not {_kind_of(data)}")
    fields = {field.name: field for field in dataclasses.fields(cls)}  # type: ignore[arg-type]
    version = data.get("version", VERSION)
    if not isinstance(version, int) or isinstance(version, bool) or version != VERSION:
        raise ProtocolError(f"this kc speaks version {VERSION} of the protocol, not {_shown(version)}", "version")
    for name in data:
        if name not in fields:
            import difflib

            near = difflib.get_close_matches(_shown(name).strip("'"), fields, 1)
            hint = f"; did you mean '{near[0]}'?" if near else f"; there are {', '.join(fields)}"
            raise ProtocolError(f"a {cls.__name__.lower()} has no such field{hint}", _shown(name).strip("'"))
    kinds = _kinds(cls)  # type: ignore[arg-type]
    values = {}
    for name, field in fields.items():
        if name in data:
            values[name] = _value(data[name], kinds[name], name)
        elif field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            raise ProtocolError("is missing", name)
    return cls(**values)


@functools.cache
def _kinds(cls: type) -> dict[str, Any]:
    """The types of a message's fields; looking them up takes longer than all the rest."""
    return typing.get_type_hints(cls)


def _value(value: Any, kind: Any, path: str) -> Any:
    """``value`` if it is of type ``kind``, lists as tuples where a tuple is wanted."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if kind is Any:
        return _plain(value, path)
    if origin in (typing.Union, types.UnionType):
        if value is None and type(None) in arguments:
            return None
        (kind,) = [a for a in arguments if a is not type(None)]
        return _value(value, kind, path)
    if origin is Literal:
        if isinstance(value, str) and value in arguments:
            return value
        raise ProtocolError(f"{_shown(value)} is none of {', '.join(map(repr, arguments))}", path)
    if origin is tuple:
        if isinstance(value, (list, tuple)):
            return tuple(_value(item, arguments[0], f"{path}[{number}]") for number, item in enumerate(value))
    elif origin is dict:
        if isinstance(value, Mapping):
            return {_key(key, path): _value(item, arguments[1], f"{path}.{key}") for key, item in value.items()}
    elif kind is float:
        if isinstance(value, str) and value in NON_FINITE:
            return float(value)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return float(_plain(value, path))
    elif isinstance(value, kind) and not (kind is int and isinstance(value, bool)):
        return _plain(value, path) if kind in (str, int, bool) else value
    raise ProtocolError(f"wants {getattr(origin or kind, '__name__', kind)}, not {_kind_of(value)}", path)


#: how deep lists and objects of a message may nest, and the range of its integers: what any reader of JSON takes
_DEPTH = 64
_INTEGERS = (-(2**63), 2**64 - 1)


def _plain(value: Any, path: str, depth: int = 0) -> Any:
    """``value`` if it is JSON through and through, which any reader of JSON reads as we do (RFC 8259, section 9)."""
    if depth > _DEPTH:
        raise ProtocolError(f"nests deeper than {_DEPTH} levels", path[:80])
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _text(value, path)
    if isinstance(value, int):
        if not _INTEGERS[0] <= value <= _INTEGERS[1]:
            raise ProtocolError("is an integer beyond 64 bits", path)
        return value
    if isinstance(value, float):
        return value
    if isinstance(value, (list, tuple)):
        return [_plain(item, f"{path}[{number}]", depth + 1) for number, item in enumerate(value)]
    if isinstance(value, Mapping):
        return {_key(key, path): _plain(item, f"{path}.{key}", depth + 1) for key, item in value.items()}
    raise ProtocolError(f"is no JSON value: {_kind_of(value)}", path)


def all_finite(value: Any, path: str) -> None:
    """Raise ProtocolError when a number of a stranger's is none."""
    if isinstance(value, float) and not math.isfinite(value):
        raise ProtocolError(f"{value} is no number of JSON's", path)
    for key, item in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        all_finite(item, f"{path}.{key}" if isinstance(key, str) else f"{path}[{key}]")


def _key(key: Any, path: str) -> str:
    """A key of an object."""
    if not isinstance(key, str):
        raise ProtocolError(f"has a key that is no string: {_kind_of(key)}", path)
    return _text(key, path)


def _text(value: str, path: str) -> str:
    """A string that has a form in UTF-8."""
    try:
        value.encode()
    except UnicodeEncodeError:
        where = path.encode(errors="replace").decode()
        raise ProtocolError("holds half of a surrogate pair, which is no character", where) from None
    return value


def _shown(value: Any) -> str:
    """A stranger's value in a message: short, and printable whatever it is."""
    if isinstance(value, str):
        return ascii(value[:60]) if not value.isprintable() or len(value) > 60 else repr(value)
    short = value is None or isinstance(value, (bool, float)) or (isinstance(value, int) and abs(value) < 10**9)
    return json.dumps(value) if short else _kind_of(value)


def _kind_of(value: Any) -> str:
    return "null" if value is None else type(value).__name__
