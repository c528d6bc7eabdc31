"""``judge`` from end to end: right and wrong proposals at each level, of kinds that values alone do not tell apart."""

from __future__ import annotations

import json
import re

import pytest

from kc.agents import Verdict, judge
from kc.agents.gates import REASONS
from kc.errors import InputError

MAP = """module {
func.func @main(%x: memref<?xf32> {kc.dims = ["N"]}, %y: memref<?xf32> {kc.dims = ["N"], kc.out}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %one = arith.constant 1.0 : f32
  %zero = arith.constant 0.0 : f32
  %big = arith.constant 90.0 : f32
  BODY
  return
}
}"""
LOOP = """scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %w = arith.mulf %v, %v : f32
    %u = arith.addf %w, %one : f32
    memref.store %u, %y[%i] : memref<?xf32>
  }"""
VECTOR = """%vone = arith.constant dense<1.0> : vector<4xf32>
  %q = arith.divui %n, %c4 : index
  %e = arith.muli %q, %c4 : index
  scf.for %i = %c0 to %e step %c4 {
    %v = vector.load %x[%i] : memref<?xf32>, vector<4xf32>
    %w = arith.mulf %v, %v : vector<4xf32>
    %u = arith.addf %w, %vone : vector<4xf32>
    vector.store %u, %y[%i] : memref<?xf32>, vector<4xf32>
  }"""
TAIL = VECTOR + LOOP.replace("%i = %c0", "%k = %e").replace("%i", "%k").replace("scf.for", "\n  scf.for")
SUM = """module {
func.func @main(%x: tensor<?x?xf32> {kc.dims = ["M", "N"]}) -> tensor<?xf32> ATTRIBUTES {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty(%m) : tensor<?xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  BODY
}
}"""
_REDUCE = """linalg.reduce ins(%{x} : tensor<?x?xf32>) outs(%{f} : tensor<?xf32>) dimensions = [1]
    (%a: f32, %b: f32) {{ %t = arith.addf %b, %a : f32 linalg.yield %t : f32 }}"""
ROWS = f"%r = {_REDUCE.format(x='x', f='f')}\n  return %r : tensor<?xf32>"
HALVES = f"""%h = arith.divui %n, %c2 : index
  %g = arith.subi %n, %h : index
  %p = tensor.extract_slice %x[0, 0] [%m, %h] [1, 1] : tensor<?x?xf32> to tensor<?x?xf32>
  %q = tensor.extract_slice %x[0, %h] [%m, %g] [1, 1] : tensor<?x?xf32> to tensor<?x?xf32>
  %s = {_REDUCE.format(x="q", f="f")}
  %r = {_REDUCE.format(x="p", f="s")}
  return %r : tensor<?xf32>"""
RELU = """module {
func.func @main(%x: tensor<8x4xf32>, %i: tensor<8x4xi32>) -> (tensor<8x4xf32>, tensor<8x4xi32>) {
  %z = stablehlo.constant dense<0.0> : tensor<8x4xf32>
  %two = stablehlo.constant dense<2> : tensor<8x4xi32>
  BODY
  return %r, %q : tensor<8x4xf32>, tensor<8x4xi32>
}
}"""
MAX = "%r = stablehlo.maximum %x, %z : tensor<8x4xf32>\n"
HALF = "%q = stablehlo.divide %i, %two : tensor<8x4xi32>\n"
COMPARE = "%c = stablehlo.compare {how}, %x, %z : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xi1>\n"
SELECT = COMPARE + "%r = stablehlo.select %c, {values} : tensor<8x4xi1>, tensor<8x4xf32>\n"


def loops(body: str) -> str:
    return MAP.replace("BODY", body)


def rows(body: str, allow: str = "") -> str:
    attributes = f"attributes {{kc.allow = [{allow}]}}" if allow else ""
    return SUM.replace("BODY", body).replace("ATTRIBUTES", attributes)


def relu(body: str) -> str:
    return RELU.replace("BODY", body)


def when(condition: str) -> str:
    """The map, but for elements that fulfil a condition."""
    return LOOP.replace(
        "%u = arith.addf %w, %one : f32",
        f"%is = {condition}\n %a = arith.addf %w, %one : f32\n %u = arith.select %is, %one, %a : f32",
    )


