"""cuSOLVER and cuBLAS by ctypes: functions, and handles that go from call to call.

Signatures are those of ``cusolverDn.h`` and ``cublas_v2.h``, the same from CUDA 11 to 13. cuBLAS's functions are looked
up through cuSOLVER, which is linked with it.
"""
from __future__ import annotations

import contextlib
import ctypes
import functools
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kc.runtime.cusolver import find
from kc.runtime.errors import ExecutionError, LoadError
from kc.runtime.library import last_error, library

ON_DEVICE = 2  # kind of kc_gpu_copy

# Arguments after the handle: p a pointer, i an int, l a long, b a char.
_SOLVER = {
    "getrf_bufferSize": "iipip",  # m n A lda size
    "getrf": "iipippp",  # m n A lda work pivots info
    "geqrf_bufferSize": "iipip",  # m n A lda size
    "geqrf": "iipippip",  # m n A lda tau work size info
    "orgqr_bufferSize": "iiipipp",  # m n k A lda tau size
    "orgqr": "iiipippip",  # m n k A lda tau work size info
    "syevd_bufferSize": "iiipipp",  # job uplo n A lda W size
    "syevd": "iiipippip",  # job uplo n A lda W work size info
    "syevjBatched_bufferSize": "iiipipppi",  # job uplo n A lda W size parameters count
    "syevjBatched": "iiipippippi",  # job uplo n A lda W work size info parameters count
    "gesvd_bufferSize": "iip",  # m n size
    "gesvd": "bbiipippipipipp",  # jobU jobV m n A lda S U ldu VT ldvt work size rwork info
    "gesvdjBatched_bufferSize": "iiipippipippi",  # job m n A lda S U ldu V ldv size parameters count
    "gesvdjBatched": "iiipippipipippi",  # job m n A lda S U ldu V ldv work size info parameters count
}
_BLAS = {
    "geam": "iiiippippipi",  # opA opB m n alpha A lda beta B ldb C ldc
    "getrfBatched": "ipippi",  # n A[] lda pivots info count
    "geqrfBatched": "iipippi",  # m n A[] lda tau[] info (host) count
    "asum_v2": "ipip",  # n x step result (host); without _v2 another function, of the time before handles
    "gemmStridedBatched": "iiiiippilpilppili",  # opA opB m n k alpha A lda step B ldb step beta C ldc step count
}
_COMPLEX_NAMES = {"orgqr": "ungqr", "syevd": "heevd", "syevjBatched": "heevjBatched"}
_STATUS = {
    1: "not initialised", 2: "no memory", 3: "invalid value", 4: "not for this GPU", 6: "execution failed",
    7: "internal error", 8: "matrix type not supported", 13: "execution failed", 14: "internal error",
}  # fmt: skip
_TYPES = {"p": ctypes.c_void_p, "i": ctypes.c_int, "l": ctypes.c_longlong, "b": ctypes.c_byte}


@functools.cache
def load() -> Any:
    """The library; None when none is found. Raises ``LoadError`` when the one that the user names does not load."""
    where = find.path()
    if where is None:
        return None
    try:
        return _open(where)
    except OSError as error:
        if find.named():
            raise LoadError(f"{find.VARIABLE}: {error}") from None
        return None


def _open(where: str) -> Any:
    try:
        return ctypes.CDLL(where)
    except OSError:
        # wheels of CUDA 12 lie in a folder each; what cuSOLVER needs may not be on the search path
        for package in ("nvjitlink", "cublas", "cusparse"):
            for file in sorted(Path(where).parents[2].glob(f"{package}/lib/lib*.so.[0-9]*")):
                with contextlib.suppress(OSError):
                    ctypes.CDLL(str(file), mode=ctypes.RTLD_GLOBAL)
        return ctypes.CDLL(where)


def _require(status: int, name: str) -> None:
    if status:
        raise ExecutionError(f"{name} failed: {_STATUS.get(status, 'status')} ({status})")


