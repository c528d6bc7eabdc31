"""``launch``: how a kernel of foreign code is started, and what it is passed."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from typing import Any

from kc.agents.protocol import ProtocolError
from kc.agents.realize import expressions
from kc.agents.realize.ptx_text import Entry, Parameter
from kc.agents.realize.realized import RealizeError
from kc.agents.realize.region import Signature

_FIELDS = ("entry", "grid", "block", "shared", "arguments")
_BYTES = {"i1": 1, "i8": 1, "i16": 2, "i32": 4, "i64": 8, "index": 8, "bf16": 2, "f16": 2, "f32": 4, "f64": 8}


@dataclasses.dataclass(frozen=True)
class Launch:
    """``grid`` and ``block``: three expressions each; ``shared``: an expression, bytes of dynamic shared memory.

    ``arguments``: what each parameter of the kernel gets: ("buffer", N), ("size", expression) or ("number", value).
    """

    entry: str
    grid: tuple[Any, Any, Any]
    block: tuple[Any, Any, Any]
    shared: Any
    arguments: tuple[tuple[str, Any], ...]


def read(data: Mapping[str, Any] | None, signature: Signature, entries: Mapping[str, Entry]) -> Launch:
    """The launch that a proposal declares. Raises ProtocolError that names the field at fault."""
    data = data or {}
    for name in data:
        if name not in _FIELDS:
            raise ProtocolError(f"a launch has {', '.join(_FIELDS)}", f"launch.{name}")
    entry = data.get("entry") or (next(iter(entries)) if len(entries) == 1 else None)
    if not isinstance(entry, str) or entry not in entries:
        raise ProtocolError(
            f"{entry!r} is no kernel of the source; there are {', '.join(entries) or 'none'}", "launch.entry"
        )
    if "grid" not in data or "block" not in data:
        raise ProtocolError("is missing", "launch.grid" if "grid" not in data else "launch.block")
    ranks = [value.rank for value in signature.buffers]
    names = signature.sizes

    def three(field: str) -> tuple[Any, Any, Any]:
        given = data[field]
        given = list(given) if isinstance(given, (list, tuple)) else [given]
        if not 1 <= len(given) <= 3:
            raise ProtocolError(f"wants one to three sizes, not {len(given)}", f"launch.{field}")
        made = [expressions.parse(v, f"launch.{field}[{n}]", names, ranks) for n, v in enumerate([*given, 1, 1][:3])]
        return made[0], made[1], made[2]

    shared = expressions.parse(data.get("shared", 0), "launch.shared", names, ranks)
    given = data.get("arguments")
    if given is None:
        given = [f"arg{number}" for number in range(len(signature.buffers))]
    if not isinstance(given, (list, tuple)):
        raise ProtocolError(f"wants a list, not {given!r}", "launch.arguments")
    arguments = tuple(_argument(v, f"launch.arguments[{n}]", signature, names, ranks) for n, v in enumerate(given))
    return Launch(entry, three("grid"), three("block"), shared, arguments)


def _argument(
    value: Any, field: str, signature: Signature, names: Mapping[str, tuple[int, int]], ranks: list[int]
) -> tuple[str, Any]:
    if isinstance(value, (bool, float, int)):
        return "number", value
    if isinstance(value, str):
        place = _buffer(value, signature, field)
        if place is not None:
            return "buffer", place
    return "size", expressions.parse(value, field, names, ranks)


def buffer_named(text: Any, signature: Signature, field: str) -> int:
    """The number of the buffer that ``text`` names. Raises ProtocolError when it names none."""
    found = _buffer(text, signature, field) if isinstance(text, str) else None
    if found is None:
        raise ProtocolError(f"wants argN or outN, not {text!r}", field)
    return found


def _buffer(text: str, signature: Signature, field: str) -> int | None:
    """The buffer that ``argN`` (an argument of the region) or ``outN`` (destination N) names."""
    match = re.fullmatch(r"\s*(arg|out)(\d{1,4})\s*", text)
    if match is None:
        return None
    number, buffers = int(match[2]), signature.buffers
    if match[1] == "out":
        written = len(buffers) - len(signature.results)
        if number >= len(signature.results):
            raise ProtocolError(f"the region has {len(signature.results)} results, no '{text.strip()}'", field)
        return written + number
    if number >= len(buffers):
        raise ProtocolError(f"the region has {len(buffers)} buffers, no '{text.strip()}'", field)
    return number


def check(
    launch: Launch, entry: Entry, signature: Signature, limits: Mapping[str, int], static_shared: int = 0
) -> None:
    """Raises RealizeError when the kernel cannot be started like this: arguments, block, shared memory."""
    wanted, given = entry.parameters, launch.arguments
    if len(wanted) != len(given):
        raise RealizeError(
            "signature",
            "signature.arguments",
            f"kernel '{entry.name}' has {len(wanted)} parameters, the launch gives {len(given)}",
        )
    for number, (parameter, argument) in enumerate(zip(wanted, given, strict=True)):
        problem = _misfit(parameter, argument, signature)
        if problem:
            raise RealizeError(
                "signature",
                "signature.arguments",
                f"parameter {number} of '{entry.name}' ({parameter.type}): {problem}",
            )

    def dim(argument: int, axis: int) -> int | None:
        return (signature.buffers[argument].shape or ())[axis]

    block = [expressions.evaluate(size, dim) for size in launch.block]
    known = [size if size is not None else 1 for size in block]
    threads = known[0] * known[1] * known[2]
    most = entry.most_threads or limits.get("threads", 1024)
    if threads == 0 or threads > min(most, limits.get("threads", 1024)):
        raise RealizeError(
            "resource", "resource.block", f"a block of {' x '.join(map(str, known))} threads: 1 to {most} are possible"
        )
    if entry.exact and None not in block and tuple(block) != entry.exact:
        raise RealizeError(
            "resource", "resource.block", f"the kernel is for blocks of {entry.exact} (.reqntid), not {block}"
        )
    if entry.cluster and any(size > 1 for size in entry.cluster):
        raise RealizeError(
            "resource", "resource.cluster", "the kernel asks for clusters of blocks, which kc does not launch"
        )
    shared = expressions.evaluate(launch.shared, dim)
    limit = limits.get("shared_bytes", 48 << 10)
    if static_shared + (shared or 0) > limit:
        raise RealizeError(
            "resource",
            "resource.shared",
            f"{static_shared + (shared or 0)} bytes of shared memory: a block has {limit}",
        )


def _misfit(parameter: Parameter, argument: tuple[str, Any], signature: Signature) -> str | None:
    kind, value = argument
    if parameter.array:
        return "structures by value (tensor maps) cannot be passed"
    floating = parameter.type[0] == "f"
    if kind == "buffer":
        buffer = signature.buffers[value]
        if buffer.shape is not None:
            pointer = parameter.size == 8 and not floating
            return None if pointer else f"a tensor is passed as a 64-bit address, not in {parameter.size} bytes"
        size = _BYTES.get(buffer.element)
        return None if size == parameter.size else f"argument {value} is a {buffer.element} of {size} bytes"
    if kind == "size":
        return None if parameter.size in (4, 8) and not floating else "a size is an integer of 32 or 64 bits"
    if isinstance(value, float):
        exact = parameter.type in ("f32", "f64", "b32", "b64")
        return None if exact else "a number with a fraction needs f32 or f64"
    bits = 8 * parameter.size
    return None if -(1 << (bits - 1)) <= value < 1 << bits else f"{value} does not fit into {bits} bits"
