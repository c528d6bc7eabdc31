"""Runs of which each step is recorded: every number that is computed, in order, and who wrote what is read."""
from __future__ import annotations

import ctypes
import dataclasses
import json
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

from kc.agents.execution import library
from kc.agents.execution.calls import Call, Checks, Outcome
from kc.agents.execution.errors import ExecutionError
from kc.agents.execution.frame import Frame
from kc.agents.execution.signature import Signature, dtype_of
from kc.agents.execution.watch import Watch

if TYPE_CHECKING:
    from kc.bindings import ir

#: events of one call that are kept: 16 bytes each
MOST = 1 << 21
_EVENT = np.dtype([("id", np.int32), ("link", np.int32), ("bits", np.uint64)])


@dataclasses.dataclass(frozen=True)
class Node:
    """An op of the code that ran. ``sources``: nodes that it is computed from; ``control``: that decide if it runs.

    ``place`` is line and column, (0, 0) where that is not known; ``constant``: the value of a constant as text.
    """

    op: str
    place: tuple[int, int]
    element: str = ""
    sources: tuple[int, ...] = ()
    control: tuple[int, ...] = ()
    constant: str | None = None

    @property
    def stores(self) -> bool:
        """Whether its values, if any, are what it writes."""
        return "store" in self.op or self.op.endswith(("write", "scatter"))


#: what a patched node may compute (trace.cpp); ``first`` is the first operand as it is
CODES = (
    "first", "add", "sub", "mul", "div", "max", "min", "less", "less-equal", "equal", "not-equal", "select",
    "negate", "abs", "sqrt", "rsqrt", "exp", "log", "tanh",
    "and", "or", "xor", "shift-left", "shift-right", "remainder",
)  # fmt: skip
SIGNED, NEGATED = 1 << 9, 1 << 10
#: in ``Patch.operands``: the constant; from there on the last values of nodes
CONSTANT = 3


@dataclasses.dataclass(frozen=True)
class Patch:
    """What a node computes instead. ``operands``: which of its own it takes (0, 1, 2), ``CONSTANT``, 4 + a node."""

    node: int
    code: str
    operands: tuple[int, int, int] = (0, 1, 2)
    flags: int = 0
    #: bits of the constant
    constant: int = 0


@dataclasses.dataclass
class Run:
    """One call. ``nodes``, ``bits``: of each event the node and the value's bits; -1 for events without a node.

    ``links``: of each event that reads memory the event that wrote there, else -1. ``writers``: for each array of
    ``outcome.results`` the event that wrote each element last (-1: none), or, of a scalar, nothing. ``full``: whether
    there were more events than are kept.
    """

    outcome: Outcome
    nodes: np.ndarray
    bits: np.ndarray
    links: np.ndarray
    value: np.ndarray
    writers: list[np.ndarray | None]
    full: bool = False
    #: level gpu: block and thread that an event is of
    who: Callable[[int], tuple[int, ...]] | None = None


