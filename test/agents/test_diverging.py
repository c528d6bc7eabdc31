"""``Verdict.op``: the first op that diverges, by line, for planted mistakes at each level."""

from __future__ import annotations

import random
import re
import sys
from pathlib import Path

import numpy as np
import pytest

from kc.agents.builtin.chat.prompt import verdict_message
from kc.agents.execution.calls import Call, Checks
from kc.agents.gates.diverging.streams import LOOSE, PART, STRICT, Pool
from kc.agents.gates.diverging.structure import Changes, Text
from kc.agents.gates.diverging.task import Side, observe
from kc.agents.gates.judge import judge
from kc.context import make_context, parse_module

sys.path.insert(0, str(Path(__file__).parent))

import corpus

TORCH = """func.func @main(%x: KIND, %y: KIND) -> KIND {
  %one = torch.constant.int 1
  %a = torch.aten.mul.Tensor %x, %y : KIND, KIND -> KIND
  %b = torch.aten.add.Tensor %a, %y, %one : KIND, KIND, !torch.int -> KIND
  %c = torch.aten.tanh %b : KIND -> KIND
  %d = torch.aten.sub.Tensor %c, %x, %one : KIND, KIND, !torch.int -> KIND
  %e = torch.aten.relu %d : KIND -> KIND
  return %e : KIND
}""".replace("KIND", "!torch.vtensor<[3,4],f32>")
STABLEHLO = """func.func @main(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>) -> tensor<4xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %none = stablehlo.constant dense<0> : tensor<i32>
  %m = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
    : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  %e = stablehlo.exponential %m : tensor<4x4xf32>
  %r = stablehlo.reduce(%e init: %zero) across dimensions = [1] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
   reducer(%x: tensor<f32>, %y: tensor<f32>) {
     %s = stablehlo.add %x, %y : tensor<f32>
     stablehlo.return %s : tensor<f32>
   }
  %w:2 = stablehlo.while(%i = %none, %v = %r) : tensor<i32>, tensor<4xf32>
   cond {
     %limit = stablehlo.constant dense<3> : tensor<i32>
     %more = stablehlo.compare LT, %i, %limit : (tensor<i32>, tensor<i32>) -> tensor<i1>
     stablehlo.return %more : tensor<i1>
   } do {
     %n = stablehlo.add %i, %one : tensor<i32>
     %next = stablehlo.multiply %v, %v : tensor<4xf32>
     stablehlo.return %n, %next : tensor<i32>, tensor<4xf32>
   }
  %t = stablehlo.tanh %w#1 : tensor<4xf32>
  return %t : tensor<4xf32>
}"""
LINALG = """#id = affine_map<(i, j) -> (i, j)>
func.func @main(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>) -> tensor<4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %m = linalg.matmul ins(%a, %b : tensor<4x8xf32>, tensor<8x4xf32>) outs(%f : tensor<4x4xf32>) -> tensor<4x4xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%m : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) {
  ^bb0(%x: f32, %y: f32):
    %s = math.exp %x : f32
    %q = arith.addf %s, %x : f32
    linalg.yield %q : f32
  } -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}"""
