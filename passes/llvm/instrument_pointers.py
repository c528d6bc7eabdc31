"""``kc-instrument-pointers``: a call before every access through a pointer, for runs that are watched."""
from __future__ import annotations

import dataclasses
import json
import re
from typing import TYPE_CHECKING, Any, ClassVar

from kc.bindings import ir
from kc.dataflow import NODE
from kc.diagnostics import location_of
from kc.pass_base import Pass
from kc.passes.loops import _teams as teams
from kc.rewrite import replace_op, walk_ops

if TYPE_CHECKING:
    from kc.pass_base import PassContext

_READ, _WRITE, _ATOMIC = 0, 1, 2
_NO_INDEX = -(1 << 63)
_RUNTIME = {
    "kc_shadow_touch": "(i64, !llvm.ptr)",
    "kc_shadow_touch_masked": "(i64, !llvm.ptr, i64)",
    "kc_shadow_bytes": "(i64, !llvm.ptr, !llvm.ptr, i64)",
    "kc_shadow_memref_copy": "(i64, i64, !llvm.ptr, !llvm.ptr)",
    "kc_shadow_set": "(i64, !llvm.ptr, i64)",
    "kc_shadow_made": "(i64, !llvm.ptr, i64)",
    "kc_shadow_global": "(i64, !llvm.ptr, i64, i64)",
    "kc_shadow_fork": "()",
    "kc_shadow_iteration": "(i64, i64, i64, i64)",
    "kc_shadow_join": "()",
    **teams.RUNTIME,
}
#: ops on pointers that touch no memory
_QUIET = re.compile(
    r"llvm\.(getelementptr|ptrtoint|inttoptr|bitcast|select|icmp|insertvalue|extractvalue|insertelement|extractelement"
    r"|addrspacecast|br|cond_br|switch|return|call|mlir\.\w+|freeze|intr\.(lifetime\.\w+|assume|stackrestore|stacksave"
    r"|prefetch))$"
)


@dataclasses.dataclass(frozen=True)
class InstrumentPointers(Pass):
    """Tell the shadow memory of ``kc.agents.execution`` of every load, store and atomic update before it happens.

    As ``kc-instrument-accesses`` does for memrefs, with less knowledge: an address belongs to the block that it lies
    in. ``llvm.alloca`` becomes a block of the heap; iterations of ``omp.wsloop`` are told apart, and what every thread
    of an ``omp.parallel`` writes must be its own. ::

        %v = llvm.load %p : !llvm.ptr -> f32

    becomes ::

        llvm.call @kc_shadow_touch(%site, %p) : (i64, !llvm.ptr) -> ()
        %v = llvm.load %p : !llvm.ptr -> f32
    """

    name: ClassVar[str] = "kc-instrument-pointers"
    anchor: ClassVar[str] = "builtin.module"
    level: ClassVar[str] = "llvm"
    dialects: ClassVar[tuple[str, ...]] = ("llvm",)

    def run(self, op: ir.Operation, ctx: PassContext) -> None:
        """See the class."""
        work = _Work(op, ctx)
        for function in [o.operation for o in op.regions[0].blocks[0].operations if o.operation.name == "llvm.func"]:
            for inner in walk_ops(function):
                work.visit(inner)
        op.attributes["kc.sites"] = ir.StringAttr.get(json.dumps(work.sites))


