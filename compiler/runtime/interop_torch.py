"""PyTorch tensors: adopted by address, results handed over as DLPack tensors, on PyTorch's current stream."""
from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from kc.runtime import dlpack, dtypes
from kc.runtime.arrays import CPU, CUDA, Result, View, refuse
from kc.runtime.signature import Spec

if TYPE_CHECKING:
    import torch


class TorchKind:
    name = "torch"

    def stream(self, device: int) -> int | None:
        return _current_stream()(device)

    def wrap(self, result: Result) -> torch.Tensor:
        import torch

        dtype = result.dtype
        if dtype.torch_name is None or not hasattr(torch, dtype.torch_name):
            result.free()
            raise TypeError(f"PyTorch has no type for a result of {dtype.name}; call with NumPy arrays")
        if not dtype.is_float8:
            return torch.from_dlpack(dlpack.Exported(result))
        # Few versions of DLPack know the 8-bit floats: travel as bytes.
        return torch.from_dlpack(dlpack.Exported(result, dtypes.by_name("ui8"))).view(getattr(torch, dtype.torch_name))


TORCH = TorchKind()


@functools.cache
def _current_stream() -> Any:
    import torch

    raw = getattr(torch._C, "_cuda_getCurrentRawStream", None)
    return raw or (lambda device: torch.cuda.current_stream(device).cuda_stream)


@functools.cache
def _types() -> dict[torch.dtype, dtypes.DType]:
    import torch

    named = ((dtype, getattr(torch, dtype.torch_name, None)) for dtype in dtypes.all_types() if dtype.torch_name)
    return {theirs: dtype for dtype, theirs in named if theirs is not None}


def adopt(tensor: torch.Tensor, spec: Spec, index: int) -> View:
    import torch

    dtype = _types().get(tensor.dtype)
    if tensor.layout is not torch.strided or tensor.is_quantized:
        refuse(spec, index, f"got a tensor of layout {tensor.layout}{', quantized' if tensor.is_quantized else ''}")
    device = tensor.device
    kind = device.type
    if kind not in (CPU, CUDA):
        refuse(spec, index, f"got a tensor on device '{device}'")
    if tensor.is_conj() or tensor.is_neg():  # lazily conjugated: the memory holds something else
        tensor = tensor.resolve_conj().resolve_neg()
    if not tensor.is_contiguous():
        tensor = tensor.detach().contiguous()
    text = dtype.name if dtype else str(tensor.dtype)
    return View(TORCH, dtype, text, tensor.shape, tensor.data_ptr(), tensor, kind, device.index or 0)
