"""Plain runs at levels linalg, loops: results bit for bit, and each way in which code under test may misbehave."""
from __future__ import annotations

import numpy as np
import pytest

from kc.agents.execution import Call, Checks, ExecutionError, Outcome, run

F32 = np.float32
HEAD = """
%c0 = arith.constant 0 : index
%c1 = arith.constant 1 : index
%c4 = arith.constant 4 : index
%n = memref.dim %x, %c0 : memref<?xf32>
%one = arith.constant 1.0 : f32
"""


def loops(body: str, *, out: str = "kc.out", head: str = "", checks: Checks | None = None, **call: object) -> Outcome:
    """Run ``body`` with %x (read) and %y (written), 5 elements each."""
    text = f"func.func @main(%x: memref<?xf32>, %y: memref<?xf32> {{{out}}}) {{{HEAD}{body}\nreturn\n}}\n{head}"
    arguments = (np.arange(5, dtype=F32) + 1, np.zeros(5, F32))
    (outcome,) = run(text, "loops", [Call(arguments, **call)], checks=checks or Checks())  # type: ignore[arg-type]
    return outcome


COPY = """
scf.for %i = %c0 to %n step %c1 {
  %v = memref.load %x[%i] : memref<?xf32>
  memref.store %v, %y[%i] : memref<?xf32>
}
"""


def faultless(outcome: Outcome) -> bool:
    return (outcome.fault, outcome.mutated, outcome.outside, outcome.leaked, outcome.heap) == (None, (), (), 0, ())


@pytest.mark.parametrize("call", [{}, {"guard": "before"}, {"guard": "after"}, {"poison": 0xFF}])
def test_right_code_gives_no_finding(call: dict) -> None:
    outcome = loops(COPY, **call)
    assert faultless(outcome)
    assert outcome.results[0].tobytes() == (np.arange(5, dtype=F32) + 1).tobytes()


def test_an_unwritten_element_holds_the_poison() -> None:
    outcome = loops("memref.store %one, %y[%c0] : memref<?xf32>", poison=0x11)
    assert outcome.results[0][1:].tobytes() == b"\x11" * 16


def test_a_store_beside_the_buffer_is_outside() -> None:
    outcome = loops(COPY + "memref.store %one, %y[%n] : memref<?xf32>")
    assert outcome.outside == (1,) and outcome.fault is None


def test_a_store_into_a_gap_is_outside() -> None:
    text = """func.func @main(%y: memref<?xf32, strided<[?]>> {kc.out}) {
      %c1 = arith.constant 1 : index
      %one = arith.constant 1.0 : f32
      %p = memref.reinterpret_cast %y to offset: [0], sizes: [4], strides: [1]
        : memref<?xf32, strided<[?]>> to memref<4xf32>
      memref.store %one, %p[%c1] : memref<4xf32>
      return
    }"""
    for strided, outside in ((True, (0,)), (False, ())):
        (outcome,) = run(text, "loops", [Call((np.zeros(3, F32),), strided=strided)])
        assert outcome.outside == outside


@pytest.mark.parametrize(("guard", "index"), [("after", "%n"), ("before", "%m1")])
def test_a_read_beside_the_buffer_meets_the_guard_page(guard: str, index: str) -> None:
    body = f"""%m1 = arith.constant -1 : index
    %v = memref.load %x[{index}] : memref<?xf32>
    memref.store %v, %y[%c0] : memref<?xf32>"""
    assert loops(body).fault is None
    fault = loops(body, guard=guard).fault
    assert fault is not None and (fault.kind, fault.argument) == ("bounds", 0)


def test_a_write_to_a_read_only_argument_is_named() -> None:
    write = "memref.store %one, %x[%c1] : memref<?xf32>"
    fault = loops(write).fault
    assert fault is not None and (fault.kind, fault.argument) == ("read-only", 0)
    assert loops(write, checks=Checks(protect=False)).mutated == (0,)
    # the roles of the original count, whatever the proposal says of its arguments
    promoted = Checks(roles=("in", "in"))
    fault = loops(COPY, checks=promoted).fault
    assert fault is not None and fault.kind == "read-only"