class _Work:
    """One module."""

    def __init__(self, module: ir.Operation, ctx: PassContext):
        self.module, self.ctx = module, ctx
        self.sites: list[dict[str, Any]] = []
        self._i64 = ir.IntegerType.get_signless(64, context=module.context)

    def visit(self, op: ir.Operation) -> None:
        """Instrument ``op``; an error when it touches memory in a way that is not known."""
        name, operands = op.name, list(op.operands)
        with op.location, ir.InsertionPoint(op):
            if name == "llvm.load":
                self._touch(op, _READ, operands[0], op.results[0].type)
            elif name == "llvm.store":
                self._touch(op, _WRITE, operands[1], operands[0].type)
            elif name in ("llvm.atomicrmw", "llvm.cmpxchg"):
                self._touch(op, _ATOMIC, operands[0], operands[1].type)
            elif name in ("llvm.intr.masked.load", "llvm.intr.masked.store"):
                self._masked(op)
            elif name in ("llvm.intr.masked.gather", "llvm.intr.masked.scatter"):
                self._indexed(op)
            elif name == "llvm.call" and "callee" in op.attributes and _callee(op) == "memrefCopy":
                self._site(op, _READ, 1)
                self._call("kc_shadow_memref_copy", self._site(op, _WRITE, 1), *operands)
            elif name in ("llvm.intr.memcpy", "llvm.intr.memmove", "llvm.intr.memcpy.inline"):
                site = self._site(op, _READ, 1)
                self._site(op, _WRITE, 1)
                self._call("kc_shadow_bytes", site, operands[0], operands[1], self._wide(operands[2]))
            elif name == "llvm.intr.memset":
                self._call("kc_shadow_set", self._site(op, _WRITE, 1), operands[0], self._wide(operands[2]))
            elif name == "llvm.alloca":
                self._alloca(op)
            elif name == "llvm.mlir.addressof":
                self._addressof(op)
            elif teams.is_known(name):
                self._team(op)
            elif not _QUIET.match(name) and (
                name == "llvm.inline_asm" or name.startswith("omp.") or any(_is_pointer(v) for v in operands)
            ):
                self.ctx.error(op, f"'{name}' cannot be watched; loads, stores, copies and atomic updates can")

    # ------------------------------------------------------------------------------------------------ parts

    def _emit(self, name: str, operands: list[ir.Value], results: list[ir.Type], **attributes: Any) -> Any:
        op = ir.Operation.create(name, results, operands, attributes)
        return op.results[0] if results else op

    def _constant(self, value: int) -> ir.Value:
        return self._emit("llvm.mlir.constant", [], [self._i64], value=ir.IntegerAttr.get(self._i64, value))

    def _wide(self, value: ir.Value) -> ir.Value:
        """An integer as ``i64``."""
        width = ir.IntegerType(value.type).width
        return value if width == 64 else self._emit("llvm.zext" if width < 64 else "llvm.trunc", [value], [self._i64])

    def _site(self, op: ir.Operation, mode: int, size: int, lanes: int = 1) -> ir.Value:
        where = location_of(op)
        place = f"{where.line}:{where.col}" if where else ""
        site = {"op": op.name, "place": place, "mode": mode, "bytes": size, "lanes": lanes}
        if NODE in op.attributes:  # of kc-trace-values
            site["node"] = ir.IntegerAttr(op.attributes[NODE]).value
        self.sites.append(site)
        return self._constant(len(self.sites) - 1)

    def _call(self, name: str, *operands: ir.Value) -> None:
        self._declare(name, _RUNTIME[name])
        segments = ir.DenseI32ArrayAttr.get([len(operands), 0])
        self._emit(
            "llvm.call", list(operands), [], callee=ir.FlatSymbolRefAttr.get(name), operandSegmentSizes=segments,
            op_bundle_sizes=ir.DenseI32ArrayAttr.get([]),
        )

    def _declare(self, name: str, arguments: str, result: str = "") -> None:
        if name in ir.SymbolTable(self.module):
            return
        parsed = ir.Module.parse(f"llvm.func @{name}{arguments}{result}")
        first = ir.InsertionPoint.at_block_begin(self.module.regions[0].blocks[0])
        parsed.body.operations[0].operation.clone(ip=first)

    def _touch(self, op: ir.Operation, mode: int, pointer: ir.Value, kind: ir.Type) -> None:
        if "ordering" in op.attributes and ir.IntegerAttr(op.attributes["ordering"]).value:
            mode = _ATOMIC
        self._call("kc_shadow_touch", self._site(op, mode, self._size(op, kind)), pointer)

    def _masked(self, op: ir.Operation) -> None:
        operands = list(op.operands)
        load = op.name.endswith("load")
        pointer, mask = (operands[0], operands[1]) if load else (operands[1], operands[2])
        vector = ir.VectorType(op.results[0].type if load else operands[0].type)
        lanes = vector.shape[0]
        if lanes > 64:
            self.ctx.error(op, "a mask of more than 64 lanes cannot be watched")
        bits = self._emit("llvm.bitcast", [mask], [ir.IntegerType.get_signless(lanes)])
        site = self._site(op, _READ if load else _WRITE, self._size(op, vector.element_type), lanes)
        self._call("kc_shadow_touch_masked", site, pointer, self._wide(bits))

    def _indexed(self, op: ir.Operation) -> None:
        operands = list(op.operands)
        load = op.name.endswith("gather")
        pointers, mask = (operands[0], operands[1]) if load else (operands[1], operands[2])
        vector = ir.VectorType(op.results[0].type if load else operands[0].type)
        site = self._site(op, _READ if load else _WRITE, self._size(op, vector.element_type))
        pointer, bit = ir.Type.parse("!llvm.ptr"), ir.IntegerType.get_signless(1)
        for lane in range(vector.shape[0]):
            place = self._constant(lane)
            one = self._emit("llvm.extractelement", [pointers, place], [pointer])
            taken = self._emit("llvm.extractelement", [mask, place], [bit])
            self._call("kc_shadow_touch_masked", site, one, self._wide(taken))

    def _alloca(self, op: ir.Operation) -> None:
        size = self._size(op, ir.TypeAttr(op.attributes["elem_type"]).value)
        self._declare("_mlir_memref_to_llvm_alloc", "(i64)", " -> !llvm.ptr")
        total = self._emit("llvm.mul", [self._wide(op.operands[0]), self._constant(size)], [self._i64])
        made = self._emit(
            "llvm.call", [total], [op.results[0].type], callee=ir.FlatSymbolRefAttr.get("_mlir_memref_to_llvm_alloc"),
            operandSegmentSizes=ir.DenseI32ArrayAttr.get([1, 0]), op_bundle_sizes=ir.DenseI32ArrayAttr.get([]),
        )
        self._call("kc_shadow_made", self._site(op, _WRITE, size), made, self._constant(1))
        replace_op(op, [made])

    def _addressof(self, op: ir.Operation) -> None:
        held = ir.SymbolTable(self.module)[ir.FlatSymbolRefAttr(op.attributes["global_name"]).value].operation
        if held.name != "llvm.mlir.global":
            return
        size = self._size(op, ir.TypeAttr(held.attributes["global_type"]).value)
        state = 2 if "constant" in held.attributes else 1
        with ir.InsertionPoint.after(op):
            self._call("kc_shadow_global", self._site(op, _READ, size), op.results[0], self._constant(size),
                       self._constant(state))

    def _team(self, op: ir.Operation) -> None:
        def wide(value: ir.Value) -> ir.Value:
            width = ir.IntegerType(value.type).width
            return value if width == 64 else self._emit("llvm.sext", [value], [self._i64])

        try:
            teams.tell(op, self._call, wide, self._constant, _NO_INDEX)
        except ValueError as error:
            self.ctx.error(op, str(error))

    def _size(self, op: ir.Operation, kind: ir.Type) -> int:
        try:
            return size_of(str(kind))[0]
        except ValueError as error:
            self.ctx.error(op, str(error))


