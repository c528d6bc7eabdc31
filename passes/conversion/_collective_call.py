"""Host calls of the collectives: the words that ``read_call`` of libkc_runtime (call_text.cpp) reads, and the text in
them, which says what the call is, where it stands, and which processes take part."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from kc import params
from kc.bindings import ir
from kc.diagnostics import location_of
from kc.pass_base import PassContext
from kc.passes.conversion._checks import Checks
from kc.passes.conversion._emit import DYNAMIC, Emitter, Index, int_type, ranked
from kc.passes.conversion._host_call import host_call
from kc.passes.conversion._mesh import mesh_groups

_PLACE = 200  # characters of a place that are kept: its end


def call_runtime(
    e: Emitter,
    op: ir.Operation,
    callee: str,
    fields: Mapping[str, object],
    inputs: Sequence[ir.Value],
    results: Sequence[ir.Type],
    extents: Sequence[Sequence[Index]],
    attributes: Mapping[str, ir.Attribute] | None = None,
) -> list[ir.Value]:
    """Emits a call of ``callee`` on behalf of ``op``. ``fields`` go into the text, as ``read_call`` knows them."""
    text = "".join(f"{key}={value};" for key, value in {"op": op.name, **fields}.items() if value not in ("", None))
    place = location_of(op)
    if place is not None:
        where = f"line {place.line}, column {place.col}" if place.file == "-" else str(place)
        text += f"place={where[-_PLACE:]}"
    arrays = [ranked(v) for v in (*inputs, *results)]
    words = [*_text_words(text), len(arrays)]
    for type_ in arrays:
        words += [params.itemsize(params.type_dtype(type_.element_type)), type_.rank]
    told = {"kc.call": ir.StringAttr.get(text), **(attributes or {})}  # for readers of the IR
    return host_call(e, callee, words, inputs, results, extents, attributes=told)


def _text_words(text: str) -> list[int]:
    data = text.encode() + b"\0"
    data += bytes(-len(data) % 8)
    words = [int.from_bytes(data[k : k + 8], "little", signed=True) for k in range(0, len(data), 8)]
    return [len(words), *words]


def dtype_of(type_: ir.Type, unsigned: bool) -> str:
    """kc's name of an element type; ``unsigned`` as ``kc-stablehlo-to-signless`` wrote it down."""
    name = params.type_dtype(type_)
    return "u" + name if unsigned and name.startswith("i") else name


def channel_of(op: ir.Operation) -> int:
    """The channel's id; 0 when there is none."""
    if "channel_handle" not in op.attributes:
        return 0
    found = re.search(r"handle = (-?\d+)", str(op.attributes["channel_handle"]))
    return int(found[1]) if found else 0


def groups_of(op: ir.Operation, name: str, ctx: PassContext) -> list[list[int]]:
    """A two-dimensional attribute of ids, row by row, -1 pads; or axes of a mesh that stands in the attribute.

    A mesh that is named is the attribute ``stablehlo.mesh`` of the op with that name. Ends the pass when there is none.
    """
    if name not in op.attributes:
        return []
    attribute = op.attributes[name]
    if not isinstance(attribute, ir.DenseIntElementsAttr):
        groups = mesh_groups(str(attribute) + _named_mesh(op, str(attribute)))
        if groups is None:
            ctx.error(
                op,
                f"'{op.name}' with {name} as {attribute} cannot be converted",
                ["nearest thing that works: the groups as lists of ids, dense<[[0, 1], [2, 3]]>"],
            )
        return groups
    shape = ir.RankedTensorType(attribute.type).shape
    flat = [int(v) for v in attribute]
    if len(shape) != 2 or not flat:
        return []
    return [flat[k : k + shape[1]] for k in range(0, len(flat), shape[1])]


def _named_mesh(op: ir.Operation, text: str) -> str:
    found = re.search(r"mesh = @(\w+)", text)
    if found is None:
        return ""
    symbols = ir.SymbolTable(_outermost(op))
    named = symbols[found[1]].operation if found[1] in symbols else None
    return str(named.attributes["stablehlo.mesh"]) if named is not None and "stablehlo.mesh" in named.attributes else ""


def groups_text(groups: Sequence[Sequence[int]]) -> str:
    """``0,1|2,-1``."""
    return "|".join(",".join(map(str, ids)) for ids in groups)


def scalar_call(e: Emitter, callee: str) -> ir.Value:
    """An i32 that ``callee`` of libkc_runtime tells about the process."""
    body = _module(e).regions[0].blocks[0]
    attributes = [op.operation.attributes for op in body.operations]
    known = {str(a["sym_name"]) for a in attributes if "sym_name" in a}
    if f'"{callee}"' not in known:
        ir.Operation.create(
            "func.func",
            attributes={
                "sym_name": ir.StringAttr.get(callee),
                "function_type": ir.TypeAttr.get(ir.FunctionType.get([], [int_type(32)])),
                "sym_visibility": ir.StringAttr.get("private"),
            },
            regions=1,
            loc=e.loc,
            ip=ir.InsertionPoint(body),
        )
    return e.one("func.call", [], int_type(32), {"callee": ir.FlatSymbolRefAttr.get(callee)})


def check_sizes(e: Emitter, op: ir.Operation, holds: ir.Value, a: Index, b: Index, text: str) -> None:
    """Ends the program's call when ``holds`` is false; ``{0}``, ``{1}`` in ``text`` are the sizes ``a`` and ``b``."""
    place = location_of(op)
    where = f"'{op.name}'" + (f" at {place}" if place is not None else "")
    Checks(_module(e)).emit(e, holds, f"{where}: {text}", a, b)


def _module(e: Emitter) -> ir.Operation:
    return _outermost(e.ip.block.owner.operation)


def _outermost(op: ir.Operation) -> ir.Operation:
    while op.parent is not None:
        op = op.parent.operation
    return op


def static_shape(op: ir.Operation, value: ir.Value, ctx: PassContext, what: str) -> list[int]:
    """The shape of a value that must be static; ends the pass when it is not."""
    shape = list(ranked(value).shape)
    if DYNAMIC in shape:
        ctx.error(
            op,
            f"'{op.name}': {what} {value.type} has an extent that is only known at run time",
            ["nearest thing that works: a static shape"],
        )
    return shape

