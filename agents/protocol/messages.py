"""The three messages: an ``Observation`` goes out, a ``Proposal`` (or nothing) comes back, a ``Verdict`` ends the turn.

Each is a frozen dataclass whose fields are JSON values; ``to_json`` and ``from_json`` are inverse to each other, and
``from_json`` raises ProtocolError that names the field at fault. A proposal is data from a stranger: it is read here,
judged by ``kc.agents.gates`` and never evaluated. Nothing in this module imports MLIR.
"""
from __future__ import annotations

import dataclasses
import typing
from collections.abc import Mapping
from typing import Any, Literal

from kc.agents.protocol.json_form import VERSION, ProtocolError, all_finite, from_json, to_json

#: characters of a text in a proposal: whoever needs more has constants in it that belong into resources
LONGEST = 16 << 20
#: characters of the texts beside code, and of knobs, launch and parameters as JSON: messages and ledgers quote them
SHORT = {"level": 100, "library": 100, "guard": 2_000, "assumes": 10_000, "rationale": 100_000}
STRUCTURED = 1 << 20

Kind = Literal["keep", "replace_ir", "schedule", "ptx", "cuda", "triton", "library", "stablehlo_out"]
Gate = Literal[
    "parse", "verify", "level", "signature", "assumptions", "resource", "aliasing", "race", "numeric", "timing"
]

#: gates in the order in which a proposal meets them
GATES: tuple[str, ...] = typing.get_args(Gate)


@dataclasses.dataclass(frozen=True)
class Observation:
    """What an agent is shown of one region at one moment of a compilation.

    The contract under which the region stands is in ``ir`` itself (``kc.allow`` and its kin, see
    ``kc.agents.contract``) and, read out, in ``contract``.
    """

    #: level of the ladder at which the region stands
    level: str
    #: the hook point (``before:cpu-schedule``)
    at: str
    #: name of the region's function
    name: str
    #: ``contraction``, ``row-reduction`` … or ``function``
    kind: str
    #: hash of the region's canonical IR, target and options: key of the ledger, 64 hex digits
    identity: str
    #: text of a module that holds the region as ``@main``
    ir: str
    #: the region's ops in order of the text: ``id``, ``name``, ``operands``, result ``types``, ``location``
    ops: tuple[dict[str, Any], ...] = ()
    #: spec of the target (``cpu``, ``nvptx:sm_90a``)
    target: str = "cpu"
    #: the limits that schedules read, in bytes, registers …, by name
    limits: dict[str, int] = dataclasses.field(default_factory=dict)
    #: ``kc.agents.contract.Contract`` as JSON
    contract: dict[str, Any] = dataclasses.field(default_factory=dict)
    #: operations on floats of one run at the typical sizes of ``contract``; None where they cannot be told
    flops: float | None = None
    #: bytes of arguments and results of that run
    bytes: float | None = None
    #: shortest time on this target that the sizes allow, in µs
    roofline_us: float | None = None
    #: what the compiler would do: name of the schedule and its knobs, or why there is none
    default: dict[str, Any] = dataclasses.field(default_factory=dict)
    #: what the compiler has to say of the region: why something did not match or could not be done
    remarks: tuple[str, ...] = ()
    #: earlier proposals of this agent for this region with their verdicts, oldest first
    attempts: tuple[dict[str, Any], ...] = ()
    #: of the protocol
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

    #: what sort of answer this is
    kind: Kind
    #: text of a module whose ``@main`` has the region's signature
    ir: str | None = None
    #: level at which ``ir`` stands: the region's (also when left out) or a lower one
    level: str | None = None
    #: fields of the kernel's schedule by name
    knobs: dict[str, Any] | None = None
    #: a transform-dialect module that schedules the kernel
    script: str | None = None
    #: the kernel's text in the language that ``kind`` names
    source: str | None = None
    #: ``entry`` (name of the kernel), ``grid`` and ``block`` (three expressions over dimension names each), ``shared``
    #: (bytes), ``arguments`` (order of ``arg0``, ``dim(M)`` and literals)
    launch: dict[str, Any] | None = None
    #: ``cublaslt``, ``cudnn``, ``blas`` or ``onednn``
    library: str | None = None
    #: of the library's routine, or of ``stablehlo_out`` (``platform``)
    parameters: dict[str, Any] | None = None
    #: what the new form needs and the old one did not: each must be granted by the contract
    assumes: tuple[str, ...] = ()
    #: condition on the arguments' sizes (``M % 8 == 0``) outside of which the original runs
    guard: str | None = None
    #: why, in the agent's words; kept in the ledger
    rationale: str = ""
    #: of the protocol
    version: int = VERSION

    def __post_init__(self) -> None:
        for name, most in {"ir": LONGEST, "script": LONGEST, "source": LONGEST, **SHORT}.items():
            value = getattr(self, name)
            length = sum(map(len, value)) + len(value) if isinstance(value, tuple) else len(value or "")
            if length > most:
                raise ProtocolError(f"has {length:,} characters; the most is {most:,}", name)
        for name in ("knobs", "launch", "parameters"):
            length = _length(getattr(self, name), STRUCTURED)
            if length > STRUCTURED:
                raise ProtocolError(f"is longer than {STRUCTURED:,} characters", name)

    def to_json(self) -> dict[str, Any]:
        """The message as JSON values, without fields that have their default."""
        return to_json(self, defaults=False)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Proposal:
        """The message that ``data`` holds; raises ProtocolError, also when a field is missing that the kind needs."""
        made = from_json(cls, data)
        needs = NEEDS[made.kind]
        for name in ("knobs", "launch", "parameters"):
            all_finite(getattr(made, name), name)
        if needs and all(getattr(made, name) is None for name in needs):
            raise ProtocolError(f"a proposal of kind '{made.kind}' needs it", " or ".join(needs))
        return made