PARALLEL = LOOP.replace("scf.for %i = %c0 to %n step %c1", "scf.parallel (%i) = (%c0) to (%n) step (%c1)").replace(
    "%y[%i] : memref<?xf32>\n  }", "%y[%i] : memref<?xf32>\n    scf.reduce\n  }"
)
TOTAL = """scf.for %i = %c0 to %n step %c1 {
    memref.store %zero, %y[%i] : memref<?xf32>
  }
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %o = memref.load %y[%c0] : memref<?xf32>
    %u = arith.addf %o, %v : f32
    memref.store %u, %y[%c0] : memref<?xf32>
  }"""
RACE = (
    TOTAL.replace(
        "}\n  scf.for %i = %c0 to %n step %c1", "}\n  scf.parallel (%i) = (%c0) to (%n) step (%c1)"
    ).removesuffix("}")
    + "scf.reduce\n  }"
)
CASES = {
    "a loop turned round": (
        loops(LOOP),
        loops(
            LOOP.replace("%y[%i]", "%y[%j]")
            .replace("%x[%i]", "%x[%j]")
            .replace("%v = ", "%k = arith.subi %n, %i : index\n %j = arith.subi %k, %c1 : index\n %v = ")
        ),
        "loops",
        None,
    ),
    "vectors and a tail": (loops(LOOP), loops(TAIL), "loops", None),
    "vectors without a tail": (loops(LOOP), loops(VECTOR), "loops", "numeric.value"),
    "vectors past the end": (loops(LOOP), loops(VECTOR.replace("to %e", "to %n")), "loops", "aliasing.bounds"),
    "in parallel": (loops(LOOP), loops(PARALLEL), "loops", None),
    "in parallel, a sum in one cell": (loops(TOTAL), loops(RACE), "loops", "race.conflict"),
    "nothing": (loops(LOOP), loops(""), "loops", "numeric.value"),
    "one value": (loops(LOOP), loops(when("arith.cmpf oeq, %v, %big : f32")), "loops", "numeric.value"),
    "NaN": (loops(LOOP), loops(when("arith.cmpf uno, %v, %v : f32")), "loops", "numeric.nan"),
    "a size": (
        loops(LOOP),
        loops(f"%s = arith.constant 37 : index\n %odd = arith.cmpi ne, %n, %s : index\nscf.if %odd {{ {LOOP} }}"),
        "loops",
        "numeric.value",
    ),
    "a leak": (
        loops(LOOP),
        loops(
            LOOP + "\n  %s = memref.alloc(%n) : memref<?xf32>\n  memref.copy %x, %s : memref<?xf32> to memref<?xf32>"
        ),
        "loops",
        "resource.leak",
    ),
    "an endless loop": (
        loops(LOOP),
        loops(
            LOOP.replace(
                "%w = arith.mulf %v, %v : f32",
                """
      %w = scf.while (%t = %v) : (f32) -> f32 {
        %odd = arith.cmpf uno, %t, %t : f32
        scf.condition(%odd) %t : f32
      } do {
      ^bb0(%t: f32):
        %t1 = arith.addf %t, %one : f32
        scf.yield %t1 : f32
      }
      %w1 = arith.mulf %w, %w : f32""",
            ).replace("arith.addf %w,", "arith.addf %w1,")
        ),
        "loops",
        "resource.time",
    ),
    "a sum in halves": (rows(ROWS, '"reassoc"'), rows(HALVES, '"reassoc"'), "linalg", None),
    "a sum in halves, not allowed": (rows(ROWS), rows(HALVES), "linalg", "numeric.value"),
    "half a sum": (
        rows(ROWS, '"reassoc"'),
        rows(HALVES.replace("outs(%s :", "outs(%f :"), '"reassoc"'),
        "linalg",
        "numeric",
    ),
    "relu by selection": (
        relu(MAX + HALF),
        relu(SELECT.format(how="GT", values="%x, %z") + HALF),
        "stablehlo",
        "numeric.nan",
    ),
    "relu by the other selection": (
        relu(MAX + HALF),
        relu(SELECT.format(how="LE", values="%z, %x") + HALF),
        "stablehlo",
        None,
    ),
    "a shift for a division": (
        relu(MAX + HALF),
        relu(
            MAX + "%k = stablehlo.constant dense<1> : tensor<8x4xi32>\n"
            "%q = stablehlo.shift_right_arithmetic %i, %k : tensor<8x4xi32>\n"
        ),
        "stablehlo",
        "numeric.integer",
    ),
    "the same text": (relu(MAX + HALF), relu(MAX + HALF), "stablehlo", None),
}


