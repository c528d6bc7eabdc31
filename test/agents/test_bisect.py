"""Finding the phase, the pass and the op that first break a program: with each kind of fault planted in the road."""
from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kc import frontends
from kc.agents.debug import inputs, narrow, oracle, params
from kc.agents.debug.bisect import Bisection, Culprit
from kc.agents.debug.compare import difference
from kc.agents.debug.reduction.predicates import ask
from kc.agents.debug.trace import Leg, follow
from kc.errors import InputError
from kc.pipelines.roads import road
from kc.targets import get_target

PASSES = str(Path(__file__).with_name("Inputs") / "wrong_passes.py")
PROGRAM = """
func.func @main(%x: tensor<4x8xf32>, %y: tensor<8x4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>) {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  %1 = stablehlo.tanh %0 : tensor<4x4xf32>
  %2 = stablehlo.subtract %1, %0 : tensor<4x4xf32>
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %3 = stablehlo.reduce(%2 init: %c) applies stablehlo.add across dimensions = [1] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
  return %2, %3 : tensor<4x4xf32>, tensor<4xf32>
}
"""  # noqa: E501


def bytecode(module: Any) -> bytes:
    buffer = io.BytesIO()
    module.operation.write_bytecode(buffer)
    return buffer.getvalue()


def bisection(point: str, passes: str, **options: Any) -> tuple[Bisection, list[Any]]:
    """A search with ``passes`` put behind the phase ``point``."""
    loaded = frontends.load(PROGRAM)
    legs = []
    for phase in road(get_target("cpu"), "stablehlo"):
        legs.append(Leg(phase.name, phase.text({}), phase.start, phase.end))
        if phase.name == point:
            legs.append(Leg("planted", f"builtin.module({passes})", phase.end, phase.end))
    arrays = inputs.draw(loaded.module, 1)
    given = {"target": None, "load": [PASSES], "seconds": 20.0, **options}
    return Bisection(bytecode(loaded.module), legs, [arrays], **given), arrays


def found(point: str, passes: str, **options: Any) -> Culprit | None:
    return bisection(point, passes, **options)[0].run()


@pytest.mark.parametrize(
    ("point", "fault"),
    [
        ("stablehlo-normalize", "test-plant{op=stablehlo.subtract}"),
        ("linalg-clean-up", "test-plant{op=arith.subf}"),
        ("cpu-bufferize", "test-plant{op=arith.subf}"),
        ("cpu-scalars", "test-plant{how=become op=arith.subf into=arith.divf}"),
    ],
)  # fmt: skip
def test_a_wrong_pass_is_named(point: str, fault: str) -> None:
    culprit = found(point, f"canonicalize,{fault},cse")
    assert culprit is not None and culprit.kind == "wrong", culprit
    assert culprit.phase is not None and culprit.phase.name == "planted"
    assert [step.text for step in culprit.steps] == [fault]
    assert "is wanted" in culprit.message


def test_the_op_is_named_by_its_place() -> None:
    weights = np.arange(4, dtype=np.float32).tobytes().hex()
    program = f"""
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {{
      %w = stablehlo.constant dense<"0x{weights}"> : tensor<4xf32>
      %1 = stablehlo.subtract %w, %x : tensor<4xf32>
      return %1 : tensor<4xf32>
    }}"""
    loaded = frontends.load(program)
    conversion, *_ = (p.text({}) for p in road(get_target("cpu"), "stablehlo") if p.name == "stablehlo-to-linalg")
    weights_out = "builtin.module(kc-externalize-constants{threshold=8})"
    legs = [Leg("up", conversion), Leg("out", weights_out), Leg("planted", "builtin.module(test-plant{op=arith.subf})")]
    arrays = inputs.draw(loaded.module, 1)
    search = Bisection(bytecode(loaded.module), legs, [arrays], None, load=[PASSES])
    culprit = search.run()
    assert culprit is not None
    small = narrow.narrow(culprit, arrays, search.trace.params, load=[PASSES])
    assert small is not None and len(small.ops) <= 2
    assert small.ops[-1][0] == "arith.subf" and small.ops[-1][1].endswith(":4:12")
    assert small.after is not None and small.after != small.case.text


