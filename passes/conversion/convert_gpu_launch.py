"""``kc-convert-gpu-launch``: ``gpu.launch_func`` in host code becomes a call of ``kc_gpu_launch``."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

from kc.bindings import ir
from kc.pass_base import Pass, PassContext
from kc.passes.gpu._launch import Arith
from kc.passes.gpu._memory import element_bytes
from kc.passes.gpu._runtime import Runtime, entry_point, integer, pointer

#: module attribute: the kernel table, in the order of the index that kc_gpu_launch takes
KERNELS = "kc.kernels"
_SLOT = 8  # bytes of one argument slot


@dataclasses.dataclass(frozen=True)
class ConvertGpuLaunch(Pass):
    """Passes kernel arguments as the driver wants them: an array of pointers to the values.

    Every function that launches gets two stack arrays at its entry, slots of 8 bytes and pointers to them, which its
    launches share (the driver copies arguments at launch). An argument is stored in its slot; a memref takes one slot
    for each field of its descriptor (base, aligned, offset, sizes, strides), as ``convert-gpu-to-nvvm`` declares them
    on the device; the address of an argument whose kernel parameter is ``llvm.byval`` (a tensor map) is passed as it
    is.

    The module gets ``kc.kernels``: an array of ``{module, name, threads, shared}``, one for each kernel, in the order
    of the index that ``kc_gpu_launch`` takes; ``threads`` (of a block) and ``shared`` (bytes of dynamic shared
    memory) are the most that any launch asks for, 0 where that is not a constant.

    Raises an error for an asynchronous launch, and for an argument type that has no place in a slot.

    ::

        gpu.launch_func @m::@k blocks in (%g, %c1, %c1) threads in (%c256, %c1, %c1) args(%n : index)
        // becomes
        llvm.store %n64, %slot0
        llvm.call @kc_gpu_launch(0, %g64, 1, 1, 256, 1, 1, 0, %pointers)
    """

    name: ClassVar[str] = "kc-convert-gpu-launch"
    anchor: ClassVar[str] = "builtin.module"
    level: ClassVar[tuple[str, str]] = ("gpu", "gpu")

    def run(self, op: ir.Operation, ctx: PassContext) -> None:
        table, runtime = _Table(op), Runtime(op)
        for function in [f.operation for f in op.regions[0].blocks[0].operations if f.operation.name == "func.func"]:
            launches: list[Any] = []

            def visit(inner: Any, into: list[Any] = launches) -> ir.WalkResult:
                if inner.name == "gpu.launch_func":
                    into.append(inner.operation)
                return ir.WalkResult.ADVANCE

            function.walk(visit)
            if launches:
                _Function(runtime, launches, table, ctx).convert()
        op.attributes[KERNELS] = table.attribute()
        if "gpu.container_module" in op.attributes:
            del op.attributes["gpu.container_module"]


class _Table:
    """The kernels of a module, in the order of its ``gpu.module`` ops."""

    def __init__(self, module: Any) -> None:
        self.index: dict[tuple[str, str], int] = {}
        self.kernels: list[Any] = []
        self.limits: list[list[int]] = []  # threads, shared bytes
        for holder in module.regions[0].blocks[0].operations:
            if holder.operation.name != "gpu.module":
                continue
            for function in holder.regions[0].blocks[0].operations:
                if is_kernel(function.operation):
                    key = (symbol(holder), symbol(function))
                    self.index[key] = len(self.kernels)
                    self.kernels.append(function.operation)
                    self.limits.append([0, 0])

    def attribute(self) -> Any:
        i64 = ir.IntegerType.get_signless(64)
        rows = []
        for (module, name), (threads, shared) in zip(self.index, self.limits, strict=False):
            rows.append(
                ir.DictAttr.get(
                    {
                        "module": ir.StringAttr.get(module),
                        "name": ir.StringAttr.get(name),
                        "threads": ir.IntegerAttr.get(i64, threads),
                        "shared": ir.IntegerAttr.get(i64, shared),
                    }
                )
            )
        return ir.ArrayAttr.get(rows)


class _Function:
    """The launches of one host function."""

    def __init__(self, runtime: Runtime, launches: list[Any], table: _Table, ctx: PassContext) -> None:
        self.runtime, self.launches, self.table, self.ctx = runtime, launches, table, ctx
        self.pointer_type = ir.Type.parse("!llvm.ptr")

    def convert(self) -> None:
        plans = [self._plan(launch) for launch in self.launches]
        slots = max(sum(_slots(value.type) for value, byval in plan if not byval) for plan in plans)
        arguments = max(sum(1 if byval else _fields(value.type) for value, byval in plan) for plan in plans)
        with entry_point(self.launches[0]):
            a = Arith(self.launches[0].location)
            self.slots = self._array(a, "i64", max(slots, 1))
            self.pointers = self._array(a, "!llvm.ptr", max(arguments, 1))
        for launch, plan in zip(self.launches, plans, strict=False):
            with ir.InsertionPoint(launch):
                self._launch(launch, plan)
            launch.erase()

    def _array(self, a: Arith, element: str, count: int) -> Any:
        size = a.constant(count, ir.IntegerType.get_signless(32))
        return a.op("llvm.alloca", [size], [self.pointer_type], {"elem_type": ir.TypeAttr.get(ir.Type.parse(element))})

    def _plan(self, launch: Any) -> list[tuple[Any, bool]]:
        """The kernel's operands, each with whether it is passed by its address."""
        view = launch.opview
        segments = list(ir.DenseI32ArrayAttr(launch.attributes["operandSegmentSizes"]))
        if segments[0] or len(launch.results) or segments[-1]:
            self.ctx.error(launch, "asynchronous launches are not converted: kc runs one stream, in order")
        kernel = self.table.kernels[self._index(launch)]
        operands = list(view.kernelOperands)
        by_address = byval_parameters(kernel)
        for value in operands:
            try:
                _slots(value.type)
            except ValueError:
                self.ctx.error(launch, f"a kernel argument of type {value.type} cannot be passed")
        return [(value, i in by_address) for i, value in enumerate(operands)]

    def _index(self, launch: Any) -> int:
        reference = ir.SymbolRefAttr(launch.attributes["kernel"]).value
        key = (reference[0], reference[1])
        if key not in self.table.index:
            self.ctx.error(launch, f"no kernel @{key[0]}::@{key[1]} in this module")
        return self.table.index[key]

    def _launch(self, launch: Any, plan: list[tuple[Any, bool]]) -> None:
        a, view = Arith(launch.location), launch.opview
        slot = parameter = 0
        for value, by_address in plan:
            if by_address:
                self._store(a, value, self._at(a, self.pointers, "!llvm.ptr", parameter))
                parameter += 1
                continue
            for field in _expand(a, value):
                parts = [field]
                if isinstance(field.type, ir.ComplexType):  # one parameter, a structure of two numbers
                    part = field.type.element_type
                    parts = [a.op(f"complex.{half}", [field], [part]) for half in ("re", "im")]
                place = self._at(a, self.slots, "i64", slot)
                for position, part in enumerate(parts):
                    self._store(a, part, self._at(a, place, str(part.type), position))
                self._store(a, place, self._at(a, self.pointers, "!llvm.ptr", parameter))
                slot += _words(field.type)
                parameter += 1
        sizes = [view.gridSizeX, view.gridSizeY, view.gridSizeZ, view.blockSizeX, view.blockSizeY, view.blockSizeZ]
        shared = view.dynamicSharedMemorySize
        i64 = ir.IntegerType.get_signless(64)
        shared_bytes = integer(a, 0) if shared is None else a.op("arith.extui", [shared], [i64])
        index = self._index(launch)
        threads = [_constant(size) for size in sizes[3:]]
        limits = self.table.limits[index]
        limits[0] = max(limits[0], threads[0] * threads[1] * threads[2])
        limits[1] = max(limits[1], 0 if shared is None else _constant(shared))
        self.runtime.call(
            a,
            "kc_gpu_launch",
            [integer(a, index), *(integer(a, size) for size in sizes), shared_bytes, self.pointers],
        )

    def _at(self, a: Arith, array: Any, element: str, position: int) -> Any:
        if position == 0:
            return array
        return a.op(
            "llvm.getelementptr",
            [array],
            [self.pointer_type],
            {
                "rawConstantIndices": ir.DenseI32ArrayAttr.get([position]),
                "elem_type": ir.TypeAttr.get(ir.Type.parse(element)),
            },
        )

    def _store(self, a: Arith, value: Any, place: Any) -> None:
        a.op("llvm.store", [value, place], [])


