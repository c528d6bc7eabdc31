"""What the lines of a ledger hold, and their hashes.

Three types: a ``region`` is written once, an ``attempt`` for each answer of an agent about it, a ``build`` at the end
of each compilation. A line is a JSON object of ASCII characters with ``type``, ``schema`` and ``hash``: a hash of all
its other fields, so that a changed line is found out. Lines do not refer to the ones before them: those of two branches
can be merged in any order (see ``Attempt.order``), and the same line twice is one line.
"""
from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import math
import re
from collections.abc import Mapping
from typing import Any, ClassVar

from kc.agents.ledger.errors import LedgerError
from kc.agents.protocol import VERSION, Observation, Proposal, ProtocolError, Verdict, from_json

#: of the lines; raised when a reader of the old one would misread the new one
SCHEMA = 1

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00")


@dataclasses.dataclass(frozen=True)
class Region:
    """What was asked about: the parts of an ``Observation`` that do not change from one asking to the next."""

    TYPE: ClassVar[str] = "region"

    identity: str
    level: str
    name: str
    kind: str
    target: str
    ir: str
    contract: dict[str, Any] = dataclasses.field(default_factory=dict)
    flops: float | None = None
    bytes: float | None = None
    roofline_us: float | None = None
    default: dict[str, Any] = dataclasses.field(default_factory=dict)

    @classmethod
    def of(cls, observation: Observation) -> Region:
        """The region that ``observation`` shows."""
        names = (field.name for field in dataclasses.fields(cls))
        return cls(**{name: getattr(observation, name) for name in names})

    @functools.cached_property
    def hash(self) -> str:
        """The hash of the line."""
        return hash_of(self)


@dataclasses.dataclass(frozen=True)
class Attempt:
    """One answer of an agent about a region, and its verdict. An entry of the ledger, in the words of the design.

    ``proposal`` None: there is no (further) answer, the region stays as it is; then ``verdict`` is None too, and
    ``ended`` says why the agent was not asked further, if that was not its own word.
    """

    TYPE: ClassVar[str] = "attempt"

    identity: str
    level: str
    #: hook point, ``before:cpu-schedule``
    at: str
    name: str
    kind: str
    target: str
    agent: str
    agent_version: str
    proposal: dict[str, Any] | None
    verdict: dict[str, Any] | None
    #: versions of kc, of the protocol, and of the rules by which the gates judged (``kc.agents.gates.REVISION``)
    kc: str = ""
    protocol: int = VERSION
    gates: int = 0
    #: UTC, ISO 8601 with microseconds
    time: str = ""
    #: where it was judged, see ``kc.agents.ledger.machine``
    machine: dict[str, Any] = dataclasses.field(default_factory=dict)
    #: of the draws of the differential test
    seed: int | None = None
    #: what ended the asking: ``candidates`` or ``seconds``, the budget that was used up; ``repeated``: the agent gave a
    #: proposal again; ``taken_back``: why kc could not compile the program with what was accepted,
    #: and ``attempt``: the hash of that
    ended: dict[str, Any] = dataclasses.field(default_factory=dict)
    #: where the PTX is that a compiler made of the proposal's source, see ``kc.agents.ledger.code``: ``file``,
    #: ``compiler``, ``target``, ``request`` (hash of what it was asked), ``facts`` (what else it answered)
    code: dict[str, Any] = dataclasses.field(default_factory=dict)

    @functools.cached_property
    def hash(self) -> str:
        """The hash of the line, and the entry's name elsewhere."""
        return hash_of(self)

    @property
    def outcome(self) -> str:
        """``accepted``, ``rejected``, ``declined`` (the agent's word) or ``stopped`` (see ``ended``)."""
        if self.proposal is None:
            return "stopped" if self.ended else "declined"
        return "accepted" if self.verdict is not None and self.verdict.get("accepted") is True else "rejected"

    @property
    def order(self) -> tuple[str, str]:
        """Attempts are ordered by time, then by hash: the same whatever the order of lines in the file."""
        return self.time, self.hash

    def message(self) -> Proposal | None:
        """The proposal as a message; raises ProtocolError when this kc cannot read it."""
        return None if self.proposal is None else Proposal.from_json(self.proposal)

    def judgement(self) -> Verdict | None:
        """The verdict as a message; raises ProtocolError when this kc cannot read it."""
        return None if self.verdict is None else Verdict.from_json(self.verdict)


@dataclasses.dataclass(frozen=True)
class Visit:
    """One region at one hook point of a build, and what one agent's part in it was.

    ``attempt`` is the hash of the attempt that settled it, None where the agent's ``match`` did not take the region.
    """

    at: str
    name: str
    identity: str
    agent: str
    agent_version: str
    attempt: str | None