def _length(value: Any, most: int) -> int:
    """About the characters of a JSON value; counting ends beyond ``most``."""
    total, rest = 0, [value]
    while rest and total <= most:
        item = rest.pop()
        if isinstance(item, Mapping):
            total += sum(map(len, map(str, item)))
            rest += item.values()
        elif isinstance(item, (list, tuple)):
            rest += item
        total += len(item) if isinstance(item, str) else 4
    return total


#: kind of a proposal -> fields of which it needs one
NEEDS: dict[str, tuple[str, ...]] = {
    "keep": (), "replace_ir": ("ir",), "schedule": ("knobs", "script"), "ptx": ("source",), "cuda": ("source",),
    "triton": ("source",), "library": ("library",), "stablehlo_out": (),
}


@dataclasses.dataclass(frozen=True)
class Verdict:
    """What became of a proposal.

    ``gate`` is the gate that ended it (None when it was accepted), ``reason`` its code (``signature.arguments``,
    ``numeric.nan`` …: ``kc.agents.gates.REASONS`` explains each), ``message`` says it in words with names and numbers.
    """

    #: whether the proposal takes the region's place
    accepted: bool
    #: the gate that ended it; None when it was accepted
    gate: Gate | None = None
    #: reason code
    reason: str = "accepted"
    #: the reason in words, with names and numbers
    message: str = ""
    #: the smallest counter-example found: ``sizes``, ``arguments`` (values or how they were drawn), ``index``, ``got``,
    #: ``want``; of a race the two places; ``diverging``: ``op`` with ``line``, ``column`` and ``text`` in the proposal,
    #: where they are known; None where no run was needed
    witness: dict[str, Any] | None = None
    #: name of the op of the proposal that breaks a rule, or at which it first diverges from the region, where it can be
    #: told; ``message`` says where it stands
    op: str | None = None
    #: largest error against the reference in higher precision: ``ulp``, and that of the original (``original_ulp``)
    errors: dict[str, float] | None = None
    #: ``original_us``, ``proposal_us``, ``speedup`` with ``interval`` (95 %), ``roofline_us``, ``rounds``, ``sizes``;
    #: where several sizes were measured, ``speedup`` is their geometric mean and ``at`` has the figures of each
    timing: dict[str, Any] | None = None
    #: name of each gate that was passed -> seconds it took
    seconds: dict[str, float] = dataclasses.field(default_factory=dict)
    #: number of differential runs
    runs: int = 0
    #: of the protocol
    version: int = VERSION

    def to_json(self) -> dict[str, Any]:
        """The message as JSON values."""
        return to_json(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Verdict:
        """The message that ``data`` holds; raises ProtocolError."""
        return from_json(cls, data)