LOOPS = """func.func @main(%x: memref<?xf32> {kc.dims = ["N"]}, %y: memref<?xf32> {kc.dims = ["N"], kc.out})
    attributes {kc.sizes = {N = array<i64: 0, 20>}} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %half = arith.constant 0.5 : f32
  %n = memref.dim %x, %c0 : memref<?xf32>
  %last = arith.subi %n, %c1 : index
  %t = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %half) -> (f32) {
    %j = arith.subi %last, %i : index
    %v = memref.load %x[%j] : memref<?xf32>
    %p = arith.mulf %v, %v : f32
    %less = arith.cmpf olt, %p, %half : f32
    %c = arith.select %less, %half, %p : f32
    %s = arith.addf %sum, %c : f32
    memref.store %s, %y[%i] : memref<?xf32>
    scf.yield %s : f32
  }
  return
}"""
GPU = """module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @twist(%x: memref<64xf32>, %y: memref<64xf32>) workgroup(%t: memref<32xf32, 3>) kernel {
      %c31 = arith.constant 31 : index
      %c32 = arith.constant 32 : index
      %lane = gpu.thread_id x
      %block = gpu.block_id x
      %start = arith.muli %block, %c32 : index
      %at = arith.addi %start, %lane : index
      %v = memref.load %x[%at] : memref<64xf32>
      %d = arith.addf %v, %v : f32
      memref.store %d, %t[%lane] : memref<32xf32, 3>
      gpu.barrier
      %other = arith.subi %c31, %lane : index
      %w = memref.load %t[%other] : memref<32xf32, 3>
      %r = arith.mulf %w, %v : f32
      memref.store %r, %y[%at] : memref<64xf32>
      gpu.return
    }
  }
  func.func @main(%x: memref<64xf32>, %y: memref<64xf32> {kc.out}) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c32 = arith.constant 32 : index
    gpu.launch_func @kernels::@twist blocks in (%c2, %c1, %c1) threads in (%c32, %c1, %c1)
      args(%x : memref<64xf32>, %y : memref<64xf32>)
    return
  }
}"""
LLVM = """llvm.func @main(%p: !llvm.ptr {kc.dims = ["N"]}, %x: !llvm.ptr, %o: i64, %n: i64, %s: i64, %k: f32,
                %q: !llvm.ptr {kc.out, kc.dims = ["N"]}, %y: !llvm.ptr, %yo: i64, %yn: i64, %ys: i64)
    attributes {kc.buffers = ["memref<?xf32>", "f32", "memref<?xf32>"], kc.sizes = {N = array<i64: 0, 20>}} {
  %c0 = llvm.mlir.constant(0 : index) : i64
  %c1 = llvm.mlir.constant(1 : index) : i64
  %half = llvm.mlir.constant(0.5 : f32) : f32
  llvm.br ^head(%c0, %half : i64, f32)
^head(%i: i64, %sum: f32):
  %more = llvm.icmp "slt" %i, %n : i64
  llvm.cond_br %more, ^body, ^end
^body:
  %a = llvm.getelementptr %x[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  %v = llvm.load %a : !llvm.ptr -> f32
  %w = llvm.fmul %v, %k : f32
  %u = llvm.fadd %w, %v : f32
  %big = llvm.fcmp "ogt" %u, %half : f32
  %t = llvm.select %big, %u, %v : i1, f32
  %d = llvm.fsub %t, %sum : f32
  %b = llvm.getelementptr %y[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  llvm.store %d, %b : f32, !llvm.ptr
  %j = llvm.add %i, %c1 : i64
  llvm.br ^head(%j, %d : i64, f32)
^end:
  llvm.return
}"""
TEXTS = {"torch": TORCH, "stablehlo": STABLEHLO, "linalg": LINALG, "loops": LOOPS, "gpu": GPU, "llvm": LLVM}


