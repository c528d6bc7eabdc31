"""Schedules as search points: which schedules fit a kernel, the fields of each that may be changed, and to what.

    space = knobs(kernel_ir, "nvptx:sm_90a")
    space.schedule, space.knobs["threads"].values          # 'rows', (32, 64, 96, 128, …)

A schedule is a frozen dataclass; a knob is one of its fields, those of nested dataclasses by a dotted name
(``tile.rows``). Values that a knob offers are legal by themselves; ``KnobSpace.problem`` says what is wrong with a
combination (too many threads, too much shared memory). A proposal ``{"kind": "schedule", "knobs": {...}}`` gives those
that it changes, and ``"schedule"`` to take another family that fits.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kc.agents.protocol import ProtocolError

if TYPE_CHECKING:
    from kc.kernels.expr import Kernel

#: the key that names the schedule among a proposal's knobs
SCHEDULE = "schedule"


@dataclasses.dataclass(frozen=True)
class Knob:
    """One field: the values to choose from, what the compiler would take, and what it means."""

    values: tuple[Any, ...]
    default: Any
    help: str = ""


@dataclasses.dataclass(frozen=True)
class KnobSpace:
    """The search space of one schedule for one kernel."""

    #: name of the schedule (``rows_loop``), the others that fit the kernel too, the target's spec
    schedule: str
    others: tuple[str, ...]
    target: str
    knobs: Mapping[str, Knob]
    #: the schedule with defaults, the kernel, and what is wrong with a schedule, None if nothing
    base: Any = dataclasses.field(repr=False, compare=False, default=None)
    kernel: Any = dataclasses.field(repr=False, compare=False, default=None)
    legal: Callable[[Any], str | None] = dataclasses.field(repr=False, compare=False, default=lambda schedule: None)

    @property
    def default(self) -> dict[str, Any]:
        """The compiler's own choice, by knob."""
        return {name: knob.default for name, knob in self.knobs.items()}

    def to_json(self) -> dict[str, Any]:
        """The space as JSON values, for observations."""
        return {
            "schedule": self.schedule,
            "others": list(self.others),
            "knobs": {
                name: {"values": list(knob.values), "default": knob.default, "help": knob.help}
                for name, knob in self.knobs.items()
            },
        }

    def problem(self, values: Mapping[str, Any]) -> str | None:
        """Why ``values`` (by knob, others at their default) is no schedule; None when it is one."""
        try:
            self.point(values)
        except ProtocolError as error:
            return error.message
        return None

    def point(self, values: Mapping[str, Any]) -> Any:
        """The schedule with ``values``. Raises ProtocolError that names the knob at fault."""
        import difflib

        made = self.base
        for name, value in values.items():
            if name == SCHEDULE:
                continue
            knob = self.knobs.get(name)
            if knob is None:
                near = difflib.get_close_matches(name, self.knobs, 1)
                hint = f"; did you mean '{near[0]}'?" if near else f"; it has {', '.join(self.knobs) or 'none'}"
                raise ProtocolError(f"schedule '{self.schedule}' has no such knob{hint}", f"knobs.{name}")
            if not any(type(value) is type(offered) and value == offered for offered in knob.values):
                raise ProtocolError(f"{value!r} is none of {', '.join(map(str, knob.values))}", f"knobs.{name}")
            made = replaced(made, name, value)
        wrong = self.legal(made)
        if wrong:
            raise ProtocolError(f"schedule '{self.schedule}': {wrong}", "knobs")
        return made

    def points(self) -> list[dict[str, Any]]:
        """Every legal combination, in a fixed order. The product of all knobs: at most some thousand."""
        import itertools

        names = list(self.knobs)
        rows = itertools.product(*(knob.values for knob in self.knobs.values()))
        return [point for row in rows if self.problem(point := dict(zip(names, row, strict=True))) is None]


def knobs(kernel_ir: str, target: str = "cpu", schedule: str | None = None) -> KnobSpace | None:
    """The space of ``schedule`` (by default the one that the compiler takes) for the kernel ``@main`` of a module at
    the linalg level; None when no schedule fits. Raises InputError for text that is no module with a ``@main``,
    ProtocolError for a schedule that does not fit.
    """
    from kc.agents.realize.region import parse_source

    source = parse_source(kernel_ir)  # keeps the function alive
    return knobs_of(source.function, target, schedule)


def knobs_of(function: Any, target: str = "cpu", schedule: str | None = None) -> KnobSpace | None:
    """``knobs`` of a ``func.func`` op in destination-passing form."""
    from kc.kernels import analyze
    from kc.kernels.expr import General

    kernel = analyze(function)
    if isinstance(kernel, General):
        return None
    fitting = candidates(kernel, target)
    if not fitting:
        return None
    chosen = schedule or next(iter(fitting))
    if chosen not in fitting:
        raise ProtocolError(
            f"schedule '{chosen}' does not fit this kernel on {target}; there are {', '.join(fitting)}",
            "knobs.schedule",
        )
    base = fitting[chosen]
    described, legal = _family(chosen, base, kernel, target)
    others = tuple(name for name in fitting if name != chosen)
    return KnobSpace(chosen, others, target, described, base, kernel, legal)


def candidates(kernel: Kernel, target: str) -> dict[str, Any]:
    """Every schedule that fits ``kernel`` on ``target``, as picked, by name; the compiler's own choice first."""
    import importlib

    paths, machine = machine_of(target)
    found: dict[str, Any] = {}
    for path in paths:
        module, _, name = path.partition(":")
        picked = getattr(importlib.import_module(module), name).pick(kernel, machine)
        if picked is not None:
            found[schedule_name(picked)] = picked
    return found


def machine_of(target: str) -> tuple[Sequence[str], Any]:
    """The schedule classes of a target and what they are told of the machine. Raises InputError for one without."""
    from kc.errors import InputError
    from kc.targets import get_target

    chosen = get_target(target)  # its phases are not asked for: that would start workers, which a sandbox denies
    if chosen.name == "cpu":
        from kc.schedules.cpu import SCHEDULES as cpu_schedules
        from kc.schedules.cpu.machine import Machine

        limits = chosen.limits()
        return cpu_schedules, Machine(8 * limits["vector_bytes"], limits["vector_registers"], fma=bool(limits["fma"]))
    if chosen.name == "nvptx":
        from kc.schedules.gpu import SCHEDULES as gpu_schedules
        from kc.schedules.gpu.features import Features

        return gpu_schedules, Features.of_chip(chosen.chip)  # type: ignore[attr-defined]
    raise InputError(f"target '{chosen.name}' has no schedules: there are those of cpu and nvptx")


def schedule_name(schedule: Any) -> str:
    """``rows_loop`` of a ``RowsLoopSchedule``."""
    import re

    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", type(schedule).__name__.removesuffix("Schedule")).lower()


def replaced(schedule: Any, path: str, value: Any) -> Any:
    """``schedule`` with the field at the dotted ``path`` set to ``value``."""
    field, _, rest = path.partition(".")
    return dataclasses.replace(schedule, **{field: replaced(getattr(schedule, field), rest, value) if rest else value})


def _family(name: str, base: Any, kernel: Kernel, target: str) -> tuple[dict[str, Knob], Callable[[Any], str | None]]:
    """The knobs of one schedule, and its check of combinations."""
    from kc.agents.realize import knobs_cpu, knobs_gpu

    _, machine = machine_of(target)
    table = knobs_cpu.FAMILIES if target.partition(":")[0] == "cpu" else knobs_gpu.FAMILIES
    if name not in table:
        return {}, lambda schedule: None
    return table[name](base, kernel, machine)
