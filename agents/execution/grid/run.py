"""Level gpu: calls of ``@main``, whose host code launches kernels, on the emulated machine."""
from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kc.agents.execution.calls import Call, Checks, Fault, Outcome
from kc.agents.execution.errors import ExecutionError
from kc.agents.execution.grid import registry
from kc.agents.execution.grid.machine import Machine, Program, Stopped
from kc.agents.execution.grid.memory import Region
from kc.agents.execution.grid.nodes import Node, Reader
from kc.agents.execution.grid.storage import from_bytes, to_bytes
from kc.agents.execution.grid.types import GLOBAL, Type, type_of
from kc.agents.execution.grid.values import View
from kc.agents.execution.grid.warp import NeedWarps, Warp
from kc.agents.execution.signature import Signature

if TYPE_CHECKING:
    from kc.bindings import ir


def run(module: ir.Module, calls: Sequence[Call], checks: Checks) -> Iterator[Outcome]:
    """Make each call; see ``kc.agents.execution``."""
    registry.load()
    signature = Signature.of(module, checks.roles)
    program = Program(Reader().read(module.operation))
    main = program.functions["main"]
    for call in calls:
        with np.errstate(all="ignore"):
            try:
                outcome = Run(program, main, signature, call, checks, True).outcome()
            except NeedWarps:
                outcome = Run(program, main, signature, call, checks, False).outcome()
        yield outcome


class Run:
    """One call."""

    def __init__(
        self, program: Program, main: Node, signature: Signature, call: Call, checks: Checks, together: bool
    ):
        self.main, self.signature, self.given, self.checks = main, signature, call, checks
        self.machine = Machine(program, call, checks, together)
        self.regions: list[Region | None] = []
        self.shared = dict(call.aliases)
        self.values = [self._argument(position) for position in range(len(signature.arguments))]
        self._before = [r.data.copy() if r is not None else None for r in self.regions]

    def _argument(self, position: int) -> Any:
        kind = type_of(self.signature.arguments[position].text)
        array = np.asarray(self.given.arguments[position])
        if kind.form != "memref":
            self.regions.append(None)
            if kind.form != "number":
                raise ExecutionError("unsupported", f"an argument of type {kind.text} of @main at level gpu")
            return array.astype(kind.dtype).reshape(1)
        assert kind.dtype is not None
        free = self.given.strided and array.ndim > 0 and kind.strides and kind.strides[-1] is None
        gap = 2 if free else 1
        if position in self.shared:
            region = self.regions[self.shared[position]]
            assert region is not None
        else:
            region = self._region(position, array, kind, gap)
        self.regions.append(region)
        strides = [gap] * array.ndim
        for axis in range(array.ndim - 2, -1, -1):
            strides[axis] = strides[axis + 1] * array.shape[axis + 1]
        return View(kind, np.array([region.base]), np.array([0]), [np.array([n]) for n in array.shape],
                    [np.array([s]) for s in strides])

    def _region(self, position: int, array: np.ndarray, kind: Type, gap: int) -> Region:
        item = kind.bytes
        region = self.machine.memory.allocate(array.size * item * gap, f"argument {position}", GLOBAL)
        self.machine.arguments.append(region)
        cells = region.data.reshape(array.size, gap * item)
        if gap > 1:
            region.valid = np.zeros(region.size, np.bool_)
            region.valid.reshape(array.size, gap * item)[:, :item] = True
        if self.signature.roles[position] != "out":
            cells[:, :item] = to_bytes(np.ascontiguousarray(array, kind.dtype).reshape(array.size))
            region.written.reshape(array.size, gap * item)[:, :item] = True
        sharing = [position, *(j for j, i in self.shared.items() if i == position)]
        region.read_only = all(self.signature.roles[p] == "in" for p in sharing)
        return region

    def outcome(self) -> Outcome:
        """Run to the end or to a fault."""
        machine, fault, returned = self.machine, None, []
        host = Warp(machine, None, np.zeros(1, np.int64), 1)
        started = time.process_time()
        try:
            steps = host.body(self.main.regions[0], self.values, np.ones(1, np.bool_))
            while True:
                next(steps)
        except StopIteration as end:
            returned = end.value
        except Stopped as stopped:
            fault = Fault(stopped.kind, stopped.message)
        except MemoryError as error:
            fault = Fault("allocation", str(error))
        except (ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError) as error:
            # a form of an op that nobody has thought of: never an accept, and told as what it is
            now = machine.now
            where = f"{now.name} at {now.place}" if now else "the start"
            message = f"the emulated machine fails on {where}: {type(error).__name__}: {error}"
            raise ExecutionError("unsupported", message, now.name if now else "") from error
        results: tuple[np.ndarray, ...] = ()
        if fault is None:
            results = (*(self._returned(v) for v in returned), *self._buffers())
        live = [r for r in machine.allocations if not r.freed]
        owned = {int(v.base[0]) for v in returned if isinstance(v, View)}
        return Outcome(
            results=results,
            fault=fault,
            mutated=tuple(
                p for p, r in enumerate(self.regions)
                if r is not None and r.read_only and p not in self.shared and (r.data != self._before[p]).any()
            ),
            leaked=0 if fault else len([r for r in live if r.base not in owned]),
            heap=tuple(sorted(machine.heap)),
            peak=machine.memory.peak - sum(r.size for r in machine.arguments),
            seconds=time.process_time() - started,
            **{name: tuple(found) for name, found in machine.findings.kept.items()},  # type: ignore[arg-type]
        )

    def _returned(self, value: Any) -> np.ndarray:
        if not isinstance(value, View):
            return np.asarray(value[0]).copy()
        shape = tuple(int(s[0]) for s in value.sizes)
        grids = list(np.indices(shape).reshape(len(shape), math.prod(shape)))
        addresses = np.broadcast_to(value.addresses(grids), (int(np.prod(shape)),))
        host = Warp(self.machine, None, np.zeros(1, np.int64), 1)
        raw, _ = self.machine.memory.moving(host.who, addresses, value.kind.bytes, np.ones(len(addresses), bool))
        return from_bytes(raw, value.kind, ()).reshape(shape)

    def _buffers(self) -> Iterator[np.ndarray]:
        for position, region in enumerate(self.regions):
            if region is None or self.signature.roles[position] == "in":
                continue
            kind = type_of(self.signature.arguments[position].text)
            array = np.asarray(self.given.arguments[position])
            cells = region.data.reshape(array.size, -1) if array.size else np.zeros((0, kind.bytes), np.uint8)
            yield from_bytes(cells[:, : kind.bytes], kind, ()).reshape(array.shape).copy()
