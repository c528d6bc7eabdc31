"""What StableHLO demands of run-time sizes: per op, pairs of symbolic sizes and how they must relate.

``rules(op, symbols)`` yields a ``Rule`` for every constraint of the specification that involves a size which is only
known at run time, or that is an operand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Literal, NamedTuple

from kc.bindings import ir, stablehlo_api
from kc.passes.conversion._attrs import integer, ints, pairs
from kc.passes.conversion._emit import ranked, shape_of
from kc.passes.conversion._scalar import RULES
from kc.passes.conversion._shapes import ShapeSymbols, Sym, fold, reads_data

Relation = Literal["eq", "le", "one"]
#: elements that an array may have, and numbers that padding may be: bytes and sums of some of them stay within 64 bits
_MOST = 2**47


class Rule(NamedTuple):
    """``lhs`` and ``rhs`` must be equal (``eq``), ordered (``le``), or equal unless ``lhs`` is 1 (``one``).

    ``text`` says so to a person, with ``{0}`` and ``{1}`` in the places of the two numbers.
    """

    relation: Relation
    lhs: Sym
    rhs: Sym
    text: str


def rules(op: ir.Operation, symbols: ShapeSymbols) -> Iterator[Rule]:
    """The constraints on run-time sizes of one StableHLO op, those of its declared result type included.

    Both sides may be constants: the verifier does not look at all operands that are.
    """
    own = _RULES.get(op.name)
    if own is not None:
        yield from own(op, symbols)
    elif op.name in RULES or op.name == "stablehlo.map" or _is_chlo_elementwise(op):
        full = [k for k, v in enumerate(op.operands) if ranked(v).rank == ranked(op.results[0]).rank]
        yield from _equal_operands(op, symbols, full)
    for number, result in enumerate(op.results):
        if isinstance(result.type, ir.RankedTensorType):
            yield from _declared(op, symbols, number)


def _is_chlo_elementwise(op: ir.Operation) -> bool:
    return op.name.startswith("chlo.") and len({tuple(shape_of(v)) for v in (*op.operands, *op.results)}) == 1


def _declared(op: ir.Operation, symbols: ShapeSymbols, number: int) -> Iterator[Rule]:
    """Sizes that the result's type states must be the ones that the operands give."""
    result = op.results[number]
    if all(n is None for n in shape_of(result)):
        return
    found = _window_result(op, symbols) if op.name in _WINDOWS else symbols.infer(op, result)
    if found is None:
        return
    which = "the result" if len(op.results) == 1 else f"result {number}"
    for axis, (size, n) in enumerate(zip(found, shape_of(result), strict=True)):
        if n is not None and not isinstance(size, int) and not _refers_to(size, op):
            yield Rule("eq", size, n, f"dimension {axis} of {which} has size {{0}}, its type says {{1}}")


def _refers_to(symbol: Sym, op: ir.Operation) -> bool:
    if isinstance(symbol, int):
        return False
    if symbol[0] in ("dim", "elem"):
        return symbol[1] in list(op.results)
    return _refers_to(symbol[1], op) or _refers_to(symbol[2], op)


def _equal_operands(op: ir.Operation, symbols: ShapeSymbols, which: Sequence[int]) -> Iterator[Rule]:
    """All dimensions of the operands ``which`` agree."""
    for number in which[1:]:
        yield from _same(op, symbols, which[0], number)


def _same(op: ir.Operation, symbols: ShapeSymbols, a: int, b: int, skip: Sequence[int] = ()) -> Iterator[Rule]:
    lhs, rhs = symbols.dims(op.operands[a]), symbols.dims(op.operands[b])
    for axis, (m, n) in enumerate(zip(lhs, rhs, strict=True)):
        if axis not in skip:
            yield _pair(a, axis, m, b, axis, n)


def _pair(a: int, i: int, m: Sym, b: int, j: int, n: Sym, relation: Relation = "eq") -> Rule:
    text = f"dimension {i} of operand {a} has size {{0}}, dimension {j} of operand {b} has size {{1}}"
    return Rule(relation, m, n, text)


