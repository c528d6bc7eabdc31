"""Facts on sizes: what follows from what, checked against all small sizes."""

from __future__ import annotations

import itertools
import random

import pytest

from kc.agents import Contract
from kc.agents.contract import ArgumentContract
from kc.agents.facts import algebra, parse_fact
from kc.agents.facts.settle import settled
from kc.conditions import evaluate, parse, residue

NAMES = ("a", "b", "c")


def expression(rng: random.Random, depth: int = 0) -> str:
    chance = rng.random()
    if depth > 2 or chance < 0.35:
        return rng.choice(NAMES)
    if chance < 0.5:
        return str(rng.randint(0, 6))
    op = rng.choice(["+", "-", "*", "//", "%"])
    right = str(rng.randint(1, 5)) if op in ("//", "%") else expression(rng, depth + 1)
    return f"({expression(rng, depth + 1)} {op} {right})"


def sizes(ranges):
    spans = [range(low, high + 1) for low, high in (ranges[name] for name in NAMES)]
    return (dict(zip(NAMES, point, strict=True)) for point in itertools.product(*spans))


def test_what_is_proved_holds():
    """Random conditions: one that follows is true wherever the known ones are."""
    rng = random.Random(7)
    proved = 0
    for _ in range(3000):
        ranges = {name: (low := rng.randint(0, 4), low + rng.randint(0, 4)) for name in NAMES}

        def condition(depth):
            compare = rng.choice(["==", "<=", "<", ">=", ">", "!="])
            return parse(f"{expression(rng, depth)} {compare} {expression(rng, depth)}")

        known = [k for k in (condition(2) for _ in range(rng.randint(0, 2))) if k is not None]
        wanted = condition(1)
        if wanted is None or not algebra.proves(wanted, known, ranges):
            continue
        proved += 1
        for point in sizes(ranges):
            assert wanted.holds(point) or not all(k.holds(point) for k in known), (str(wanted), known, point)
    assert proved > 300


def test_residues_and_tidy_forms_are_right():
    rng = random.Random(8)
    for _ in range(2000):
        found = parse(f"{expression(rng)} == a")
        if found is None:
            continue
        known = {"a": (4, 1), "b": (6, 0)}
        modulus, rest = residue(found.left, known)
        for a, b, c in itertools.product((1, 5, 9), (0, 6, 12), (0, 1, 7)):
            point = {"a": a, "b": b, "c": c}
            value = evaluate(found.left, point)
            assert value == rest if modulus == 0 else value % modulus == rest
            assert evaluate(algebra.tidy(found.left), point) == value


@pytest.mark.parametrize(
    ("wanted", "granted"),
    [
        ("N % 4 == 0", True),  # N == 4 * M
        ("N % 12 == 0", True),  # and M % 3 == 0
        ("N % 8 == 0", False),
        ("4 * M == N", True),
        ("N >= M", True),
        ("N > M", False),  # both may be 0
        ("M <= K", True),
        ("K >= M", True),
        ("K > M", False),
        ("M < K + 1", True),
        ("K <= 100", True),
        ("M <= 100", True),  # by K
        ("M <= 99", False),
        ("M != 1", True),  # M % 3 == 0
        ("M != 3", False),
        ("X <= 1", False),
    ],
)
def test_grants_what_follows_from_facts_together(wanted, granted):
    contract = Contract(
        facts=("N == 4*M", "M % 3 == 0", "M <= K"),
        sizes={"N": (0, 400), "M": (0, 1000), "K": (0, 100)},
        arguments=(ArgumentContract(("N", "M", "K")),),
    )
    assert contract.grants(wanted) is granted


def test_forms():
    assert parse_fact("N == 4 * M").form == "relation" and parse_fact("N == 4*M").dims == ("N", "M")
    assert parse_fact("N == 4 * M").holds({"N": 8, "M": 2}) and not parse_fact("N==4*M").holds({"N": 9, "M": 2})
    assert parse_fact("bijective(arg0)").form == "other"


@pytest.mark.parametrize(
    ("facts", "found"),
    [
        (("N == 4*M",), {"N": 28, "M": 7}),
        (("N == 4*M", "N % 3 == 0"), None),  # several sizes have to move
        (("M <= N",), {"N": 17, "M": 7}),
        (("N <= M",), {"N": 7, "M": 7}),
        (("N == 4000*M", "N % 8 == 0"), None),  # out of range
        (("M == 7*X",), {"N": 17, "M": 7}),  # of a size that is not there nothing is wanted
    ],
)
def test_sizes_are_settled(facts, found):
    known = [parse_fact(fact) for fact in facts]
    made = settled({"N": 17, "M": 7}, known, {"N": (0, 100), "M": (0, 100)})
    assert all(0 <= size <= 100 for size in made.values())
    assert made == found if found is not None else True
    if "4000" not in facts[0]:
        assert all(fact.holds(made) for fact in known)


def test_timing_finds_sizes():
    """Typical sizes of a region whose sizes are tied to each other."""
    from kc.agents.measure.prepare import arguments

    text = """func.func @main(%x: tensor<?x4xf32> {kc.dims = ["rows", "4"]}, %y: tensor<?xf32> {kc.dims = ["d0"]})
        -> tensor<?x4xf32> attributes {kc.facts = ["d0 == 4 * rows", "rows % 3 == 0"],
                                       kc.sizes = {d0 = array<i64: 0, 4000>, rows = array<i64: 0, 1000>}} {
      return %x : tensor<?x4xf32>
    }"""
    x, y = arguments(text)
    assert y.shape[0] == 4 * x.shape[0] and x.shape[0] % 3 == 0 and x.shape[0] > 16
