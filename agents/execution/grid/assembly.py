"""Instructions of PTX that code takes as inline assembly; and LLVM's structs."""
from __future__ import annotations

import re
from typing import Any

import ml_dtypes
import numpy as np

from kc.agents.execution.errors import ExecutionError
from kc.agents.execution.grid.nodes import Node
from kc.agents.execution.grid.pending import look
from kc.agents.execution.grid.registry import op
from kc.agents.execution.grid.scalars import SCALARS, fma
from kc.agents.execution.grid.warp import Warp
from kc.agents.execution.grid.warpgroups import assembly

Array = np.ndarray


@op("llvm.extractvalue")
def _extractvalue(warp: Warp, node: Node, values: list[Any], mask: Array) -> Any:
    value = values[0]
    for place in node.attributes["position"]:
        value = value[place]
    return value


@op("llvm.insertvalue")
def _insertvalue(warp: Warp, node: Node, values: list[Any], mask: Array) -> Any:
    def put(into: Any, position: list[int]) -> Any:
        if not position:
            return values[1]
        return tuple(put(v, position[1:]) if i == position[0] else v for i, v in enumerate(into))

    return put(values[0], list(node.attributes["position"]))


def _flush(value: Array) -> Array:
    """Denormal f32 numbers as 0 (``.ftz``)."""
    return np.where(np.abs(value) < np.finfo(np.float32).tiny, np.copysign(0, value), value).astype(value.dtype)


_ASM = {
    "ex2.approx": "math.exp2", "lg2.approx": "math.log2", "sqrt.approx": "math.sqrt", "sqrt.rn": "math.sqrt",
    "rsqrt.approx": "math.rsqrt", "sin.approx": "math.sin", "cos.approx": "math.cos", "tanh.approx": "math.tanh",
    "abs": "math.absf", "neg": "arith.negf", "max": "arith.maxnumf", "min": "arith.minnumf",
    "max.NaN": "arith.maximumf", "min.NaN": "arith.minimumf", "add.rn": "arith.addf", "mul.rn": "arith.mulf",
    "div.rn": "arith.divf", "div.full": "arith.divf", "div.approx": "arith.divf",
}
_LINE = re.compile(r"^([a-z0-9]+(?:\.(?:approx|rn|full|NaN))?)(\.ftz)?\.(f16|bf16|f32|f64) (\$\d(?:, \$\d)*);$")


def _tied(node: Node, values: list[Any]) -> Any:
    """No instruction: values that cannot move across this point (``kc.builder.gpu.pin``)."""
    parts = node.attributes["constraints"].split(",")
    count = len(values)
    if len(parts) != 2 * count or parts[count:] != [str(number) for number in range(count)]:
        raise ExecutionError("unsupported", f"the empty assembly at {node.place} with constraints "
                             f"{node.attributes['constraints'][:60]}", node.name)
    made = tuple(value.copy() for value in values)
    return made if node.types[0].form == "struct" else made[0]


_CVT = re.compile(r"^cvt\.rn\.(bf16|f16)(x2)?\.f32 (\$\d(?:, \$\d)*);$")


def _narrowed(text: str, values: list[Any]) -> Array | None:
    """f32 rounded to a 16-bit type, as its bits; of two the first goes into the upper half."""
    match = _CVT.match(text)
    if match is None or len(values) != (2 if match[2] else 1) or len(match[3].split(", ")) != len(values) + 1:
        return None
    kind: Any = ml_dtypes.bfloat16 if match[1] == "bf16" else np.float16
    words = [np.ascontiguousarray(value.astype(kind)).view(np.uint16) for value in values]
    if not match[2]:
        return words[0].view(np.int16)
    high, low = np.broadcast_arrays(*words)
    return ((high.astype(np.uint32) << 16) | low).view(np.int32)


@op("llvm.inline_asm")
def _asm(warp: Warp, node: Node, values: list[Any], mask: Array) -> Any:
    """One instruction of a few; approximations are taken as exact."""
    text = node.attributes["asm_string"].strip()
    if "wgmma" in text:
        return assembly(warp, node, values, mask)
    values = [look(warp, node, value) for value in values]
    made = _tied(node, values) if not text else _narrowed(text, values)
    if made is not None:
        if warp.stamps is not None:
            warp.stamps.note(made, warp.machine.steps)
        return made
    match = _LINE.match(text)
    if match is None or match[4] != ", ".join(f"${i}" for i in range(1 + len(values))):
        raise ExecutionError("unsupported", f"the assembly '{text[:60]}' at {node.place} cannot be emulated", node.name)
    name, flush = match[1], bool(match[2])
    arrays = [_flush(v) for v in values] if flush else values
    if name == "fma.rn":
        result = fma(node, *arrays)
    elif name == "rcp.approx" or name == "rcp.rn":
        result = (1 / arrays[0]).astype(arrays[0].dtype)
    elif name in _ASM:
        result = SCALARS[_ASM[name]](node, *arrays)
    else:
        raise ExecutionError("unsupported", f"the assembly '{match[0]}' at {node.place} cannot be emulated", node.name)
    result = _flush(result) if flush else result
    if warp.stamps is not None:
        warp.stamps.note(result, warp.machine.steps)
    return result
