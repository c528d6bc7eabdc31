"""Reductions that vector lanes can do in any order."""
from __future__ import annotations

import dataclasses
import math
from typing import Any

from kc.builder.cpu import CpuBuilder
from kc.builder.expr import wide
from kc.kernels.expr import Reduce


@dataclasses.dataclass(frozen=True)
class Fold:
    """``kind`` of ``vector.reduction``, and the value that changes nothing (None: the type's own extreme)."""

    kind: str
    neutral: float | int | None


#: op of a ``Reduce`` -> how to fold it
FOLDS: dict[str, Fold] = {
    "arith.addf": Fold("add", -0.0),
    "arith.addi": Fold("add", 0),
    "arith.andi": Fold("and", -1),
    "arith.maximumf": Fold("maximumf", -math.inf),
    "arith.maxnumf": Fold("maxnumf", math.nan),
    "arith.maxsi": Fold("maxsi", None),
    "arith.maxui": Fold("maxui", 0),
    "arith.minimumf": Fold("minimumf", math.inf),
    "arith.minnumf": Fold("minnumf", math.nan),
    "arith.minsi": Fold("minsi", None),
    "arith.minui": Fold("minui", -1),
    "arith.mulf": Fold("mul", 1.0),
    "arith.muli": Fold("mul", 1),
    "arith.ori": Fold("or", 0),
    "arith.xori": Fold("xor", 0),
}


def neutral(reduce: Reduce) -> float | int:
    """The value that folding with ``reduce.op`` ignores."""
    value = FOLDS[reduce.op].neutral
    if value is not None:
        return value
    bits = int(reduce.type[1:])
    return -(1 << bits - 1) if reduce.op == "arith.maxsi" else (1 << bits - 1) - 1


def combine(builder: CpuBuilder, reduce: Reduce, a: Any, b: Any) -> Any:
    """One step of the fold, on scalars or vectors."""
    return builder.create(reduce.op, [a, b], a.type)


def across(builder: CpuBuilder, reduce: Reduce, vector: Any) -> Any:
    """All lanes folded into one scalar; float sums in whatever order is fast."""
    attributes = {"kind": f"#vector.kind<{FOLDS[reduce.op].kind}>"}
    if reduce.op in ("arith.addf", "arith.mulf"):
        attributes["fastmath"] = "#arith.fastmath<reassoc>"
    return builder.create("vector.reduction", [vector], builder.type(wide(reduce.type)), attributes)