@pytest.mark.parametrize(
    ("body", "leaked", "heap"),
    [
        ("%t = memref.alloc(%n) : memref<?xf32>\nmemref.copy %x, %t : memref<?xf32> to memref<?xf32>\n"
         "memref.copy %t, %y : memref<?xf32> to memref<?xf32>\nmemref.dealloc %t : memref<?xf32>", 0, ()),
        ("%t = memref.alloc(%n) : memref<?xf32>\nmemref.copy %x, %t : memref<?xf32> to memref<?xf32>\n"
         "memref.copy %t, %y : memref<?xf32> to memref<?xf32>", 1, ()),
        ("%t = memref.alloc(%n) : memref<?xf32>\nmemref.store %one, %t[%n] : memref<?xf32>\n"
         "memref.copy %t, %y : memref<?xf32> to memref<?xf32>\nmemref.dealloc %t : memref<?xf32>", 0, ("red-zone",)),
        ("%t = memref.alloc(%n) : memref<?xf32>\nmemref.copy %x, %t : memref<?xf32> to memref<?xf32>\n"
         "memref.dealloc %t : memref<?xf32>\nmemref.dealloc %t : memref<?xf32>", 0, ("wrong-free",)),
        ("memref.dealloc %x : memref<?xf32>", 0, ("wrong-free",)),
    ],
    ids=["clean", "leak", "red-zone", "double-free", "free-argument"],
)
def test_the_heap_is_watched(body: str, leaked: int, heap: tuple[str, ...]) -> None:
    outcome = loops(body)
    assert (outcome.leaked, outcome.heap) == (leaked, heap)


def test_a_write_after_free_shows() -> None:
    helper = """func.func private @late(%t: memref<?xf32>, %i: index, %v: f32) attributes {no_inline} {
      memref.store %v, %t[%i] : memref<?xf32>
      return
    }"""
    body = """%t = memref.alloc(%n) : memref<?xf32>
    memref.copy %x, %t : memref<?xf32> to memref<?xf32>
    memref.dealloc %t : memref<?xf32>
    func.call @late(%t, %c1, %one) : (memref<?xf32>, index, f32) -> ()"""
    assert loops(body, head=helper).heap == ("use-after-free",)


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("scf.while : () -> () {\n%t = arith.constant true\nscf.condition(%t)\n} do {\n"
         "%v = memref.load %x[%c0] : memref<?xf32>\nmemref.store %v, %y[%c0] : memref<?xf32>\nscf.yield\n}", "time"),
        ("%big = arith.constant 3000000000 : index\n%t = memref.alloc(%big) : memref<?xf32>\n"
         "memref.store %one, %t[%c0] : memref<?xf32>\nmemref.copy %x, %t : memref<?xf32> to memref<?xf32>\n"
         "memref.copy %t, %y : memref<?xf32> to memref<?xf32>", "allocation"),
        ("%big = arith.constant 30000000 : index\n%t = memref.alloca(%big) : memref<?xf32>\n"
         "%v = memref.load %x[%c0] : memref<?xf32>\nscf.for %i = %c0 to %big step %n {\n"
         "memref.store %v, %t[%i] : memref<?xf32>\n}\n%w = memref.load %t[%n] : memref<?xf32>\n"
         "memref.store %w, %y[%c0] : memref<?xf32>", "stack"),
        ("%t = arith.cmpi eq, %n, %c0 : index\ncf.assert %t, \"no elements\"", "abort"),
        ("%v = func.call @deep(%n) : (index) -> f32\nmemref.store %v, %y[%c0] : memref<?xf32>", "stack"),
    ],
    ids=["endless", "huge", "alloca", "assert", "recursion"],
)
def test_a_call_that_does_not_end_well_says_why(body: str, kind: str) -> None:
    deep = """func.func private @deep(%i: index) -> f32 attributes {no_inline} {
      %c1 = arith.constant 1 : index
      %j = arith.addi %i, %c1 : index
      %v = func.call @deep(%j) : (index) -> f32
      %k = arith.index_cast %i : index to i32
      %f = arith.sitofp %k : i32 to f32
      %s = arith.divf %f, %v : f32
      return %s : f32
    }"""
    head = deep if "@deep" in body else ""
    outcome = loops(body, head=head, checks=Checks(seconds=0.2))
    assert outcome.fault is not None and outcome.fault.kind == kind, outcome.fault
    assert outcome.results == ()
    if kind == "abort":
        assert "no elements" in outcome.fault.message


