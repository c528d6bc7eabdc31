"""Compile time and depth grow no faster than the program: ratios of CPU time, and chains longer than any recursion."""
from __future__ import annotations

import sys
import time

import pytest

from kc.bindings import ir
from kc.frontends import load
from kc.pipelines.roads import road
from kc.pipelines.run import run_phases
from kc.rewrite import walk_ops
from kc.targets import get_target

T = "tensor<8xf32>"


def chain(length: int, step: str, kind: str = T) -> str:
    """``length`` ops, each on the result of the one before; ``step`` has ``{a}`` and ``{r}``."""
    ops = "\n".join(step.format(a=f"%v{i}", r=f"%v{i + 1}") for i in range(length))
    return f"func.func @main(%v0: {kind}, %w: {kind}) -> {kind} {{\n{ops}\nreturn %v{length} : {kind}\n}}"


def kernels(text: str, **parameters: str) -> tuple[float, list[str]]:
    """CPU seconds from text down to kernels, and the kinds of the kernels."""
    started = time.process_time()
    loaded = load(text)
    phases = road(get_target("cpu"), loaded.level)
    run_phases(loaded.module, phases[: [p.name for p in phases].index("form-kernels") + 1], parameters)
    seconds = time.process_time() - started
    kinds = [f.attributes["kc.kind"] for f in walk_ops(loaded.module, "func.func") if "kc.kind" in f.attributes]
    return seconds, [ir.StringAttr(kind).value for kind in kinds]


ADD = f"{{r}} = stablehlo.add {{a}}, %w : {T}"


def test_time_of_a_chain_is_linear() -> None:
    kernels(chain(50, ADD))
    small, large = (kernels(chain(n, ADD))[0] for n in (150, 600))
    assert large < 4 * 2 * small, f"{small:.2f} s for 150 ops, {large:.2f} s for 600"


def test_a_chain_is_cut_into_as_few_kernels_as_fit() -> None:
    assert kernels(chain(600, ADD))[1] == ["map"] * 3


SQUARE = "tensor<4x4xf32>"


@pytest.mark.parametrize(
    ("step", "kind"),
    [
        (f"{{r}} = stablehlo.transpose {{a}}, dims = [1, 0] : ({SQUARE}) -> {SQUARE}", SQUARE),
        ("{r} = stablehlo.add {a}, {a} : tensor<i32>", "tensor<i32>"),
    ],
)
def test_chains_of_repeated_ops_are_longer_than_the_stack(step: str, kind: str) -> None:
    kernels(chain(10, step, kind))
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(1000)  # expressions are bounded by what a kernel holds, and each op takes a few frames
    try:
        kernels(chain(900, step, kind), **{"max-ops": "32"})
    finally:
        sys.setrecursionlimit(before)


def test_scalars_are_a_graph_and_not_a_tree() -> None:
    """A host scalar that uses the two before it: as a tree, 40 of them have 2**27 nodes."""
    steps = "\n".join(f"%v{i + 2} = stablehlo.add %v{i}, %v{i + 1} : tensor<i32>" for i in range(40))
    text = f"""func.func @main(%v0: tensor<i32>, %v1: tensor<i32>, %x: tensor<4xi32>) -> tensor<4xi32> {{
      {steps}
      %b = stablehlo.broadcast_in_dim %v41, dims = [] : (tensor<i32>) -> tensor<4xi32>
      %r = stablehlo.add %b, %x : tensor<4xi32>
      return %r : tensor<4xi32>
    }}"""
    assert kernels(text)[0] < 20


def test_nested_regions_and_calls() -> None:
    depth = 60
    opening = "\n".join(f'%r{i} = "stablehlo.if"(%p) ({{' for i in range(depth))
    closing = "\n".join(
        f"stablehlo.return %r{i + 1} : {T} }}, {{ stablehlo.return %x : {T} }}) : (tensor<i1>) -> {T}"
        for i in reversed(range(depth - 1))
    )
    calls = "\n".join(
        f"func.func private @f{i}(%x: {T}) -> {T} {{ %y = func.call @f{i + 1}(%x) : ({T}) -> {T} return %y : {T} }}"
        for i in range(depth)
    )
    kernels(f"""func.func @main(%x: {T}, %p: tensor<i1>) -> {T} {{
      {opening}
      %e = func.call @f0(%x) : ({T}) -> {T}
      stablehlo.return %e : {T} }}, {{ stablehlo.return %x : {T} }}) : (tensor<i1>) -> {T}
      {closing}
      return %r0 : {T}
    }}
    {calls}
    func.func private @f{depth}(%x: {T}) -> {T} {{ %y = stablehlo.tanh %x : {T} return %y : {T} }}""")
