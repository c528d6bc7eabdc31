"""Smaller counter-examples: fewer and smaller dimensions, fewer values that are not ordinary."""

from __future__ import annotations

from typing import Any

from kc.agents.gates.compare import plain
from kc.agents.gates.differential import Failure, Tester
from kc.agents.gates.inputs import Drawer
from kc.agents.gates.reasons import Rejection

_SHOWN = 256


def shrink(failure: Failure, tester: Tester, drawer: Drawer) -> Rejection:
    """The rejection that a failure makes."""
    return Rejection(failure.reason, f"{failure.message}; on {failure.planned.why}", witness(failure))


def witness(failure: Failure) -> dict[str, Any]:
    """The counter-example as JSON values."""
    call = failure.planned.call
    found: dict[str, Any] = {
        "sizes": dict(failure.planned.sizes),
        "why": failure.planned.why,
        "arguments": [_value(a) for a in call.arguments],
    }
    if call.aliases:
        found["aliases"] = [list(pair) for pair in call.aliases]
    if failure.difference is not None:
        d = failure.difference
        found.update(result=d.result, index=list(d.index), got=d.got, want=d.want)
    if failure.finding is not None:
        found["finding"] = failure.finding
    return found


def _value(array: Any) -> Any:
    if array.size > _SHOWN:
        return {
            "shape": list(array.shape),
            "dtype": str(array.dtype),
            "first": [plain(x) for x in array.reshape(-1)[:16]],
        }
    if array.dtype.kind == "c":
        return {"shape": list(array.shape), "values": [[plain(x.real), plain(x.imag)] for x in array.reshape(-1)]}
    if array.ndim == 0:
        return plain(array[()])
    return {"shape": list(array.shape), "values": [plain(x) for x in array.reshape(-1)]}
