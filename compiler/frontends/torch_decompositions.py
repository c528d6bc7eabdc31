"""Decompositions that kc wants before the importer sees a graph, on top of torch-mlir's own table."""
from __future__ import annotations

from typing import Any, Callable

import torch

aten = torch.ops.aten


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
    """Attention as scores, softmax and weighted sum, in the form that kc's attention kernels are recognised from.

    ``query`` [..., H, Q, D], ``key`` [..., Hkv, K, D], ``value`` [..., Hkv, K, Dv]; scores and softmax in float32 (float64 for
    float64), probabilities rounded to ``value``'s dtype before the second product. A row that is masked whole gives zeros,
    as ``torch.nn.functional.scaled_dot_product_attention`` does.
    """
    if dropout_p != 0.0:
        return NotImplemented
    if enable_gqa:
        repeats = query.size(-3) // key.size(-3)
        key = key.repeat_interleave(repeats, -3)
        value = value.repeat_interleave(repeats, -3)
    wide = torch.float64 if query.dtype == torch.float64 else torch.float32
    factor = query.size(-1) ** -0.5 if scale is None else scale
    scores = torch.matmul(query.to(wide), key.to(wide).transpose(-2, -1)) * factor
    masked = False
    if is_causal:
        rows = torch.arange(query.size(-2), device=query.device)
        columns = torch.arange(key.size(-2), device=query.device)
        scores = torch.where(columns[None, :] <= rows[:, None], scores, float("-inf"))
    if attn_mask is not None:
        masked = True
        if attn_mask.dtype == torch.bool:
            scores = torch.where(attn_mask, scores, float("-inf"))
        else:
            scores = scores + attn_mask
    probabilities = torch.softmax(scores, -1)
    if masked:
        blocked = torch.all(scores == float("-inf"), -1, keepdim=True)
        probabilities = torch.where(blocked, 0.0, probabilities)
    return torch.matmul(probabilities.to(value.dtype), value)


def _keep(*_args: Any, **_kwargs: Any) -> Any:
    return NotImplemented


def table() -> dict[Any, Callable[..., Any]]:
    """Operator -> decomposition, for ``ExportedProgram.run_decompositions`` and AOTAutograd."""
    from kc.bindings import fx_decomp_util

    result = dict(fx_decomp_util.get_decomposition_table())
    result[aten.scaled_dot_product_attention.default] = scaled_dot_product_attention
    # torch-mlir reads linear and matmul of any rank as they are. Decomposed, they become views that merge dimensions, and
    # the importer miscompiles a view that merges two dynamic ones (llvm/torch-mlir#4743).
    for kept in (aten.linear.default, aten.matmul.default):
        result.pop(kept, None)
    return result
