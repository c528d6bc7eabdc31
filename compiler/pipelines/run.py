"""Running phases: one after the other, with the hook points where agents and tools look in."""
from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from kc.pass_manager import run_pipeline
from kc.pipelines import Phase

if TYPE_CHECKING:
    from kc.bindings import ir


@dataclasses.dataclass(frozen=True)
class HookPoint:
    """A moment of a compilation: ``when`` (``before`` or ``after``) phase ``phase``, with the module at ``level``."""

    phase: Phase
    when: str
    level: str


Hook = Callable[[HookPoint, "ir.Module"], None]


def run_phases(
    module: ir.Module,
    phases: Sequence[Phase],
    parameters: Mapping[str, str] | None = None,
    *,
    hooks: Sequence[Hook] = (),
    verify_levels: bool = False,
    observe: Callable[[Phase, float], None] | None = None,
) -> None:
    """Run ``phases`` on ``module`` in place.

    ``parameters`` fill in the phases' ``<parameters>``. Every hook is called before and after each phase and may change
    the module. ``verify_levels`` checks the level's specification after each phase. ``observe`` gets each phase and the
    CPU seconds it took. Raises CompileError when a pass fails, LevelError when a phase leaves what is illegal.
    """
    for phase in phases:
        for hook in hooks:
            hook(HookPoint(phase, "before", phase.start), module)
        started = time.process_time()
        run_pipeline(module, phase.text(parameters), verify="steps")
        if observe is not None:
            observe(phase, time.process_time() - started)
        for hook in hooks:
            hook(HookPoint(phase, "after", phase.end), module)
        if verify_levels:
            from kc.levels import verify_level

            verify_level(module, phase.end)


def up_to(phases: Sequence[Phase], stop: str, start: str) -> list[Phase]:
    """The phases to run so that a module at level ``start`` comes to ``stop``.

    ``stop`` is a level (the last moment at which the module stands there) or the name of a phase (right after it).
    Raises InputError when it is neither, or lies above ``start``.
    """
    from kc.errors import InputError

    names = [phase.name for phase in phases]
    if stop in names:
        return list(phases[: names.index(stop) + 1])
    levels = list(dict.fromkeys([start, *(phase.end for phase in phases)]))
    if stop not in levels:
        here = f"a level ({', '.join(levels)}) nor a phase ({', '.join(names)})"
        raise InputError(f"'{stop}' is neither {here} of this road")
    last = max((i for i, phase in enumerate(phases) if phase.end == stop), default=-1)
    return list(phases[: last + 1])
