"""Regions that others compute: products of matrices by a BLAS, whole StableHLO functions by another compiler."""
from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Any

from kc.agents.base import Agent
from kc.agents.protocol import Observation, Proposal

if TYPE_CHECKING:
    from kc.bindings import ir


class _Once(Agent):
    """An agent that has one answer for a region."""

    version = "1"

    def __init__(self) -> None:
        self._asked: set[str] = set()

    def propose(self, observation: Observation) -> Proposal | None:
        """The answer, once."""
        if observation.identity in self._asked:
            return None
        self._asked.add(observation.identity)
        return self.answer(observation)

    def answer(self, observation: Observation) -> Proposal | None:
        """What there is to propose."""
        raise NotImplementedError


class LibraryAgent(_Once):
    """Proposes the call of a library that computes a region whole: BLAS on the CPU, cuBLASLt on NVIDIA GPUs."""

    name = "library"
    levels = ("linalg",)

    def answer(self, observation: Observation) -> Proposal | None:
        """None where there is no such call, or its library is not installed."""
        found = _product(observation.ir)
        if found is None:
            return None
        element, parameters = found
        if observation.target.partition(":")[0] == "cpu":
            if element not in ("f32", "f64") or importlib.util.find_spec("scipy") is None:
                return None
            library, operation = "blas", "gemm"
        elif observation.target.startswith("nvptx") and element in ("f32", "f64", "f16", "bf16"):
            library, operation = "cublaslt", "matmul"
        else:
            return None
        return Proposal("library", library=library, parameters={"operation": operation, **parameters},
                        rationale=f"a product of matrices: {library} has it")


class OtherCompilerAgent(_Once):
    """Proposes that JAX's compiler does a StableHLO region of known sizes on the CPU."""

    name = "other-compiler"
    levels = ("stablehlo",)

    def answer(self, observation: Observation) -> Proposal | None:
        """None where JAX is not installed or a size is open."""
        if importlib.util.find_spec("jax") is None or observation.contract.get("sizes"):
            return None
        return Proposal("stablehlo_out", parameters={"platform": "cpu"}, rationale="JAX's compiler does it")


def _product(text: str) -> tuple[str, dict[str, Any]] | None:
    """Element type and parameters of a region that is one product of two matrices among its arguments, from zero."""
    from kc.bindings import ir
    from kc.context import make_context, parse_module

    module = parse_module(text, make_context())
    main = next(op.operation for op in module.body.operations
                if "sym_name" in op.attributes and ir.StringAttr(op.attributes["sym_name"]).value == "main")
    block = main.regions[0].blocks[0]
    ops = [op.operation for op in block.operations]
    numbers = {argument: number for number, argument in enumerate(block.arguments)}
    names = sorted(op.name for op in ops)
    if len(ops) != 4 or names[:2] != ["arith.constant", "func.return"] or "linalg.fill" not in names:
        return None
    by_name = {op.name: op for op in ops}
    (product,) = (op for op in ops if op.name in ("linalg.generic", "linalg.matmul"))
    fill, zero = by_name["linalg.fill"], by_name["arith.constant"].attributes["value"]
    if not isinstance(zero, ir.FloatAttr) or zero.value != 0.0 or len(product.operands) != 3:
        return None
    left, right, start = product.operands
    destination = fill.operands[1]
    if start != fill.results[0] or not {left, right, destination} <= numbers.keys():
        return None
    if list(by_name["func.return"].operands) != [product.results[0]]:
        return None
    kinds = {str(ir.RankedTensorType(v.type).element_type) for v in (left, right, destination)}
    swapped = _swapped(product)
    if len(kinds) != 1 or swapped is None:
        return None
    parameters = {
        "inputs": [f"arg{numbers[left]}", f"arg{numbers[right]}"], "output": f"arg{numbers[destination]}",
        "transpose_a": swapped[0], "transpose_b": swapped[1],
    }
    return kinds.pop(), parameters


def _swapped(product: ir.Operation) -> tuple[bool, bool] | None:
    """Whether the factors are transposed; None for anything but a plain product of two matrices."""
    from kc.bindings import ir

    maps = [ir.AffineMapAttr(a).value for a in ir.ArrayAttr(product.attributes["indexing_maps"])]
    if any(not isinstance(e, ir.AffineDimExpr) for m in maps for e in m.results) or any(m.n_dims != 3 for m in maps):
        return None
    left, right, out = ([ir.AffineDimExpr(e).position for e in m.results] for m in maps)
    if len(left) != 2 or len(right) != 2 or len(out) != 2:
        return None
    m, n = out
    (k,) = {0, 1, 2} - {m, n} if m != n else (None,)
    if sorted(map(str, left)) != sorted(map(str, [m, k])) or sorted(map(str, right)) != sorted(map(str, [k, n])):
        return None
    body = [op.operation.name for op in product.regions[0].blocks[0].operations]
    if body != ["arith.mulf", "arith.addf", "linalg.yield"] or not _sums(product):
        return None
    return left == [k, m], right == [n, k]


def _sums(product: ir.Operation) -> bool:
    """Whether the body is ``out + left * right``."""
    block = product.regions[0].blocks[0]
    multiply, add, end = (op.operation for op in block.operations)
    left, right, out = block.arguments
    return ({*multiply.operands} == {left, right} and {*add.operands} == {out, multiply.results[0]}
            and list(end.operands) == [add.results[0]])
