"""One entry point: checks arguments, calls the machine code, wraps results.

The common case (NumPy arrays on a CPU program, or tensors of one framework) is short: types are compared by identity,
shapes are looked up in a table of signatures seen before, addresses are put into one array, and C does the rest.
"""
from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from kc.runtime.arrays import (
    CPU,
    CUDA,
    DATA_OFFSET,
    NUMPY,
    Kind,
    Result,
    View,
    adopt,
    contiguous_strides,
    data_pointer,
    own_array,
    refuse,
    word_at,
)
from kc.runtime.errors import ArgumentError, ExecutionError, take_cause
from kc.runtime.library import last_error, library
from kc.runtime.signature import Signature
from kc.runtime.thread_device import default_device

if TYPE_CHECKING:
    from kc.runtime.program import Program

_MAX_LAYOUTS = 256


class Entry:
    """A callable entry point of a loaded program."""

    def __init__(self, program: Program, handle: int, function: int, signature: Signature) -> None:
        # A Program owns its entries; they must not own it back, or it would be freed only by the cycle collector.
        self.signature = signature
        self._handle = handle
        self._function = function
        self._on_gpu = program.target != CPU
        self._params_on = _weak_method(program, "params_on")
        self._invoke = library().kc_invoke
        self._inputs = signature.inputs
        self._numpy_types = tuple(_numpy_type(spec.dtype) for spec in self._inputs)
        self._input_slots = tuple(i for i, spec in enumerate(signature.args) if spec.param is None)
        self._device_slot = len(signature.args)
        host = program.param_pointers() if not self._on_gpu else []
        self._params = [(i, spec.param) for i, spec in enumerate(signature.args) if spec.param is not None]
        self._fixed = [(i, host[param]) for i, param in self._params] if host else []
        result_words = sum(2 if spec.scalar else 3 + 2 * len(spec.shape) for spec in signature.results)
        self._words_type = ctypes.c_int64 * (len(signature.args) + 2 + result_words)
        # Type, rank (-1: scalar), and shape where it is known before the call.
        self._result_plan = tuple(
            (spec.dtype, -1 if spec.scalar else len(spec.shape), spec.static_shape) for spec in signature.results
        )
        self._layouts: dict[tuple[tuple[int, ...], ...], Any] = {}
        self._param_shapes = {
            spec.param: tuple(program.manifest["params"][spec.param]["shape"])
            for spec in signature.args
            if spec.param is not None
        }

    @property
    def on_gpu(self) -> bool:
        """Whether the program is for a GPU."""
        return self._on_gpu

    def __call__(self, *arrays: object) -> tuple[Any, ...]:
        if len(arrays) != len(self._inputs):
            raise ArgumentError(f"{self.signature} takes {len(self._inputs)} argument(s), got {len(arrays)}")
        if self._on_gpu:
            return self._call_gpu(arrays)
        words = self._words_type()
        shapes = []
        keep = []
        kind: Kind = NUMPY
        for slot, array, dtype in zip(self._input_slots, arrays, self._numpy_types):  # noqa: B905 - checked above
            if type(array) is ndarray and array.dtype is dtype:
                flags = array.flags
                if flags.c_contiguous and flags.aligned:
                    words[slot] = word_at(id(array) + DATA_OFFSET).value if DATA_OFFSET else data_pointer(array)
                    shapes.append(array.shape)
                    continue
            view = self._adopt(array, len(shapes))
            if view.device_type != CPU:
                self._wrong_device(len(shapes), view)
            words[slot] = view.pointer
            shapes.append(view.shape)
            keep.append(view)
            kind = _joint(kind, view.kind)
        for slot, pointer in self._fixed:
            words[slot] = pointer
        key = tuple(shapes)
        if self._invoke(self._layouts.get(key) or self._layout(key), words):
            raise ExecutionError(last_error()) from take_cause()
        return self._results(words, kind, 0, 0)

    def _call_gpu(self, arrays: tuple[object, ...]) -> tuple[Any, ...]:
        from kc.runtime import cuda

        views = [self._adopt(array, index) for index, array in enumerate(arrays)]
        kind: Kind = NUMPY
        device = None
        for index, view in enumerate(views):
            kind = _joint(kind, view.kind)
            if view.device_type == CUDA:
                if device is not None and device != view.device:
                    refuse(
                        self._inputs[index], index,
                        f"got an array on GPU {view.device}, but the arguments before it are on GPU {device}",
                    )
                device = view.device
            elif view.kind is not NUMPY and not self._inputs[index].scalar:
                self._wrong_device(index, view)
        shapes = tuple(view.shape for view in views)
        layout = self._layouts.get(shapes) or self._layout(shapes)
        device = default_device() if device is None else device
        params = self._params_on()(device)
        joined = kind.stream(device) if kind is not NUMPY else None
        stream = cuda.own_stream(device) if joined is None else joined
        words = self._words_type()
        keep = []
        for index, (slot, view, spec) in enumerate(zip(self._input_slots, views, self._inputs, strict=True)):
            if view.device_type == CPU and not spec.scalar:
                buffer = cuda.Buffer(device, stream, view.pointer, _nbytes(view))
                keep.append(buffer)
                words[slot] = buffer.pointer
            elif view.device_type == CUDA and view.pointer % 16 and _nbytes(view):
                refuse(spec, index, "got a device array that does not start at a multiple of 16 bytes: copy it")
            else:
                words[slot] = view.pointer
        for slot, param in self._params:
            words[slot] = params[param]
        words[self._device_slot] = device
        words[self._device_slot + 1] = stream
        if self._invoke(layout, words):
            raise ExecutionError(last_error()) from take_cause()
        if joined is None and kind is not NUMPY:
            cuda.synchronize(device, stream)  # the caller's framework does not know this stream
        return self._results(words, kind, device, stream)

    def _adopt(self, array: object, index: int) -> View:
        spec = self._inputs[index]
        view = adopt(array, spec, index)
        if view.dtype is not spec.dtype:
            shape = ", ".join(map(str, view.shape))
            refuse(spec, index, f"got {view.dtype_text}[{shape}] (kc does not convert types on its own)")
        return view

    def _wrong_device(self, index: int, view: View) -> None:
        wanted, got = ("a GPU", "the CPU") if self._on_gpu else ("the CPU", f"GPU {view.device}")
        message = f"got an array on {got}, but this program runs on {wanted}; move the array first"
        refuse(self._inputs[index], index, message)

    def _layout(self, shapes: tuple[tuple[int, ...], ...]) -> Any:
        """The layout words of ``kc_invoke`` for input shapes that were not seen before, which are checked."""
        self.signature.check_shapes(shapes)
        words = [self._handle, self._function, len(self.signature.args), len(self.signature.results)]
        remaining = iter(shapes)
        for spec in self.signature.args:
            shape = next(remaining) if spec.param is None else self._param_shapes[spec.param]
            words += [-1] if spec.scalar else [len(shape), *shape, *contiguous_strides(shape)]
        for spec in self.signature.results:
            words += [-1 if spec.scalar else len(spec.shape), spec.dtype.itemsize]
        if len(self._layouts) >= _MAX_LAYOUTS:
            self._layouts.clear()
        layout = (ctypes.c_int64 * len(words))(*words)
        self._layouts[shapes] = layout
        return layout

    def _results(self, words: Any, kind: Kind, device: int, stream: int) -> tuple[Any, ...]:
        results: list[Any] = []
        at = self._device_slot + 2
        for dtype, rank, shape in self._result_plan:
            if rank < 0:
                raw = bytes(words)[8 * at : 8 * at + dtype.itemsize]
                results.append(np.frombuffer(raw, dtype.numpy)[0])
                at += 2
                continue
            base, pointer, row_major = words[at : at + 3]
            if shape is None:
                shape = tuple(words[at + 3 : at + 3 + rank])
            strides = None if row_major else tuple(words[at + 3 + rank : at + 3 + 2 * rank])
            at += 3 + 2 * rank
            if kind is NUMPY and not self._on_gpu:
                results.append(own_array(dtype, base, pointer, shape, strides))
            else:
                where = CUDA if self._on_gpu else CPU
                results.append(kind.wrap(Result(dtype, base, pointer, shape, strides, where, device, stream)))
        return tuple(results)


def _joint(kind: Kind, other: Kind) -> Kind:
    """The kind of the results: that of the first argument that is not NumPy's."""
    return other if kind is NUMPY else kind


def _nbytes(view: View) -> int:
    size = view.dtype.itemsize if view.dtype else 0
    for dim in view.shape:
        size *= dim
    return size


def _numpy_type(dtype: Any) -> Any:
    """The NumPy type that the fast path compares with; a value that no array has for types that need more than that."""
    if dtype.is_narrow:
        return None
    try:
        return dtype.numpy
    except ImportError:
        return None


def _weak_method(owner: Any, name: str) -> Any:
    import weakref

    return weakref.WeakMethod(getattr(owner, name))
