"""``kc-trace-values``: a call after every op that computes a number, for runs of which each step is recorded."""
from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar

from kc.bindings import ir
from kc.pass_base import Pass
from kc.passes.loops import _dataflow as dataflow
from kc.passes.loops._messages import declare
from kc.rewrite import walk_ops

if TYPE_CHECKING:
    from kc.pass_base import PassContext

_CALLEE = "kc_shadow_value"
#: ops whose bodies hold nothing but what they compute
_CLOSED = ("memref.generic_atomic_rmw", "vector.mask", "scf.reduce", "llvm.mlir.global")
_DYNAMIC = -(1 << 63)


@dataclasses.dataclass(frozen=True)
class TraceValues(Pass):
    """Tell the trace of ``kc.agents.execution`` of every number that is computed.

    For modules on buffers, or of level llvm. Each op that computes a number or touches memory is a node: its number is
    its attribute ``kc.node``, and what it is computed from stands in the module's attribute ``kc.nodes`` (JSON).
    ``kc-instrument-accesses`` (``-pointers``), run after it, tells of the accesses. ::

        %s = arith.addf %a, %b : f32

    becomes ::

        %s = arith.addf %a, %b {kc.node = 3 : i64} : f32
        %bits = arith.bitcast %s : f32 to i32
        %word = arith.extui %bits : i32 to i64
        call @kc_shadow_value(%c3_i64, %word) : (i64, i64) -> ()

    Lanes of a vector follow each other, as do the parts of a complex number. A loop tells of its induction variables.
    """

    name: ClassVar[str] = "kc-trace-values"
    anchor: ClassVar[str] = "builtin.module"
    level: ClassVar[str] = "loops"
    dialects: ClassVar[tuple[str, ...]] = ("arith", "complex", "func", "llvm", "scf", "vector")

    def run(self, op: ir.Operation, ctx: PassContext) -> None:
        """See the class."""
        for inner in walk_ops(op):
            if inner.name.startswith(("linalg.", "affine.", "tensor.", "scf.forall")):
                ctx.error(inner, f"the values of '{inner.name}' cannot be told of; lower it to loops on buffers first")
        nodes = dataflow.Nodes(op)
        nodes.write()
        for number, inner in enumerate(nodes.ops):
            if _closed(inner) or inner.name in dataflow.CONSTANTS:
                continue
            emit = _Llvm(op, number) if inner.name.startswith("llvm.") else _Buffers(op, number)
            if inner.name in ("scf.for", "scf.parallel"):
                body = inner.regions[0].blocks[0]
                counted = list(body.arguments)[: 1 if inner.name == "scf.for" else None]
                with inner.location, ir.InsertionPoint.at_block_begin(body):
                    for argument in counted:
                        emit.value(argument)
                continue
            with inner.location, ir.InsertionPoint.after(inner):
                for result in list(inner.results):
                    if dataflow.shown(result.type):
                        emit.value(result)


def _closed(op: ir.Operation) -> bool:
    parent = op.parent
    return parent is not None and (parent.name in _CLOSED or _closed(parent.operation))


class _Buffers:
    """Calls in code of arith, vector and func; ``number``: of the node."""

    def __init__(self, module: ir.Operation, number: int):
        self.module, self.number = module, number
        self.i64 = ir.IntegerType.get_signless(64)

    def value(self, value: ir.Value) -> None:
        """Tell of a value at the insertion point."""
        kind = value.type
        if isinstance(kind, ir.VectorType):
            self._lanes(value, kind)
        elif isinstance(kind, ir.ComplexType):
            for part in ("complex.re", "complex.im"):
                self._tell(self._op(part, [value], [kind.element_type]))
        else:
            self._tell(value)

    def _lanes(self, value: ir.Value, kind: ir.VectorType) -> None:
        if kind.rank != 1:
            count = 1
            for extent in kind.shape:
                count *= extent
            flat = ir.VectorType.get([count], kind.element_type)
            value = self._op("vector.shape_cast", [value], [flat])
            kind = flat
        for lane in range(kind.shape[0]):
            place = ir.DenseI64ArrayAttr.get([lane])
            self._tell(self._op("vector.extract", [value], [kind.element_type], static_position=place))

    def _tell(self, value: ir.Value) -> None:
        declare(self.module, _CALLEE, "(i64, i64)")
        name = ir.FlatSymbolRefAttr.get(_CALLEE)
        self._op("func.call", [self.constant(), self.word(value)], [], callee=name)

    def constant(self) -> ir.Value:
        """The number of the node."""
        return self._op("arith.constant", [], [self.i64], value=ir.IntegerAttr.get(self.i64, self.number))

    def word(self, value: ir.Value) -> ir.Value:
        """The bits of a number, in the low ones of a word."""
        if isinstance(value.type, ir.IndexType):
            return self._op("arith.index_cast", [value], [self.i64])
        width = dataflow.width_of(value.type)
        plain = ir.IntegerType.get_signless(width)
        if value.type != plain:
            value = self._op("arith.bitcast", [value], [plain])
        return value if width == 64 else self._op("arith.extui", [value], [self.i64])

    def _op(self, name: str, operands: list[ir.Value], results: list[ir.Type], **attributes: Any) -> Any:
        op = ir.Operation.create(name, results, operands, attributes)
        return op.results[0] if results else op


class _Llvm(_Buffers):
    """The same in code of the LLVM dialect."""

    def _lanes(self, value: ir.Value, kind: ir.VectorType) -> None:
        for lane in range(kind.shape[0]):
            place = self._op("llvm.mlir.constant", [], [self.i64], value=ir.IntegerAttr.get(self.i64, lane))
            self._tell(self._op("llvm.extractelement", [value, place], [kind.element_type]))

    def _tell(self, value: ir.Value) -> None:
        if _CALLEE not in ir.SymbolTable(self.module):
            parsed = ir.Module.parse(f"llvm.func @{_CALLEE}(i64, i64)")
            first = ir.InsertionPoint.at_block_begin(self.module.regions[0].blocks[0])
            parsed.body.operations[0].operation.clone(ip=first)
        self._op(
            "llvm.call", [self.constant(), self.word(value)], [], callee=ir.FlatSymbolRefAttr.get(_CALLEE),
            operandSegmentSizes=ir.DenseI32ArrayAttr.get([2, 0]), op_bundle_sizes=ir.DenseI32ArrayAttr.get([]),
        )

    def constant(self) -> ir.Value:
        return self._op("llvm.mlir.constant", [], [self.i64], value=ir.IntegerAttr.get(self.i64, self.number))

    def word(self, value: ir.Value) -> ir.Value:
        width = dataflow.width_of(value.type)
        plain = ir.IntegerType.get_signless(width)
        if value.type != plain:
            value = self._op("llvm.bitcast", [value], [plain])
        return value if width == 64 else self._op("llvm.zext", [value], [self.i64])