def _product(sizes: Sequence[Sym]) -> Sym:
    result: Sym = 1
    for size in sizes:
        result = size if result == 1 else fold("stablehlo.multiply", result, size)
    return result


# ---------------------------------------------------------------------------------------------------------- the ops


def _dot_general(op: ir.Operation, symbols: ShapeSymbols) -> Iterator[Rule]:
    numbers = stablehlo_api.DotDimensionNumbers(op.attributes["dot_dimension_numbers"])
    lhs, rhs = symbols.dims(op.operands[0]), symbols.dims(op.operands[1])
    left = [*numbers.lhs_batching_dimensions, *numbers.lhs_contracting_dimensions]
    right = [*numbers.rhs_batching_dimensions, *numbers.rhs_contracting_dimensions]
    for i, j in zip(left, right, strict=True):
        yield _pair(0, i, lhs[i], 1, j, rhs[j])


def _dot(op: ir.Operation, symbols: ShapeSymbols) -> Iterator[Rule]:
    lhs, rhs = symbols.dims(op.operands[0]), symbols.dims(op.operands[1])
    yield _pair(0, len(lhs) - 1, lhs[-1], 1, 0, rhs[0])


def _concatenate(op: ir.Operation, symbols: ShapeSymbols) -> Iterator[Rule]:
    for number in range(1, len(op.operands)):
        yield from _same(op, symbols, 0, number, [integer(op, "dimension")])


def _variadic(op: ir.Operation, symbols: ShapeSymbols) -> Iterator[Rule]:
    yield from _equal_operands(op, symbols, range(len(op.results)))


def _reshape(op: ir.Operation, symbols: ShapeSymbols) -> Iterator[Rule]:
    source = symbols.dims(op.operands[0])
    target: Sequence[Sym] = [n for n in shape_of(op.results[0]) if n is not None]
    if len(op.operands) == 2:
        target = symbols.entries(op.operands[1])
        yield from _not_negative(op, symbols, 1)
        yield from _countable(op, target)
    elif len(target) != ranked(op.results[0]).rank:
        return
    yield Rule("eq", _product(source), _product(target), "{0} elements cannot take a shape of {1}")


def _not_negative(op: ir.Operation, symbols: ShapeSymbols, number: int) -> Iterator[Rule]:
    for position, size in enumerate(symbols.entries(op.operands[number])):
        yield Rule("le", 0, size, f"size {{1}} is asked for in dimension {position}")


def _countable(op: ir.Operation, sizes: Sequence[Sym]) -> Iterator[Rule]:
    """Sizes that come from data do not multiply to more elements than can be counted: a product must not wrap."""
    total: Sym = 1
    for axis, (size, known) in enumerate(zip(sizes, shape_of(op.results[0]), strict=True)):
        if known is None and (isinstance(size, int) or reads_data(size)):
            room = _MOST // max(total, 1) if isinstance(total, int) else fold("floordiv", _MOST, fold("max", total, 1))
            text = f"size {{0}} is asked for in dimension {axis}, where at most {{1}} is possible"
            yield Rule("le", size, room, text)
        total = _product([total, size if known is None else known])


def _dynamic_iota(op: ir.Operation, symbols: ShapeSymbols) -> Iterator[Rule]:
    yield from _not_negative(op, symbols, 0)
    yield from _countable(op, symbols.entries(op.operands[0]))


def _dynamic_broadcast(op: ir.Operation, symbols: ShapeSymbols) -> Iterator[Rule]:
    yield from _not_negative(op, symbols, 1)
    target = symbols.entries(op.operands[1])
    yield from _countable(op, target)
    source = symbols.dims(op.operands[0])
    for axis, (size, place) in enumerate(zip(source, ints(op, "broadcast_dimensions"), strict=True)):
        if size != 1:
            text = f"dimension {axis} of the operand has size {{0}}, which cannot be repeated to {{1}}"
            yield Rule("one", size, target[place], text)


def _slice(op: ir.Operation, symbols: ShapeSymbols) -> Iterator[Rule]:
    limits = ints(op, "limit_indices")
    for axis, (size, limit) in enumerate(zip(symbols.dims(op.operands[0]), limits, strict=True)):
        yield Rule("le", limit, size, f"the slice ends at {{0}} in dimension {axis}, which has size {{1}}")


