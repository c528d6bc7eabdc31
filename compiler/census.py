"""The census: everything in a program that kc cannot compile, found at once and before lowering starts."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from kc import call_targets, census_forms, census_types
from kc.call_targets import target_of
from kc.errors import UnsupportedError

if TYPE_CHECKING:
    from kc.bindings import ir
    from kc.diagnostics import Diagnostic
    from kc.targets.base import Target

#: ops that need no conversion of their own, or that native passes take away
_STRUCTURAL = frozenset(
    f"stablehlo.{n}"
    for n in (
        "async_done",
        "async_start",
        "batch_norm_grad",
        "batch_norm_inference",
        "batch_norm_training",
        "composite",
        "einsum",
        "get_tuple_element",
        "set_dimension_size",
        "return",
        "torch_index_select",
        "tuple",
        "unary_einsum",
        "uniform_dequantize",
        "uniform_quantize",
    )
)
_CHLO = frozenset(
    f"chlo.{n}"
    for n in [
        "_asin_acos_kernel",
        "acos",
        "acosh",
        "asin",
        "asinh",
        "atan",
        "atanh",
        "bessel_i1e",
        "broadcast_add",
        "broadcast_and",
        "broadcast_atan2",
        "broadcast_compare",
        "broadcast_complex",
        "broadcast_divide",
        "broadcast_maximum",
        "broadcast_minimum",
        "broadcast_multiply",
        "broadcast_next_after",
        "broadcast_or",
        "broadcast_polygamma",
        "broadcast_power",
        "broadcast_remainder",
        "broadcast_select",
        "broadcast_shift_left",
        "broadcast_shift_right_arithmetic",
        "broadcast_shift_right_logical",
        "broadcast_subtract",
        "broadcast_xor",
        "broadcast_zeta",
        "conj",
        "constant",
        "constant_like",
        "cosh",
        "digamma",
        "erf",
        "erf_inv",
        "erfc",
        "is_inf",
        "is_neg_inf",
        "is_pos_inf",
        "lgamma",
        "mulhi",
        "next_after",
        "polygamma",
        "ragged_dot",
        "scan",
        "sinh",
        "square",
        "tan",
        "top_k",
        "zeta",
    ]
)
_NO_CONVERSION = ("kc has no conversion for it", "the same written in elementwise ops, reductions and gathers")


@dataclasses.dataclass(frozen=True)
class Unsupported:
    """One op that kc cannot compile: its name, where it stands, why, and the nearest thing that works."""

    op: str
    why: str
    nearest: str
    diagnostic: Diagnostic

    def __str__(self) -> str:
        return str(self.diagnostic)


def census(module: ir.Module, target: str | Target = "cpu") -> list[Unsupported]:
    """Every op of ``module`` that cannot be compiled for ``target``, in program order. The module is not changed.

    Only ops above linalg are looked at; what stands below is either legal there or reported by its own pass.
    """
    from kc.rewrite import walk_ops

    supported = _supported()
    platform = _platform(target)
    found = []
    known: dict[ir.Type, tuple[str, str] | None] = {}
    for op in walk_ops(module.operation):
        reason = _reason(op, supported, platform) or _type_reason(op, known)
        if reason is not None:
            found.append(_entry(op, *reason))
    return found


def notes(module: ir.Module, target: str | Target = "cpu") -> list[Diagnostic]:
    """What can be compiled but not as one may expect: custom calls that leave the GPU, or need cuSOLVER there."""
    from kc.diagnostics import Diagnostic, location_of
    from kc.rewrite import walk_ops

    platform = _platform(target)
    found = []
    for op in walk_ops(module.operation, "stablehlo.custom_call"):
        text = call_targets.note(op, platform)
        if text is not None:
            found.append(Diagnostic("note", location_of(op), text))
    return found


def _platform(target: str | Target) -> str:
    """The name that functions for custom calls are registered under."""
    name = target.partition(":")[0] if isinstance(target, str) else target.name
    return "nvptx" if name == "nvptx" else "cpu"


def check(module: ir.Module, target: str | Target = "cpu") -> None:
    """Raises UnsupportedError with all entries of the census, if there are any."""
    found = census(module, target)
    if found:
        from kc.context import sources_of

        what = "an operation" if len(found) == 1 else f"{len(found)} operations"
        raise UnsupportedError(
            f"the program has {what} that kc cannot compile",
            [entry.diagnostic for entry in found],
            sources=sources_of(module.context),
        )


def _entry(op: ir.Operation, why: str, nearest: str) -> Unsupported:
    from kc.diagnostics import Diagnostic, location_of

    name = op.name
    if name == "stablehlo.custom_call":
        name += f" @{target_of(op)}"
    notes = (Diagnostic("note", location_of(op), f"nearest thing that works: {nearest}"),) if nearest else ()
    return Unsupported(
        name, why, nearest, Diagnostic("error", location_of(op), f"'{name}' cannot be compiled: {why}", notes)
    )


def _supported() -> frozenset[str]:
    """What the registered conversions out of StableHLO take, by their own word."""
    from kc.passes import REGISTRY
    from kc.registry import find_pass

    names = set(_STRUCTURAL | _CHLO)
    for name in REGISTRY:
        if name.startswith("kc-convert-stablehlo-"):
            names |= getattr(find_pass(name), "converts", frozenset())
    return frozenset(names)


def _reason(op: ir.Operation, supported: frozenset[str], platform: str) -> tuple[str, str] | None:
    """Why ``op`` cannot be compiled and what can be instead; None when it can."""
    dialect = op.name.partition(".")[0]
    if dialect not in ("stablehlo", "chlo"):
        return None
    if op.name == "stablehlo.custom_call":
        return call_targets.refusal(op, platform)
    if op.name not in supported:
        return _NO_CONVERSION
    form = census_forms.REFUSALS.get(op.name)
    return None if form is None else form(op)


def _type_reason(op: ir.Operation, known: dict[ir.Type, tuple[str, str] | None]) -> tuple[str, str] | None:
    """Why the types of a function or of an op above linalg are none that kc has; ``known`` remembers the answers."""
    from kc.bindings import ir

    if op.name == "func.func":
        kind = ir.FunctionType(ir.TypeAttr(op.attributes["function_type"]).value)
        types = [*kind.inputs, *kind.results]
    elif op.name.partition(".")[0] in ("stablehlo", "chlo"):
        types = [v.type for v in (*op.operands, *op.results)]
    else:
        return None
    for type_ in types:
        if type_ not in known:
            known[type_] = census_types.refusal(type_)
        if known[type_] is not None:
            return known[type_]
    return None
