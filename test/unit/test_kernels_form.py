"""kc-form-kernels keeps meaning, computes nothing expensive twice, and its kernels bufferize without copies."""
from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from kc.bindings import ir
from kc.context import make_context
from kc.kernels import analyze
from kc.kernels import expr as E
from kc.kernels.text import kernel_text
from kc.pass_manager import run_pipeline
from kc.pipelines import linalg
from kc.rewrite import walk_ops

sys.path.insert(0, str(Path(__file__).parent))
from kernel_tools import random_array, run_linalg
from test_kernels_analyze import random_ops


@pytest.fixture(scope="module")
def context():  # type: ignore[no-untyped-def]
    context = make_context()
    with context, ir.Location.unknown():
        yield context


def kernels_of(module: ir.Module) -> list[ir.Operation]:
    return [op.operation for op in module.body.operations if "kc.kernel" in op.attributes]


def random_main(seed: int) -> str:
    """A program of random ops and products with several results, some of them used further on."""
    rng = np.random.default_rng(seed)
    full, vector = "tensor<6x6xf32>", "tensor<6xf32>"
    body, wide, narrow = random_ops(rng, 6, 6, products=True)
    results = [wide[-1], wide[len(wide) // 2], narrow[-1]]
    types = [full, full, vector]
    return (
        f"func.func @main(%x: {full}, %y: {full}, %r: {vector}) -> ({', '.join(types)}) {{\n{body}\n"
        f"return {', '.join(results)} : {', '.join(types)}\n}}"
    )


@pytest.mark.parametrize("seed", range(16))
def test_random_programs_compute_the_same_bits(context: ir.Context, seed: int) -> None:
    text = random_main(seed)
    rng = np.random.default_rng(seed + 100)
    arguments = [random_array(rng, shape, "f32") for shape in ((6, 6), (6, 6), (6,))]
    if seed % 2:
        arguments[0].reshape(-1)[:4] = [np.nan, np.inf, -np.inf, -0.0]
    module = ir.Module.parse(text)
    products = len(walk_ops(module.operation, ["linalg.matmul"]))
    folds = len(walk_ops(module.operation, ["linalg.reduce"]))
    for phase in linalg.PHASES:
        run_pipeline(module, phase.text())
    assert len(walk_ops(module.operation, ["linalg.matmul"])) <= products
    assert len(walk_ops(module.operation, ["linalg.reduce"])) <= folds
    for kernel in kernels_of(module):  # what formation promised is what analysis finds in the function
        found = analyze(kernel)
        assert ir.StringAttr(kernel.attributes["kc.kind"]).value == E.kind(found), kernel_text(found)
    for got, want in zip(run_linalg(str(module), "main", arguments), run_linalg(text, "main", arguments), strict=True):
        np.testing.assert_array_equal(got, want)


def test_kernels_write_their_destinations_without_copies(context: ir.Context) -> None:
    """After one-shot-bufferize a kernel has no results left and neither it nor its caller copies a tensor."""
    text = """func.func @main(%x: tensor<8x4xf32>, %w: tensor<4x4xf32>) -> (tensor<8x4xf32>, tensor<8xf32>) {
      %zero = arith.constant 0.0 : f32
      %e = tensor.empty() : tensor<8x4xf32>
      %v = tensor.empty() : tensor<8xf32>
      %z = linalg.fill ins(%zero : f32) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
      %n = linalg.fill ins(%zero : f32) outs(%v : tensor<8xf32>) -> tensor<8xf32>
      %m = linalg.matmul ins(%x, %w : tensor<8x4xf32>, tensor<4x4xf32>) outs(%z : tensor<8x4xf32>) -> tensor<8x4xf32>
      %k = linalg.matmul ins(%m, %w : tensor<8x4xf32>, tensor<4x4xf32>) outs(%z : tensor<8x4xf32>) -> tensor<8x4xf32>
      %s = linalg.reduce { arith.addf } ins(%k : tensor<8x4xf32>) outs(%n : tensor<8xf32>) dimensions = [1]
      return %k, %s : tensor<8x4xf32>, tensor<8xf32>
    }"""
    module = ir.Module.parse(text)
    for phase in linalg.PHASES:
        run_pipeline(module, phase.text())
    assert len(kernels_of(module)) == 3
    run_pipeline(
        module,
        "builtin.module(empty-tensor-to-alloc-tensor,one-shot-bufferize{bufferize-function-boundaries=1 "
        "function-boundary-type-conversion=identity-layout-map},drop-equivalent-buffer-results,canonicalize)",
    )
    for kernel in kernels_of(module):
        assert len(ir.FunctionType(ir.TypeAttr(kernel.attributes["function_type"]).value).results) == 0
    assert walk_ops(module.operation, ["memref.copy", "linalg.copy"]) == []
    assert len(walk_ops(module.operation, ["memref.alloc"])) == 3


def attention_text(mask: str, safe: bool, scale_on_query: bool = False) -> str:
    """Attention over 2 heads of 5 queries and 5 keys, depth 4, as one function of linalg.generic ops."""
    maps = {
        "q": "affine_map<(h, i, j, d) -> (h, i, d)>", "k": "affine_map<(h, i, j, d) -> (h, j, d)>",
        "s": "affine_map<(h, i, j, d) -> (h, i, j)>",
    }  # fmt: skip
    three, two = "affine_map<(h, i, j) -> (h, i, j)>", "affine_map<(h, i, j) -> (h, i)>"
    scores, rows, depth = "tensor<2x5x5xf32>", "tensor<2x5xf32>", "tensor<2x5x4xf32>"
    par3 = 'iterator_types = ["parallel", "parallel", "parallel"]'
    par4 = 'iterator_types = ["parallel", "parallel", "parallel", "reduction"]'
    top = "%m" if not safe else "%m2"
    total = "%t" if not safe else "%t2"
    guards = ("", "")
    if safe:
        guard = """{name} = linalg.generic {{
          indexing_maps = [affine_map<(h, i) -> (h, i)>, affine_map<(h, i) -> (h, i)>],
          iterator_types = ["parallel", "parallel"]}} ins({old} : tensor<2x5xf32>) outs(%re : tensor<2x5xf32>) {{
          ^bb0(%a: f32, %o: f32):
            %p = arith.cmpf oeq, %a, {bad} : f32
            %s = arith.select %p, {new}, %a : f32
            linalg.yield %s : f32
          }} -> tensor<2x5xf32>"""
        guards = (guard.format(name="%m2", old="%m", bad="%ninf", new="%zero"),
                  guard.format(name="%t2", old="%t", bad="%zero", new="%one"))  # fmt: skip
    return f"""func.func @main(%q: {depth}, %k: {depth}, %v: {depth}) -> {depth} {{
      %zero = arith.constant 0.0 : f32
      %one = arith.constant 1.0 : f32
      %ninf = arith.constant 0xFF800000 : f32
      %scale = arith.constant 0.5 : f32
      %se = tensor.empty() : {scores}
      %re = tensor.empty() : {rows}
      %de = tensor.empty() : {depth}
      %sz = linalg.fill ins(%zero : f32) outs(%se : {scores}) -> {scores}
      %dz = linalg.fill ins(%zero : f32) outs(%de : {depth}) -> {depth}
      %ri = linalg.fill ins(%ninf : f32) outs(%re : {rows}) -> {rows}
      %rz = linalg.fill ins(%zero : f32) outs(%re : {rows}) -> {rows}
      %raw = linalg.generic {{indexing_maps = [{maps["q"]}, {maps["k"]}, {maps["s"]}], {par4}}}
        ins(%q, %k : {depth}, {depth}) outs(%sz : {scores}) {{
      ^bb0(%a: f32, %b: f32, %o: f32):
        %p = arith.mulf %a, %b : f32
        %s = arith.addf %o, %p : f32
        linalg.yield %s : f32
      }} -> {scores}
      %score = linalg.generic {{indexing_maps = [{three}, {three}], {par3}}}
        ins(%raw : {scores}) outs(%se : {scores}) {{
      ^bb0(%a: f32, %o: f32):
        %i = linalg.index 1 : index
        %j = linalg.index 2 : index
        %s = arith.mulf %a, %scale : f32
        {mask}
        linalg.yield %r : f32
      }} -> {scores}
      %m = linalg.reduce {{ arith.maximumf }} ins(%score : {scores}) outs(%ri : {rows}) dimensions = [2]
      {guards[0]}
      %e = linalg.generic {{indexing_maps = [{three}, {two}, {three}], {par3}}}
        ins(%score, {top} : {scores}, {rows}) outs(%se : {scores}) {{
      ^bb0(%a: f32, %b: f32, %o: f32):
        %d = arith.subf %a, %b : f32
        %x = math.exp %d : f32
        linalg.yield %x : f32
      }} -> {scores}
      %t = linalg.reduce {{ arith.addf }} ins(%e : {scores}) outs(%rz : {rows}) dimensions = [2]
      {guards[1]}
      %w = linalg.generic {{indexing_maps = [{three}, {two}, {three}], {par3}}}
        ins(%e, {total} : {scores}, {rows}) outs(%se : {scores}) {{
      ^bb0(%a: f32, %b: f32, %o: f32):
        %x = arith.divf %a, %b : f32
        linalg.yield %x : f32
      }} -> {scores}
      %r = linalg.batch_matmul ins(%w, %v : {scores}, {depth}) outs(%dz : {depth}) -> {depth}
      return %r : {depth}
    }}"""


CAUSAL = "%c = arith.cmpi uge, %i, %j : index\n%r = arith.select %c, %s, %ninf : f32"
STRICT = "%c = arith.cmpi ugt, %i, %j : index\n%r = arith.select %c, %s, %ninf : f32"  # row 0 sees no key at all
NONE = "%z = arith.constant 1.0 : f32\n%r = arith.mulf %s, %z : f32"


@pytest.mark.parametrize(
    ("mask", "safe", "causal"),
    [(NONE, False, False), (CAUSAL, False, True), (CAUSAL, True, True), (STRICT, True, False), (STRICT, False, False)],
)  # fmt: skip
def test_attention(context: ir.Context, mask: str, safe: bool, causal: bool) -> None:
    from kc.kernels.reference import evaluate

    text = attention_text(mask, safe)
    module = ir.Module.parse(text)
    for phase in linalg.PHASES:
        run_pipeline(module, phase.text())
    (func,) = kernels_of(module)
    kernel = analyze(func)
    assert isinstance(kernel, E.Attention), kernel_text(kernel)
    assert (kernel.causal, kernel.safe, kernel.probs_type) == (causal, safe, "f32")
    rng = np.random.default_rng(3)
    arguments = [random_array(rng, (2, 5, 4), "f32") for _ in range(3)]
    (want,) = run_linalg(text, "main", arguments)
    (got,) = evaluate(kernel, [*arguments, np.empty((2, 5, 4), np.float32)])
    assert np.isnan(want[:, 0]).all() == (mask is STRICT and not safe)
    np.testing.assert_allclose(got, want, rtol=2e-6, atol=2e-6)


def test_attention_that_divides_last(context: ir.Context) -> None:
    """``(exp(s - max) @ v) / sum`` is the same attention."""
    from kc.kernels.reference import evaluate

    text = attention_text(CAUSAL, False)
    start, end = text.index("      %w = linalg.generic"), text.index("      return %r")
    depth, rows = "tensor<2x5x4xf32>", "tensor<2x5xf32>"
    text = f"""{text[:start]}
      %u = linalg.batch_matmul ins(%e, %v : tensor<2x5x5xf32>, {depth}) outs(%dz : {depth}) -> {depth}
      %r = linalg.generic {{indexing_maps = [affine_map<(h, i, d) -> (h, i, d)>, affine_map<(h, i, d) -> (h, i)>,
          affine_map<(h, i, d) -> (h, i, d)>], iterator_types = ["parallel", "parallel", "parallel"]}}
          ins(%u, %t : {depth}, {rows}) outs(%de : {depth}) {{
      ^bb0(%a: f32, %b: f32, %o: f32):
        %x = arith.divf %a, %b : f32
        linalg.yield %x : f32
      }} -> {depth}
{text[end:]}"""
    module = ir.Module.parse(text)
    for phase in linalg.PHASES:
        run_pipeline(module, phase.text())
    (func,) = kernels_of(module)
    kernel = analyze(func)
    assert isinstance(kernel, E.Attention) and kernel.causal, kernel_text(kernel)
    rng = np.random.default_rng(4)
    arguments = [random_array(rng, (2, 5, 4), "f32") for _ in range(3)]
    (want,) = run_linalg(text, "main", arguments)
    (got,) = evaluate(kernel, [*arguments, np.empty((2, 5, 4), np.float32)])
    np.testing.assert_allclose(got, want, rtol=2e-6, atol=2e-6)


def test_weights_that_are_used_again_are_no_attention(context: ir.Context) -> None:
    """A program that also returns the probabilities needs them in memory: three kernels."""
    text = attention_text(NONE, False)
    text = text.replace("-> tensor<2x5x4xf32> {", "-> (tensor<2x5x4xf32>, tensor<2x5x5xf32>) {", 1)
    text = text.replace("return %r : tensor<2x5x4xf32>", "return %r, %w : tensor<2x5x4xf32>, tensor<2x5x5xf32>")
    module = ir.Module.parse(text)
    for phase in linalg.PHASES:
        run_pipeline(module, phase.text())
    kinds = [ir.StringAttr(kernel.attributes["kc.kind"]).value for kernel in kernels_of(module)]
    assert kinds == ["contraction", "rows", "contraction"]
