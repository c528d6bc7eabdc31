"""A warp (or, with one lane, the host): a generator that steps through ops under a mask and stops to wait."""
from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import numpy as np

from kc.agents.execution.errors import ExecutionError
from kc.agents.execution.grid.nodes import Block, Node
from kc.agents.execution.grid.order import Who
from kc.agents.execution.grid.pending import Stamps, look
from kc.agents.execution.grid.registry import CONTROL, FUNCTIONS
from kc.agents.execution.grid.scalars import SCALARS
from kc.agents.execution.grid.types import LOCAL, SHARED
from kc.agents.execution.grid.values import lanes, select

if TYPE_CHECKING:
    from kc.agents.execution.grid.blocks import BlockState
    from kc.agents.execution.grid.machine import Machine
    from kc.agents.execution.grid.memory import Region

Array = np.ndarray
#: what a warp waits for: ``("barrier", number, threads wanted or None, spaces, count)``; ``("pause", whether anything
#: has happened)``, with the op where only others can let it go on; or ``("arrive", ...)``, for which it does not wait
Event = tuple[Any, ...]
Steps = Generator[Event, None, Any]

_RETURNS = frozenset(("func.return", "gpu.return", "llvm.return", "gpu.terminator"))
_ENDS = frozenset((
    "scf.yield", "scf.condition", "gpu.yield", "memref.atomic_yield", "scf.reduce", "llvm.unreachable", *_RETURNS,
    "cf.br", "cf.cond_br", "cf.switch", "llvm.br", "llvm.cond_br", "llvm.switch",
))


#: ops that pass registers of a product under way on; inline assembly looks for itself
_MOVES = frozenset(("llvm.extractvalue", "llvm.insertvalue", "nvvm.wgmma.mma_async", "llvm.inline_asm"))


class NeedWarps(Exception):
    """Threads of a block that ran side by side must take turns by warps: the call starts again that way."""


