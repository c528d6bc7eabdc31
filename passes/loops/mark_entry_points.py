"""``kc-mark-entry-points``: what bufferization and the LLVM lowering must know of public functions."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any, ClassVar

from kc import params
from kc.bindings import ir
from kc.pass_base import Pass
from kc.passes.loops._functions import functions

if TYPE_CHECKING:
    from kc.pass_base import PassContext

#: attribute of an argument, false where nothing may write it
READ_ONLY = "bufferization.writable"


@dataclasses.dataclass(frozen=True)
class MarkEntryPoints(Pass):
    """Mark public functions: their tensor arguments are the caller's and never written.

    An argument with the attribute ``kc.donated`` may be written. What the runtime must know of the signature is
    written down as JSON in ``kc.signature``, because element types and shapes are gone once buffers are LLVM
    structs: dtypes (signs from ``kc.dtype``), shapes (symbols of dynamic extents from ``kc.dims``), which arguments
    are parameters. Ranges of symbols (``kc.sizes``) and conditions between them (those in ``kc.facts``) go along: the
    runtime holds every call to them, since code may rely on them. ::

        func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32> {kc.donated})

    becomes ::

        func.func @main(%x: tensor<4xf32> {bufferization.writable = false}, %y: tensor<4xf32> {kc.donated})
            attributes {kc.signature = "{\\22args\\22: …}"}
    """

    name: ClassVar[str] = "kc-mark-entry-points"
    anchor: ClassVar[str] = "builtin.module"
    level: ClassVar[str] = "linalg"
    dialects: ClassVar[tuple[str, ...]] = ("bufferization", "func")

    def run(self, op: ir.Operation, ctx: PassContext) -> None:
        """See the class."""
        readonly = ir.BoolAttr.get(False)
        for function in functions(op):
            if not is_public(function) or not len(function.regions[0].blocks):
                continue
            function.attributes["kc.signature"] = ir.StringAttr.get(json.dumps(signature(function)))
            inputs = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value).inputs
            given = list(ir.ArrayAttr(function.attributes["arg_attrs"])) if "arg_attrs" in function.attributes else None
            marked = []
            for position, kind in enumerate(inputs):
                entries = {entry.name: entry.attr for entry in ir.DictAttr(given[position])} if given else {}
                if isinstance(kind, ir.RankedTensorType) and "kc.donated" not in entries:
                    entries[READ_ONLY] = readonly
                marked.append(ir.DictAttr.get(entries))
            if marked:
                function.attributes["arg_attrs"] = ir.ArrayAttr.get(marked)


def signature(function: ir.Operation) -> dict[str, Any]:
    """The manifest's description of a function on tensors: ``{"args": […], "results": […]}``, and ``dims`` and
    ``conditions`` where it tells ranges of sizes (``kc.runtime.signature`` says what these are).

    An argument has ``name``, ``dtype``, ``shape`` (an extent is an int, a symbol's name, or None) and ``kind``
    (``input``, or ``param`` with the number in ``param``); a result has ``dtype`` and ``shape``; what travels by
    value has ``scalar``.
    """
    kind = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
    args = []
    for position, (type_, entries) in enumerate(
        zip(kind.inputs, _entries(function, "arg_attrs", len(kind.inputs)), strict=True)
    ):
        name = next((entries[key].value for key in ("kc.name", "jax.arg_info") if key in entries), f"arg{position}")
        described = {"name": name, **_describe(type_, entries)}
        if params.ATTRIBUTE in entries:
            described.update(kind="param", param=ir.IntegerAttr(entries[params.ATTRIBUTE]).value)
        else:
            described["kind"] = "input"
        args.append(described)
    results = [
        _describe(type_, entries)
        for type_, entries in zip(kind.results, _entries(function, "res_attrs", len(kind.results)), strict=True)
    ]
    return {"args": args, "results": results, **_limits(function)}


#: in a range of sizes: no upper limit
UNLIMITED = (1 << 63) - 1


def _limits(function: ir.Operation) -> dict[str, Any]:
    """What ``kc.sizes`` and ``kc.facts`` of a function say of sizes, for the runtime."""
    dims: dict[str, dict[str, int]] = {}
    if "kc.sizes" in function.attributes:
        for entry in ir.DictAttr(function.attributes["kc.sizes"]):
            low, high = ir.DenseI64ArrayAttr(entry.attr)
            dims[entry.name] = {"min": low, **({"max": high} if high < UNLIMITED else {})}
    conditions: list[dict[str, Any]] = []
    if "kc.facts" in function.attributes:
        from kc.conditions import parse

        for fact in ir.ArrayAttr(function.attributes["kc.facts"]):
            condition = parse(ir.StringAttr(fact).value)
            if condition is not None:
                conditions.append({"text": str(condition), "tree": condition.to_json()})
    return {**({"dims": dims} if dims else {}), **({"conditions": conditions} if conditions else {})}


def _entries(function: ir.Operation, name: str, count: int) -> list[dict[str, Any]]:
    if name not in function.attributes:
        return [{} for _ in range(count)]
    return [{e.name: e.attr for e in ir.DictAttr(given)} for given in ir.ArrayAttr(function.attributes[name])]


def _describe(type_: ir.Type, entries: dict[str, Any]) -> dict[str, Any]:
    if not isinstance(type_, ir.RankedTensorType):
        return {"dtype": params.type_dtype(type_), "shape": [], "scalar": True}
    tensor = ir.RankedTensorType(type_)
    dtype = (
        ir.StringAttr(entries["kc.dtype"]).value if "kc.dtype" in entries else params.type_dtype(tensor.element_type)
    )
    symbols = [ir.StringAttr(s).value for s in ir.ArrayAttr(entries["kc.dims"])] if "kc.dims" in entries else []
    shape: list[int | str | None] = []
    for axis in range(tensor.rank):
        if not tensor.is_dynamic_dim(axis):
            shape.append(tensor.shape[axis])
        else:
            shape.append((symbols[axis] or None) if axis < len(symbols) else None)
    return {"dtype": dtype, "shape": shape}


def is_public(function: ir.Operation) -> bool:
    """Whether ``function`` is an entry point."""
    if "sym_visibility" not in function.attributes:
        return True
    return ir.StringAttr(function.attributes["sym_visibility"]).value == "public"
