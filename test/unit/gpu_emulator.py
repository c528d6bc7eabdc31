"""Run a program of the NVIDIA road without a GPU: its host code as it is, its general kernels compiled for this
machine.

``Emulator`` takes a module at the gpu level after the phase ``gpu-outline``. Host code goes down the rest of the road
to an object; every ``gpu.func`` becomes a function of block and thread number. The runtime's GPU calls are callbacks:
memory is plain host memory behind guard zones, and ``kc_gpu_launch`` calls the kernel once per thread, with OS
threads and a real barrier where the kernel has one, else one after the other from the last to the first: a kernel
whose result depends on the order in which loops run shows it.
"""

from __future__ import annotations

import ctypes
import threading
from typing import Any

import ml_dtypes
import numpy as np

_GUARD = 256  # bytes before and after every device buffer
_FILL = 0xA5
_DTYPES = {
    "f64": np.float64,
    "f32": np.float32,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "i64": np.int64,
    "i32": np.int32,
    "i16": np.int16,
    "i8": np.int8,
    "i1": np.bool_,
    "ui64": np.uint64,
    "ui32": np.uint32,
    "ui8": np.uint8,
    "complex64": np.complex64,
    "complex128": np.complex128,
}
_FROM_C = ("memcpy", "memset", "memmove", "pow", "fmod", "fmodf")
_NUMBERS = {"block_id": "bx", "thread_id": "tx", "grid_dim": "gx", "block_dim": "nx"}


def _truncate(value: float) -> float:
    """``float`` to bfloat16 bits, as a float that has them in its low half."""
    bits = np.array(value, np.float32).astype(ml_dtypes.bfloat16).view(np.uint16)
    return float(bits.astype(np.uint32).view(np.float32))


def compile_to_outline(source: str | bytes, *, front_end: bool = False, kernels: bool = False, block: int = 32) -> Any:
    """Take ``source``, linalg as text or (``front_end``) what a front end reads, down to the phase ``gpu-outline``.

    Without ``kernels`` no kernels are formed, every linalg op is mapped by itself; schedules are left out in any case,
    since what they build cannot be emulated. Blocks are small: a thread of a kernel with barriers is a thread here.
    """
    from kc.context import make_context, parse_module
    from kc.frontends import load
    from kc.pipelines.roads import road
    from kc.pipelines.run import run_phases, up_to
    from kc.targets import get_target

    if front_end:
        loaded = load(source, "main")
        module, start = loaded.module, loaded.level
    else:
        module, start = parse_module(source, make_context(), "test.mlir"), "linalg"
    left_out = ("gpu-schedule",) if kernels else ("gpu-schedule", "form-kernels")
    phases = [p for p in up_to(road(get_target("nvptx"), start), "gpu-outline", start) if p.name not in left_out]
    run_phases(module, phases, {"block": str(block)})
    return module


