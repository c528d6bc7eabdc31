"""StableHLO's reference interpreter (the executable form of its specification) as an oracle for tests."""

from __future__ import annotations

import math
import re

import ml_dtypes
import numpy as np

#: every element type of StableHLO, by its name in MLIR
DTYPES: dict[str, type] = {
    "f64": np.float64,
    "f32": np.float32,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f8E3M4": ml_dtypes.float8_e3m4,
    "f8E4M3": ml_dtypes.float8_e4m3,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz,
    "f8E4M3B11FNUZ": ml_dtypes.float8_e4m3b11fnuz,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "f8E5M2FNUZ": ml_dtypes.float8_e5m2fnuz,
    "f8E8M0FNU": ml_dtypes.float8_e8m0fnu,
    "f6E2M3FN": ml_dtypes.float6_e2m3fn,
    "f6E3M2FN": ml_dtypes.float6_e3m2fn,
    "f4E2M1FN": ml_dtypes.float4_e2m1fn,
    "i64": np.int64,
    "i32": np.int32,
    "i16": np.int16,
    "i8": np.int8,
    "i4": ml_dtypes.int4,
    "i2": ml_dtypes.int2,
    "ui64": np.uint64,
    "ui32": np.uint32,
    "ui16": np.uint16,
    "ui8": np.uint8,
    "ui4": ml_dtypes.uint4,
    "ui2": ml_dtypes.uint2,
    "i1": np.bool_,
    "complex<f32>": np.complex64,
    "complex<f64>": np.complex128,
}
_PARTS = {"complex<f32>": "f32", "complex<f64>": "f64"}


def interpret(text: str, *arrays: np.ndarray) -> list[np.ndarray]:
    """Run ``main`` of a StableHLO module on NumPy arrays of any element type."""
    from kc.bindings import ir, stablehlo_api
    from kc.context import make_context, parse_module
    from kc.pass_manager import run_pipeline

    module = parse_module(text, make_context())
    run_pipeline(
        module,
        "builtin.module(func.func(chlo-legalize-to-stablehlo,stablehlo-legalize-composite-to-call,"
        "stablehlo-legalize-deprecated-ops{fail-on-unused=false}),inline)",
    )
    main = next(o.operation for o in module.body.operations if str(o.operation.attributes["sym_name"]) == '"main"')
    kind = ir.FunctionType(ir.TypeAttr(main.attributes["function_type"]).value)
    parts = [parse_type(str(t)) for t in kind.inputs]
    outs = [parse_type(str(t)) for t in kind.results]
    main.attributes["sym_name"] = ir.StringAttr.get("kc_main", module.context)
    main.attributes["sym_visibility"] = ir.StringAttr.get("private", module.context)
    functions = "\n".join(str(op) for op in module.body.operations)
    flat = [piece for array, part in zip(arrays, parts, strict=True) for piece in _pieces(array, part)]
    wrapped = parse_module(_wrapper(parts, outs) + functions, module.context)
    with module.context, ir.Location.unknown():
        attributes = [ir.Attribute.parse(literal) for literal, _ in flat]
        found = iter([_array(str(a)) for a in stablehlo_api.eval_module(wrapped, attributes)])
    results = []
    for shape, dtype in outs:
        if dtype in _PARTS:
            re_, im = next(found), next(found)
            whole = np.empty(shape, DTYPES[dtype])
            whole.real, whole.imag = re_, im
            results.append(whole)
        else:
            results.append(next(found))
    return results


def parse_type(text: str) -> tuple[tuple[int, ...], str]:
    """Shape and element type of ``tensor<...>``."""
    parts = re.fullmatch(r"tensor<((?:\d+x)*)([^,]+)>", text)
    assert parts, text
    return tuple(int(n) for n in parts[1].split("x") if n), parts[2]


def tensor(shape: tuple[int, ...], dtype: str) -> str:
    """``tensor<...>`` of a shape and an element type."""
    return f"tensor<{''.join(f'{n}x' for n in shape)}{dtype}>"


