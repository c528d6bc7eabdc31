"""Knobs of schedules: what is offered is legal, builds, and computes the same."""

from __future__ import annotations

import random

import ml_dtypes
import numpy as np
import pytest

from kc.agents.protocol import Proposal, ProtocolError
from kc.agents.realize import build, knobs, realize
from kc.codegen import ptx_check

GPU = "nvptx:sm_90a"
MATMUL = """
func.func @main(%a: tensor<{m}x{k}x{t}>, %b: tensor<{k}x{n}x{t}>, %c: tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32>
    attributes {{kc.kind = "contraction"}} {{
  %z = arith.constant 0.0 : f32
  %f = linalg.fill ins(%z : f32) outs(%c : tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32>
  %e = linalg.matmul ins(%a, %b : tensor<{m}x{k}x{t}>, tensor<{k}x{n}x{t}>) outs(%f : tensor<{m}x{n}xf32>)
    -> tensor<{m}x{n}xf32>
  return %e : tensor<{m}x{n}xf32>
}}
"""
EXP = """
func.func @main(%x: tensor<?x40xf32>, %o: tensor<?x40xf32>) -> tensor<?x40xf32> attributes {kc.kind = "map"} {
  %0 = linalg.exp ins(%x : tensor<?x40xf32>) outs(%o : tensor<?x40xf32>) -> tensor<?x40xf32>
  return %0 : tensor<?x40xf32>
}
"""
SUM = """
func.func @main(%x: tensor<?x{n}xf32>, %o: tensor<?xf32>) -> tensor<?xf32> attributes {{kc.kind = "rows"}} {{
  %z = arith.constant 0.0 : f32
  %f = linalg.fill ins(%z : f32) outs(%o : tensor<?xf32>) -> tensor<?xf32>
  %0 = linalg.reduce {{ arith.addf }} ins(%x : tensor<?x{n}xf32>) outs(%f : tensor<?xf32>) dimensions = [1]
  return %0 : tensor<?xf32>
}}
"""
F32 = MATMUL.format(m="?", k="?", n="?", t="f32")
BF16 = MATMUL.format(m=512, k=256, n=512, t="bf16")


def some(points: list[dict], count: int) -> list[dict]:
    return random.Random(1).sample(points, min(count, len(points)))


@pytest.mark.parametrize(("kernel", "schedule"), [(EXP, "map"), (SUM.format(n=40), "rows"), (F32, "contraction")])
def test_points_on_the_cpu(kernel: str, schedule: str) -> None:
    space = knobs(kernel)
    assert space is not None
    assert space.schedule == schedule
    assert space.problem({}) is None
    random_ = np.random.default_rng(0)
    if schedule == "contraction":
        arrays = [random_.standard_normal(s).astype(np.float32) for s in ((37, 70), (70, 41), (37, 41))]
        want = arrays[0].astype(np.float64) @ arrays[1]
    else:
        arrays = [random_.standard_normal((5, 40)).astype(np.float32)]
        arrays.append(np.zeros((5, 40) if schedule == "map" else (5,), np.float32))
        want = np.exp(arrays[0]) if schedule == "map" else arrays[0].astype(np.float64).sum(1)
    legal = [p for p in (dict(zip(space.knobs, v, strict=True)) for v in values(space)) if space.problem(p) is None]
    for point in some(legal, 3):
        realized = realize(kernel, Proposal("schedule", knobs=point), "linalg")
        assert "kc.impl" not in realized.ir
        (got,) = build(kernel, realized)(*arrays)
        np.testing.assert_allclose(got, want, rtol=2e-5, atol=2e-5)


def values(space):
    """Random choices of every knob."""
    random_ = random.Random(2)
    for _ in range(60):
        yield [random_.choice(knob.values) for knob in space.knobs.values()]


@pytest.mark.parametrize(
    ("kernel", "schedule"),
    [
        (EXP, "map"),
        (SUM.format(n=1024), "rows"),
        (SUM.format(n="?"), "rows_loop"),
        (F32, "simt"),
        (BF16, "contraction"),
    ],
)
def test_points_on_a_gpu_assemble(kernel: str, schedule: str) -> None:
    if ptx_check.find_ptxas() is None:
        pytest.skip("no ptxas")
    space = knobs(kernel, GPU)
    assert space is not None
    assert space.schedule == schedule
    legal = [p for p in (dict(zip(space.knobs, v, strict=True)) for v in values(space)) if space.problem(p) is None]
    assert legal
    for point in some(legal, 1):
        exe = build(kernel, realize(kernel, Proposal("schedule", knobs=point), "linalg", GPU), GPU)
        assert exe.manifest["kernels"][0]["regs"] > 0


def test_defaults_are_what_the_compiler_takes() -> None:
    space = knobs(BF16, GPU)
    assert space is not None
    assert all(knob.default in knob.values for knob in space.knobs.values())
    assert space.to_json()["knobs"]["tile.stages"]["default"] == space.default["tile.stages"]
    plain = build(BF16, None, GPU)
    chosen = build(BF16, realize(BF16, Proposal("schedule", knobs=space.default), "linalg", GPU), GPU)
    device = [exe.files[exe.manifest["kernels"][0]["module"]] for exe in (plain, chosen)]
    assert len(device[0]) == len(device[1])


def test_another_family_by_name() -> None:
    space = knobs(SUM.format(n=1024), GPU)
    assert space is not None
    assert "rows_loop" in space.others
    other = knobs(SUM.format(n=1024), GPU, "rows_loop")
    assert other is not None
    assert set(other.knobs) == {"vector", "threads"}


@pytest.mark.parametrize(
    ("target", "given", "field", "said"),
    [
        (GPU, {"thread": 64}, "knobs.thread", "did you mean 'threads'"),
        (GPU, {"threads": 65}, "knobs.threads", "65 is none of"),
        (GPU, {"threads": 256, "rows": 16}, "knobs", "no block"),
        (GPU, {"vector": True}, "knobs.vector", "True is none of"),
        (GPU, {"schedule": "attention"}, "knobs.schedule", "does not fit this kernel"),
        ("cpu", {"lanes": 3}, "knobs.lanes", "3 is none of"),
    ],
)
def test_values_that_are_none(target: str, given: dict, field: str, said: str) -> None:
    with pytest.raises(ProtocolError, match=said) as caught:
        realize(SUM.format(n=1024), Proposal("schedule", knobs=given), "linalg", target)
    assert caught.value.field == field


def test_no_schedule_no_space() -> None:
    general = EXP.replace("linalg.exp ins(%x : tensor<?x40xf32>) outs(%o : tensor<?x40xf32>) -> tensor<?x40xf32>",
                          "scf.if %t -> tensor<?x40xf32> { scf.yield %x : tensor<?x40xf32> } else { scf.yield %o : "
                          "tensor<?x40xf32> }").replace("{\n", "{\n  %t = arith.constant true\n", 1)  # fmt: skip
    assert knobs(general) is None


def test_types_of_other_widths_have_spaces_too() -> None:
    assert ml_dtypes is not None
    space = knobs(BF16)
    assert space is not None
    assert space.schedule == "contraction"