class Emulator:
    """One program, ready to run; what the compiler made parameters of the entries is passed along."""

    def __init__(self, module: Any) -> None:
        from kc.codegen import emit, llvm_ir
        from kc.pass_manager import run_pipeline
        from kc.pipelines.nvptx import PHASES
        from kc.pipelines.run import run_phases
        from kc.targets.nvptx import kernel_table, split

        self.entries = _entries(module)
        self.kernels = _kernels(module)  # before the host's phase, which only wants the modules' symbols
        device = _as_functions(module)
        run_pipeline(module, "builtin.module(kc-convert-gpu-launch)")
        self.table = kernel_table(module)
        for op in [o.operation for o in module.body.operations if o.operation.name == "gpu.module"]:
            op.erase()  # the kernels are not at the llvm level, which the host's phase would have them
        run_phases(module, [phase for phase in PHASES if phase.name == "gpu-host"])
        host, _ = split(module)
        objects = [emit.host_object(llvm_ir.translate(op), opt="O1") for op in (host, device.operation)]
        self.signatures = _signatures(device)
        self._allocations: dict[int, tuple[Any, int]] = {}
        self.launches: list[tuple[str, int, int]] = []  # (kernel, grid, block) as they happened
        self.copies: list[str] = []
        self.errors: list[str] = []
        self._link(objects)

    def _link(self, objects: list[bytes]) -> None:
        import llvmlite.binding as llvm

        from kc.codegen import elf

        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        machine = llvm.Target.from_default_triple().create_target_machine(codemodel="jitdefault", jit=True)
        self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
        i64, ptr = ctypes.c_int64, ctypes.c_void_p
        self._callbacks = {
            "_mlir_memref_to_llvm_aligned_alloc": ctypes.CFUNCTYPE(ptr, i64, i64)(
                lambda alignment, size: self._alloc(size)
            ),
            "_mlir_memref_to_llvm_alloc": ctypes.CFUNCTYPE(ptr, i64)(self._alloc),
            "_mlir_memref_to_llvm_free": ctypes.CFUNCTYPE(None, ptr)(self._free),
            "kc_gpu_launch": ctypes.CFUNCTYPE(None, *([i64] * 8), ptr)(self._launch),
            "kc_raise": ctypes.CFUNCTYPE(None, ctypes.c_char_p)(lambda message: self.errors.append(message.decode())),
            # the real one leaves the program; here the sizes always fit, and a failure ends the test
            "kc_fail_check": ctypes.CFUNCTYPE(None, ctypes.c_char_p, i64, i64)(
                lambda message, a, b: self.errors.append(message.decode().replace("{0}", str(a)).replace("{1}", str(b)))
            ),
            # returns its 16 bits in the low half of a vector register, where a float with those bits is returned too
            "__truncsfbf2": ctypes.CFUNCTYPE(ctypes.c_float, ctypes.c_float)(_truncate),
            "kc_emulated_barrier": ctypes.CFUNCTYPE(None)(lambda: self._barrier.wait()),
        }
        for kind in ("d2d", "d2h", "h2d"):
            self._callbacks[f"kc_gpu_memcpy_{kind}"] = ctypes.CFUNCTYPE(None, ptr, ptr, i64)(
                lambda target, source, size, kind=kind: self._copy(kind, target, source, size)
            )
        for name, callback in self._callbacks.items():
            llvm.add_symbol(name, ctypes.cast(callback, ptr).value)
        known = {*self._callbacks, *_FROM_C, *(name for data in objects for name in elf.symbols(data).defined)}
        for data in objects:
            missing = set(elf.symbols(data).undefined) - known
            assert not missing, f"the emulator has no {missing}"
            self._engine.add_object_file(llvm.ObjectFileRef.from_data(data))
        self._engine.finalize_object()

    # ------------------------------------------------------------------------------------------------- the runtime

    def _alloc(self, size: int) -> int:
        raw = ctypes.create_string_buffer(bytes([_FILL]) * (size + 2 * _GUARD + 256))
        base = (ctypes.addressof(raw) + _GUARD + 255) & ~255
        self._allocations[base] = (raw, size)
        return base

    def _free(self, pointer: int | None) -> None:
        if pointer is None:
            return
        assert pointer in self._allocations, "freed what was not allocated, or freed it twice"
        raw, size = self._allocations.pop(pointer)
        for start in (pointer - _GUARD, pointer + size):
            assert ctypes.string_at(start, _GUARD) == bytes([_FILL]) * _GUARD, "a kernel wrote outside a buffer"
        del raw

    def _copy(self, kind: str, target: int, source: int, size: int) -> None:
        self.copies.append(kind)
        ctypes.memmove(target, source, size)

    def _launch(
        self, index: int, gx: int, gy: int, gz: int, bx: int, by: int, bz: int, shared: int, params: int
    ) -> None:
        name = self.table[index]["name"]
        self.launches.append((name, gx, bx))
        assert (gy, gz, by, bz, shared) == (1, 1, 1, 1, 0)
        kernel = self.kernels[name]
        types = self.signatures[name]
        function = ctypes.CFUNCTYPE(None, *types)(self._engine.get_function_address(f"emulated_{name}"))
        count = len(types) - 4 - 5 * len(kernel.shared)
        slots = ctypes.cast(params, ctypes.POINTER(ctypes.c_void_p))
        values = [ctypes.cast(slots[i], ctypes.POINTER(types[i]))[0] for i in range(count)]
        for block in reversed(range(gx)):
            tiles: list[int] = []
            buffers = [self._alloc(size) for _, size in kernel.shared]
            for pointer, (elements, _) in zip(buffers, kernel.shared, strict=True):
                tiles += [pointer, pointer, 0, elements, 1]
            if kernel.has_barrier:
                self._barrier = threading.Barrier(bx)
                threads = [
                    threading.Thread(target=function, args=(*values, *tiles, block, thread, gx, bx))
                    for thread in range(bx)
                ]
                for worker in threads:
                    worker.start()
                for worker in threads:
                    worker.join()
            else:
                for thread in reversed(range(bx)):
                    function(*values, *tiles, block, thread, gx, bx)
            for pointer in buffers:
                self._free(pointer)

    # ------------------------------------------------------------------------------------------------------- calls

    def __call__(self, *arrays: np.ndarray, entry: str = "main") -> list[np.ndarray]:
        """Call ``entry``. Inputs are copied to device memory, and must be unchanged afterwards; everything but the
        results must be freed.
        """
        before = set(self._allocations)
        inputs, descriptors = [], []
        given = iter(arrays)
        arguments, results = self.entries[entry]
        arrays = tuple(next(given) if argument is None else argument for argument in arguments)
        for array in arrays:
            array = np.ascontiguousarray(array)
            pointer = self._alloc(array.nbytes)
            ctypes.memmove(pointer, array.ctypes.data, array.nbytes)
            inputs.append((pointer, array))
            strides = [s // array.itemsize for s in array.strides]
            descriptors.append((ctypes.c_int64 * (3 + 2 * array.ndim))(pointer, pointer, 0, *array.shape, *strides))
        outputs = [(ctypes.c_int64 * (3 + 2 * rank))() for _, rank in results]
        pointers = (ctypes.c_void_p * (len(arrays) + len(results)))(
            *(ctypes.addressof(d) for d in [*descriptors, *outputs])
        )
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self._engine.get_function_address(f"kc_entry_{entry}"))(pointers)
        made = []
        for descriptor, (dtype, rank) in zip(outputs, results, strict=True):
            base, aligned, offset = descriptor[:3]
            shape = list(descriptor)[3 : 3 + rank]
            size = int(np.prod(shape)) * np.dtype(dtype).itemsize
            start = aligned + offset * np.dtype(dtype).itemsize
            made.append(np.frombuffer(ctypes.string_at(start, size), dtype=dtype).reshape(shape).copy())
            self._free(base)
        for pointer, array in inputs:
            assert ctypes.string_at(pointer, array.nbytes) == array.tobytes(), "an input was written"
            self._free(pointer)
        assert set(self._allocations) == before, "device memory was leaked"
        return made


