"""``kc-trace-values``: a call after every op that computes a number, for runs of which each step is recorded."""
from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING, Any, ClassVar

from kc import dataflow
from kc.bindings import ir
from kc.pass_base import Pass
from kc.passes.loops._messages import declare
from kc.rewrite import walk_ops

if TYPE_CHECKING:
    from kc.pass_base import PassContext

_TELL, _CHOOSE = "kc_shadow_value", "kc_shadow_choose"
_SIGNATURES = {_TELL: ("(i64, i64)", ""), _CHOOSE: ("(i64, i64, i64, i64, i64, i64)", " -> i64")}
#: ops that compute a number from numbers of one type: the same, or a comparison
_CHOSEN = re.compile(
    r"arith\.((add|sub|mul|div|neg|cmp)f|(add|sub|mul|and|or|xor|cmp)i|(div|rem|max|min|shr)[su]i|ceildivui|shli|select"
    r"|(max|min)(imum|num)f)$"
    r"|math\.(abs[fi]|sqrt|rsqrt|expm?1?2?|log(1p|2|10)?|tanh|sin|cos|floor|ceil)$"
    r"|llvm\.(f?(add|sub|mul)|fdiv|[su](div|rem)|and|or|xor|shl|lshr|ashr|icmp|fcmp|select|fneg"
    r"|intr\.(fabs|sqrt|exp|log|[su]?(max|min)(imum|num)?))$"
)
_FLOATS = (ir.BF16Type, ir.F16Type, ir.F32Type, ir.F64Type)
#: bits of a form (trace.cpp), lanes of a vector up to which each is told of
_FLOAT, _BRAIN, _LANES = 1 << 8, 1 << 11, 32
#: ops whose bodies hold nothing but what they compute
_CLOSED = ("memref.generic_atomic_rmw", "vector.mask", "scf.reduce", "llvm.mlir.global")
_DYNAMIC = -(1 << 63)


