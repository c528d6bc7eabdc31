"""Products of warpgroups (wgmma): operands in shared memory by descriptors, accumulators in registers, groups.

Each warp computes its 16 rows when it issues the product; the product counts as reading shared memory and writing
registers until the warp waits for its group, which all four warps must have committed (PTX ISA, "Asynchronous
warpgroup level matrix instructions").
"""
from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

from kc.agents.execution.errors import ExecutionError
from kc.agents.execution.grid.agent import Agent
from kc.agents.execution.grid.groups import WARP, block_of, divergent
from kc.agents.execution.grid.matrix_descriptors import Operand, operand
from kc.agents.execution.grid.nodes import Node
from kc.agents.execution.grid.pending import Pending
from kc.agents.execution.grid.registry import control, op
from kc.agents.execution.grid.warp import NeedWarps, Steps, Warp

if TYPE_CHECKING:
    from kc.agents.execution.grid.blocks import BlockState

Array = np.ndarray
_WARPS = 4
_DEPTH = 16
_KINDS: dict[str, Any] = {"f16": np.float16, "bf16": ml_dtypes.bfloat16}


class Products:
    """Of one warp: groups ``committed`` and waited for (``done``), products in the open one; the step of its last
    ``wgmma.fence`` (-1: none); the ops that it has issued."""

    def __init__(self, agent: int):
        self.agent = agent
        self.committed = self.done = self.open = 0
        self.fence = -1
        self.issued: list[str] = []


def _products(warp: Warp, node: Node, mask: Array) -> Products:
    block = block_of(warp, node)
    if len(warp.threads) > WARP:
        raise NeedWarps
    divergent(warp, node, mask, node.name)
    number = int(warp.threads.min()) // WARP
    group = number // _WARPS
    if (group + 1) * _WARPS * WARP > block.grid.threads_per_block or warp.lanes != WARP or not mask.all():
        raise ExecutionError("unsupported", f"{node.name} at {node.place} by fewer than the 128 threads of a warpgroup",
                             node.name)
    agent = block.clocks.agent(("products", block.rank, group), f"a product of warpgroup {group}")
    warps = block.products.setdefault(group, [Products(agent) for _ in range(_WARPS)])
    found: Products = warps[number % _WARPS]
    return found


@op("nvvm.wgmma.fence.aligned")
def _fence(warp: Warp, node: Node, values: list[Any], mask: Array) -> tuple[()]:
    _products(warp, node, mask).fence = warp.machine.steps
    return ()


@op("nvvm.wgmma.commit.group.sync.aligned")
def _commit(warp: Warp, node: Node, values: list[Any], mask: Array) -> tuple[()]:
    products = _products(warp, node, mask)
    products.committed += 1
    products.open = 0
    return ()