def _entries(module: Any) -> dict[str, tuple[list[Any], list[tuple[Any, int]]]]:
    """By entry: an array per argument that is a parameter (None for an input), (dtype, rank) of every result."""
    import json

    from kc.bindings import ir
    from kc.params import ParamTable

    table = ParamTable.of(module.context)
    found = {}
    for op in module.body.operations:
        if "kc.signature" not in op.operation.attributes:
            continue
        signature = json.loads(ir.StringAttr(op.attributes["kc.signature"]).value)
        arguments: list[Any] = []
        for argument in signature["args"]:
            if argument["kind"] == "param":
                param = table[argument["param"]]
                raw = np.frombuffer(param.tobytes(), np.uint8)
                arguments.append(raw.view(_DTYPES[param.dtype]).reshape(param.shape))
            else:
                arguments.append(None)
        results = [(_DTYPES[result["dtype"]], len(result["shape"])) for result in signature["results"]]
        found[_name(op)] = (arguments, results)
    return found


class _Kernel:
    def __init__(self, has_barrier: bool, shared: list[tuple[int, int]]) -> None:
        self.has_barrier, self.shared = has_barrier, shared  # shared: (elements, bytes) of each tile


def _kernels(module: Any) -> dict[str, _Kernel]:
    from kc.bindings import ir
    from kc.passes.gpu._memory import element_bytes

    found = {}
    for function in _device_functions(module):
        types = list(ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value).inputs)
        tiles = [argument.type for argument in list(function.regions[0].blocks[0].arguments)[len(types) :]]
        shared = [(tile.shape[0], tile.shape[0] * element_bytes(tile.element_type)) for tile in tiles]
        found[_name(function)] = _Kernel("gpu.barrier" in str(function), shared)
    return found


