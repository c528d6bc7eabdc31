"""Which tensor axes have equal extents: classes of (value, axis) that the ops of a kernel force to agree."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from kc.bindings import ir
from kc.kernels.structured import Cache, Unreadable, plain_dim

Axis = tuple[ir.Value, int]
DYNAMIC = -(2**63)


def element_type(value: ir.Value) -> str:
    """The MLIR element type of a tensor, or the type itself of a scalar, as text."""
    value_type = value.type
    if isinstance(value_type, ir.ShapedType):
        return str(value_type.element_type)
    return str(value_type)


def static_size(value: ir.Value, axis: int) -> int | None:
    """The static extent of a tensor's axis, None if dynamic."""
    shaped = ir.ShapedType(value.type)
    return None if shaped.is_dynamic_dim(axis) else shaped.get_dim_size(axis)


def reassociation(op: ir.Operation) -> list[list[int]]:
    """The groups of a tensor.expand_shape or collapse_shape."""
    return [[int(ir.IntegerAttr(axis).value) for axis in ir.ArrayAttr(group)]
            for group in ir.ArrayAttr(op.attributes["reassociation"])]  # fmt: skip


class Extents:
    """Union-find over the tensor axes that ``ops`` mention.

    ``leaf`` numbers the values that are arguments; a class with a dynamic extent is known by its first such argument.
    ``results`` numbers the destinations of values that have none yet: extents may be read off them too.
    """

    def __init__(self, ops: Iterable[ir.Operation], leaf: Callable[[ir.Value], int | None], cache: Cache,
                 results: Mapping[ir.Value, int] | None = None) -> None:  # fmt: skip
        self._results = results or {}
        self._parent: dict[Axis, Axis] = {}
        self._members: dict[Axis, list[Axis]] = {}
        self._leaf = leaf
        self._symbols: dict[ir.Value, Axis] = {}
        for op in ops:
            self._read(op, cache)

    def _find(self, axis: Axis) -> Axis:
        if axis not in self._parent:
            self._parent[axis] = axis
            self._members[axis] = [axis]
            return axis
        root = axis
        while self._parent[root] != root:
            root = self._parent[root]
        self._parent[axis] = root
        return root

    def _join(self, first: Axis, second: Axis) -> None:
        left, right = self._find(first), self._find(second)
        if left != right:
            if len(self._members[left]) < len(self._members[right]):
                left, right = right, left
            self._parent[right] = left
            self._members[left] += self._members.pop(right)

    def size(self, value: ir.Value, axis: int) -> int | None:
        """The extent if it is known statically, here or through any axis that must agree with it."""
        own = static_size(value, axis)
        if own is not None:
            return own
        for member in self._members[self._find((value, axis))]:
            known = static_size(*member)
            if known is not None:
                return known
        return None

    def same(self, first: Axis, second: Axis) -> bool:
        """Whether the two extents are provably equal."""
        if self._find(first) == self._find(second):
            return True
        size = self.size(*first)
        return size is not None and size == self.size(*second)

    def source(self, value: ir.Value, axis: int) -> tuple[int, int] | None:
        """The first argument axis with this extent."""
        found = []
        for member, number in self._members[self._find((value, axis))]:
            argument = self._leaf(member)
            argument = self._results.get(member) if argument is None else argument
            if argument is not None:
                found.append((argument, number))
        return min(found, default=None)

    def _read(self, op: ir.Operation, cache: Cache) -> None:
        if op.name.startswith("linalg.") and op.name not in ("linalg.yield", "linalg.index"):
            self._structured(op, cache)
        elif op.name == "tensor.cast":
            for axis in range(ir.RankedTensorType(op.results[0].type).rank):
                self._join((op.operands[0], axis), (op.results[0], axis))
        elif op.name == "tensor.empty":
            result = op.results[0]
            dynamic = [a for a in range(ir.RankedTensorType(result.type).rank) if static_size(result, a) is None]
            for axis, operand in zip(dynamic, op.operands, strict=True):
                self._symbol((result, axis), operand)
        elif op.name in ("tensor.expand_shape", "tensor.collapse_shape"):
            self._reshape(op)
        elif op.name == "tensor.extract_slice":
            self._slice(op)

    def _slice(self, op: ir.Operation) -> None:
        """A dynamic size is the extent of the result's axis, unless axes are dropped."""
        source, result = op.operands[0], op.results[0]
        if ir.RankedTensorType(source.type).rank != ir.RankedTensorType(result.type).rank:
            return
        counts = [sum(int(item) == DYNAMIC for item in ir.DenseI64ArrayAttr(op.attributes[name]))
                  for name in ("static_offsets", "static_sizes")]  # fmt: skip
        values = list(op.operands)[1 + counts[0] : 1 + sum(counts)]
        sizes = [int(item) for item in ir.DenseI64ArrayAttr(op.attributes["static_sizes"])]
        for axis, size in enumerate(sizes):
            if size == DYNAMIC:
                self._symbol((result, axis), values.pop(0))

    def _symbol(self, axis: Axis, size: ir.Value) -> None:
        """``axis`` is as long as the index value ``size`` says."""
        if not isinstance(size.owner, ir.Block) and size.owner.operation.name == "tensor.dim":
            source, number = size.owner.operation.operands
            if not isinstance(number.owner, ir.Block) and number.owner.operation.name == "arith.constant":
                self._join(axis, (source, int(ir.IntegerAttr(number.owner.operation.attributes["value"]).value)))
                return
        known = self._symbols.setdefault(size, axis)
        self._join(axis, known)

    def _structured(self, op: ir.Operation, cache: Cache) -> None:
        try:
            form = cache.form(op)
        except Unreadable:
            return
        loops: dict[int, Axis] = {}
        for operand, positions in zip(form.operands, form.maps, strict=True):
            for axis, position in enumerate(positions or ()):
                loop = plain_dim(position)
                if loop is not None:
                    self._join((operand, axis), loops.setdefault(loop, (operand, axis)))
        for number, result in enumerate(op.results):
            init = form.operands[form.inputs + number]
            for axis in range(ir.RankedTensorType(result.type).rank):
                self._join((init, axis), (result, axis))

    def _reshape(self, op: ir.Operation) -> None:
        expand = op.name == "tensor.expand_shape"
        wide, narrow = (op.results[0], op.operands[0]) if expand else (op.operands[0], op.results[0])
        for number, group in enumerate(reassociation(op)):
            long_axes = [axis for axis in group if static_size(wide, axis) != 1]
            if len(long_axes) == 1:
                self._join((wide, long_axes[0]), (narrow, number))
