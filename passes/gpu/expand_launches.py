"""``kc-expand-launches``: launches that schedules wrote as calls become ``gpu.launch_func``."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, ClassVar

from kc.bindings import gpu, ir
from kc.pass_base import Pass
from kc.rewrite import walk_ops

if TYPE_CHECKING:
    from kc.pass_base import PassContext

_GEOMETRY = 7  # leading arguments: grid, block, bytes of shared memory


@dataclasses.dataclass(frozen=True)
class ExpandLaunches(Pass):
    """Replace calls of ``@k__launch {kc.launch = @module::@kernel}`` by launches of that kernel.

    ``gpu.launch_func`` does not tell what it reads and writes, and ``ownership-based-buffer-deallocation`` refuses a
    program with such an op; so schedules write a call, and this pass runs when buffers are settled. Arguments of the
    call: grid
    (x, y, z), block (x, y, z), bytes of dynamic shared memory (i32), then the kernel's. ::

        func.func private @k__launch(index, index, index, index, index, index, i32, !llvm.ptr<1>)
            attributes {kc.launch = @k_device::@k_kernel}
        call @k__launch(%gx, %gy, %gz, %bx, %by, %bz, %bytes, %p) : (...) -> ()

    becomes ``gpu.launch_func @k_device::@k_kernel blocks in (%gx, %gy, %gz) threads in (%bx, %by, %bz)
    dynamic_shared_memory_size %bytes args(%p : !llvm.ptr<1>)``.
    """

    name: ClassVar[str] = "kc-expand-launches"
    anchor: ClassVar[str] = "builtin.module"
    level: ClassVar[str] = "gpu"
    dialects: ClassVar[tuple[str, ...]] = ("func", "gpu")

    def run(self, op: ir.Operation, ctx: PassContext) -> None:
        """See the class."""
        targets: dict[str, list[str]] = {}
        declarations = []
        for function in walk_ops(op, "func.func"):
            if "kc.launch" not in function.attributes:
                continue
            reference = ir.SymbolRefAttr(function.attributes["kc.launch"]).value
            if len(reference) != 2:
                ctx.error(
                    function,
                    f"'kc.launch' must name a module and a kernel in it, not {function.attributes['kc.launch']}",
                )
            targets[ir.StringAttr(function.attributes["sym_name"]).value] = reference
            declarations.append(function)
        for call in walk_ops(op, "func.call"):
            reference = targets.get(ir.FlatSymbolRefAttr(call.attributes["callee"]).value)
            if reference is None:
                continue
            operands = list(call.operands)
            if len(operands) < _GEOMETRY:
                ctx.error(call, "a launch needs a grid, a block and the size of shared memory")
            with ir.InsertionPoint(call), call.location:
                gpu.LaunchFuncOp(
                    reference,
                    tuple(operands[:3]),
                    tuple(operands[3:6]),
                    operands[_GEOMETRY:],
                    dynamic_shared_memory_size=operands[6],
                )
            call.erase()
        for function in declarations:
            function.erase()
