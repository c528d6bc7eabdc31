"""Roads: the phases from a front end's level down to a target's code, put together."""
from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from kc.errors import InputError
from kc.pipelines import Phase

if TYPE_CHECKING:
    from kc.targets.base import Target


def road(target: Target, start: str = "stablehlo") -> tuple[Phase, ...]:
    """The phases that take a module at level ``start`` (``torch``, ``stablehlo`` or ``linalg``) down to ``target``.

    Raises InputError for a level where no road starts.
    """
    from kc.pipelines import linalg, stablehlo, torch

    upper = {"torch": torch.PHASES, "stablehlo": stablehlo.PHASES, "linalg": ()}
    if start not in upper:
        raise InputError(f"no road starts at level '{start}'; there are {', '.join(upper)}")
    choices = target.choices()
    above = (
        dataclasses.replace(phase, defaults=tuple((name, choices.get(name, value)) for name, value in phase.defaults))
        for phase in upper[start]
    )
    return (*above, linalg.CLEAN_UP, *target.prepare(), linalg.FORM_KERNELS, *target.phases())
