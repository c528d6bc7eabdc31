"""Comparison, policy and the run in higher precision: each rule with what it lets pass and what it does not."""

from __future__ import annotations

import numpy as np
import pytest

from kc.agents.contract import Contract
from kc.agents.gates import compare
from kc.agents.gates.compare import Errors, bounded, exact
from kc.agents.gates.oracle import retype
from kc.agents.gates.policy import Policy, explain
from kc.context import make_context, parse_module
from kc.errors import UnsupportedError

NAN, INF = float("nan"), float("inf")


def f32(*values: float) -> tuple[np.ndarray, ...]:
    return (np.array(values, np.float32),)


def policy(*allow: str) -> Policy:
    return Policy(frozenset(allow))


@pytest.mark.parametrize(
    ("got", "want", "allow", "reason"),
    [
        ((1.0, NAN), (1.0, NAN), (), None),
        ((1.0,), (1.0000001,), (), "numeric.value"),
        ((NAN,), (1.0,), (), "numeric.nan"),
        ((1.0,), (NAN,), (), "numeric.nan"),
        ((1.0,), (NAN,), ("nnan",), None),
        ((NAN,), (1.0,), ("nnan",), "numeric.nan"),
        ((INF,), (3.4e38,), (), "numeric.inf"),
        ((-INF,), (INF,), (), "numeric.inf"),
        ((1.0,), (INF,), ("ninf",), None),
        ((0.0,), (-0.0,), (), "numeric.zero"),
        ((0.0,), (-0.0,), ("nsz",), None),
        ((1e-45,), (0.0,), ("nsz",), "numeric.value"),
    ],
)
def test_exact(got, want, allow, reason):
    found = exact(f32(*got), f32(*want), policy(*allow))
    assert (found.reason if found else None) == reason


def test_shapes_types_and_integers():
    assert exact(f32(1.0), (np.array([1.0]),), policy()).reason == "numeric.shape"
    assert exact(f32(1.0), f32(1.0, 2.0), policy()).reason == "numeric.shape"
    assert exact((), f32(1.0), policy()).reason == "numeric.shape"
    found = exact((np.array([[1, 2], [3, 5]]),), (np.array([[1, 2], [3, 4]]),), policy("reassoc", "nsz"))
    assert found.reason == "numeric.integer" and found.index == (1, 1) and (found.got, found.want) == (5, 4)
    assert exact((np.array([1 + 2j]),), (np.array([1 - 2j]),), policy()).reason == "numeric.value"
    assert exact((np.array(True),), (np.array(False),), policy()).index == ()


def bound(got: float, want: float, *references: float, allow: tuple = ("reassoc",), length: int = 8, **options):
    runs = [(np.array([r]),) for r in references]
    return bounded(f32(got), f32(want), runs, policy(*allow), length, Errors(), **options)


def test_the_bound_follows_the_spread_the_length_and_the_originals_own_error():
    u = 2.0**-24
    moved = 1.0 + 10 * u
    assert bound(1.0 + 40 * u, 1.0, 1.0, moved, length=8) is None
    assert bound(1.0 + 400 * u, 1.0, 1.0, moved, length=8).reason == "numeric.error"
    assert bound(1.0 + 400 * u, 1.0, 1.0, moved, length=100) is None
    assert bound(1.0 + 400 * u, 1.0, 1.0, moved, length=8, allow=("approx",)) is None
    assert bound(1.0 + 400 * u, 1.0 + 200 * u, 1.0, 1.0, length=8) is None  # the original is as wrong
    assert bound(1.002, 1.0, 1.0, 1.0 + u, allow=("low_precision",)) is None
    assert bound(1.002, 1.0, 1.0, 1.0 + u).reason == "numeric.error"