@dataclasses.dataclass(frozen=True)
class Build:
    """One compilation that came to its end: who took part, and what was used where, in order.

    A frozen build without agents learns from it who would have been asked.
    """

    TYPE: ClassVar[str] = "build"

    #: hash of the source program, target and options
    program: str
    name: str
    target: str
    #: in the order in which they were asked: ``name``, ``version``, ``levels``
    agents: tuple[dict[str, Any], ...] = ()
    visits: tuple[Visit, ...] = ()
    kc: str = ""
    time: str = ""

    @functools.cached_property
    def hash(self) -> str:
        """The hash of the line."""
        return hash_of(self)

    @property
    def order(self) -> tuple[str, str]:
        """As of an attempt."""
        return self.time, self.hash


Line = Region | Attempt | Build
_TYPES: dict[str, type[Region] | type[Attempt] | type[Build]] = {t.TYPE: t for t in (Region, Attempt, Build)}


class LineError(ValueError):
    """A line is none that this kc reads; ``newer``: because a newer kc wrote it, so that it must be kept."""

    def __init__(self, message: str, newer: bool = False):
        super().__init__(message)
        self.newer = newer


def fields_of(line: Line) -> dict[str, Any]:
    """A line as JSON values, without its hash."""
    fields = {"type": line.TYPE, "schema": SCHEMA, **dataclasses.asdict(line)}
    for name in ("ended", "code"):  # so that lines from before there was the field keep their hashes
        if fields.get(name) == {}:
            del fields[name]
    return fields


def hash_of(line: Line) -> str:
    """The hash of a line: 32 hex digits of BLAKE2b over its other fields as canonical JSON."""
    return _hash(_finite(fields_of(line)))


def text_of(line: Line) -> str:
    """A line as text, without the newline. Raises LedgerError when it holds what is no JSON value."""
    try:
        fields = _finite(fields_of(line))
        return json.dumps({"hash": _hash(fields), **fields}, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise LedgerError(f"this {line.TYPE} cannot be written as JSON: {error}") from error


def parse(text: str) -> Line:
    """The line that ``text`` holds. Raises LineError that says what is wrong with it."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise LineError(f"no JSON: {error}") from None
    if not isinstance(data, dict) or not isinstance(data.get("type"), str):
        raise LineError("no object with a type")
    schema = data.get("schema")
    if not isinstance(schema, int):
        raise LineError("no schema")
    if schema > SCHEMA or data["type"] not in _TYPES:
        raise LineError(f"written by a newer kc (type '{data['type']}', schema {schema})", newer=True)
    given = data.pop("hash", None)
    if given != _hash(data):
        raise LineError("its hash does not fit: the line was changed after it was written")
    made = _line(_TYPES[data["type"]], _infinite(data))
    made.__dict__["hash"] = given  # where the property keeps it
    return made


def _line(cls: type[Region] | type[Attempt] | type[Build], data: dict[str, Any]) -> Line:
    values = {key: value for key, value in data.items() if key not in ("type", "schema")}
    try:
        if cls is Build:
            values["visits"] = tuple(from_json(Visit, visit) for visit in values.get("visits", ()))
        made = from_json(cls, values)
    except (ProtocolError, TypeError) as error:
        raise LineError(f"not the fields of a line of type '{cls.TYPE}': {error}") from None
    if not isinstance(made, Region) and not _TIME.fullmatch(made.time):
        raise LineError(f"its time is none: {made.time!r}")
    return made


def _hash(fields: Mapping[str, Any]) -> str:
    canonical = json.dumps(fields, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.blake2b(canonical.encode(), digest_size=16).hexdigest()


def _finite(value: Any) -> Any:
    """``value`` with NaN and infinities, which JSON does not have, as ``{"$float": "nan"}``; keys must be strings."""
    if isinstance(value, float):
        return value if math.isfinite(value) else {"$float": repr(value)}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise LedgerError(f"the key {key!r} is no string: JSON has no other keys")
        return {key: _finite(item) for key, item in value.items()}
    return value


def _infinite(value: Any) -> Any:
    """What ``_finite`` made of a value, turned back."""
    if isinstance(value, list):
        return [_infinite(item) for item in value]
    if isinstance(value, dict):
        if value.keys() == {"$float"} and value["$float"] in ("nan", "inf", "-inf"):
            return float(value["$float"])
        return {key: _infinite(item) for key, item in value.items()}
    return value
