"""Level specs: modules that stand at a level, and everything that is out of place is found and located."""
from __future__ import annotations

import pytest

from kc.bindings import ir
from kc.context import make_context, parse_module
from kc.diagnostics import DiagnosticSink
from kc.errors import InputError, LevelError
from kc.levels import LEVELS, level_named, verify_level

STANDING = {
    "torch": """
        func.func @f(%a: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
          %0 = torch.aten.relu %a : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
          return %0 : !torch.vtensor<[4],f32>
        }""",
    "stablehlo": """
        func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
          %0 = chlo.tan %a : tensor<4xf32> -> tensor<4xf32>
          %1 = stablehlo.add %0, %a : tensor<4xf32>
          return %1 : tensor<4xf32>
        }""",
    "linalg": """
        func.func private @k(%a: tensor<4xf32>, %out: tensor<4xf32>) -> tensor<4xf32> attributes {kc.kernel} {
          %0 = linalg.exp ins(%a : tensor<4xf32>) outs(%out : tensor<4xf32>) -> tensor<4xf32>
          return %0 : tensor<4xf32>
        }
        func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
          %e = tensor.empty() : tensor<4xf32>
          %0 = call @k(%a, %e) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
          return %0 : tensor<4xf32>
        }""",
    "loops": """
        func.func @f(%a: memref<4xf32>, %n: index) {
          %c0 = arith.constant 0 : index
          %c1 = arith.constant 1 : index
          scf.parallel (%i) = (%c0) to (%n) step (%c1) {
            %v = memref.load %a[%i] : memref<4xf32>
            %e = math.exp %v : f32
            memref.store %e, %a[%i] : memref<4xf32>
            scf.reduce
          }
          return
        }""",
    "gpu": """
        module attributes {gpu.container_module} {
        gpu.module @device {
          gpu.func @k(%a: memref<4xf32>) kernel {
            %t = nvvm.read.ptx.sreg.tid.x : i32
            %i = arith.index_cast %t : i32 to index
            %v = memref.load %a[%i] : memref<4xf32>
            memref.store %v, %a[%i] : memref<4xf32>
            gpu.return
          }
        }
        func.func @f(%a: memref<4xf32>) {
          %c1 = arith.constant 1 : index
          gpu.launch_func @device::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : memref<4xf32>)
          return
        }
        }""",
    "llvm": """
        llvm.func @f(%a: !llvm.ptr, %n: i64) -> f32 {
          %p = llvm.getelementptr %a[%n] : (!llvm.ptr, i64) -> !llvm.ptr, f32
          %v = llvm.load %p : !llvm.ptr -> f32
          llvm.return %v : f32
        }""",
}

EXP = "linalg.exp ins(%a : tensor<4xf32>) outs(%a : tensor<4xf32>) -> tensor<4xf32>"
CAST = "builtin.unrealized_conversion_cast %a : !llvm.ptr to memref<4xf32>"
TID = "nvvm.read.ptx.sreg.tid.x : i32"
OUT_OF_PLACE = [
    ("stablehlo", f"func.func @f(%a: tensor<4xf32>) {{\n  %0 = {EXP}\n  return\n}}", 2, "'linalg.exp' is illegal"),
    ("stablehlo", "func.func @f(%a: memref<4xf32>) {\n  return\n}", 1, "has the buffer type memref<4xf32>"),
    ("linalg", "func.func @f(%a: !torch.int) {\n  return\n}", 1, "no '!torch' types here"),
    ("linalg", "func.func @f(%a: memref<4xf32>) {\n  return\n}", 1, "has the buffer type"),
    ("loops", "func.func @f(%a: tensor<4xf32>) {\n  return\n}", 1, "has the tensor type tensor<4xf32>"),
    ("loops", "gpu.module @m {\n}", 1, "'gpu.module' is illegal at level 'loops'"),
    ("gpu", f"func.func @f() {{\n  %t = {TID}\n  return\n}}", 2, "'nvvm.read.ptx.sreg.tid.x' is illegal"),
    ("llvm", f"llvm.func @f(%a: !llvm.ptr) {{\n  %0 = {CAST}\n  llvm.return\n}}", 2, "conversion_cast' is illegal"),
    ("llvm", "func.func @f() {\n  return\n}", 1, "'func.func' is illegal at level 'llvm'; it is legal at"),
    ("asm", "module {\n}", 1, "not an MLIR module"),
]


