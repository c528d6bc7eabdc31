"""The protocol: what an agent is shown, what it may answer, and what it is told. Plain data, told as JSON.

Three messages, whoever the agent is: an ``Observation`` goes out, a ``Proposal`` (or nothing) comes back, a ``Verdict``
ends the turn. Each is a frozen dataclass whose fields are JSON values; ``to_json`` and ``from_json`` are inverse to
each other, and ``from_json`` raises ProtocolError that names the field at fault. A proposal is data from a stranger: it
is read here, judged by ``kc.agents.gates`` and never evaluated. Nothing in this module imports MLIR.
"""
from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Mapping
from typing import Any, Literal, TypeVar

from kc.errors import InputError

#: of all three messages; raised when a reader of the old one would misread the new one
VERSION = 1

Kind = Literal["keep", "replace_ir", "schedule", "ptx", "cuda", "triton", "library", "stablehlo_out"]
Gate = Literal[
    "parse", "verify", "level", "signature", "assumptions", "resource", "aliasing", "race", "numeric", "timing"
]

#: gates in the order in which a proposal meets them
GATES: tuple[str, ...] = typing.get_args(Gate)


class ProtocolError(InputError):
    """A message is not one: a field is missing, unknown or of the wrong type.

    ``field`` is its path (``launch.grid``).
    """

    def __init__(self, message: str, field: str = ""):
        super().__init__(f"{field}: {message}" if field else message)
        self.field = field


