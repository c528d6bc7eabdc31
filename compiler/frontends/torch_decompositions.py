"""Decompositions that kc wants before the importer sees a graph, on top of torch-mlir's own table.

Norms, softmax and attention are written out here in the plain form that kc's row and attention kernels are recognised
from: float32 inside for narrower types (as PyTorch's own kernels compute), no float64, no index results.
"""
from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch

aten = torch.ops.aten


def _wide(dtype: torch.dtype) -> torch.dtype:
    return torch.float64 if dtype == torch.float64 else torch.float32


def scaled_dot_product_attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attn_mask: torch.Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> torch.Tensor:
    """Attention as scores, softmax and weighted sum.

    ``query`` [..., H, Q, D], ``key`` [..., Hkv, K, D], ``value`` [..., Hkv, K, Dv]; scores and softmax in float32
    (float64 for
    float64), probabilities rounded to ``value``'s dtype before the second product. A row that is masked whole gives
    zeros, as ``torch.nn.functional.scaled_dot_product_attention`` does.
    """
    if dropout_p != 0.0:
        return NotImplemented
    if enable_gqa:
        repeats = query.size(-3) // key.size(-3)
        key = key.repeat_interleave(repeats, -3)
        value = value.repeat_interleave(repeats, -3)
    wide = _wide(query.dtype)
    factor = 1.0 / math.sqrt(query.size(-1)) if scale is None else scale
    scores = torch.matmul(query.to(wide), key.to(wide).transpose(-2, -1)) * factor
    # A tensor and not a Python float, which would come in as float64.
    blocked = torch.full((), float("-inf"), dtype=wide, device=query.device)
    if is_causal:
        rows = torch.arange(query.size(-2), device=query.device)
        columns = torch.arange(key.size(-2), device=query.device)
        scores = torch.where(columns[None, :] <= rows[:, None], scores, blocked)
    if attn_mask is not None:
        if attn_mask.dtype == torch.bool:
            scores = torch.where(attn_mask, scores, blocked)
        else:
            scores = scores + attn_mask
    largest = scores.amax(-1, keepdim=True)
    if attn_mask is not None:  # a row that is masked whole: exp(-inf - 0) is 0, and 0 / 1 is 0
        largest = torch.where(largest == blocked, torch.zeros_like(largest), largest)
    exponentials = torch.exp(scores - largest)
    total = exponentials.sum(-1, keepdim=True)
    if attn_mask is not None:
        total = torch.where(total == torch.zeros_like(total), torch.ones_like(total), total)
    return torch.matmul((exponentials / total).to(value.dtype), value)


def softmax(x: torch.Tensor, dim: int, half_to_float: bool) -> torch.Tensor:
    """``exp(x - max) / sum(exp(x - max))`` over ``dim``, in float32 inside for narrower types."""
    wide = x.to(_wide(x.dtype))
    if x.dim() == 0:
        return torch.ones_like(wide) if half_to_float else torch.ones_like(x)
    exponentials = torch.exp(wide - wide.amax(dim, keepdim=True))
    result = exponentials / exponentials.sum(dim, keepdim=True)
    return result if half_to_float else result.to(x.dtype)


def log_softmax(x: torch.Tensor, dim: int, half_to_float: bool) -> torch.Tensor:
    """``(x - max) - log(sum(exp(x - max)))`` over ``dim``, in float32 inside for narrower types."""
    wide = x.to(_wide(x.dtype))
    if x.dim() == 0:
        return torch.zeros_like(wide) if half_to_float else torch.zeros_like(x)
    shifted = wide - wide.amax(dim, keepdim=True)
    result = shifted - torch.log(torch.exp(shifted).sum(dim, keepdim=True))
    return result if half_to_float else result.to(x.dtype)


