"""Kernel expressions as values: DAGs whose trees are huge, constants by bits, simplification that changes nothing."""
from __future__ import annotations

import math
import pickle

import ml_dtypes
import numpy as np
import pytest

from kc.kernels import expr as E
from kc.kernels.simplify import apply, round_to


def doubled(times: int) -> E.Expr:
    node: E.Expr = E.Load(0, (E.Coord(0),), "f32")
    for _ in range(times):
        node = E.Apply("arith.addf", (node, node), "f32")
    return node


def test_shared_expressions_cost_what_their_dag_costs() -> None:
    first, second = doubled(300), doubled(300)
    assert first == second and hash(first) == hash(second) and first != doubled(299)
    assert len(list(E.walk(first))) == 301
    assert len(repr(first)) < 100 and repr(doubled(1)).count("Load") == 2
    assert pickle.loads(pickle.dumps(doubled(50))) == doubled(50)


def test_constants_are_told_apart_by_bits() -> None:
    assert E.Const(0.0, "f32") != E.Const(-0.0, "f32")
    assert E.Const(math.nan, "f32") == E.Const(math.nan, "f32")
    assert E.Const(1, "i32") != E.Const(True, "i1")


def test_simplification_keeps_signed_zeros_and_nan() -> None:
    x = E.Load(0, (), "f32")
    zero, minus, one = E.Const(0.0, "f32"), E.Const(-0.0, "f32"), E.Const(1.0, "f32")
    assert apply("arith.addf", (x, minus), "f32") == x
    assert apply("arith.addf", (x, zero), "f32") != x  # -0 + 0 is 0
    assert apply("arith.subf", (x, zero), "f32") == x
    assert apply("arith.mulf", (x, zero), "f32") != zero  # NaN, infinities, sign
    assert apply("arith.mulf", (one, x), "f32") == x
    assert apply("arith.maximumf", (E.Const(-math.inf, "f32"), x), "f32") == x
    assert apply("arith.maxnumf", (E.Const(-math.inf, "f32"), x), "f32") != x  # maxnum(-inf, NaN) is -inf
    assert apply("arith.divf", (one, zero), "f32") == E.Apply("arith.divf", (one, zero), "f32")


@pytest.mark.parametrize(("name", "dtype"), [("f32", np.float32), ("f16", np.float16), ("bf16", ml_dtypes.bfloat16)])
def test_rounding_is_to_nearest_even(name: str, dtype: type) -> None:
    rng = np.random.default_rng(0)
    near = rng.standard_normal(2000).astype(np.float32).astype(dtype).astype(np.float64)
    step = np.abs(np.spacing(near.astype(np.float32)).astype(np.float64)) * (2.0**16 if name == "bf16" else 2.0**13)
    for value in [*near, *(near + step / 2), *(near * 1e-30), 3e38, -1e39, 1e-45, 0.0, -0.0, 65520.0]:
        with np.errstate(over="ignore"):
            single = np.float32(value)  # NumPy rounds once from here
            want = float(np.array(single).astype(dtype))
        assert round_to(float(single), name) == want, (value, name)