@dataclasses.dataclass(frozen=True)
class Observation:
    """What an agent is shown of one region at one moment of a compilation.

    The contract under which the region stands is in ``ir`` itself (``kc.allow`` and its kin, see
    ``kc.agents.contract``) and, read out, in ``contract``.
    """

    #: level of the ladder at which the region stands, and the hook point (``before:cpu-schedule``)
    level: str
    at: str
    #: the region's function, and its kind (``contraction``, ``row-reduction`` … or ``function``)
    name: str
    kind: str
    #: hash of the region's canonical IR, target and options: key of the ledger, 64 hex digits
    identity: str
    #: text of a module that holds the region as ``@main``; ``ops`` has its ops in order of the text: id, name, result
    #: types, location
    ir: str
    ops: tuple[dict[str, Any], ...] = ()
    #: spec of the target (``cpu``, ``nvptx:sm_90a``) and the limits that schedules read
    target: str = "cpu"
    limits: dict[str, int] = dataclasses.field(default_factory=dict)
    #: ``kc.agents.contract.Contract`` as JSON
    contract: dict[str, Any] = dataclasses.field(default_factory=dict)
    #: of one run at the typical sizes of ``contract``; None where they cannot be told
    flops: float | None = None
    bytes: float | None = None
    #: shortest time on this target that the sizes allow, in µs
    roofline_us: float | None = None
    #: what the compiler would do: name of the schedule and its knobs, or why there is none
    default: dict[str, Any] = dataclasses.field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    #: earlier proposals of this agent for this region with their verdicts, oldest first
    attempts: tuple[dict[str, Any], ...] = ()
    version: int = VERSION

    def to_json(self) -> dict[str, Any]:
        """The message as JSON values."""
        return to_json(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Observation:
        """The message that ``data`` holds; raises ProtocolError."""
        return from_json(cls, data)


@dataclasses.dataclass(frozen=True)
class Proposal:
    """What an agent answers. Which fields count depends on ``kind``:

    | kind            | fields |
    | --------------- | ------ |
    | ``keep``        | none: leave the region as the compiler has it |
    | ``replace_ir``  | ``ir``: a module whose ``@main`` has the region's signature; ``level``: its level or lower |
    | ``schedule``    | ``knobs``: fields of the kernel's schedule by name; or ``script``: a transform-dialect module |
    | ``ptx``, ``cuda``, ``triton`` | ``source`` and ``launch`` |
    | ``library``     | ``library``: ``cublaslt``, ``cudnn``, ``blas``, ``onednn``; ``parameters`` |
    | ``stablehlo_out`` | ``parameters``: the device (``platform``) that takes the region |

    ``assumes`` names what the new form needs and the old one did not (``reassoc``, ``nnan``, ``align(arg0,64)``): each
    must be granted by the contract. ``guard`` is a condition on the arguments' sizes (``M % 8 == 0``) outside of which
    the original runs.
    """

    kind: Kind
    ir: str | None = None
    level: str | None = None
    knobs: dict[str, Any] | None = None
    script: str | None = None
    source: str | None = None
    #: ``entry`` (name of the kernel), ``grid`` and ``block`` (three expressions over dimension names each), ``shared``
    #: (bytes), ``arguments`` (order of ``arg0``, ``dim(M)`` and literals)
    launch: dict[str, Any] | None = None
    library: str | None = None
    parameters: dict[str, Any] | None = None
    assumes: tuple[str, ...] = ()
    guard: str | None = None
    rationale: str = ""
    version: int = VERSION

    def to_json(self) -> dict[str, Any]:
        """The message as JSON values, without fields that have their default."""
        return to_json(self, defaults=False)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Proposal:
        """The message that ``data`` holds; raises ProtocolError, also when a field is missing that the kind needs."""
        made = from_json(cls, data)
        needs = _NEEDS[made.kind]
        if needs and all(getattr(made, name) is None for name in needs):
            raise ProtocolError(f"a proposal of kind '{made.kind}' needs it", " or ".join(needs))
        return made


_NEEDS: dict[str, tuple[str, ...]] = {
    "keep": (), "replace_ir": ("ir",), "schedule": ("knobs", "script"), "ptx": ("source",), "cuda": ("source",),
    "triton": ("source",), "library": ("library",), "stablehlo_out": (),
}


@dataclasses.dataclass(frozen=True)
class Verdict:
    """What became of a proposal.

    ``gate`` is the gate that ended it (None when it was accepted), ``reason`` its code (``signature.arguments``,
    ``numeric.nan`` …: ``kc.agents.gates.REASONS`` explains each), ``message`` says it in words with names and numbers.
    """

    accepted: bool
    gate: Gate | None = None
    reason: str = "accepted"
    message: str = ""
    #: the smallest counter-example found: ``sizes``, ``arguments`` (values or how they were drawn), ``index``, ``got``,
    #: ``want``; of a race the two places; None where no run was needed
    witness: dict[str, Any] | None = None
    #: the first op of the region that diverges, where it can be told
    op: str | None = None
    #: largest error against the reference in higher precision: ``ulp``, and that of the original (``original_ulp``)
    errors: dict[str, float] | None = None
    #: ``original_us``, ``proposal_us``, ``speedup`` with ``interval`` (95 %), ``roofline_us``, ``rounds``
    timing: dict[str, Any] | None = None
    #: name of each gate that was passed -> seconds it took
    seconds: dict[str, float] = dataclasses.field(default_factory=dict)
    #: number of differential runs
    runs: int = 0
    version: int = VERSION

    def to_json(self) -> dict[str, Any]:
        """The message as JSON values."""
        return to_json(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Verdict:
        """The message that ``data`` holds; raises ProtocolError."""
        return from_json(cls, data)


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


def from_json(cls: type[Message], data: Any) -> Message:
    """``data`` as a message of type ``cls``; raises ProtocolError that names the field at fault."""
    if not isinstance(data, Mapping):
        raise ProtocolError(f"a {cls.__name__.lower()} is a JSON object, not {_kind_of(data)}")
    fields = {field.name: field for field in dataclasses.fields(cls)}  # type: ignore[arg-type]
    version = data.get("version", VERSION)
    if version != VERSION:
        raise ProtocolError(f"this kc speaks version {VERSION} of the protocol, not {version!r}", "version")
    for name in data:
        if name not in fields:
            import difflib

            near = difflib.get_close_matches(str(name), fields, 1)
            hint = f"; did you mean '{near[0]}'?" if near else f"; there are {', '.join(fields)}"
            raise ProtocolError(f"a {cls.__name__.lower()} has no such field{hint}", str(name))
    kinds = typing.get_type_hints(cls)
    values = {}
    for name, field in fields.items():
        if name in data:
            values[name] = _value(data[name], kinds[name], name)
        elif field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            raise ProtocolError("is missing", name)
    return cls(**values)


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
        if value in arguments:
            return value
        raise ProtocolError(f"{value!r} is none of {', '.join(map(repr, arguments))}", path)
    if origin is tuple:
        if isinstance(value, (list, tuple)):
            return tuple(_value(item, arguments[0], f"{path}[{number}]") for number, item in enumerate(value))
    elif origin is dict:
        if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
            return {key: _value(item, arguments[1], f"{path}.{key}") for key, item in value.items()}
    elif kind is float:
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return float(value)
    elif isinstance(value, kind) and not (kind is int and isinstance(value, bool)):
        return value
    raise ProtocolError(f"wants {getattr(origin or kind, '__name__', kind)}, not {_kind_of(value)}", path)


def _plain(value: Any, path: str) -> Any:
    """``value`` if it is JSON through and through."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return [_plain(item, f"{path}[{number}]") for number, item in enumerate(value)]
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return {key: _plain(item, f"{path}.{key}") for key, item in value.items()}
    raise ProtocolError(f"is no JSON value: {_kind_of(value)}", path)


def _kind_of(value: Any) -> str:
    return "null" if value is None else type(value).__name__
