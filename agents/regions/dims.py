"""Names for the dimensions of a region's arguments: equal names where extents are equal in every run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from kc.agents.regions.calls import SCALAR, equal_in_calls
from kc.bindings import ir
from kc.rewrite import walk_ops

Axis = tuple[ir.Value, int]

_ELEMENTWISE = frozenset({
    "abs", "add", "and", "atan2", "cbrt", "ceil", "compare", "complex", "convert", "cosine",
    "count_leading_zeros", "divide", "exponential", "exponential_minus_one", "floor", "imag", "is_finite",
    "log", "log_plus_one", "logistic", "maximum", "minimum", "multiply", "negate", "not", "or", "popcnt",
    "power", "real", "reduce_precision", "remainder", "round_nearest_afz", "round_nearest_even", "rsqrt",
    "shift_left", "shift_right_arithmetic", "shift_right_logical", "sign", "sine", "sqrt", "subtract", "tan",
    "tanh", "xor",
})  # fmt: skip


def dimensions(function: ir.Operation, module: ir.Operation | None = None) -> list[tuple[str, ...]]:
    """One name per axis of each argument of ``function``; a static extent's name is its number.

    A scalar has none, but for an ``index`` that is one of the extents in every run: its name is that extent's. Extents
    are equal where the function's own ops, or all its calls in ``module``, say so. What stands in ``kc.dims`` already
    is kept, and spread to all axes that must agree with it. Other names are ``d0``, ``d1`` … in order, as far as they
    are free.
    """
    arguments = list(function.regions[0].blocks[0].arguments)
    given = declared(function, len(arguments))
    classes = _classes(function)
    for one, other in () if module is None else equal_in_calls(function, module):
        classes.join(one, other)
    names: dict[Axis, str] = {}
    for argument, told in zip(arguments, given, strict=True):
        for axis, name in enumerate(told):
            if name and not name.isdigit():
                names.setdefault(classes.find((argument, axis)), name)
    taken = {name for told in given for name in told}
    fresh = (name for name in (f"d{number}" for number in range(1 << 20)) if name not in taken)
    result = []
    for root in map(classes.find, _open_axes(arguments)):
        if root not in names:
            names[root] = next(fresh)
    for argument in arguments:
        own = []
        if isinstance(argument.type, ir.IndexType):
            sized = {classes.find(axis) for axis in _open_axes(arguments)}
            own = [names[root]] if (root := classes.find((argument, SCALAR))) in sized and root in names else []
        for axis, extent in enumerate(_shape(argument)):
            if extent is not None:
                own.append(str(extent))
                continue
            own.append(names[classes.find((argument, axis))])
        result.append(tuple(own))
    return result


def _open_axes(arguments: Sequence[ir.Value]) -> list[Axis]:
    """The axes of arguments whose extents are not static, in order."""
    return [(a, axis) for a in arguments for axis, extent in enumerate(_shape(a)) if extent is None]


class Extents:
    """The extents of the values of a function, told by the names of its arguments' dimensions."""

    def __init__(self, function: ir.Operation, dims: Sequence[Sequence[str]]):
        from kc.kernels.shapes import Extents as OfLinalg
        from kc.kernels.structured import Cache

        arguments = list(function.regions[0].blocks[0].arguments)
        numbers = {value: number for number, value in enumerate(arguments)}
        self._dims = dims
        self._classes = _classes(function)
        self._linalg = OfLinalg(walk_ops(function), numbers.get, Cache())
        self._names = {
            self._classes.find((argument, axis)): name
            for argument, own in zip(arguments, dims, strict=True)
            for axis, name in enumerate(own)
        }

    def shape(self, value: ir.Value, sizes: Mapping[str, int]) -> list[int] | None:
        """The shape of a tensor or buffer where dimensions are as ``sizes``; None where one is not known."""
        shape = []
        for axis, extent in enumerate(_shape(value)):
            if extent is None:
                name = self._names.get(self._classes.find((value, axis)))
                if name is None and isinstance(value.type, ir.RankedTensorType):
                    source = self._linalg.source(value, axis)
                    name = None if source is None else self._dims[source[0]][source[1]]
                extent = None if name is None else int(name) if name.isdigit() else sizes.get(name)
            if extent is None:
                return None
            shape.append(extent)
        return shape


def declared(function: ir.Operation, count: int) -> list[tuple[str, ...]]:
    """The names that stand in ``kc.dims`` of each argument; empty where there is none."""
    if "arg_attrs" not in function.attributes:
        return [()] * count
    found: list[tuple[str, ...]] = []
    for entries in ir.ArrayAttr(function.attributes["arg_attrs"]):
        named = {entry.name: entry.attr for entry in ir.DictAttr(entries)}
        dims = named.get("kc.dims")
        found.append(tuple(ir.StringAttr(d).value for d in ir.ArrayAttr(dims)) if dims is not None else ())
    return found