@control("nvvm.wgmma.wait.group.sync.aligned")
def _wait(warp: Warp, node: Node, mask: Array) -> Steps:
    products = _products(warp, node, mask)
    wanted = products.committed - int(node.attributes["group"])
    block = block_of(warp)
    others = block.products[int(warp.threads.min()) // (WARP * _WARPS)]
    first = True
    while any(other.committed < wanted for other in others):
        yield ("pause", first, node)
        first = False
    if wanted > products.done:
        products.done = wanted
        block.clocks.learn(warp.who.threads, products.agent, wanted)
    return []


# ------------------------------------------------------------------------------------------------------- products


@op("nvvm.wgmma.mma_async")
def _mma(warp: Warp, node: Node, values: list[Any], mask: Array) -> tuple[Any, ...]:
    a = {name: str(value) for name, value in node.attributes.items()}
    size = re.search(r"m = 64, n = (\d+), k = (\d+)", a["shape"])
    kind = re.search(r"<(\w+)>", a["typeA"])
    name = kind[1] if kind else ""
    if not size or int(size[2]) != _DEPTH or name not in _KINDS or f"<{name}>" not in a["typeB"] or (
        "f32" not in a["typeD"] or "satfinite" in node.attributes
    ):
        raise ExecutionError("unsupported", f"{node.name} of {a['shape']} {a['typeA']} {a['typeB']} to {a['typeD']} at "
                             f"{node.place} cannot be emulated: only f16 or bf16 to f32", node.name)
    products = _products(warp, node, mask)
    accumulators, left, right = values
    n = int(size[1])
    zero = "zero" in a["scaleD"]
    signs = [-1.0 if "neg" in a[side] else 1.0 for side in ("scaleA", "scaleB")]
    _ready(warp, node, products, [] if zero else list(accumulators), n)
    row = int(warp.threads.min()) // WARP % _WARPS * 16
    first = _from_memory(warp, node, products, operand(warp, node, left, "col" in a["layoutA"]), row, 16, name)
    second = _from_memory(warp, node, products, operand(warp, node, right, "row" in a["layoutB"]), 0, n, name)
    total = signs[0] * signs[1] * (first @ second.T)
    return _result(warp, node, products, None if zero else accumulators, total, n)


_WITH_REGISTERS = re.compile(r"wgmma\.mma_async\.sync\.aligned\.m64n(\d+)k16\.f32\.(bf16|f16)\.\2 ")


def assembly(warp: Warp, node: Node, values: list[Any], mask: Array) -> tuple[Any, ...]:
    """The product whose first operand is in registers, as ``kc.builder.gpu_ops.wgmma_register_a`` writes it."""
    text = node.attributes["asm_string"]
    match = _WITH_REGISTERS.search(text)
    n = int(match[1]) if match else 0
    count = n // 2
    results = ",".join(f"${number}" for number in range(count))
    at = 2 * count
    wanted = (
        f"{{ .reg .pred p; setp.ne.b32 p, 1, 0; wgmma.mma_async.sync.aligned.m64n{n}k16.f32.{match and match[2]}."
        f"{match and match[2]} {{{results}}}, {{${at},${at + 1},${at + 2},${at + 3}}}, ${at + 4}, p, 1, 1, 1; }}"
    )
    constraints = ",".join(["=f"] * count + [str(number) for number in range(count)] + ["r"] * 4 + ["l"])
    if match is None or text != wanted or node.attributes["constraints"] != constraints or not (
        node.attributes.get("has_side_effects")
    ):
        raise ExecutionError("unsupported", f"the assembly '{text[:90]}' at {node.place} cannot be emulated: of wgmma "
                             "only the form of kc's own kernels", node.name)
    products = _products(warp, node, mask)
    accumulators, registers, right = values[:count], values[count : count + 4], values[count + 4]
    _ready(warp, node, products, [*accumulators, *registers], n)
    first = np.zeros((16, _DEPTH))
    rows, columns = warp.lane // 4, warp.lane % 4 * 2
    for number, register in enumerate(registers):
        pair = np.ascontiguousarray(warp.spread(_array(register))).view(_KINDS[match[2]]).reshape(WARP, 2)
        for e in range(2):
            first[rows + 8 * (number % 2), columns + e + 8 * (number // 2)] = pair[:, e].astype(np.float64)
    second = _from_memory(warp, node, products, operand(warp, node, right, True), 0, n, match[2])
    return _result(warp, node, products, accumulators, first @ second.T, n)


def _array(value: Any) -> Array:
    found: Array = value.array if isinstance(value, Pending) else value
    return found


def _ready(warp: Warp, node: Node, products: Products, registers: list[Any], n: int) -> None:
    """Tell of registers that other instructions wrote after the last fence, or a product of another shape."""
    if products.fence < 0:
        warp.who.tell(warp.findings, "races", "race", "registers", 0, 0, 0, "comes before any nvvm.wgmma.fence")
    for value in registers:
        if isinstance(value, Pending):
            if value.products is not products or (value.shape != f"n{n}" and not value.over):
                warp.who.tell(warp.findings, "races", "race", "registers", 0, 0, 0,
                              f"takes accumulators of {value.op} at {value.place}, of another shape, which is not "
                              "waited for")
                return
        elif warp.written_at(value) > products.fence:
            warp.who.tell(warp.findings, "races", "race", "registers", 0, 0, 0,
                          "takes registers that were written after the last nvvm.wgmma.fence")
            return


def _from_memory(
    warp: Warp, node: Node, products: Products, matrix: Operand, row: int, rows: int, kind: str
) -> Array:
    """``rows`` rows (of M or N) from ``row`` on, by the 16 of K."""
    addresses, place = matrix.chunks(row, rows)
    agent = Agent(warp.who, np.arange(warp.lanes), products.agent, products.committed + 1, len(addresses))
    raw = warp.memory.load(agent, addresses, 16, np.ones(len(addresses), np.bool_))
    flat = np.ascontiguousarray(raw).view(_KINDS[kind]).reshape(-1).astype(np.float64)
    return flat[place]


def _result(
    warp: Warp, node: Node, products: Products, accumulators: Any, total: Array, n: int
) -> tuple[Any, ...]:
    numbers = np.arange(n // 2)[:, None]
    rows, columns = (warp.lane // 4)[None, :], (warp.lane % 4 * 2)[None, :]
    bank = total[rows + 8 * (numbers // 2 % 2), columns + 8 * (numbers // 4) + numbers % 2]
    if accumulators is not None:
        first = accumulators[0]
        before = first.bank if isinstance(first, Pending) else None
        if before is None or len(before) != n // 2 or any(
            not isinstance(a, Pending) or a.bank is not before or a.number != i for i, a in enumerate(accumulators)
        ):
            before = np.stack([warp.spread(_array(a)) for a in accumulators])
        bank = bank + before
    bank = bank.astype(np.float32)
    group = products.committed + 1
    products.open += 1
    products.issued.append(f"{node.name} at {node.place}")
    return tuple(Pending(bank, i, products, group, f"n{n}", node.name, node.place) for i in range(n // 2))


def end(block: BlockState, warps: list[Warp]) -> None:
    """The threads of a block have ended: tell of products that not all warps issued, or that nobody waited for."""
    for group, products in block.products.items():
        here = [w for w in warps if w.lanes == WARP and int(w.threads.min()) // WARP // _WARPS == group]
        lead = next(iter(here), None)
        if lead is None:
            continue
        if any(p.issued != products[0].issued for p in products):
            lead.who.tell(lead.findings, "divergence", "barrier", f"warpgroup {group}", 0, 0, 0,
                          "ends a warpgroup whose warps did not issue the same products")
        if any(p.open or p.done < p.committed for p in products):
            lead.who.tell(lead.findings, "races", "race", "shared memory", 0, 0, 0,
                          "ends a warpgroup whose products nobody has waited for")
