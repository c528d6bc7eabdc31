"""``kc-legalize-quantized``."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from kc.bindings import ir
from kc.pass_base import Pass, PassContext
from kc.pass_manager import run_pipeline
from kc.rewrite import walk_ops


@dataclasses.dataclass(frozen=True)
class LegalizeQuantized(Pass):
    """Quantised types and ops to plain integer and float arithmetic (``stablehlo-legalize-quant-to-math``).

    ``%r = stablehlo.add %a, %b : tensor<4x!quant.uniform<i8:f32, 0.5>>`` becomes i32
    arithmetic with clamps on ``tensor<4xi8>``.
    Runs the native pass only on functions that have quantised types, because it also refuses ``stablehlo.map``
    elsewhere.
    """

    name: ClassVar[str] = "kc-legalize-quantized"
    level: ClassVar[str] = "stablehlo"
    dialects: ClassVar[tuple[str, ...]] = ("stablehlo", "chlo", "quant")

    def run(self, op: ir.Operation, ctx: PassContext) -> None:
        for function in walk_ops(op, "func.func"):
            types = [str(function.attributes["function_type"])]
            types += [str(r.type) for inner in walk_ops(function) for r in inner.results]
            if any("!quant." in text for text in types):
                run_pipeline(op, "builtin.module(func.func(stablehlo-legalize-quant-to-math,canonicalize))")
                return
