"""The common part of kc's conversions out of StableHLO: find the ops, emit, replace."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import ClassVar

from kc.bindings import ir
from kc.pass_base import Pass, PassContext
from kc.passes.conversion._emit import Emitter, shape_of
from kc.rewrite import replace_op, walk_ops

# ops whose regions hold scalar code that their own conversion inlines
SCALAR_REGIONS = frozenset(
    {
        "stablehlo.map",
        "stablehlo.reduce",
        "stablehlo.reduce_window",
        "stablehlo.scatter",
        "stablehlo.select_and_scatter",
        "stablehlo.sort",
        "stablehlo.all_reduce",
        "stablehlo.reduce_scatter",
        "chlo.scan",
    }
)

# ops whose geometry does not fit their loops (a window wider than what it slides over) when no result is left
_GEOMETRIC = frozenset(
    {
        "stablehlo.cholesky",
        "stablehlo.convolution",
        "stablehlo.dot",
        "stablehlo.dot_general",
        "stablehlo.fft",
        "stablehlo.pad",
        "stablehlo.reduce_window",
        "stablehlo.select_and_scatter",
        "stablehlo.triangular_solve",
    }
)


@dataclasses.dataclass(frozen=True)
class StablehloConversion(Pass):
    """Base: converts the ops named in ``converts``, those in scalar regions of other ops excepted."""

    level: ClassVar[tuple[str, str]] = ("stablehlo", "linalg")
    dialects: ClassVar[tuple[str, ...]] = ("arith", "cf", "complex", "linalg", "math", "scf", "tensor")
    converts: ClassVar[frozenset[str]] = frozenset()

    def acts_on(self) -> frozenset[str]:
        return self.converts

    def run(self, op: ir.Operation, ctx: PassContext) -> None:
        # chosen before anything is erased: ops in scalar regions go with the op around them
        known: set[ir.Type] = set()
        for found in [o for o in walk_ops(op, self.acts_on()) if not in_scalar_region(o)]:
            check_types(found, ctx, known)
            emitter = Emitter.before(found)
            new = _nothing(emitter, found) or self.convert(emitter, found, ctx)
            if new is not None:
                replace_op(found, [emitter.cast(v, r.type) for v, r in zip(new, found.results, strict=True)])

    def convert(self, e: Emitter, op: ir.Operation, ctx: PassContext) -> Sequence[ir.Value] | None:
        """The values that replace the results of ``op`` (casts are added); None leaves ``op`` as it is."""
        raise NotImplementedError


def _nothing(e: Emitter, op: ir.Operation) -> list[ir.Value]:
    """The results of ``op`` if it is known that none of them has an element, which leaves nothing to compute."""
    shapes = [shape_of(r.type) for r in op.results]
    if op.name not in _GEOMETRIC or not all(0 in shape and None not in shape for shape in shapes):
        return []
    return [e.empty(r.type, shape) for r, shape in zip(op.results, shapes, strict=True)]


def check_types(op: ir.Operation, ctx: PassContext, known: set[ir.Type] | None = None) -> None:
    """Ends the pass when ``op`` has a type that no conversion takes; types that passed are added to ``known``."""
    known = set() if known is None else known
    for value in (*op.operands, *op.results):
        if value.type in known:
            continue
        known.add(value.type)
        text = str(value.type)
        if "!quant." in text:
            ctx.error(
                op,
                f"'{op.name}' on a quantised type cannot be converted to linalg",
                ["nearest thing that works: kc-legalize-quantized before this pass"],
            )
        if "!stablehlo." in text:
            ctx.error(op, f"'{op.name}' on {text} cannot be converted to linalg", ["only tensors have a form there"])


def in_scalar_region(op: ir.Operation) -> bool:
    """Whether ``op`` stands in a reducer, comparator or the like."""
    parent = op.parent
    while parent is not None and parent.name not in ("func.func", "builtin.module"):
        if parent.name in SCALAR_REGIONS:
            return True
        parent = parent.operation.parent
    return False
