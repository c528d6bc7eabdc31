"""Sizes and values of the differential test: the contract is obeyed, and the corners are there."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest

from kc.agents.contract import ArgumentContract, Contract
from kc.agents.execution.signature import kind_of
from kc.agents.gates.inputs import Drawer
from kc.agents.gates.plan import Planner
from kc.agents.gates.policy import Policy
from kc.agents.gates.reading import Reading
from kc.agents.gates.sizes import Shapes, every, large, longer, ordinary
from kc.agents.gates.tasks import read_original
from kc.agents.gates.telling import FORMATS
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


DIVIDED = """module {
func.func @main(%x: memref<?xi32> {kc.dims = ["N"]}, %h: f64, %y: memref<?xf16> {kc.dims = ["N"], kc.out}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %d = arith.constant 1771 : i32
  %m = arith.constant 155210563 : i32
  %s = arith.constant 7 : i32
  %n = memref.dim %x, %c0 : memref<?xi32>
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xi32>
    %q = arith.divsi %v, %d : i32
    %low, %high = arith.mulsi_extended %q, %m : i32
    %t = arith.shrsi %high, %s : i32
    %b = arith.bitcast %t : i32 to f32
    %r = math.roundeven %b : f32
    %w = arith.truncf %h : f64 to f16
    memref.store %w, %y[%i] : memref<?xf16>
  }
  return
}
}"""


def test_what_the_ops_do_is_read():
    (_, found), *_ = list(read_original(DIVIDED))
    assert found.traits >= {"divide", "loop", "bits", "round", "narrow:f16"}
    assert found.divisors[0] == 1771 and round(2**39 / 155210563) in found.divisors


def telling_calls(region: Reading, *traits: str, divisors: tuple = (), floats: tuple = (), integers: tuple = ()):
    drawer = Drawer(region, Policy.of(region), integers, floats, 1, (), frozenset(traits), divisors)
    calls = Planner(drawer, region, ()).plan(60)
    return [p.call.arguments for p in calls if p.call.arguments[0].size]


def test_divisions_meet_the_values_below_the_highest_multiples():
    region = reading("memref<?xi32>", arguments=(dims("N", range=(0, 2**31 - 1)),))
    found = np.concatenate([a[0] for a in telling_calls(region, "divide", divisors=(1771, 10))])
    for divisor in (1771, 10):
        top = (2**31 - 1) // divisor
        assert {k * divisor + d for k in (top, top - 1, top // 2) for d in (-1, 0)} <= set(found.tolist())
    assert found.min() >= 0


def test_loops_meet_neighbouring_fibonacci_numbers_both_ways_round():
    region = reading("memref<?xi32>", "memref<?xi32>", arguments=(dims("N"), dims("N")))
    pairs = {p for a, b in telling_calls(region, "loop", "divide") for p in zip(a.tolist(), b.tolist(), strict=True)}
    assert {(1836311903, 1134903170), (1134903170, 1836311903)} <= pairs
    top = (2**31 - 1) // 641
    assert {(top * 641 - 1, 641), (top * 641, 641)} <= pairs
    scalars = reading("i32", "i32")
    pairs = {(int(a), int(b)) for a, b in telling_calls(scalars, "loop")}
    assert (1836311903, 1134903170) in pairs


def test_looks_at_bits_meet_nan_of_both_signs():
    region = reading("memref<?xf32>", arguments=(dims("N"),))
    bits = np.concatenate([a[0] for a in telling_calls(region, "bits")]).view(np.uint32)
    payloads = {0x7FC00000, 0x7FC00001, 0x7F800001, 0x7FFFFFFF}
    assert payloads | {p | 1 << 31 for p in payloads} <= set(bits.tolist())
    finite = reading("memref<?xf32>", arguments=(dims("N"),), allow=("nnan",))
    assert not any(np.isnan(a[0]).any() for a in telling_calls(finite, "bits"))


@pytest.mark.parametrize(
    ("source", "kind", "halfway", "unit"),
    [
        ("i32", "bf16", 2**30 + 2**22, 1),
        ("i64", "f32", 2**62 + 2**38, 1),
        ("i64", "f64", 2**62 + 2**9, 1),
        ("i32", "f16", 2**15 + 2**4, 1),
        ("f64", "f16", 1 + 2**-11, 2**-52),
        ("f64", "f32", 1 + 2**-24, 2**-52),
        ("f64", "f32", 1.5 * 2**-149, 2**-201),
        ("f32", "bf16", 1 + 2**-8, 2**-23),
        ("f32", "f8E5M2", 1.125, 2**-23),
    ],
)
def test_conversions_meet_what_rounding_twice_changes(source, kind, halfway, unit):
    region = reading(f"memref<?x{source}>", arguments=(dims("N"),))
    found = set(np.concatenate([a[0] for a in telling_calls(region, f"narrow:{kind}")]).tolist())
    assert {halfway, halfway + unit, -halfway, -halfway - unit} <= found
    assert halfway - unit in found or halfway - unit / 2 in found


def test_roundings_meet_halves_of_each_scale():
    region = reading("memref<?xf32>", arguments=(dims("N"),))
    found = set(np.concatenate([a[0] for a in telling_calls(region, "round", floats=(0.125, 127.0))]).tolist())
    assert {0.0625, 0.3125, -0.1875, 0.5, 2.5, -3.5, 8388609.0} <= found
    assert float(np.nextafter(np.float32(0.5), np.float32(0))) in found


@pytest.mark.parametrize(
    ("divisor", "rounding"), [(3, np.rint), (7, np.rint), (50, np.rint), (3, np.floor), (41, np.floor)]
)
def test_roundings_tell_a_quotient_from_a_product_with_the_reciprocal(divisor, rounding):
    """Some value next to a multiple, or to the middle of two, of the divisor falls on the other side."""
    region = reading("memref<?xf32>", arguments=(dims("N"),))
    reciprocal = np.float32(1) / np.float32(divisor)
    made = telling_calls(region, "round", floats=(float(reciprocal), -128.0, 127.0, float(divisor)))
    x = np.concatenate([a[0] for a in made])
    with np.errstate(over="ignore"):
        assert (rounding(x * reciprocal) != rounding(x / np.float32(divisor))).any()


def test_products_meet_the_smallest_numbers():
    """Some multiple of the smallest number is scaled otherwise in two steps."""
    region = reading("memref<?xf32>", arguments=(dims("N"),))
    x = np.concatenate([a[0] for a in telling_calls(region, "scale-floats")])
    quarter = np.float32(0.25)
    assert (x * quarter * quarter != x * np.float32(0.0625)).any()


@pytest.mark.parametrize(
    ("kind", "narrow", "wide", "summand"),
    [("f32", np.float32, np.float64, 1.125), ("f32", np.float32, np.float64, 300.0),
     ("f16", np.float16, np.float32, 2.0**-12)],
)
def test_squares_lie_halfway_where_a_wider_sum_loses_what_decides(kind, narrow, wide, summand):
    region = reading(f"memref<?x{kind}>", arguments=(dims("N"),))
    x = np.concatenate([a[0] for a in telling_calls(region, "fma", floats=(summand,))])
    x = x[np.isfinite(x) & (np.abs(x) < np.sqrt(np.finfo(narrow).max) / 2)]
    for value in x.tolist():
        exact = Fraction(value) ** 2 + Fraction(summand)
        rounded = narrow(wide(value) ** 2 + wide(summand))
        others = (np.nextafter(rounded, narrow(way)) for way in (np.inf, -np.inf))
        if any(abs(Fraction(float(o)) - exact) < abs(Fraction(float(rounded)) - exact) for o in others):
            return
    pytest.fail("each rounded sum is the nearest")


def test_conditions_on_data_meet_what_they_ask_for():
    """Arrays of one constant, identities beside special values, orders broken at an end, constants carried back."""
    region = reading("memref<?x?xf32>", "memref<?x?xf32>", arguments=(dims("M", "M"), dims("M", "M")))
    assert any(
        (a == np.eye(len(a))).all() and len(a) > 2 and not np.isfinite(b).all()
        for a, b in telling_calls(region, "compare")
    )
    region = reading("memref<?xi32>", arguments=(dims("N"),))
    calls = [a[0] for a in telling_calls(region, "compare", integers=(12544, 3, 7))]
    assert any(4179 in a for a in calls) and any(112 in a for a in calls)  # 3 * x + 7, x * x
    assert any(a.size > 2 and (a == 12544).all() for a in calls)
    steps = [np.diff(a.astype(np.int64)) for a in calls if a.size > 3]
    assert any((s[:-1] > 0).all() and s[-1] < 0 for s in steps) and any((s > 0).all() for s in steps)
    assert any((s[1:] > 0).all() and s[0] < 0 for s in steps)


def test_whole_arrays_lie_below_and_above_each_constant():
    region = reading("memref<?xf32>", arguments=(dims("N"),))
    found = [a[0] for a in telling_calls(region, floats=(-1.0, 40.0))]
    for c in (-1.0, 40.0):
        assert any((a < c).all() for a in found) and any((a > c).all() for a in found)


def test_quotients_and_fused_products_meet_halfway_points():
    region = reading(*["memref<?xf32>"] * 3, arguments=(dims("N"),) * 3)
    calls = telling_calls(region, "divide-floats", "fma")
    with np.errstate(invalid="ignore"):
        halves = [np.float64(x) / y / 2.0**-149 % 1 == 0.5 for a, b, _ in calls for x, y in zip(a, b, strict=True) if y]
    assert sum(map(bool, halves)) >= 40
    products = {(float(x), float(y), float(z)) for a, b, c in calls for x, y, z in zip(a, b, c, strict=True)}
    assert {(4097.0, 4097.0, 2.0**-40), (-4097.0, 4097.0, 2.0**-40)} <= products


@pytest.mark.parametrize("source", ["i1", "i8", "i64", "index", "f16", "bf16", "f32", "f64", "f8E4M3FN", "f8E5M2"])
@pytest.mark.parametrize("shape", ["memref<?x{}>", "{}"])
def test_every_type_has_its_telling_values(source, shape):
    traits = {f"narrow:{kind}" for kind in FORMATS} | {"bits", "loop", "divide", "divide-floats", "fma", "round"}
    for allow in ((), ("reassoc", "nnan"), ("low_precision",)):
        region = reading(shape.format(source), shape.format(source), allow=allow)
        assert telling_calls(region, *traits, divisors=(3,), floats=(0.1, -1e30, float("inf")))


LINE = reading("memref<?xf32>", "memref<?xi1>", arguments=(dims("N"), dims("N")), sizes={"N": (0, 100_000)})


def test_long_rows_are_tried_with_special_values_and_every_remainder():
    shapes = Shapes(LINE)
    assert max(s["N"] for s in ordinary(shapes, [], random.Random(1))) == 8192  # of two arguments
    found = [s["N"] for s in longer(shapes, [20_000])]
    assert found[0] == 100_000 and {n % 16 >= 8 for n in found if n > 20_000} == {True, False}
    calls = [p for p in planned(LINE, integers=(20_000,)) if p.sizes["N"] > 20_000]
    rows = [p.call.arguments[0] for p in calls]
    assert any(np.isnan(row).sum() == 1 for row in rows) and any((row < 0).all() for row in rows)
    assert any(row[-1] == row.max() for row in rows)
    assert any(p.call.arguments[1].all() for p in calls)


def test_sizes_that_comparisons_single_out_are_tried_in_pairs():
    found = ordinary(Shapes(MATRIX), [], random.Random(1), (13, 29))
    assert {"M": 13, "N": 29} in found and {"M": 29, "N": 13} in found
    calls = Planner(Drawer(LINE, Policy.of(LINE), (), (), 1), LINE, (), (13,)).plan(60)
    assert any(p.sizes["N"] == 13 and p.call.arguments[0][-1] == 100 for p in calls)


def test_each_sort_of_nan_is_tried_alone_where_bits_are_looked_at():
    drawer = Drawer(MATRIX, Policy.of(MATRIX), (), (), 1, traits=frozenset({"bits"}))
    rows = [p.call.arguments[1] for p in Planner(drawer, MATRIX, ()).plan(60)]
    assert any(np.isnan(r).sum() == 1 and np.signbit(r[np.isnan(r)]).all() for r in rows)
