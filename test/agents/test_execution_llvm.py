"""Level llvm: functions whose arguments are memrefs in words, run plainly and watched; teams of OpenMP."""
from __future__ import annotations

import numpy as np
import pytest

from kc.agents.execution import Call, Checks, ExecutionError, Outcome, run

F32 = np.float32


def faultless(outcome: Outcome) -> bool:
    return (outcome.fault, outcome.mutated, outcome.outside, outcome.leaked, outcome.heap) == (None, (), (), 0, ())


LLVM = """module {
  llvm.func @main(%p: !llvm.ptr, %x: !llvm.ptr, %o: i64, %n: i64, %s: i64, %k: f32,
                  %q: !llvm.ptr {kc.out}, %y: !llvm.ptr, %yo: i64, %yn: i64, %ys: i64) -> f32
      attributes {kc.buffers = ["memref<?xf32>", "f32", "memref<?xf32>"]} {
    %c0 = llvm.mlir.constant(0 : index) : i64
    %c1 = llvm.mlir.constant(1 : index) : i64
    llvm.br ^head(%c0 : i64)
  ^head(%i: i64):
    %more = llvm.icmp "slt" %i, %LIMIT : i64
    llvm.cond_br %more, ^body, ^end
  ^body:
    %a = llvm.getelementptr %x[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %v = llvm.load %a : !llvm.ptr -> f32
    %w = llvm.fmul %v, %k : f32
    %b = llvm.getelementptr %y[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    llvm.store %w, %b : f32, !llvm.ptr
    %j = llvm.add %i, %c1 : i64
    llvm.br ^head(%j : i64)
  ^end:
    llvm.return %k : f32
  }
}"""


def test_level_llvm() -> None:
    x = np.arange(5, dtype=F32)
    (outcome,) = run(LLVM.replace("%LIMIT", "%n"), "llvm", [Call((x, F32(3), x))])
    assert faultless(outcome) and [r.tolist() for r in outcome.results] == [3.0, (x * 3).tolist()]
    longer = "%longer = llvm.add %n, %c1 : i64\nllvm.br ^head(%c0"
    long = LLVM.replace("%LIMIT", "%longer").replace("llvm.br ^head(%c0", longer)
    (outcome,) = run(long, "llvm", [Call((x, F32(3), x))])
    assert outcome.outside == (2,)
    (outcome,) = run(long, "llvm", [Call((x, F32(3), x), guard="after")])
    assert outcome.fault is not None and outcome.fault.kind == "bounds"
    with pytest.raises(ExecutionError, match=r"kc\.buffers"):
        list(run(LLVM.replace("kc.buffers", "kc.other").replace("%LIMIT", "%n"), "llvm", [Call((x, F32(3), x))]))


HEAD = """module {
  llvm.mlir.global private constant @table(dense<[1.0, 2.0]> : tensor<2xf32>) : !llvm.array<2 x f32>
  llvm.func @_mlir_memref_to_llvm_alloc(i64) -> !llvm.ptr
  llvm.func @_mlir_memref_to_llvm_free(!llvm.ptr)
  llvm.func @main(%p: !llvm.ptr, %x: !llvm.ptr, %o: i64, %n: i64, %s: i64,
                  %q: !llvm.ptr {kc.inout}, %y: !llvm.ptr, %yo: i64, %yn: i64, %ys: i64)
      attributes {kc.buffers = ["memref<?xf32>", "memref<?xf32>"]} {
    %c0 = llvm.mlir.constant(0 : i64) : i64
    %c1 = llvm.mlir.constant(1 : i64) : i64
    %c2 = llvm.mlir.constant(2 : i64) : i64
    %c8 = llvm.mlir.constant(8 : i64) : i64
    %one = llvm.mlir.constant(1.0 : f32) : f32
    %last = llvm.sub %n, %c1 : i64
"""


def watched(body: str) -> Outcome:
    arguments = (np.arange(6, dtype=F32), np.arange(6, dtype=F32))
    checks = Checks(instrument=True, protect=False)
    (outcome,) = run(HEAD + body + "\nllvm.return\n}\n}", "llvm", [Call(arguments)], checks=checks)
    assert outcome.fault is None
    return outcome


def kinds(outcome: Outcome) -> set[str]:
    lists = (outcome.bounds, outcome.writes, outcome.races, outcome.uninitialised)
    return {finding.kind for findings in lists for finding in findings}


def element(name: str, base: str, at: str) -> str:
    return f"%{name} = llvm.getelementptr {base}[{at}] : (!llvm.ptr, i64) -> !llvm.ptr, f32\n"


def copy(at: str, *, source: str = "%x", target: str = "%y") -> str:
    return (element("from", source, at) + "%v = llvm.load %from : !llvm.ptr -> f32\n" + element("to", target, at)
            + "llvm.store %v, %to : f32, !llvm.ptr\n")