@pytest.mark.parametrize(
    ("level", "old", "new", "op"),
    [
        ("torch", "aten.mul.Tensor", "aten.div.Tensor", "torch.aten.div.Tensor"),
        ("torch", "aten.tanh", "aten.sigmoid", "torch.aten.sigmoid"),
        ("torch", "sub.Tensor %c, %x", "sub.Tensor %x, %c", "torch.aten.sub.Tensor"),
        ("stablehlo", "exponential %m", "sine %m", "stablehlo.sine"),
        ("stablehlo", "add %x, %y", "maximum %x, %y", "stablehlo.maximum"),
        ("stablehlo", "compare LT", "compare LE", "stablehlo.compare"),
        ("stablehlo", "dense<3>", "dense<2>", "stablehlo.constant"),
        ("linalg", "math.exp", "math.sin", "math.sin"),
        ("linalg", "addf %s, %x", "addf %s, %s", "arith.addf"),
        ("linalg", "constant 0.0", "constant 1.0", "arith.constant"),
        ("loops", "mulf %v, %v", "addf %v, %v", "arith.addf"),
        ("loops", "load %x[%j]", "load %x[%i]", "memref.load"),
        ("loops", "cmpf olt", "cmpf ogt", "arith.cmpf"),
        ("loops", "addf %sum, %c", "subf %sum, %c", "arith.subf"),
        ("gpu", "addf %v, %v", "mulf %v, %v", "arith.mulf"),
        ("gpu", "subi %c31, %lane", "andi %c31, %lane", "arith.andi"),
        ("gpu", "store %d, %t", "store %v, %t", "memref.store"),
        ("llvm", "fadd %w, %v", "fsub %w, %v", "llvm.fsub"),
        ("llvm", "%big, %u, %v", "%big, %v, %u", "llvm.select"),
        ("llvm", "%y[%i]", "%y[%c0]", "llvm.getelementptr"),
    ],
)
def test_planted(level: str, old: str, new: str, op: str) -> None:
    text = TEXTS[level]
    assert text.count(old) == 1
    line = text[: text.index(old)].count("\n") + 1
    verdict = judge(text, {"kind": "replace_ir", "ir": text.replace(old, new)}, level=level, seed=1)
    assert not verdict.accepted and verdict.op == op, verdict
    assert verdict.witness is not None and verdict.witness["diverging"]["line"] == line, verdict
    assert f"'{op}' at line {line}:" in verdict.message
    told = verdict_message(verdict.to_json())
    assert f"First op that diverges: {op}, line {line} of your text" in told and new.split("(")[0] in told


def test_another_program() -> None:
    """Where next to nothing is the original's, the op is found that mends the results by computing something else."""
    new = """
  %whole = memref.alloc(%n) : memref<?xf32>
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %p = arith.mulf %v, %v : f32
    %m = MISTAKE
    memref.store %m, %whole[%i] : memref<?xf32>
  }
  %acc = memref.alloca() : memref<f32>
  memref.store %half, %acc[] : memref<f32>
  scf.for %i = %c0 to %n step %c1 {
    %j = arith.subi %last, %i : index
    %c = memref.load %whole[%j] : memref<?xf32>
    %sum = memref.load %acc[] : memref<f32>
    %s = arith.addf %sum, %c : f32
    memref.store %s, %acc[] : memref<f32>
    memref.store %s, %y[%i] : memref<?xf32>
  }
  memref.dealloc %whole : memref<?xf32>
  return
}"""
    head = LOOPS[: LOOPS.index("  %t = scf.for")].replace("attributes {", 'attributes {kc.allow = ["nnan", "nsz"], ')
    original = head + LOOPS[LOOPS.index("  %t = scf.for") :]
    for made, op in (("arith.maximumf %p, %half : f32", None), ("arith.minimumf %p, %half : f32", "arith.minimumf")):
        text = head + new.replace("MISTAKE", made)
        verdict = judge(original, {"kind": "replace_ir", "ir": text}, level="loops", seed=1)
        assert verdict.op == op, verdict
        assert verdict.accepted == (op is None), verdict


def test_what_a_watched_run_names() -> None:
    text = LOOPS.replace("memref.store %s, %y[%i]", "memref.store %s, %y[%n]")
    verdict = judge(LOOPS, {"kind": "replace_ir", "ir": text}, level="loops", seed=1)
    assert verdict.gate == "aliasing" and verdict.op == "memref.store", verdict
    assert verdict.witness is not None and verdict.witness["diverging"]["line"] == 15, verdict


_SWAPS = {
    "stablehlo": {"add": "subtract", "multiply": "add", "maximum": "minimum", "subtract": "add", "divide": "multiply"},
    "arith": {"addf": "subf", "mulf": "addf", "maximumf": "minimumf", "subf": "addf", "addi": "subi", "divf": "mulf"},
}