def native_layer_norm(
    x: torch.Tensor,
    normalized_shape: Sequence[int],
    weight: torch.Tensor | None,
    bias: torch.Tensor | None,
    eps: float,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Layer norm over the last axes: result, mean and 1 / sqrt(variance + eps), the variance in two passes."""
    axes = list(range(x.dim() - len(normalized_shape), x.dim()))
    wide = x.to(_wide(x.dtype))
    mean = wide.mean(axes, keepdim=True)
    centered = wide - mean
    scale = torch.rsqrt((centered * centered).mean(axes, keepdim=True) + eps)
    result = centered * scale
    if weight is not None:
        result = result * weight
    if bias is not None:
        result = result + bias
    return result.to(x.dtype), mean, scale


def rms_norm(
    x: torch.Tensor, normalized_shape: Sequence[int], weight: torch.Tensor | None = None, eps: float | None = None
) -> torch.Tensor:
    """``x / sqrt(mean(x²) + eps) * weight`` over the last axes, in float32 inside for narrower types."""
    axes = list(range(x.dim() - len(normalized_shape), x.dim()))
    wide = x.to(_wide(x.dtype))
    eps = torch.finfo(x.dtype).eps if eps is None else eps
    result = wide * torch.rsqrt((wide * wide).mean(axes, keepdim=True) + eps)
    if weight is not None:
        result = result * weight
    return result.to(x.dtype)


def group_norm(
    x: torch.Tensor,
    weight: torch.Tensor | None,
    bias: torch.Tensor | None,
    n: int,
    channels: int,
    _area: int,
    groups: int,
    eps: float,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Group norm of ``x`` [N, C, …]: result, mean and 1 / sqrt(variance + eps) of each group [N, groups]."""
    wide = x.to(_wide(x.dtype)).unflatten(1, (groups, channels // groups))
    axes = list(range(2, wide.dim()))
    mean = wide.mean(axes, keepdim=True)
    centered = wide - mean
    scale = torch.rsqrt((centered * centered).mean(axes, keepdim=True) + eps)
    result = (centered * scale).flatten(1, 2)
    shape = [1, channels] + [1] * (x.dim() - 2)
    if weight is not None:
        result = result * weight.view(shape)
    if bias is not None:
        result = result + bias.view(shape)
    return result.to(x.dtype), mean.view(n, groups), scale.view(n, groups)


def constant_pad_nd(x: torch.Tensor, pad: Sequence[int], value: float = 0) -> torch.Tensor:
    """Padding, innermost axis first; a negative one cuts the axis and is done first."""
    if all(amount >= 0 for amount in pad):
        return NotImplemented
    for number in range(len(pad) // 2):
        axis = x.dim() - 1 - number
        low, high = (max(0, -amount) for amount in pad[2 * number : 2 * number + 2])
        if low or high:
            x = x.narrow(axis, low, x.size(axis) - low - high)
    return aten.constant_pad_nd(x, [max(0, amount) for amount in pad], value)


def sort_stable(
    x: torch.Tensor, *, stable: bool | None = None, dim: int = -1, descending: bool = False
) -> tuple[torch.Tensor, torch.Tensor]:
    """Values and places in order; kc's sort is always stable."""
    return aten.sort.default(x, dim, descending)


def maximum(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """The larger of two values; NaN if either is (the importer's own lowering loses it)."""
    a, b = _promoted(a, b)
    return torch.where((a > b) | (a != a), a, b) if a.is_floating_point() else torch.where(a > b, a, b)


def minimum(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """The smaller of two values; NaN if either is."""
    a, b = _promoted(a, b)
    return torch.where((a < b) | (a != a), a, b) if a.is_floating_point() else torch.where(a < b, a, b)


def clamp(x: torch.Tensor, low: Any = None, high: Any = None) -> torch.Tensor:
    """``x`` held between numbers or tensors ``low`` and ``high``; NaN stays NaN."""
    for bound, pick in ((low, maximum), (high, minimum)):
        if bound is not None:
            if not isinstance(bound, torch.Tensor):
                bound = torch.full((), bound, dtype=torch.result_type(x, bound), device=x.device)
            x = pick(x, bound)
    return x


def _promoted(a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    dtype = torch.promote_types(a.dtype, b.dtype) if a.dim() and b.dim() else torch.result_type(a, b)
    return a.to(dtype), b.to(dtype)


def _through(dtype: torch.dtype, operator: Any, back: bool) -> Callable[..., Any]:
    """``operator`` on bytes without a sign, computed in ``dtype``: the importer takes them for signed, or narrow."""

    def decomposed(x: torch.Tensor, *rest: Any, **keywords: Any) -> Any:
        if x.dtype != torch.uint8 or keywords.get("dtype") is not None:
            return NotImplemented
        others = [y for y in rest if isinstance(y, torch.Tensor) and y.dtype != torch.uint8]
        if others:
            return operator(x.to(torch.result_type(x, others[0])), *rest, **keywords)
        wider = [y.to(dtype) if isinstance(y, torch.Tensor) else y for y in rest]
        result = operator(x.to(dtype), *wider, **keywords)
        return result.to(torch.uint8) if back and not any(isinstance(y, float) for y in rest) else result

    return decomposed


#: reductions of bytes have 64-bit results, the others bytes
_SUMS = (aten.sum.default, aten.sum.dim_IntList, aten.prod.default, aten.prod.dim_int, aten.cumsum.default)
_BYTES = (
    aten.neg.default, aten.mul.Tensor, aten.mul.Scalar, aten.floor_divide.default, aten.floor_divide.Scalar,
    aten.remainder.Tensor, aten.remainder.Scalar, aten.fmod.Tensor, aten.fmod.Scalar, aten.div.Tensor_mode,
    aten.div.Scalar_mode,
)


def table() -> dict[Any, Callable[..., Any]]:
    """Operator -> decomposition, for ``ExportedProgram.run_decompositions`` and AOTAutograd."""
    from kc.bindings import fx_decomp_util

    result = dict(fx_decomp_util.get_decomposition_table())
    result[aten.scaled_dot_product_attention.default] = scaled_dot_product_attention
    result[aten._softmax.default] = softmax
    result[aten._log_softmax.default] = log_softmax
    result[aten.native_layer_norm.default] = native_layer_norm
    result[aten.rms_norm.default] = rms_norm
    result[aten.native_group_norm.default] = group_norm
    result[aten.sort.stable] = sort_stable
    result[aten.constant_pad_nd.default] = constant_pad_nd
    result[aten.maximum.default], result[aten.minimum.default] = maximum, minimum
    result[aten.clamp.default] = result[aten.clamp.Tensor] = clamp
    result[aten.clamp_min.default] = result[aten.clamp_min.Tensor] = clamp
    result[aten.clamp_max.default] = result[aten.clamp_max.Tensor] = lambda x, high: clamp(x, None, high)
    result |= {operator: _through(torch.int64, operator, back=False) for operator in _SUMS}
    result |= {operator: _through(torch.int16, operator, back=True) for operator in _BYTES}
    # torch-mlir reads linear and matmul of any rank as they are. Decomposed, they become views that merge
    # dimensions, and the importer miscompiles a view that merges two dynamic ones (llvm/torch-mlir#4743).
    for kept in (aten.linear.default, aten.matmul.default):
        result.pop(kept, None)
    return result
