"""Facts on values by dataflow: every claim is held against what compiled programs give for hostile inputs."""

from __future__ import annotations

import random

import numpy as np
import pytest

import kc
from kc.agents.gates.obeying import obeys
from kc.agents.regions import find
from kc.agents.regions.dataflow import argument_facts
from kc.agents.regions.dataflow.floats import Floats
from kc.agents.regions.dataflow.walk import Values
from kc.agents.regions.known import contract_of
from kc.context import make_context, parse_module

NAN, INF = float("nan"), float("inf")
TINY = np.float32(1e-45)
HOSTILE = np.array(
    [NAN, INF, -INF, 0.0, -0.0, TINY, -TINY, 1.0, -1.0, 0.5, -0.5, 88.9, -104.0, 3.4e38, -3.4e38, 1e-20, -1e-20, 2.5,
     -2.5, 17.0],
    np.float32,
)  # fmt: skip
INTEGERS = np.array([0, 1, -1, 7, -7, 1 << 30, -(1 << 31), (1 << 31) - 1, 16777217, 5] * 2, np.int32)
WIDTH = len(HOSTILE)
F, J, B = f"tensor<{WIDTH}xf32>", f"tensor<{WIDTH}xi32>", f"tensor<{WIDTH}xi1>"
UNARY = ["abs", "negate", "exponential", "sqrt", "floor", "ceil", "round_nearest_even", "round_nearest_afz", "tanh",
         "sine", "cosine"]  # fmt: skip
BINARY = ["add", "subtract", "multiply", "divide", "maximum", "minimum"]
LINALG = {
    "abs": "math.absf", "negate": "arith.negf", "exponential": "math.exp", "sqrt": "math.sqrt", "floor": "math.floor",
    "ceil": "math.ceil", "round_nearest_even": "math.roundeven", "round_nearest_afz": "math.round", "tanh": "math.tanh",
    "sine": "math.sin", "cosine": "math.cos", "add": "arith.addf", "subtract": "arith.subf", "multiply": "arith.mulf",
    "divide": "arith.divf", "maximum": "arith.maximumf", "minimum": "arith.minimumf",
}  # fmt: skip


def body(rng: random.Random, count: int, linalg: bool) -> tuple[list[str], list[str]]:
    """Lines of ops on %x, %y (hostile floats), %i (integers) and %p (booleans), and the names of their results."""
    kind = "f32" if linalg else F
    lines, names = [], ["%x", "%y"]
    constants = [0.0, -0.0, 1.0, -3.0, 0.25, 100.0]
    for k, number in enumerate(constants):
        value = f"{number:e}" if linalg else f"dense<{number:e}>"
        lines.append(f"%c{k} = {'arith' if linalg else 'stablehlo'}.constant {value} : {kind}")
    names += [f"%c{k}" for k in range(len(constants))]
    convert = ["arith.sitofp %i : i32 to f32", "arith.uitofp %p : i1 to f32"] if linalg else [
        f"stablehlo.convert %i : ({J}) -> {F}", f"stablehlo.convert %p : ({B}) -> {F}"]  # fmt: skip
    for k, text in enumerate(convert):
        lines.append(f"%k{k} = {text}")
        names.append(f"%k{k}")
    for k in range(count):
        name, one, other = f"%v{k}", rng.choice(names), rng.choice(names)
        choice = rng.random()
        if choice < 0.3:
            op = rng.choice(UNARY)
            text = f"{LINALG[op] if linalg else 'stablehlo.' + op} {one} : {kind}"
        elif choice < 0.75:
            op = rng.choice(BINARY)
            other = one if rng.random() < 0.15 else other
            text = f"{LINALG[op] if linalg else 'stablehlo.' + op} {one}, {other} : {kind}"
        elif choice < 0.85 and linalg:
            text = f"arith.{rng.choice(['maxnumf', 'minnumf'])} {one}, {other} : {kind}"
        elif choice < 0.85:
            text = f"stablehlo.clamp {one}, {other}, {rng.choice(names)} : {kind}"
        else:  # a value instead of NaN
            says = rng.choice(["NE", "EQ"])
            if linalg:
                asked = rng.choice({"NE": ["une", "uno"], "EQ": ["oeq", "ord"]}[says])
                lines.append(f"%q{k} = arith.cmpf {asked}, {one}, {one} : f32")
            else:
                lines.append(f"%q{k} = stablehlo.compare {says}, {one}, {one} : ({F}, {F}) -> {B}")
            first, second = (other, one) if says == "NE" else (one, other)
            text = f"{'arith' if linalg else 'stablehlo'}.select %q{k}, {first}, {second} : " + (
                "f32" if linalg else f"{B}, {F}"
            )
        lines.append(f"{name} = {text}")
        names.append(name)
    return lines, [name for name in names if name[1] in "vk"]