@pytest.mark.parametrize("level", ["stablehlo", "linalg", "loops"])
def test_one_op_of_a_right_entry(level: str) -> None:
    """A mistake in one op of what the corpus accepts: the op that is named is that one, or one that it is given to."""
    random.seed(7)
    pool = []
    for entry in corpus.load(level):
        text = entry.proposal.get("ir")
        if entry.expect != "accept" or not text or entry.proposal.get("level", level) != level:
            continue
        for match in re.finditer(r"%(\w+) = (stablehlo|arith)\.(\w+) (?=%)", text):
            other = _SWAPS[match[2]].get(match[3])
            if other is not None:
                wrong = f"{text[: match.start(3)]}{other}{text[match.end(3) :]}"
                pool.append((entry, wrong, text[: match.start()].count("\n") + 1, match[1]))
    found = []
    for entry, wrong, line, name in random.sample(pool, 5):
        verdict = judge(entry.original, {**entry.proposal, "ir": wrong}, level=level, seed=3)
        if verdict.accepted or verdict.gate != "numeric":
            continue
        where = (verdict.witness or {}).get("diverging", {})
        named = wrong.splitlines()[where.get("line", 1) - 1]
        found.append(where.get("line") == line or re.search(rf"= .*%{name}\b", named) is not None)
    assert len(found) >= 2 and sum(found) >= 0.6 * len(found), found


def test_text_tells_what_is_new() -> None:
    def text(source: str) -> Text:
        return Text(parse_module(source, make_context(), "module"))

    same = Changes.of(text(LINALG), text(LINALG.replace("%q", "%other").replace("\n", "\n\n")))
    assert not same.roots and same.small
    changed = Changes.of(text(LINALG), text(LINALG.replace("constant 0.0", "constant 1.0")))
    (fill,) = [op for op in changed.proposal.ops if op.name == "linalg.fill"]
    assert [op.name for op in changed.roots] == ["arith.constant"] and changed.constant(fill) is changed.roots[0]
    inside = Changes.of(text(LINALG), text(LINALG.replace("math.exp", "math.sin")))
    (generic,) = [op for op in inside.proposal.ops if op.name == "linalg.generic"]
    assert inside.new(generic) and inside.innermost(generic).name == "math.sin"


def test_streams() -> None:
    rising = np.arange(6.0)
    pool = Pool([([rising, rising * 2], "f32")], False, True)
    mixed = [rising[::-1].copy(), rising * 2]
    assert pool.holds([rising, rising * 2], "f32", STRICT) and not pool.holds(mixed, "f32", STRICT)
    assert pool.holds(mixed, "f32", LOOSE) and not pool.holds([rising, rising], "f32", LOOSE)
    part = [rising[:3], rising[3:] * 2]
    assert pool.holds(part, "f32", PART) and not pool.holds(part, "f32", LOOSE)
    assert pool.prefix(np.array([0.0, 1.0, 5.0]), "f32", 0) == 2
    near = [rising * (1 + 1e-6), rising * 2]
    assert not pool.holds(near, "f32", STRICT)
    assert Pool([([rising, rising * 2], "f32")], True, True).holds(near, "f32", STRICT)


def test_who_wrote_what() -> None:
    """Each element goes back to the op that wrote it last, and what is read to who wrote that."""
    x = np.array([1.0, 2.0, 3.0], np.float32)
    seen = observe(Side(LOOPS, "loops", (Call((x, x)),), Checks()))
    (run,) = seen.runs
    (writers,) = run.writers
    assert writers is not None and {seen.nodes[run.nodes[e]].op for e in writers} == {"memref.store"}
    (load,) = [n for n, node in enumerate(seen.nodes) if node.op == "memref.load"]
    assert seen.values[0][load].tolist() == [3.0, 2.0, 1.0] and not seen.writers(load, 0)
