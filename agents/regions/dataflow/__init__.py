"""Facts on the values of a region's arguments that hold by construction in every call (``kc.agents.facts.CALLS``).

Only private functions have them: of what a caller of the program gives, nothing is known. What comes out of code whose
rounding is free (``kc.allow``) is not relied on: another answer for that code may be less than 0 where this one is 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kc.agents.regions.calls import caller_of, calls_of
from kc.agents.regions.dataflow.floats import Floats, either
from kc.agents.regions.dataflow.order import Orders
from kc.agents.regions.dataflow.walk import Values, float_kind
from kc.agents.regions.find import Region
from kc.agents.regions.numerics import is_free
from kc.bindings import ir
from kc.rewrite import walk_ops


def argument_facts(region: Region, target: str, options: Mapping[str, Any]) -> list[str]:
    """The facts on the arguments of a region at stablehlo or linalg that no call can break."""
    function = region.operation
    if region.level not in ("stablehlo", "linalg"):
        return []
    calls = calls_of(function, region.module)
    if not calls:
        return []
    if region.level == "stablehlo":  # functions are inlined yet, and anything may come to stand in one kernel
        free = any(is_free(f, target, options) for f in walk_ops(region.module, "func.func"))
    else:
        callers = [caller_of(call) for call in calls]
        free = any(caller is None or is_free(caller, target, options) for caller in callers)
    if free:
        return []
    values = Values(region.module, lambda callee: not is_free(callee, target, options))
    orders = Orders(region.module, values)
    kernel = "kc.kernel" in function.attributes
    kind = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
    inputs = len(kind.inputs) - (len(kind.results) if kernel else 0)
    found: list[str] = []
    for number in range(inputs):
        given = [call.operands[number] for call in calls]
        if float_kind(kind.inputs[number]) is not None:
            known = values.of(given[0])
            for value in given[1:]:
                known = either(known, values.of(value))
            found += [f"{name}(arg{number})" for name in _of(known)]
        if isinstance(kind.inputs[number], ir.RankedTensorType) and kind.inputs[number].rank:
            order = [orders.of(value) for value in given]
            found += [f"sorted(arg{number})"] if all(o.sorted for o in order) else []
            found += [f"unique(arg{number})"] if all(o.unique for o in order) else []
    return found


def _of(known: Floats) -> list[str]:
    names = ["finite"] if known.finite else []
    return names + (["positive"] if known.positive else ["nonnegative"] if known.nonnegative else [])
