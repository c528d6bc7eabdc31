"""Shrinking modules: what is left fails as the original did, always verifies, and is small."""
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from kc.agents.debug.compare import Tolerance, difference
from kc.agents.debug.reduction import edits, rewriting
from kc.agents.debug.reduction.case import Case, apply, parse
from kc.agents.debug.reduction.predicates import Command, StillWrong, run_command
from kc.agents.debug.reduction.search import Reduction
from kc.agents.debug.trace import Leg

PASSES = str(Path(__file__).with_name("Inputs") / "wrong_passes.py")
BRANCH = """
func.func @main(%x: tensor<4x8xf32>, %n: tensor<i32>) -> (tensor<4x8xf32>, tensor<4xf32>) {
  %c = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : tensor<8xf32>
  %b = stablehlo.broadcast_in_dim %c, dims = [1] : (tensor<8xf32>) -> tensor<4x8xf32>
  %y = "stablehlo.case"(%n) ({
    %0 = func.call @helper(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    stablehlo.return %0 : tensor<4x8xf32>
  }, {
    %1 = stablehlo.tanh %b : tensor<4x8xf32>
    stablehlo.return %1 : tensor<4x8xf32>
  }) : (tensor<i32>) -> tensor<4x8xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.reduce(%y init: %z) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  return %y, %s : tensor<4x8xf32>, tensor<4xf32>
}
func.func private @helper(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = stablehlo.exponential %x {mhlo.note = "a"} : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
"""  # noqa: E501


def sixty() -> str:
    """60 ops, among them one subtraction."""
    names = ["add", "multiply", "maximum", "minimum"]
    lines = ["func.func @main(%x: tensor<8x16xf32>, %y: tensor<8x16xf32>) -> (tensor<8x16xf32>, tensor<8xf32>) {",
             "  %v0 = stablehlo.add %x, %y : tensor<8x16xf32>"]  # fmt: skip
    for i in range(1, 58):
        name = "subtract" if i == 31 else names[i % 4]
        lines.append(f"  %v{i} = stablehlo.{name} %v{i - 1}, %{'xy'[i % 2]} : tensor<8x16xf32>")
    lines += ["  %z = stablehlo.constant dense<0.0> : tensor<f32>",
              "  %r = stablehlo.reduce(%v57 init: %z) applies stablehlo.add across dimensions = [1] : "
              "(tensor<8x16xf32>, tensor<f32>) -> tensor<8xf32>",
              "  return %v57, %r : tensor<8x16xf32>, tensor<8xf32>", "}"]  # fmt: skip
    return "\n".join(lines) + "\n"


def reduced(text: str, needle: str, **limits: float) -> Case:
    """The smallest module that holds ``needle``; every candidate must verify."""

    def predicate(case: Case) -> bool:
        assert parse(case.text).operation.verify()
        return needle in case.text

    return Reduction(Case(text), predicate, **limits).run().case  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("needle", "most"),
    [("stablehlo.tanh", 2), ("stablehlo.exponential", 1), ("stablehlo.case", 1), ("stablehlo.reduce", 2),
     ("mhlo.note", 1), ("func.func", 0)],
)  # fmt: skip
def test_what_is_kept_is_what_matters(needle: str, most: int) -> None:
    left = reduced(BRANCH, needle)
    assert needle in left.text and left.ops <= most, left.text


def test_sixty_ops_become_one_that_is_wrong() -> None:
    inputs = [np.random.default_rng(n).standard_normal((8, 16)).astype(np.float32) for n in range(2)]
    case = Case(sixty(), tuple(inputs))
    assert case.ops == 60
    leg = Leg("pipeline", "builtin.module(test-plant{op=stablehlo.subtract})")
    done = Reduction(case, StillWrong([leg], load=[PASSES], seconds=20.0)).run()
    assert done.finished and done.case.ops == 1 and "stablehlo.subtract" in done.case.text
    assert done.case.inputs is not None and {a.shape for a in done.case.inputs} == {(1, 1)}
    assert StillWrong([leg], load=[PASSES])(done.case)
    assert not StillWrong([Leg("pipeline", "builtin.module(cse)")])(case)


@pytest.mark.parametrize("mode", ["operand", "constant", "argument"])
def test_ops_are_replaced_in_each_way(mode: str) -> None:
    case = Case(sixty(), tuple(np.zeros((8, 16), np.float32) for _ in range(2)))
    made = apply(case, edits.without_ops(range(10, 50), mode))
    assert made is not None and made.ops == 20
    assert made.inputs is not None
    assert len(made.inputs) == (3 if mode == "argument" else 2)
    assert made.text.count("stablehlo.constant") == (2 if mode == "constant" else 1)


