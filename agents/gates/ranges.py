"""Ranges of index values under the sizes of a contract: enough to prove that index arithmetic does not wrap."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kc.agents.contract import Contract
from kc.agents.gates.case import main_of

if TYPE_CHECKING:
    from kc.bindings import ir

#: no buffer has more elements than an address space has bytes
_LARGEST = 1 << 47
_DEPTH = 64
#: views and parts whose elements are those of their first operand
_PARTS = frozenset(
    {
        "memref.subview",
        "memref.cast",
        "memref.collapse_shape",
        "memref.expand_shape",
        "memref.transpose",
        "tensor.extract_slice",
        "tensor.cast",
        "tensor.collapse_shape",
        "tensor.expand_shape",
    }
)
#: attributes of ``affine.for`` that hold its bounds, in the order of their operands
_BOUNDS = ("lowerBoundMap", "upperBoundMap")
Range = tuple[int, int]


def _of_type(kind: ir.Type) -> Range | None:
    """What a signless integer type holds, read as signed."""
    from kc.bindings import ir

    if isinstance(kind, ir.IndexType):
        return -(1 << 63), (1 << 63) - 1
    if isinstance(kind, ir.IntegerType) and kind.width <= 64:
        return -(1 << (kind.width - 1)), (1 << (kind.width - 1)) - 1
    return None


class Ranges:
    """Ranges of values of type ``index`` (and of integers cast from it), by interval arithmetic on demand."""

    def __init__(self, module: ir.Module, contract: Contract):
        self._main = main_of(module)
        self._contract = contract
        self._known: dict[ir.Value, Range | None] = {}

    def cannot_overflow(self, op: ir.Operation, flag: str) -> bool:
        """Whether the result of an integer op fits its type, read as signed (``nsw``) or unsigned (``nuw``)."""
        from kc.bindings import ir

        if len(op.results) != 1 or op.name not in (
            "arith.addi",
            "arith.subi",
            "arith.muli",
            "arith.shli",
            "arith.trunci",
        ):
            return False
        kind = op.results[0].type
        if isinstance(kind, ir.IndexType):
            width = 64
        elif isinstance(kind, ir.IntegerType):
            width = kind.width
        else:
            return False
        exact = self._exact(op, 0)
        if exact is None:
            return False
        if flag == "nsw":
            return exact[0] >= -(1 << (width - 1)) and exact[1] < 1 << (width - 1)
        operands = [self.of(value) for value in op.operands]  # read as unsigned, a negative one is a large number
        return all(r is not None and r[0] >= 0 for r in operands) and exact[0] >= 0 and exact[1] < 1 << width

    def of(self, value: ir.Value, depth: int = 0) -> Range | None:
        """The range of a value, both ends inclusive, or None."""
        if value in self._known:
            return self._known[value]
        self._known[value] = None  # a value that depends on itself has no range
        found = self._compute(value, depth) if depth < _DEPTH else None
        bounds = _of_type(value.type)
        if found is None or bounds is None or not (bounds[0] <= found[0] and found[1] <= bounds[1]):
            found = bounds if bounds is not None and bounds[1] < 1 << 62 else None
        self._known[value] = found
        return found

    def _compute(self, value: ir.Value, depth: int) -> Range | None:
        from kc.bindings import ir

        owner = value.owner
        if not isinstance(owner, ir.Block):
            return self._exact(owner, depth)
        function = owner.owner
        number = ir.BlockArgument(value).arg_number
        if function.name in ("scf.for", "scf.parallel", "scf.forall", "affine.for"):
            return self._induction(function.operation, number, depth)
        if function.name.startswith("linalg.") and number < len(function.operation.operands):
            return self._elements(function.operation.operands[number])
        return self._elements(value)

    def _elements(self, value: ir.Value) -> Range | None:
        """Range of the elements of an argument of @main, or of what was cut out of it."""
        from kc.bindings import ir

        for _ in range(_DEPTH):
            owner = value.owner
            if isinstance(owner, ir.Block):
                break
            if owner.name not in _PARTS:
                return None
            value = owner.operands[0]
        if (
            self._main is None
            or not isinstance(value.owner, ir.Block)
            or value.owner != self._main.regions[0].blocks[0]
        ):
            return None
        number = ir.BlockArgument(value).arg_number
        arguments = self._contract.arguments
        if number >= len(arguments) or arguments[number].writable:
            return None
        return arguments[number].range

    def _induction(self, loop: ir.Operation, number: int, depth: int) -> Range | None:
        """Of the induction variable: from the lower bound to one below the upper one."""
        if loop.name == "scf.for" and number == 0:
            low, high = self.of(loop.operands[0], depth + 1), self.of(loop.operands[1], depth + 1)
        elif loop.name == "scf.parallel":
            count = next(iter(loop.attributes["operandSegmentSizes"]))
            low = self.of(loop.operands[number], depth + 1)
            high = self.of(loop.operands[count + number], depth + 1)
        elif loop.name == "affine.for" and number == 0:
            low, high = (self._affine_bound(loop, name, part, depth) for part, name in enumerate(_BOUNDS))
        else:
            return None
        if low is None or high is None:
            return None
        return low[0], max(low[0], high[1] - 1)

    def _affine_bound(self, loop: ir.Operation, name: str, part: int, depth: int) -> Range | None:
        """Of a bound of ``affine.for`` that is a constant or one of its operands."""
        from kc.bindings import ir

        sizes = list(loop.attributes["operandSegmentSizes"])
        operands = list(loop.operands)[sum(sizes[:part]) : sum(sizes[: part + 1])]
        bound = ir.AffineMapAttr(loop.attributes[name]).value
        if len(bound.results) != 1:
            return None
        (expression,) = bound.results
        if isinstance(expression, ir.AffineConstantExpr):
            return expression.value, expression.value
        if isinstance(expression, ir.AffineDimExpr):
            return self.of(operands[expression.position], depth + 1)
        if isinstance(expression, ir.AffineSymbolExpr):
            return self.of(operands[bound.n_dims + expression.position], depth + 1)
        return None

    def _iterator(self, op: ir.Operation, depth: int) -> Range | None:
        """Of ``linalg.index``: up to the extent of the dimension that some operand's map ties to it alone."""
        from kc.bindings import ir

        parent = op.parent.operation
        if "indexing_maps" not in parent.attributes:
            return None
        number = ir.IntegerAttr(op.attributes["dim"]).value
        maps = [ir.AffineMapAttr(attribute).value for attribute in parent.attributes["indexing_maps"]]
        for value, how in zip(parent.operands, maps, strict=False):
            for axis, expression in enumerate(how.results):
                if isinstance(expression, ir.AffineDimExpr) and expression.position == number:
                    found = self._extent_of(value, axis, depth)
                    if found is not None and found[1] < _LARGEST:
                        return 0, max(0, found[1] - 1)
        return 0, _LARGEST

    def _exact(self, op: ir.Operation, depth: int) -> Range | None:
        """The range of an op's result as an unbounded integer."""
        from kc.bindings import ir

        name = op.name
        if name == "arith.constant":
            attribute = op.attributes["value"]
            return (attribute.value, attribute.value) if isinstance(attribute, ir.IntegerAttr) else None
        if name in ("memref.dim", "tensor.dim"):
            return self._extent(op, depth)
        if name == "linalg.index":
            return self._iterator(op, depth)
        if name in ("arith.index_cast", "arith.extsi", "arith.trunci"):
            return self.of(op.operands[0], depth + 1)
        if name in ("arith.extui", "arith.index_castui"):
            return self._unsigned(op, depth)
        if name in ("memref.load", "tensor.extract", "vector.load", "affine.load"):
            return self._elements(op.operands[0])
        if not name.startswith("arith.") or len(op.operands) != 2:
            return None
        left, right = (self.of(value, depth + 1) for value in op.operands)
        if left is None or right is None:
            return None
        (a, b), (c, d) = left, right
        if name == "arith.addi":
            return a + c, b + d
        if name == "arith.subi":
            return a - d, b - c
        if name == "arith.muli":
            corners = (a * c, a * d, b * c, b * d)
            return min(corners), max(corners)
        if name == "arith.shli":
            return (a << c, b << d) if a >= 0 and 0 <= c <= d < 64 else None
        if name in ("arith.minsi", "arith.minui") and (name.endswith("si") or min(a, c) >= 0):
            return min(a, c), min(b, d)
        if name in ("arith.maxsi", "arith.maxui") and (name.endswith("si") or min(a, c) >= 0):
            return max(a, c), max(b, d)
        if name in ("arith.divsi", "arith.divui", "arith.floordivsi", "arith.ceildivsi", "arith.ceildivui"):
            return (a // d, -(-b // c)) if a >= 0 and c > 0 else None
        if name in ("arith.remsi", "arith.remui"):
            return (0, min(b, d - 1)) if a >= 0 and c > 0 else None
        if name == "arith.andi":
            return (0, min(x for x, low in ((b, a), (d, c)) if low >= 0)) if max(a, c) >= 0 else None
        if name in ("arith.shrsi", "arith.shrui"):
            return (a >> d, b >> c) if a >= 0 and c >= 0 else None
        return None

    def _unsigned(self, op: ir.Operation, depth: int) -> Range | None:
        """Of a zero extension: its operand's range where that is not negative, what the narrow type holds otherwise."""
        from kc.bindings import ir

        found = self.of(op.operands[0], depth + 1)
        if found is not None and found[0] >= 0:
            return found
        kind = op.operands[0].type
        return (0, (1 << kind.width) - 1) if isinstance(kind, ir.IntegerType) and kind.width < 63 else None

    def _extent(self, op: ir.Operation, depth: int) -> Range | None:
        """Of a dimension: its static size, its range in the contract, or what memory can hold."""
        source, axis = op.operands[0], self.of(op.operands[1], depth + 1)
        if axis is None or axis[0] != axis[1]:
            return 0, _LARGEST
        return self._extent_of(source, axis[0], depth)

    def _extent_of(self, source: ir.Value, number: int, depth: int) -> Range | None:
        """Of a dimension by its number; what ``tensor.empty`` made, filled or not, has the sizes given there."""
        from kc.bindings import ir

        shape = source.type
        if not isinstance(shape, (ir.MemRefType, ir.RankedTensorType)):
            return 0, _LARGEST
        if not 0 <= number < shape.rank:
            return None
        if not shape.is_dynamic_dim(number):
            extent = shape.get_dim_size(number)
            return extent, extent
        owner = source.owner
        if not isinstance(owner, ir.Block):
            if owner.name == "linalg.fill":
                return self._extent_of(owner.operands[1], number, depth + 1) if depth < _DEPTH else None
            if owner.name in ("tensor.empty", "memref.alloc", "memref.alloca"):
                dynamic = sum(shape.is_dynamic_dim(axis) for axis in range(number))
                return self.of(owner.operands[dynamic], depth + 1)
        if isinstance(owner, ir.Block) and self._main is not None and owner == self._main.regions[0].blocks[0]:
            arguments = self._contract.arguments
            position = ir.BlockArgument(source).arg_number
            if position < len(arguments) and number < len(arguments[position].dims):
                return self._contract.size_range(arguments[position].dims[number])
        return 0, _LARGEST
