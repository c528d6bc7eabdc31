"""Races of parallel loops: found though iterations run one after the other, and not where there are none."""
from __future__ import annotations

import numpy as np
import pytest

from kc.agents import judge
from kc.agents.execution import Call, Checks, ExecutionError, Outcome, run

F32 = np.float32
HEAD = """
%c0 = arith.constant 0 : index
%c1 = arith.constant 1 : index
%c2 = arith.constant 2 : index
%c3 = arith.constant 3 : index
%c4 = arith.constant 4 : index
%zero = arith.constant 0.0 : f32
%one = arith.constant 1.0 : f32
"""


def races(body: str, aliases: tuple = (), order: str = "forward") -> Outcome:
    text = f"func.func @main(%x: memref<8xf32>, %y: memref<8xf32> {{kc.inout}}) {{{HEAD}{body}\nreturn\n}}\n"
    call = Call((np.ones(8, F32), np.ones(8, F32)), aliases=aliases)
    checks = Checks(instrument=True, order=order, roles=("inout" if aliases else "in", "inout"))  # type: ignore[arg-type]
    (outcome,) = run(text, "loops", [call], checks=checks)
    assert outcome.fault is None and not outcome.bounds
    return outcome


def par(body: str, name: str = "%i", count: str = "%c4") -> str:
    return f"scf.parallel ({name}) = (%c0) to ({count}) step (%c1) {{\n{body}\nscf.reduce\n}}\n"


def load(at: str, memref: str = "%y", size: int = 8, name: str = "%v") -> str:
    return f"{name} = memref.load {memref}[{at}] : memref<{size}xf32>\n"


def store(at: str, value: str = "%one", memref: str = "%y", size: int = 8) -> str:
    return f"memref.store {value}, {memref}[{at}] : memref<{size}xf32>\n"


ADD = "%w = arith.addf %v, %one : f32\n"
NEXT = "%j = arith.addi %i, %c1 : index\n"
ATOMIC = "%o = memref.atomic_rmw addf %one, %y[%c0] : (f32, memref<8xf32>) -> f32\n"
VECTOR = """%s = arith.muli %i, {} : index
%v = arith.constant dense<1.0> : vector<2xf32>
vector.store %v, %y[%s] : memref<8xf32>, vector<2xf32>
"""
SCRATCH = "%t = memref.alloc{}() : memref<8xf32>\n"
USE = store("%c0", memref="%t") + load("%c0", "%t") + store("%i", "%v")

RIGHT = {
    "disjoint": par(load("%i") + ADD + store("%i", "%w")),
    "shared reads": par(load("%c0", "%x") + store("%i", "%v")),
    "one iteration": par(load("%c0") + ADD + store("%c0", "%w"), count="%c1"),
    "loops one after the other": par(store("%i")) + par(NEXT + load("%j") + "\n"),
    "sequential round parallel": "scf.for %k = %c0 to %c3 step %c1 {\n" + par(NEXT + store("%i")) + "}\n",
    "atomic updates": par(ATOMIC),
    "atomic after the loop": par(ATOMIC) + load("%c0") + ADD + store("%c0", "%w"),
    "private alloca": par(SCRATCH.format("a") + USE),
    "private alloc": par(SCRATCH.format("") + USE + "memref.dealloc %t : memref<8xf32>\n"),
    "vectors side by side": par(VECTOR.format("%c2"), count="%c3"),
    "nested": par(par("%a = arith.muli %i, %c4 : index\n%b = arith.addi %a, %k : index\n" + store("%b"), "%k"),
                  count="%c2"),
    "sequential loop inside": par("scf.for %k = %c0 to %c3 step %c1 {\n" + load("%i") + ADD + store("%i", "%w")
                                  + "}\n"),
    "reduction": "%sum = scf.parallel (%i) = (%c0) to (%c4) step (%c1) init (%zero) -> f32 {\n" + load("%i", "%x")
    + "scf.reduce(%v : f32) {\n^bb0(%a: f32, %b: f32):\n%s = arith.addf %a, %b : f32\n"
    "scf.reduce.return %s : f32\n}\n}\n"
    + store("%c0", "%sum"),
    "two dimensions": "scf.parallel (%i, %k) = (%c0, %c0) to (%c2, %c4) step (%c1, %c1) {\n"
    "%a = arith.muli %i, %c4 : index\n%b = arith.addi %a, %k : index\n" + store("%b") + "scf.reduce\n}\n",
    "forall": "scf.forall (%i) in (4) {\n" + store("%i") + "}\n",
    "affine": "affine.parallel (%i) = (0) to (4) {\naffine.store %one, %y[%i] : memref<8xf32>\n}\n",
}
WRONG = {
    "same cell": par(store("%c0")),
    "lost update": par(load("%c0") + ADD + store("%c0", "%w")),
    "neighbour": par(NEXT + load("%j") + store("%i", "%v")),
    "atomic and plain read": par(ATOMIC + load("%c0", name="%q") + store("%j", "%q").replace("%j", "%c1")),
    "atomic and plain write": par("%f = arith.cmpi eq, %i, %c3 : index\nscf.if %f {\n" + store("%c0") + "} else {\n"
                                  + ATOMIC + "}\n"),
    "shared scratch": SCRATCH.format("a") + par(store("%c0", memref="%t") + load("%c0", "%t") + store("%i", "%v")),
    "vectors overlap": par(VECTOR.format("%c1"), count="%c3"),
    "nested, inner": "scf.for %k = %c0 to %c3 step %c1 {\n" + par(store("%k")) + "}\n",
    "nested, outer": par(par(store("%k"), "%k"), count="%c2"),
    "inner writes, outer reads": par("%f = arith.cmpi eq, %i, %c0 : index\nscf.if %f {\n" + par(store("%k"), "%k")
                                     + "} else {\n" + load("%c2") + store("%c4", "%v") + "}\n", count="%c2"),
    "last iteration only": par("%f = arith.cmpi eq, %i, %c3 : index\nscf.if %f {\n" + load("%c0", name="%q")
                               + store("%c4", "%q") + "} else {\n" + store("%i") + "}\n"),
    "two dimensions": "scf.parallel (%i, %k) = (%c0, %c0) to (%c2, %c4) step (%c1, %c1) {\n" + store("%k")
    + "scf.reduce\n}\n",
    "copy": par("%s = memref.subview %y[%i] [2] [1] : memref<8xf32> to memref<2xf32, strided<[1], offset: ?>>\n"
                "%t = memref.subview %x[0] [2] [1] : memref<8xf32> to memref<2xf32, strided<[1]>>\n"
                "memref.copy %t, %s : memref<2xf32, strided<[1]>> to memref<2xf32, strided<[1], offset: ?>>\n"),
    "forall": "scf.forall (%i) in (4) {\n" + store("%c0") + "}\n",
    "affine": "affine.parallel (%i) = (0) to (4) {\naffine.store %one, %y[0] : memref<8xf32>\n}\n",
    "benign": par(store("%c0", "%zero")),
}


