"""``kc-decompose-custom-calls``."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from kc.bindings import ir
from kc.pass_base import Pass, PassContext
from kc.passes.stablehlo._build import Builder
from kc.rewrite import erase_op, replace_op, walk_ops

_CHLO_UNARY = (
    "acos", "acosh", "asin", "asinh", "atan", "atanh", "cosh", "erf", "erf_inv", "erfc", "sinh", "tan",
)  # fmt: skip


@dataclasses.dataclass(frozen=True)
class DecomposeCustomCalls(Pass):
    """Custom calls whose meaning kc knows become operations, so that they need no function at run time.

    - ``mhlo.erf`` and other elementwise functions, ``mhlo.topk``, ``TopK``: the CHLO operation;
    - ``lapack_*potrf_ffi``: ``stablehlo.cholesky``, with the ``info`` that tells of a matrix that is not positive
      definite; ``lapack_*trsm_ffi``: ``stablehlo.triangular_solve``;
    - ``ApproxTopK``: an exact top-k, by a sort with the call's own comparison.

    ::

        %y = stablehlo.custom_call @mhlo.erf(%x) : (tensor<4xf32>) -> tensor<4xf32>

    becomes ``chlo.erf %x``. A call of such a name that is not formed as XLA and JAX form it stays a call.
    """

    name: ClassVar[str] = "kc-decompose-custom-calls"
    level: ClassVar[str] = "stablehlo"
    dialects: ClassVar[tuple[str, ...]] = ("chlo", "stablehlo")

    def acts_on(self) -> frozenset[str]:
        """See ``Pass.acts_on``."""
        return frozenset({"stablehlo.custom_call"})

    @staticmethod
    def takes_call(op: ir.Operation) -> bool:
        """Whether the pass replaces the custom call ``op``."""
        return _known(op) is not None

    def run(self, op: ir.Operation, ctx: PassContext) -> None:
        """See the class."""
        computations: set[str] = set()
        for call in walk_ops(op, "stablehlo.custom_call"):
            make = _known(call)
            if make is not None:
                computations |= set(_computations(call))
                replace_op(call, make(Builder(call), call))
        if computations:
            _drop(op, computations)


_Maker = Callable[[Builder, ir.Operation], Sequence[ir.Value]]


def _known(op: ir.Operation) -> _Maker | None:
    name = ir.StringAttr(op.attributes["call_target_name"]).value
    shapes = _shape_operands(op)
    types = [v.type for k, v in enumerate(op.operands) if k not in shapes]
    results = [r.type for r in op.results]
    if not all(isinstance(t, ir.RankedTensorType) for t in (*types, *results)):
        return None
    if name.startswith("mhlo.") and name[5:] in _CHLO_UNARY:
        return _unary if len(types) == 1 and types == results else None
    if re.fullmatch(r"lapack_[sdcz]potrf_ffi", name):
        return _potrf if len(types) == 1 and len(results) == 2 and types == results[:1] else None
    if re.fullmatch(r"lapack_[sdcz]trsm_ffi", name):
        return _trsm if len(types) == 2 and types[1:] == results else None
    if name in ("mhlo.topk", "TopK", "stablehlo.topk"):
        return _top_k if len(types) == 1 and len(results) == 2 and _largest(op) else None
    if name == "ApproxTopK":
        return _approximate_top_k if len(types) == 4 and len(results) == 2 and len(_functions(op)) == 1 else None
    return None


def _shape_operands(op: ir.Operation) -> list[int]:
    """Numbers of the operands that only say how large a result is."""
    if "indices_of_shape_operands" not in op.attributes:
        return []
    return [int(k) for k in ir.DenseIntElementsAttr(op.attributes["indices_of_shape_operands"])]


def _dictionary(op: ir.Operation) -> dict[str, Any]:
    """The call's options, in whichever attribute they come."""
    for key in ("mhlo.backend_config", "mhlo.attributes", "backend_config"):
        if key in op.attributes and isinstance(op.attributes[key], ir.DictAttr):
            return {entry.name: entry.attr for entry in ir.DictAttr(op.attributes[key])}
    return {}


def _letter(op: ir.Operation, name: str, default: str) -> str:
    options = _dictionary(op)
    return chr(ir.IntegerAttr(options[name]).value) if name in options else default


def _unary(b: Builder, op: ir.Operation) -> Sequence[ir.Value]:
    name = ir.StringAttr(op.attributes["call_target_name"]).value
    return [b.make("chlo." + name.removeprefix("mhlo."), [op.operands[0]], op.results[0].type)]


def _potrf(b: Builder, op: ir.Operation) -> Sequence[ir.Value]:
    """``info`` is 0 where every entry of the diagonal is positive."""
    lower = _letter(op, "uplo", "L") == "L"
    factor = b.make("cholesky", [op.operands[0]], op.operands[0].type, {"lower": ir.BoolAttr.get(lower)})
    element = b.element(factor)
    real = factor
    if isinstance(element, ir.ComplexType):
        real = b.make("real", [factor], b.like(factor, element.element_type))
    rank = len(b.shape(factor))
    i1, i32 = ir.IntegerType.get_signless(1), ir.IntegerType.get_signless(32)
    positive = b.compare("GT", real, b.number(0.0, real))
    index = b.like(factor, i32)
    on_diagonal = b.compare("EQ", _position(b, factor, index, rank - 2), _position(b, factor, index, rank - 1))
    bad = b.bin("and", on_diagonal, b.unary("not", positive))
    found = b.reduce(bad, b.splat(0, b.tensor([], i1)), [rank - 2, rank - 1], lambda i, x, y: i.bin("or", x, y))
    return [factor, b.make("convert", [found], op.results[1].type)]


