"""The part of every road that is the same for all targets: clean-up on linalg, then kernels."""
from __future__ import annotations

from kc.pipelines import Phase

CLEAN_UP = Phase(
    name="linalg-clean-up",
    description="Elementwise tensor arithmetic becomes linalg, reshapes move out of the way of fusion",
    start="linalg",
    end="linalg",
    pipeline="builtin.module("
    "kc-bind-answers,kc-expand-switches,kc-legalize-selects,func.func(convert-elementwise-to-linalg),"
    "kc-legalize-half-casts,kc-canonicalize,cse,func.func(kc-propagate-reshapes),kc-canonicalize,cse)",
)

FORM_KERNELS = Phase(
    name="form-kernels",
    description="Producers and consumers are grouped into kernels, each a function with explicit destinations",
    start="linalg",
    end="linalg",
    pipeline="builtin.module("
    "kc-form-kernels{max-ops=<max-ops> max-operands=<max-operands>},kc-canonicalize,symbol-dce)",
    defaults=(("max-ops", "256"), ("max-operands", "32")),
    asks=True,
)

PHASES: tuple[Phase, ...] = (CLEAN_UP, FORM_KERNELS)