@pytest.mark.parametrize("name", RIGHT)
def test_no_race(name: str) -> None:
    assert races(RIGHT[name]).races == ()


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("order", ["forward", "reversed"])
def test_race(name: str, order: str) -> None:
    found = races(WRONG[name], order=order).races
    assert found
    first = found[0]
    assert first.place and first.other_place and first.iteration != first.other_iteration
    assert "in another iteration" in first.message


def test_arguments_that_share_a_buffer_race() -> None:
    shift = par(NEXT + load("%j", "%x") + store("%i", "%v"))
    assert races(shift).races == ()
    assert races(shift, aliases=((1, 0),)).races


def test_a_call_after_a_racing_one_starts_clean() -> None:
    text = f"""func.func @main(%x: memref<8xf32>, %y: memref<8xf32> {{kc.inout}}, %s: index) {{{HEAD}
    scf.parallel (%i) = (%c0) to (%c4) step (%c1) {{
      %k = arith.muli %i, %s : index
      memref.store %one, %y[%k] : memref<8xf32>
      scf.reduce
    }}
    return
    }}"""
    calls = [Call((np.ones(8, F32), np.ones(8, F32), np.int64(s))) for s in (0, 1, 0)]
    assert [bool(o.races) for o in run(text, "loops", calls, checks=Checks(instrument=True))] == [True, False, True]


def team(body: str) -> str:
    return f"omp.parallel {{\n{body}\nomp.terminator\n}}\n"


def shared(body: str, clauses: str = "") -> str:
    nest = f"omp.loop_nest (%i) : index = (%c0) to (%c4) step (%c1) {{\n{body}\nomp.yield\n}}"
    return f"omp.wsloop {clauses} {{\n{nest}\n}}\n"


TEAMS_RIGHT = {
    "disjoint": team(shared(load("%i", "%x") + store("%i", "%v"))),
    "loops with a barrier between": team(shared(store("%i")) + shared(NEXT + load("%j") + store("%i", "%v", "%z"))),
    "read by all after the loop": team(shared(store("%i")) + load("%c0")),
    "read by all before a barrier": team(load("%c0") + "omp.barrier\n" + shared(store("%i", "%v"))),
    "atomic": team(shared(ATOMIC)),
    "atomic by all": team(ATOMIC),
    "critical": team(shared("omp.critical {\n" + load("%c0") + ADD + store("%c0", "%w") + "omp.terminator\n}")),
    "scratch of an iteration": team(shared(SCRATCH.format("a") + USE)),
    "scratch of a thread": team(SCRATCH.format("") + shared(USE) + "memref.dealloc %t : memref<8xf32>\n"),
    "two teams": team(shared(store("%i"))) + team(shared(NEXT + load("%j") + store("%i", "%v", "%z"))),
    "loop without a team": shared(store("%i")),
    "parallel loop inside": team(shared(par("%a = arith.muli %i, %c2 : index\n%b = arith.addi %a, %k : index\n"
                                            + store("%b"), "%k", "%c2"))),
}  # fmt: skip
TEAMS_WRONG = {
    "same cell": team(shared(store("%c0"))),
    "lost update": team(shared(load("%c0") + ADD + store("%c0", "%w"))),
    "neighbour": team(shared(NEXT + load("%j") + store("%i", "%v"))),
    "written by all": team(store("%c0")),
    "written by all, by a function": team("func.call @set(%y) : (memref<8xf32>) -> ()"),
    "read by all before the loop": team(load("%c0") + shared(store("%i", "%v"))),
    "update by all": team(load("%c0") + ADD + store("%c0", "%w")),
    "shared scratch": SCRATCH.format("") + team(shared(USE)) + "memref.dealloc %t : memref<8xf32>\n",
    "critical and not": team(shared("omp.critical {\n" + load("%c0") + ADD + store("%c0", "%w") + "omp.terminator\n}\n"
                                    + load("%c0", name="%q"))),
    "loop without a team": shared(store("%c0")),
    "parallel loop inside": team(shared(par(store("%k"), "%k", "%c2"))),
    "benign": team(shared(store("%c0", "%zero"))),
}  # fmt: skip
SET = "func.func private @set(%y: memref<8xf32>) {{{}{}\nreturn\n}}\n".format(HEAD, store("%c0"))