@pytest.mark.parametrize(
    ("how", "kind", "op"),
    [
        ("crash", "crash", ""), ("hang", "hang", ""), ("raise", "raised", ""), ("error", "failed", "arith.subf"),
        ("invalid", "invalid", "func.func"), ("illegal", "level", "memref.alloc"),
    ],
)  # fmt: skip
def test_a_pass_that_fails_is_named(how: str, kind: str, op: str) -> None:
    fault = f"test-plant{{op=arith.subf how={how}}}"
    culprit = found("linalg-clean-up", f"canonicalize,{fault}", seconds=2.0 if how == "hang" else 20.0)
    assert culprit is not None and culprit.kind == kind, culprit
    assert culprit.phase is not None and culprit.phase.name == "planted"
    assert [step.text for step in culprit.steps] == [fault] and culprit.op == op
    assert culprit.failure is not None and culprit.before


def test_an_op_that_no_pass_takes_away() -> None:
    loaded = frontends.load(PROGRAM)
    leg = Leg("half", "builtin.module(symbol-dce)", "stablehlo", "linalg")
    culprit = Bisection(bytecode(loaded.module), [leg], [inputs.draw(loaded.module, 1)], None).run()
    assert culprit is not None and culprit.kind == "level" and culprit.steps == ()
    assert culprit.op == "stablehlo.dot_general"


def test_nothing_is_wrong_with_the_road() -> None:
    assert found("none", "", target="cpu") is None


def test_what_is_behind_all_phases_is_told_apart() -> None:
    """The generated code computes what the modules do, so that wrong expectations of it alone blame nobody else."""
    search, _ = bisection("none", "")
    search._real = lambda: ("wrong", "made up")  # type: ignore[method-assign]
    culprit = search.run()
    assert culprit is not None and culprit.phase is None and "code generation" in culprit.message


def test_expected_results_take_the_place_of_an_oracle() -> None:
    search, arrays = bisection("none", "")
    search.expected = [[np.zeros((4, 4), np.float32), np.zeros(4, np.float32)]]
    culprit = search.run()
    assert culprit is not None and culprit.kind == "wrong"
    program = PROGRAM.replace("stablehlo.tanh %0 :", 'stablehlo.custom_call @nobody(%0) : (tensor<4x4xf32>) ->')
    loaded = frontends.load(program)
    with pytest.raises(InputError, match=r"(?s)no oracle tells what the program should compute.*--expect"):
        Bisection(bytecode(loaded.module), [Leg("x", "builtin.module(cse)")], [arrays], None).run()


def test_every_boundary_of_the_road_has_an_oracle() -> None:
    """Weights that become parameters, a sort, a reduction: each level computes what the source does."""
    weights = np.random.default_rng(3).standard_normal((16, 32)).astype(np.float32)
    program = f"""
    func.func @main(%x: tensor<8x16xf32>) -> (tensor<8x32xf32>, tensor<8xf32>) {{
      %w = stablehlo.constant dense<"0x{weights.tobytes().hex()}"> : tensor<16x32xf32>
      %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
      %z = stablehlo.constant dense<0.0> : tensor<f32>
      %1 = stablehlo.reduce(%0 init: %z) applies stablehlo.add across dimensions = [1] : (tensor<8x32xf32>, tensor<f32>) -> tensor<8xf32>
      %2 = "stablehlo.sort"(%1) <{{dimension = 0 : i64}}> ({{
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %p = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
        stablehlo.return %p : tensor<i1>
      }}) : (tensor<8xf32>) -> tensor<8xf32>
      return %0, %2 : tensor<8x32xf32>, tensor<8xf32>
    }}"""  # noqa: E501
    loaded = frontends.load(program)
    legs = [Leg(p.name, p.text({}), p.start, p.end) for p in road(get_target("cpu"), "stablehlo")]
    trace = follow(bytecode(loaded.module), legs)
    x = inputs.draw(loaded.module, 5)
    want = [x[0] @ weights, np.sort((x[0] @ weights).sum(-1))]
    assert trace.failure is None and len(trace.params) == 1
    for number in [0, *trace.ends()[:-1]]:  # at the end stands OpenMP, see below
        kind, value = ask(trace.snapshot(number), x, 20.0, trace.params)
        assert kind == "results", (number, kind, value)
        assert difference(value, want) is None, number
    trace.close()


