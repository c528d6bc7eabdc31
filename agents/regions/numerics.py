"""The numerics that a region's contract allows: what kc's own lowering may do to it, and nothing else.

- ``reassoc`` where the region sums or multiplies floats over an axis (``strict-fp=true`` takes that away), or its ops
  carry the flag;
- ``contract`` where it holds a contraction of floats, or its ops carry the flag;
- ``approx`` for a GPU, where it holds transcendental functions: its units approximate them;
- ``low_precision`` for attention on 16-bit floats, whose probabilities are rounded to the type of the operands.

docs/agents/numerics.md has the bounds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from kc.agents.regions.find import Region
from kc.agents.regions.symbols import called, lookup
from kc.bindings import ir
from kc.rewrite import walk_ops

_FLAGS = {"reassoc": "reassoc", "contract": "contract", "arcp": "arcp", "afn": "approx"}
_SUMS = frozenset({
    "arith.addf", "arith.mulf", "complex.add", "complex.mul", "stablehlo.add", "stablehlo.multiply",
})  # fmt: skip
_STABLEHLO_CONTRACTIONS = frozenset({
    "stablehlo.dot_general", "stablehlo.dot", "stablehlo.convolution",
})  # fmt: skip
_STABLEHLO_FOLDS = frozenset({
    "stablehlo.reduce", "stablehlo.reduce_window", "stablehlo.scatter", "stablehlo.select_and_scatter",
})  # fmt: skip
_LINALG_CONTRACTIONS = ("matmul", "matvec", "vecmat", "dot", "mmt4d", "conv", "contract")
_TORCH_CONTRACTIONS = frozenset({
    "mm", "matmul", "bmm", "addmm", "baddbmm", "linear", "einsum", "mv", "dot", "convolution", "conv1d",
    "conv2d", "conv3d", "scaled_dot_product_attention", "_scaled_dot_product_flash_attention", "tensordot",
})  # fmt: skip
_TORCH_FOLDS = frozenset({
    "sum", "mean", "var", "std", "var_mean", "softmax", "_softmax", "log_softmax", "_log_softmax",
    "logsumexp", "layer_norm", "native_layer_norm", "group_norm", "native_group_norm", "batch_norm",
    "native_batch_norm", "cumsum", "cumprod", "prod", "norm", "linalg_vector_norm", "avg_pool1d",
    "avg_pool2d", "avg_pool3d", "adaptive_avg_pool1d", "adaptive_avg_pool2d", "rms_norm", "cosine_similarity",
})  # fmt: skip
_TRANSCENDENTAL = frozenset({
    "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "tanh", "erf", "erfc",
    "rsqrt", "powf", "power", "exponential", "exponential_minus_one", "log_plus_one", "logistic", "sine",
    "cosine", "atan", "atan2", "sigmoid", "gelu", "silu", "softmax", "_softmax", "cbrt",
})  # fmt: skip


def allowances(region: Region, target: str, options: Mapping[str, Any]) -> set[str]:
    """What kc's own lowering may do to the numerics of ``region`` and of what it calls."""
    strict = str(options.get("strict-fp", "false")).lower() in ("true", "1")
    allow: set[str] = set()
    transcendental = False
    for op in _ops(region):
        allow |= _flags(op)
        if not strict and _folds(op):
            allow.add("reassoc")
        if _contracts(op):
            allow.add("contract")
        transcendental |= op.name.partition(".")[2].removeprefix("aten.") in _TRANSCENDENTAL
    if target.startswith("nvptx") and transcendental:
        allow.add("approx")
    if region.kind == "attention" and _narrow(region.operation):
        allow.add("low_precision")
    return allow


def is_free(function: ir.Operation, target: str, options: Mapping[str, Any]) -> bool:
    """Whether the rounding of anything that ``function`` itself computes is free, so that another answer may differ."""
    strict = str(options.get("strict-fp", "false")).lower() in ("true", "1")
    return "kc.allow" in function.attributes or any(
        _flags(op)
        or (not strict and _folds(op))
        or _contracts(op)
        or (target.startswith("nvptx") and op.name.partition(".")[2] in _TRANSCENDENTAL)
        for op in walk_ops(function)
    )


def _ops(region: Region) -> Iterator[ir.Operation]:
    """The ops of the region and of the functions that it calls."""
    seen, stack = {region.name}, [region.operation]
    while stack:
        function = stack.pop()
        yield from walk_ops(function)
        for name in called(function):
            found = None if name in seen else lookup(region.module, name)
            if found is not None and found.name.endswith(("func", "module")):
                seen.add(name)
                stack.append(found)


def _flags(op: ir.Operation) -> set[str]:
    """The allowances that an op's own fast-math flags are; flags on values (nnan …) say nothing of the whole region."""
    found: set[str] = set()
    for key in ("fastmath", "fastmathFlags"):
        if key in op.attributes:
            words = re.findall(r"\w+", str(op.attributes[key]).partition("<")[2])
            found |= {_FLAGS[word] for word in words if word in _FLAGS}
            if "fast" in words:
                found |= set(_FLAGS.values())
    return found


def _folds(op: ir.Operation) -> bool:
    """Whether an op sums or multiplies floats along an axis."""
    dialect, _, name = op.name.partition(".")
    if dialect == "torch":
        short = name.removeprefix("aten.").partition(".")[0]
        return short in _TORCH_FOLDS or short in _TORCH_CONTRACTIONS
    if op.name in _STABLEHLO_CONTRACTIONS:
        return _is_float(op.operands[0].type)
    if op.name in _STABLEHLO_FOLDS:
        return _is_float(op.operands[0].type) and _has_sum(op)
    if dialect == "linalg" and len(op.results):
        reduces = "reduction" in str(op.attributes["iterator_types"]) if "iterator_types" in op.attributes else True
        return reduces and name not in ("fill", "copy", "transpose", "broadcast") and _has_sum(op)
    return False


def _contracts(op: ir.Operation) -> bool:
    dialect, _, name = op.name.partition(".")
    if dialect == "torch":
        return name.removeprefix("aten.").partition(".")[0] in _TORCH_CONTRACTIONS
    if op.name in _STABLEHLO_CONTRACTIONS:
        return _is_float(op.operands[0].type)
    return dialect == "linalg" and any(part in name for part in _LINALG_CONTRACTIONS) and _has_sum(op)


def _has_sum(op: ir.Operation) -> bool:
    return any(inner.name in _SUMS and _is_float(inner.results[0].type) for inner in walk_ops(op))


def _is_float(kind: ir.Type) -> bool:
    text = str(kind)
    element = re.split(r"[x<]", text.rstrip(">"))[-1] if "complex" not in text else "f32"
    return element.startswith(("f", "bf", "tf"))


def _narrow(function: ir.Operation) -> bool:
    """Whether a tensor argument is of 16-bit floats."""
    kinds = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value).inputs
    return any(str(k.element_type) in ("f16", "bf16") for k in kinds if isinstance(k, ir.ShapedType))
