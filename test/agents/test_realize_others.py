"""Libraries, other compilers, guards, transform scripts, and judgement where a proposal runs."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from kc.agents.protocol import Proposal, ProtocolError
from kc.agents.realize import RealizeError, build, pack, realize
from kc.agents.realize.there import judge

MATMUL = """
func.func @main(%a: tensor<?x?xf32> {kc.dims = ["M", "K"]}, %b: tensor<?x?xf32> {kc.dims = ["K", "N"]},
                %c: tensor<?x?xf32> {kc.dims = ["M", "N"]}) -> tensor<?x?xf32>
    attributes {kc.kind = "contraction", kc.allow = ["reassoc", "contract"]} {
  %z = arith.constant 0.0 : f32
  %f = linalg.fill ins(%z : f32) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  %e = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%f : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %e : tensor<?x?xf32>
}
"""
BIAS = """
func.func @main(%a: tensor<3x4xf32>, %b: tensor<5x4xf32>, %d: tensor<5xf32>) -> tensor<3x5xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [1]
    : (tensor<3x4xf32>, tensor<5x4xf32>) -> tensor<3x5xf32>
  %1 = stablehlo.broadcast_in_dim %d, dims = [1] : (tensor<5xf32>) -> tensor<3x5xf32>
  %2 = stablehlo.add %0, %1 : tensor<3x5xf32>
  return %2 : tensor<3x5xf32>
}
"""
RANDOM = np.random.default_rng(3)


def library(name: str, **parameters: object) -> Proposal:
    return Proposal("library", library=name, parameters=parameters)


@pytest.mark.parametrize("sizes", [(33, 70, 21), (1, 1, 1), (3, 0, 4), (0, 5, 2)])
def test_blas_in_a_kernel(sizes: tuple[int, int, int]) -> None:
    pytest.importorskip("scipy")
    m, k, n = sizes
    exe = build(MATMUL, realize(MATMUL, library("blas", inputs=["arg0", "arg1"]), "linalg"))
    assert exe.manifest["custom_calls"][0]["target"] == "kc.blas.gemm"
    a, b = (RANDOM.standard_normal(s).astype(np.float32) for s in ((m, k), (k, n)))
    np.testing.assert_allclose(exe(a, b, np.full((m, n), 7, np.float32))[0], a @ b, rtol=1e-5, atol=1e-5)


def test_blas_with_bias_in_a_function() -> None:
    pytest.importorskip("scipy")
    realized = realize(BIAS, library("blas", inputs=["arg0", "arg1", "arg2"], transpose_b=True), "stablehlo")
    a, b, d = (RANDOM.standard_normal(s).astype(np.float32) for s in ((3, 4), (5, 4), (5,)))
    np.testing.assert_allclose(build(BIAS, realized)(a, b, d)[0], a @ b.T + d, rtol=1e-5)


def test_calls_of_a_program_get_numbers_of_their_own() -> None:
    pytest.importorskip("scipy")
    from kc.agents.realize import splice
    from kc.agents.realize.region import parse_source
    from kc.answers import names_of
    from kc.api import compile_loaded
    from kc.frontends import load

    square = BIAS.replace("3x", "4x").replace("5x", "4x").replace("tensor<5xf32>", "tensor<4xf32>")
    region = square.replace("x5xf32", "x4xf32")
    source = parse_source("""
func.func @main(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>, %d: tensor<4xf32>) -> tensor<4x4xf32> {
  %0 = call @f(%a, %b, %d) : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  %1 = call @g(%0, %b, %d) : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}
