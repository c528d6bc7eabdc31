"""Matrix products of f32 by oneDNN: ``dnnl_sgemm`` of its C interface.

Looked for: what ``KC_ONEDNN_LIBRARY`` names, the wheels ``onednn-cpu-gomp`` and ``onednn`` (which put it under
``lib``), the system's. PyTorch holds a oneDNN, but keeps its functions to itself.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import functools
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from kc.runtime.errors import ExecutionError
from kc.runtime.libraries.gemm import Product, finish

VARIABLE = "KC_ONEDNN_LIBRARY"


@functools.cache
def _library() -> Any:
    given = os.environ.get(VARIABLE)
    folder = Path(sys.prefix, "lib")
    places = [given] if given else [*map(str, sorted(folder.glob("libdnnl.so*"))), ctypes.util.find_library("dnnl")]
    problems = []
    for place in filter(None, places):
        try:
            loaded = ctypes.CDLL(place)
            loaded.dnnl_sgemm.restype = ctypes.c_int
            return loaded
        except (OSError, AttributeError) as error:
            problems.append(str(error))
    told = f" ({'; '.join(problems)})" if problems else ""
    raise ExecutionError(f"oneDNN was not found{told}: pip install onednn-cpu-gomp, or set {VARIABLE}")


def implementation(name: str) -> Callable[..., None]:
    """The function of a custom call. Raises ``ExecutionError`` when oneDNN is not there."""
    _library()
    return gemm


def gemm(inputs: Sequence[Any], outputs: Sequence[Any], attributes: Mapping[str, Any]) -> None:
    """a, b[, bias] -> epilogue(alpha * a b + bias), of f32."""
    a, b, out = inputs[0], inputs[1], outputs[0]
    product = Product.of([x.shape for x in inputs], out.shape, attributes)
    if any(x.dtype.name != "float32" for x in (a, b, out)):
        raise ValueError(f"oneDNN's gemm multiplies f32, not {a.dtype} by {b.dtype}")
    if out.size and product.k == 0:
        out[...] = 0
    elif out.size:
        for number in range(product.batch):
            status = _library().dnnl_sgemm(
                ctypes.c_char(b"T" if product.transpose_a else b"N"),
                ctypes.c_char(b"T" if product.transpose_b else b"N"),
                *(ctypes.c_int64(n) for n in (product.m, product.n, product.k)),
                ctypes.c_float(product.alpha),
                ctypes.c_void_p(a.ctypes.data + number * product.step_a * 4),
                ctypes.c_int64(product.m if product.transpose_a else product.k),
                ctypes.c_void_p(b.ctypes.data + number * product.step_b * 4),
                ctypes.c_int64(product.k if product.transpose_b else product.n),
                ctypes.c_float(0.0),
                ctypes.c_void_p(out.ctypes.data + number * product.m * product.n * 4),
                ctypes.c_int64(product.n),
            )
            if status:
                raise ExecutionError(f"dnnl_sgemm failed: status {status}")
    finish(out, product, inputs[2] if product.bias else None)
