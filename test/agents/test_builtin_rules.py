"""Every rule of the agent ``algebra`` against NumPy, under just the assumptions that its ruleset names."""
from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("egglog")

sys.path.insert(0, str(Path(__file__).parent))
from egraph_numpy import DTYPES, disagreement
from egraph_seeds import SEEDS
from stablehlo_programs import Program as Program_

from kc.agents.builtin.egraph.rewrite import rewrite
from kc.agents.builtin.egraph.saturate import Limits, rule_text, rulesets, saturate
from kc.agents.builtin.egraph.terms import Program, ints
from kc.bindings import ir, stablehlo_api
from kc.context import make_context, parse_module

LEAVES = {
    **dict.fromkeys("ABC", ("f32", (3, 4))), **dict.fromkeys("DE", ("f32", (4, 3))),
    **dict.fromkeys("RS", ("f32", (3,))), **dict.fromkeys("ZY", ("f32", ())), "T": ("f32", (2, 3, 4)),
    **dict.fromkeys("IJK", ("i32", (3, 4))), "L": ("i32", (2, 3, 4)), "P": ("i1", (3, 4)),
}
SPECIAL = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-40, -1e-40, 3e38, -3e38, 1.0, -1.0], np.float32)


def program(term: str) -> Program:
    """The program of one term over the leaves that it names."""
    lines = []
    for number, (name, (element, shape)) in enumerate(LEAVES.items()):
        lines += [f"(let ${name} (Value {number}))", f"(set (shape-of ${name}) {ints(shape)})",
                  f'(set (elem-of ${name}) "{element}")']
    lines.append("(let $root " + re.sub(r"(?<![\w\"])([A-Z])(?![\w\"])", r"$\1", term) + ")")
    numbers = frozenset(re.findall(r'Fill "([^"]+)"', term))
    return Program(tuple(lines), ("$root",), (), frozenset(range(4)), numbers)


def draw(rng: np.random.Generator, needs: frozenset[str]) -> list[np.ndarray]:
    """Values of the leaves as the assumptions allow. Sums in another order are drawn so that every order is exact."""
    small = bool(needs & {"reassoc"})
    arrays = []
    for element, shape in LEAVES.values():
        if element == "i1":
            arrays.append(rng.integers(0, 2, shape).astype(np.bool_))
        elif element == "i32":
            arrays.append(rng.choice([-(1 << 31), (1 << 31) - 1, -1, 0, 1, 7, 1 << 30], shape).astype(np.int32))
        elif small:
            arrays.append(np.asarray(rng.choice([-4, -2, -1, 1, 2, 4, 8], shape), np.float32))
        else:
            values = np.asarray(rng.normal(size=shape) * 10.0 ** rng.integers(-3, 4, shape), np.float32)
            special = np.asarray(rng.choice(SPECIAL, shape), np.float32)
            drawn = np.where(rng.random(shape) < 0.4, special, values).astype(np.float32)
            arrays.append(drawn if not needs & {"nnan", "ninf"} else np.where(np.isfinite(drawn), drawn, np.float32(2)))
    return arrays


def same_under(needs: frozenset[str]):
    """How two values of a class are compared."""

    def same(got: np.ndarray, want: np.ndarray) -> bool:
        if got.dtype != want.dtype or got.shape != want.shape:
            return False
        if got.dtype.kind != "f":
            return bool((got == want).all())
        if needs & {"approx", "arcp"}:
            return bool(np.allclose(got, want, rtol=4e-7, atol=2e-45, equal_nan=True))
        nan = np.isnan(got) & np.isnan(want)
        signed = np.signbit(got) == np.signbit(want)
        signs = np.ones(got.shape, bool) if needs & {"nsz", "reassoc"} else signed
        return bool((nan | ((got == want) & signs)).all())

    return same


def ruleset_of(rules: str, name: str) -> str:
    bare = name.removesuffix("=>").removesuffix("<=")
    found = re.search(rf':ruleset (\S+)\s+:name "{re.escape(bare)}"', rules)
    assert found, f"no rule {bare}"
    return found[1]


@pytest.mark.parametrize("name", SEEDS)
def test_rule_holds(name: str) -> None:
    rules = rule_text()
    chosen = ruleset_of(rules, name)
    needs = rulesets(rules)[chosen]
    classes = saturate(program(SEEDS[name]), rules, [chosen])
    assert classes.fired.get(name), f"{name} did not fire: {classes.fired}"
    rng = np.random.default_rng(sum(map(ord, name)))
    for _ in range(20):
        leaves = draw(rng, needs)
        assert not disagreement(classes, leaves, same_under(needs))


