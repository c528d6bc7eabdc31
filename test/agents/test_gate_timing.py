"""The timing gate on IR: what passes, what does not, and what a measurement means."""
from __future__ import annotations

import math

import pytest

from kc.agents.gates import timing
from kc.agents.measure import below, prepare, rounds
from kc.agents.measure.inputs import Argument
from kc.agents.measure.least_work import Work, least_work
from kc.agents.measure.machine import Machine
from kc.agents.measure.rounds import Measurement
from kc.errors import InputError

HEAD = """
func.func @main(%x: memref<?xf32> {kc.dims = ["N"]}, %y: memref<?xf32> {kc.dims = ["N"], kc.out})
    attributes {kc.sizes = {N = array<i64: 0, 65536>}} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c9 = arith.constant 9 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
"""
ONCE = HEAD + """
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %e = math.exp %v : f32
    memref.store %e, %y[%i] : memref<?xf32>
  }
  return
}
"""
#: the same, computed nine times over (the loop's bound is read from memory, so that LLVM does not see it)
OFTEN = HEAD + """
  %cell = memref.alloc() : memref<1xindex>
  memref.store %c9, %cell[%c0] : memref<1xindex>
  scf.for %i = %c0 to %n step %c1 {
    %times = memref.load %cell[%c0] : memref<1xindex>
    scf.for %j = %c0 to %times step %c1 {
      %v = memref.load %x[%i] : memref<?xf32>
      %e = math.exp %v : f32
      memref.store %e, %y[%i] : memref<?xf32>
    }
  }
  memref.dealloc %cell : memref<1xindex>
  return
}
"""
DOT = """
func.func @main(%a: tensor<64x32xf32>, %b: tensor<32x16xf32>) -> tensor<64x16xf32> {
  %r = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
    : (tensor<64x32xf32>, tensor<32x16xf32>) -> tensor<64x16xf32>
  return %r : tensor<64x16xf32>
}
"""
LIMITS = Machine("test", memory=1e9, cache=1e9, cache_bytes=0, operations={"f32": 1e9, "f64": 1e9, "narrow": 1e9})


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rounds, "MOST_ROUNDS", rounds.LEAST_ROUNDS)


def test_quicker_loops_pass() -> None:
    found = timing.check(OFTEN, ONCE, level="loops")
    assert found.passed, found
    assert found.figures is not None
    assert found.figures["speedup"] > 1.5 and found.figures["interval"][0] > 1
    assert found.figures["sizes"] == {"N": 65536}
    assert found.figures["roofline_us"] < found.figures["proposal_us"] < found.figures["original_us"]


def test_slower_loops_do_not() -> None:
    found = timing.check(ONCE, OFTEN, level="loops")
    assert found.reason == "timing.slower"
    assert "95 % interval" in found.message


def test_work_left_out_shows() -> None:
    skipped = ONCE.replace("to %n step", "to %c3 step")
    assert timing.check(ONCE, skipped, level="loops").reason == "timing.results"


def test_lower_form_of_a_tensor_region() -> None:
    """A StableHLO region answered with a loop nest that has a destination in place of the result."""
    original = """func.func @main(%x: tensor<1024xf32>) -> tensor<1024xf32> {
      %0 = stablehlo.exponential %x : tensor<1024xf32>
      %1 = stablehlo.exponential %x : tensor<1024xf32>
      %2 = stablehlo.maximum %0, %1 : tensor<1024xf32>
      return %2 : tensor<1024xf32> }"""
    proposal = ONCE.replace("memref<?xf32>", "memref<1024xf32>")
    found = timing.check(original, proposal, level="stablehlo", proposal_level="loops")
    assert found.reason in (None, "timing.slower", "timing.uncertain", "timing.small"), found
    assert found.figures is not None


@pytest.mark.parametrize(
    "line",
    [
        '%t = llvm.call_intrinsic "llvm.readcyclecounter"() : () -> i64',
        "%t = nvvm.read.ptx.sreg.globaltimer : i64",
        'llvm.inline_asm has_side_effects "rdtsc", "" : () -> ()',
        "mov.u64 %rd1, %clock64;",
    ],
)
def test_clock_inside(line: str) -> None:
    found = timing.check(ONCE, ONCE.replace("return", f"{line}\n  return"), level="loops")
    assert (found.reason, found.culprit) == ("timing.clock", "proposal")


def test_what_cannot_be_timed() -> None:
    unknown = ONCE.replace("attributes {", 'attributes {kc.facts = ["phase of the moon"], ')
    found = timing.check(unknown, ONCE, level="loops")
    assert (found.reason, found.culprit) == ("timing.unsupported", "original")
    assert "phaseofthemoon" in found.message
    assert timing.check(ONCE, ONCE, level="llvm").reason == "timing.unsupported"
    assert timing.check(ONCE, "nonsense", level="loops").culprit == "proposal"


