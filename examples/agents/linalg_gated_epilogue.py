"""Level linalg: a gate goes into the epilogue of a matrix product.

A gated unit splits the product ``h = x @ w`` in halves and multiplies one with the rectified other. kc makes two
kernels of it: one writes all of ``h``, the other reads it again. The agent, asked before kernels are formed, splits the
weights instead: the first product makes the gate, and the second one multiplies with it in its epilogue, so that ``h``
is never written.

    python examples/agents/linalg_gated_epilogue.py [--timing]
"""

from __future__ import annotations

import functools

import numpy as np
from _show import Shown, main, show

import kc
from kc.agents import Agent, Match, Observation, Proposal

K, N = 16, 256
#: of the run that is timed; the program takes any number
ROWS = 4096
X, W, H, OUT = (f"tensor<{shape}xf32>" for shape in (f"?x{K}", f"{K}x{2 * N}", f"?x{2 * N}", f"?x{N}"))
HALF = f"tensor<{K}x{N}xf32>"
ALL = "affine_map<(i, j) -> (i, j)>"


def product(name: str, weights: str, kind: str, out: str) -> str:
    """``%name``: the product of ``%x`` with ``weights``."""
    maps = ", ".join(f"affine_map<(i, j, k) -> {axes}>" for axes in ("(i, k)", "(k, j)", "(i, j)"))
    return f"""
    %{name}_empty = tensor.empty(%m) : {out}
    %{name}_zero = linalg.fill ins(%zero : f32) outs(%{name}_empty : {out}) -> {out}
    %{name} = linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel", "parallel", "reduction"]}}
        ins(%x, {weights} : {X}, {kind}) outs(%{name}_zero : {out}) {{
    ^bb0(%p: f32, %q: f32, %sum: f32):
      %t = arith.mulf %p, %q fastmath<contract> : f32
      %s = arith.addf %sum, %t fastmath<reassoc,contract> : f32
      linalg.yield %s : f32
    }} -> {out}"""


def elementwise(name: str, op: str, one: str, other: str) -> str:
    """``%name``: an op of two floats on two tensors of the result's shape."""
    return f"""
    %{name}_empty = tensor.empty(%m) : {OUT}
    %{name} = linalg.generic {{indexing_maps = [{ALL}, {ALL}, {ALL}], iterator_types = ["parallel", "parallel"]}}
        ins({one}, {other} : {OUT}, {OUT}) outs(%{name}_empty : {OUT}) {{
    ^bb0(%p: f32, %q: f32, %o: f32):
      %r = arith.{op} %p, %q : f32
      linalg.yield %r : f32
    }} -> {OUT}"""


def function(*steps: str) -> str:
    """A module whose ``@main`` does ``steps`` and returns ``%y``."""
    return f"""
module {{
  func.func @main(%x: {X} {{kc.dims = ["M", "{K}"]}}, %w: {W}) -> {OUT} {{
    %zero = arith.constant 0.0 : f32
    %c0 = arith.constant 0 : index
    %m = tensor.dim %x, %c0 : {X}
    %zeros_empty = tensor.empty(%m) : {OUT}
    %zeros = linalg.fill ins(%zero : f32) outs(%zeros_empty : {OUT}) -> {OUT}{"".join(steps)}
    return %y : {OUT}
  }}
}}
"""


PROGRAM = function(
    product("h", "%w", W, H),
    f"""
    %value = tensor.extract_slice %h[0, 0] [%m, {N}] [1, 1] : {H} to {OUT}
    %gate = tensor.extract_slice %h[0, {N}] [%m, {N}] [1, 1] : {H} to {OUT}""",
    elementwise("open", "maximumf", "%gate", "%zeros"),
    elementwise("y", "mulf", "%value", "%open"),
)
FUSED = function(
    f"""
    %left = tensor.extract_slice %w[0, 0] [{K}, {N}] [1, 1] : {W} to {HALF}
    %right = tensor.extract_slice %w[0, {N}] [{K}, {N}] [1, 1] : {W} to {HALF}""",
    product("gate", "%right", HALF, OUT),
    elementwise("open", "maximumf", "%gate", "%zeros"),
    product("value", "%left", HALF, OUT),
    elementwise("y", "mulf", "%value", "%open"),
)


class GatedEpilogue(Agent):
    """Knows one function and answers it with what a person wrote."""

    name = "gated-epilogue"
    levels = ("before:form-kernels",)
    match = Match(when=lambda o: X in o.ir and W in o.ir)

    def propose(self, observation: Observation) -> Proposal | None:
        if observation.attempts:
            return None
        return Proposal("replace_ir", ir=FUSED, rationale="two products, the gate in the second one's epilogue")


def run(timing: bool = False) -> Shown:
    """Show it."""
    random = np.random.default_rng(0)
    arrays = [random.standard_normal(shape).astype(np.float32) for shape in ((ROWS, K), (K, 2 * N))]
    return show(functools.partial(kc.compile, PROGRAM), GatedEpilogue(), arrays, timing)


if __name__ == "__main__":
    main(run)
