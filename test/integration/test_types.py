"""A part of ``type_sweep``: some ops of every kind on types of every kind. ``python type_sweep.py`` runs all of it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from type_sweep import GROUPS, cases_of, outcomes, verifies

#: what moves values, computes on them, and makes them; by the beginnings of names
OPS = (
    "stablehlo.abs", "stablehlo.add", "stablehlo.divide", "stablehlo.maximum", "chlo.next_after", "chlo.mulhi",
    "compare LT", "convert to f64", "convert to i4", "convert to f8E4M3FN", "convert to f4E2M1FN",
    "bitcast_convert to ui8", "bitcast_convert to i4", "select by a scalar", "pad", "concatenate", "transpose",
    "gather", "scatter add", "reduce add", "reduce maximum", "dot_general", "sort LT", "iota (3, 4)", "constant all",
    "einsum", "while",
)  # fmt: skip
TYPES = ("i2", "ui4", "i64", "f4E2M1FN", "f6E3M2FN", "f8E8M0FNU", "f8E4M3FN", "f8E5M2FNUZ", "bf16", "complex<f32>")


@pytest.mark.parametrize("dtype", TYPES)
def test_ops_on(dtype: str):
    cases = [c for group in GROUPS for c in cases_of(group, dtype) if c.name.startswith(OPS)]
    if "complex" in dtype:  # the interpreter ends the process when it has to order them
        cases = [c for c in cases if not c.name.startswith(("compare LT", "sort LT"))]
    cases = [c for c in cases if verifies(c)]
    found = outcomes(cases)
    assert sum(answer == "" for answer in found.values()) > 15
    # what the interpreter does not have it cannot tell
    assert {name: wrong for name, wrong in found.items() if wrong and not wrong.startswith("interpreter")} == {}