def _position(b: Builder, like: ir.Value, type_: ir.RankedTensorType, axis: int) -> ir.Value:
    if type_.has_static_shape:
        return b.iota(type_, axis)
    dimension = {"iota_dimension": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), axis)}
    return b.make("dynamic_iota", [b.sizes(like)], type_, dimension)


def _trsm(b: Builder, op: ir.Operation) -> Sequence[ir.Value]:
    transpose = {"N": "NO_TRANSPOSE", "T": "TRANSPOSE", "C": "ADJOINT"}[_letter(op, "trans_x", "N")]
    attributes = {
        "left_side": ir.BoolAttr.get(_letter(op, "side", "L") == "L"),
        "lower": ir.BoolAttr.get(_letter(op, "uplo", "L") == "L"),
        "unit_diagonal": ir.BoolAttr.get(_letter(op, "diag", "N") == "U"),
        "transpose_a": ir.Attribute.parse(f"#stablehlo<transpose {transpose}>"),
    }
    return [b.make("triangular_solve", list(op.operands)[:2], op.results[0].type, attributes)]


def _largest(op: ir.Operation) -> bool:
    """Whether a top-k call wants the largest elements (``TopK`` says it by a computation: GT of its arguments)."""
    options = _dictionary(op)
    if "largest" in options:
        return bool(ir.BoolAttr(options["largest"]).value)
    if not _computations(op):
        return True
    comparisons = [c for f in _functions(op) for c in walk_ops(f, "stablehlo.compare")]
    return len(comparisons) == 1 and "GT" in str(comparisons[0].attributes["comparison_direction"])


def _computations(op: ir.Operation) -> list[str]:
    """Names of the functions that a call says it calls."""
    if "called_computations" not in op.attributes:
        return []
    return [ir.FlatSymbolRefAttr(reference).value for reference in ir.ArrayAttr(op.attributes["called_computations"])]


def _functions(op: ir.Operation) -> list[ir.Operation]:
    """The functions that a call says it calls."""
    root = op
    while root.parent is not None:
        root = root.parent.operation
    names = _computations(op)
    return [f for f in walk_ops(root, "func.func") if ir.StringAttr(f.attributes["sym_name"]).value in names]


def _drop(module: ir.Operation, names: set[str]) -> None:
    """Erase those of the functions that nothing names any more; JAX leaves them public, and ended by stablehlo.return,
    which is no function for the passes that follow."""
    for user in walk_ops(module, ("func.call", "stablehlo.custom_call")):
        if user.name == "func.call":
            names = names - {ir.FlatSymbolRefAttr(user.attributes["callee"]).value}
        else:
            names = names - set(_computations(user))
    for function in walk_ops(module, "func.func"):
        if ir.StringAttr(function.attributes["sym_name"]).value in names:
            erase_op(function)


def _top_k(b: Builder, op: ir.Operation) -> Sequence[ir.Value]:
    k = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), b.shape(op.results[0])[-1])
    made = b.op("chlo.top_k", [op.operands[0]], [r.type for r in op.results], {"k": k})
    return list(made.results)


def _approximate_top_k(b: Builder, op: ir.Operation) -> Sequence[ir.Value]:
    """Operands: values, their indices, and the two that an empty result has; the computation says which is first."""
    (comparison,) = _functions(op)
    axis = ir.IntegerAttr(_dictionary(op)["reduction_dim"]).value
    values = list(op.operands)[:2]
    dimension = {
        "dimension": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), axis),
        "is_stable": ir.BoolAttr.get(True),
    }
    made = b.op("sort", values, [v.type for v in values], dimension, regions=1)
    kinds = [b.tensor([], b.element(v)) for v in values for _ in range(2)]
    block = made.regions[0].blocks.append(*kinds, arg_locs=[b.location] * 4)
    _copy_body(comparison, block, b.location)
    shape = b.shape(op.results[0])
    return [b.slice(v, [0] * len(shape), shape) for v in made.results]


def _copy_body(function: ir.Operation, block: ir.Block, location: ir.Location) -> None:
    """The ops of ``function`` (of one block) at the end of ``block``, which has the same arguments."""
    source = function.regions[0].blocks[0]
    place = ir.InsertionPoint(block)
    copies: dict[ir.Value, ir.Value] = dict(zip(source.arguments, block.arguments, strict=True))
    for op in [view.operation for view in source.operations]:
        if op.name in ("stablehlo.return", "func.return"):
            operands = [copies[v] for v in op.operands]
            ir.Operation.create("stablehlo.return", operands=operands, loc=location, ip=place)
            continue
        clone = op.clone(place).operation
        for inner in (clone, *walk_ops(clone)):
            for number, operand in enumerate(inner.operands):
                if operand in copies:
                    inner.operands[number] = copies[operand]
        copies.update(zip(op.results, clone.results, strict=True))
