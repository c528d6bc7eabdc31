"""``kc-gpu-host-memory``: host code reaches device memory through the runtime, never by a load or a store."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, ClassVar

from kc.bindings import ir
from kc.pass_base import Pass, PassContext
from kc.passes.gpu._launch import Arith, Extent
from kc.passes.gpu._memory import (
    element_bytes,
    element_offset,
    extent_of,
    is_contiguous,
    is_host_memory,
    load,
    store,
    strides_and_offset,
)
from kc.passes.gpu._runtime import Runtime, entry_point, integer, pointer


@dataclasses.dataclass(frozen=True)
class GpuHostMemory(Pass):
    """Replaces host accesses to device memory by copies.

    In host code (outside ``gpu.launch``) every buffer is the device's, except stack slots (``memref.alloca``) and
    globals of the host's object (``memref.get_global``).

    - ``memref.load`` becomes ``kc_gpu_memcpy_d2h`` into a stack slot, which waits for the stream, and a load of the
      slot: this is how a loop's predicate comes from the device.
    - ``memref.store`` becomes a store to a slot and ``kc_gpu_memcpy_h2d``.
    - ``memref.copy`` of contiguous buffers becomes one ``kc_gpu_memcpy_d2d`` (``h2d``, ``d2h``).
    - a global that anything but a host load uses is copied to a device buffer first.

    Raises an error for a ``memref.copy`` between host and device of a buffer that is not contiguous.

    ::

        %p = memref.load %flag[] : memref<i1>
        // becomes
        %slot = memref.alloca() : memref<i1>                    // once, at the function's entry
        llvm.call @kc_gpu_memcpy_d2h(%slot_ptr, %flag_ptr, 1)
        %p = memref.load %slot[] : memref<i1>
    """

    name: ClassVar[str] = "kc-gpu-host-memory"
    anchor: ClassVar[str] = "builtin.module"
    level: ClassVar[str] = "gpu"

    def run(self, op: ir.Operation, ctx: PassContext) -> None:
        functions = [f.operation for f in op.regions[0].blocks[0].operations if f.operation.name == "func.func"]
        runtime = Runtime(op)
        for function in functions:
            for access in host_ops(function, ("memref.get_global",)):
                self._global(access)
            slots: dict[str, Any] = {}
            for access in host_ops(function, ("memref.load", "memref.store", "memref.copy")):
                if access.name == "memref.copy":
                    self._copy(access, runtime, ctx)
                else:
                    self._element(access, slots, runtime)

    def _global(self, op: Any) -> None:
        """A global that a kernel or a copy reads: its bytes go to a device buffer, which takes its place."""
        result = op.results[0]
        users = [use.owner.operation for use in result.uses]
        if all(user.name == "memref.load" and not _inside_launch(user, op) for user in users):
            return
        with ir.InsertionPoint.after(op):
            a = Arith(op.location)
            alignment = {"alignment": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), 64)}
            segments = {"operandSegmentSizes": ir.DenseI32ArrayAttr.get([0, 0])}
            device = a.op("memref.alloc", [], [result.type], {**alignment, **segments})
            copy = ir.Operation.create("memref.copy", operands=[result, device], loc=op.location)
        result.replace_all_uses_except(device, copy)

    def _element(self, op: Any, slots: dict[str, Any], runtime: Runtime) -> None:
        is_load = op.name == "memref.load"
        buffer = op.operands[0 if is_load else 1]
        if is_host_memory(buffer):
            return
        at = list(op.operands)[1 if is_load else 2 :]
        element = buffer.type.element_type
        key = str(element)
        if key not in slots:
            with entry_point(op):
                segments = {"operandSegmentSizes": ir.DenseI32ArrayAttr.get([0, 0])}
                slots[key] = Arith(op.location).op(
                    "memref.alloca", [], [ir.MemRefType.get([], element, loc=op.location)], segments
                )
        slot = slots[key]
        with ir.InsertionPoint(op):
            a = Arith(op.location)
            size = element_bytes(element)
            device = pointer(a, buffer, a.mul(element_offset(a, buffer, at), size))
            if is_load:
                runtime.call(a, "kc_gpu_memcpy_d2h", [pointer(a, slot), device, integer(a, size)])
                op.results[0].replace_all_uses_with(load(a, slot, []))
            else:
                store(a, op.operands[0], slot, [])
                runtime.call(a, "kc_gpu_memcpy_h2d", [device, pointer(a, slot), integer(a, size)])
        op.erase()

    def _copy(self, op: Any, runtime: Runtime, ctx: PassContext) -> None:
        source, target = op.operands
        hosts = [is_host_memory(value) for value in (source, target)]
        if all(hosts):
            return
        if not (is_contiguous(source.type) and is_contiguous(target.type)):
            ctx.error(
                op, "a copy of a buffer that is not contiguous: run kc-convert-linalg-to-gpu before kc-gpu-host-memory"
            )
        callee = {(True, False): "kc_gpu_memcpy_h2d", (False, True): "kc_gpu_memcpy_d2h"}.get(
            (hosts[0], hosts[1]), "kc_gpu_memcpy_d2d"
        )
        with ir.InsertionPoint(op):
            a = Arith(op.location)
            size = element_bytes(source.type.element_type)
            known = source if source.type.has_static_shape else target
            count = a.product([extent_of(a, known, axis) for axis in range(known.type.rank)])
            ends = [pointer(a, value, a.mul(_offset(a, value), size)) for value in (target, source)]
            runtime.call(a, callee, [*ends, integer(a, a.mul(count, size))])
        op.erase()


def host_ops(function: Any, names: Sequence[str]) -> list[Any]:
    """The ops called ``names`` in ``function``, outside of ``gpu.launch`` and of linalg bodies, in order."""
    found: list[Any] = []

    def visit(op: Any) -> ir.WalkResult:
        if op.name == "gpu.launch" or op.name.startswith("linalg."):
            return ir.WalkResult.SKIP
        if op.name in names:
            found.append(op.operation)
        return ir.WalkResult.ADVANCE

    function.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found


def _inside_launch(op: Any, outside: Any) -> bool:
    while op.parent is not None and op != outside.parent:
        if op.name == "gpu.launch":
            return True
        op = op.parent.operation
    return False


def _offset(a: Arith, buffer: Any) -> Extent:
    return strides_and_offset(a, buffer)[1]