def symbol(op: Any) -> str:
    """The symbol's name of ``op``."""
    return str(ir.StringAttr(op.attributes["sym_name"]).value)


def is_kernel(op: Any) -> bool:
    """Whether ``op`` is a device function that the host may launch."""
    return op.name in ("gpu.func", "llvm.func") and any(
        mark in op.attributes for mark in ("kernel", "gpu.kernel", "nvvm.kernel")
    )


def byval_parameters(kernel: Any) -> set[int]:
    """Numbers of the kernel's parameters that are passed by value of what they point to."""
    if "arg_attrs" not in kernel.attributes:
        return set()
    attributes = list(ir.ArrayAttr(kernel.attributes["arg_attrs"]))
    return {i for i, entry in enumerate(attributes) if "llvm.byval" in ir.DictAttr(entry)}


def _fields(kind: Any) -> int:
    return 3 + 2 * kind.rank if isinstance(kind, ir.MemRefType) else 1


def _is_pointer(kind: Any) -> bool:
    return str(kind).startswith("!llvm.ptr")  # of any address space


def _words(kind: Any) -> int:
    if _is_pointer(kind):
        return 1
    return (element_bytes(kind) + _SLOT - 1) // _SLOT


def _slots(kind: Any) -> int:
    """8-byte slots that an argument takes; raises ValueError for a type that cannot be passed."""
    if isinstance(kind, ir.MemRefType):
        return _fields(kind)
    if _is_pointer(kind) or isinstance(kind, (ir.IndexType, ir.IntegerType, ir.FloatType, ir.ComplexType)):
        return _words(kind)
    raise ValueError(str(kind))


def _expand(a: Arith, value: Any) -> list[Any]:
    """The values that go into slots."""
    kind = value.type
    if isinstance(kind, ir.IndexType):
        return [integer(a, value)]
    if isinstance(kind, ir.IntegerType) and kind.width < 8:
        return [a.op("arith.extui", [value], [ir.IntegerType.get_signless(8)])]
    if not isinstance(kind, ir.MemRefType):
        return [value]
    rank = kind.rank
    base = ir.MemRefType.get([], kind.element_type, memory_space=kind.memory_space, loc=a.location)
    fields = a.op("memref.extract_strided_metadata", [value], [base] + [a.index_type] * (1 + 2 * rank))
    address = pointer(a, value)
    return [address, address, *(integer(a, field) for field in fields[1:])]


def _constant(value: Any) -> int:
    """The value of an ``arith.constant``, 0 for anything else."""
    if isinstance(value, ir.BlockArgument) or value.owner.operation.name != "arith.constant":
        return 0
    return int(ir.IntegerAttr(value.owner.operation.attributes["value"]).value)
