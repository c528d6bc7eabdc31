"""StableHLO's reference interpreter (the executable form of its specification) as an oracle for tests."""

from __future__ import annotations

import re

import ml_dtypes
import numpy as np

_DTYPES = {
    "f64": np.float64,
    "f32": np.float32,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "i64": np.int64,
    "i32": np.int32,
    "i16": np.int16,
    "i8": np.int8,
    "ui64": np.uint64,
    "ui32": np.uint32,
    "ui16": np.uint16,
    "ui8": np.uint8,
    "i1": np.bool_,
}


def interpret(text: str, *arrays: np.ndarray) -> list[np.ndarray]:
    """Run ``main`` of a StableHLO module on NumPy arrays (any real dtype)."""
    from kc.bindings import ir, stablehlo_api
    from kc.context import make_context, parse_module
    from kc.pass_manager import run_pipeline

    module = parse_module(text, make_context())
    run_pipeline(
        module, "builtin.module(func.func(chlo-legalize-to-stablehlo,stablehlo-legalize-composite-to-call),inline)"
    )
    main = next(o.operation for o in module.body.operations if str(o.operation.attributes["sym_name"]) == '"main"')
    with module.context, ir.Location.unknown():
        arguments = [
            _attribute(array, ir.RankedTensorType(a.type), ir)
            for array, a in zip(arrays, main.regions[0].blocks[0].arguments, strict=True)
        ]
        return [_array(str(a)) for a in stablehlo_api.eval_module(module, arguments)]


def _attribute(array: np.ndarray, type_, ir):
    array = np.ascontiguousarray(array)
    if array.size == 0:
        return ir.Attribute.parse(f"dense<> : {type_}")
    raw = np.packbits(array.reshape(-1), bitorder="little") if array.dtype == np.bool_ else array.view(np.uint8)
    if array.dtype == np.bool_:
        values = str(array.astype(int).tolist()).replace("1", "true").replace("0", "false")
        return ir.Attribute.parse(f"dense<{values}> : {type_}")
    text = "0x" + raw.reshape(-1).tobytes().hex().upper() if array.ndim else None
    if text is not None:
        return ir.Attribute.parse(f'dense<"{text}"> : {type_}')
    # a hex string is no literal for one element: its bits are
    bits = array.reshape(1).view(f"u{array.itemsize}")[0]
    if array.dtype.kind in "iu":
        return ir.Attribute.parse(f"dense<{int(array)}> : {type_}")
    return ir.Attribute.parse(f"dense<0x{int(bits):0{2 * array.itemsize}X}> : {type_}")


def _array(text: str) -> np.ndarray:
    """The value of a printed ``dense<...> : tensor<...>``."""
    body, _, type_ = text.rpartition(" : ")
    parts = re.fullmatch(r"tensor<((?:\d+x)*)(\w+)>", type_)
    assert parts, type_
    shape = tuple(int(n) for n in parts[1].split("x") if n)
    dtype = np.dtype(_DTYPES[parts[2]])
    literal = body.removeprefix("dense<").removesuffix(">")
    if literal.startswith('"0x'):
        return np.frombuffer(bytes.fromhex(literal[3:-1]), dtype).reshape(shape).copy()
    values = [_number(w, dtype) for w in re.findall(r"[^\[\],\s]+", literal)]
    count = int(np.prod(shape))
    if len(values) == 1 and count != 1:
        values *= count
    return np.array(values[:count], dtype=dtype).reshape(shape)


def _number(word: str, dtype: np.dtype):
    if word in ("true", "false"):
        return word == "true"
    if word.startswith("0x"):
        return np.array(int(word, 16), f"u{dtype.itemsize}").view(dtype)[()]
    return int(word) if dtype.kind in "iu" else np.array(float(word)).astype(dtype)[()]
