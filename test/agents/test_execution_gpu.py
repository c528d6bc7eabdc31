"""The emulated machine of level gpu: right kernels give right results and no finding, wrong ones the finding."""
from __future__ import annotations

import numpy as np
import pytest

from kc.agents.execution import Call, Checks, ExecutionError, Outcome, run

F32 = np.float32
SHARED = "#gpu.address_space<workgroup>"


def module(body: str, *, shared: int = 64, blocks: int = 1, threads: int = 64, host: str = "") -> str:
    """A kernel on %x (read) and %y (written), each memref<?xf32>, with ``shared`` floats of shared memory %s."""
    return f"""
module attributes {{gpu.container_module}} {{
  func.func @main(%x: memref<?xf32>, %y: memref<?xf32> {{kc.inout}}) {{
    %b = arith.constant {blocks} : index
    %t = arith.constant {threads} : index
    %one = arith.constant 1 : index
    {host}
    gpu.launch_func @m::@k blocks in (%b, %one, %one) threads in (%t, %one, %one)
      args(%x : memref<?xf32>, %y : memref<?xf32>)
    return
  }}
  gpu.module @m {{
    gpu.func @k(%x: memref<?xf32>, %y: memref<?xf32>) workgroup(%s : memref<{shared}xf32, {SHARED}>) kernel {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c31 = arith.constant 31 : index
      %c32 = arith.constant 32 : index
      %c63 = arith.constant 63 : index
      %c64 = arith.constant 64 : index
      %fzero = arith.constant 0.0 : f32
      %fone = arith.constant 1.0 : f32
      %i1 = arith.constant 1 : i32
      %i32 = arith.constant 32 : i32
      %t = gpu.thread_id x
      %b = gpu.block_id x
      %n = gpu.block_dim x
      %base = arith.muli %b, %n : index
      %g = arith.addi %base, %t : index
      %size = memref.dim %y, %c0 : memref<?xf32>
      {body}
      gpu.return
    }}
  }}
}}"""


def emulate(text: str, size: int = 64, order: str = "forward", **call: object) -> Outcome:
    x = np.arange(size, dtype=F32) + 1
    arguments = (x, np.zeros(size, F32))
    (outcome,) = run(text, "gpu", [Call(arguments, **call)], checks=Checks(order=order))  # type: ignore[arg-type]
    return outcome


def kinds(outcome: Outcome) -> set[str]:
    lists = (outcome.bounds, outcome.writes, outcome.races, outcome.uninitialised, outcome.beyond, outcome.divergence)
    return {finding.kind for findings in lists for finding in findings}


def pointer(name: str, buffer: str, kind: str, element: str, space: int) -> str:
    """``%name``, a pointer in an address space to element ``element`` of a buffer of f32."""
    return f"""%{name}_base = memref.extract_aligned_pointer_as_index {buffer} : {kind} -> index
    %{name}_four = arith.constant 4 : index
    %{name}_off = arith.muli {element}, %{name}_four : index
    %{name}_at = arith.addi %{name}_base, %{name}_off : index
    %{name}_word = arith.index_cast %{name}_at : index to i64
    %{name} = llvm.inttoptr %{name}_word : i64 to !llvm.ptr<{space}>
    """


def copy(source: str, target: str) -> str:
    """Starts the copy of an element of %x into one of %s."""
    return (
        pointer("from", "%x", "memref<?xf32>", source, 1)
        + pointer("to", "%s", f"memref<64xf32, {SHARED}>", target, 3)
        + "nvvm.cp.async.shared.global %to, %from, 4, cache = ca : !llvm.ptr<3>, !llvm.ptr<1>\n"
    )


STAGE = f"""%v = memref.load %x[%t] : memref<?xf32>
memref.store %v, %s[%t] : memref<64xf32, {SHARED}>
"""
FETCH = f"""%r = arith.subi %c63, %t : index
%w = memref.load %s[%r] : memref<64xf32, {SHARED}>
memref.store %w, %y[%t] : memref<?xf32>
"""


