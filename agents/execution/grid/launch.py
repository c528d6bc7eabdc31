"""A launch: clusters of blocks (mostly of one block) one after the other."""
from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from kc.agents.execution.errors import ExecutionError
from kc.agents.execution.grid.blocks import MOST_SHARED, Launch
from kc.agents.execution.grid.machine import Stopped
from kc.agents.execution.grid.nodes import Block, Node
from kc.agents.execution.grid.pointers import size_of
from kc.agents.execution.grid.running import Running
from kc.agents.execution.grid.types import LOCAL, type_of
from kc.agents.execution.grid.warp import Warp

if TYPE_CHECKING:
    from kc.agents.execution.grid.memory import Region

_MOST_THREADS, _MOST_CLUSTER = 1024, 8
#: rounds in which all warps only look again, after which another block is let in
_PATIENCE = 64


def launch(host: Warp, node: Node) -> None:
    """``gpu.launch_func`` or ``gpu.launch``."""
    groups = host.groups(node, [host.env[number] for number in node.operands])
    if groups[0] or any(groups[7:10]):
        raise ExecutionError("unsupported", f"asynchronous launches, and clusters that the launch asks for, at "
                             f"{node.place}: a kernel may ask for clusters itself (nvvm.cluster_dim)", node.name)
    sizes = [int(group[0][0]) for group in groups[1:7]]
    dynamic = int(groups[10][0][0]) if groups[10] else 0
    if node.name == "gpu.launch_func":
        kernel = host.machine.program.kernels.get(tuple(node.attributes["kernel"]))  # type: ignore[call-overload]
        if kernel is None:
            raise ExecutionError("compile", f"no kernel {node.attributes['kernel']} for the launch at {node.place}")
        given, blocks = list(groups[11]), kernel.regions[0]
    else:
        kernel, given, blocks = node, [], node.regions[0]
    cluster = _cluster(kernel)
    grid = Launch(host.machine, tuple(sizes[:3]), tuple(sizes[3:]), dynamic, cluster)
    if 0 in sizes[:3] and min(sizes) >= 0:  # kc's runtime leaves such a launch out: an empty array
        return
    if min(sizes) <= 0 or grid.threads_per_block > _MOST_THREADS:
        raise Stopped("launch", f"the launch at {node.place} has sizes {sizes}: at least 1 each, "
                      f"at most {_MOST_THREADS} threads in a block")
    if dynamic > MOST_SHARED:
        raise Stopped("launch", f"the launch at {node.place} wants {dynamic} bytes of shared memory; "
                      f"there are {MOST_SHARED}")
    if any(size % c for size, c in zip(sizes[:3], cluster, strict=True)):
        raise Stopped("launch", f"the launch at {node.place} has {sizes[:3]} blocks, which clusters of {list(cluster)} "
                      "do not divide")
    most, exact = (list(kernel.attributes.get(name, ())) for name in ("nvvm.maxntid", "nvvm.reqntid"))
    if (most and grid.threads_per_block > math.prod(most)) or (exact and sizes[3:] != [*exact, 1, 1][:3]):
        raise Stopped("launch", f"the launch at {node.place} has {sizes[3:]} threads; the kernel says {most or exact} "
                      "(nvvm.maxntid or nvvm.reqntid)")
    kept = _claims(host, node, kernel, given)
    passed: list[Region] = []
    given = [_passed(host, kernel, number, value, passed) for number, value in enumerate(given)]
    try:
        _run(grid, kernel, given, blocks, host)
    finally:
        for region in passed:
            host.memory.forget(region)
        for region, read_only in kept:
            region.read_only = read_only


def _passed(host: Warp, kernel: Node, number: int, value: Any, passed: list[Region]) -> Any:
    """An argument as the kernel gets it: what is passed by value is a copy of the host's bytes. A tensor map may be
    taken from one that is constant in the grid (others the compiler copies to the stack) and aligned."""
    told = str([*kernel.attributes.get("arg_attrs", ()), *[""] * (number + 1)][number])
    kind = re.search(r"llvm\.byval = (!llvm\.[^,}]*>)", told)
    if kind is None:
        return value
    size = size_of(type_of(kind[1]))
    raw, written = host.memory.moving(host.who, np.asarray(value[:1]), size, np.ones(1, np.bool_))
    region = host.memory.allocate(size, f"argument {number} of @{kernel.symbol}", LOCAL)
    region.data[:], region.written[:] = raw[0], written[0]
    alignment = re.search(r"llvm\.align = (\d+)", told)
    region.holds_maps = "nvvm.grid_constant" in told and alignment is not None and int(alignment[1]) % 64 == 0
    region.read_only = True
    passed.append(region)
    return np.array([region.base])


def _claims(host: Warp, node: Node, kernel: Node, given: list[Any]) -> list[tuple[Region, bool]]:
    """Hold the launch to what the kernel's arguments claim: ``llvm.readonly`` makes the buffer behind a pointer
    read-only for its time, ``llvm.noalias`` asks that no other argument leads to it. Gives what to set back."""
    behind = [host.memory.region(int(v[0])) if isinstance(v, np.ndarray) and kind.form == "pointer" else None
              for v, kind in zip(given, kernel.regions[0][0].types, strict=False)]
    kept: list[tuple[Region, bool]] = []
    for number, (region, told) in enumerate(zip(behind, kernel.attributes.get("arg_attrs", ()), strict=False)):
        claims = str(told)
        if region is None or "llvm.byval" in claims:
            continue
        if "llvm.readonly" in claims:
            kept.append((region, region.read_only))
            region.read_only = True
        if "llvm.noalias" in claims and behind.count(region) > 1:
            raise Stopped("launch", f"the launch at {node.place} passes {region.name} twice, and argument {number} of "
                          f"@{kernel.symbol} is noalias")
    return kept[::-1]


def _cluster(kernel: Node) -> tuple[int, int, int]:
    """Blocks of a cluster along each axis, as the kernel asks for."""
    given = kernel.attributes.get("nvvm.cluster_dim")
    if given is None:
        return 1, 1, 1
    x, y, z = (*(int(size) for size in given), 1, 1)[:3]
    if min(x, y, z) < 1 or x * y * z > _MOST_CLUSTER:
        raise Stopped("launch", f"the kernel @{kernel.symbol} asks for clusters of {x} x {y} x {z} blocks; at most "
                      f"{_MOST_CLUSTER} are portable")
    return x, y, z


def _run(grid: Launch, kernel: Node, given: list[Any], blocks: list[Block], host: Warp) -> None:
    machine = grid.machine
    pending = grid.clusters()
    if machine.checks.order == "reversed":
        pending.reverse()
    elif machine.checks.order == "interleaved":
        pending = pending[::2] + pending[1::2]
    running: list[Running] = []
    idle = 0
    for region in [*machine.allocations, *machine.arguments, *machine.static_regions()]:
        region.track = None  # a launch comes after all that was before it
    while pending or running:
        if not running or (idle > _PATIENCE and pending):
            running.append(Running(grid, kernel, given, blocks, pending.pop(0), host))
            idle = 0
        moved = False
        for cluster in list(running):
            moved |= cluster.step()
            if cluster.done:
                cluster.end()
                running.remove(cluster)
        idle = 0 if moved else idle + 1
        if idle > 16 * _PATIENCE and not pending:
            raise Stopped("barrier", "all threads wait for something that nobody does")
    machine.launches += 1