LLVM = """
llvm.func @main(%x: !llvm.ptr {kc.dims = ["N"]}, %xa: !llvm.ptr, %xo: i64, %n: i64, %xs: i64,
                %y: !llvm.ptr {kc.dims = ["N"], kc.out, kc.may_alias = 0 : i64}, %ya: !llvm.ptr, %yo: i64, %yn: i64,
                %ys: i64, %k: f32)
    attributes {kc.buffers = ["memref<?xf32>", "memref<?xf32>", "f32"], kc.impl, kc.allow = ["nsz"],
                kc.facts = ["N % 8 == 0", "align(arg0,64)"], kc.sizes = {N = array<i64: 8, 40000>}} {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  llvm.br ^head(%zero : i64)
^head(%i: i64):
  %more = llvm.icmp "slt" %i, %n : i64
  llvm.cond_br %more, ^body, ^end
^body:
  %from = llvm.getelementptr %xa[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  %v = llvm.load %from : !llvm.ptr -> f32
  %p = llvm.call @times(%v, %k) : (f32, f32) -> f32
  %to = llvm.getelementptr %ya[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  llvm.store %p, %to : f32, !llvm.ptr
  %next = llvm.add %i, %one : i64
  llvm.br ^head(%next : i64)
^end:
  llvm.return
}
llvm.func internal @times(%a: f32, %b: f32) -> f32 {
  %r = llvm.fdiv %a, %b : f32
  llvm.return %r : f32
}
"""


def test_text_of_level_llvm_is_called_through_an_entry_on_buffers() -> None:
    text = below.surface(LLVM)
    assert "func.func @main(%arg0: memref<?xf32>" in text and "kc.may_alias = 0 : i64, kc.out" in text
    x, y, k = prepare.arguments(text)
    assert (x.shape, y.role, k.shape, x.align) == ((40000,), "out", (), 64)
    slower = LLVM.replace(
        "%r = llvm.fdiv %a, %b : f32\n",
        "%r = llvm.fdiv %a, %b : f32\n %s = llvm.fdiv %r, %b : f32\n %t = llvm.fdiv %s, %b : f32\n"
        " %u = llvm.fdiv %t, %b : f32\n llvm.call @keep(%u) : (f32) -> ()\n",
    ) + "llvm.func internal @keep(%a: f32) attributes {no_inline, optnone} { llvm.return }"
    found = timing.check(slower, LLVM, level="llvm", sizes={"N": 4096})
    assert found.passed, found
    assert timing.check(LLVM, slower, level="llvm", sizes={"N": 4096}).reason == "timing.slower"
    wrong = LLVM.replace("llvm.fdiv %a, %b", "llvm.fdiv %b, %a")
    assert timing.check(LLVM, wrong, level="llvm", sizes={"N": 4096}).reason == "timing.results"


def test_sizes_at_which_a_region_is_timed() -> None:
    text = below.surface(LLVM)
    assert [prepare.named_sizes(text, drawn)["N"] for drawn in prepare.points(text)] == [40000, 16, 800]
    assert [a[0].shape for a in prepare.points(text, guard=("N % 1024 == 0",))] == [(39936,)]
    assert [a[0].shape for a in prepare.points(text, guard=("N > 500",))] == [(40000,), (800,)]
    assert len(prepare.points(text, {"N": 64})) == 1
    assert len(prepare.points(DOT)) == 1


def three(*ratios: float) -> list[Measurement]:
    return [measured(9000 * r, 9000) for r in ratios]


@pytest.mark.parametrize(
    ("ratios", "reason"),
    [
        ((3.0, 1.0, 1.2), None),
        ((3.0, 0.95, 1.2), None),
        ((3.0, 0.8, 1.2), "timing.somewhere"),
        ((1.1, 0.95, 0.92), "timing.slower"),
        ((1.03, 1.0, 1.0), "timing.small"),
    ],
)
def test_meaning_of_several_sizes(ratios: tuple[float, ...], reason: str | None) -> None:
    sizes = [{"N": 64}, {"N": 16}, {"N": 32}]
    found = timing.judge_all(three(*ratios), [Work()] * 3, LIMITS, sizes=sizes)
    assert found.reason == reason, found
    assert found.figures is not None
    assert found.figures["speedup"] == pytest.approx(math.prod(ratios) ** (1 / 3), rel=0.01)
    assert [one["sizes"] for one in found.figures["at"]] == sizes and found.figures["sizes"] == {"N": 64}
    if reason == "timing.somewhere":
        assert "N = 16" in found.message


def test_a_problem_at_one_size_is_a_problem() -> None:
    bad = [*three(3.0), Measurement(reason="results", message="m", culprit="proposal")]
    assert timing.judge_all(bad, [Work()] * 3, LIMITS).reason == "timing.results"
    quick = [*three(3.0), measured(9000, 900)]
    assert timing.judge_all(quick, [Work()] * 2, LIMITS, device=0).reason == "timing.impossible"


def measured(original: float, proposal: float, spread: float = 0.01) -> Measurement:
    """Times in ns of 21 rounds."""
    wobble = [1 + spread * ((7 * n) % 11 - 5) / 5 for n in range(21)]
    return Measurement(
        tuple(original * w for w in wobble), tuple(proposal * w for w in reversed(wobble)), 1, result_bytes=1000
    )