@pytest.mark.parametrize("name", CASES)
def test_verdicts(name):
    original, proposal, level, want = CASES[name]
    verdict = judge(original, {"kind": "replace_ir", "ir": proposal}, level=level)
    if want is None:
        assert verdict.accepted, verdict
        assert verdict.runs > 40 and {"parse", "level", "signature", "assumptions", "numeric"} <= set(verdict.seconds)
    else:
        assert not verdict.accepted and verdict.reason.startswith(want), verdict
        assert verdict.gate == verdict.reason.partition(".")[0] and verdict.reason in REASONS
    assert Verdict.from_json(json.loads(json.dumps(verdict.to_json()))) == verdict


def test_a_counter_example_is_small_and_told():
    original, proposal, level, _ = CASES["NaN"]
    witness = judge(original, {"kind": "replace_ir", "ir": proposal}, level=level, seed=1).witness
    assert witness is not None
    assert witness["sizes"] == {"N": 1} and witness["arguments"][0]["values"] == ["nan"]
    assert witness["got"] == 1.0 and witness["want"] == "nan" and witness["index"] == [0]


def test_a_seed_repeats_a_judgement():
    original, proposal, level, _ = CASES["vectors without a tail"]
    first, second = (judge(original, {"kind": "replace_ir", "ir": proposal}, level=level, seed=5) for _ in "12")
    assert (first.message, first.witness) == (second.message, second.witness)


@pytest.mark.parametrize(
    ("proposal", "reason"),
    [
        ({"kind": "replace_ir"}, "parse.message"),
        ({"kind": "no such"}, "parse.message"),
        ({"kind": "replace_ir", "ir": 3}, "parse.message"),
        ({"kind": "replace_ir", "ir": "", "extra": 1}, "parse.message"),
        ([], "parse.message"),
        ({"kind": "replace_ir", "ir": "module {"}, "parse.syntax"),
        ({"kind": "replace_ir", "ir": ""}, "signature.main"),
        ({"kind": "replace_ir", "ir": loops(LOOP), "level": "nowhere"}, "parse.message"),
        ({"kind": "replace_ir", "ir": loops(LOOP), "level": "stablehlo"}, "level.higher"),
        ({"kind": "replace_ir", "ir": loops(LOOP), "assumes": ["nnan"]}, "assumptions.undeclared"),
        ({"kind": "replace_ir", "ir": "(" * 100_000}, "parse.syntax"),
    ],
)
def test_a_bad_proposal_is_a_verdict(proposal, reason):
    verdict = judge(loops(LOOP), proposal, level="loops")
    assert (verdict.accepted, verdict.reason) == (False, reason)


@pytest.mark.parametrize(
    "original",
    [
        "",
        "module {",
        "module { func.func private @main() { return } }",
        "func.func @main(%x: memref<?xi32> {kc.range = array<i64: 3>}) { return }",
    ],
)
def test_a_bad_original_is_an_error(original):
    with pytest.raises(InputError):
        judge(original, {"kind": "replace_ir", "ir": loops(LOOP)}, level="loops")


def test_keep_changes_nothing():
    assert judge(loops(LOOP), {"kind": "keep"}, level="loops").accepted


def test_below_the_region():
    original = relu(MAX + HALF)
    body = """func.func @main(%x: memref<8x4xf32>, %i: memref<8x4xi32>, %y: memref<8x4xf32>, %k: memref<8x4xi32>) {
      %z = arith.constant 0.0 : f32
      %two = arith.constant 2 : i32
      affine.for %a = 0 to 8 { affine.for %b = 0 to 4 {
        %v = memref.load %x[%a, %b] : memref<8x4xf32>
        %w = arith.maximumf %v, %z : f32
        memref.store %w, %y[%a, %b] : memref<8x4xf32>
        %j = memref.load %i[%a, %b] : memref<8x4xi32>
        %h = arith.divsi %j, %two : i32
        memref.store %h, %k[%a, %b] : memref<8x4xi32>
      } }
      return }"""
    proposal = {"kind": "replace_ir", "ir": body, "level": "loops"}
    assert judge(original, proposal, level="stablehlo").accepted
    wrong = {**proposal, "ir": body.replace("divsi", "divui")}
    assert judge(original, wrong, level="stablehlo").reason == "numeric.integer"
    wrong = {**proposal, "ir": body.replace("%w, %y", "%w, %x")}
    assert judge(original, wrong, level="stablehlo").reason == "aliasing.read-only"