def program(seed: int, linalg: bool) -> str:
    lines, names = body(random.Random(seed), 16, linalg)
    arguments = f"%a: {F}, %b: {F}, %j: {J}, %r: {B}"
    results = ", ".join([F] * len(names))
    if not linalg:
        text = "\n".join(lines)
        for inner, outer in (("%x", "%a"), ("%y", "%b"), ("%i", "%j"), ("%p", "%r")):
            text = text.replace(f"{inner} ", f"{outer} ").replace(f"{inner},", f"{outer},")
        values = ", ".join(names)
        return f"func.func @main({arguments}) -> ({results}) {{\n{text}\nreturn {values} : {results}\n}}"
    same = "affine_map<(d0) -> (d0)>"
    outs = ", ".join(["%e"] * len(names))
    block = "%x: f32, %y: f32, %i: i32, %p: i1, " + ", ".join(f"%o{k}: f32" for k in range(len(names)))
    returned = ", ".join(f"%0#{k}" for k in range(len(names)))
    return f"""func.func @main({arguments}) -> ({results}) {{
      %e = tensor.empty() : {F}
      %0:{len(names)} = linalg.generic {{indexing_maps = [{', '.join([same] * (4 + len(names)))}],
          iterator_types = ["parallel"]}} ins(%a, %b, %j, %r : {F}, {F}, {J}, {B}) outs({outs} : {results}) {{
      ^bb0({block}):
        {chr(10).join(lines)}
        linalg.yield {', '.join(names)} : {', '.join(['f32'] * len(names))}
      }} -> ({results})
      return {returned} : {results}
    }}"""


def holds(known: Floats, array: np.ndarray) -> bool:
    """Whether what is claimed is true of an array."""
    real = array[~np.isnan(array)].astype(np.float64)
    minus = (real == 0) & np.signbit(real)
    return (
        (known.nan or len(real) == array.size)
        and (known.minus_zero or not minus.any())
        and bool(((real >= known.low) & (real <= known.high)).all())
    )


@pytest.mark.parametrize(("linalg", "programs"), [(False, 5), (True, 10)])
def test_claims_hold_in_compiled_programs(linalg, programs):
    """Random programs of every op that is followed: what is claimed of a value is true of what it is."""
    rng = np.random.default_rng(5)
    claims = 0
    for seed in range(programs):
        text = program(seed, linalg)
        module = parse_module(text, make_context())
        function = next(iter(module.body.operations)).operation
        values = Values(module.operation, lambda callee: True)
        returned = list(list(function.regions[0].blocks[0].operations)[-1].operands)
        known = [values.of(value) for value in returned]
        run = kc.compile(text)
        for order in (np.arange(WIDTH), *(rng.permutation(WIDTH) for _ in range(3))):
            arrays = run(HOSTILE, HOSTILE[order], INTEGERS, rng.random(WIDTH) < 0.5)
            for number, (told, array) in enumerate(zip(known, arrays, strict=True)):
                assert holds(told, array), (seed, number, told, array, text)
        claims += sum(k.finite + k.nonnegative + k.positive for k in known)
    assert claims > 30, "the programs are such that something is known of them"


CALLED = """
func.func @main(%x: tensor<8xf32>, %n: tensor<8xi32>, %d: tensor<?xf32>) -> tensor<8xf32> {{
  {made}
  %r = call @f(%y) : ({kind}) -> tensor<8xf32>
  return %r : tensor<8xf32>
}}
func.func private @f(%y: {kind}) -> tensor<8xf32> {{
  %z = stablehlo.constant dense<0.0> : tensor<8xf32>
  return %z : tensor<8xf32>
}}
"""
SORT = """%k = stablehlo.iota dim = 0 : tensor<8xi32>
  {keys}
  %s:2 = "stablehlo.sort"({sorted}, %k) ({{
  ^bb0(%a: tensor<{e}>, %b: tensor<{e}>, %c: tensor<i32>, %q: tensor<i32>):
    %l = stablehlo.compare {how}, %a, %b : (tensor<{e}>, tensor<{e}>) -> tensor<i1>
    stablehlo.return %l : tensor<i1>
  }}) {{dimension = 0 : i64}} : (tensor<8x{e}>, tensor<8xi32>) -> (tensor<8x{e}>, tensor<8xi32>)
  %y = stablehlo.reshape %s#{which} : (tensor<8x{t}>) -> tensor<8x{t}>"""