@functools.cache
def _function(name: str, arguments: str) -> Any:
    try:
        function = getattr(load(), name)
    except AttributeError:
        raise ExecutionError(f"{find.path()} has no function {name}") from None
    function.restype = ctypes.c_int
    function.argtypes = [_TYPES[letter] for letter in arguments]
    return function


def _create(name: str) -> int:
    made = ctypes.c_void_p()
    _require(_function(name, "p")(ctypes.addressof(made)), name)
    return made.value or 0


class Handles:
    """What the libraries need for one device and stream. Made while the device's context is current."""

    def __init__(self, stream: int) -> None:
        self.solver = _create("cusolverDnCreate")
        self.blas = _create("cublasCreate_v2")
        self.svd_options = _create("cusolverDnCreateGesvdjInfo")
        self.eigen_options = _create("cusolverDnCreateSyevjInfo")
        _require(_function("cusolverDnSetStream", "pp")(self.solver, stream), "cusolverDnSetStream")
        _require(_function("cublasSetStream_v2", "pp")(self.blas, stream), "cublasSetStream")


# Handles keep memory that work in flight uses, so each belongs to one stream; the libraries allow one thread at a time.
_idle: dict[tuple[int, int], list[Handles]] = {}
_lock = threading.Lock()


class Session:
    """One custom call: functions of the libraries on its stream, and memory until its end."""

    def __init__(self, handles: Handles, device: int, stream: int) -> None:
        self.handles, self.device, self.stream = handles, device, stream
        self._memory: list[int] = []

    def solve(self, letter: str, name: str, *arguments: int) -> None:
        """``cusolverDn<letter><name>`` with the arguments after the handle."""
        base, _, rest = name.partition("_")
        if letter in "cz":
            base = _COMPLEX_NAMES.get(base, base)
        symbol = f"cusolverDn{letter.upper()}{base}" + (f"_{rest}" if rest else "")
        _require(_function(symbol, "p" + _SOLVER[name])(self.handles.solver, *arguments), symbol)

    def workspace(self, letter: str, name: str, *arguments: int | None) -> tuple[int, int]:
        """Memory for a function, and its size in elements. ``arguments`` are those of its ``_bufferSize``, with None
        for the address that the size goes to."""
        size = ctypes.c_int(0)
        given = [ctypes.addressof(size) if argument is None else argument for argument in arguments]
        self.solve(letter, f"{name}_bufferSize", *given)
        return self.memory(max(1, size.value) * ITEM[letter]), size.value

    def blas(self, letter: str, name: str, *arguments: int) -> None:
        """``cublas<letter><name>`` with the arguments after the handle."""
        symbol = f"cublas{letter.upper()}{name}"
        _require(_function(symbol, "p" + _BLAS[name])(self.handles.blas, *arguments), symbol)

    def memory(self, nbytes: int) -> int:
        """Device memory until the end of the call."""
        pointer: int = library().kc_gpu_alloc(self.device, self.stream, nbytes) or 0
        if not pointer:
            raise ExecutionError(last_error())
        self._memory.append(pointer)
        return pointer

    def copy(self, to: int, source: int, nbytes: int, kind: int = ON_DEVICE) -> None:
        """A copy on the stream; one to the host waits for it."""
        if nbytes and library().kc_gpu_copy(self.device, self.stream, to, source, nbytes, kind):
            raise ExecutionError(last_error())

    def release(self) -> None:
        """Frees the memory, after the work that is queued."""
        for pointer in self._memory:
            library().kc_gpu_free(self.device, self.stream, pointer)


#: bytes of an element
ITEM = {"s": 4, "d": 8, "c": 8, "z": 16}


@contextlib.contextmanager
def session(device: int, stream: int) -> Iterator[Session]:
    """A session of the calling thread. Handles of one that failed are not used again."""
    key = (device, stream)
    with _lock:
        idle = _idle.setdefault(key, [])
        handles = idle.pop() if idle else None
    made = Session(handles or Handles(stream), device, stream)
    try:
        yield made
    finally:
        made.release()
    with _lock:
        idle.append(made.handles)
