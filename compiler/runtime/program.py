"""Programs: a manifest plus files, loaded and callable."""
from __future__ import annotations

import ctypes
import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kc.runtime import cpu
from kc.runtime.call import Entry
from kc.runtime.errors import ArgumentError, LoadError
from kc.runtime.library import last_error, library
from kc.runtime.signature import Signature, read_entry

if TYPE_CHECKING:
    from kc.runtime.call_frame import Binding

VERSION = 1
"""Version of the manifest that this runtime reads."""


def as_bytes(data: object) -> memoryview:
    """The bytes of a file's contents (bytes, any buffer, a NumPy array of any type) without a copy if contiguous."""
    if isinstance(data, np.ndarray):
        return np.ascontiguousarray(data).reshape(-1).view(np.uint8).data
    return memoryview(data).cast("B")  # type: ignore[arg-type]


class Program:
    """A compiled program, loaded.

    ``program(*arrays)`` calls the default entry point and gives a tuple of arrays of the caller's kind;
    ``program.run(name, *arrays)`` calls another one. Calls may come from several threads at once.

    Raises ``ArgumentError`` for arguments that do not fit, ``ExecutionError`` when the program fails.
    """

    def __init__(self, manifest: Mapping[str, Any], files: Mapping[str, object]) -> None:
        if manifest.get("version") != VERSION:
            raise LoadError(
                f"the program has manifest version {manifest.get('version')!r}; this runtime reads version {VERSION}"
            )
        self.manifest = manifest
        self.files = files
        self.target: str = manifest.get("target", "cpu")
        if self.target not in ("cpu", "nvptx"):
            raise LoadError(f"the program is for target {self.target!r}; this runtime knows 'cpu' and 'nvptx'")
        cpu.check_runs_here(manifest.get("triple", ""), _features(manifest.get("features", "")))
        self._params = [self._param(index, data) for index, data in enumerate(manifest.get("params", ()))]
        self._signatures = {
            name: read_entry(name, data, len(self._params)) for name, data in manifest.get("entries", {}).items()
        }
        if not self._signatures:
            raise LoadError("the program has no entry points")
        self._lib = library()
        self._lock = threading.Lock()
        self._device_params: dict[int, list[int]] = {}
        self._device_buffers: list[object] = []
        self._handle = self._load_objects()
        try:
            self._calls = self._bind_calls()
            self._load_kernels()
            self._entries = {name: self._entry(signature) for name, signature in self._signatures.items()}
        except BaseException:
            self._lib.kc_program_unload(self._handle)
            self._handle = 0
            raise
        self._default = self._entries.get(manifest.get("entry", "main"))
        if self._default is None and len(self._entries) == 1:
            (self._default,) = self._entries.values()

    @classmethod
    def from_manifest(cls, manifest: Mapping[str, Any], files: Mapping[str, object]) -> Program:
        """A program from its manifest and files (name → bytes, buffer or NumPy array). Buffers of parameters are used
        in place: they must not change while the program lives.

        Raises ``LoadError`` when something is missing, malformed, or cannot run on this machine.
        """
        return cls(manifest, files)

    @property
    def entries(self) -> tuple[str, ...]:
        """Names of the entry points."""
        return tuple(self._signatures)

    def signature(self, entry: str | None = None) -> Signature:
        """The signature of an entry point (of the default one without a name)."""
        return self._find(entry).signature

    def __call__(self, *arrays: object) -> tuple[Any, ...]:
        return (self._default or self._find(None))(*arrays)

    def run(self, entry: str, *arrays: object) -> tuple[Any, ...]:
        """Calls the entry point of that name."""
        return self._find(entry)(*arrays)

    def run_parallel(self, arguments: Sequence[Sequence[object]], **options: Any) -> list[tuple[Any, ...]]:
        """Runs the program as several processes that work together, one per element of ``arguments`` (the arrays of
        that process); gives the results of each. For the options and errors see ``kc.runtime.run_parallel``, of which
        ``entry`` is here the name of the entry point for all processes, or a sequence with one for each.
        """
        from kc.runtime.parallel import run_program

        return run_program(self, arguments, **options)

    def prepare(self, device: int = 0) -> None:
        """Loads a GPU program's kernels and parameters on a device now and not at the first call.

        Raises ``LoadError`` when the GPU is another one than the program is made for, or the driver refuses (with the
        log of its assembler), ``DeviceError`` when there is no GPU.
        """
        if self.target != "cpu":
            self.params_on(device)

    def __repr__(self) -> str:
        return f"<kc program for {self.target}: {'; '.join(map(str, self._signatures.values()))}>"

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            self._lib.kc_program_unload(self._handle)

    def param_pointers(self) -> list[int]:
        """Addresses of the parameters in host memory."""
        return [_address(view) for view in self._params]

    def params_on(self, device: int) -> list[int]:
        """Addresses of the parameters on a device. The first use there loads the kernels and uploads the parameters."""
        found = self._device_params.get(device)
        if found is not None:
            return found
        from kc.runtime import cuda

        with self._lock:
            if device not in self._device_params:
                cuda.check_chip(self.manifest.get("chip", ""), device)
                if self._lib.kc_program_prepare(self._handle, device):
                    raise LoadError(last_error())
                stream = cuda.own_stream(device)
                buffers = [cuda.Buffer(device, stream, _address(view), view.nbytes) for view in self._params]
                if buffers:
                    cuda.synchronize(device, stream)
                self._device_buffers += buffers
                self._device_params[device] = [buffer.pointer for buffer in buffers]
            return self._device_params[device]

    def _find(self, entry: str | None) -> Entry:
        found = self._default if entry is None else self._entries.get(entry)
        if found is None:
            raise ArgumentError(f"there is no entry {entry or 'main'!r}; this program has {', '.join(self.entries)}")
        return found

    def _file(self, name: str) -> memoryview:
        try:
            return as_bytes(self.files[name])
        except KeyError:
            raise LoadError(f"the program's file {name!r} is missing") from None

    def _param(self, index: int, data: Mapping[str, Any]) -> memoryview:
        from kc.runtime import dtypes

        view = self._file(data["file"])
        expected = dtypes.by_name(data["dtype"]).itemsize
        for size in data["shape"]:
            expected *= size
        if view.nbytes != expected:
            raise LoadError(f"parameter {index} ({data['file']}) has {view.nbytes} bytes, expected {expected}")
        return view

    def _load_objects(self) -> int:
        names = list(self.manifest.get("objects", ()))
        views = [self._file(name) for name in names]
        count = len(names)
        handle = self._lib.kc_program_load(
            (ctypes.c_void_p * count)(*map(_address, views)),
            (ctypes.c_int64 * count)(*(view.nbytes for view in views)),
            (ctypes.c_char_p * count)(*(name.encode() for name in names)),
            count,
            self.target != "cpu",
        )
        if not handle:
            raise LoadError(last_error())
        return int(handle)

    def _bind_calls(self) -> list[Binding]:
        """The custom calls' functions, which must live as long as the program."""
        found = self.manifest.get("custom_calls", ())
        if not found:
            return []
        from kc.runtime.call_frame import Binding

        bindings = [Binding(data, self.target) for data in found]
        for binding in bindings:
            binding.add_to(self._handle)
        return bindings

    def _load_kernels(self) -> None:
        modules: dict[str, int] = {}
        for kernel in self.manifest.get("kernels", ()):
            name = kernel["module"]
            if name not in modules:
                view = self._file(name)
                add = self._lib.kc_program_add_module
                modules[name] = add(self._handle, name.encode(), _address(view), view.nbytes)
            if self._lib.kc_program_add_kernel(self._handle, kernel["name"].encode(), modules[name]) < 0:
                raise LoadError(last_error())

    def _entry(self, signature: Signature) -> Entry:
        function = self._lib.kc_program_symbol(self._handle, signature.symbol.encode())
        if not function:
            raise LoadError(f"the program's objects do not define '{signature.symbol}' (entry '{signature.name}')")
        return Entry(self, self._handle, function, signature)


def _features(value: object) -> str:
    return value if isinstance(value, str) else ",".join(value)  # type: ignore[arg-type]


def _address(view: memoryview) -> int:
    if view.nbytes == 0:
        return 0
    return int(np.frombuffer(view, np.uint8).__array_interface__["data"][0])