def sort(keys="", of="%n", e="i32", how="LT", which=0):
    return SORT.format(keys=keys, sorted=of, e=e, how=how, which=which, t=e if which == 0 else "i32")


def facts(made: str, kind: str) -> set[str]:
    module = parse_module(CALLED.format(made=made, kind=kind), make_context())
    (region,) = [r for r in find(module, "stablehlo") if r.name == "f"]
    return {fact.removesuffix("(arg0)") for fact in argument_facts(region, "cpu", {})}


F8, I8 = "tensor<8xf32>", "tensor<8xi32>"


@pytest.mark.parametrize(
    ("made", "kind", "expected"),
    [
        # of a caller's array nothing is known, and NaN goes through abs, exp, max and squares
        ("%y = stablehlo.abs %x : tensor<8xf32>", F8, set()),
        ("%y = stablehlo.exponential %x : tensor<8xf32>", F8, set()),
        ("%y = stablehlo.multiply %x, %x : tensor<8xf32>", F8, set()),
        (f"%c = stablehlo.constant dense<0.0> : {F8}\n%y = stablehlo.maximum %x, %c : {F8}", F8, set()),
        # what is no NaN: infinity stays, a square of it too
        (f"%q = stablehlo.compare NE, %x, %x : ({F8}, {F8}) -> tensor<8xi1>\n"
         "%c = stablehlo.constant dense<0.0> : tensor<8xf32>\n"
         f"%w = stablehlo.select %q, %c, %x : tensor<8xi1>, {F8}\n%y = stablehlo.abs %w : {F8}", F8, {"nonnegative"}),
        # the same asked by total order: NaN equals itself there
        (f"%q = stablehlo.compare NE, %x, %x, TOTALORDER : ({F8}, {F8}) -> tensor<8xi1>\n"
         "%c = stablehlo.constant dense<0.0> : tensor<8xf32>\n"
         f"%w = stablehlo.select %q, %c, %x : tensor<8xi1>, {F8}\n%y = stablehlo.abs %w : {F8}", F8, set()),
        (f"%q = stablehlo.is_finite %x : ({F8}) -> tensor<8xi1>\n%c = stablehlo.constant dense<1.0> : {F8}\n"
         f"%w = stablehlo.select %q, %x, %c : tensor<8xi1>, {F8}\n%a = stablehlo.abs %w : {F8}\n"
         f"%y = stablehlo.add %a, %c : {F8}", F8, {"finite", "positive"}),  # the largest number and 1 is the largest
        # integers as floats: finite, but negative ones are negative, and in f16 they overflow
        (f"%y = stablehlo.convert %n : ({I8}) -> {F8}", F8, {"finite"}),
        (f"%y = stablehlo.convert %n : ({I8}) -> tensor<8xf16>", "tensor<8xf16>", set()),
        (f"%f = stablehlo.convert %n : ({I8}) -> {F8}\n%y = stablehlo.abs %f : {F8}", F8, {"finite", "nonnegative"}),
        (f"%f = stablehlo.convert %n : ({I8}) -> {F8}\n%y = stablehlo.negate %f : {F8}", F8, {"finite"}),
        # exp of what is bounded: positive only where it cannot underflow
        (f"%f = stablehlo.convert %n : ({I8}) -> {F8}\n%y = stablehlo.exponential %f : {F8}", F8, {"nonnegative"}),
        (f"%i = stablehlo.iota dim = 0 : {F8}\n%y = stablehlo.exponential %i : {F8}", F8, {"finite", "positive"}),
        # counters
        (f"%y = stablehlo.iota dim = 0 : {I8}", I8, {"sorted", "unique"}),
        (f"%y = stablehlo.iota dim = 0 : {F8}", F8, {"finite", "nonnegative", "sorted", "unique"}),
        ("%y = stablehlo.iota dim = 0 : tensor<200xi8>", "tensor<200xi8>", set()),  # wraps
        ("%y = stablehlo.iota dim = 0 : tensor<3000xf16>", "tensor<3000xf16>", {"finite", "nonnegative"}),  # rounds
        ("%y = stablehlo.iota dim = 0 : tensor<4x8xi32>", "tensor<4x8xi32>", {"sorted"}),
        ("%y = stablehlo.iota dim = 1 : tensor<4x8xi32>", "tensor<4x8xi32>", {"sorted"}),
        ("%i = stablehlo.iota dim = 0 : tensor<8xi32>\n%y = stablehlo.reverse %i, dims = [0] : tensor<8xi32>", I8,
         {"unique"}),
        ("%y = stablehlo.constant dense<[1, 5, 7]> : tensor<3xi32>", "tensor<3xi32>", {"sorted", "unique"}),
        ("%y = stablehlo.constant dense<[1, 7, 5]> : tensor<3xi32>", "tensor<3xi32>", {"unique"}),
        ("%y = stablehlo.constant dense<[1, 1, 5]> : tensor<3xi32>", "tensor<3xi32>", {"sorted"}),
        ("%y = stablehlo.constant dense<> : tensor<0xi32>", "tensor<0xi32>", {"sorted", "unique"}),
        # sorts: keys by less-than; what they carry is a permutation
        (sort(), I8, {"sorted"}),
        (sort(which=1), I8, {"unique"}),
        (sort(how="GT"), I8, set()),
        (sort(of="%x", e="f32"), F8, set()),  # NaN is in no order
        (sort(of="%x", e="f32", which=1), I8, {"unique"}),
        (sort(f"%f = stablehlo.convert %n : ({I8}) -> {F8}", "%f", "f32"), F8, {"sorted", "finite"}),
    ],
)  # fmt: skip
def test_facts_on_arguments(made, kind, expected):
    assert facts(made, kind) == expected