@pytest.mark.parametrize("order", ["forward", "reversed", "interleaved"])
def test_staging_through_shared_memory(order: str) -> None:
    outcome = emulate(module(STAGE + "gpu.barrier\n" + FETCH), order=order)
    assert outcome.fault is None and kinds(outcome) == set()
    assert outcome.results[0].tolist() == list(range(64, 0, -1))


@pytest.mark.parametrize(
    "barrier",
    ["", "gpu.barrier scope <subgroup>", "nvvm.bar.warp.sync %all : i32",
     "gpu.barrier memfence [#gpu.address_space<global>]", "nvvm.barrier id = %i1 number_of_threads = %i32"],
    ids=["missing", "subgroup", "warp", "memfence of global memory", "half of the threads"],
)
@pytest.mark.parametrize("order", ["forward", "reversed"])
def test_a_barrier_that_does_not_order_the_accesses_is_a_race(barrier: str, order: str) -> None:
    text = module("%all = arith.constant -1 : i32\n" + STAGE + barrier + "\n" + FETCH)
    outcome = emulate(text, order=order)
    assert "race" in kinds(outcome), outcome
    first = outcome.races[0]
    assert first.iteration != first.other_iteration and "with no barrier" in first.message


def test_the_barrier_before_the_next_round_is_needed() -> None:
    body = f"""scf.for %round = %c0 to %c2 step %c1 {{
      %v = memref.load %x[%t] : memref<?xf32>
      memref.store %v, %s[%t] : memref<64xf32, {SHARED}>
      gpu.barrier
      %r = arith.subi %c63, %t : index
      %w = memref.load %s[%r] : memref<64xf32, {SHARED}>
      memref.store %w, %y[%t] : memref<?xf32>
      LAST
    }}"""
    assert kinds(emulate(module(body.replace("LAST", "gpu.barrier")))) == set()
    assert kinds(emulate(module(body.replace("LAST", "")))) == {"race"}


def test_slices_of_shared_memory_that_overlap() -> None:
    body = f"""%w = arith.divui %t, %c32 : index
    %lane = arith.remui %t, %c32 : index
    %from = arith.muli %w, %step : index
    %at = arith.addi %from, %lane : index
    memref.store %fone, %s[%at] : memref<64xf32, {SHARED}>
    gpu.barrier
    %v = memref.load %s[%at] : memref<64xf32, {SHARED}>
    memref.store %v, %y[%t] : memref<?xf32>"""
    # the lanes of one warp write different values than those of the other, so that none is masked by equality
    for step, found in ((32, set()), (31, {"race"})):
        assert kinds(emulate(module(f"%step = arith.constant {step} : index\n{body}"))) == found


def test_a_warp_may_not_race_with_itself() -> None:
    body = f"""%f = arith.index_cast %t : index to i32
    %v = arith.sitofp %f : i32 to f32
    memref.store %v, %s[PLACE] : memref<64xf32, {SHARED}>
    gpu.barrier
    %w = memref.load %s[%t] : memref<64xf32, {SHARED}>
    memref.store %w, %y[%t] : memref<?xf32>"""
    assert kinds(emulate(module(body.replace("PLACE", "%t"), threads=32))) == set()
    assert "race" in kinds(emulate(module(body.replace("PLACE", "%c0"), threads=32)))


GUARDED = """%ok = arith.cmpi ult, %g, %size : index
scf.if %ok {
  %v = memref.load %x[%g] : memref<?xf32>
  memref.store %v, %y[%g] : memref<?xf32>
}
"""
BARE = "%v = memref.load %x[%g] : memref<?xf32>\nmemref.store %v, %y[%g] : memref<?xf32>\n"