class Warp:
    """The host, a warp, or all warps of a block side by side, as long as none of them goes its own way.

    ``threads``: numbers within the block of the lanes; ``live``: lanes that have not ended.
    """

    def __init__(self, machine: Machine, block: BlockState | None, threads: Array, lanes_: int):
        self.machine, self.block, self.lanes = machine, block, lanes_
        self.memory, self.findings = machine.memory, machine.findings
        self.threads = threads
        #: of each lane: its number in its warp, and its warp; and the lane of each thread (-1: another warp's)
        self.lane, self.group = threads % 32, threads // 32
        self.position = np.full(int(threads.max()) + 65, -1)
        self.position[threads] = np.arange(lanes_)
        self.whole = block is not None and lanes_ == block.grid.threads_per_block
        self.live = np.ones(lanes_, np.bool_)
        own = threads + block.first if block else threads
        self.who = Who(block.clocks if block else None, own, machine.findings, machine.places)
        self.env: dict[int, Any] = {}
        #: when registers were computed, where a product of a warpgroup may take them
        self.stamps = Stamps() if block is not None and machine.program.products else None
        self._merging = False
        self._depth = 0
        #: copies under way (cp.async): groups that were committed, and the one that is open
        self.groups_of_copies: list[list[tuple[Array, Array, Array]]] = []
        self.open_copies: list[tuple[Array, Array, Array]] = []

    @property
    def on_device(self) -> bool:
        """Whether this is a warp of a grid."""
        return self.block is not None

    def by_warp(self, mask: Array) -> list[Array]:
        """The lanes of ``mask`` of each warp, as masks."""
        groups = np.unique(self.group[mask])
        return [mask] if len(groups) == 1 else [mask & (self.group == group) for group in groups]

    @property
    def launch_owner(self) -> Machine:
        """Who keeps the list of allocations."""
        return self.machine

    # ------------------------------------------------------------------------------------------------------ values

    def spread(self, value: Any) -> Any:
        """``value`` with one entry per lane."""
        return lanes(value, self.lanes)

    def written_at(self, value: Array) -> int:
        """The step in which a register was computed; -1 of a constant."""
        return -1 if self.stamps is None else self.stamps.of(value)

    def groups(self, node: Node, values: list[Any]) -> list[list[Any]]:
        """``values`` by ``operandSegmentSizes``."""
        found, at = [], 0
        for size in node.attributes["operandSegmentSizes"]:
            found.append(values[at : at + size])
            at += size
        return found

    def assign(self, number: int, value: Any, mask: Array) -> None:
        """Give an SSA value; lanes that are off keep theirs where code may come back to it."""
        if self._merging and number in self.env and not mask.all():
            value = select(mask, self.spread(value), self.spread(self.env[number]))
        self.env[number] = value

    def local(self, size: int, name: str) -> Array:
        """Memory of their own for the lanes: the address of each."""
        gap = 256
        step = (size + 2 * gap + 255) // 256 * 256
        region = self.memory.allocate(step * self.lanes, name, LOCAL)
        region.valid = np.zeros(region.size, np.bool_)
        offsets = gap + step * np.arange(self.lanes)
        for offset in offsets:
            region.valid[offset : offset + size] = True
        region.of_host = self.block is None
        if self.block is not None:
            self.block.regions.append(region)
        return region.base + offsets

    def global_named(self, symbol: str, space: str) -> Region:
        """The region of a global; shared ones belong to the block."""
        if space == SHARED and self.block is not None:
            return self.block.shared(symbol)
        return self.machine.global_named(symbol)

    # ------------------------------------------------------------------------------------------------------ stepping

    def run_block(self, block: Block, mask: Array) -> Steps:
        """Run the ops of a block; gives its terminator."""
        for node in block.nodes:
            name = node.name
            if name in _ENDS:
                return node
            self.machine.tick(node)
            self.who.at(name, node.place)
            control = CONTROL.get(name)
            if control is not None:
                results = yield from control(self, node, mask)
            else:
                values = [self.env[number] for number in node.operands]
                if self.stamps is not None and name not in _MOVES:
                    values = [look(self, node, value) for value in values]
                results = self._plain(node, values, mask)
                if self.stamps is not None and name not in _MOVES:
                    self.stamps.note(results, self.machine.steps)
            if self.machine.recorder is not None:
                self.machine.recorder.computed(self, node, results, mask)
            if len(node.results) == 1 and not isinstance(results, list) and (
                not isinstance(results, tuple) or node.types[0].form == "struct"
            ):
                self.assign(node.results[0], results, mask)
            else:
                for number, value in zip(node.results, results, strict=True):
                    self.assign(number, value, mask)
        raise ExecutionError("unsupported", "a block without a terminator")

    def _plain(self, node: Node, values: list[Any], mask: Array) -> Any:
        name = node.name
        scalar = SCALARS.get(name)
        if scalar is not None:
            return scalar(node, *values)
        function = FUNCTIONS.get(name)
        if function is None:
            raise ExecutionError("unsupported", f"the op '{name}' at {node.place} cannot be emulated", name)
        return function(self, node, values, mask)

    def enter(self, block: Block, values: list[Any], mask: Array) -> Steps:
        """Run a region of one block with arguments; gives the values of its terminator."""
        for number, value in zip(block.arguments, values, strict=True):
            self.assign(number, value, mask)
        end = yield from self.run_block(block, mask)
        return [self.env[number] for number in end.operands]

    def body(self, blocks: list[Block], values: list[Any], mask: Array) -> Steps:
        """Run a body of one or several blocks. Lanes that stand at different ones take turns, earlier blocks first."""
        for number, value in zip(blocks[0].arguments, values, strict=True):
            self.assign(number, value, mask)
        outer, self._merging = self._merging, self._merging or len(blocks) > 1
        at = np.where(mask, 0, -1)
        results: list[Any] | None = None
        while (at >= 0).any():
            current = int(at[at >= 0].min())
            here = at == current
            end = yield from self.run_block(blocks[current], here)
            self.machine.tick(end)
            if end.name in _RETURNS or not end.successors:
                given = [self.env[number] for number in end.operands]
                results = given if results is None else [
                    select(here, self.spread(a), self.spread(b)) for a, b in zip(given, results, strict=True)
                ]
                at = np.where(here, -1, at)
                if self._depth == 0 and self.on_device:
                    self.live &= ~here
                continue
            for position, operands, taken in self._targets(end, here):
                for number, value in zip(blocks[position].arguments, [self.env[o] for o in operands], strict=True):
                    self.assign(number, value, taken)
                at = np.where(taken, position, at)
        self._merging = outer
        return results or []

    def _targets(self, end: Node, here: Array) -> list[tuple[int, tuple[int, ...], Array]]:
        """(block, operands for its arguments, lanes that go there) of a branch."""
        if end.name in ("cf.br", "llvm.br"):
            return [(end.successors[0], end.operands, here)]
        if end.name in ("cf.cond_br", "llvm.cond_br"):
            condition, yes, no = end.groups()
            taken = self.spread(self.env[condition[0]])
            parts = ((end.successors[0], yes, here & taken), (end.successors[1], no, here & ~taken))
            return [part for part in parts if part[2].any()]
        raise ExecutionError("unsupported", f"the op '{end.name}' at {end.place} cannot be emulated", end.name)

    def call(self, function: Node, values: list[Any], mask: Array) -> Steps:
        """Call a function of the module."""
        if self._depth > 200:
            raise ExecutionError("unsupported", f"calls of @{function.symbol} more than 200 deep")
        outer, self.env, merging = self.env, dict(self.env), self._merging
        self._merging = False
        self._depth += 1
        results = yield from self.body(function.regions[0], values, mask)
        self._depth -= 1
        self.env, self._merging = outer, merging
        return results