""" + region.replace("@main", "private @f") + region.replace("@main", "private @g"))  # fmt: skip
    for name, transposed in (("f", True), ("g", False)):
        proposal = library("blas", inputs=["arg0", "arg1", "arg2"], transpose_b=transposed)
        splice(names_of(source.module.operation)[name], realize(region, proposal, "stablehlo"))
    exe = compile_loaded(load(source.module, "main"))
    assert [call["number"] for call in exe.manifest["custom_calls"]] == [0, 1]
    a, b, d = (RANDOM.standard_normal(s).astype(np.float32) for s in ((4, 4), (4, 4), (4,)))
    np.testing.assert_allclose(exe(a, b, d)[0], (a @ b.T + d) @ b + d, rtol=1e-4, atol=1e-5)


def test_libraries_of_a_gpu_are_named_in_the_artifact() -> None:
    realized = realize(MATMUL, library("cublaslt", inputs=["arg0", "arg1"], epilogue="gelu"), "linalg", "nvptx:sm_90a")
    assert (realized.needs, realized.runs) == ("gpu", "kc")
    (call,) = build(MATMUL, realized, "nvptx:sm_90a").manifest["custom_calls"]
    assert call["target"] == "kc.cublaslt.matmul"
    assert call["attributes"] == {"epilogue": "gelu"}


@pytest.mark.parametrize(
    ("proposal", "error", "said"),
    [
        (library("mkl"), ProtocolError, "none of blas"),
        (library("blas", operation="svd"), ProtocolError, "blas has gemm"),
        (library("blas", inputs=["arg0"]), ProtocolError, "2 or 3 names"),
        (library("blas", inputs=["arg0", "arg9"]), ProtocolError, "no 'arg9'"),
        (library("blas", inputs=["arg0", "arg1"], epilogue="tanh"), ProtocolError, "none, relu, gelu"),
        (library("blas", inputs=["arg0", "arg1"], beta=1.0), ProtocolError, "there are inputs, output"),
        (library("cublaslt", inputs=["arg0", "arg1"]), RealizeError, "is for target 'nvptx'"),
    ],
)
def test_calls_that_do_not_fit(proposal: Proposal, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        realize(MATMUL, proposal, "linalg")


def test_shapes_that_do_not_fit_end_the_call() -> None:
    pytest.importorskip("scipy")
    from kc.runtime import ExecutionError

    exe = build(MATMUL, realize(MATMUL, library("blas", inputs=["arg0", "arg1"], transpose_a=True), "linalg"))
    with pytest.raises(ExecutionError, match="a product of 2 x 3 and 2 x 4"):
        exe(np.ones((3, 2), np.float32), np.ones((2, 4), np.float32), np.ones((3, 4), np.float32))


def test_a_region_run_by_another_compiler() -> None:
    pytest.importorskip("jax")
    region = """
