"""The two halves of a GPU schedule: a ``gpu.module`` with one kernel, and the host function that launches it.

``Device`` makes ``gpu.module @K_device { llvm.func @K_kernel(...) }``; ``Host`` makes ``func.func private
@K__impl(memrefs)`` with the launch's arithmetic. Both go into the module that holds ``@K``. A tensor's pointer reaches
the kernel as ``!llvm.ptr<1>`` (``!llvm.ptr`` on the host), a run-time extent as ``i64``, a tensor map as ``!llvm.ptr``
with ``llvm.byval``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from kc.bindings import arith, func, ir, llvm, memref
from kc.builder.gpu import Operand, Value, at, const, lift, mlir_type
from kc.kernels.expr import Kernel
from kc.kernels.expr import Operand as ArgumentShape

TENSOR_MAP = "!llvm.ptr {llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant, llvm.align = 64 : i64}"
TENSOR_MAP_TYPES = {"f16": 6, "f32": 7, "bf16": 9}  # CUtensorMapDataType
SWIZZLE_128B = 3
PROMOTE_L2_256B = 3
_DIALECTS = ("arith", "func", "gpu", "llvm", "math", "memref", "nvvm", "scf", "vector")


def load_dialects() -> None:
    """Loads into the current context the dialects that builders emit (kc's contexts load on parse only)."""
    for name in _DIALECTS:
        _ = ir.Context.current.dialects[name]


@dataclasses.dataclass(frozen=True)
class Parameter:
    """A kernel parameter: ``type`` as text, with its attribute dictionary if it has one."""

    name: str
    type: str


class Device:
    """A ``gpu.module`` with one kernel, open for building: ``with device.body: ...``; ``device[name]`` is a parameter.

    ``threads``: block size. ``min_blocks``: blocks that must fit on a multiprocessor (limits registers). ``counters``:
    length of the global ``@counters`` of i32, zero when the module is loaded.
    """

    def __init__(
        self,
        module: ir.Operation,
        kernel: Kernel,
        parameters: Sequence[Parameter],
        threads: int,
        min_blocks: int = 1,
        counters: int = 0,
    ) -> None:
        load_dialects()
        self.module_name, self.name = f"{kernel.name}_device", f"{kernel.name}_kernel"
        self.threads = threads
        arguments = ", ".join(f"%{parameter.name}: {parameter.type}" for parameter in parameters)
        words = f"!llvm.array<{counters} x i32>"
        extra = (
            f"""
              llvm.mlir.global internal @counters() {{addr_space = 1 : i32, alignment = 4 : i64}} : {words} {{
                %zero = llvm.mlir.zero : {words}
                llvm.return %zero : {words}
              }}"""
            if counters
            else ""
        )
        text = f"""
            gpu.module @{self.module_name} {{{extra}
              llvm.mlir.global external @shared() {{addr_space = 3 : i32, alignment = 1024 : i64}} : !llvm.array<0 x i8>
              llvm.func @{self.name}({arguments}) attributes {{gpu.kernel, nvvm.kernel,
                  nvvm.maxntid = array<i32: {threads}, 1, 1>, nvvm.minctasm = {min_blocks} : i32}} {{
                llvm.return
              }}
            }}"""
        parsed = ir.Operation.parse(text)
        parsed = getattr(parsed, "operation", parsed)
        module.regions[0].blocks[0].append(parsed)
        function = list(parsed.regions[0].blocks[0].operations)[-1]
        self.block = function.regions[0].blocks[0]
        self._values = {
            parameter.name: Value(argument)
            for parameter, argument in zip(parameters, self.block.arguments, strict=True)
        }

    @property
    def body(self) -> Any:
        """Insertion point before the kernel's return."""
        return ir.InsertionPoint(self.block.operations[len(self.block.operations) - 1])

    def __getitem__(self, name: str) -> Value:
        return self._values[name]


class Host:
    """``func.func private @K__impl`` with the memref types of ``kernel.operands``; ``with host.body: ...`` then
    ``launch``."""

    def __init__(self, module: Any, kernel: Kernel) -> None:
        self.module = module
        self.kernel = kernel
        self.outer = module.regions[0].blocks[0]
        module.attributes["gpu.container_module"] = ir.UnitAttr.get()
        types = [mlir_type(memory_type(operand)) for operand in kernel.operands]
        with ir.InsertionPoint(self.outer):
            self.function = func.FuncOp(f"{kernel.name}__impl", ir.FunctionType.get(types, []), visibility="private")
        self.function.attributes["kc.impl"] = ir.UnitAttr.get()
        # inlined into a loop, the stack slots of tensor maps would grow with every turn
        self.function.attributes["no_inline"] = ir.UnitAttr.get()
        self.block = self.function.add_entry_block()
        with ir.InsertionPoint(self.block):
            func.ReturnOp([])

    @property
    def body(self) -> Any:
        """Insertion point before the return."""
        return ir.InsertionPoint(self.block.operations[len(self.block.operations) - 1])

    def argument(self, number: int) -> Value:
        return Value(self.block.arguments[number])

    def pointer(self, number: int) -> Value:
        """Where the tensor argument's first element is."""
        index = memref.extract_aligned_pointer_as_index(self.argument(number).ssa)
        return Value(llvm.inttoptr(mlir_type("!llvm.ptr"), arith.index_cast(mlir_type("i64"), index)))

    def scalar(self, number: int) -> Value:
        """A by-value argument; ``index`` becomes ``i64``."""
        value = self.argument(number)
        return value.resize("i64") if value.kind == "index" else value

    def extent(self, number: int, axis: int) -> Value:
        """Axis length of a tensor argument as ``i64``; a constant when static."""
        size = (self.kernel.operands[number].shape or ())[axis]
        if size is not None:
            return const(size, "i64")
        index = memref.dim(self.argument(number).ssa, const(axis, "index").ssa)
        return Value(index).resize("i64")

    def sequence(self, modulus: int) -> Value:
        """A number (i32) that the program's launches count up, modulo ``modulus`` (a power of two): no two launches
        that run at once share it as long as fewer than ``modulus`` do."""
        # The atomic stands in an llvm.func of its own: deallocation refuses functions with effects it does not know.
        if not _declared(self.module, "kc_gpu_next"):
            parsed = ir.Module.parse("""
                llvm.mlir.global internal @kc_gpu_sequence(0 : i32) {addr_space = 0 : i32, alignment = 4 : i64} : i32
                llvm.func internal @kc_gpu_next() -> i32 {
                  %word = llvm.mlir.addressof @kc_gpu_sequence : !llvm.ptr
                  %one = llvm.mlir.constant(1 : i32) : i32
                  %number = llvm.atomicrmw add %word, %one monotonic : !llvm.ptr, i32
                  llvm.return %number : i32
                }""")
            for op in list(parsed.body.operations):
                self.outer.append(op.operation.detach_from_parent())
        number = llvm.call(mlir_type("i32"), [], [], [], callee="kc_gpu_next")
        return Value(number) & (modulus - 1)

    def _array(self, kind: str, values: Sequence[Operand], width: int) -> Value:
        pointer = Value(
            llvm.alloca(
                mlir_type("!llvm.ptr"),
                const(1, "i64").ssa,
                ir.TypeAttr.get(mlir_type(f"!llvm.array<{len(values)} x {kind}>")),
                alignment=8,
            )
        )
        for number, value in enumerate(values):
            llvm.store(lift(value, kind).ssa, at(pointer, width * number).ssa, alignment=width)
        return pointer

    def tensor_map(
        self,
        number: int,
        element: str,
        dims: Sequence[Operand],
        strides: Sequence[Operand],
        box: Sequence[int],
        offset: Value | int = 0,
    ) -> Value:
        """Encodes a tensor map of argument ``number`` from byte ``offset`` on, with 128-byte swizzle; the ``!llvm.ptr``
        to its 128 bytes.

        ``dims`` in elements, innermost first, 0 counted as 1 (the driver refuses 0, and a launch that has nothing to
        read does not read); ``strides`` in bytes of dims[1:]; ``box`` in elements. Out-of-range
        elements read as zero and are not written.
        """
        pointer = mlir_type("!llvm.ptr")
        storage = llvm.alloca(
            pointer, const(1, "i64").ssa, ir.TypeAttr.get(mlir_type("!llvm.array<128 x i8>")), alignment=64
        )
        base = at(self.pointer(number), offset).ssa
        lengths = [lift(extent, "i64").maximum(1) for extent in dims]
        steps = [lift(stride, "i64").maximum(16) for stride in strides] or [const(16, "i64")]
        arrays = [self._array("i64", lengths, 8), self._array("i64", steps, 8), self._array("i32", box, 4)]
        declare(
            self.module,
            "kc_gpu_tensor_map_encode",
            "!llvm.ptr, i64, i64, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64",
        )
        numbers = [
            const(value, "i64").ssa for value in (TENSOR_MAP_TYPES[element], len(dims), SWIZZLE_128B, PROMOTE_L2_256B)
        ]
        func.CallOp(
            [],
            ir.FlatSymbolRefAttr.get("kc_gpu_tensor_map_encode"),
            [storage, numbers[0], numbers[1], base, *(array.ssa for array in arrays), numbers[2], numbers[3]],
        )
        return Value(storage)

    def launch(
        self, device: Device, grid: Operand | Sequence[Operand], arguments: Sequence[Value], shared: int = 0
    ) -> None:
        """A launch of ``device`` with ``grid`` blocks (i64 or int, up to three) and ``shared`` bytes.

        Until buffers are freed it is a call of ``@K__launch {kc.launch = @K_device::@K_kernel}``, because the
        deallocation pass refuses ops whose effects it does not know; ``kc-expand-launches`` makes it a
        ``gpu.launch_func``.
        """
        blocks = list(grid) if isinstance(grid, (list, tuple)) else [grid]
        sizes = [lift(size, "i64").resize("index") for size in [*blocks, 1, 1][:3]]
        sizes += [const(size, "index") for size in (device.threads, 1, 1)]
        operands = [*sizes, const(shared), *arguments]
        name = f"{self.kernel.name}__launch"
        kinds = ", ".join(operand.kind for operand in operands)
        declare(self.module, name, kinds, f" attributes {{kc.launch = @{device.module_name}::@{device.name}}}")
        func.CallOp([], ir.FlatSymbolRefAttr.get(name), [operand.ssa for operand in operands])


def memory_type(operand: ArgumentShape) -> str:
    """``operand`` as an argument of the host function: a memref of identity layout, or the scalar's type."""
    if operand.shape is None:
        return operand.type
    return "memref<" + "".join(f"{'?' if size is None else size}x" for size in operand.shape) + f"{operand.type}>"


def _declared(module: Any, name: str) -> bool:
    return any(
        "sym_name" in op.operation.attributes and op.operation.attributes["sym_name"].value == name
        for op in module.regions[0].blocks[0].operations
    )


def declare(module: Any, name: str, arguments: str, attributes: str = "") -> None:
    """Declares the function ``name`` once in ``module``."""
    if not _declared(module, name):
        module.regions[0].blocks[0].append(ir.Operation.parse(f"func.func private @{name}({arguments}){attributes}"))
