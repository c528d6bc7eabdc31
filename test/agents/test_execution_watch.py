"""Instrumented runs: each fault is seen, and its clean twin gives no finding."""
from __future__ import annotations

import numpy as np
import pytest

from kc.agents.execution import Call, Checks, Outcome, run

F32 = np.float32
HEAD = """
%c0 = arith.constant 0 : index
%c1 = arith.constant 1 : index
%c2 = arith.constant 2 : index
%c3 = arith.constant 3 : index
%m1 = arith.constant -1 : index
%n = memref.dim %x, %c0 : memref<?xf32>
%one = arith.constant 1.0 : f32
%pad = arith.constant 0.0 : f32
%v4 = arith.constant dense<1.0> : vector<4xf32>
%u = vector.load %x[%c0] : memref<?xf32>, vector<1xf32>
%used = vector.extract %u[0] : f32 from vector<1xf32>
memref.store %used, %y[%c0] : memref<?xf32>
"""
LIVE = "memref.store %v, %y[%c1] : memref<?xf32>"
LIVE4 = "%w = vector.reduction <add>, %v : vector<4xf32> into f32\nmemref.store %w, %y[%c1] : memref<?xf32>"


def watched(body: str, *, size: int = 6, extra: str = "", roles: str = "kc.inout", aliases: tuple = ()) -> Outcome:
    """%x is read, %y may be read and written; ``size`` elements each."""
    text = f"func.func @main(%x: memref<?xf32>, %y: memref<?xf32> {{{roles}}}) {{{HEAD}{body}\nreturn\n}}\n{extra}"
    arguments = (np.arange(size, dtype=F32) + 1, np.arange(size, dtype=F32))
    call = Call(arguments, aliases=aliases)
    (outcome,) = run(text, "loops", [call], checks=Checks(instrument=True, protect=False))
    return outcome


def kinds(outcome: Outcome) -> set[str]:
    lists = (outcome.bounds, outcome.writes, outcome.races, outcome.uninitialised, outcome.beyond)
    return {finding.kind for findings in lists for finding in findings}


def parallel(body: str, count: str = "%n") -> str:
    return f"scf.parallel (%i) = (%c0) to ({count}) step (%c1) {{\n{body}\nscf.reduce\n}}"


ROWS = """%r = memref.reinterpret_cast %x to offset: [0], sizes: [2, 2], strides: [3, 1]
  : memref<?xf32> to memref<2x2xf32, strided<[3, 1]>>
"""
MASK = "%mask = vector.create_mask {} : vector<4xi1>\n"
OFFSETS = "%at = arith.constant dense<{}> : vector<4xindex>\n%all = arith.constant dense<true> : vector<4xi1>\n"

