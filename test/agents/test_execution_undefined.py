"""Results that MLIR leaves undefined, made visible; buffers laid out by the strides and offset of their types."""

from __future__ import annotations

import numpy as np
import pytest

from kc.agents.execution import run
from kc.agents.execution.calls import Call, Checks

SHIFT = """func.func @main(%x: memref<4xi32>, %y: memref<4xi32> {kc.out}) {
  %c0 = arith.constant 0 : index
  %v = vector.load %x[%c0] : memref<4xi32>, vector<4xi32>
  %one = arith.constant dense<1> : vector<4xi32>
  %s = arith.shli %one, %v : vector<4xi32>
  vector.store %s, %y[%c0] : memref<4xi32>, vector<4xi32>
  return
}"""
CONVERSION = """func.func @main(%x: memref<4xf32>, %y: memref<4xi8> {{kc.out}}) {{
  %c0 = arith.constant 0 : index
  %v = vector.load %x[%c0] : memref<4xf32>, vector<4xf32>
  %s = arith.{op} %v : vector<4xf32> to vector<4xi8>
  vector.store %s, %y[%c0] : memref<4xi8>, vector<4xi8>
  return
}}"""
LAYOUTS = (
    "strided<[?, 1], offset: ?>",
    "strided<[?, ?], offset: ?>",
    "strided<[9, 1], offset: 2>",
    "strided<[1, 3]>",
)


def both(text: str, values: np.ndarray, out: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    plain, told = (
        next(iter(run(text, "loops", [Call((values, out))], checks=Checks(undefined=u)))).results[0]
        for u in (False, True)
    )
    return plain, told


def test_a_shift_by_too_much_is_a_number_of_its_own():
    amounts = np.array([0, 31, 32, -1], np.int32)
    plain, told = both(SHIFT, amounts, amounts)
    assert told[:2].tolist() == plain[:2].tolist() == [1, -(2**31)]
    assert all(abs(int(n)) > 2**20 and int(n) not in (-(2**31), 2**31 - 1) for n in told[2:])


@pytest.mark.parametrize(
    ("op", "fits", "not_"), [("fptosi", (-128.9, 127.5), (-129.0, 128.0)), ("fptoui", (-0.9, 255.9), (-1.0, 256.0))]
)
def test_a_float_that_does_not_fit_is_a_number_of_its_own(op, fits, not_):
    out = np.zeros(4, np.int8)
    plain, told = both(CONVERSION.format(op=op), np.array([*fits, *not_], np.float32), out)
    assert told[:2].tolist() == plain[:2].tolist()
    _, nan = both(CONVERSION.format(op=op), np.array([np.nan, np.inf, -np.inf, 1.0], np.float32), out)
    assert told[2] == told[3] == nan[0] == nan[1] == nan[2] != nan[3] == 1


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("watched", [False, True])
def test_buffers_have_the_layout_of_their_type(layout, watched):
    kind = f"memref<3x?xf32, {layout}>"
    text = f"""func.func @main(%x: {kind}, %y: {kind} {{kc.out}}) {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c3 = arith.constant 3 : index
      %n = memref.dim %x, %c1 : {kind}
      scf.for %i = %c0 to %c3 step %c1 {{
        scf.for %j = %c0 to %n step %c1 {{
          %v = memref.load %x[%i, %j] : {kind}
          %w = arith.addf %v, %v : f32
          memref.store %w, %y[%i, %j] : {kind}
        }}
      }}
      return
    }}"""
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    calls = [Call((a, a), guard=g, strided=s) for a in (x, x[:, :0]) for g in ("none", "after") for s in (False, True)]
    for call, outcome in zip(calls, run(text, "loops", calls, checks=Checks(instrument=watched)), strict=True):
        assert outcome.fault is None and not outcome.outside and not outcome.fatal and not outcome.mutated
        assert np.array_equal(outcome.results[0], 2 * call.arguments[0])
