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


def table() -> dict[Any, Callable[..., Any]]:
    """Operator -> decomposition, for ``ExportedProgram.run_decompositions`` and AOTAutograd."""
    from kc.bindings import fx_decomp_util

    result = dict(fx_decomp_util.get_decomposition_table())
    result[aten.scaled_dot_product_attention.default] = scaled_dot_product_attention
    result[aten._softmax.default] = softmax
    result[aten._log_softmax.default] = log_softmax
    result[aten.native_layer_norm.default] = native_layer_norm
    result[aten.rms_norm.default] = rms_norm
    # torch-mlir reads linear and matmul of any rank as they are. Decomposed, they become views that merge
    # dimensions, and the importer miscompiles a view that merges two dynamic ones (llvm/torch-mlir#4743).
    for kept in (aten.linear.default, aten.matmul.default):
        result.pop(kept, None)
    return result