def test_the_ladder_in_order() -> None:
    assert list(LEVELS) == ["torch", "stablehlo", "linalg", "loops", "gpu", "llvm", "asm"]
    with pytest.raises(InputError, match=r"'linlag'; the levels are torch, stablehlo.*; did you mean 'linalg'"):
        level_named("linlag")


@pytest.mark.parametrize("level", STANDING)
def test_modules_that_stand_at_their_level(level: str) -> None:
    verify_level(parse_module(STANDING[level], make_context()), level)


@pytest.mark.parametrize("level", STANDING)
def test_no_module_stands_at_another_level(level: str) -> None:
    """But for loops below gpu: what a host may do between launches is what loops may do."""
    module = parse_module(STANDING[level], make_context())
    others = {name for name in LEVELS if name != level and not raises(module, name)}
    assert others <= ({"gpu"} if level in ("loops", "llvm") else set())


def raises(module: ir.Module, level: str) -> bool:
    try:
        verify_level(module, level)
    except LevelError:
        return True
    return False


@pytest.mark.parametrize(("level", "source", "line", "message"), OUT_OF_PLACE)
def test_what_is_out_of_place_is_located(level: str, source: str, line: int, message: str) -> None:
    sink = DiagnosticSink()
    with pytest.raises(LevelError, match=f"does not stand at level '{level}'") as caught:
        verify_level(parse_module(source, make_context()), level, sink)
    matching = [d for d in sink.diagnostics if message in d.message]
    assert matching, [d.message for d in sink.diagnostics]
    place = matching[0].location
    assert place is not None and (place.line == line or level == "asm")
    assert caught.value.diagnostics == tuple(sink.diagnostics)


PROGRAM = """
func.func @main(%x: tensor<?x16xf32>, %w: tensor<16x8xf32>) -> tensor<?x8xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<?x16xf32>, tensor<16x8xf32>) -> tensor<?x8xf32>
  %1 = stablehlo.tanh %0 : tensor<?x8xf32>
  %2 = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<?x8xf32>, tensor<f32>) -> tensor<?xf32>
  %s = stablehlo.get_dimension_size %1, dim = 0 : (tensor<?x8xf32>) -> tensor<i32>
  %s1 = stablehlo.reshape %s : (tensor<i32>) -> tensor<1xi32>
  %eight = stablehlo.constant dense<8> : tensor<1xi32>
  %shape = stablehlo.concatenate %s1, %eight, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %3 = stablehlo.dynamic_broadcast_in_dim %2, %shape, dims = [0] : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x8xf32>
  %4 = stablehlo.divide %1, %3 : tensor<?x8xf32>
  return %4 : tensor<?x8xf32>
}
"""  # noqa: E501


@pytest.mark.parametrize("target", ["cpu", "nvptx"])
def test_every_phase_of_a_road_ends_at_its_level(target: str) -> None:
    from kc.pipelines.roads import road
    from kc.pipelines.run import run_phases
    from kc.targets.base import get_target

    run_phases(parse_module(PROGRAM, make_context()), road(get_target(target)), verify_levels=True)


def test_every_dialect_of_a_level_exists() -> None:
    """A typo in the table would make ops illegal silently."""
    from kc.context import load_dialect

    context = make_context()
    for level in LEVELS.values():
        for name in (*level.dialects, *level.device, *level.types):
            load_dialect(context, name)
        for op in (*level.ops, *level.forbidden):
            load_dialect(context, op.partition(".")[0])
            assert context.is_registered_operation(op), op