def _callee(op: ir.Operation) -> str:
    return str(ir.FlatSymbolRefAttr(op.attributes["callee"]).value)


def _is_pointer(value: ir.Value) -> bool:
    return "!llvm.ptr" in str(value.type)


def size_of(text: str) -> tuple[int, int]:
    """Size and alignment of a type in memory, in bytes; raises ValueError for one that is not known."""
    text = text.removeprefix("!llvm.").strip()
    if text.startswith("ptr"):
        return 8, 8
    number = re.fullmatch(r"(?:i|f|bf)(\d+)", text)
    if number:
        size = max(1, -(-int(number[1]) // 8))
        size = 1 << (size - 1).bit_length()
        return size, min(size, 16)
    match = re.fullmatch(r"vector<((?:\d+x)+)(.+)>", text)
    if match:
        count = 1
        for extent in match[1].split("x")[:-1]:
            count *= int(extent)
        size = count * (1 if match[2] == "i1" else size_of(match[2])[0])
        return size, size
    match = re.fullmatch(r"array<(\d+) x (.+)>", text)
    if match:
        size, alignment = size_of(match[2])
        return int(match[1]) * size, alignment
    match = re.fullmatch(r"struct<(?:\"[^\"]*\", )?\((.*)\)>", text)
    if match:
        at = most = 0
        for part in _parts(match[1]):
            size, alignment = size_of(part)
            at = -(-at // alignment) * alignment + size
            most = max(most, alignment)
        most = max(most, 1)
        return -(-at // most) * most, most
    raise ValueError(f"how a value of type {text} lies in memory is not known")


def _parts(text: str) -> list[str]:
    """At commas outside of brackets."""
    parts, depth, start = [], 0, 0
    for at, letter in enumerate(text):
        depth += (letter in "<(") - (letter in ">)")
        if letter == "," and depth == 0:
            parts.append(text[start:at])
            start = at + 1
    return [part for part in (*parts, text[start:]) if part.strip()]