def test_faults_of_the_last_phase_are_found() -> None:
    """Also where parallel loops have become OpenMP, which no oracle runs."""
    program = """
    func.func @main(%x: tensor<4096x64xf32>) -> tensor<4096x64xf32> {
      %0 = stablehlo.tanh %x : tensor<4096x64xf32>
      %1 = stablehlo.subtract %0, %x : tensor<4096x64xf32>
      return %1 : tensor<4096x64xf32>
    }"""
    loaded = frontends.load(program)
    legs = [Leg(p.name, p.text({}), p.start, p.end) for p in road(get_target("cpu"), "stablehlo")]
    fault = "test-plant{how=become op=llvm.fsub into=llvm.fadd}"
    head, tail = legs[-1].pipeline.split(",kc-emit-entry-points,")
    legs[-1] = Leg("cpu-llvm", f"{head},kc-emit-entry-points,{fault},{tail}", "loops", "llvm")
    arrays = inputs.draw(loaded.module, 2)
    search = Bisection(bytecode(loaded.module), legs, [arrays], "cpu", load=[PASSES])
    culprit = search.run()
    assert search._twins  # there were parallel loops
    assert culprit is not None and culprit.kind == "wrong" and culprit.phase == legs[-1]
    assert [step.text for step in culprit.steps] == [fault]


def test_resources_are_spelt_out() -> None:
    data = np.arange(4, dtype=np.float32)
    text = f"""
    func.func @main() -> tensor<4xf32> {{
      %c = stablehlo.constant dense_resource<w> : tensor<4xf32>
      return %c : tensor<4xf32>
    }}
    {{-# dialect_resources: {{ builtin: {{ w: "0x04000000{data.tobytes().hex()}" }} }} #-}}"""
    kind, value = ask(text, [], 5.0)
    assert kind == "results" and np.array_equal(value[0], data)


def test_parameters_cross_processes() -> None:
    from kc.context import make_context

    context = make_context()
    given = {0: ("f32", (2,), np.ones(2, np.float32).tobytes()), 1: ("bf16", (), b"\x80\x3f")}
    params.restore(context, given)
    assert params.of(context) == given
    arrays = params.arrays(given)
    assert arrays[0].tolist() == [1.0, 1.0] and float(arrays[1]) == 1.0
    assert list(oracle.complete(["x"], [None, 1], {1: "p"})) == ["x", "p"]


def test_inputs_must_fit() -> None:
    module = frontends.load(PROGRAM).module
    drawn = inputs.draw(module, 0)
    assert [a.shape for a in inputs.check(module, drawn)] == [(4, 8), (8, 4)]
    with pytest.raises(InputError, match="1 inputs for a program that takes 2"):
        inputs.check(module, drawn[:1])
    with pytest.raises(InputError, match=r"input 1 has shape \[4, 8\]"):
        inputs.check(module, [drawn[0], drawn[0]])


def test_without_an_oracle_of_the_source_the_first_level_that_has_one_is_believed() -> None:
    """No oracle runs an FFT of StableHLO; what it becomes on linalg has one."""
    program = """
    func.func @main(%x: tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>> {
      %0 = stablehlo.fft %x, type = FFT, length = [8] : (tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>>
      return %0 : tensor<8xcomplex<f32>>
    }"""
    loaded = frontends.load(program)
    legs = []
    for phase in road(get_target("cpu"), "stablehlo"):
        legs.append(Leg(phase.name, phase.text({}), phase.start, phase.end))
        if phase.name == "form-kernels":
            legs.append(Leg("planted", "builtin.module(test-plant{how=become op=arith.addf into=arith.mulf})"))
            break
    said: list[str] = []
    arrays = inputs.draw(loaded.module, 1)
    culprit = Bisection(bytecode(loaded.module), legs, [arrays], None, load=[PASSES], say=said.append).run()
    assert culprit is not None and culprit.phase == legs[-1]
    assert any(words.startswith("no oracle runs the source: what stands after stablehlo-") for words in said)
