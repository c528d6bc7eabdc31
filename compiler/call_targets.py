"""What kc makes of a ``stablehlo.custom_call``: a call of a registered function, plain operations, or nothing."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kc.bindings import ir

#: calls that stand for operations which StableHLO does not have (kc-convert-stablehlo-dynamic-shapes)
OPERATIONS = ("shape_assertion", "stablehlo.dynamic_reduce_window")
#: calls between whole arrays and shards (kc-expand-manual-sharding)
SHARDS = ("SPMDFullToShardShape", "SPMDShardToFullShape")
#: passes that put something in the place of a custom call, as their ``takes_call`` says
_TAKERS = ("kc-decompose-stablehlo", "kc-decompose-custom-calls", "kc-convert-stablehlo-random")
#: names that those passes take, told to whom misspells one; ``takes_call`` decides
_TAKEN = (
    "Sharding", "annotate_device_placement", "mhlo.topk", "TopK", "stablehlo.topk", "ApproxTopK", "cu_threefry2x32_ffi",
    *(f"mhlo.{f}" for f in (
        "acos", "acosh", "asin", "asinh", "atan", "atanh", "cosh", "erf", "erf_inv", "erfc", "sinh", "tan",
    )),
    *(f"lapack_{t}{f}_ffi" for t in "sdcz" for f in ("potrf", "trsm")),
)  # fmt: skip


def target_of(op: ir.Operation) -> str:
    """The name that the call gives."""
    from kc.bindings import ir

    return ir.StringAttr(op.attributes["call_target_name"]).value


def is_call(op: ir.Operation) -> bool:
    """Whether ``op`` stays a call: kc has no operations to put in its place."""
    from kc.registry import find_pass

    if target_of(op) in (*OPERATIONS, *SHARDS):
        return False
    return not any(getattr(find_pass(name), "takes_call")(op) for name in _TAKERS)  # noqa: B009 - not of all passes


def refusal(op: ir.Operation, platform: str) -> tuple[str, str] | None:
    """Why the custom call ``op`` cannot be compiled for ``platform`` and what can be instead; None when it can."""
    from kc.runtime import custom_calls

    name = target_of(op)
    if not is_call(op) or custom_calls.knows(name, platform):
        return None
    if name in _TAKEN:
        return "kc knows calls of this name, but none of this form", "operands, results and attributes as XLA has them"
    near = list(dict.fromkeys([*custom_calls.near(name, platform), *difflib.get_close_matches(name, _TAKEN, 3, 0.75)]))
    if "callback" in name and not near:
        return (
            "it calls back into Python by a number that only JAX knows",
            "a function registered with kc.runtime.custom_calls and called by its name (jax.ffi.ffi_call)",
        )
    nearest = " or ".join(f"'{n}'" for n in near) if near else "kc.runtime.custom_calls.register, or declare"
    return f"no function of this name is registered for {platform}", nearest


def note(op: ir.Operation, platform: str) -> str | None:
    """What the user should know of a call that can be compiled: that it leaves the GPU, or needs cuSOLVER there."""
    from kc.runtime import custom_calls

    name = target_of(op)
    if not is_call(op) or not custom_calls.knows(name, platform) or not custom_calls.on_host(name, platform):
        return None
    if custom_calls.in_cusolver(name, platform):
        from kc.runtime.cusolver import find

        found = find.path()
        here = f"here {found}" if found else "none here"
        return (
            f"'stablehlo.custom_call @{name}' runs in cuSOLVER ({here}); where a program finds none, on the host, on "
            "copies of its operands"
        )
    return f"'stablehlo.custom_call @{name}' runs on the host, on copies of its operands: there is no function for GPUs"
