"""Facts on values: what each says of an array, and that every call of the differential test obeys them."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from kc.agents.contract import ArgumentContract, Contract
from kc.agents.execution.signature import Kind
from kc.agents.facts import CALLS
from kc.agents.gates.inputs import Drawer
from kc.agents.gates.obeying import FORMS, obeying, obeys
from kc.agents.gates.plan import Planner
from kc.agents.gates.policy import Policy
from kc.agents.gates.reading import Reading

NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("form", "good", "bad"),
    [
        ("finite", [[1.0, -0.0], []], [[NAN], [INF], [1.0, -INF]]),
        ("nonnegative", [[0.0, 1.0, INF], []], [[-0.0], [NAN], [-1e-45], [1.0, -INF]]),
        ("positive", [[1e-45, INF], []], [[0.0], [-0.0], [NAN], [-1.0]]),
        ("sorted", [[-INF, -0.0, 0.0, 1.0, NAN], [0.0, -0.0], []], [[1.0, 0.0], [NAN, 1.0]]),
        ("unique", [[0.0, NAN, 1.0], []], [[0.0, -0.0], [NAN, NAN], [2.0, 1.0, 2.0]]),
    ],
)
def test_what_facts_say(form, good, bad):
    for values in good:
        assert obeys(np.array(values, np.float32), form), values
    for values in bad:
        array = np.array(values, np.float32)
        assert not obeys(array, form), values
        made = obeying(array, [form], 0, 0, np.random.default_rng(0))
        assert obeys(made, form) and made.shape == array.shape and made.dtype == array.dtype


def test_sorted_is_along_the_last_axis():
    assert obeys(np.array([[3, 4], [1, 2]]), "sorted") and not obeys(np.array([[1, 2], [4, 3]]), "sorted")


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, ml_dtypes.bfloat16, np.int32, np.uint8, np.int8])
@pytest.mark.parametrize("forms", [("unique", "sorted"), ("positive", "unique"), ("nonnegative", "finite", "sorted")])
def test_all_facts_at_once(dtype, forms):
    rng = np.random.default_rng(1)
    for shape in ((), (0,), (1,), (7, 9), (100,)):
        array = rng.integers(-3, 3, shape)
        if np.dtype(dtype).kind not in "iu":
            array = np.where(rng.random(shape) < 0.2, NAN, array)
        with np.errstate(all="ignore"):
            array = np.asarray(array).astype(dtype)
        low, high = (0, 255) if dtype == np.uint8 else (-100, 100)
        made = obeying(array, forms, low, high, rng)
        assert made.shape == shape and made.dtype == dtype and all(obeys(made, form) for form in forms)


def test_what_cannot_be_is_an_error():
    with pytest.raises(ValueError, match="9 distinct integers from 0 to 7"):
        obeying(np.zeros(9, np.int32), ["unique"], 0, 7, np.random.default_rng(0))


def kind(dtype, shape=(None,)):
    name = {np.float32: "f32", np.int32: "i32"}[dtype]
    return Kind("memref", shape, name, False, f"memref<?x{name}>")


@pytest.mark.parametrize("form", sorted(FORMS))
@pytest.mark.parametrize("dtype", [np.float32, np.int32])
@pytest.mark.parametrize("allow", [(), ("reassoc",)])
def test_every_planned_call_obeys(form, dtype, allow):
    """Nothing that the plan puts into an argument, special values and shared buffers included, breaks a fact."""
    arguments = (
        ArgumentContract(("N",), None if dtype == np.float32 else (-9, 40)),
        ArgumentContract(("N",)),
        ArgumentContract(("N",), inout=True, may_alias=0),
    )
    contract = Contract(frozenset(allow), (f"{form}(arg0)", "finite(arg1)", "M == 3"), {"N": (0, 300)}, arguments)
    reading = Reading((kind(dtype), kind(np.float32), kind(dtype)), (), contract, (4, 7), (0.5, -2.0))
    drawer = Drawer(reading, Policy.of(reading), (4, 7), (0.5, -2.0), 3)
    planned = Planner(drawer, reading, (4, 7)).plan(300)
    assert len(planned) > 60
    for one in planned:
        first, second, third = one.call.arguments
        assert obeys(first, form), (one.why, first)
        assert obeys(second, "finite"), one.why
        assert not one.call.aliases or first is third
    sizes = {one.sizes["N"] for one in planned}
    assert 0 in sizes and max(sizes) > (30 if form == "unique" and dtype == np.int32 else 32)
    if form == "unique" and dtype == np.int32:
        assert max(sizes) <= 50  # there are no more integers from -9 to 40


def test_each_fact_on_values_is_told():
    assert set(CALLS) == FORMS | {"align", "noalias"}
