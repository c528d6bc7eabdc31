"""Bulk tensor copies, products of warpgroups, clusters and proxy fences on the emulated machine."""
from __future__ import annotations

import re
import sys
from functools import cache
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import kc
from kc.agents import Match
from kc.agents.execution import Call, Checks, ExecutionError, Outcome, run

sys.path.insert(0, str(Path(__file__).resolve().parent))
import corpus

FILES = ("cluster_pairs", "tma_rows", "tma_swizzle", "wgmma_steps")
TYPES = {"bf16": ml_dtypes.bfloat16, "f16": np.float16, "f32": np.float32, "i32": np.int32}
ENTRIES = [e for e in corpus.load("gpu") if any(f"gpu-{name}-" in e.id for name in FILES)]


def emulate(text: str, order: str = "forward") -> tuple[Outcome, list[np.ndarray]]:
    """One call with small whole numbers; the outcome and the arguments."""
    kinds = re.findall(r"%\w+: memref<((?:\d+x)*\d+)x(\w+)>", re.search(r"func\.func @main.*", text)[0])  # type: ignore[index]
    g = np.random.default_rng(0)
    arrays = [g.integers(-3, 4, tuple(map(int, dims.split("x")))).astype(TYPES[kind]) for dims, kind in kinds]
    (outcome,) = run(text, "gpu", [Call(tuple(arrays))], checks=Checks(order=order, seconds=60))  # type: ignore[arg-type]
    return outcome, arrays


def clean(outcome: Outcome) -> bool:
    return outcome.fault is None and not outcome.fatal and not outcome.divergence and not outcome.uninitialised


def told(outcome: Outcome) -> str:
    return " ".join([outcome.fault.message if outcome.fault else "",
                     *(f.message for f in (*outcome.fatal, *outcome.divergence, *outcome.uninitialised))])


def region(text: str) -> str:
    """What an agent at level gpu sees of a StableHLO program that is one kernel."""
    seen = []

    @kc.agent(level="gpu", name="taker", match=Match(most_ops=1 << 20))
    def taker(observation):
        seen.append(observation.ir)

    kc.compile(text, "nvptx:sm_90a", agents=["taker"])
    (found,) = seen
    assert "nvvm.cp.async.bulk.tensor" in found and "nvvm.wgmma" in found
    return found


@cache
def product(m: int, k: int, n: int, element: str = "bf16", turned: bool = False) -> str:
    """kc's own kernel for a matrix product, as the region that agents see at level gpu."""
    right = f"{n}x{k}" if turned else f"{k}x{n}"
    text = f"""func.func public @main(%a: tensor<{m}x{k}x{element}>, %b: tensor<{right}x{element}>)
        -> tensor<{m}x{n}x{element}> {{
      %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [{int(turned)}]
        : (tensor<{m}x{k}x{element}>, tensor<{right}x{element}>) -> tensor<{m}x{n}x{element}>
      return %0 : tensor<{m}x{n}x{element}>
    }}"""
    return region(text)


@pytest.mark.parametrize("shape", [(64, 128, 64, "f16", True), (72, 80, 40), (136, 64, 256)])
@pytest.mark.parametrize("order", ["forward", "reversed"])
def test_kcs_own_products_are_right(shape, order):
    outcome, (a, b, _) = emulate(product(*shape), order)
    right = b.T if shape[-1] is True else b
    assert clean(outcome), told(outcome)
    assert np.array_equal(outcome.results[0], (a.astype(np.float32) @ right.astype(np.float32)).astype(a.dtype))