class _Union:
    """Sets of axes whose extents are equal."""

    def __init__(self) -> None:
        self._parent: dict[Axis, Axis] = {}

    def find(self, axis: Axis) -> Axis:
        """The axis that stands for all equal ones."""
        while axis in self._parent:
            axis = self._parent[axis]
        return axis

    def join(self, first: Axis, second: Axis) -> None:
        """Make the two equal."""
        one, other = self.find(first), self.find(second)
        if one != other:
            self._parent[other] = one

    def join_all(self, values: Sequence[ir.Value]) -> None:
        """Values of one shape."""
        ranks = {len(_shape(value)) for value in values}
        if len(ranks) == 1:
            for value in values[1:]:
                for axis in range(len(_shape(value))):
                    self.join((values[0], axis), (value, axis))


def _classes(function: ir.Operation) -> _Union:
    union = _Union()
    ops = walk_ops(function)
    _from_linalg(union, function, ops)
    for op in ops:
        dialect, _, name = op.name.partition(".")
        if op.name == "linalg.generic":
            _along_loops(union, op)
        if dialect in ("stablehlo", "chlo"):
            for one, other in _from_stablehlo(op, name):
                union.join(one, other)
            if name in _ELEMENTWISE:
                union.join_all([*op.operands, *op.results])
    return union


def _along_loops(union: _Union, op: ir.Operation) -> None:
    """Axes that one loop of a ``linalg.generic`` runs over have one extent, whatever the body does; results have the
    shapes of their destinations."""
    for result, into in zip(op.results, list(op.operands)[len(op.operands) - len(op.results) :], strict=True):
        union.join_all([into, result])
    loops: dict[int, Axis] = {}
    for operand, attribute in zip(op.operands, ir.ArrayAttr(op.attributes["indexing_maps"]), strict=True):
        for axis, result in enumerate(ir.AffineMapAttr(attribute).value.results):
            if isinstance(result, ir.AffineDimExpr):
                union.join(loops.setdefault(result.position, (operand, axis)), (operand, axis))


def _from_linalg(union: _Union, function: ir.Operation, ops: Sequence[ir.Operation]) -> None:
    """What ``kc.kernels`` knows of the ops of linalg and tensor, for the function's arguments."""
    from kc.kernels.shapes import Extents
    from kc.kernels.structured import Cache

    arguments = {value: number for number, value in enumerate(function.regions[0].blocks[0].arguments)}
    if not any(isinstance(value.type, ir.RankedTensorType) for value in arguments):
        return
    extents = Extents(ops, arguments.get, Cache())
    axes = _open_axes(list(arguments))
    for number, axis in enumerate(axes):
        for other in axes[:number]:
            if extents.same(other, axis):
                union.join(other, axis)
                break
    given = list(arguments)
    for op in ops:
        if op.name != "tensor.empty":
            continue
        sizes = iter(op.operands)
        for place in (place for place, extent in enumerate(_shape(op.results[0])) if extent is None):
            size, source = next(sizes), extents.source(op.results[0], place)
            if size in arguments and source is not None:
                union.join((given[source[0]], source[1]), (size, SCALAR))


def _from_stablehlo(op: ir.Operation, name: str) -> Iterator[tuple[Axis, Axis]]:
    """Axes that an op of StableHLO forces to agree, besides the elementwise ones."""
    if name == "dot_general":
        numbers = str(op.attributes["dot_dimension_numbers"])
        for kind in ("batching", "contracting"):
            left, right = (_numbers(numbers, f"{side}_{kind}_dimensions") for side in ("lhs", "rhs"))
            for one, other in zip(left, right, strict=False):
                yield (op.operands[0], one), (op.operands[1], other)
    elif name == "transpose":
        for axis, source in enumerate(ir.DenseI64ArrayAttr(op.attributes["permutation"])):
            yield (op.operands[0], source), (op.results[0], axis)


def _numbers(text: str, key: str) -> list[int]:
    """The list of numbers under ``key`` in the text of a dimension numbers attribute."""
    _, found, rest = text.partition(f"{key} = [")
    return [int(word) for word in rest.partition("]")[0].split(",") if word.strip()] if found else []


def _shape(value: ir.Value) -> list[int | None]:
    """Extents of a tensor or buffer, None where one is dynamic; empty for anything else."""
    kind = value.type
    if isinstance(kind, (ir.RankedTensorType, ir.MemRefType)):
        return [None if kind.is_dynamic_dim(axis) else kind.get_dim_size(axis) for axis in range(kind.rank)]
    return []


def sizes_of(dims: Iterable[Sequence[str]], known: Mapping[str, tuple[int, int]]) -> dict[str, tuple[int, int]]:
    """The range of every named dimension: as ``known``, else up to ``LARGEST``."""
    names = dict.fromkeys(name for own in dims for name in own if not name.isdigit())
    return {name: known.get(name, (0, LARGEST)) for name in names}


#: largest extent that a contract tells of a dimension that the program leaves open: beyond 16-bit indices
LARGEST = 1 << 17