def _real_dynamic_slice(op: ir.Operation, symbols: ShapeSymbols) -> Iterator[Rule]:
    starts, limits, strides = (symbols.entries(v) for v in list(op.operands)[1:4])
    for axis, size in enumerate(symbols.dims(op.operands[0])):
        yield Rule("le", 0, starts[axis], f"the slice starts at {{1}} in dimension {axis}")
        yield Rule("le", starts[axis], limits[axis], f"the slice is from {{0}} to {{1}} in dimension {axis}")
        yield Rule("le", limits[axis], size, f"the slice ends at {{0}} in dimension {axis}, which has size {{1}}")
        yield Rule("le", 1, strides[axis], f"the slice has stride {{1}} in dimension {axis}")


def _slice_sizes(op: ir.Operation, symbols: ShapeSymbols, sizes: Sequence[Sym]) -> Iterator[Rule]:
    for axis, (size, n) in enumerate(zip(sizes, symbols.dims(op.operands[0]), strict=True)):
        yield Rule("le", size, n, f"a slice of size {{0}} is taken from dimension {axis}, which has size {{1}}")


def _dynamic_slice(op: ir.Operation, symbols: ShapeSymbols) -> Iterator[Rule]:
    yield from _slice_sizes(op, symbols, ints(op, "slice_sizes"))


def _dynamic_update_slice(op: ir.Operation, symbols: ShapeSymbols) -> Iterator[Rule]:
    for axis, (n, size) in enumerate(zip(*(symbols.dims(v) for v in list(op.operands)[:2]), strict=True)):
        yield Rule("le", size, n, f"an update of size {{0}} goes into dimension {axis}, which has size {{1}}")


def _gather(op: ir.Operation, symbols: ShapeSymbols) -> Iterator[Rule]:
    numbers = stablehlo_api.GatherDimensionNumbers(op.attributes["dimension_numbers"])
    if op.name == "stablehlo.gather":
        yield from _slice_sizes(op, symbols, ints(op, "slice_sizes"))
    else:
        sizes = symbols.entries(op.operands[2])
        yield from _slice_sizes(op, symbols, sizes)
        for axis, size in enumerate(sizes):
            yield Rule("le", 0, size, f"a slice of size {{1}} is taken from dimension {axis}")
            if axis in (*numbers.collapsed_slice_dims, *numbers.operand_batching_dims):
                text = f"a slice of size {{0}} is taken from dimension {axis}, which the result lacks"
                yield Rule("le", size, 1, text)
    operand, starts = symbols.dims(op.operands[0]), symbols.dims(op.operands[1])
    batching = zip(numbers.operand_batching_dims, numbers.start_indices_batching_dims, strict=True)
    for i, j in batching:
        yield _pair(0, i, operand[i], 1, j, starts[j])


def _scatter(op: ir.Operation, symbols: ShapeSymbols) -> Iterator[Rule]:
    numbers = stablehlo_api.ScatterDimensionNumbers(op.attributes["scatter_dimension_numbers"])
    count = len(op.results)
    yield from _equal_operands(op, symbols, range(count))
    yield from _equal_operands(op, symbols, range(count + 1, 2 * count + 1))
    operand, indices, updates = (symbols.dims(op.operands[k]) for k in (0, count, count + 1))
    window = list(numbers.update_window_dims)
    scattered = [a for a in range(len(updates)) if a not in window]
    places = [a for a in range(len(indices)) if a != numbers.index_vector_dim]
    for i, j in zip(places, scattered, strict=True):
        yield _pair(count, i, indices[i], count + 1, j, updates[j])
    batching = list(numbers.input_batching_dims)
    for i, j in zip(batching, numbers.scatter_indices_batching_dims, strict=True):
        yield _pair(0, i, operand[i], count, j, indices[j])
    kept = [a for a in range(len(operand)) if a not in (*numbers.inserted_window_dims, *batching)]
    for i, j in zip(kept, window, strict=True):
        yield _pair(count + 1, j, updates[j], 0, i, operand[i], "le")


