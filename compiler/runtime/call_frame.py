"""Custom calls of a loaded program: from the words that its code passes to arrays, and to what is registered.

An entry of the manifest's ``custom_calls``: ``target``, ``operands`` and ``results`` (each ``dtype``, ``layout``: the
dimensions from the fastest to the slowest, ``word``: where its address stands in the words; sizes in memory follow),
``attributes`` (a dictionary, or a text) and ``place`` in the source.
"""
from __future__ import annotations

import ctypes
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kc.runtime import custom_calls, dtypes
from kc.runtime.custom_calls import Implementation
from kc.runtime.errors import LoadError, keep_cause
from kc.runtime.library import last_error, library

_Callback = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.POINTER(ctypes.c_int64), ctypes.c_int32, ctypes.c_void_p)


class Buffer:
    """An operand or result, as the manifest describes it."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.dtype = dtypes.by_name(data["dtype"])
        self.layout = tuple(data["layout"])
        self.word = int(data["word"])
        rank = len(self.layout)
        # dimension d of the array is dimension axes[d] in memory
        self.axes = tuple(rank - 1 - self.layout.index(d) for d in range(rank))

    @property
    def meta(self) -> list[int]:
        """What ``kc_program_add_call`` wants to know."""
        return [self.word, self.dtype.code, self.dtype.bits, len(self.layout), *self.layout]

    def sizes(self, words: Any) -> tuple[int, ...]:
        """Sizes as they are in memory, slowest dimension first."""
        return tuple(words[self.word + 1 + d] for d in range(len(self.layout)))

    def nbytes(self, words: Any) -> int:
        return math.prod(self.sizes(words)) * self.dtype.itemsize

    def array(self, words: Any, address: int, writable: bool) -> np.ndarray[Any, Any]:
        """The NumPy array over memory at ``address``, its dimensions in the program's order."""
        sizes = self.sizes(words)
        count = math.prod(sizes) * self.dtype.itemsize
        if count:
            memory = memoryview((ctypes.c_char * count).from_address(address)).cast("B")
            flat = np.frombuffer(memory, self.dtype.numpy)
        else:
            flat = np.empty(0, self.dtype.numpy)
        array = flat.reshape(sizes).transpose(self.axes)
        array.flags.writeable = writable
        return array


class DeviceView:
    """An array of a custom call in GPU memory, valid during the call."""

    def __init__(self, buffer: Buffer, words: Any, writable: bool, device: int, stream: int) -> None:
        sizes = buffer.sizes(words)
        steps = [buffer.dtype.itemsize * math.prod(sizes[d + 1 :]) for d in range(len(sizes))]
        self.pointer: int = words[buffer.word]
        self.dtype, self.device, self.stream, self.writable = buffer.dtype, device, stream, writable
        self.shape = tuple(sizes[d] for d in buffer.axes)
        self.strides = tuple(steps[d] for d in buffer.axes)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """Version 3 of the protocol. Types that NumPy does not have go as raw bytes of their size."""
        kind = self.dtype.numpy
        text = kind.str if kind.isbuiltin == 1 else f"|V{self.dtype.itemsize}"
        return {
            "shape": self.shape,
            "typestr": text,
            "data": (self.pointer if math.prod(self.shape) else 0, not self.writable),
            "strides": self.strides,
            "version": 3,
            "stream": self.stream or 1,
        }


class Binding:
    """One custom call of a program and the function that it goes to."""

    def __init__(self, data: Mapping[str, Any], platform: str) -> None:
        self.target = str(data["target"])
        self.place = data.get("place", "")
        self.where = f"custom call '{self.target}'" + (f" at {self.place}" if self.place else "")
        self.operands = [Buffer(b) for b in data["operands"]]
        self.results = [Buffer(b) for b in data["results"]]
        given = data.get("attributes", {})
        self.attributes = dict(given) if isinstance(given, Mapping) else {"backend_config": given}
        self.text = json.dumps(given) if isinstance(given, Mapping) else str(given)
        found = custom_calls.find(self.target, platform)
        if found is None:
            similar = custom_calls.near(self.target, platform)
            hint = f"; did you mean {' or '.join(repr(n) for n in similar)}?" if similar else ""
            raise LoadError(
                f"{self.where}: no function of this name is registered for {platform} "
                f"(kc.runtime.custom_calls.register){hint}"
            )
        self.implementation: Implementation = found
        self.on_host = platform != "cpu" and found.platform == "cpu"
        if self.on_host and found.function is None:
            raise LoadError(
                f"{self.where}: there is a C function for the CPU only, which is not called with copies of GPU memory; "
                "register one for nvptx, or a Python function"
            )
        self.callback = _Callback(self._run)

    def add_to(self, program: int) -> None:
        """Tell the C++ runtime of it; calls are numbered in the order in which they are added."""
        buffers = [word for b in (*self.operands, *self.results) for word in b.meta]
        found = self.implementation
        direct = found.address and not self.on_host
        library().kc_program_add_call(
            program,
            self.target.encode(),
            found.abi if direct else custom_calls.WORDS,
            found.address if direct else ctypes.cast(self.callback, ctypes.c_void_p),
            self.text.encode(),
            len(self.text.encode()),
            len(self.operands),
            len(self.results),
            (ctypes.c_int64 * max(1, len(buffers)))(*buffers),
        )

    def _run(self, words: Any, device: int, stream: int | None) -> int:
        """What the C++ runtime calls."""
        try:
            if self.on_host:
                self._run_on_host(words, device, stream or 0)
            elif self.implementation.platform == "cpu":
                arrays = [b.array(words, words[b.word], False) for b in self.operands]
                self._call(arrays, [b.array(words, words[b.word], True) for b in self.results])
            else:
                views = [DeviceView(b, words, False, device, stream or 0) for b in self.operands]
                self._call(views, [DeviceView(b, words, True, device, stream or 0) for b in self.results])
        except BaseException as error:  # nothing may pass through C; kept for the caller
            keep_cause(error)
            library().kc_fail(f"{self.where}: {type(error).__name__}: {error}".encode())
            return 1
        return 0

    def _call(self, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
        function = self.implementation.function
        if function is None:
            raise AssertionError("C functions are called without the trampoline")
        function(inputs, outputs, self.attributes)

    def _run_on_host(self, words: Any, device: int, stream: int) -> None:
        """Copies the operands (and results that are aliased to them) down, calls, copies the results up."""
        lib = library()
        memory = {}
        for buffer in (*self.operands, *self.results):
            if buffer.word not in memory:
                memory[buffer.word] = np.empty(max(1, buffer.nbytes(words)), np.uint8)
        for buffer in self.operands:
            held = memory[buffer.word]
            if lib.kc_gpu_copy(device, stream, held.ctypes.data, words[buffer.word], buffer.nbytes(words), 1):
                raise RuntimeError(last_error())
        inputs = [b.array(words, memory[b.word].ctypes.data, False) for b in self.operands]
        self._call(inputs, [b.array(words, memory[b.word].ctypes.data, True) for b in self.results])
        for buffer in self.results:
            held = memory[buffer.word]
            if lib.kc_gpu_copy(device, stream, words[buffer.word], held.ctypes.data, buffer.nbytes(words), 0):
                raise RuntimeError(last_error())
        if lib.kc_gpu_synchronize(device, stream):  # the copies read memory that goes with this frame
            raise RuntimeError(last_error())
