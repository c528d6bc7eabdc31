"""``kc-gpu-merge-kernels``: one ``gpu.module`` for all outlined kernels, equal kernels once."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

from kc.bindings import ir
from kc.pass_base import Pass, PassContext


@dataclasses.dataclass(frozen=True)
class GpuMergeKernels(Pass):
    """Moves the kernels that ``gpu-kernel-outlining`` made into one module and drops duplicates.

    Outlining makes one ``gpu.module`` per launch; code generation and module loading cost per module, and a network
    repeats its layers. A ``gpu.func`` whose text equals that of an earlier one, but for its name, is launched under
    the earlier name. Kernels get the name of the host function that launches them first, and a number. Modules with
    anything but a single ``gpu.func`` (a schedule's) are left as they are.

    ::

        gpu.module @main_kernel   { gpu.func @main_kernel(%x: memref<4xf32>) kernel {..} }
        gpu.module @main_kernel_0 { gpu.func @main_kernel(%x: memref<8xf32>) kernel {..} }
        // becomes
        gpu.module @kernels { gpu.func @main_0(..) kernel {..}  gpu.func @main_1(..) kernel {..} }   // no other modules
    """

    name: ClassVar[str] = "kc-gpu-merge-kernels"
    anchor: ClassVar[str] = "builtin.module"
    level: ClassVar[str] = "gpu"
    #: name of the module that takes all kernels
    into: str = "kernels"

    def run(self, op: ir.Operation, ctx: PassContext) -> None:
        body = op.regions[0].blocks[0]
        sources = {}
        for inner in [o.operation for o in body.operations]:
            if inner.name == "gpu.module":
                held = [o.operation for o in inner.regions[0].blocks[0].operations]
                if len(held) == 1 and held[0].name == "gpu.func" and "kernel" in held[0].attributes:
                    sources[_symbol(inner)] = (inner, held[0])
        if not sources:
            return
        taken = {_symbol(o.operation) for o in body.operations if "sym_name" in o.operation.attributes}
        if self.into in taken:
            ctx.error(
                op, f"the module has a symbol @{self.into} already: choose another name with {self.name}{{into=NAME}}"
            )
        with ir.InsertionPoint.at_block_begin(body):
            merged = ir.Operation.create(
                "gpu.module", regions=1, attributes={"sym_name": ir.StringAttr.get(self.into)}, loc=op.location
            )
        target = merged.regions[0].blocks.append()
        known: dict[str, str] = {}  # text of a kernel without its name -> the name it is launched by
        counts: dict[str, int] = {}
        for launch, owner in _launches(op):
            holder, _, _ = str(launch.attributes["kernel"]).partition("::")
            if holder.lstrip("@") not in sources:
                continue
            _, kernel = sources[holder.lstrip("@")]
            text = _text(kernel)
            if text not in known:
                number = counts.get(owner, 0)
                counts[owner] = number + 1
                known[text] = f"{owner}_{number}"
                copy = kernel.clone(ip=ir.InsertionPoint(target))
                copy.attributes["sym_name"] = ir.StringAttr.get(known[text])
            launch.attributes["kernel"] = ir.SymbolRefAttr.get([self.into, known[text]])
        for holder_op, _ in sources.values():
            holder_op.erase()


def _launches(module: Any) -> list[tuple[Any, str]]:
    """Every ``gpu.launch_func`` with the name of the function around it, in order."""
    found: list[tuple[Any, str]] = []
    for function in [o.operation for o in module.regions[0].blocks[0].operations]:
        if function.name != "func.func":
            continue
        name = _symbol(function)

        def visit(op: Any, owner: str = name) -> ir.WalkResult:
            if op.name == "gpu.launch_func":
                found.append((op.operation, owner))
            return ir.WalkResult.ADVANCE

        function.walk(visit)
    return found


def _text(kernel: Any) -> str:
    """The kernel as text without its name (locations are not printed)."""
    name = _symbol(kernel)
    text: str = kernel.get_asm(use_local_scope=True)
    return text.replace(f"@{name}(", "@(", 1)


def _symbol(op: Any) -> str:
    return str(ir.StringAttr(op.attributes["sym_name"]).value)