def _batch_norm(op: ir.Operation, symbols: ShapeSymbols) -> Iterator[Rule]:
    axis = integer(op, "feature_index")
    size = symbols.dims(op.operands[0])[axis]
    for number, value in enumerate(op.operands):
        if number and ranked(value).rank == 1:
            yield _pair(0, axis, size, number, 0, symbols.dims(value)[0])


def _batch_norm_grad(op: ir.Operation, symbols: ShapeSymbols) -> Iterator[Rule]:
    yield from _batch_norm(op, symbols)
    yield from _same(op, symbols, 0, 4)


def _cholesky(op: ir.Operation, symbols: ShapeSymbols) -> Iterator[Rule]:
    rank, sizes = ranked(op.operands[0]).rank, symbols.dims(op.operands[0])
    yield _pair(0, rank - 2, sizes[-2], 0, rank - 1, sizes[-1])


def _triangular_solve(op: ir.Operation, symbols: ShapeSymbols) -> Iterator[Rule]:
    yield from _cholesky(op, symbols)
    rank = ranked(op.operands[0]).rank
    yield from _same(op, symbols, 0, 1, [rank - 2, rank - 1])
    a, b = symbols.dims(op.operands[0]), symbols.dims(op.operands[1])
    axis = rank - 2 if ir.BoolAttr(op.attributes["left_side"]).value else rank - 1
    yield _pair(0, axis, a[axis], 1, axis, b[axis])