def test_kcs_own_attention_is_right():
    """Online softmax, products with a factor in registers, tiles handed out by a counter, warpgroups in turn."""
    q, s = "tensor<1x130x64xbf16>", "tensor<1x130x130xf32>"
    outcome, (query, key, value, _) = emulate(region(f"""func.func public @main(%q: {q}, %k: {q}, %v: {q}) -> {q} {{
      %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : ({q}, {q}) -> {s}
      %c = stablehlo.constant dense<0.125> : {s}
      %t = stablehlo.multiply %s, %c : {s}
      %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %m = stablehlo.reduce(%t init: %low) applies stablehlo.maximum across dimensions = [2]
        : ({s}, tensor<f32>) -> tensor<1x130xf32>
      %mb = stablehlo.broadcast_in_dim %m, dims = [0, 1] : (tensor<1x130xf32>) -> {s}
      %d = stablehlo.subtract %t, %mb : {s}
      %e = stablehlo.exponential %d : {s}
      %l = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [2]
        : ({s}, tensor<f32>) -> tensor<1x130xf32>
      %lb = stablehlo.broadcast_in_dim %l, dims = [0, 1] : (tensor<1x130xf32>) -> {s}
      %p = stablehlo.divide %e, %lb : {s}
      %pb = stablehlo.convert %p : ({s}) -> tensor<1x130x130xbf16>
      %o = stablehlo.dot_general %pb, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1]
        : (tensor<1x130x130xbf16>, {q}) -> {q}
      return %o : {q}
    }}"""))
    assert clean(outcome), told(outcome)
    scores = np.einsum("bqd,bkd->bqk", query.astype(np.float64), key.astype(np.float64)) / 8
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    want = weights / weights.sum(-1, keepdims=True) @ value.astype(np.float64)
    assert np.abs(outcome.results[0].astype(np.float64) - want).max() < 2e-2


