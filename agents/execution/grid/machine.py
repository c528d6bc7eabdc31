"""The emulated machine of one call: memory, globals, functions, time; and the host's part of the program."""
from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from kc.agents.execution.calls import Call, Checks
from kc.agents.execution.errors import ExecutionError
from kc.agents.execution.grid.memory import Findings, Memory, Region
from kc.agents.execution.grid.nodes import Node
from kc.agents.execution.grid.types import GLOBAL, SHARED, Type, type_of

if TYPE_CHECKING:
    from kc.agents.execution.grid.recording import Recorder
    from kc.agents.execution.grid.tensor_maps import TensorMap


class Stopped(Exception):
    """The call ends: ``kind`` and ``message`` of its fault."""

    def __init__(self, kind: str, message: str):
        super().__init__(message)
        self.kind, self.message = kind, message


class Program:
    """A module as nodes: its functions, kernels and globals by name."""

    def __init__(self, root: Node):
        #: whether a kernel has products of warpgroups
        self.products = _has_products(root)
        self.functions: dict[str, Node] = {}
        self.kernels: dict[tuple[str, str], Node] = {}
        self.globals: dict[str, Node] = {}
        for node in root.regions[0][0].nodes:
            if node.name == "gpu.module":
                for inner in node.regions[0][0].nodes:
                    self._enter(inner, node.symbol)
                if "kc.ptx" in node.attributes:
                    raise ExecutionError("unsupported", f"@{node.symbol} is PTX: it cannot be emulated", "gpu.module")
            elif node.name == "gpu.binary":
                raise ExecutionError("unsupported", f"@{node.symbol} is a binary, which cannot be emulated", node.name)
            else:
                self._enter(node, None)

    def _enter(self, node: Node, module: str | None) -> None:
        if node.name in ("func.func", "llvm.func", "gpu.func") and node.regions and node.regions[0]:
            if module is not None:
                self.kernels[module, node.symbol] = node
            self.functions[node.symbol] = node
        elif node.name in ("memref.global", "llvm.mlir.global"):
            self.globals[node.symbol] = node


def _has_products(node: Node) -> bool:
    if "wgmma" in node.name or "wgmma" in str(node.attributes.get("asm_string", "")):
        return True
    return any(_has_products(inner) for region in node.regions for block in region for inner in block.nodes)


class Machine:
    """State of one call. ``together``: the warps of a block run side by side."""

    def __init__(self, program: Program, call: Call, checks: Checks, together: bool):
        self.program, self.checks, self.together = program, checks, together
        self.findings = Findings(checks.findings)
        self.memory = Memory(call.poison, self.findings, checks.allocation)
        self.places: list[tuple[str, str]] = []
        self.allocations: list[Region] = []
        self.arguments: list[Region] = []
        self.heap: set[str] = set()
        self.launches = 0
        self.now: Node | None = None  # the op under way
        self.tensor_maps: list[TensorMap] = []
        self.recorder: Recorder | None = None
        self._globals: dict[str, Region] = {}
        self._until = time.process_time() + checks.seconds
        self.steps = 0

    def record(self, recorder: Recorder) -> None:
        """Tell ``recorder`` of each step."""
        self.recorder = recorder
        self.memory.touched = lambda *access: recorder.touched(self.now, *access)

    def tick(self, node: Node) -> None:
        """One more op; raises Stopped when the time is over."""
        self.now = node
        self.steps += 1
        if self.steps % 256 == 0 and time.process_time() > self._until:
            raise Stopped("time", f"ran for more than {self.checks.seconds:g} s of CPU time")

    def static_regions(self) -> list[Region]:
        """Of the globals of the whole program that were used."""
        return list(self._globals.values())

    def function_named(self, name: str) -> Node | None:
        """A function with a body."""
        return self.program.functions.get(name)

    def global_named(self, symbol: str) -> Region:
        """The region of a global of the whole program."""
        if symbol not in self._globals:
            node = self.program.globals[symbol]
            self._globals[symbol] = make_global(self.memory, node, GLOBAL, f"the global @{symbol}")
        return self._globals[symbol]


def make_global(memory: Memory, node: Node, space: str, name: str) -> Region:
    """A region for ``memref.global`` or ``llvm.mlir.global`` with its value."""
    from kc.agents.execution.grid.pointers import size_of
    from kc.agents.execution.grid.storage import to_bytes

    a = node.attributes
    kind: Type = type_of(a["type"] if node.name == "memref.global" else a["global_type"])
    if kind.form == "memref":
        size = kind.bytes * int(np.prod([int(e or 0) for e in kind.shape], dtype=np.int64))
    else:
        size = size_of(kind)
    region = memory.allocate(size, name, space)
    if node.regions and node.regions[0]:
        _evaluate(node, region)
    value: Any = a.get("initial_value" if node.name == "memref.global" else "value")
    if isinstance(value, np.ndarray):
        raw = to_bytes(np.broadcast_to(value, tuple(int(e or 0) for e in kind.shape))[None])[0]
        region.data[:], region.written[:] = raw, True
    elif isinstance(value, int) and kind.form == "number" and kind.dtype is not None and size == kind.dtype.itemsize:
        region.data[:] = to_bytes(np.array([value]).astype(kind.dtype))[0]
        region.written[:] = True
    elif value is not None and value is not True and space != SHARED:
        raise ExecutionError("unsupported", f"the value of @{node.symbol} at {node.place}", node.name)
    region.read_only = "constant" in a
    return region


def _evaluate(node: Node, region: Region) -> None:
    """The value of a global that has a body: zeros only."""
    first = node.regions[0][0].nodes[0]
    if first.name != "llvm.mlir.zero":
        raise ExecutionError("unsupported", f"the value of @{node.symbol} at {node.place}: {first.name}", node.name)
    region.data[:], region.written[:] = 0, True