def test_every_rule_has_a_seed() -> None:
    names = re.findall(r'^\((rewrite|birewrite|rule)\b.*?:name "([^"]+)"', rule_text(), re.MULTILINE | re.DOTALL)
    directed = {n + end for kind, n in names for end in (("=>", "<=") if kind == "birewrite" else ("",))}
    assert directed == set(SEEDS)
    assert set(DTYPES) >= {element for element, _ in LEAVES.values()}


WRONG = {
    "add-zero as exact": ('(rewrite (Bin "add" x (Fill "0.0" e s)) x :ruleset exact :name "w")', SEEDS["add-zero"]),
    "x * 0 as exact": ('(rewrite (Bin "multiply" x (Fill "0.0" e s)) (Fill "0.0" e s) :ruleset exact :name "w")',
                       SEEDS["mul-zero"]),
    "x - x as exact": ('(rewrite (Bin "subtract" x x) (Fill "0.0" "f32" (shape-of x)) :ruleset exact :name "w")',
                       SEEDS["sub-self"]),
    "division is no product": ('(rewrite (Bin "divide" x y) (Bin "divide" y x) :ruleset exact :name "w")',
                               SEEDS["factor-divide"]),
    "transposes in the wrong order": (
        '(rewrite (Transpose (Transpose x p) q) (Transpose x (unstable-vec-map (unstable-fn "vec-get" q) p))'
        ' :ruleset exact :name "w")', "(Transpose (Transpose X (vec-of 1 2 0)) (vec-of 0 2 1))".replace("X", "T")),
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_rules_are_seen(what: str) -> None:
    """The check above has teeth: a wrong rule makes a class disagree, or two shapes meet."""
    rule, term = WRONG[what]
    rules = f"{rule_text()}\n{rule}"
    try:
        classes = saturate(program(term), rules, ["exact"])
    except BaseException as error:  # egglog panics where two shapes of one term would have to be merged
        assert "shape-of" in str(error) or "merge" in str(error).lower(), error
        return
    assert classes.fired.get("w")
    rng = np.random.default_rng(7)
    assert any(disagreement(classes, draw(rng, frozenset()), same_under(frozenset())) for _ in range(20))


def interpreted(text: str, arrays: list[np.ndarray]) -> np.ndarray:
    """The result of a StableHLO function by the reference interpreter."""
    module = parse_module(text, make_context())
    f32 = ir.F32Type.get(module.context)
    with module.context, ir.Location.unknown():
        arguments = [ir.DenseElementsAttr.get(np.ascontiguousarray(a.reshape(a.shape or (1,))), shape=a.shape, type=f32)
                     for a in arrays]
        return np.array(stablehlo_api.eval_module(module, arguments)[0])


@pytest.mark.parametrize("seed", [1000, 1004, 1009, 1014, 1023, 1034])
def test_random_programs_stay_the_same_bit_for_bit(seed: int) -> None:
    """Under exact rules, on inputs with special values; seeds by which something is rewritten."""
    program = Program_(seed, 14)
    found = rewrite(program.text, rule_text(), ["exact"], Limits(8, 4_000, 5.0))
    assert found is not None and found["after"] < found["before"] and found["assumes"] == []
    rng = np.random.default_rng(seed)
    for special in (0.0, 0.4):
        arrays = [np.where(rng.random(s) < special, rng.choice(SPECIAL, s), rng.normal(size=s)).astype(np.float32)
                  for s in program.inputs]
        want, got = (interpreted(text, arrays) for text in (program.text, found["ir"]))
        assert same_under(frozenset())(got, want)


def test_budgets_end_a_saturation() -> None:
    names = ["A", "B", "C", "A", "B", "C", "A", "B"]
    term = names[0]
    for name in names[1:]:
        term = f'(Bin "add" {term} {name})'
    classes = saturate(program(term), rule_text(), ["exact", "reassoc"], Limits(50, 500, 30.0))
    assert classes.stopped == "terms"
    assert saturate(program(term), rule_text(), ["exact", "reassoc"], Limits(2, 10**6, 30.0)).stopped == "rounds"
    assert saturate(program(term), rule_text(), ["exact", "reassoc"], Limits(50, 10**6, 0.0)).stopped == "seconds"
