"""Control flow under masks: structured loops and branches, calls, launches."""
from __future__ import annotations

from typing import Any

import numpy as np

from kc.agents.execution.errors import ExecutionError
from kc.agents.execution.grid.nodes import Node
from kc.agents.execution.grid.registry import control
from kc.agents.execution.grid.tensor_maps import encode
from kc.agents.execution.grid.values import select
from kc.agents.execution.grid.warp import Steps, Warp

Array = np.ndarray


@control("scf.if")
def _if(warp: Warp, node: Node, mask: Array) -> Steps:
    condition = warp.spread(warp.env[node.operands[0]])
    yes, no = mask & condition, mask & ~condition
    first: list[Any] | None = None
    second: list[Any] | None = None
    if yes.any():
        first = yield from warp.enter(node.regions[0][0], [], yes)
    if no.any() and node.regions[1]:
        second = yield from warp.enter(node.regions[1][0], [], no)
    if not node.results:
        return []
    if first is None or second is None:
        return first if first is not None else second
    return [select(condition, warp.spread(a), warp.spread(b)) for a, b in zip(first, second, strict=True)]


@control("scf.for")
def _for(warp: Warp, node: Node, mask: Array) -> Steps:
    lower, upper, step, *carried = (warp.spread(warp.env[number]) for number in node.operands)
    before = np.less
    if node.attributes.get("unsignedCmp"):
        lower, upper = lower.view(f"u{lower.itemsize}"), upper.view(f"u{upper.itemsize}")
    counter = lower.copy()
    active = mask & before(counter, upper)
    if (mask & (step <= 0)).any():
        raise ExecutionError("unsupported", f"a step that is not positive in the scf.for at {node.place}", node.name)
    while active.any():
        warp.machine.tick(node)  # a body may have no op that does
        yielded = yield from warp.enter(node.regions[0][0], [counter.view(step.dtype), *carried], active)
        carried = [select(active, warp.spread(a), b) for a, b in zip(yielded, carried, strict=True)]
        counter = np.where(active, counter + step.view(counter.dtype), counter)
        active = active & before(counter, upper)
    return carried


@control("scf.while")
def _while(warp: Warp, node: Node, mask: Array) -> Steps:
    carried = [warp.spread(warp.env[number]) for number in node.operands]
    active, results = mask, None
    while True:
        warp.machine.tick(node)
        condition, *passed = yield from warp.enter(node.regions[0][0], carried, active)
        passed = [warp.spread(p) for p in passed]
        going = active & warp.spread(condition)
        results = passed if results is None else [select(active, a, b) for a, b in zip(passed, results, strict=True)]
        if not going.any():
            return results
        yielded = yield from warp.enter(node.regions[1][0], passed, going)
        carried = [select(going, warp.spread(a), b) for a, b in zip(yielded, carried, strict=True)]
        active = going


@control("scf.index_switch")
def _switch(warp: Warp, node: Node, mask: Array) -> Steps:
    number = warp.spread(warp.env[node.operands[0]])
    results: list[Any] | None = None
    rest = mask
    for case, region in [*zip(node.attributes["cases"], node.regions[1:], strict=True), (None, node.regions[0])]:
        here = rest if case is None else rest & (number == case)
        rest = rest & ~here
        if here.any():
            given = [warp.spread(v) for v in (yield from warp.enter(region[0], [], here))]
            results = given if results is None else [select(here, a, b) for a, b in zip(given, results, strict=True)]
    return results or []


@control("scf.execute_region", "memref.alloca_scope")
def _region(warp: Warp, node: Node, mask: Array) -> Steps:
    return (yield from warp.body(node.regions[0], [], mask))


@control("memref.generic_atomic_rmw")
def _generic_atomic(warp: Warp, node: Node, mask: Array) -> Steps:
    from kc.agents.execution.grid.storage import load_at, store_at

    view, *indices = (warp.env[number] for number in node.operands)
    addresses = warp.spread(view.addresses(indices))
    results = []
    for lane in np.flatnonzero(mask):
        only = np.arange(warp.lanes) == lane
        before = load_at(warp, addresses, view.kind, view.kind.lanes, only, atomic=True)
        (after,) = yield from warp.enter(node.regions[0][0], [before], only)
        store_at(warp, addresses, warp.spread(after), only, atomic=True)
        results.append(warp.spread(after)[lane])
    made = np.zeros((warp.lanes, *view.kind.lanes), view.kind.dtype)
    made[np.flatnonzero(mask)] = results
    return made


@control("func.call", "llvm.call")
def _call(warp: Warp, node: Node, mask: Array) -> Steps:
    name = node.attributes.get("callee")
    if name == "kc_gpu_tensor_map_encode" and not warp.on_device:
        encode(warp, node, [warp.env[number] for number in node.operands])
        return []
    function = warp.machine.function_named(name) if name else None
    if function is None:
        raise ExecutionError("unsupported", f"the call of @{name} at {node.place} cannot be emulated", node.name)
    values = [warp.env[number] for number in node.operands]
    return (yield from warp.call(function, values, mask))


@control("cf.assert")
def _assert(warp: Warp, node: Node, mask: Array) -> Steps:
    from kc.agents.execution.grid.machine import Stopped

    if (mask & ~warp.spread(warp.env[node.operands[0]])).any():
        raise Stopped("abort", f"{node.attributes['msg']} (cf.assert at {node.place})")
    return []
    yield ()


@control("gpu.launch_func", "gpu.launch")
def _launch(warp: Warp, node: Node, mask: Array) -> Steps:
    from kc.agents.execution.grid.launch import launch

    launch(warp, node)
    return []
    yield ()
