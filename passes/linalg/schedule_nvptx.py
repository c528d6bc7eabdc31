"""``kc-schedule-nvptx``: kernels get implementations for NVIDIA GPUs."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from kc.bindings import ir
from kc.kernels import analyze
from kc.kernels.expr import General
from kc.pass_base import Pass, PassContext
from kc.rewrite import walk_ops
from kc.schedules.gpu.composite import pick_any
from kc.schedules.gpu.features import Features


@dataclasses.dataclass(frozen=True)
class ScheduleNvptx(Pass):
    """Analyse each kernel, pick a GPU schedule for it, and build its device and host code beside it.

    The kernel keeps its linalg body, which bufferization reads, and names its implementation::

        func.func private @k(%x: tensor<8x128xf32>, %out: tensor<8x128xf32>) -> tensor<8x128xf32>
            attributes {kc.kernel, kc.impl = @k__impl}
        gpu.module @k_device { llvm.func @k_kernel(...) attributes {gpu.kernel, nvvm.kernel, ...} { ... } }
        func.func private @k__impl(%x: memref<8x128xf32>, %out: memref<8x128xf32>) attributes {kc.impl} {
          ... gpu.launch_func @k_device::@k_kernel ...
        }

    A kernel that no schedule fits stays as it is and becomes loops later; a remark says why.

    ``chip``: as LLVM names it; ``multiprocessors`` (0: of the usual product with that chip): size of persistent grids;
    ``shared-kib`` (0: of the chip): shared memory that a block may have.
    """

    name: ClassVar[str] = "kc-schedule-nvptx"
    anchor: ClassVar[str] = "builtin.module"
    level: ClassVar[str] = "linalg"
    dialects: ClassVar[tuple[str, ...] | None] = (
        "arith",
        "func",
        "gpu",
        "llvm",
        "math",
        "memref",
        "nvvm",
        "scf",
        "vector",
    )
    chip: str = "sm_90a"
    multiprocessors: int = 0
    shared_kib: int = 0

    def run(self, op: ir.Operation, ctx: PassContext) -> None:
        features = Features.of_chip(self.chip, self.multiprocessors, self.shared_kib)
        for function in walk_ops(op, "func.func"):
            if "kc.kernel" not in function.attributes or {"kc.impl", "kc.answer"} & set(function.attributes):
                continue
            kernel = analyze(function)
            if isinstance(kernel, General):
                ctx.remark(function, f"kernel '@{kernel.name}' has no schedule: {kernel.reason}")
                continue
            chosen = pick_any(kernel, features)
            if chosen is None:
                ctx.remark(function, f"kernel '@{kernel.name}' has no schedule: no GPU schedule of its family fits")
                continue
            chosen.build(kernel, op)
            function.attributes["kc.impl"] = ir.FlatSymbolRefAttr.get(f"{kernel.name}__impl")