def test_every_reason_in_the_package_is_explained_and_every_explained_one_is_used():
    from pathlib import Path

    import kc.agents.gates as package

    gates = "parse|verify|level|signature|assumptions|resource|aliasing|race|numeric|timing"
    folder = Path(package.__file__).parent.parent
    used = set()
    for path in folder.rglob("*.py"):
        text = path.read_text()
        if path.name == "reasons.py" and path.parent.name == "gates":
            continue
        used |= set(re.findall(rf'"((?:{gates})\.[a-z][a-z-]*)"', text))
    ends = {f"parse.{kind}" for kind in ("crash", "time", "memory")}  # parse.{end.kind}
    made = {reason for reason in REASONS if reason.partition(".")[0] == "timing"}  # timing.{measured.reason}
    assert used - set(REASONS) == set()
    assert set(REASONS) - used - ends - made - {"accepted"} == set()

MASKED = """%c8 = arith.constant 8 : index
  %o = arith.constant dense<1.0> : vector<8xf32>
  scf.for %i = %c0 to %n step %c8 {
    %k = arith.subi %n, %i : index
    %m = vector.create_mask %k : vector<8xi1>
    %v = vector.mask %m { vector.transfer_read %x[%i], %zero : memref<?xf32>, vector<8xf32> }
      : vector<8xi1> -> vector<8xf32>
    %w = arith.mulf %v, %v : vector<8xf32>
    %u = arith.addf %w, %o : vector<8xf32>
    vector.mask %m { vector.transfer_write %u, %y[%i] : vector<8xf32>, memref<?xf32> } : vector<8xi1>
  }"""


def test_masked_operations_are_run():
    original = MAP.replace("BODY", LOOP)
    made = {"kind": "replace_ir", "ir": MAP.replace("BODY", MASKED), "assumes": []}
    assert judge(original, made, level="loops", seed=1).accepted
    made["ir"] = made["ir"].replace("arith.subi %n, %i", "arith.subi %n, %c1")
    verdict = judge(original, made, level="loops", seed=1)
    assert not verdict.accepted and verdict.gate != "resource"


CROWD = """%s = memref.alloc() : memref<4096xf32>
  %c4096 = arith.constant 4096 : index
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %v = memref.load %x[%i] : memref<?xf32>
    %w = arith.mulf %v, %v : f32
    %p = arith.remui %i, %c4096 : index
    memref.store %w, %s[%p] : memref<4096xf32>
    %t = memref.load %s[%p] : memref<4096xf32>
    %u = arith.addf %t, %one : f32
    memref.store %u, %y[%i] : memref<?xf32>
  }
  memref.dealloc %s : memref<4096xf32>"""


@pytest.mark.parametrize(("most", "right"), [(10000, False), (1 << 30, False), (4096, True)])
def test_races_among_many_iterations_are_found(most, right):
    head = f"kc.out}}) attributes {{kc.sizes = {{N = array<i64: 0, {most}>}}}} {{"
    original = MAP.replace("BODY", LOOP).replace("kc.out}) {", head)
    text = MAP.replace("BODY", CROWD).replace("kc.out}) {", head)
    verdict = judge(original, {"kind": "replace_ir", "ir": text, "assumes": []}, level="loops", seed=1)
    assert verdict.accepted == right and verdict.reason == ("accepted" if right else "race.conflict")


def test_a_guard_that_holds_at_no_size_is_refused():
    original = MAP.replace("BODY", LOOP)
    made = {"kind": "replace_ir", "ir": original, "assumes": [], "guard": "N >= 2000000000"}
    assert judge(original, made, level="loops", seed=1).reason == "assumptions.guard"


TO_F32 = """module {
func.func @main(%x: memref<?xi64> {kc.dims = ["N"]}, %y: memref<?xf32> {kc.dims = ["N"], kc.out})
    attributes {kc.facts = ["N % 4 == 0"]} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %n = memref.dim %x, %c0 : memref<?xi64>
  scf.for %i = %c0 to %n step %c4 {
    %v = vector.load %x[%i] : memref<?xi64>, vector<4xi64>
    BODY
    vector.store %r, %y[%i] : memref<?xf32>, vector<4xf32>
  }
  return
}
}"""


def test_one_rounding_is_not_two():
    once = TO_F32.replace("BODY", "%r = arith.sitofp %v : vector<4xi64> to vector<4xf32>")
    wide = "%q = arith.sitofp %v : vector<4xi64> to vector<4xf64>"
    twice = TO_F32.replace("BODY", f"{wide}\n    %r = arith.truncf %q : vector<4xf64> to vector<4xf32>")
    for one, other in ((once, twice), (twice, once)):
        verdict = judge(one, {"kind": "replace_ir", "ir": other, "assumes": []}, level="loops", seed=1)
        assert not verdict.accepted and verdict.reason == "numeric.value"
    assert judge(twice, {"kind": "replace_ir", "ir": twice, "assumes": []}, level="loops", seed=1).accepted