ACCESSES = {
    "load": ("%v = memref.load %x[%c3] : memref<?xf32>\n" + LIVE, "%v = memref.load %x[%n] : memref<?xf32>\n" + LIVE),
    "negative": (
        "%v = memref.load %x[%c0] : memref<?xf32>\n" + LIVE, "%v = memref.load %x[%m1] : memref<?xf32>\n" + LIVE),
    "store": ("memref.store %one, %y[%c3] : memref<?xf32>", "memref.store %one, %y[%n] : memref<?xf32>"),
    "vector": (
        "%v = vector.load %x[%c2] : memref<?xf32>, vector<4xf32>\n" + LIVE4,
        "%v = vector.load %x[%c3] : memref<?xf32>, vector<4xf32>\n" + LIVE4),
    "vector-store": (
        "vector.store %v4, %y[%c2] : memref<?xf32>, vector<4xf32>",
        "vector.store %v4, %y[%c3] : memref<?xf32>, vector<4xf32>"),
    "masked": tuple(
        MASK.format(lanes) + "%v = vector.maskedload %x[%c3], %mask, %v4 "
        ": memref<?xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>\n" + LIVE4 for lanes in ("%c3", "%n")),
    "masked-store": tuple(
        MASK.format(lanes) + "vector.maskedstore %y[%c3], %mask, %v4 : memref<?xf32>, vector<4xi1>, vector<4xf32>"
        for lanes in ("%c3", "%n")),
    "compress": tuple(
        f"%mask = arith.constant dense<{bits}> : vector<4xi1>\n"
        "vector.compressstore %y[%c3], %mask, %v4 : memref<?xf32>, vector<4xi1>, vector<4xf32>"
        for bits in ("[true, false, true, true]", "true")),
    "expand": tuple(
        f"%mask = arith.constant dense<{bits}> : vector<4xi1>\n%v = vector.expandload %x[%c3], %mask, %v4 "
        ": memref<?xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>\n" + LIVE4
        for bits in ("[true, false, true, true]", "true")),
    "gather": tuple(
        OFFSETS.format(places) + "%v = vector.gather %x[%c1] [%at], %all, %v4 "
        ": memref<?xf32>, vector<4xindex>, vector<4xi1>, vector<4xf32> into vector<4xf32>\n" + LIVE4
        for places in ("[4, 0, -1, 2]", "[4, 0, -2, 2]")),
    "scatter": tuple(
        OFFSETS.format(places) + "vector.scatter %y[%c0] [%at], %all, %v4 "
        ": memref<?xf32>, vector<4xindex>, vector<4xi1>, vector<4xf32>" for places in ("[5, 0, 1, 2]", "[6, 0, 1, 2]")),
    "transfer": (
        "%v = vector.transfer_read %x[%c3], %pad : memref<?xf32>, vector<4xf32>\n" + LIVE4,
        "%v = vector.transfer_read %x[%c3], %pad {in_bounds = [true]} : memref<?xf32>, vector<4xf32>\n" + LIVE4),
    "transfer-write": (
        "vector.transfer_write %v4, %y[%c3] : vector<4xf32>, memref<?xf32>",
        "vector.transfer_write %v4, %y[%c3] {in_bounds = [true]} : vector<4xf32>, memref<?xf32>"),
    "subview": tuple(
        f"%s = memref.subview %x[3] [{size}] [1] : memref<?xf32> to memref<{size}xf32, strided<[1], offset: 3>>\n"
        f"%t = memref.alloca() : memref<{size}xf32>\n"
        f"memref.copy %s, %t : memref<{size}xf32, strided<[1], offset: 3>> to memref<{size}xf32>\n"
        f"%v = memref.load %t[%c1] : memref<{size}xf32>\n" + LIVE for size in (3, 4)),
    "scratch": tuple(
        f"%t = memref.alloca() : memref<3xf32>\nmemref.store %one, %t[{at}] : memref<3xf32>\n"
        f"%v = memref.load %t[{at}] : memref<3xf32>\n" + LIVE for at in ("%c2", "%c3")),
    "atomic": tuple(
        f"%v = memref.atomic_rmw addf %one, %y[{at}] : (f32, memref<?xf32>) -> f32" for at in ("%c3", "%n")),
    "affine": tuple(f"%v = affine.load %x[{at}] : memref<?xf32>\n" + LIVE for at in ("3", "6")),
}


@pytest.mark.parametrize("name", ACCESSES)
def test_accesses_outside_of_a_buffer(name: str) -> None:
    right, wrong = ACCESSES[name]
    assert kinds(watched(right)) == set()
    outcome = watched(wrong)
    assert "bounds" in kinds(outcome), outcome
    assert outcome.bounds[0].place and outcome.bounds[0].message


def test_an_index_beyond_its_row_is_told_apart() -> None:
    load = ROWS + "%v = memref.load %r[{}] : memref<2x2xf32, strided<[3, 1]>>\n" + LIVE
    assert kinds(watched(load.format("%c1, %c1"))) == set()
    assert kinds(watched(load.format("%c0, %c2"))) == {"beyond"}


def test_the_gaps_of_a_strided_argument_are_no_elements() -> None:
    text = """func.func @main(%x: memref<?xf32, strided<[?]>>, %y: memref<?xf32> {kc.out}) {
      %c0 = arith.constant 0 : index
      %p = memref.reinterpret_cast %x to offset: [AT], sizes: [1], strides: [1]
        : memref<?xf32, strided<[?]>> to memref<1xf32, strided<[1], offset: AT>>
      %v = memref.load %p[%c0] : memref<1xf32, strided<[1], offset: AT>>
      memref.store %v, %y[%c0] : memref<?xf32>
      return
    }"""
    call = Call((np.ones(3, F32), np.ones(1, F32)), strided=True)
    for at, found in ((2, set()), (1, {"bounds"})):
        (outcome,) = run(text.replace("AT", str(at)), "loops", [call], checks=Checks(instrument=True))
        assert kinds(outcome) == found