@pytest.mark.parametrize(
    ("measurement", "reason"),
    [
        (measured(9000, 4000), None),
        (measured(9000, 9500), "timing.slower"),
        (measured(9000, 8990, 0.2), "timing.uncertain"),
        (measured(9000, 8900), "timing.small"),
        (measured(9000, 900), "timing.impossible"),
        (Measurement(reason="results", message="m", culprit="proposal"), "timing.results"),
    ],
)
def test_meaning(measurement: Measurement, reason: str | None) -> None:
    found = timing.judge(measurement, Work(), LIMITS, again=False)
    assert found.reason == reason, found
    assert reason is None or reason in timing.REASONS


def test_machine_is_looked_at_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before a time is called impossible: perhaps the machine was busy when its figures were taken."""
    better = Machine("test", 1e12, 1e12, 0, {"f32": 1e12})
    monkeypatch.setattr(timing, "machine", lambda again: better)
    assert timing.judge(measured(9000, 900), Work(), LIMITS).passed


def test_least_work() -> None:
    arguments = prepare.arguments(DOT)
    assert arguments == (Argument("f32", (64, 32)), Argument("f32", (32, 16)))
    assert least_work(DOT, arguments) == Work(4 * (64 * 32 + 32 * 16), {"f32": 2.0 * 64 * 32 * 16})
    batched = DOT.replace("contracting_dims = [1] x [0]", "batching_dims = [0] x [0], contracting_dims = [2] x [1]")
    for old, new in (("64x32", "5x64x32"), ("32x16", "5x32x16"), ("64x16", "5x64x16")):
        batched = batched.replace(old, new)
    assert least_work(batched, prepare.arguments(batched)).operations == {"f32": 2.0 * 5 * 64 * 32 * 16}
    sliced = DOT.replace(
        "return %r : tensor<64x16xf32>",
        "%s = stablehlo.slice %r [0:64, 0:16] : (tensor<64x16xf32>) -> tensor<64x16xf32> return %s : tensor<64x16xf32>",
    )
    assert least_work(sliced, arguments) == Work()  # who slices first needs less
    head = ") -> tensor<64x16xf32> {"
    allowed = DOT.replace(head, head[:-1] + 'attributes {kc.allow = ["low_precision"]} {', 1)
    assert set(least_work(allowed, arguments).operations) == {"narrow"}


ROWS = """#rows = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @main(%x: tensor<64x32xf32>, %y: tensor<64x32xf32>, %out: tensor<64xf32>) -> tensor<64xf32> {
  %zero = arith.constant 0.0 : f32
  %init = linalg.fill ins(%zero : f32) outs(%out : tensor<64xf32>) -> tensor<64xf32>
  %r = linalg.generic {indexing_maps = [#rows, #rows, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x, %y : tensor<64x32xf32>, tensor<64x32xf32>) outs(%init : tensor<64xf32>) {
    ^bb0(%a: f32, %b: f32, %acc: f32):
      %e = math.exp %a : f32
      %s = arith.addf %e, %acc : f32
      linalg.yield %s : f32
  } -> tensor<64xf32>
  return %r : tensor<64xf32>
}"""


def test_least_work_of_a_body() -> None:
    def work(text: str) -> Work:
        return least_work(text, prepare.arguments(text))

    assert work(ROWS) == Work(4 * 64 * 32)  # neither %y, of which only the extents count, nor the destination
    assert work(ROWS.replace("%e, %acc", "%b, %acc")) == Work()  # %e is dead
    chosen = ROWS.replace("math.exp %a", "arith.addf %a, %b")
    assert work(chosen) == Work(2 * 4 * 64 * 32)
    chosen = chosen.replace(
        "%e = arith.addf %a, %b", "%c = arith.cmpf olt, %acc, %zero : f32 %e = arith.select %c, %a, %b"
    )
    assert work(chosen) == Work()


def test_typical_sizes() -> None:
    text = """func.func @main(%a: memref<?x?xf32> {kc.dims = ["M", "K"]}, %b: memref<?x?xf32> {kc.dims = ["K", "N"]},
        %i: memref<?xi32> {kc.dims = ["M"], kc.range = array<i64: 0, 9>},
        %c: memref<?x?xf32> {kc.dims = ["M", "N"], kc.inout})
        attributes {kc.sizes = {M = array<i64: 0, 131072>, N = array<i64: 0, 100>, K = array<i64: 0, 131072>},
                    kc.facts = ["K % 24 == 0", "unique(arg2)", "align(arg0,256)"]} { return }"""
    a, b, i, c = prepare.arguments(text)
    assert a.shape[0] == c.shape[0] == i.shape[0] >= 256
    assert a.shape[1] == b.shape[0] and a.shape[1] % 24 == 0
    assert b.shape[1] == c.shape[1] == 100
    assert sum(x.nbytes for x in (a, b, i, c)) <= prepare.TYPICAL_BYTES
    assert (i.low, i.high, i.facts, a.align, c.role) == (0, 9, ("unique",), 256, "inout")
    assert prepare.arguments(text, {"M": 3, "K": 24})[0].shape == (3, 24)
    with pytest.raises(InputError, match="obey the fact"):
        prepare.arguments(text, {"K": 25})