def test_an_unguarded_tail() -> None:
    assert kinds(emulate(module(GUARDED, blocks=2), size=100)) == set()
    outcome = emulate(module(BARE, blocks=2), size=100)
    assert "bounds" in kinds(outcome) and outcome.bounds[0].buffer == "argument 0"
    assert kinds(emulate(module(BARE, blocks=2), size=128)) == set()


def test_shared_memory_that_nobody_wrote() -> None:
    half = f"""%low = arith.cmpi ult, %t, LIMIT : index
    scf.if %low {{
      memref.store %fone, %s[%t] : memref<64xf32, {SHARED}>
    }}
    gpu.barrier
    """ + FETCH
    assert kinds(emulate(module(half.replace("LIMIT", "%c64")))) == set()
    outcome = emulate(module(half.replace("LIMIT", "%c32")))
    assert kinds(outcome) == {"uninitialised"} and "shared" in outcome.uninitialised[0].buffer
    values = [emulate(module(half.replace("LIMIT", "%c32")), poison=p).results[0] for p in (0x11, 0x22)]
    assert (values[0] != values[1]).any()


def test_shared_memory_has_an_end() -> None:
    store = f"memref.store %fone, %s[AT] : memref<64xf32, {SHARED}>"
    one = "%lead = arith.cmpi eq, %t, %c0 : index\nscf.if %lead {\n" + store + "\n}"
    assert kinds(emulate(module(one.replace("AT", "%c63")))) == set()
    assert "bounds" in kinds(emulate(module(one.replace("AT", "%c64"))))


@pytest.mark.parametrize(
    ("body", "wrong"),
    [
        ("%low = arith.cmpi ult, %b, %c1 : index\nscf.if %low {\ngpu.barrier\n}", False),  # uniform in the block
        ("%low = arith.cmpi ult, %t, %c1 : index\nscf.if %low {\ngpu.barrier\n}", True),
        ("%low = arith.cmpi ult, %t, %c32 : index\nscf.if %low {\ngpu.barrier\n}", True),  # uniform in the warps
        ("scf.for %i = %c0 to %t step %c1 {\ngpu.barrier\n}", True),
        ("%low = arith.cmpi ult, %t, %c32 : index\nscf.if %low {\ngpu.barrier\n} else {\ngpu.barrier\n}", False),
    ],
    ids=["uniform", "lanes", "warps", "trip count", "either way"],
)
def test_barriers_that_not_all_threads_reach(body: str, wrong: bool) -> None:
    outcome = emulate(module(body + "\nmemref.store %fone, %y[%t] : memref<?xf32>"))
    assert ("barrier" in kinds(outcome)) == wrong, outcome


def test_threads_that_end_before_a_barrier() -> None:
    text = module("""%out = arith.cmpi uge, %t, LIMIT : index
      cf.cond_br %out, ^end, ^go
    ^go:
      gpu.barrier
      memref.store %fone, %y[%t] : memref<?xf32>
      cf.br ^end
    ^end:""")
    assert kinds(emulate(text.replace("LIMIT", "%c64"))) == set()
    for limit in ("%c32", "%c31"):
        assert "barrier" in kinds(emulate(text.replace("LIMIT", limit)))


SUM = """%v = memref.load %x[%t] : memref<?xf32>
%d1 = arith.constant 16 : i32
%o, %ok = gpu.shuffle xor %v, %d1, %i32 : f32
%w = arith.addf %v, %o : f32
memref.store %w, %y[%t] : memref<?xf32>
"""


def test_shuffles() -> None:
    outcome = emulate(module(SUM, threads=32), size=32)
    x = np.arange(32, dtype=F32) + 1
    assert kinds(outcome) == set() and outcome.results[0].tolist() == (x + x[np.arange(32) ^ 16]).tolist()
    inside = "%low = arith.cmpi ult, %t, %lim : index\nscf.if %low {\n" + SUM + "}\n"
    for limit, found in ((32, set()), (20, {"shuffle"})):
        text = module(f"%lim = arith.constant {limit} : index\n{inside}", threads=32)
        assert kinds(emulate(text, size=32)) == found


