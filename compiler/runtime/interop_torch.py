"""PyTorch tensors: adopted by address, results handed over without a copy, GPU work on PyTorch's current stream."""
from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Any

from kc.runtime import dlpack, dtypes
from kc.runtime.arrays import CPU, CUDA, Result, View, own_array, refuse
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
        theirs = _theirs().get(dtype)
        if theirs is None:
            result.free()
            raise TypeError(f"PyTorch has no type for a result of {dtype.name}; call with NumPy arrays")
        # Types that NumPy does not have, or few versions of DLPack know, travel as bits.
        carrier = _CARRIERS.get(dtype.bits, dtype) if dtype.code == dtypes.BFLOAT or dtype.is_small_float else dtype
        if result.device_type == CPU:
            tensor = torch.from_numpy(own_array(carrier, result.base, result.data, result.shape, result.strides))
        else:
            # A capsule and not the exporter: the result is on PyTorch's current stream already, and the way
            # through the protocol's stream handshake costs more than a launch.
            tensor = torch.from_dlpack(dlpack.Exported(result, carrier).__dlpack__())
        return tensor if carrier is dtype else tensor.view(theirs)


TORCH = TorchKind()
_CARRIERS = {8: dtypes.by_name("ui8"), 16: dtypes.by_name("i16")}


@functools.cache
def _current_stream() -> Any:
    import torch

    raw = getattr(torch._C, "_cuda_getCurrentRawStream", None)
    return raw or (lambda device: torch.cuda.current_stream(device).cuda_stream)


@functools.cache
def _theirs() -> dict[dtypes.DType, torch.dtype]:
    import torch

    named = ((dtype, getattr(torch, dtype.torch_name, None)) for dtype in dtypes.all_types() if dtype.torch_name)
    return {dtype: theirs for dtype, theirs in named if theirs is not None}


@functools.cache
def _ours() -> dict[torch.dtype, dtypes.DType]:
    return {theirs: dtype for dtype, theirs in _theirs().items()}


def adopt(tensor: torch.Tensor, spec: Spec, index: int) -> View:
    dtype = _ours().get(tensor.dtype)
    kind, ordinal = CPU, 0
    if not tensor.is_cpu:
        device = tensor.device
        kind, ordinal = device.type, device.index or 0
        if kind != CUDA:
            refuse(spec, index, f"got a tensor on device '{device}'")
    if tensor.layout is not sys.modules["torch"].strided:
        refuse(spec, index, f"got a tensor of layout {tensor.layout}")
    if tensor.is_neg() or tensor.is_conj():  # lazily negated or conjugated: the memory holds something else
        tensor = tensor.resolve_conj().resolve_neg()
    if not tensor.is_contiguous():
        tensor = tensor.detach().contiguous()
    if kind == CUDA and tensor.data_ptr() % 16:  # a slice: kernels read 16 bytes at a time
        tensor = tensor.detach().clone()
    text = dtype.name if dtype else str(tensor.dtype)
    return View(TORCH, dtype, text, tensor.shape, tensor.data_ptr(), tensor, kind, ordinal)