def test_another_call_takes_a_fact_away():
    made = f"%y = stablehlo.iota dim = 0 : {I8}\n%o = call @f(%n) : ({I8}) -> tensor<8xf32>"
    module = parse_module(CALLED.format(made=made, kind=I8), make_context())
    (region,) = [r for r in find(module, "stablehlo") if r.name == "f"]
    assert argument_facts(region, "cpu", {}) == []


def test_nothing_is_relied_on_where_rounding_is_free():
    """A product's rounding is free: what becomes of it later may be less than 0 where this one is 0."""
    plain = f"%f = stablehlo.convert %n : ({I8}) -> {F8}\n%y = stablehlo.abs %f : {F8}"
    assert facts(plain, F8) == {"finite", "nonnegative"}
    product = f"\n%m = stablehlo.dot_general %x, %x, contracting_dims = [0] x [0] : ({F8}, {F8}) -> tensor<f32>"
    assert facts(plain + product, F8) == set()


def test_kernels_get_facts():
    """At linalg: through the kernel that makes the argument, and not through one whose rounding is free."""
    text = """
    #id = affine_map<(d0) -> (d0)>
    func.func @main(%n: tensor<8xi32>, %x: tensor<8xf32>) -> tensor<8xf32> {
      %e = tensor.empty() : tensor<8xf32>
      %y = call @make(%n, %e) : (tensor<8xi32>, tensor<8xf32>) -> tensor<8xf32>
      %z = call @use(%y, %x, %e) : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
      return %z : tensor<8xf32>
    }
    func.func private @make(%n: tensor<8xi32>, %out: tensor<8xf32>) -> tensor<8xf32>
        attributes {kc.kernel, kc.kind = "map"} {
      %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
          ins(%n : tensor<8xi32>) outs(%out : tensor<8xf32>) {
      ^bb0(%a: i32, %b: f32):
        %f = arith.sitofp %a : i32 to f32
        %1 = math.absf %f FLAG : f32
        linalg.yield %1 : f32
      } -> tensor<8xf32>
      return %0 : tensor<8xf32>
    }
    func.func private @use(%y: tensor<8xf32>, %x: tensor<8xf32>, %out: tensor<8xf32>) -> tensor<8xf32>
        attributes {kc.kernel, kc.kind = "map"} {
      return %out : tensor<8xf32>
    }
    """

    def contract(text):
        module = parse_module(text, make_context())
        (region,) = [r for r in find(module, "linalg") if r.name == "use"]
        return contract_of(region)

    found = contract(text.replace("FLAG", ""))
    assert found.facts == ("finite(arg0)", "nonnegative(arg0)")
    assert found.grants("nonnegative(arg0)") and not found.grants("positive(arg0)") and not found.grants("finite(arg1)")
    assert contract(text.replace("FLAG", "fastmath<afn>")).facts == ()


def test_predicate_of_facts_matches_the_interval():
    for known, array in (
        (Floats("f32", 0.0, 5.0, False, True), [-0.0]),
        (Floats("f32", 0.0, 5.0, True, False), [NAN]),
        (Floats("f32", -float(TINY), 5.0, False, False), [-TINY]),
    ):
        assert holds(known, np.array(array, np.float32)) and not known.nonnegative
        assert not obeys(np.array(array, np.float32), "nonnegative")
    assert Floats("f32", 0.0, INF, False, False).nonnegative and not Floats("f32", 0.0, INF, False, False).finite