@pytest.mark.parametrize(("mode", "offset", "want"), [("up", 1, 0), ("down", 1, 2), ("idx", 5, 5)])
def test_modes_of_shuffles(mode: str, offset: int, want: int) -> None:
    body = f"""%v = memref.load %x[%t] : memref<?xf32>
    %d = arith.constant {offset} : i32
    %o, %ok = gpu.shuffle {mode} %v, %d, %i32 : f32
    %all = arith.constant -1 : i32
    %clamp = arith.constant {0 if mode == 'up' else 31} : i32
    %p = nvvm.shfl.sync {mode} %all, %v, %d, %clamp : f32 -> f32
    %same = arith.cmpf oeq, %o, %p : f32
    %r = arith.select %same, %o, %fzero : f32
    memref.store %r, %y[%t] : memref<?xf32>"""
    outcome = emulate(module(body, threads=32), size=32)
    assert kinds(outcome) == set() and outcome.results[0][1] == want + 1


ATOMIC = "%old = memref.atomic_rmw addf %fone, %y[%c0] : (f32, memref<?xf32>) -> f32\n"


def test_blocks_race_on_global_memory() -> None:
    every = "%first = arith.cmpi eq, %t, %c0 : index\nscf.if %first {\nBODY}\n"
    plain = """%v = memref.load %y[%c0] : memref<?xf32>
    %w = arith.addf %v, %fone : f32
    memref.store %w, %y[%c0] : memref<?xf32>
    """
    assert kinds(emulate(module(every.replace("BODY", plain)))) == set()
    assert kinds(emulate(module(every.replace("BODY", plain), blocks=2))) == {"race"}
    outcome = emulate(module(ATOMIC, blocks=3))
    assert kinds(outcome) == set() and outcome.results[0][0] == 192
    mixed = ATOMIC + "%v = memref.load %y[%c0] : memref<?xf32>\nmemref.store %v, %y[%g] : memref<?xf32>"
    assert "race" in kinds(emulate(module(mixed, blocks=2), size=128))


def test_launches_one_after_the_other_do_not_race() -> None:
    again = """gpu.launch_func @m::@k blocks in (%b, %one, %one) threads in (%t, %one, %one)
      args(%x : memref<?xf32>, %y : memref<?xf32>)"""
    body = """%r = arith.subi %c63, %g : index
    %v = memref.load %y[%r] : memref<?xf32>
    %w = arith.addf %v, %fone : f32
    memref.store %w, %y[%r] : memref<?xf32>"""
    outcome = emulate(module(body, blocks=2, threads=32, host=again))
    assert kinds(outcome) == set() and outcome.results[0].tolist() == [2.0] * 64


@pytest.mark.parametrize(
    ("fence", "order", "found"),
    [("nvvm.memory.barrier <gpu>", "acq_rel", set()), ("", "acq_rel", set()), ("", "monotonic", {"race"}),
     ("nvvm.memory.barrier <cta>", "monotonic", {"race"}), ("nvvm.memory.barrier <gpu>", "monotonic", set())],
)
def test_the_last_block_reads_what_the_others_wrote(fence: str, order: str, found: set[str]) -> None:
    """Two blocks write parts; who comes second by an atomic counter adds them up: a fence must stand between."""
    text = f"""
module attributes {{gpu.container_module}} {{
  func.func @main(%y: memref<4xf32> {{kc.inout}}, %count: memref<1xi32> {{kc.inout}}) {{
    %two = arith.constant 2 : index
    %one = arith.constant 1 : index
    gpu.launch_func @m::@k blocks in (%two, %one, %one) threads in (%one, %one, %one)
      args(%y : memref<4xf32>, %count : memref<1xi32>)
    return
  }}
  gpu.module @m {{
    gpu.func @k(%y: memref<4xf32>, %count: memref<1xi32>) kernel {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %i1 = arith.constant 1 : i32
      %f = arith.constant 5.0 : f32
      %b = gpu.block_id x
      memref.store %f, %y[%b] : memref<4xf32>
      {fence}
      %address = memref.extract_aligned_pointer_as_index %count : memref<1xi32> -> index
      %word = arith.index_cast %address : index to i64
      %p = llvm.inttoptr %word : i64 to !llvm.ptr
      %old = llvm.atomicrmw add %p, %i1 {order} : !llvm.ptr, i32
      {fence}
      %last = arith.cmpi eq, %old, %i1 : i32
      scf.if %last {{
        %v = memref.load %y[%c0] : memref<4xf32>
        %w = memref.load %y[%c1] : memref<4xf32>
        %s = arith.addf %v, %w : f32
        memref.store %s, %y[%c2] : memref<4xf32>
      }}
      gpu.return
    }}
  }}
}}"""
    for direction in ("forward", "reversed"):
        call = Call((np.zeros(4, F32), np.zeros(1, np.int32)))
        (outcome,) = run(text, "gpu", [call], checks=Checks(order=direction))  # type: ignore[arg-type]
        assert kinds(outcome) == found and outcome.results[0][2] == 10