def _device_functions(module: Any) -> list[Any]:
    return [
        function.operation
        for holder in module.body.operations
        if holder.operation.name == "gpu.module"
        for function in holder.regions[0].blocks[0].operations
        if function.operation.name == "gpu.func"
    ]


def _name(op: Any) -> str:
    from kc.bindings import ir

    return str(ir.StringAttr(op.attributes["sym_name"]).value)


def _as_functions(module: Any) -> Any:
    """A module at the llvm level with ``@emulated_K(arguments, tiles, block, thread, grid, block size)`` per kernel."""
    import re

    from kc.context import parse_module
    from kc.pass_manager import run_pipeline

    texts = ["func.func private @kc_emulated_barrier()"]
    for function in _device_functions(module):
        text = function.get_asm(print_generic_op_form=False).replace(", #gpu.address_space<workgroup>", "")
        head, _brace, body = text.partition(" {\n")
        signature = re.match(r"gpu\.func @[\w$.]+\((.*?)\)(?: workgroup\((.*?)\))? kernel", head)
        assert signature, head
        arguments = [part for part in (signature.group(1), signature.group(2)) if part]
        arguments.append("%kc_bx: index, %kc_tx: index, %kc_gx: index, %kc_nx: index")
        body = body.replace("gpu.return", "return").replace(
            "gpu.barrier", "func.call @kc_emulated_barrier() : () -> ()"
        )
        for op, name in _NUMBERS.items():
            body = re.sub(rf"(%[\w#]+) = gpu\.{op} +x", rf"\1 = arith.addi %kc_{name}, %kc_zero : index", body)
        texts.append(
            f"func.func @emulated_{_name(function)}({', '.join(arguments)}) {{\n"
            f"%kc_zero = arith.constant 0 : index\n{body}"
        )
    device = parse_module("\n".join(texts), module.context, "kernels.mlir")
    run_pipeline(
        device,
        "builtin.module(convert-complex-to-standard,func.func(kc-expand-math{target=cpu}),expand-strided-metadata,lower-affine,"
        "arith-emulate-unsupported-floats{source-types=bf16,f16 target-type=f32},arith-expand{include-bf16=1},"
        "convert-scf-to-cf,convert-math-to-llvm,convert-math-to-libm,convert-complex-to-llvm,convert-arith-to-llvm,"
        "convert-index-to-llvm,finalize-memref-to-llvm{use-generic-functions=1},convert-cf-to-llvm,convert-func-to-llvm,"
        "canonicalize,cse,reconcile-unrealized-casts)",
    )
    return device


def _signatures(device: Any) -> dict[str, list[Any]]:
    """ctypes of the parameters of every emulated kernel."""
    from kc.bindings import ir

    types = {
        "i64": ctypes.c_int64,
        "i32": ctypes.c_int32,
        "i16": ctypes.c_int16,
        "i8": ctypes.c_int8,
        "i1": ctypes.c_bool,
        "f32": ctypes.c_float,
        "f64": ctypes.c_double,
        "!llvm.ptr": ctypes.c_void_p,
    }
    found = {}
    for op in device.body.operations:
        name = _name(op) if op.operation.name == "llvm.func" else ""
        if name.startswith("emulated_"):
            text = str(ir.TypeAttr(op.attributes["function_type"]).value)
            inside = text[text.index("(") + 1 : text.rindex(")")]
            parts = [part.strip() for part in inside.split(",")]
            found[name.removeprefix("emulated_")] = [types[{"ptr": "!llvm.ptr"}.get(part, part)] for part in parts]
    return found


def random(rng: np.random.Generator, shape: tuple[int, ...], dtype: Any = np.float32) -> np.ndarray:
    """Standard normal numbers (small integers for integer types) of any NumPy or ml_dtypes type."""
    if np.dtype(dtype).kind in "iu":
        return rng.integers(-50, 50, shape).astype(dtype)
    return rng.standard_normal(shape).astype(dtype)


bfloat16 = ml_dtypes.bfloat16