#: (what is taken out of kc's kernel, or what is put in its place, what the emulator says)
FAULTS = {
    "init fence": (r"\n *nvvm\.fence\.mbarrier\.init", "", "asynchronous proxy may not see: no nvvm.fence.mbarrier"),
    "barrier": (r"\n      nvvm\.barrier\n", "\n", "initialised in block 0, thread 0, with no barrier"),
    "proxy fence": (r"\n *nvvm\.fence\.proxy .*", "", r"nvvm.stmatrix at .* with no proxy fence"),
    "wgmma.fence": (r"\n *nvvm\.wgmma\.fence.*", "", "before any nvvm.wgmma.fence"),
    "commit": (r"\n *nvvm\.wgmma\.commit.*", "", "by a product of warpgroup"),
    "last wait": (r"\n *nvvm\.wgmma\.wait\.group\.sync\.aligned 0", "", "whose group is not waited for"),
    "later wait": (r"group\.sync\.aligned 1\n", "group.sync.aligned 2\n", "reads by a product of warpgroup"),
    "store wait": (r"\n *nvvm\.cp\.async\.bulk\.wait_group 0", "", "may still read shared memory when the block ends"),
    "few bytes": (r"constant 24576 : i32", "constant 8192 : i32", "by a copy that completes on an mbarrier"),
    "many bytes": (r"constant 24576 : i32", "constant 24592 : i32", "waits forever, and so do all others"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_in_kcs_own_product_are_told(fault):
    """Nine steps of K go once round its ring of eight stages."""
    pattern, put, says = FAULTS[fault]
    text = re.sub(pattern, put, product(64, 576, 64))
    assert text != product(64, 576, 64)
    assert re.search(says, told(emulate(text)[0]))


@pytest.mark.parametrize("name", FILES)
def test_corpus(name):
    """Each wrong proposal is shown wrong by the first order of warps alone, each right one right."""
    entries = [e for e in ENTRIES if f"gpu-{name}-" in e.id]
    assert len(entries) >= 10
    want, _ = emulate(entries[0].original)
    assert clean(want), told(want)
    for entry in entries:
        got, _ = emulate(entry.proposal["ir"])
        right = clean(got) and np.array_equal(got.results[0], want.results[0])
        assert right == (entry.expect == "accept"), (entry.id, told(got))


def edited(old: str, new: str, name: str = "wgmma_steps") -> str:
    original = next(e.original for e in ENTRIES if f"gpu-{name}-" in e.id)
    assert original.count(old) >= 1
    return original.replace(old, new)


@pytest.mark.parametrize(
    "name, old, new, says",
    [
        ("wgmma_steps", "k = 16>, D[<f32>, <one>], A[<f16>, <one>, <row>], B[<f16>,",
         "k = 8>, D[<f32>, <one>], A[<tf32>, <one>, <row>], B[<tf32>,", "only f16 or bf16 to f32"),
        ("wgmma_steps", "4611686293305360384", "4612249243258781696", "base offset"),
        ("tma_swizzle", ", %full, box[%c0, %c0] :", ", %full, box[%c0, %c0] multicast_mask = %two :", "multicast mask"),
        ("cluster_pairs", "nvvm.cluster.wait {aligned}\n    %other", "nvvm.tcgen05.fence #nvvm.tcgen05_fence<before>\n"
         "    %other", "cannot be emulated"),
        ("tma_rows", "nvvm.bar.warp.sync %all : i32\n        scf.if %leads {\n          %row",
         "nvvm.fence.proxy {kind = #nvvm.proxy_kind<alias>}\n        scf.if %leads {\n          %row",
         "asynchronous proxy"),
    ],
)  # fmt: skip
def test_what_is_not_followed_is_refused(name, old, new, says):
    text = edited(old, new, name).replace("%ticks = arith", "%two = arith.constant 2 : i16\n    %ticks = arith")
    with pytest.raises(ExecutionError, match=says):
        emulate(text)


def test_a_launch_keeps_to_what_the_kernel_says():
    text = product(72, 80, 40)
    more, _ = emulate(text.replace("nvvm.maxntid = array<i32: 384, 1, 1>", "nvvm.maxntid = array<i32: 256, 1, 1>"))
    assert "the kernel says [256, 1, 1]" in told(more)
    twice = re.sub(r"(args\(%\w+ : !llvm\.ptr, %\w+ : !llvm\.ptr, %\w+ : !llvm\.ptr, )(%\w+)( : !llvm\.ptr, )%\w+",
                   r"\1\2\3\2", text)  # fmt: skip
    assert "noalias" in told(emulate(twice)[0])


@pytest.mark.parametrize("loop", ["scf.while : () -> () {\n scf.condition(%true)\n} do {\n scf.yield\n}",
                                  "cf.br ^bb1\n^bb1:\n cf.br ^bb1"])  # fmt: skip
def test_loops_without_an_op_end_in_time(loop):
    text = f"""module attributes {{gpu.container_module}} {{
      func.func @main(%y: memref<4xf32> {{kc.out}}) {{
        %c1 = arith.constant 1 : index
        gpu.launch_func @m::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%y : memref<4xf32>)
        return
      }}
      gpu.module @m {{ gpu.func @k(%y: memref<4xf32>) kernel {{
        %true = arith.constant true
        {loop}
        {"gpu.return" if "while" in loop else ""}
      }} }}
    }}"""
    (outcome,) = run(text, "gpu", [Call((np.zeros(4, np.float32),))], checks=Checks(seconds=0.2))
    assert outcome.fault is not None and outcome.fault.kind == "time"


@pytest.mark.parametrize(
    "gone",
    ["{llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant}", ", nvvm.grid_constant",
     "llvm.align = 64 : i64, "],
)
def test_tensor_maps_are_passed_by_value(gone):
    assert "only from an argument of the kernel" in told(emulate(edited(gone, "", "tma_swizzle"))[0])


def test_host_memory_is_out_of_reach():
    text = edited("args(%mx : !llvm.ptr, %xp : !llvm.ptr,", "args(%mx : !llvm.ptr, %dims : !llvm.ptr,", "tma_swizzle")
    read = "%x0 = llvm.load %x {alignment = 8 : i64} : !llvm.ptr<1> -> i64\n    scf.for %i = %c0"
    assert "which is the host's" in told(emulate(text.replace("scf.for %i = %c0", read))[0])


def test_more_registers_than_there_are():
    text = re.sub(r"nvvm\.setmaxregister decrease 24\n", "\n", product(64, 576, 64))
    assert "registers are asked for" in told(emulate(text)[0])