def test_read_only_arguments() -> None:
    assert kinds(emulate(module("memref.store %fone, %x[%t] : memref<?xf32>"))) == {"read-only"}


def test_results_do_not_depend_on_the_order_unless_something_is_wrong() -> None:
    text = module(STAGE + "gpu.barrier\n" + FETCH + GUARDED.replace("%v", "%q"), blocks=1)
    results = {emulate(text, order=order).results[0].tobytes() for order in ("forward", "reversed", "interleaved")}
    assert len(results) == 1


def test_copies_under_way_are_not_there_before_they_are_waited_for() -> None:
    body = copy("%t", "%t") + "nvvm.cp.async.commit.group\nWAIT\ngpu.barrier\n" + FETCH
    outcome = emulate(module(body.replace("WAIT", "nvvm.cp.async.wait.group 0")))
    assert kinds(outcome) == set() and outcome.results[0].tolist() == list(range(64, 0, -1))
    assert "uninitialised" in kinds(emulate(module(body.replace("WAIT", "nvvm.cp.async.wait.group 1"))))


def test_a_copy_may_write_as_soon_as_it_is_under_way() -> None:
    """Warp 0 copies rows into two stages in turn, warp 1 reads them: the stage must be free before the copy starts."""
    body = f"""%rows = arith.constant 4 : index
    %copies = arith.cmpi ult, %t, %c32 : index
    scf.for %r = %c0 to %rows step %c1 {{
      %stage = arith.remui %r, %c2 : index
      %row = arith.muli %stage, %c32 : index
      scf.if %copies {{
        %at = arith.addi %row, %t : index
        {copy("%t", "%at")}
      }}
      nvvm.cp.async.commit.group
      WAIT
      gpu.barrier
      %reads = arith.cmpi uge, %t, %c32 : index
      scf.if %reads {{
        %lane = arith.subi %t, %c32 : index
        %of = arith.addi %row, %lane : index
        %v = memref.load %s[%of] : memref<64xf32, {SHARED}>
        memref.store %v, %y[%t] : memref<?xf32>
      }}
      AFTER
    }}"""
    wait = "nvvm.cp.async.wait.group 0"
    assert kinds(emulate(module(body.replace("WAIT", wait).replace("AFTER", "gpu.barrier")))) == set()
    # two stages and the barrier of the next round keep reader and copy apart by one round
    assert kinds(emulate(module(body.replace("WAIT", wait).replace("AFTER", "")))) == set()
    one_stage = body.replace("arith.remui %r, %c2", "arith.remui %r, %c1").replace("WAIT", wait)
    assert "race" in kinds(emulate(module(one_stage.replace("AFTER", ""))))
    assert kinds(emulate(module(one_stage.replace("AFTER", "gpu.barrier")))) == set()
    late = body.replace("WAIT", "nvvm.cp.async.wait.group 1").replace("AFTER", "gpu.barrier")
    assert "race" in kinds(emulate(module(late)))


