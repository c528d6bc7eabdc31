"""The census: everything in a program that kc cannot compile, found at once and before lowering starts."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from kc.errors import UnsupportedError

if TYPE_CHECKING:
    from kc.bindings import ir
    from kc.diagnostics import Diagnostic
    from kc.targets.base import Target

#: ops that need no conversion of their own, or that native passes take away
_STRUCTURAL = frozenset(
    f"stablehlo.{n}"
    for n in (
        "batch_norm_grad",
        "batch_norm_inference",
        "batch_norm_training",
        "composite",
        "return",
        "uniform_dequantize",
        "uniform_quantize",
    )
)
#: custom calls that only say where a value should live (kc-decompose-stablehlo)
_ANNOTATIONS = ("Sharding", "annotate_device_placement", "SPMDFullToShardShape", "SPMDShardToFullShape")
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
        "sinh",
        "square",
        "tan",
        "top_k",
        "zeta",
    ]
)
_SEVERAL_DEVICES = ("it moves data between devices, and kc compiles for one", "compile the program of a single device")
_HOST_TRANSFER = ("it talks to the host while the program runs", "pass the data as arguments and results")
_THREEFRY = "a generator written in integer arithmetic, such as jax.random with its default keys (threefry2x32)"
_WHY: dict[str, tuple[str, str]] = {
    **{
        f"stablehlo.{n}": _SEVERAL_DEVICES
        for n in (
            "all_gather",
            "all_reduce",
            "all_to_all",
            "collective_broadcast",
            "collective_permute",
            "cross-replica-sum",
            "partition_id",
            "reduce_scatter",
            "replica_id",
        )
    },
    **{f"stablehlo.{n}": _HOST_TRANSFER for n in ("infeed", "outfeed", "recv", "send")},
    "stablehlo.after_all": ("it orders transfers to the host", "remove the transfers"),
    "stablehlo.rng": ("its numbers come from a hidden state", _THREEFRY),
    "stablehlo.rng_bit_generator": ("its algorithm is the target's own", _THREEFRY),
    "stablehlo.einsum": ("it is deprecated", "stablehlo.dot_general"),
    "stablehlo.set_dimension_size": ("it makes a bounded dynamic dimension", "stablehlo.real_dynamic_slice"),
    "stablehlo.torch_index_select": ("it is deprecated", "stablehlo.gather"),
    "stablehlo.unary_einsum": ("it is deprecated", "stablehlo.reduce and stablehlo.transpose"),
}


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
    found = []
    for op in walk_ops(module.operation):
        reason = _reason(op, supported)
        if reason is not None:
            found.append(_entry(op, *reason))
    return found


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
        name += f" @{_call_target(op)}"
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


def _call_target(op: ir.Operation) -> str:
    return str(op.attributes["call_target_name"]).strip('"')


def _reason(op: ir.Operation, supported: frozenset[str]) -> tuple[str, str] | None:
    """Why ``op`` cannot be compiled and what can be instead; None when it can."""
    dialect = op.name.partition(".")[0]
    if dialect not in ("stablehlo", "chlo"):
        return None
    if op.name == "stablehlo.custom_call":
        return _custom_call(op)
    if op.name in _WHY:
        return _WHY[op.name]
    if op.name not in supported:
        return "kc has no conversion for it", "the same written in elementwise ops, reductions and gathers"
    for value in (*op.operands, *op.results):
        reason = _type_reason(str(value.type))
        if reason is not None:
            return reason
    return None


def _custom_call(op: ir.Operation) -> tuple[str, str] | None:
    name = _call_target(op)
    same = [v.type for v in op.operands] == [r.type for r in op.results]
    if name in ("shape_assertion", "stablehlo.dynamic_reduce_window") or (same and name in _ANNOTATIONS):
        return None
    if name.startswith("lapack_") or name in (
        "Eigh",
        "Qr",
        "LuDecomposition",
        "ProductOfElementaryHouseholderReflectors",
    ):
        return "it calls a linear algebra library", "stablehlo.cholesky and stablehlo.triangular_solve"
    if "callback" in name:
        return (
            "it calls back into Python while the program runs",
            "compute the value outside and pass it as an argument",
        )
    return "kc does not know this call target", "a function or a composite with a decomposition"


def _type_reason(text: str) -> tuple[str, str] | None:
    if text.startswith("!stablehlo.token"):
        return "it works on a token", "remove the transfers to the host"
    if "tensor<*" in text:
        return "it works on a tensor of unknown rank", "tensors with a rank, dimensions may be unknown"
    if "#stablehlo.bounds" in text:
        return "it works on a bounded dynamic dimension", "a dimension of unknown extent"
    for kind in ("f4E2M1FN", "f6E2M3FN", "f6E3M2FN", "f8E8M0FNU"):
        if f"x{kind}" in text or f"<{kind}" in text:
            return f"kc has no arithmetic on {kind}", "f8E4M3FN or f8E5M2"
    return None