def _fft(op: ir.Operation, symbols: ShapeSymbols) -> Iterator[Rule]:
    lengths = ints(op, "fft_length")
    sizes = symbols.dims(op.operands[0])
    first = len(sizes) - len(lengths)
    if str(op.attributes["fft_type"]).split()[-1].startswith("IRFFT"):
        lengths = [*lengths[:-1], lengths[-1] // 2 + 1 if lengths[-1] else 0]
    for axis, n in enumerate(lengths, first):
        yield Rule("eq", sizes[axis], n, f"dimension {axis} of operand 0 has size {{0}}, the transform takes {{1}}")


def _convolution(op: ir.Operation, symbols: ShapeSymbols) -> Iterator[Rule]:
    numbers = stablehlo_api.ConvDimensionNumbers(op.attributes["dimension_numbers"])
    lhs, rhs = symbols.dims(op.operands[0]), symbols.dims(op.operands[1])
    i, j = numbers.input_feature_dimension, numbers.kernel_input_feature_dimension
    groups = integer(op, "feature_group_count", 1)
    features = rhs[j] if groups == 1 else fold("stablehlo.multiply", rhs[j], groups)
    yield Rule("eq", lhs[i], features, f"dimension {i} of operand 0 has size {{0}}, the kernel takes {{1}} features")


def _select_and_scatter(op: ir.Operation, symbols: ShapeSymbols) -> Iterator[Rule]:
    found = _window_result(op, symbols)
    for axis, (size, n) in enumerate(zip(found, symbols.dims(op.operands[1]), strict=True)):
        yield Rule("eq", size, n, f"operand 0 has {{0}} windows in dimension {axis}, operand 1 has size {{1}}")


def _pad(op: ir.Operation, symbols: ShapeSymbols) -> Iterator[Rule]:
    if op.name == "stablehlo.dynamic_pad":
        low, high, interior = (symbols.entries(v) for v in list(op.operands)[2:5])
        for axis, n in enumerate(symbols.dims(op.operands[0])):
            between = f"{{1}} elements are asked for between those of dimension {axis}"
            yield Rule("le", 0, interior[axis], between)
            room = _MOST // max(n, 1) if isinstance(n, int) else fold("floordiv", _MOST, fold("max", n, 1))
            yield Rule("le", interior[axis], room, between.replace("{1}", "{0}") + ", where at most {1} are possible")
            for edge in (low[axis], high[axis]):
                yield Rule("le", edge, _MOST, f"padding by {{0}} is asked for in dimension {axis}, {{1}} is possible")
                yield Rule("le", -_MOST, edge, f"padding by {{1}} is asked for in dimension {axis}, {{0}} is possible")
    for axis, size in enumerate(_pad_result(op, symbols)):
        yield Rule("le", 0, size, f"padding leaves {{1}} elements of dimension {axis}")
    if op.name == "stablehlo.dynamic_pad":
        yield from _countable(op, _pad_result(op, symbols))


def _pad_result(op: ir.Operation, symbols: ShapeSymbols) -> list[Sym]:
    if op.name == "stablehlo.pad":
        low, high, interior = (
            list[Sym](ints(op, f"edge_padding_{k}") if k != "interior" else ints(op, "interior_padding"))
            for k in ("low", "high", "interior")
        )
    else:
        low, high, interior = (list(symbols.entries(v)) for v in list(op.operands)[2:5])
    found = []
    for n, lo, hi, inner in zip(symbols.dims(op.operands[0]), low, high, interior, strict=True):
        found.append(_sum(_dilated(n, inner), lo, hi))
    return found


def _dilated(size: Sym, between: Sym) -> Sym:
    """``size`` elements with ``between`` others between neighbours: n + max(n - 1, 0) * between."""
    if between == 0:
        return size
    gaps = fold("max", fold("stablehlo.subtract", size, 1), 0)
    return fold("stablehlo.add", size, fold("stablehlo.multiply", gaps, between))


def _sum(*terms: Sym) -> Sym:
    total: Sym = 0
    for term in terms:
        if term != 0:
            total = term if total == 0 else fold("stablehlo.add", total, term)
    return total


def _window_result(op: ir.Operation, symbols: ShapeSymbols) -> list[Sym]:
    """Number of windows per dimension: (dilated size + padding - dilated window + stride) / stride, at least 0."""
    if op.name in ("stablehlo.pad", "stablehlo.dynamic_pad"):
        return _pad_result(op, symbols)
    sizes = symbols.dims(op.operands[0])
    rank = len(sizes)
    ones = [1] * rank
    found: list[Sym] = []
    for axis, n in enumerate(sizes):
        window = ints(op, "window_dimensions", ones)[axis]
        reach = (window - 1) * ints(op, "window_dilations", ones)[axis] + 1
        low, high = pairs(op, "padding", rank)[axis]
        room = _sum(_dilated(n, ints(op, "base_dilations", ones)[axis] - 1), low + high - reach)
        stride = ints(op, "window_strides", ones)[axis]
        plain = (reach, low, high, stride) == (1, 0, 0, 1) and ints(op, "base_dilations", ones)[axis] == 1
        found.append(n if plain else fold("floordiv", fold("max", _sum(room, stride), 0), stride))
    return found


def _top_k(op: ir.Operation, symbols: ShapeSymbols) -> Iterator[Rule]:
    sizes = symbols.dims(op.operands[0])
    yield Rule("le", integer(op, "k"), sizes[-1], "the largest {0} of {1} elements are asked for")


_WINDOWS = frozenset({"stablehlo.pad", "stablehlo.dynamic_pad", "stablehlo.reduce_window"})
_RULES: dict[str, Callable[[ir.Operation, ShapeSymbols], Iterator[Rule]]] = {
    "chlo.top_k": _top_k,
} | {
    f"stablehlo.{name}": rule
    for name, rule in {
        "batch_norm_grad": _batch_norm_grad,
        "batch_norm_inference": _batch_norm,
        "batch_norm_training": _batch_norm,
        "cholesky": _cholesky,
        "concatenate": _concatenate,
        "convolution": _convolution,
        "dot": _dot,
        "dot_general": _dot_general,
        "dynamic_broadcast_in_dim": _dynamic_broadcast,
        "dynamic_conv": _convolution,
        "dynamic_gather": _gather,
        "dynamic_iota": _dynamic_iota,
        "dynamic_pad": _pad,
        "dynamic_reshape": _reshape,
        "dynamic_slice": _dynamic_slice,
        "dynamic_update_slice": _dynamic_update_slice,
        "fft": _fft,
        "gather": _gather,
        "pad": _pad,
        "real_dynamic_slice": _real_dynamic_slice,
        "reduce": _variadic,
        "reduce_window": _variadic,
        "reshape": _reshape,
        "scatter": _scatter,
        "select_and_scatter": _select_and_scatter,
        "slice": _slice,
        "sort": _variadic,
        "triangular_solve": _triangular_solve,
    }.items()
}