def test_mbarriers_order_what_comes_before_and_after() -> None:
    body = f"""{pointer("bar", "%s", f"memref<64xf32, {SHARED}>", "%c0", 3)}
    %first = arith.cmpi eq, %t, %c0 : index
    %count = arith.constant 32 : i32
    %ticks = arith.constant 100 : i32
    %phase = arith.constant PHASE : i32
    scf.if %first {{
      nvvm.mbarrier.init %bar, %count : !llvm.ptr<3>, i32
    }}
    gpu.barrier
    %producer = arith.cmpi ult, %t, %c32 : index
    %at = arith.addi %t, %c2 : index
    scf.if %producer {{
      memref.store %fone, %s[%at] : memref<64xf32, {SHARED}>
      %token = nvvm.mbarrier.arrive %bar : !llvm.ptr<3> -> i64
    }} else {{
      %partner = arith.subi %at, %c32 : index
      nvvm.mbarrier.try_wait.parity %bar, %phase, %ticks : !llvm.ptr<3>, i32, i32
      %v = memref.load %s[%partner] : memref<64xf32, {SHARED}>
      memref.store %v, %y[%t] : memref<?xf32>
    }}"""
    for order in ("forward", "reversed"):
        outcome = emulate(module(body.replace("PHASE", "0")), order=order)
        assert kinds(outcome) == set() and outcome.results[0][32:].tolist() == [1.0] * 32
    # a stale phase: whoever comes first does not wait, and who comes after the phase has changed waits for ever
    stale = module(body.replace("PHASE", "1"))
    assert "race" in kinds(emulate(stale, order="reversed"))
    fault = emulate(stale).fault
    assert fault is not None and fault.kind == "barrier"


def test_an_endless_kernel_ends() -> None:
    text = module("scf.while : () -> () {\n%true = arith.constant true\nscf.condition(%true)\n} do {\nscf.yield\n}")
    x = np.zeros(64, F32)
    (outcome,) = run(text, "gpu", [Call((x, x))], checks=Checks(seconds=0.2))
    assert outcome.fault is not None and outcome.fault.kind == "time"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (module("memref.store %fone, %y[%t] : memref<?xf32>", threads=2048), "launch"),
        (module("memref.store %fone, %y[%t] : memref<?xf32>", threads=0), "launch"),
        (module("memref.store %fone, %y[%t] : memref<?xf32>", shared=70000), "launch"),
    ],
    ids=["threads", "no threads", "shared memory"],
)
def test_a_launch_that_the_hardware_refuses(text: str, kind: str) -> None:
    fault = emulate(text).fault
    assert fault is not None and fault.kind == kind


def test_what_cannot_be_emulated_is_named() -> None:
    text = module('%v = llvm.inline_asm "mov.u32 $0, %clock;", "=r" : () -> i32')
    with pytest.raises(ExecutionError, match=r"mov\.u32") as caught:
        emulate(text)
    assert (caught.value.kind, caught.value.op) == ("unsupported", "llvm.inline_asm")


def test_host_code_allocates_copies_and_launches() -> None:
    text = """
module {
  func.func @main(%x: memref<5xf32>, %k: f32) -> memref<?xf32> {
    %one = arith.constant 1 : index
    %five = arith.constant 5 : index
    %y = memref.alloc(%five) : memref<?xf32>
    %z = memref.alloc() : memref<5xf32>
    memref.copy %x, %z : memref<5xf32> to memref<5xf32>
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %one, %gy = %one, %gz = %one)
               threads(%tx, %ty, %tz) in (%sx = %five, %sy = %one, %sz = %one) {
      %v = memref.load %z[%tx] : memref<5xf32>
      %w = math.fma %v, %k, %v : f32
      memref.store %w, %y[%tx] : memref<?xf32>
      gpu.terminator
    }
    DEALLOC
    return %y : memref<?xf32>
  }
}"""
    x = np.arange(5, dtype=F32)
    for dealloc, leaked, heap in (
        ("memref.dealloc %z : memref<5xf32>", 0, ()), ("", 1, ()),
        ("memref.dealloc %z : memref<5xf32>\nmemref.dealloc %z : memref<5xf32>", 0, ("wrong-free",)),
    ):
        (outcome,) = run(text.replace("DEALLOC", dealloc), "gpu", [Call((x, F32(2)))])
        assert outcome.results[0].tolist() == (x * 3).tolist()
        assert (outcome.leaked, outcome.heap, kinds(outcome)) == (leaked, heap, set())


