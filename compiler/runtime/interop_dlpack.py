"""CuPy, and any other array with ``__dlpack__`` or ``__cuda_array_interface__``."""
from __future__ import annotations

import sys
from typing import Any

from kc.runtime import dlpack, dtypes
from kc.runtime.arrays import CPU, CUDA, NUMPY, Result, View, contiguous_strides, refuse
from kc.runtime.library import library
from kc.runtime.signature import Spec


class CupyKind:
    name = "cupy"

    def stream(self, device: int) -> int | None:
        import cupy

        with cupy.cuda.Device(device):
            return int(cupy.cuda.get_current_stream().ptr)

    def wrap(self, result: Result) -> Any:
        import cupy

        return cupy.from_dlpack(dlpack.Exported(result))


class ForeignKind:
    """An array library kc knows nothing of: results by its own ``from_dlpack``, or as ``kc.runtime.DeviceArray``."""

    def __init__(self, name: str, namespace: Any) -> None:
        self.name = name
        self._namespace = namespace

    def stream(self, device: int) -> int | None:
        return None

    def wrap(self, result: Result) -> Any:
        convert = getattr(self._namespace, "from_dlpack", None)
        if convert is not None:
            return convert(dlpack.Exported(result))
        return NUMPY.wrap(result) if result.device_type == CPU else dlpack.DeviceArray(result)


CUPY = CupyKind()


def adopt(value: Any, spec: Spec, index: int) -> View:
    if type(value).__module__.split(".")[0] == "cupy":
        return _adopt_cuda_interface(sys.modules["cupy"].ascontiguousarray(value), CUPY, spec, index)
    namespace = value.__array_namespace__() if hasattr(value, "__array_namespace__") else None
    kind = ForeignKind(type(value).__name__, namespace)
    if hasattr(value, "__dlpack__"):
        return dlpack.adopt(value, kind, spec, index)
    return _adopt_cuda_interface(value, kind, spec, index)


def _adopt_cuda_interface(value: Any, kind: Any, spec: Spec, index: int) -> View:
    """https://numba.readthedocs.io/en/stable/cuda/cuda_array_interface.html, versions 2 and 3."""
    import numpy as np

    interface = value.__cuda_array_interface__
    shape = tuple(interface["shape"])
    numpy_dtype = np.dtype(interface["typestr"])
    dtype = dtypes.of_numpy(numpy_dtype)
    if interface.get("mask") is not None:
        refuse(spec, index, "got a masked device array; its mask would be lost")
    strides = interface.get("strides")
    if strides is not None and 0 not in shape:
        expected = tuple(stride * numpy_dtype.itemsize for stride in contiguous_strides(shape))
        if any(size > 1 and a != b for size, a, b in zip(shape, strides, expected, strict=True)):
            refuse(spec, index, "got a device array that is not contiguous")
    pointer = int(interface["data"][0])
    device = dlpack.device_of(pointer) if pointer else 0
    stream = interface.get("stream")
    if stream is not None and kind.stream(device) is None:
        library().kc_gpu_synchronize(device, None if stream == 1 else stream)
    return View(kind, dtype, dtype.name if dtype else str(numpy_dtype), shape, pointer, value, CUDA, device)
