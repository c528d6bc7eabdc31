"""IR of a lower level in the place of a region: taken over, run, and refused where it does not fit."""

from __future__ import annotations

import numpy as np
import pytest

import kc
from kc.agents.protocol import Proposal, ProtocolError
from kc.agents.realize import RealizeError, build, realize, splice

GPU = "nvptx:sm_90a"

FUNCTION = """
func.func @main(%x: tensor<?x8xf32> {kc.dims = ["M", "N"]}) -> tensor<?x8xf32> {
  %0 = stablehlo.tanh %x : tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}
"""
KERNEL = """
func.func @main(%x: tensor<?x8xf32> {kc.dims = ["M", "N"]}, %o: tensor<?x8xf32> {kc.dims = ["M", "N"]})
    -> tensor<?x8xf32> attributes {kc.kind = "map"} {
  %0 = linalg.tanh ins(%x : tensor<?x8xf32>) outs(%o : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}
"""
#: adds one to what the region computes, so that one sees which of both ran
LOOPS = """
func.func @main(%x: memref<?x8xf32>, %o: memref<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %one = arith.constant 1.0 : f32
  %m = memref.dim %x, %c0 : memref<?x8xf32>
  scf.parallel (%i, %j) = (%c0, %c0) to (%m, %c8) step (%c1, %c1) {
    %v = memref.load %x[%i, %j] : memref<?x8xf32>
    %t = func.call @one_more(%v) : (f32) -> f32
    memref.store %t, %o[%i, %j] : memref<?x8xf32>
  }
  return
}
func.func private @one_more(%v: f32) -> f32 {
  %one = arith.constant 1.0 : f32
  %t = math.tanh %v : f32
  %r = arith.addf %t, %one : f32
  return %r : f32
}
"""
LINALG = """
func.func @main(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x8xf32>
  %e = tensor.empty(%m) : tensor<?x8xf32>
  %0 = linalg.exp ins(%x : tensor<?x8xf32>) outs(%e : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}
"""
DEVICE = """
func.func @main(%x: memref<?x8xf32>, %o: memref<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %m = memref.dim %x, %c0 : memref<?x8xf32>
  gpu.launch blocks(%b, %by, %bz) in (%gx = %m, %gy = %c1, %gz = %c1)
      threads(%t, %ty, %tz) in (%tx = %c8, %tyy = %c1, %tzz = %c1) {
    %v = memref.load %x[%b, %t] : memref<?x8xf32>
    memref.store %v, %o[%b, %t] : memref<?x8xf32>
    gpu.terminator
  }
  return
}
"""


def rows(count: int) -> np.ndarray:
    return np.random.default_rng(count).standard_normal((count, 8)).astype(np.float32)


@pytest.mark.parametrize("count", [0, 1, 5])
def test_loops_in_the_place_of_a_stablehlo_function(count: int) -> None:
    exe = build(FUNCTION, realize(FUNCTION, Proposal("replace_ir", ir=LOOPS, level="loops"), "stablehlo"))
    x = rows(count)
    np.testing.assert_allclose(exe(x)[0], np.tanh(x) + 1, rtol=1e-6)


def test_loops_in_the_place_of_a_kernel() -> None:
    realized = realize(KERNEL, Proposal("replace_ir", ir=LOOPS, level="loops"), "linalg")
    assert (realized.level, realized.needs, realized.runs) == ("loops", "cpu", "mlir")
    x = rows(5)
    np.testing.assert_allclose(build(KERNEL, realized)(x, x)[0], np.tanh(x) + 1, rtol=1e-6)


def test_linalg_in_the_place_of_a_stablehlo_function() -> None:
    exe = build(FUNCTION, realize(FUNCTION, Proposal("replace_ir", ir=LINALG, level="linalg"), "stablehlo"))
    x = rows(3)
    np.testing.assert_allclose(exe(x)[0], np.exp(x), rtol=1e-6)


def test_neighbours_stay_kcs_and_every_call_goes_to_the_answer() -> None:
    from kc.agents.realize.region import parse_source
    from kc.answers import names_of
    from kc.api import compile_loaded
    from kc.frontends import load

    source = parse_source(
        """
func.func @main(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = call @f(%x) : (tensor<?x8xf32>) -> tensor<?x8xf32>
  %1 = stablehlo.add %0, %x : tensor<?x8xf32>
  %2 = call @f(%1) : (tensor<?x8xf32>) -> tensor<?x8xf32>
  return %2 : tensor<?x8xf32>
}
"""
        + FUNCTION.replace("@main", "private @f")
    )
    splice(
        names_of(source.module.operation)["f"],
        realize(FUNCTION, Proposal("replace_ir", ir=LOOPS, level="loops"), "stablehlo"),
    )
    exe = compile_loaded(load(source.module, "main"))
    x = rows(4)
    np.testing.assert_allclose(exe(x)[0], np.tanh(np.tanh(x) + 1 + x) + 1, rtol=1e-5)


@pytest.mark.parametrize(("ir", "level"), [(DEVICE, "gpu"), (LOOPS, "loops")])
def test_code_for_a_gpu(ir: str, level: str) -> None:
    for region, at in ((KERNEL, "linalg"), (FUNCTION, "stablehlo")):
        exe = build(region, realize(region, Proposal("replace_ir", ir=ir, level=level), at, GPU), GPU)
        assert len(exe.manifest["kernels"]) == 1


def test_own_level_is_no_answer() -> None:
    realized = realize(KERNEL, Proposal("replace_ir", ir=KERNEL), "linalg")
    assert realized.answer is None
    assert realized.ir == KERNEL


@pytest.mark.parametrize(
    ("proposal", "level", "said"),
    [
        (Proposal("replace_ir", ir=LOOPS, level="stablehlo"), "linalg", "above the region's level"),
        (Proposal("replace_ir", ir=LOOPS, level="loop"), "linalg", "no level is named 'loop'"),
        (Proposal("replace_ir", ir=DEVICE, level="gpu"), "linalg", "for target 'cpu', not at 'gpu'"),
    ],
)
def test_levels_that_do_not_fit(proposal: Proposal, level: str, said: str) -> None:
    with pytest.raises(ProtocolError, match=said) as caught:
        realize(KERNEL, proposal, level)
    assert caught.value.field == "level"


@pytest.mark.parametrize(
    ("ir", "reason", "said"),
    [
        (LOOPS.replace("<?x8xf32>", "<?x9xf32>"), "signature.type", "at level 'loops' the region has"),
        ("func.func @f() { return }", "parse.module", "has no func.func @main"),
        (LOOPS.replace("scf.parallel", "scf.parallels"), "parse.module", "scf.parallels"),
    ],
)
def test_answers_that_do_not_fit(ir: str, reason: str, said: str) -> None:
    with pytest.raises(RealizeError, match=said) as caught:
        realize(KERNEL, Proposal("replace_ir", ir=ir, level="loops"), "linalg")
    assert caught.value.reason == reason


def test_no_answer_no_change() -> None:
    program = FUNCTION + FUNCTION.replace("@main", "private @unused")
    assert kc.compile(program).files == kc.compile(program).files