FREED = "%t = memref.alloc(%n) : memref<?xf32>\nmemref.store %one, %t[%c1] : memref<?xf32>\n"
TWINS = {
    "uninitialised-out": (
        "memref.store %one, %y[%c3] : memref<?xf32>\n%v = memref.load %y[%c3] : memref<?xf32>\n" + LIVE,
        "%v = memref.load %y[%c3] : memref<?xf32>\n" + LIVE, {"uninitialised"}),
    "uninitialised-alloc": (
        FREED + "%v = memref.load %t[%c1] : memref<?xf32>\n" + LIVE + "\nmemref.dealloc %t : memref<?xf32>",
        FREED + "%v = memref.load %t[%c2] : memref<?xf32>\n" + LIVE + "\nmemref.dealloc %t : memref<?xf32>",
        {"uninitialised"}),
    "freed": (
        FREED + "%v = memref.load %t[%c1] : memref<?xf32>\nmemref.dealloc %t : memref<?xf32>\n" + LIVE,
        FREED + "memref.dealloc %t : memref<?xf32>\n%v = memref.load %t[%c1] : memref<?xf32>\n" + LIVE, {"freed"}),
    "restore": (
        "%v = memref.load %y[%c1] : memref<?xf32>\nmemref.store %one, %y[%c0] : memref<?xf32>",
        "%v = memref.load %x[%c1] : memref<?xf32>\nmemref.store %one, %x[%c1] : memref<?xf32>\n"
        "memref.store %v, %x[%c1] : memref<?xf32>", {"read-only"}),
    "through-call": (
        "func.call @write(%y) : (memref<?xf32>) -> ()", "func.call @write(%x) : (memref<?xf32>) -> ()", {"read-only"}),
    "global": (
        "%g = memref.get_global @table : memref<4xf32>\n%v = memref.load %g[%c3] : memref<4xf32>\n" + LIVE,
        "%g = memref.get_global @table : memref<4xf32>\nmemref.store %one, %g[%c3] : memref<4xf32>", {"read-only"}),
}
EXTRA = """
memref.global "private" constant @table : memref<4xf32> = dense<[1.0, 2.0, 3.0, 4.0]>
func.func private @write(%t: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  memref.store %one, %t[%c0] : memref<?xf32>
  return
}"""


@pytest.mark.parametrize("name", TWINS)
def test_other_misuse_of_memory(name: str) -> None:
    right, wrong, found = TWINS[name]
    roles = "kc.out" if name == "uninitialised-out" else "kc.inout"
    # the head stores to y[0], so of an out buffer only that is initialised
    assert kinds(watched(right, extra=EXTRA, roles=roles)) == set()
    assert kinds(watched(wrong, extra=EXTRA, roles=roles)) == found


def test_moving_what_nobody_wrote_is_no_use_of_it() -> None:
    body = """%t = memref.alloc() : memref<4xf32>
    %s = memref.alloc() : memref<4xf32>
    memref.store %one, %t[%c1] : memref<4xf32>
    memref.copy %t, %s : memref<4xf32> to memref<4xf32>
    %v = memref.load %s[{}] : memref<4xf32>
    memref.dealloc %t : memref<4xf32>
    memref.dealloc %s : memref<4xf32>
    """ + LIVE
    assert kinds(watched(body.format("%c1"))) == set()
    assert kinds(watched(body.format("%c2"))) == {"uninitialised"}


def test_a_watched_run_gives_the_same_results() -> None:
    body = parallel("%v = memref.load %x[%i] : memref<?xf32>\n%w = math.exp %v : f32\n"
                    "memref.store %w, %y[%i] : memref<?xf32>")
    text = f"func.func @main(%x: memref<?xf32>, %y: memref<?xf32> {{kc.out}}) {{{HEAD}{body}\nreturn\n}}"
    call = Call((np.arange(6, dtype=F32), np.zeros(6, F32)))
    results = []
    for checks in (Checks(), Checks(instrument=True), Checks(order="reversed"), Checks(order="interleaved")):
        (outcome,) = run(text, "loops", [call], checks=checks)
        results.append(outcome.results[0].tobytes())
    assert len(set(results)) == 1


def test_at_level_linalg_tensors_are_watched_as_buffers() -> None:
    text = """func.func @main(%x: tensor<?xf32>, %k: index) -> f32 {
      %e = tensor.empty() : tensor<4xf32>
      %i = arith.constant 1 : index
      %one = arith.constant 1.0 : f32
      %f = tensor.insert %one into %e[%i] : tensor<4xf32>
      %a = tensor.extract %x[%k] : tensor<?xf32>
      %b = tensor.extract %f[%k] : tensor<4xf32>
      %c = arith.addf %a, %b : f32
      return %c : f32
    }"""
    for k, found in ((1, set()), (2, {"uninitialised"}), (5, {"bounds", "beyond", "uninitialised"})):
        (outcome,) = run(text, "linalg", [Call((np.ones(3, F32), np.int64(k)))], checks=Checks(instrument=True))
        assert kinds(outcome) == found, outcome


def test_a_load_that_nobody_uses_is_seen() -> None:
    text = """func.func @main(%x: memref<?xf32>, %y: memref<?xf32> {kc.out}) {
      %c0 = arith.constant 0 : index
      %v = memref.load %x[%c0] : memref<?xf32>
      %one = arith.constant 1.0 : f32
      linalg.fill ins(%one : f32) outs(%y : memref<?xf32>)
      return
    }"""
    for size, found in ((1, set()), (0, {"bounds", "beyond"})):
        call = Call((np.ones(size, F32), np.ones(size, F32)))
        (outcome,) = run(text, "loops", [call], checks=Checks(instrument=True))
        assert kinds(outcome) == found