def test_no_bound_excuses_nan_or_infinity():
    assert bound(NAN, 1.0, 1.0, 2.0).reason == "numeric.nan"
    assert bound(INF, 1.0, 1.0, 2.0).reason == "numeric.inf"
    assert bound(1.0, INF, INF).reason == "numeric.inf"
    assert bound(1.0, INF, 1.0).reason == "numeric.inf"
    assert bound(1.0, INF, 1.0, huge=True) is None  # the original overflowed on the way; the truth can be told
    assert bound(2.0, INF, 1.0, huge=True).reason == "numeric.inf"
    assert bound(INF, INF, INF) is None


def test_the_sign_of_zero_is_free_where_rounding_is():
    assert bound(0.0, -0.0, -0.0) is None
    assert exact(f32(0.0), f32(-0.0), policy()).reason == "numeric.zero"


def test_denormals_are_flushed_only_where_approximations_are_allowed():
    assert bound(0.0, 1e-39, 1e-39).reason == "numeric.error"
    assert bound(0.0, 1e-39, 1e-39, allow=("approx",)) is None


def test_numbers_in_messages_are_json():
    found = exact(f32(NAN), f32(1.0), policy())
    assert found.got == "nan" and str(found) == "result 0[0] is nan, not 1.0"
    assert compare.plain(np.float32(0.5)) == 0.5 and compare.plain(np.bool_(True)) is True


def test_explain_says_what_may_differ():
    text = explain(Contract(frozenset({"reassoc", "nsz"}), ("N % 8 == 0",), {"N": (0, 64)}))
    assert "reassoc" in text and "N % 8 == 0" in text and "0 <= N <= 64" in text
    held = next(line for line in text.splitlines() if line.startswith("must not differ"))
    assert "NaN" in held and "sign of zero" not in held
    assert "bit for bit" in explain(Contract()) and "sign of zero" in explain(Contract())


RETYPED = """
func.func @main(%x: tensor<4xf32>, %h: tensor<4xf16>, %i: tensor<4xi32>) -> tensor<4xf32> {
  %c = stablehlo.constant dense<[0.1, 0.2, 0.3, 0x7F800000]> : tensor<4xf32>
  %s = stablehlo.constant dense<0.1> : tensor<4xf32>
  %w = stablehlo.convert %h : (tensor<4xf16>) -> tensor<4xf32>
  %a = stablehlo.add %x, %c : tensor<4xf32>
  %b = stablehlo.multiply %a, %s : tensor<4xf32>
  %d = stablehlo.add %b, %w : tensor<4xf32>
  return %d : tensor<4xf32>
}
"""


def test_retyping_keeps_the_values_of_constants():
    context = make_context()
    text = retype(RETYPED, context)
    module = parse_module(text, context)  # verifies
    assert "f32" not in text and "f16" not in text and "tensor<4xi32>" in text
    constants = [
        op for op in module.body.operations[0].regions[0].blocks[0].operations if "constant" in op.operation.name
    ]
    values = np.array(constants[0].operation.attributes["value"])
    assert values[0] == np.float64(np.float32(0.1)) and values[3] == np.inf
    assert constants[1].operation.attributes["value"].get_splat_value().value == np.float64(np.float32(0.1))


def test_roundings_between_float_types_go_away():
    text = retype(
        "func.func @main(%x: memref<4xf32>) { %c0 = arith.constant 0 : index %v = memref.load %x[%c0] : memref<4xf32>\n"
        "%t = arith.truncf %v : f32 to bf16 %e = arith.extf %t : bf16 to f32\n"
        "memref.store %e, %x[%c0] : memref<4xf32> return }",
        make_context(),
    )
    assert "truncf" not in text and "extf" not in text and "memref<4xf64>" in text


def test_a_module_that_looks_at_bits_has_no_run_in_higher_precision():
    with pytest.raises(UnsupportedError, match=r"arith\.bitcast"):
        retype("func.func @main(%x: f32) -> i32 { %b = arith.bitcast %x : f32 to i32 return %b : i32 }", make_context())