@dataclasses.dataclass(frozen=True)
class TraceValues(Pass):
    """Tell the trace of ``kc.agents.execution`` of every number that is computed.

    For modules on buffers, or of level llvm. Each op that computes a number or touches memory is a node: its number is
    its attribute ``kc.node``, and what it is computed from stands in the module's attribute ``kc.nodes`` (JSON).
    ``kc-instrument-accesses`` (``-pointers``), run after it, tells of the accesses. ::

        %v = memref.load %m[%i] : memref<4xf32>

    becomes ::

        %v = memref.load %m[%i] {kc.node = 3 : i64} : memref<4xf32>
        %bits = arith.bitcast %v : f32 to i32
        %word = arith.extui %bits : i32 to i64
        call @kc_shadow_value(%c3_i64, %word) : (i64, i64) -> ()

    What an op computes from numbers of one type goes through ``kc_shadow_choose``, which may give its users another
    value. Lanes of a vector follow each other, as do the parts of a complex number. A loop tells of its induction
    variables.
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
                if _chooses(inner):
                    emit.choice(inner)
                    continue
                for result in list(inner.results):
                    if dataflow.shown(result.type):
                        emit.value(result)


def _closed(op: ir.Operation) -> bool:
    parent = op.parent
    return parent is not None and (parent.name in _CLOSED or _closed(parent.operation))


def _element(kind: ir.Type) -> ir.Type:
    return kind.element_type if isinstance(kind, ir.VectorType) else kind


def _chooses(op: ir.Operation) -> bool:
    """Whether an op's value is one that ``kc_shadow_choose`` may put another in place of."""
    if not _CHOSEN.match(op.name) or not 1 <= len(op.operands) <= 3:
        return False
    result, operands = op.results[0].type, [value.type for value in op.operands]
    given = operands[1:] if op.name.endswith(".select") else operands
    kind = _element(given[0])
    if any(other != given[0] for other in given) or not dataflow.shown(kind):
        return False
    if isinstance(result, ir.VectorType) and (result.rank != 1 or result.shape[0] > _LANES):
        return False
    if isinstance(kind, ir.FloatType) and not isinstance(kind, _FLOATS):
        return False
    return dataflow.width_of(_element(result)) in (1, dataflow.width_of(kind))


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

    def choice(self, op: ir.Operation) -> None:
        """Let the runtime choose what the users of an op get, and tell of that."""
        result, operands = op.results[0], list(op.operands)
        if op.name.endswith(".select"):
            operands = [*operands[1:], operands[0]]
        before = list(result.uses)
        if isinstance(result.type, ir.VectorType):
            made = result
            for lane in range(result.type.shape[0]):
                chosen = self._chosen(*(self._lane(value, lane) for value in (result, *operands)))
                made = self._put(chosen, made, lane)
        else:
            made = self._chosen(result, *operands)
        for use in before:
            use.owner.operation.operands[use.operand_number] = made

    def _chosen(self, value: ir.Value, *operands: ir.Value) -> ir.Value:
        kind = operands[0].type
        form = dataflow.width_of(kind)
        form |= (_FLOAT if isinstance(kind, _FLOATS) else 0) | (_BRAIN if isinstance(kind, ir.BF16Type) else 0)
        words = [self.word(operand) for operand in operands]
        words += [words[0]] * (3 - len(words))
        word = self._call(_CHOOSE, [self.constant(), self.constant(form), self.word(value), *words], [self.i64])
        return self.unword(word, value.type)

    def _lane(self, value: ir.Value, lane: int) -> ir.Value:
        """A lane of a vector; a number that is no vector is that for all lanes."""
        if not isinstance(value.type, ir.VectorType):
            return value
        place = ir.DenseI64ArrayAttr.get([lane])
        return self._op("vector.extract", [value], [value.type.element_type], static_position=place)

    def _put(self, value: ir.Value, into: ir.Value, lane: int) -> ir.Value:
        place = ir.DenseI64ArrayAttr.get([lane])
        return self._op("vector.insert", [value, into], [into.type], static_position=place)

    def _lanes(self, value: ir.Value, kind: ir.VectorType) -> None:
        if kind.rank != 1:
            count = 1
            for extent in kind.shape:
                count *= extent
            flat = ir.VectorType.get([count], kind.element_type)
            value = self._op("vector.shape_cast", [value], [flat])
            kind = flat
        for lane in range(kind.shape[0]):
            self._tell(self._lane(value, lane))

    def _tell(self, value: ir.Value) -> None:
        self._call(_TELL, [self.constant(), self.word(value)], [])

    def _call(self, name: str, operands: list[ir.Value], results: list[ir.Type]) -> Any:
        declare(self.module, name, "".join(_SIGNATURES[name]))
        return self._op("func.call", operands, results, callee=ir.FlatSymbolRefAttr.get(name))

    def constant(self, value: int | None = None) -> ir.Value:
        """A number; that of the node unless one is given."""
        number = self.number if value is None else value
        return self._op("arith.constant", [], [self.i64], value=ir.IntegerAttr.get(self.i64, number))

    def unword(self, word: ir.Value, kind: ir.Type) -> ir.Value:
        """The number of a type whose bits a word has."""
        if isinstance(kind, ir.IndexType):
            return self._op("arith.index_cast", [word], [kind])
        width = dataflow.width_of(kind)
        plain = ir.IntegerType.get_signless(width)
        value = word if width == 64 else self._op("arith.trunci", [word], [plain])
        return value if kind == plain else self._op("arith.bitcast", [value], [kind])

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
            self._tell(self._lane(value, lane))

    def _lane(self, value: ir.Value, lane: int) -> ir.Value:
        if not isinstance(value.type, ir.VectorType):
            return value
        return self._op("llvm.extractelement", [value, self.constant(lane)], [value.type.element_type])

    def _put(self, value: ir.Value, into: ir.Value, lane: int) -> ir.Value:
        return self._op("llvm.insertelement", [into, value, self.constant(lane)], [into.type])

    def _call(self, name: str, operands: list[ir.Value], results: list[ir.Type]) -> Any:
        if name not in ir.SymbolTable(self.module):
            parsed = ir.Module.parse(f"llvm.func @{name}{''.join(_SIGNATURES[name])}")
            first = ir.InsertionPoint.at_block_begin(self.module.regions[0].blocks[0])
            parsed.body.operations[0].operation.clone(ip=first)
        return self._op(
            "llvm.call", operands, results, callee=ir.FlatSymbolRefAttr.get(name),
            operandSegmentSizes=ir.DenseI32ArrayAttr.get([len(operands), 0]),
            op_bundle_sizes=ir.DenseI32ArrayAttr.get([]),
        )

    def constant(self, value: int | None = None) -> ir.Value:
        number = self.number if value is None else value
        return self._op("llvm.mlir.constant", [], [self.i64], value=ir.IntegerAttr.get(self.i64, number))

    def word(self, value: ir.Value) -> ir.Value:
        width = dataflow.width_of(value.type)
        plain = ir.IntegerType.get_signless(width)
        if value.type != plain:
            value = self._op("llvm.bitcast", [value], [plain])
        return value if width == 64 else self._op("llvm.zext", [value], [self.i64])

    def unword(self, word: ir.Value, kind: ir.Type) -> ir.Value:
        width = dataflow.width_of(kind)
        plain = ir.IntegerType.get_signless(width)
        value = word if width == 64 else self._op("llvm.trunc", [word], [plain])
        return value if kind == plain else self._op("llvm.bitcast", [value], [kind])
