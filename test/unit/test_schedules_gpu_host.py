"""The host side of GPU schedules, run on the CPU with callbacks for the runtime: grids, and what tensor maps say."""

from __future__ import annotations

import ctypes
import dataclasses
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import gpu_zoo as zoo

from kc.bindings import ir
from kc.codegen import emit, llvm_ir
from kc.context import make_context
from kc.kernels.expr import Coord, Kernel, Load, Operand
from kc.pass_manager import run_pipeline
from kc.schedules.gpu.composite import pick_any
from kc.schedules.gpu.features import Features

_TO_LLVM = (
    "builtin.module(canonicalize,cse,convert-scf-to-cf,expand-strided-metadata,"
    "finalize-memref-to-llvm{use-generic-functions=1},convert-arith-to-llvm,convert-cf-to-llvm,convert-func-to-llvm,"
    "reconcile-unrealized-casts)"
)
_BASE = 1 << 32  # argument n stands at (n + 1) times this address; nothing is read there


class TensorMap(NamedTuple):
    argument: int
    offset: int
    dims: tuple[int, ...]
    strides: tuple[int, ...]
    box: tuple[int, ...]


class Seen(NamedTuple):
    maps: list[TensorMap]
    launches: list[tuple[int, int, int]]  # grid, block, bytes of shared memory


def run_host(kernel: Kernel, shapes: list[tuple[int, ...]]) -> Seen:
    """Calls ``@K__impl`` with memrefs of ``shapes`` and notes what it asks of the runtime."""
    import llvmlite.binding as llvm

    with make_context():
        module = ir.Module.parse("module {}")
        schedule = pick_any(kernel, Features())
        assert schedule is not None
        schedule.build(kernel, module.operation)
        run_pipeline(module, "builtin.module(kc-expand-launches,kc-convert-gpu-launch)")
        for op in [op.operation for op in module.body.operations]:
            if op.name == "gpu.module":
                op.erase()
            elif op.name == "func.func" and len(op.regions[0].blocks):
                op.attributes["llvm.emit_c_interface"] = ir.UnitAttr.get()
        run_pipeline(module, _TO_LLVM)
        code = emit.host_object(llvm_ir.translate(module.operation), opt="O1")
    seen = Seen([], [])
    i64, pointer = ctypes.c_int64, ctypes.c_void_p

    def encode(_out: int, _kind: int, rank: int, base: int, dims: int, strides: int, box: int, *_rest: int) -> None:
        assert base % 16 == 0
        argument, offset = divmod(base, _BASE)
        sizes = (ctypes.c_uint64 * rank).from_address(dims)
        steps = (ctypes.c_uint64 * (rank - 1)).from_address(strides)
        seen.maps.append(
            TensorMap(
                argument - 1, offset, tuple(sizes), tuple(steps), tuple((ctypes.c_uint32 * rank).from_address(box))
            )
        )

    def launch(_number: int, gx: int, gy: int, gz: int, bx: int, by: int, bz: int, shared: int, _values: int) -> None:
        assert (gy, gz, by, bz) == (1, 1, 1, 1)
        seen.launches.append((gx, bx, shared))

    callbacks: dict[str, Any] = {
        "kc_gpu_tensor_map_encode": ctypes.CFUNCTYPE(None, pointer, i64, i64, *([pointer] * 4), i64, i64)(encode),
        "kc_gpu_launch": ctypes.CFUNCTYPE(None, *([i64] * 8), pointer)(launch),
    }
    for name, callback in callbacks.items():
        llvm.add_symbol(name, ctypes.cast(callback, pointer).value)
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine(codemodel="jitdefault", jit=True)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    arguments = []
    for number, shape in enumerate(shapes):
        strides = [1] * len(shape)
        for axis in range(len(shape) - 2, -1, -1):
            strides[axis] = strides[axis + 1] * shape[axis + 1]
        base = (number + 1) * _BASE
        arguments.append((i64 * (3 + 2 * len(shape)))(base, base, 0, *shape, *strides))
    address = engine.get_function_address(f"_mlir_ciface_{kernel.name}__impl")
    ctypes.CFUNCTYPE(None, *([pointer] * len(shapes)))(address)(*(ctypes.addressof(item) for item in arguments))
    return seen


def test_a_product_with_an_open_m_reads_it_at_run_time() -> None:
    kernel = zoo.matmul(None, 1024, 512)
    seen = run_host(kernel, [(300, 512), (512, 1024), (300, 1024)])
    rows, columns = seen.maps[0].box[1], seen.maps[1].box[0] * seen.maps[1].box[2]
    assert seen.maps[0] == TensorMap(0, 0, (512, 300), (1024,), (64, rows))
    assert seen.maps[1] == TensorMap(1, 0, (64, 512, 16), (2048, 128), (64, 64, columns // 64))
    assert seen.maps[2].argument == 2 and seen.maps[2].dims == (1024, 300)
    tiles = -(-300 // rows) * -(-1024 // columns)
    assert seen.launches == [(min(132, tiles), 384, seen.launches[0][2])]


@pytest.mark.parametrize("kernel, shapes", [
    (zoo.matmul(None, 1024, 512), [(0, 512), (512, 1024), (0, 1024)]),
    (zoo.softmax(None, 100, "f32"), [(0, 100)] * 2),
    (zoo.bias_relu(None, 64, "bf16"), [(0, 64), (64,), (0, 64)]),
])  # fmt: skip
def test_nothing_is_launched_for_nothing(kernel: Kernel, shapes: list[tuple[int, ...]]) -> None:
    seen = run_host(kernel, shapes)
    assert seen.launches == []


def test_slices_of_a_packed_tensor_are_maps_from_an_offset_on() -> None:
    plain = zoo.attention(2, 4, 1000, 64, layout="bshd")

    def part(load: Load, first: int) -> Load:
        return dataclasses.replace(
            load, arg=0, coords=(*load.coords[:2], Coord(load.coords[2].dim, 1, first), load.coords[3])
        )

    output = dataclasses.replace(plain.outputs[0], arg=1)
    kernel = dataclasses.replace(
        plain,
        operands=(Operand((2, 1000, 12, 64), "bf16"), plain.operands[3]),
        query=part(plain.query, 0),
        key=part(plain.key, 4),
        value=part(plain.value, 8),
        outputs=(output,),
    )
    seen = run_host(kernel, [(2, 1000, 12, 64), (2, 1000, 4, 64)])
    whole = ((64, 1000, 1, 4, 2), (1536, 128, 128, 1536000))
    assert [(m.argument, m.offset, m.dims, m.strides) for m in seen.maps] == [
        (0, 0, *whole),
        (0, 4 * 64 * 2, *whole),
        (0, 8 * 64 * 2, *whole),
        (1, 0, (64, 1000, 1, 4, 2), (512, 128, 128, 512000)),
    ]
    assert seen.launches[0][:2] == (8 * 8, 384)  # row blocks by heads


def test_rows_stand_side_by_side_in_blocks() -> None:
    seen = run_host(zoo.softmax(None, 1000, "bf16"), [(1003, 1000)] * 2)
    assert seen.launches[0][:2] == (-(-1003 // 4), 128)