def test_the_next_call_still_runs_after_a_fault() -> None:
    text = """func.func @main(%x: memref<?xf32>, %k: i32, %y: memref<?xf32> {kc.out}) {
      %c0 = arith.constant 0 : index
      %seven = arith.constant 7 : i32
      %q = arith.divsi %seven, %k : i32
      %f = arith.sitofp %q : i32 to f32
      memref.store %f, %y[%c0] : memref<?xf32>
      return
    }"""
    x, y = np.ones(1, F32), np.zeros(1, F32)
    outcomes = list(run(text, "loops", [Call((x, np.int32(k), y)) for k in (7, 0, 7)]))
    assert [o.fault and o.fault.kind for o in outcomes] == [None, "arithmetic", None]
    assert outcomes[2].results[0][0] == 1


def test_arguments_may_share_a_buffer() -> None:
    body = COPY.replace("memref.store %v", "%w = arith.addf %v, %one : f32\nmemref.store %w")
    outcome = loops(body, out="kc.inout, kc.may_alias = 0 : i64", aliases=((1, 0),))
    assert faultless(outcome) and outcome.results[0].tolist() == [2, 3, 4, 5, 6]


def test_nothing_is_contracted_and_denormals_stay() -> None:
    body = """scf.for %i = %c0 to %n step %c1 {
      %v = memref.load %x[%i] : memref<?xf32>
      %p = arith.mulf %v, %v : f32
      %s = arith.addf %p, %v : f32
      %tiny = arith.constant 1.0e-40 : f32
      %d = arith.mulf %s, %tiny : f32
      memref.store %d, %y[%i] : memref<?xf32>
    }"""
    text = f"func.func @main(%x: memref<?xf32>, %y: memref<?xf32> {{kc.out}}) {{{HEAD}{body}\nreturn\n}}"
    x = np.random.default_rng(0).standard_normal(4096).astype(F32)
    (outcome,) = run(text, "loops", [Call((x, x))])
    assert outcome.results[0].tobytes() == ((x * x + x) * F32(1e-40)).tobytes()


def test_buffers_are_no_better_aligned_than_they_must_be() -> None:
    body = """%a = memref.assume_alignment %x, 64 : memref<?xf32>
    %v = vector.load %a[%c0] {alignment = 64 : i64} : memref<?xf32>, vector<4xf32>
    vector.store %v, %y[%c0] : memref<?xf32>, vector<4xf32>"""
    fault = loops(body).fault
    assert fault is not None and fault.kind == "memory"
    assert loops(body, checks=Checks(alignments=(64, 0))).fault is None


def test_linalg_results_of_every_kind() -> None:
    text = """func.func @main(%x: tensor<?x3xf32>, %s: f64, %z: complex<f32>, %b: i1)
        -> (tensor<?x3xf32>, f64, tensor<bf16>, complex<f32>, i1, tensor<0x2xi8>) {
      %y = linalg.exp ins(%x : tensor<?x3xf32>) outs(%x : tensor<?x3xf32>) -> tensor<?x3xf32>
      %h = arith.constant dense<1.5> : tensor<bf16>
      %e = tensor.empty() : tensor<0x2xi8>
      return %y, %s, %h, %z, %b, %e : tensor<?x3xf32>, f64, tensor<bf16>, complex<f32>, i1, tensor<0x2xi8>
    }"""
    x = np.linspace(-2, 2, 6).astype(F32).reshape(2, 3)
    (outcome,) = run(text, "linalg", [Call((x, np.float64(2.5), np.complex64(1 + 2j), np.bool_(True)))])
    y, s, h, z, b, e = outcome.results
    assert outcome.mutated == () and np.allclose(y, np.exp(x), rtol=1e-6)
    assert (float(s), float(h), complex(z), bool(b), e.shape) == (2.5, 1.5, 1 + 2j, True, (0, 2))


