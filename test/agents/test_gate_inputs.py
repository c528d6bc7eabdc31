"""Sizes and values of the differential test: the contract is obeyed, and the corners are there."""

from __future__ import annotations

import random

import numpy as np
import pytest

from kc.agents.contract import ArgumentContract, Contract
from kc.agents.execution.signature import kind_of
from kc.agents.gates.inputs import Drawer
from kc.agents.gates.plan import Planner
from kc.agents.gates.policy import Policy
from kc.agents.gates.reading import Reading
from kc.agents.gates.sizes import Shapes, every, large, ordinary
from kc.agents.gates.values import INTEGER_MANNERS, MANNERS, Floats, Integers


def reading(
    *types: str, arguments: tuple = (), allow: tuple = (), facts: tuple = (), sizes: dict | None = None
) -> Reading:
    given = [*arguments, *([ArgumentContract()] * (len(types) - len(arguments)))]
    contract = Contract(frozenset(allow), facts, sizes or {}, tuple(given))
    return Reading(tuple(map(kind_of, types)), (), contract)


def dims(*names: str, **options) -> ArgumentContract:
    return ArgumentContract(names, **options)


def planned(region: Reading, integers: tuple = (), floats: tuple = (), most: int = 300):
    drawer = Drawer(region, Policy.of(region), integers, floats, 1)
    return Planner(drawer, region, integers).plan(most)


MATRIX = reading("memref<?x?xf32>", "memref<?xf32>", arguments=(dims("M", "N"), dims("N")))


def test_sizes_hold_the_corners():
    found = ordinary(Shapes(MATRIX), [24], random.Random(1))
    pairs = [(s["M"], s["N"]) for s in found]
    assert {(0, 0), (1, 1), (16, 16), (7, 7)} <= set(pairs)
    assert any(m == 0 < n for m, n in pairs) and any(n == 0 < m for m, n in pairs)
    assert any(m != n and m % 2 and n % 2 and m > 1 < n for m, n in pairs)
    assert {23, 24, 25, 64} <= {m for m, _ in pairs} & {n for _, n in pairs} | {m for m, _ in pairs}
    assert len(set(pairs)) == len(pairs)


def test_sizes_obey_ranges_and_facts():
    region = reading(
        "memref<?x?xf32>",
        arguments=(dims("M", "N"),),
        facts=("N % 8 == 0", "M <= N"),
        sizes={"M": (2, 40), "N": (8, 40)},
    )
    for size in (*ordinary(Shapes(region), [17], random.Random(1)), *large(Shapes(region), [])):
        assert 2 <= size["M"] <= size["N"] <= 40 and size["N"] % 8 == 0


def test_a_small_range_is_tried_at_every_size():
    region = reading("memref<?xf32>", arguments=(dims("N"),), sizes={"N": (3, 90)})
    shapes = Shapes(region)
    known = ordinary(shapes, [], random.Random(1))
    assert {s["N"] for s in known} | {s["N"] for s in every(shapes, known)} == set(range(3, 91))


def test_large_sizes_pass_16_bits_but_not_the_budget():
    wide = reading("memref<?x?xf32>", arguments=(dims("M", "N"),), sizes={"M": (0, 131072), "N": (0, 131072)})
    found = [s["M"] * s["N"] for s in large(Shapes(wide), [])]
    assert max(found) > 65536 and max(found) <= 1 << 24
    assert any(s["M"] == 131072 for s in large(Shapes(wide), []))
    assert large(Shapes(reading("tensor<4xf32>")), []) == []


def test_a_static_extent_fixes_the_dimension_of_that_name():
    region = reading("memref<?x?xf32>", "memref<5x?xf32>", arguments=(dims("M", "N"), dims("M", "N")))
    assert {s["M"] for s in ordinary(Shapes(region), [], random.Random(1))} == {5}


@pytest.mark.parametrize("manner", MANNERS)
@pytest.mark.parametrize("shape", [(0,), (), (1,), (3, 5), (2, 0)])
def test_every_manner_of_floats_fills_every_shape(manner, shape):
    rng = np.random.default_rng(3)
    made = Floats([0.1, 3.0], nan=False, inf=False, huge=False, narrow=False).fill(manner, shape, np.dtype("f4"), rng)
    assert made.shape == shape and made.dtype == np.float32
    assert np.isfinite(made).all() and (np.abs(made) < 1e19).all()
    import ml_dtypes

    half = np.dtype(ml_dtypes.bfloat16)
    assert Floats([], nan=True, inf=True, huge=True, narrow=False).fill(manner, shape, half, rng).dtype == half


