"""The signature of ``@main``: types as plain data, roles of arguments, element types in NumPy's words."""
from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

from kc.agents.execution.calls import Role
from kc.agents.execution.errors import ExecutionError

if TYPE_CHECKING:
    from kc.bindings import ir

_NAMED: dict[str, Any] = {
    "f16": np.float16, "f32": np.float32, "f64": np.float64, "bf16": ml_dtypes.bfloat16, "i1": np.bool_,
    "index": np.int64, "complex<f32>": np.complex64, "complex<f64>": np.complex128,
    "f8E5M2": ml_dtypes.float8_e5m2, "f8E4M3FN": ml_dtypes.float8_e4m3fn, "f8E4M3": ml_dtypes.float8_e4m3,
    "f8E3M4": ml_dtypes.float8_e3m4, "f8E4M3B11FNUZ": ml_dtypes.float8_e4m3b11fnuz,
    "f8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz, "f8E5M2FNUZ": ml_dtypes.float8_e5m2fnuz,
    "f8E8M0FNU": ml_dtypes.float8_e8m0fnu, "i4": ml_dtypes.int4, "ui4": ml_dtypes.uint4,
}
_SHAPED = re.compile(r"^(tensor|memref)<((?:(?:\d+|\?)x)*)([A-Za-z]\w*(?:<\w+>)?)(,.*)?>$", re.S)
_LAYOUT = re.compile(r", strided<\[(.*?)\](?:, offset: (\S+?))?>")
_FUNCTION = re.compile(r"^!llvm\.func<(\w+) \(([^()]*)\)>$")
_INTEGER = re.compile(r"^(s|u|)i(8|16|32|64)$")


@dataclasses.dataclass(frozen=True)
class Kind:
    """A type. ``form``: ``tensor``, ``memref``, ``scalar`` or ``pointer``; ``strided``: the layout is not all fixed."""

    form: str
    shape: tuple[int | None, ...]
    element: str
    strided: bool
    text: str

    @property
    def words(self) -> int:
        """How many arguments it is at level llvm: a memref is two pointers, an offset, sizes and strides."""
        return 3 + 2 * len(self.shape) if self.form == "memref" else 1

    @property
    def layout(self) -> tuple[tuple[int | None, ...], int | None] | None:
        """Strides and offset in elements, None where they are free; None altogether of one element after the other."""
        match = _LAYOUT.search(self.text)
        if match is None:
            return None
        strides, offset = (
            [None if n == "?" else int(n) for n in re.findall(r"\?|-?\d+", part)] for part in match.groups("")
        )
        return tuple(strides), offset[0] if offset else 0

    @property
    def dtype(self) -> np.dtype[Any]:
        """NumPy's type of an element as it lies in memory; raises ExecutionError when there is none."""
        return dtype_of(self.element)


def dtype_of(element: str) -> np.dtype[Any]:
    """NumPy's type for an MLIR element type."""
    if element in _NAMED:
        return np.dtype(_NAMED[element])
    match = _INTEGER.match(element)
    if match:
        return np.dtype(f"{'uint' if match[1] == 'u' else 'int'}{match[2]}")
    raise ExecutionError("unsupported", f"values of type '{element}' cannot be handed to a function under checks")


def kind_of(text: str) -> Kind:
    """The type that ``text`` is: ``memref<2x?xf32, strided<[?, 1]>>`` …"""
    if text.startswith("!llvm.ptr"):
        return Kind("pointer", (), "i8", False, text)
    match = _SHAPED.match(text)
    if match is None:
        if "<" in text and not text.startswith("complex<"):
            raise ExecutionError("unsupported", f"an argument or result of type '{text}' cannot cross to @main")
        return Kind("scalar", (), text, False, text)
    shape = tuple(None if d == "?" else int(d) for d in match[2].split("x") if d)
    layout = match[4] or ""
    if "affine_map" in layout or (layout and "strided<" not in layout and match[1] == "memref"):
        raise ExecutionError("unsupported", f"a buffer of type '{text}' cannot be made: only strided layouts can")
    return Kind(match[1], shape, match[3], "strided" in layout and "?" in layout, text)


@dataclasses.dataclass(frozen=True)
class Signature:
    """What ``@main`` takes and gives; ``roles`` one per argument."""

    arguments: tuple[Kind, ...]
    results: tuple[Kind, ...]
    roles: tuple[Role, ...]

    @classmethod
    def of(cls, module: ir.Module, roles: tuple[Role, ...] | None = None) -> Signature:
        """Of the module's ``@main``; ``roles`` from its attributes unless given.

        At level llvm the arguments are those that ``kc.buffers`` lists, as they were on buffers.
        """
        from kc.bindings import ir

        main = main_of(module)
        if main.name == "llvm.func":
            inputs, outputs = _of_llvm(main)
        else:
            kind = ir.FunctionType(ir.TypeAttr(main.attributes["function_type"]).value)
            inputs, outputs = [str(t) for t in kind.inputs], [str(t) for t in kind.results]
        arguments, results = tuple(map(kind_of, inputs)), tuple(map(kind_of, outputs))
        if roles is None:
            firsts, at = [], 0
            for argument in arguments:
                firsts.append(at)
                at += argument.words if main.name == "llvm.func" else 1
            entries = argument_attributes(main, at)
            roles = tuple(_role(entries[first]) for first in firsts)
        if len(roles) != len(arguments):
            raise ValueError(f"{len(roles)} roles for the {len(arguments)} arguments of @main")
        return cls(arguments, results, roles)


def _of_llvm(main: ir.Operation) -> tuple[list[str], list[str]]:
    from kc.bindings import ir

    if "kc.buffers" not in main.attributes:
        raise ExecutionError("unsupported", "@main of level llvm does not say in 'kc.buffers' what its arguments are")
    inputs = [ir.StringAttr(a).value for a in ir.ArrayAttr(main.attributes["kc.buffers"])]
    match = _FUNCTION.match(str(ir.TypeAttr(main.attributes["function_type"]).value))
    given, words = match[2] if match else "", sum(kind_of(t).words for t in inputs)
    count = len([t for t in given.split(",") if t.strip()])
    if match is None or count != words:
        raise ExecutionError("unsupported", f"'kc.buffers' lists {words} values, @main takes {count}")
    return inputs, [] if match[1] == "void" else [match[1]]


def main_of(module: ir.Module) -> ir.Operation:
    """``func.func @main``; raises ExecutionError when there is none with a body."""
    from kc.bindings import ir

    for op in module.body.operations:
        operation = op.operation
        if operation.name not in ("func.func", "llvm.func") or not len(operation.regions[0].blocks):
            continue
        if ir.StringAttr(operation.attributes["sym_name"]).value == "main":
            return operation
    raise ExecutionError("compile", "the module has no function @main")


def argument_attributes(main: ir.Operation, count: int) -> list[dict[str, Any]]:
    """The attributes of each argument, by name."""
    from kc.bindings import ir

    if "arg_attrs" not in main.attributes:
        return [{} for _ in range(count)]
    return [{e.name: e.attr for e in ir.DictAttr(a)} for a in ir.ArrayAttr(main.attributes["arg_attrs"])]


def _role(entries: dict[str, Any]) -> Role:
    if "kc.out" in entries:
        return "out"
    return "inout" if "kc.inout" in entries else "in"