def _wrapper(parts: list, outs: list) -> str:
    """A ``main`` whose arguments are flat, have two elements at least, and come in parts where they are complex.

    Such literals can be written as bits, which says any number exactly.
    """
    arguments, lines, values = [], [], []
    for k, (shape, dtype) in enumerate(parts):
        names = []
        for which in ("re", "im") if dtype in _PARTS else ("re",):
            part = _PARTS.get(dtype, dtype)
            count = math.prod(shape)
            name = f"%a{k}_{which}"
            arguments.append(f"{name}: {tensor((max(count, 2) if count else 0,), part)}")
            if count == 1:
                lines.append(f"{name}s = stablehlo.slice {name} [0:1] : (tensor<2x{part}>) -> tensor<1x{part}>")
                name += "s"
            lines.append(f"{name}r = stablehlo.reshape {name} : ({tensor((count,), part)}) -> {tensor(shape, part)}")
            names.append(name + "r")
        if dtype in _PARTS:
            lines.append(f"%c{k} = stablehlo.complex {', '.join(names)} : {tensor(shape, dtype)}")
            names = [f"%c{k}"]
        values += names
    types = ", ".join(tensor(*o) for o in outs)
    given = ", ".join(tensor(*p) for p in parts)
    lines.append(f"%out:{len(outs)} = func.call @kc_main({', '.join(values)}) : ({given}) -> ({types})")
    returned = []
    for k, (shape, dtype) in enumerate(outs):
        if dtype not in _PARTS:
            returned.append((f"%out#{k}", tensor(shape, dtype)))
            continue
        part = tensor(shape, _PARTS[dtype])
        for which in ("real", "imag"):
            lines.append(f"%{which}{k} = stablehlo.{which} %out#{k} : ({tensor(shape, dtype)}) -> {part}")
            returned.append((f"%{which}{k}", part))
    head = f"func.func @main({', '.join(arguments)}) -> ({', '.join(t for _, t in returned)}) {{\n"
    tail = f"\nreturn {', '.join(n for n, _ in returned)} : {', '.join(t for _, t in returned)}\n}}\n"
    return head + "\n".join(lines) + tail


def _pieces(array: np.ndarray, part: tuple[tuple[int, ...], str]) -> list[tuple[str, str]]:
    """The literals of the arguments that ``_wrapper`` makes of one array."""
    shape, dtype = part
    array = np.ascontiguousarray(array).reshape(-1)
    assert array.size == math.prod(shape) and array.dtype == np.dtype(DTYPES[dtype]), (array.dtype, part)
    if dtype in _PARTS:
        return [_literal(np.ascontiguousarray(p), _PARTS[dtype]) for p in (array.real, array.imag)]
    return [_literal(array, dtype)]


def _literal(flat: np.ndarray, dtype: str) -> tuple[str, str]:
    if flat.size == 1:
        flat = np.concatenate([flat, flat])
    type_ = tensor((flat.size,), dtype)
    if flat.size == 0:
        return f"dense<> : {type_}", type_
    if dtype == "i1":
        return f"dense<[{', '.join('true' if v else 'false' for v in flat)}]> : {type_}", type_
    if flat.dtype.itemsize == 1:  # what is narrower than a byte has zeros above
        flat = flat.view(np.uint8) & ((1 << bits_of(dtype)) - 1)
    return f'dense<"0x{flat.tobytes().hex().upper()}"> : {type_}', type_


def bits_of(dtype: str) -> int:
    """Bits of a value of an element type that is not complex."""
    found = re.match(r"[a-z]+(\d+)", dtype)
    assert found, dtype
    return int(found[1])


def _array(text: str) -> np.ndarray:
    """The value of a printed ``dense<...> : tensor<...>``."""
    body, _, type_ = text.rpartition(" : ")
    shape, name = parse_type(type_)
    dtype = np.dtype(DTYPES[name])
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
    return int(word) if "int" in dtype.name else np.array(float(word)).astype(dtype)[()]
