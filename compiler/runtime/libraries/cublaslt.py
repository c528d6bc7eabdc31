"""Matrix products by NVIDIA's cuBLASLt, with bias and activation in its epilogue.

Constants and structures are those of ``cublasLt.h``, the same from CUDA 11 to 13. Looked for: what
``KC_CUBLASLT_LIBRARY`` names, the wheels ``nvidia-cublas`` and ``nvidia-cublas-cu12`` (which PyTorch brings), the CUDA
toolkit, the system.
"""

from __future__ import annotations

import ctypes
import dataclasses
import functools
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kc.runtime.errors import ExecutionError
from kc.runtime.libraries.find import library
from kc.runtime.libraries.gemm import Product
from kc.runtime.library import last_error
from kc.runtime.library import library as runtime

VARIABLE = "KC_CUBLASLT_LIBRARY"
_TYPES = {"float32": 0, "float64": 1, "float16": 2, "bfloat16": 14}  # cudaDataType_t
_F32, _F64, _TF32 = 68, 70, 77  # cublasComputeType_t
_TRANSA, _TRANSB, _EPILOGUE, _BIAS_POINTER, _BIAS_TYPE = 3, 4, 7, 8, 26  # cublasLtMatmulDescAttributes_t
_BATCH, _STEP = 5, 6  # cublasLtMatrixLayoutAttribute_t
_MOST_WORKSPACE, _ALIGNMENT_A = 1, 5  # cublasLtMatmulPreferenceAttributes_t: A, B, C, D follow each other
_EPILOGUES = {("none", False): 1, ("relu", False): 2, ("none", True): 4, ("relu", True): 6, ("gelu", False): 32,
              ("gelu", True): 36}  # fmt: skip
_WORKSPACE = 32 << 20
_MOST_ALIGNMENT = 256


class _Heuristic(ctypes.Structure):
    """``cublasLtMatmulHeuristicResult_t``."""

    _fields_ = [
        ("algorithm", ctypes.c_uint64 * 8),
        ("workspace", ctypes.c_size_t),
        ("state", ctypes.c_int),
        ("waves", ctypes.c_float),
        ("reserved", ctypes.c_int * 4),
    ]


def _lib() -> Any:
    return library("cublasLt", VARIABLE, "nvidia-cublas")


def implementation(name: str) -> Callable[..., None]:
    """The function of a custom call. Raises ``LoadError`` when cuBLASLt is not there."""
    _lib()
    return matmul


def matmul(inputs: Sequence[Any], outputs: Sequence[Any], attributes: Mapping[str, Any]) -> None:
    """a, b[, bias] -> epilogue(alpha * a b + bias); sums in f32 (f64 for f64); with ``compute = "tf32"`` products of
    f32 are of TF32."""
    out = outputs[0]
    product = Product.of([x.shape for x in inputs], out.shape, attributes)
    if 0 in out.shape:
        return
    kinds = tuple(x.dtype.numpy.name for x in (*inputs, out))
    alignments = tuple(_alignment(x.pointer) for x in (*inputs[:2], out))
    compute = str(attributes.get("compute", "f32"))
    pointers = [x.pointer for x in inputs]
    if product.k:
        plan = _plan(out.device, product, kinds, alignments, compute)
        plan.run(product, pointers, out.pointer, out.stream)
        return
    # the library takes no empty sums: one of a zero is the same
    one = dataclasses.replace(product, k=1, step_a=0, step_b=0)
    zeros = (ctypes.c_char * (max(product.m, product.n) * out.dtype.itemsize))()
    memory = runtime().kc_gpu_alloc(out.device, out.stream, len(zeros)) or 0
    if not memory or runtime().kc_gpu_copy(out.device, out.stream, memory, ctypes.addressof(zeros), len(zeros), 0):
        raise ExecutionError(last_error())
    try:
        plan = _plan(out.device, one, kinds, (_MOST_ALIGNMENT, _MOST_ALIGNMENT, alignments[2]), compute)
        plan.run(one, [memory, memory, *pointers[2:]], out.pointer, out.stream)
    finally:
        runtime().kc_gpu_free(out.device, out.stream, memory)


def _alignment(address: int) -> int:
    return min(address & -address, _MOST_ALIGNMENT) if address else _MOST_ALIGNMENT


def _call(name: str, *arguments: Any) -> None:
    status = getattr(_lib(), name)(*arguments)
    if status:
        raise ExecutionError(f"{name} failed: status {status}")


def _set(function: str, handle: ctypes.c_void_p, attribute: int, value: Any) -> None:
    _call(function, handle, attribute, ctypes.byref(value), ctypes.sizeof(value))


@functools.cache
def _handle(device: int) -> ctypes.c_void_p:
    """The library's handle of a device; made while its context is current, as it is during a call."""
    made = ctypes.c_void_p()
    _call("cublasLtCreate", ctypes.byref(made))
    return made


@functools.lru_cache(maxsize=256)
def _plan(device: int, product: Product, kinds: tuple[str, ...], alignments: tuple[int, ...], compute: str) -> _Plan:
    return _Plan.make(device, product, kinds, alignments, compute)


