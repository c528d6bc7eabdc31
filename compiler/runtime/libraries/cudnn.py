"""Convolutions and softmax by NVIDIA's cuDNN, through its functions of before graphs, which version 9 still has.

Constants and structures are those of ``cudnn_ops.h`` and ``cudnn_cnn.h``. Looked for: what ``KC_CUDNN_LIBRARY`` names,
the wheels ``nvidia-cudnn-cu13`` and ``nvidia-cudnn-cu12`` (which PyTorch brings), the CUDA toolkit, the system.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from kc.runtime.errors import ExecutionError
from kc.runtime.libraries.find import library
from kc.runtime.library import last_error
from kc.runtime.library import library as runtime

VARIABLE = "KC_CUDNN_LIBRARY"
_TYPES = {"float32": 0, "float64": 1, "float16": 2, "bfloat16": 9}  # cudnnDataType_t
_FORMATS = {"NCHW": 0, "NHWC": 1}  # cudnnTensorFormat_t
_CROSS_CORRELATION = 1
_DEFAULT_MATH, _TENSOR_OP_MATH, _FMA_MATH = 0, 1, 3
_ACCURATE, _LOG, _INSTANCE = 1, 2, 0  # of a softmax
_MOST_WORKSPACE = 256 << 20


class _Performance(ctypes.Structure):
    """``cudnnConvolutionFwdAlgoPerf_t``."""

    _fields_ = [
        ("algorithm", ctypes.c_int),
        ("status", ctypes.c_int),
        ("time", ctypes.c_float),
        ("memory", ctypes.c_size_t),
        ("determinism", ctypes.c_int),
        ("math", ctypes.c_int),
        ("reserved", ctypes.c_int * 3),
    ]


def _lib() -> Any:
    return library("cudnn", VARIABLE, "nvidia-cudnn-cu13")


def implementation(name: str) -> Callable[..., None]:
    """The function of a custom call. Raises ``LoadError`` when cuDNN is not there."""
    _lib()
    return {"kc.cudnn.convolution": convolution, "kc.cudnn.softmax": softmax}[name]


def _call(name: str, *arguments: Any) -> None:
    status = getattr(_lib(), name)(*arguments)
    if status:
        raise ExecutionError(f"{name} failed: status {status}")


# Handles keep memory that work in flight uses, so each belongs to one stream; one thread uses it at a time.
_handles: dict[tuple[int, int], tuple[ctypes.c_void_p, threading.Lock]] = {}
_lock = threading.Lock()


@contextlib.contextmanager
def _session(device: int, stream: int) -> Iterator[ctypes.c_void_p]:
    with _lock:
        if (device, stream) not in _handles:
            made = ctypes.c_void_p()
            _call("cudnnCreate", ctypes.byref(made))
            _call("cudnnSetStream", made, ctypes.c_void_p(stream))
            _handles[device, stream] = made, threading.Lock()
        handle, own = _handles[device, stream]
    with own:
        yield handle


def _ints(values: Sequence[int]) -> Any:
    return (ctypes.c_int * len(values))(*values)


def _description(kind: str) -> ctypes.c_void_p:
    made = ctypes.c_void_p()
    _call(f"cudnnCreate{kind}Descriptor", ctypes.byref(made))
    return made


def _tensor(dtype: str, sizes: Sequence[int], strides: Sequence[int]) -> ctypes.c_void_p:
    made = _description("Tensor")
    _call("cudnnSetTensorNdDescriptor", made, _TYPES[dtype], len(sizes), _ints(sizes), _ints(strides))
    return made


def _dense(sizes: Sequence[int]) -> list[int]:
    strides = [1]
    for size in reversed(sizes[1:]):
        strides.insert(0, strides[0] * size)
    return strides


def _type_of(views: Sequence[Any]) -> str:
    names = {view.dtype.numpy.name for view in views}
    if len(names) != 1 or not names <= set(_TYPES):
        raise ValueError(f"cuDNN works on arrays of one type of f32, f64, f16 and bf16, not {', '.join(sorted(names))}")
    return str(names.pop())


def _scale(dtype: str, value: float) -> Any:
    return ctypes.c_double(value) if dtype == "float64" else ctypes.c_float(value)


def softmax(inputs: Sequence[Any], outputs: Sequence[Any], attributes: Mapping[str, Any]) -> None:
    """x -> its softmax (with ``log``: the logarithm of it) along the last axis."""
    x, y = inputs[0], outputs[0]
    dtype = _type_of([x, y])
    if x.shape != y.shape or not x.shape:
        raise ValueError(f"a softmax of shape {x.shape} into {y.shape}")
    columns = x.shape[-1]
    rows = functools.reduce(lambda a, b: a * b, x.shape[:-1], 1)
    if rows * columns == 0:
        return
    algorithm = _LOG if attributes.get("log") else _ACCURATE
    one, zero = _scale(dtype, 1), _scale(dtype, 0)
    with _session(y.device, y.stream) as handle:
        shape = _softmax_shape(dtype, rows, columns)
        _call(
            "cudnnSoftmaxForward", handle, algorithm, _INSTANCE, ctypes.byref(one), shape, ctypes.c_void_p(x.pointer),
            ctypes.byref(zero), shape, ctypes.c_void_p(y.pointer),
        )  # fmt: skip


@functools.lru_cache(maxsize=256)
def _softmax_shape(dtype: str, rows: int, columns: int) -> ctypes.c_void_p:
    return _tensor(dtype, (rows, columns, 1, 1), (columns, 1, 1, 1))


def convolution(inputs: Sequence[Any], outputs: Sequence[Any], attributes: Mapping[str, Any]) -> None:
    """image, filter -> convolution (StableHLO's: no flip), sums in f32. Attributes ``strides``, ``padding`` (the same
    on both sides), ``dilation``, ``groups``, ``layout``: NCHW with filters OIHW, or NHWC with filters OHWI."""
    image, weights, out = inputs[0], inputs[1], outputs[0]
    dtype = _type_of([image, weights, out])
    if len(image.shape) != 4 or len(weights.shape) != 4 or len(out.shape) != 4:
        raise ValueError("a convolution of images with two axes is what there is")
    if 0 in (*image.shape, *weights.shape, *out.shape):
        raise ValueError("a convolution of empty arrays")
    window = [tuple(attributes.get(name, (value, value))) for name, value in
              (("padding", 0), ("strides", 1), ("dilation", 1))]  # fmt: skip
    layout = str(attributes.get("layout", "NCHW"))
    groups = int(attributes.get("groups", 1))
    with _session(out.device, out.stream) as handle:
        plan = _Plan.of(handle.value or 0, dtype, image.shape, weights.shape, out.shape, tuple(window), groups, layout)
        plan.run(handle, image, weights, out)


class _Plan:
    """One convolution set up, with the algorithm that cuDNN's heuristic names first of those whose memory suits."""

    def __init__(self, handle: int, dtype: str, image: Sequence[int], weights: Sequence[int], out: Sequence[int],
                 window: Sequence[tuple[int, int]], groups: int, layout: str) -> None:  # fmt: skip
        self.dtype = dtype
        self.x, self.y = (_image(dtype, shape, layout) for shape in (image, out))
        self.w, self.convolution = _description("Filter"), _description("Convolution")
        sizes = _channels_first(weights, layout)
        _call("cudnnSetFilterNdDescriptor", self.w, _TYPES[dtype], _FORMATS[layout], 4, _ints(sizes))
        wide = _TYPES["float64" if dtype == "float64" else "float32"]
        padding, strides, dilation = (_ints(pair) for pair in window)
        set_window = "cudnnSetConvolutionNdDescriptor"
        _call(set_window, self.convolution, 2, padding, strides, dilation, _CROSS_CORRELATION, wide)
        _call("cudnnSetConvolutionGroupCount", self.convolution, groups)
        # the default would round f32 to TF32
        math = {"float32": _FMA_MATH, "float64": _DEFAULT_MATH}.get(dtype, _TENSOR_OP_MATH)
        _call("cudnnSetConvolutionMathType", self.convolution, math)
        expected = (ctypes.c_int * 4)()
        _call("cudnnGetConvolutionNdForwardOutputDim", self.convolution, self.x, self.w, 4, expected)
        if list(expected) != _channels_first(out, layout):
            raise ValueError(
                f"this convolution gives {list(expected)} (N, C, H, W), not {_channels_first(out, layout)}"
            )
        count, found = ctypes.c_int(0), (_Performance * 8)()
        _call(
            "cudnnGetConvolutionForwardAlgorithm_v7", ctypes.c_void_p(handle), self.x, self.w, self.convolution, self.y,
            8, ctypes.byref(count), found,
        )  # fmt: skip
        usable = [p for p in found[: count.value] if p.status == 0 and p.memory <= _MOST_WORKSPACE]
        if not usable:
            raise ExecutionError("cuDNN has no algorithm for this convolution")
        self.algorithm, self.workspace = usable[0].algorithm, usable[0].memory

    @classmethod
    @functools.lru_cache(maxsize=256)
    def of(cls, *arguments: Any) -> _Plan:
        """The plan of these arguments."""
        return cls(*arguments)

    def run(self, handle: ctypes.c_void_p, image: Any, weights: Any, out: Any) -> None:
        """Put the convolution on the handle's stream."""
        memory = 0
        if self.workspace:
            memory = runtime().kc_gpu_alloc(out.device, out.stream, self.workspace) or 0
            if not memory:
                raise ExecutionError(last_error())
        one, zero = _scale(self.dtype, 1), _scale(self.dtype, 0)
        try:
            _call(
                "cudnnConvolutionForward", handle, ctypes.byref(one), self.x, ctypes.c_void_p(image.pointer), self.w,
                ctypes.c_void_p(weights.pointer), self.convolution, self.algorithm, ctypes.c_void_p(memory),
                ctypes.c_size_t(self.workspace), ctypes.byref(zero), self.y, ctypes.c_void_p(out.pointer),
            )  # fmt: skip
        finally:
            if memory:
                runtime().kc_gpu_free(out.device, out.stream, memory)


def _channels_first(shape: Sequence[int], layout: str) -> list[int]:
    return list(shape) if layout == "NCHW" else [shape[0], shape[3], shape[1], shape[2]]


def _image(dtype: str, shape: Sequence[int], layout: str) -> ctypes.c_void_p:
    return _tensor(dtype, _channels_first(shape, layout), _channels_first(_dense(shape), layout))