class Traced:
    """A module (changed) compiled so that it tells of what it does. ``returned``: nodes of ``@main``'s results."""

    def __init__(self, module: ir.Module, level: str, checks: Checks, signature: Signature | None = None):
        from kc.agents.execution.lowering import lower
        from kc.agents.execution.native import check_symbols
        from kc.bindings import execution_engine, ir

        self.level, self.checks = level, checks
        self.signature = signature or Signature.of(module, checks.roles)
        self.library = library.load()
        sites = lower(module, level, instrument=True, trace=True)
        attributes = module.operation.attributes
        told = json.loads(ir.StringAttr(attributes["kc.nodes"]).value)
        del attributes["kc.nodes"]
        self.nodes = [node_of(entry) for entry in told["nodes"]]
        self.returned: list[list[int]] = told["returned"]
        self._site_nodes = np.array([site.get("node", -1) for site in sites] or [-1], np.int32)
        self._watch = Watch(self.library, sites, checks.findings)
        #: of calls that are made again and again
        self._frames: dict[int, tuple[Frame, Any]] = {}
        check_symbols(module)
        ctypes.CDLL("libm.so.6", ctypes.RTLD_GLOBAL)
        try:
            self._engine = execution_engine.ExecutionEngine(module, opt_level=0, shared_libs=[str(library.path())])
            self._entry = self._engine.raw_lookup("main" if level == "llvm" else "_mlir_ciface_main")
        except RuntimeError as error:
            raise ExecutionError("compile", f"no machine code: {error}") from None

    def call(self, call: Call) -> Run:
        """Call ``@main`` once."""
        frame = Frame(self.signature, call, self.checks)
        self.library.kc_checked_begin(call.poison, 0, self.checks.allocation)
        self.library.kc_checked_trace(MOST)
        report = library.Report()
        self._watch.begin(frame)
        pointers = frame.expanded() if self.level == "llvm" else frame.pointers()
        self.library.kc_checked_call(self._entry, pointers, self.checks.seconds, ctypes.byref(report))
        ended = report.code == library.ENDED
        results = frame.results() if ended else ()
        writers = [self._writers(area) for area in frame.areas()] if ended else []
        first = ctypes.c_void_p()
        count = self.library.kc_checked_events(ctypes.byref(first))
        data = ctypes.string_at(first.value or 0, count * _EVENT.itemsize) if count else b""
        events = np.frombuffer(data, _EVENT)
        heap = (ctypes.c_int64 * 4)()
        self.library.kc_checked_trace(0)
        self.library.kc_checked_heap(heap)
        found: dict[str, Any] = self._watch.end()
        value = events["id"] >= 0
        nodes = np.where(value, events["id"], self._site_nodes[np.where(value, 0, ~events["id"])])
        outcome = Outcome(results=results, **found)
        return Run(outcome, nodes, events["bits"], events["link"], value, writers, count >= MOST)

    def patched(self, call: Call, patch: Patch, seconds: float) -> tuple[np.ndarray, ...] | None:
        """Results of a call in which one node computes something else; None where it does not end well in time."""
        made = self._frames.get(id(call))
        if made is None:
            frame = Frame(self.signature, call, self.checks)
            made = frame, frame.expanded() if self.level == "llvm" else frame.pointers()
            self._frames[id(call)] = made
        frame, pointers = made
        frame.refill()
        report = library.Report()
        self.library.kc_checked_begin(call.poison, 0, self.checks.allocation)
        self._watch.begin(frame)
        operands = (ctypes.c_int32 * 3)(*patch.operands)
        code = CODES.index(patch.code)
        self.library.kc_checked_patch(patch.node, len(self.nodes), code, patch.flags, operands, patch.constant)
        self.library.kc_checked_call(self._entry, pointers, seconds, ctypes.byref(report))
        self.library.kc_checked_patch(-1, 0, 0, 0, operands, 0)
        results = frame.results() if report.code == library.ENDED else None
        self.library.kc_checked_heap((ctypes.c_int64 * 4)())
        return results

    def _writers(self, area: tuple[int, tuple[int, ...], tuple[int, ...]] | None) -> np.ndarray | None:
        if area is None:
            return None
        start, shape, strides = area
        found = np.full(shape, -1, np.int64)
        for index in np.ndindex(*shape) if found.size <= MOST else ():
            at = start + sum(i * s for i, s in zip(index, strides, strict=True))
            found[index] = self.library.kc_checked_writer(at)
        return found


def node_of(entry: dict[str, Any]) -> Node:
    """A node from what ``kc-trace-values`` tells of it."""
    line, _, col = entry["place"].partition(":")
    place = (int(line), int(col)) if col else (0, 0)
    sources, control = (tuple(entry.get(name, ())) for name in ("sources", "control"))
    return Node(entry["op"], place, entry["type"], sources, control, entry.get("constant"))


def values(bits: np.ndarray, element: str) -> np.ndarray:
    """Words as numbers of an element type: float64, int64 or bool."""
    integer = re.fullmatch(r"([su]?)i(\d+)", element)
    if element == "index" or not element:
        return bits.view(np.int64)
    if integer:
        width = int(integer[2])
        if width == 1:
            return (bits & 1).astype(bool)
        shift = np.uint64(64 - width)
        return (bits << shift).view(np.int64) >> np.int64(shift)
    inner = re.fullmatch(r"complex<(\w+)>", element)
    name = inner[1] if inner else element
    kind = np.dtype(ml_dtypes.bfloat16) if name == "bf16" else dtype_of(name)
    raw = np.ascontiguousarray(bits.astype(f"u{kind.itemsize}")).view(kind)
    with np.errstate(all="ignore"):
        return raw.astype(np.float64)