func.func @main(%x: tensor<4x3xf64>, %u: tensor<4xui8>) -> (tensor<4x3xf64>, tensor<4xui8>)
    attributes {kc.allow = ["nsz"]} {
  %0 = stablehlo.tanh %x : tensor<4x3xf64>
  return %0, %u : tensor<4x3xf64>, tensor<4xui8>
}
"""
    exe = build(region, realize(region, Proposal("stablehlo_out", parameters={"platform": "cpu"}), "stablehlo"))
    x, u = RANDOM.standard_normal((4, 3)), np.arange(250, 254, dtype=np.uint8)
    got = exe(x, u)
    np.testing.assert_allclose(got[0], np.tanh(x), rtol=1e-14)
    np.testing.assert_array_equal(got[1], u)
    with pytest.raises(RealizeError, match="open size"):
        realize(region.replace("4x3", "?x3"), Proposal("stablehlo_out"), "stablehlo")
    with pytest.raises(RealizeError, match="no StableHLO"):
        realize(MATMUL, Proposal("stablehlo_out"), "linalg")


MAP = """
func.func @main(%a: tensor<?x8xf32> {kc.dims = ["M", "N"]}, %c: tensor<?x8xf32>) -> tensor<?x8xf32>
    attributes {kc.kind = "map"} {
  %e = linalg.exp ins(%a : tensor<?x8xf32>) outs(%c : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %e : tensor<?x8xf32>
}
"""
SEVENS = """
func.func @main(%a: memref<?x8xf32>, %c: memref<?x8xf32>) {
  %z = arith.constant 7.0 : f32
  linalg.fill ins(%z : f32) outs(%c : memref<?x8xf32>)
  return
}
"""
STABLEHLO = """
func.func @main(%a: tensor<?x8xf32> {kc.dims = ["M", "N"]}) -> tensor<?x8xf32> {
  %e = stablehlo.exponential %a : tensor<?x8xf32>
  return %e : tensor<?x8xf32>
}
"""


@pytest.mark.parametrize(
    ("region", "level", "ir", "at"),
    [
        (MAP, "linalg", SEVENS, "loops"),
        (MAP, "linalg", MAP.replace("%e = linalg.exp ins(%a", "%z = arith.constant 7.0 : f32 %e = linalg.fill ins(%z")
         .replace("ins(%z : tensor<?x8xf32>)", "ins(%z : f32)"), None),
        (STABLEHLO, "stablehlo", SEVENS, "loops"),
    ],
)  # fmt: skip
def test_a_guard_leaves_other_sizes_to_the_original(region: str, level: str, ir: str, at: str | None) -> None:
    realized = realize(region, Proposal("replace_ir", ir=ir, level=at, guard="M % 4 == 0 and M > 4"), level)
    assert realized.guarded is not None
    exe = build(region, realized)
    for rows in (0, 4, 8, 9, 12):
        x = RANDOM.standard_normal((rows, 8)).astype(np.float32)
        want = np.full_like(x, 7) if rows in (8, 12) else np.exp(x)
        np.testing.assert_allclose(exe(*([x, x] if region is MAP else [x]))[0], want, rtol=1e-6)


@pytest.mark.parametrize(
    ("guard", "said"), [("Q > 3", "no dimension is named 'Q'"), ("unique(arg0)", "no condition on sizes")]
)
def test_guards_that_are_none(guard: str, said: str) -> None:
    with pytest.raises(RealizeError, match=said):
        realize(MAP, Proposal("replace_ir", ir=SEVENS, level="loops", guard=guard), "linalg")


HEAD = """
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%m: !transform.any_op {transform.readonly}) {
"""
TAIL = "    transform.yield\n  }\n}\n"
MATCH = '%k = transform.structured.match ops{["linalg.matmul"]} in %m : (!transform.any_op) -> !transform.any_op\n'
OWN = (
    '%k = transform.structured.match ops{["func.func"]} in %m : (!transform.any_op) -> !transform.any_op\n'
    '"kc_transform.schedule"(%k) {schedule = "contraction", knobs = {mc = 48 : i64}} : (!transform.any_op) -> ()\n'
)
VECTORS = (
    MATCH + "%t, %loops:3 = transform.structured.tile_using_for %k tile_sizes [4, 8, 2] : (!transform.any_op) -> "
    "(!transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op)\n"
    "transform.structured.vectorize %t vector_sizes [4, 8, 2] : !transform.any_op\n"
)
FORALL = (
    MATCH + "%t, %f = transform.structured.tile_using_forall %k tile_sizes [16, 16] : (!transform.any_op) -> "
    "(!transform.any_op, !transform.any_op)\n"
)


@pytest.mark.parametrize("steps", [OWN, VECTORS, FORALL], ids=["kc", "vectors", "forall"])
def test_a_kernel_by_script(steps: str) -> None:
    realized = realize(MATMUL, Proposal("schedule", script=HEAD + steps + TAIL), "linalg")
    assert realized.level == "loops"
    a, b = (RANDOM.standard_normal(s).astype(np.float32) for s in ((33, 19), (19, 21)))
    (got,) = build(MATMUL, realized)(a, b, np.full((33, 21), 9, np.float32))
    np.testing.assert_allclose(got, a @ b, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("script", "error", "said"),
    [
        (HEAD + MATCH + "transform.print %k : !transform.any_op\n" + TAIL, RealizeError, "reaches outside"),
        (HEAD + MATCH + '%x = transform.apply_registered_pass "location-snapshot" to %k : (!transform.any_op) -> '
         "!transform.any_op\n" + TAIL, RealizeError, "does not run pass"),
        (HEAD + OWN.replace("48", "50") + TAIL, ProtocolError, "50 is none of"),
        (HEAD + MATCH.replace("any_op\n", "any\n") + TAIL, RealizeError, "not a valid MLIR module"),
        (HEAD + VECTORS.replace("tile_sizes [4, 8, 2]", "tile_sizes [4, 8, 2, 0]") + TAIL, RealizeError, "script"),
        ("module {}", ProtocolError, "__transform_main"),
    ],
)  # fmt: skip
def test_scripts_that_fail(script: str, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        realize(MATMUL, Proposal("schedule", script=script), "linalg")


def test_judged_where_it_runs(tmp_path: Path) -> None:
    pytest.importorskip("scipy")
    for name, alpha, accepted in (("right", 1.0, True), ("wrong", 1.001, False)):
        proposal = library("blas", inputs=["arg0", "arg1"], alpha=alpha)
        folder = pack(MATMUL, proposal, tmp_path / name, "linalg", "cpu", seed=5, calls=12)
        verdict = judge(folder, timing=False)
        assert verdict["accepted"] == accepted, verdict
        assert verdict["key"] == json.loads((folder / "pack.json").read_text())["key"]
    assert verdict["reason"].startswith("numeric.")


@pytest.mark.parametrize(("alpha", "accepted"), [(1.0, True), (1.01, False)])
def test_a_library_proposed_to_a_compilation(alpha: float, accepted: bool) -> None:
    pytest.importorskip("scipy")
    import kc
    from kc.agents.base import FunctionAgent

    program = """
func.func @main(%a: tensor<?x7xf32>, %b: tensor<7x5xf32>) -> tensor<?x5xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
    : (tensor<?x7xf32>, tensor<7x5xf32>) -> tensor<?x5xf32>
  return %0 : tensor<?x5xf32>
}
"""
    answer = library("blas", inputs=["arg0", "arg1"], alpha=alpha)
    agent = FunctionAgent(lambda o: None if o.attempts else answer, name="blas", levels=("stablehlo",))
    exe = kc.compile(program, agents=[agent])
    assert ("custom_calls" in exe.manifest) == accepted
    (got,) = exe(np.ones((3, 7), np.float32), np.ones((7, 5), np.float32))
    np.testing.assert_array_equal(got, np.full((3, 5), 7, np.float32))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({}, None),
        ({"guard": "M % 4 == 0"}, None),
        ({"parameters": {"inputs": ["arg0", "arg1"], "alpha": 1.001}}, "numeric.error"),
        ({"assumes": ["nnan"]}, "assumptions.undeclared"),
        ({"guard": "M < 0"}, "assumptions.guard"),
        ({"library": "cublaslt"}, "level.target"),
    ],
)
def test_judge_alone_runs_what_only_kc_runs(change: dict, reason: str | None) -> None:
    pytest.importorskip("scipy")
    from kc.agents import judge as judge_alone

    verdict = judge_alone(MATMUL, library("blas", inputs=["arg0", "arg1"]).to_json() | change, seed=7)
    assert (verdict.accepted, verdict.reason) == (reason is None, reason or "accepted"), verdict
    assert (verdict.runs > 100) == verdict.accepted


def test_judge_alone_runs_other_compilers() -> None:
    pytest.importorskip("jax")
    from kc.agents import judge as judge_alone

    region = "func.func @main(%x: tensor<4xi32>) -> tensor<4xi32> {\n  BODY\n  return %y : tensor<4xi32>\n}"
    region = region.replace("BODY", "%y = stablehlo.add %x, %x : tensor<4xi32>")
    assert judge_alone(region, Proposal("stablehlo_out"), level="stablehlo").accepted
    verdict = judge_alone(region, Proposal("stablehlo_out", parameters={"platform": "mars"}), level="stablehlo")
    assert verdict.reason == "resource.unsupported" and "mars" in verdict.message


def test_judge_alone_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    from kc.agents import judge as judge_alone

    monkeypatch.setenv("KC_ONEDNN_LIBRARY", "/nowhere/libdnnl.so")
    verdict = judge_alone(MATMUL, library("onednn", inputs=["arg0", "arg1"]))
    assert verdict.reason == "resource.unsupported" and "pip install onednn-cpu-gomp" in verdict.message
    verdict = judge_alone(MATMUL, library("cublaslt", inputs=["arg0", "arg1"]), target="nvptx:sm_90a")
    assert verdict.reason == "resource.device" and "kc.agents.realize.pack" in verdict.message