def of_team(body: str) -> Outcome:
    text = (
        SET + "func.func @main(%x: memref<8xf32>, %y: memref<8xf32> {kc.inout}, %z: memref<8xf32> {kc.inout}) {"
        f"{HEAD}{body}\nreturn\n}}\n"
    )
    (outcome,) = run(text, "loops", [Call((np.ones(8, F32),) * 3)], checks=Checks(instrument=True))
    assert outcome.fault is None and not outcome.bounds
    return outcome


@pytest.mark.parametrize("name", TEAMS_RIGHT)
def test_teams_without_a_race(name: str) -> None:
    assert of_team(TEAMS_RIGHT[name]).races == ()


@pytest.mark.parametrize("name", TEAMS_WRONG)
def test_races_of_teams(name: str) -> None:
    assert of_team(TEAMS_WRONG[name]).races


@pytest.mark.parametrize("clauses", ["nowait"])
def test_what_cannot_be_watched_in_a_team(clauses: str) -> None:
    with pytest.raises(ExecutionError, match="nowait"):
        of_team(team(shared(store("%i"), clauses) + load("%c0")))


def test_a_team_in_the_place_of_a_loop_is_judged() -> None:
    head = f"""func.func @main(%x: memref<8xf32>, %y: memref<8xf32> {{kc.inout}}) {{{HEAD}"""
    loop = head + "scf.for %i = %c0 to %c4 step %c1 {\n" + load("%i", "%x") + store("%i", "%v") + "}\nreturn\n}"
    for body, reason in ((load("%i", "%x") + store("%i", "%v"), "accepted"),
                         (load("%i", "%x") + store("%i", "%v") + load("%c0", "%x", name="%u") + store("%c0", "%u"),
                          "race.conflict")):
        text = head + team(shared(body)) + "return\n}"
        assert judge(loop, {"kind": "replace_ir", "ir": text}, level="loops", budget=2.0).reason == reason


MAPPED = """#in = affine_map<(i, j) -> (i, j)>
#out = affine_map<(i, j) -> (PLACE)>
func.func @main(%x: tensor<4x4xf32>, %y: tensor<SHAPExf32>) -> tensor<SHAPExf32> {
  %r = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "KIND"]}
    ins(%x : tensor<4x4xf32>) outs(%y : tensor<SHAPExf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<SHAPExf32>
  return %r : tensor<SHAPExf32>
}"""
FORALL = """func.func @main(%x: tensor<4xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %r = scf.forall (%i) in (4) shared_outs(%o = %y) -> tensor<8xf32> {
    %k = affine.apply affine_map<(d) -> (d * STEP)>(%i)
    %s = tensor.extract_slice %x[0] [2] [1] : tensor<4xf32> to tensor<2xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %o[%k] [2] [1] : tensor<2xf32> into tensor<8xf32>
    }
  }
  return %r : tensor<8xf32>
}"""


@pytest.mark.parametrize(
    ("text", "race"),
    [
        (MAPPED.replace("PLACE", "i, j").replace("SHAPE", "4x4").replace("KIND", "parallel"), False),
        (MAPPED.replace("PLACE", "i").replace("SHAPE", "4").replace("KIND", "reduction"), False),
        (MAPPED.replace("PLACE", "i").replace("SHAPE", "4").replace("KIND", "parallel"), True),
        (FORALL.replace("STEP", "2"), False),
        (FORALL.replace("STEP", "1"), True),
    ],
    ids=["map", "reduction", "reduction said to be parallel", "slices", "slices that overlap"],
)
def test_parallel_dimensions_of_tensors(text: str, race: bool) -> None:
    x = np.ones((4, 4) if "linalg" in text else 4, F32)
    y = np.ones((4, 4) if "tensor<4x4xf32>) -> tensor<4x4" in text else 4 if "linalg" in text else 8, F32)
    (outcome,) = run(text, "linalg", [Call((x, y))], checks=Checks(instrument=True))
    assert bool(outcome.races) == race and not outcome.bounds