def test_tensor_cores() -> None:
    """One warp: A and B through shared memory and ldmatrix, D = A B + C by mma.sync, and back by stmatrix."""
    tile = "memref<{}xf16, #gpu.address_space<workgroup>>"
    text = f"""
module attributes {{gpu.container_module}} {{
  func.func @main(%a: memref<16x16xf16>, %b: memref<16x8xf16>, %d: memref<16x8xf32> {{kc.out}}) {{
    %one = arith.constant 1 : index
    %t = arith.constant 32 : index
    gpu.launch_func @m::@k blocks in (%one, %one, %one) threads in (%t, %one, %one)
      args(%a : memref<16x16xf16>, %b : memref<16x8xf16>, %d : memref<16x8xf32>)
    return
  }}
  gpu.module @m {{
    gpu.func @k(%a: memref<16x16xf16>, %b: memref<16x8xf16>, %d: memref<16x8xf32>)
        workgroup(%sa : {tile.format("16x16")}, %sb : {tile.format("16x8")}) kernel {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c4 = arith.constant 4 : index
      %c8 = arith.constant 8 : index
      %c16 = arith.constant 16 : index
      %zero = arith.constant 0.0 : f32
      %t = gpu.thread_id x
      %row = arith.remui %t, %c16 : index
      %half = arith.divui %t, %c16 : index
      %col = arith.muli %half, %c8 : index
      %v = vector.load %a[%row, %col] : memref<16x16xf16>, vector<8xf16>
      vector.store %v, %sa[%row, %col] : {tile.format("16x16")}, vector<8xf16>
      %low = arith.cmpi ult, %t, %c16 : index
      scf.if %low {{
        %w = vector.load %b[%t, %c0] : memref<16x8xf16>, vector<8xf16>
        vector.store %w, %sb[%t, %c0] : {tile.format("16x8")}, vector<8xf16>
      }}
      BARRIER
      %pa = memref.extract_aligned_pointer_as_index %sa : {tile.format("16x16")} -> index
      %pb = memref.extract_aligned_pointer_as_index %sb : {tile.format("16x8")} -> index
      %c32 = arith.constant 32 : index
      %ra = arith.muli %row, %c32 : index
      %ca = arith.muli %half, %c16 : index
      %oa = arith.addi %ra, %ca : index
      %ia = arith.addi %pa, %oa : index
      %ob = arith.muli %row, %c16 : index
      %ib = arith.addi %pb, %ob : index
      %wa = arith.index_cast %ia : index to i64
      %wb = arith.index_cast %ib : index to i64
      %qa = llvm.inttoptr %wa : i64 to !llvm.ptr<3>
      %qb = llvm.inttoptr %wb : i64 to !llvm.ptr<3>
      %fa = nvvm.ldmatrix %qa {{num = 4 : i32, layout = #nvvm.mma_layout<row>,
        shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>}}
        : (!llvm.ptr<3>) -> !llvm.struct<(i32, i32, i32, i32)>
      %fb = nvvm.ldmatrix %qb {{num = 2 : i32, layout = #nvvm.mma_layout<col>,
        shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>}}
        : (!llvm.ptr<3>) -> !llvm.struct<(i32, i32)>
      %a0 = llvm.extractvalue %fa[0] : !llvm.struct<(i32, i32, i32, i32)>
      %a1 = llvm.extractvalue %fa[1] : !llvm.struct<(i32, i32, i32, i32)>
      %a2 = llvm.extractvalue %fa[2] : !llvm.struct<(i32, i32, i32, i32)>
      %a3 = llvm.extractvalue %fa[3] : !llvm.struct<(i32, i32, i32, i32)>
      %b0 = llvm.extractvalue %fb[0] : !llvm.struct<(i32, i32)>
      %b1 = llvm.extractvalue %fb[1] : !llvm.struct<(i32, i32)>
      %x0 = llvm.bitcast %a0 : i32 to vector<2xf16>
      %x1 = llvm.bitcast %a1 : i32 to vector<2xf16>
      %x2 = llvm.bitcast %a2 : i32 to vector<2xf16>
      %x3 = llvm.bitcast %a3 : i32 to vector<2xf16>
      %y0 = llvm.bitcast %b0 : i32 to vector<2xf16>
      %y1 = llvm.bitcast %b1 : i32 to vector<2xf16>
      %r = nvvm.mma.sync A[%x0, %x1, %x2, %x3] B[%y0, %y1] C[%zero, %zero, %zero, %zero]
        {{layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, shape = #nvvm.shape<m = 16, n = 8, k = 16>}}
        : (vector<2xf16>, vector<2xf16>, f32) -> !llvm.struct<(f32, f32, f32, f32)>
      %d0 = llvm.extractvalue %r[0] : !llvm.struct<(f32, f32, f32, f32)>
      %d1 = llvm.extractvalue %r[1] : !llvm.struct<(f32, f32, f32, f32)>
      %d2 = llvm.extractvalue %r[2] : !llvm.struct<(f32, f32, f32, f32)>
      %d3 = llvm.extractvalue %r[3] : !llvm.struct<(f32, f32, f32, f32)>
      %g = arith.divui %t, %c4 : index
      %i = arith.remui %t, %c4 : index
      %j = arith.muli %i, %c2 : index
      %j1 = arith.addi %j, %c1 : index
      %g8 = arith.addi %g, %c8 : index
      memref.store %d0, %d[%g, %j] : memref<16x8xf32>
      memref.store %d1, %d[%g, %j1] : memref<16x8xf32>
      memref.store %d2, %d[%g8, %j] : memref<16x8xf32>
      memref.store %d3, %d[%g8, %j1] : memref<16x8xf32>
      gpu.return
    }}
  }}
}}"""
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal(s).astype(np.float16) for s in ((16, 16), (16, 8)))
    call = Call((a, b, np.zeros((16, 8), F32)))
    (outcome,) = run(text.replace("BARRIER", "gpu.barrier"), "gpu", [call])
    assert kinds(outcome) == set()
    assert np.allclose(outcome.results[0], a.astype(F32) @ b.astype(F32), atol=1e-5)
    (outcome,) = run(text.replace("BARRIER", ""), "gpu", [call])
    assert kinds(outcome) == {"race"}


def test_a_launch_of_no_blocks_is_left_out() -> None:
    """As kc's runtime does: ceil(0 / 64) blocks of an empty array."""
    text = module("memref.store %fone, %y[%g] : memref<?xf32>", blocks=0)
    outcome = emulate(text, 0)
    assert outcome.fault is None and outcome.results[0].shape == (0,) and not kinds(outcome)
    untouched = emulate(text, 4)
    np.testing.assert_array_equal(untouched.results[0], np.zeros(4, F32))


def test_a_copy_of_rank_0() -> None:
    copy = """func.func @main(%x: memref<f32>, %y: memref<f32> {kc.out}) {
      memref.copy %x, %y : memref<f32> to memref<f32> return }"""
    (outcome,) = run(copy, "gpu", [Call((np.array(3, F32), np.array(0, F32)))])
    assert outcome.results[0] == 3
