"""``kc-schedule-cpu``: kernels get implementations for the CPU."""
from __future__ import annotations

import dataclasses
import importlib
from typing import TYPE_CHECKING, Any, ClassVar

from kc.bindings import ir
from kc.kernels import analyze
from kc.kernels.expr import General
from kc.pass_base import Pass, PassContext
from kc.passes.linalg._static_work import static_work
from kc.rewrite import walk_ops
from kc.schedules.cpu import SCHEDULES
from kc.schedules.cpu.machine import Machine

if TYPE_CHECKING:
    from kc.schedules import Schedule


@dataclasses.dataclass(frozen=True)
class ScheduleCpu(Pass):
    """Analyse each kernel, pick a schedule for it, and build ``@kernel__impl`` beside it.

    The kernel keeps its linalg body, which bufferization reads, and names its implementation::

        func.func private @k(%x: tensor<8x128xf32>, %out: tensor<8x128xf32>) -> tensor<8x128xf32>
            attributes {kc.kernel, kc.impl = @k__impl}
        func.func private @k__impl(%x: memref<8x128xf32>, %out: memref<8x128xf32>) attributes {kc.impl}

    A kernel that no schedule fits stays as it is and becomes loops later; a remark says why.

    ``vector-bytes``, ``registers``: of the widest vector unit (0: 32 registers of 64 bytes, 16 of any other size);
    ``l1``, ``l2``: cache sizes in KiB; ``fma``: whether the target fuses; ``parallel``: whether implementations use
    threads; ``brief``: kernels of at most that many scalar ops get no implementation: they are over sooner than one
    is compiled (see ``kc-mark-brief``).
    """

    name: ClassVar[str] = "kc-schedule-cpu"
    anchor: ClassVar[str] = "builtin.module"
    level: ClassVar[str] = "linalg"
    dialects: ClassVar[tuple[str, ...] | None] = ("arith", "func", "math", "memref", "scf", "vector")
    vector_bytes: int = 32
    registers: int = 0
    l1: int = 32
    l2: int = 512
    fma: bool = True
    parallel: bool = True
    brief: int = 0

    def run(self, op: ir.Operation, ctx: PassContext) -> None:
        registers = self.registers or (32 if self.vector_bytes == 64 else 16)
        machine = Machine(8 * self.vector_bytes, registers, self.l1 << 10, self.l2 << 10, self.fma, self.parallel)
        schedules = [_load(path) for path in SCHEDULES]
        for function in walk_ops(op, "func.func"):
            if "kc.kernel" not in function.attributes or {"kc.impl", "kc.answer"} & set(function.attributes):
                continue
            if self.brief and static_work(function) <= self.brief:
                continue
            kernel = analyze(function)
            if isinstance(kernel, General):
                ctx.remark(function, f"kernel '@{kernel.name}' has no schedule: {kernel.reason}")
                continue
            chosen = next(filter(None, (schedule.pick(kernel, machine) for schedule in schedules)), None)
            if chosen is None:
                ctx.remark(function, f"kernel '@{kernel.name}' has no schedule: no CPU schedule of its family fits")
                continue
            chosen.build(kernel, op)
            function.attributes["kc.impl"] = ir.FlatSymbolRefAttr.get(f"{kernel.name}__impl")


def _load(path: str) -> type[Schedule[Machine]]:
    module, _, attribute = path.partition(":")
    found: Any = getattr(importlib.import_module(module), attribute)
    return found
