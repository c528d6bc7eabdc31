"""Levels linalg, loops and llvm: compiled for this machine, called with watched buffers."""
from __future__ import annotations

import ctypes
import re
import signal
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from kc.agents.execution import library
from kc.agents.execution.calls import Call, Checks, Fault, Outcome
from kc.agents.execution.errors import ExecutionError
from kc.agents.execution.frame import Frame
from kc.agents.execution.signature import Signature
from kc.agents.execution.watch import Watch

if TYPE_CHECKING:
    from kc.bindings import ir

_GUARDS = {"none": 0, "before": 1, "after": 2}
_KNOWN = re.compile(
    r"(_mlir_memref_to_llvm_(aligned_alloc|alloc|free)|memrefCopy|kc_fail_check|kc_raise|kc_shadow_\w+|abort"
    r"|(a?(sin|cos|tan)h?|atan2|exp|exp2|expm1|log|log2|log10|log1p|pow|fmod|sqrt|cbrt|erfc?|fma|fabs|ceil|floor|trunc"
    r"|round|roundeven|rint|nearbyint|copysign|fm(ax|in)|ldexp|hypot)f?)$"
)
_HEAP = ((1, "red-zone"), (2, "wrong-free"), (4, "use-after-free"))


def run(text: str, level: str, calls: Sequence[Call], checks: Checks) -> Iterator[Outcome]:
    """See ``kc.agents.execution``."""
    from kc.agents.execution import resources
    from kc.context import make_context, parse_module

    module = parse_module(text, make_context(), "module")
    resources.spell_out(module)
    program = Program(module, level, checks)
    for call in calls:
        yield program.call(call)


class Runner:
    """Machine code that is called on watched buffers: ``_entry`` is a function of what ``pointers`` gives."""

    _entry: int | None

    def __init__(self, level: str, checks: Checks, signature: Signature):
        self.level, self.checks, self.signature = level, checks, signature
        self.library = library.load()
        self._watch: Watch | None = None

    def pointers(self, frame: Frame) -> Any:
        """The arguments of one call."""
        raise NotImplementedError

    def call(self, call: Call) -> Outcome:
        """Call ``@main`` once."""
        frame = Frame(self.signature, call, self.checks)
        self.library.kc_checked_begin(call.poison, _GUARDS[call.guard], self.checks.allocation)
        report = library.Report()
        if self._watch:
            self._watch.begin(frame)
        frame.protect()
        started = time.process_time()
        pointers = self.pointers(frame)
        self.library.kc_checked_call(self._entry, pointers, self.checks.seconds, ctypes.byref(report))
        seconds = time.process_time() - started
        frame.unprotect()
        heap = (ctypes.c_int64 * 4)()
        fault = None if report.code == library.ENDED else self._fault(report, frame)
        results = frame.results() if fault is None else ()  # before the heap is looked at: they may lie in it
        self.library.kc_checked_heap(heap)
        found = self._watch.end() if self._watch else {}
        return Outcome(
            results=results,
            fault=fault,
            mutated=frame.mutated(),
            outside=frame.outside(),
            leaked=heap[1] if self.level != "linalg" and fault is None else 0,
            heap=tuple(name for bit, name in _HEAP if heap[0] & bit),
            peak=heap[2],
            seconds=seconds,
            **found,
        )

    def _fault(self, report: library.Report, frame: Frame) -> Fault:
        message = report.message.decode(errors="replace")
        if report.code == library.TIME:
            return Fault("time", f"ran for more than {self.checks.seconds:g} s of CPU time")
        if report.code == library.ALLOCATION:
            return Fault("allocation", message)
        if report.code == library.CHECK:
            return Fault("abort", message)
        if report.code == library.CONVENTION:
            return Fault("convention", message)
        number = signal.Signals(report.signal).name
        if report.stack:
            return Fault("stack", "the stack has no more room")
        if report.signal == signal.SIGFPE:
            return Fault("arithmetic", "a division of integers trapped")
        if report.signal in (signal.SIGABRT, signal.SIGILL, signal.SIGTRAP):
            return Fault("abort", f"the code ended itself ({number})")
        verb = "wrote" if report.write else "read"
        for position, buffer in frame.buffers():
            if buffer.contains(report.address):
                offset = buffer.offset(report.address)
                where = f"byte {offset} of argument {position}, whose buffer has {buffer.bytes}"
                if 0 <= offset < buffer.bytes:
                    return Fault("read-only", f"wrote {where} and may not be written", position)
                return Fault("bounds", f"{verb} {where}", position)
        allocation = self.library.kc_checked_guarded(report.address)
        if allocation >= 0:
            return Fault("bounds", f"{verb} beside the allocation number {allocation}")
        return Fault("memory", f"{verb} address {report.address:#x}, which is nobody's ({number})")


class Program(Runner):
    """A module (changed) compiled once, to be called often. ``signature``: what its values are, if not what it says."""

    def __init__(self, module: ir.Module, level: str, checks: Checks, signature: Signature | None = None):
        from kc.agents.execution.lowering import lower
        from kc.bindings import execution_engine

        super().__init__(level, checks, signature or Signature.of(module, checks.roles))
        how: dict[str, Any] = {"instrument": checks.instrument, "order": checks.order, "undefined": checks.undefined}
        self.sites = lower(module, level, **how)
        check_symbols(module)
        self._watch = Watch(self.library, self.sites, checks.findings) if checks.instrument else None
        ctypes.CDLL("libm.so.6", ctypes.RTLD_GLOBAL)
        try:
            self._engine = execution_engine.ExecutionEngine(
                module, opt_level=1 if checks.instrument else 2, shared_libs=[str(library.path())]
            )
            self._entry = self._engine.raw_lookup("main" if level == "llvm" else "_mlir_ciface_main")
        except RuntimeError as error:
            left = left_over(module)
            why = f"'{left.name}' is not lowered to the level of the machine" if left is not None else error
            raise ExecutionError("compile", f"no machine code: {why}") from None
        if not self._entry:
            raise ExecutionError("compile", "no machine code: a symbol is missing")

    def pointers(self, frame: Frame) -> Any:
        """What the packed interface of ``@main`` takes."""
        return frame.expanded() if self.level == "llvm" else frame.pointers()


def left_over(module: ir.Module) -> ir.Operation | None:
    """The first op that no pass brought to the LLVM dialect."""
    from kc.rewrite import walk_ops

    foreign = (op for op in walk_ops(module) if not op.name.startswith(("llvm.", "builtin.")))
    return next(foreign, None)


def is_known(name: str) -> bool:
    """Whether code under test may call the function ``name``."""
    return _KNOWN.match(name) is not None


def check_symbols(module: ir.Module) -> None:
    """Code under test may call what kc gives it and the C library's mathematics, nothing else of this process."""
    from kc.bindings import ir

    for op in module.body.operations:
        operation = op.operation
        if operation.name not in ("llvm.func", "llvm.mlir.global") or len(operation.regions[0].blocks):
            continue
        name = ir.StringAttr(operation.attributes["sym_name"]).value
        if "value" not in operation.attributes and not _KNOWN.match(name):
            raise ExecutionError("unsupported", f"uses '@{name}', which no executor provides", operation.name)