@pytest.mark.parametrize("manner", INTEGER_MANNERS)
@pytest.mark.parametrize(("dtype", "low", "high"), [("i4", -(2**31), 2**31 - 1), ("u8", 0, 2**64 - 1), ("i1", 3, 3)])
def test_every_manner_of_integers_keeps_to_the_range(manner, dtype, low, high):
    made = Integers(np.dtype(dtype), low, high, [5, 100]).fill(manner, (4, 3), np.random.default_rng(1))
    assert made.dtype == np.dtype(dtype) and made.shape == (4, 3)
    assert all(low <= int(x) <= high for x in made.reshape(-1))


def test_a_plan_holds_what_hides_mistakes():
    calls = planned(MATRIX, floats=(42.5,))
    arrays = [p.call.arguments[0] for p in calls if p.call.arguments[0].size]
    assert any(np.isnan(a).sum() == 1 for a in arrays) and any(np.isnan(a).all() for a in arrays)
    assert any((a == -np.inf).all() for a in arrays) and any((a == 0).all() for a in arrays)
    assert any((a < 0).all() for a in arrays) and any((a == a.reshape(-1)[0]).all() for a in arrays)
    assert any((a == 42.5).any() for a in arrays)
    assert any(((np.abs(a) > 88) & (np.abs(a) <= 300)).any() for a in arrays)
    assert any(((np.abs(a) > 0) & (np.abs(a) < 1e-38)).any() for a in arrays)
    assert any(np.signbit(a[a == 0]).any() for a in arrays)
    first = [p.call.arguments[0] for p in calls[:24]]
    assert any(np.isnan(a).any() for a in first)  # mistakes that are often made show early


def test_the_contract_keeps_values_out():
    for allow, bad in (("nnan", np.isnan), ("ninf", np.isinf)):
        region = reading("memref<?xf32>", arguments=(dims("N"),), allow=(allow,))
        assert not any(bad(p.call.arguments[0]).any() for p in planned(region))
    region = reading(
        "memref<?xi32>",
        "memref<?xi32>",
        arguments=(dims("N", range=(-3, 7)), dims("N", range=(0, 99))),
        facts=("unique(arg1)",),
    )
    for plan in planned(region):
        one, other = plan.call.arguments
        assert not one.size or -3 <= one.min() <= one.max() <= 7
        assert len(set(other.tolist())) == other.size


def test_small_types_and_ranges_are_swept():
    calls = planned(reading("memref<?x?xi8>", arguments=(dims("M", "N"),)))
    assert len(set(np.concatenate([p.call.arguments[0].reshape(-1) for p in calls]).tolist())) == 256
    halves = planned(reading("memref<?x?xf16>", arguments=(dims("M", "N"),)))
    seen = np.unique(np.concatenate([p.call.arguments[0].reshape(-1).view(np.uint16) for p in halves]))
    assert len(seen) == 65536


def test_an_extent_handed_over_as_a_number_is_that_extent():
    region = reading("memref<?xf32>", "index", arguments=(dims("N"), dims("N")))
    assert all(int(p.call.arguments[1]) == p.sizes["N"] for p in planned(region))


def test_shared_buffers_are_tried_where_they_are_allowed():
    region = reading("memref<?xf32>", "memref<?xf32>", arguments=(dims("N"), dims("N", out=True, may_alias=0)))
    calls = planned(region)
    assert any(p.call.aliases == ((1, 0),) for p in calls) and any(not p.call.aliases for p in calls)


def test_pairs_of_constants_meet():
    region = reading("tensor<4xf32>", "tensor<4xf32>")
    calls = planned(region, floats=(0.5, 0.25))
    met = {(float(a), float(b)) for p in calls for a, b in zip(*p.call.arguments, strict=True)}
    assert {(0.5, 0.25), (0.25, 0.5), (0.5, 0.5)} <= met
