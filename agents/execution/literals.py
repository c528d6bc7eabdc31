"""NumPy arrays as MLIR's ``dense`` literals and back, of real element types that have a NumPy type."""
from __future__ import annotations

import re
from typing import Any

import numpy as np

from kc.agents.execution.signature import Kind, kind_of

_TOKEN = re.compile(r"0x[0-9A-Fa-f]+|[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|true|false")
_LITERAL = re.compile(r"^dense<(.*)> : (tensor<.*>)$", re.S)


def write(array: np.ndarray, kind: Kind) -> str:
    """``array`` as a literal of element type ``kind.element``."""
    shape = "".join(f"{extent}x" for extent in array.shape)
    suffix = f" : tensor<{shape}{kind.element}>"
    array = np.asarray(array, order="C").astype(kind.dtype)
    if array.size == 0:
        return f"dense<>{suffix}"
    if array.dtype == np.bool_:
        return f"dense<{str(array.tolist()).lower()}>{suffix}"
    if array.size > 1:
        return f'dense<"0x{array.tobytes().hex().upper()}">{suffix}'
    # a string of digits is a splat's only where it is as long as several elements: one element is told by its bits
    if array.dtype.kind in "iu" or kind.element in ("i4", "ui4"):
        return f"dense<{int(array.reshape(())[()])}>{suffix}"
    bits = int(array.reshape(1).view(f"u{array.itemsize}")[0])
    return f"dense<0x{bits:0{2 * array.itemsize}X}>{suffix}"


def read(text: str) -> np.ndarray:
    """The array that a printed literal is; raises ValueError when it is none."""
    match = _LITERAL.match(text.strip())
    if match is None:
        raise ValueError(f"not a literal: {text[:80]}")
    kind = kind_of(match[2])
    shape = tuple(int(d or 0) for d in kind.shape)
    body, count = match[1].strip(), int(np.prod(shape, dtype=np.int64))
    if body.startswith('"'):
        return np.frombuffer(bytes.fromhex(body[3:-1]), kind.dtype).reshape(shape).copy()
    values = np.array([_one(token, kind.dtype, kind.element) for token in _TOKEN.findall(body)], kind.dtype)
    if values.size != count:
        values = np.repeat(values, count)
    return values.reshape(shape)


def _one(token: str, dtype: np.dtype, element: str) -> Any:
    if token in ("true", "false"):
        return np.bool_(token == "true")
    integer = element.lstrip("su").startswith("i")
    if token.startswith("0x") and not integer:
        return np.array([int(token, 16)], f"u{dtype.itemsize}").view(dtype)[0]
    with np.errstate(all="ignore"):
        return np.array(int(token, 0) if integer else float(token)).astype(dtype)[()]