@pytest.mark.parametrize(
    ("text", "kind", "match"),
    [
        ("func.func @main(%x: memref<2xf32>) {\ncall @f() : () -> ()\nreturn\n}\nfunc.func private @f()",
         "unsupported", "@f"),
        ("func.func @other() {\nreturn\n}", "compile", "no function @main"),
        ("func.func @main(%x: memref<*xf32>) {\nreturn\n}", "unsupported", r"memref<\*xf32>"),
    ],
)
def test_what_cannot_be_run_is_an_error(text: str, kind: str, match: str) -> None:
    with pytest.raises(ExecutionError, match=match) as caught:
        list(run(text, "loops", [Call((np.zeros(2, F32),))]))
    assert caught.value.kind == kind


@pytest.mark.parametrize("element", ["f16", "bf16"])
@pytest.mark.parametrize("instrument", [False, True])
def test_narrow_floats_round_after_every_operation(element: str, instrument: bool) -> None:
    text = f"""func.func @main(%x: memref<3x{element}>, %y: memref<3x{element}> {{kc.out}}) {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %big = arith.constant 3.0e4 : {element}
      %small = arith.constant 3.0e-4 : {element}
      %v = memref.load %x[%c0] : memref<3x{element}>
      %a = arith.mulf %v, %big : {element}
      %b = arith.mulf %a, %small : {element}
      memref.store %b, %y[%c0] : memref<3x{element}>
      %w = vector.load %x[%c1] : memref<3x{element}>, vector<2x{element}>
      %bigs = vector.broadcast %big : {element} to vector<2x{element}>
      %smalls = vector.broadcast %small : {element} to vector<2x{element}>
      %c = arith.mulf %w, %bigs : vector<2x{element}>
      %d = arith.mulf %c, %smalls : vector<2x{element}>
      vector.store %d, %y[%c1] : memref<3x{element}>, vector<2x{element}>
      return
    }}"""
    import ml_dtypes

    dtype = np.float16 if element == "f16" else ml_dtypes.bfloat16
    x = np.array([3, 0.7, 2.1], dtype)
    with np.errstate(over="ignore"):
        want = (x * dtype(3e4)) * dtype(3e-4)
    (outcome,) = run(text, "loops", [Call((x, x))], checks=Checks(instrument=instrument))
    assert outcome.results[0].tobytes() == want.tobytes()


@pytest.mark.parametrize("name", ["exp", "log1p", "tanh"])
def test_scalars_and_vectors_give_the_same_bits(name: str) -> None:
    rng = np.random.default_rng(0)
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-40, -1e-40, 88.8]
    x = np.concatenate([rng.standard_normal(800) * 10, 10.0 ** rng.uniform(-38, 38, 800), special]).astype(F32)
    results = []
    for width in ("1", "8"):
        body = f"""%step = arith.constant {width} : index
        scf.for %i = %c0 to %n step %step {{
          %v = vector.load %x[%i] : memref<?xf32>, vector<{width}xf32>
          %w = math.{name} %v : vector<{width}xf32>
          vector.store %w, %y[%i] : memref<?xf32>, vector<{width}xf32>
        }}"""
        text = f"func.func @main(%x: memref<?xf32>, %y: memref<?xf32> {{kc.out}}) {{{HEAD}{body}\nreturn\n}}"
        (outcome,) = run(text, "loops", [Call((x, x))])
        results.append(outcome.results[0])
    assert results[0].tobytes() == results[1].tobytes()
    with np.errstate(invalid="ignore"):
        want = getattr(np, name)(x[:800].astype(np.float64))
    assert np.allclose(results[0][:800], want, rtol=1e-6, equal_nan=True)