def test_loops_are_unwrapped() -> None:
    text = """
    func.func @main(%x: f32, %n: index) -> f32 {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (f32) {
        %k = arith.index_cast %i : index to i32
        %f = arith.sitofp %k : i32 to f32
        %b = math.powf %a, %f : f32
        scf.yield %b : f32
      }
      return %r : f32
    }"""
    left = reduced(text, "math.powf")
    assert left.ops == 1 and "scf.for" not in left.text


def test_shapes_types_and_constants_get_simple() -> None:
    text = """
    func.func @main(%x: tensor<33x70xf64>) -> tensor<33x70xf64> {
      %c = stablehlo.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf64>
      %p = stablehlo.constant dense<0.0> : tensor<f64>
      %0 = stablehlo.pad %c, %p, low = [31, 68], high = [0, 0], interior = [0, 0] : (tensor<2x2xf64>, tensor<f64>) -> tensor<33x70xf64>
      %1 = stablehlo.add %x, %0 : tensor<33x70xf64>
      return %1 : tensor<33x70xf64>
    }"""  # noqa: E501
    array = np.arange(33 * 70, dtype=np.float64).reshape(33, 70)
    case = Case(text, (array,))
    smaller = list(rewriting.smaller(Case(text.replace("stablehlo.add %x, %0", "stablehlo.add %x, %x"), (array,))))
    assert all(parse(c.text).operation.verify() for c in smaller)
    done = Reduction(case, lambda c: "stablehlo.add" in c.text).run().case
    assert "tensor<1x1xf32>" in done.text and done.ops == 1
    assert done.inputs is not None and all(a.shape == (1, 1) and a.dtype == np.float32 for a in done.inputs)
    splat = next(rewriting.splat_constants(case))
    assert "dense<1.0>" in splat.text or "dense<1.000" in splat.text


def test_limits_end_a_search() -> None:
    seen: list[int] = []
    search = Reduction(Case(sixty()), lambda c: "subtract" in c.text, trials=5, progress=lambda c, n: seen.append(n))
    done = search.run()
    assert not done.finished and done.trials == 5 and seen == [1, 2, 3, 4, 5]
    assert not Reduction(Case(sixty()), lambda c: True, seconds=0.0).run().finished


def test_commands_are_predicates(tmp_path: Path) -> None:
    case = Case(BRANCH, (np.ones(3, np.float32),))
    assert Command("grep -q stablehlo.tanh {}")(case) and not Command("grep -q stablehlo.sine")(case)
    check = 'import os, numpy; assert numpy.load(os.environ["KC_INPUTS"])["arg0"].sum() == 3'
    assert Command(f"{sys.executable} -c '{check}' #")(case)
    assert not Command("sleep 30", seconds=0.3)(case)
    mark = tmp_path / "mark"
    assert run_command(f"(sleep 1; touch {mark}) & exit 0", dict(os.environ), 5.0) == 0
    subprocess.run(["sleep", "1.3"], check=True)
    assert not mark.exists()  # what the command left behind is gone


@pytest.mark.parametrize(
    ("got", "want", "same"),
    [
        ([1.0, np.nan], [1.0, np.nan], True), ([1.0, 2.0], [1.0, np.nan], False), ([np.inf], [np.inf], True),
        ([np.inf], [-np.inf], False), ([1.0001], [1.0], True), ([1.1], [1.0], False), ([np.nan], [1.0], False),
    ],
)  # fmt: skip
def test_comparing(got: list[float], want: list[float], same: bool) -> None:
    found = difference([np.array(got, np.float32)], [np.array(want, np.float32)])
    assert (found is None) == same
    if found is not None:
        assert found["result"] == 0 and "wanted" in found["message"]


def test_comparing_shapes_counts_integers_and_tolerances() -> None:
    one = np.arange(4, dtype=np.int32)
    assert difference([one], [one]) is None and difference([one], [one + 1]) is not None
    assert difference([one], []) is not None and difference([one], [one[:3]]) is not None
    x = np.array([1.0, 100.0], np.float32)
    assert difference([x * 1.01], [x], Tolerance(relative=0.02)) is None
    assert difference([x + 0.5], [x], Tolerance(absolute=0.4)) is not None