SCRATCH = "%t = llvm.alloca %c2 x f32 : (i64) -> !llvm.ptr\nllvm.store %one, %t : f32, !llvm.ptr\n"
USE = "%w = llvm.load %f : !llvm.ptr -> f32\nllvm.store %w, %y : f32, !llvm.ptr\n"
HEAP = "%t = llvm.call @_mlir_memref_to_llvm_alloc(%c8) : (i64) -> !llvm.ptr\nllvm.store %one, %t : f32, !llvm.ptr\n"
FREE = "llvm.call @_mlir_memref_to_llvm_free(%t) : (!llvm.ptr) -> ()\n"
TABLE = "%t = llvm.mlir.addressof @table : !llvm.ptr\n"
GATHER = """%i = llvm.mlir.constant(dense<[0, {}]> : vector<2xi64>) : vector<2xi64>
%ps = llvm.getelementptr %x[%i] : (!llvm.ptr, vector<2xi64>) -> vector<2x!llvm.ptr>, f32
%m = llvm.mlir.constant(dense<true> : vector<2xi1>) : vector<2xi1>
%u = llvm.mlir.poison : vector<2xf32>
%v = llvm.intr.masked.gather %ps, %m, %u {{alignment = 4 : i32}}
  : (vector<2x!llvm.ptr>, vector<2xi1>, vector<2xf32>) -> vector<2xf32>
llvm.store %v, %y {{alignment = 4 : i64}} : vector<2xf32>, !llvm.ptr
"""
MASKED = """%m = llvm.mlir.constant(dense<[true, {}]> : vector<2xi1>) : vector<2xi1>
%u = llvm.mlir.constant(dense<1.0> : vector<2xf32>) : vector<2xf32>
""" + element("f", "%y", "%last") + """llvm.intr.masked.store %u, %f, %m {{alignment = 4 : i32}}
  : vector<2xf32>, vector<2xi1> into !llvm.ptr
"""


@pytest.mark.parametrize(
    ("right", "wrong", "found"),
    [
        (copy("%last"), copy("%n"), "bounds"),
        (copy("%c0"), copy("%c0", source="%y", target="%x"), "read-only"),
        (SCRATCH + element("f", "%t", "%c0") + USE, SCRATCH + element("f", "%t", "%c1") + USE, "uninitialised"),
        (SCRATCH + element("f", "%t", "%c0") + USE, SCRATCH + element("f", "%t", "%c2") + USE, "bounds"),
        (HEAP + element("f", "%t", "%c0") + USE + FREE, HEAP + FREE + element("f", "%t", "%c0") + USE, "freed"),
        (TABLE + element("f", "%t", "%c1") + USE, TABLE + "llvm.store %one, %t : f32, !llvm.ptr", "read-only"),
        (GATHER.format(5), GATHER.format(6), "bounds"),
        (MASKED.format("false"), MASKED.format("true"), "bounds"),
    ],
    ids=["bounds", "read-only", "uninitialised", "stack", "freed", "global", "gather", "mask"],
)
def test_watched_pointers(right: str, wrong: str, found: str) -> None:
    assert kinds(watched(right)) == set()
    assert found in kinds(watched(wrong))


TEAM = """omp.parallel {{
  omp.wsloop {{
    omp.loop_nest (%i) : i64 = (%c0) to (%last) step (%c1) {{
      %j = llvm.add %i, %c1 : i64
      {}
      omp.yield
    }}
  }}
  {}
  omp.terminator
}}
"""


@pytest.mark.parametrize(
    ("shared", "by_all", "race"),
    [
        (copy("%i"), "", False),
        (copy("%c0"), "", True),
        (element("f", "%y", "%j") + "%v = llvm.load %f : !llvm.ptr -> f32\n" + element("to", "%y", "%i")
         + "llvm.store %v, %to : f32, !llvm.ptr\n", "", True),
        ("%old = llvm.atomicrmw fadd %y, %one monotonic : !llvm.ptr, f32", "", False),
        (SCRATCH + element("f", "%t", "%c0") + "%w = llvm.load %f : !llvm.ptr -> f32\n" + element("to", "%y", "%i")
         + "llvm.store %w, %to : f32, !llvm.ptr\n", "", False),
        (copy("%i"), "llvm.store %one, %y : f32, !llvm.ptr", True),
        (copy("%i"), SCRATCH, False),
    ],
    ids=["disjoint", "same cell", "neighbour", "atomic", "private", "by all threads", "private of all threads"],
)
def test_races_of_teams(shared: str, by_all: str, race: bool) -> None:
    assert bool(watched(TEAM.format(shared, by_all)).races) == race


def test_teams_compute_what_a_loop_does() -> None:
    text = HEAD + TEAM.format(copy("%i"), "") + "llvm.return\n}\n}"
    x = np.arange(6, dtype=F32) + 1
    (outcome,) = run(text, "llvm", [Call((x, np.zeros(6, F32)))])
    assert faultless(outcome) and outcome.results[0].tolist() == [1, 2, 3, 4, 5, 0]