@dataclasses.dataclass
class _Plan:
    """One product set up: the algorithm that the library's heuristic names first."""

    device: int
    description: ctypes.c_void_p
    layouts: tuple[ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
    chosen: _Heuristic
    scale: Any
    lock: Any = dataclasses.field(default_factory=threading.Lock)

    @classmethod
    def make(
        cls, device: int, product: Product, kinds: tuple[str, ...], alignments: tuple[int, ...], compute: str
    ) -> _Plan:
        """Row-major matrices are the transposed column-major ones: the product is b^T a^T."""
        for kind in kinds:
            if kind not in _TYPES:
                raise ValueError(f"cuBLASLt multiplies f32, f64, bf16 and f16 here, not {kind}")
        wide = kinds[-1] == "float64"
        if compute not in ("f32", "tf32"):
            raise ValueError(f"compute is f32 or tf32, not '{compute}'")
        scale: Any = ctypes.c_double if wide else ctypes.c_float
        computed = _F64 if wide else _TF32 if compute == "tf32" else _F32
        description = ctypes.c_void_p()
        _call("cublasLtMatmulDescCreate", ctypes.byref(description), computed, _TYPES["float64" if wide else "float32"])
        attribute = "cublasLtMatmulDescSetAttribute"
        _set(attribute, description, _TRANSA, ctypes.c_int32(product.transpose_b))
        _set(attribute, description, _TRANSB, ctypes.c_int32(product.transpose_a))
        _set(attribute, description, _EPILOGUE, ctypes.c_int32(_EPILOGUES[product.epilogue, product.bias]))
        if product.bias:
            _set(attribute, description, _BIAS_TYPE, ctypes.c_int32(_TYPES[kinds[2]]))
        m, n, k = product.m, product.n, product.k
        first = (k, n) if product.transpose_b else (n, k)  # rows and columns of b as column-major
        second = (m, k) if product.transpose_a else (k, m)
        layouts = (
            _layout(kinds[1], *first, product.batch, product.step_b),
            _layout(kinds[0], *second, product.batch, product.step_a),
            _layout(kinds[-1], n, m, product.batch, m * n),
        )
        preference = ctypes.c_void_p()
        _call("cublasLtMatmulPreferenceCreate", ctypes.byref(preference))
        attribute = "cublasLtMatmulPreferenceSetAttribute"
        _set(attribute, preference, _MOST_WORKSPACE, ctypes.c_size_t(_WORKSPACE))
        for number, alignment in enumerate((alignments[1], alignments[0], alignments[2], alignments[2])):
            _set(attribute, preference, _ALIGNMENT_A + number, ctypes.c_uint32(alignment))
        chosen, count = _Heuristic(), ctypes.c_int(0)
        status = _lib().cublasLtMatmulAlgoGetHeuristic(
            _handle(device), description, layouts[0], layouts[1], layouts[2], layouts[2], preference, 1,
            ctypes.byref(chosen), ctypes.byref(count),
        )  # fmt: skip
        _call("cublasLtMatmulPreferenceDestroy", preference)
        if status or not count.value:
            raise ExecutionError(f"cuBLASLt has no algorithm for {product} of {', '.join(kinds)} (status {status})")
        return cls(device, description, layouts, chosen, scale)

    def run(self, product: Product, inputs: Sequence[int], out: int, stream: int) -> None:
        """Put the product on ``stream``."""
        workspace = 0
        if self.chosen.workspace:
            workspace = runtime().kc_gpu_alloc(self.device, stream, self.chosen.workspace) or 0
            if not workspace:
                raise ExecutionError(last_error())
        alpha, beta = self.scale(product.alpha), self.scale(0)
        try:
            with self.lock:  # the description holds the bias's address
                if product.bias:
                    _set("cublasLtMatmulDescSetAttribute", self.description, _BIAS_POINTER, ctypes.c_void_p(inputs[2]))
                _call(
                    "cublasLtMatmul", _handle(self.device), self.description, ctypes.byref(alpha),
                    ctypes.c_void_p(inputs[1]), self.layouts[0], ctypes.c_void_p(inputs[0]), self.layouts[1],
                    ctypes.byref(beta), ctypes.c_void_p(out), self.layouts[2], ctypes.c_void_p(out), self.layouts[2],
                    ctypes.byref(self.chosen), ctypes.c_void_p(workspace), ctypes.c_size_t(self.chosen.workspace),
                    ctypes.c_void_p(stream),
                )  # fmt: skip
        finally:
            if workspace:
                runtime().kc_gpu_free(self.device, stream, workspace)


def _layout(kind: str, rows: int, columns: int, batch: int, step: int) -> ctypes.c_void_p:
    made = ctypes.c_void_p()
    create = _lib().cublasLtMatrixLayoutCreate
    sizes = (ctypes.c_uint64(rows), ctypes.c_uint64(columns), ctypes.c_int64(rows))
    if status := create(ctypes.byref(made), _TYPES[kind], *sizes):
        raise ExecutionError(f"cublasLtMatrixLayoutCreate failed: status {status}")
    if batch > 1:
        _set("cublasLtMatrixLayoutSetAttribute", made, _BATCH, ctypes.c_int32(batch))
        _set("cublasLtMatrixLayoutSetAttribute", made, _STEP, ctypes.c_int64(step))
    return made
