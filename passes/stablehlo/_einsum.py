"""An einsum in StableHLO: reductions of what one operand has alone, a ``dot_general``, a transpose."""

from __future__ import annotations

from collections.abc import Sequence

from kc.bindings import ir
from kc.passes.stablehlo._build import Builder


class EinsumError(Exception):
    """A configuration that does not fit the operands."""


def einsum(op: ir.Operation, config: str) -> ir.Value:
    """The value of ``op`` (one or two operands) for ``config``. Raises EinsumError."""
    b = Builder(op)
    result = ir.RankedTensorType(op.results[0].type)
    element = result.element_type
    inputs, output = _labels(config, [len(b.shape(v)) for v in op.operands], result.rank)
    terms = []
    for value, labels in zip(op.operands, inputs, strict=True):
        others = {x for other in inputs if other is not labels for x in other}
        terms.append(_own_sums(b, value, labels, {*output, *others}, element))
    if len(terms) == 1:
        value, labels = terms[0]
        return _arranged(b, b.convert(value, element), labels, output, result)
    (lhs, left), (rhs, right) = terms
    shared = [x for x in left if x in right]
    batch, summed = [x for x in shared if x in output], [x for x in shared if x not in output]
    for x in shared:
        n, m = b.shape(lhs)[left.index(x)], b.shape(rhs)[right.index(x)]
        if n != m:
            raise EinsumError(f"'{x}' is {n} in one operand and {m} in the other")
    labels = [*batch, *(x for x in left if x not in shared), *(x for x in right if x not in shared)]
    numbers = (
        f"#stablehlo.dot<lhs_batching_dimensions = {[left.index(x) for x in batch]}, "
        f"rhs_batching_dimensions = {[right.index(x) for x in batch]}, "
        f"lhs_contracting_dimensions = {[left.index(x) for x in summed]}, "
        f"rhs_contracting_dimensions = {[right.index(x) for x in summed]}>"
    )
    extents = {**dict(zip(right, b.shape(rhs), strict=True)), **dict(zip(left, b.shape(lhs), strict=True))}
    type_ = b.tensor([extents[x] for x in labels], element)
    product = b.make("dot_general", [lhs, rhs], type_, {"dot_dimension_numbers": ir.Attribute.parse(numbers)})
    return _arranged(b, product, labels, output, result)


def _labels(config: str, ranks: Sequence[int], rank: int) -> tuple[list[list[str]], list[str]]:
    """A label for each dimension of the operands and of the result; ``...`` becomes the labels "0", "1" and so on."""
    text, arrow, out = config.replace(" ", "").partition("->")
    words = text.split(",")
    if len(words) != len(ranks):
        raise EinsumError(f"the configuration '{config}' is for {len(words)} operands and not for {len(ranks)}")
    inputs = [_expand(config, word, n) for word, n in zip(words, ranks, strict=True)]
    if arrow:
        output = _expand(config, out, rank)
    else:
        every = [x for labels in inputs for x in labels]
        rest = sorted({x for x in every if x.isdigit()}, key=int, reverse=True)
        output = [*rest, *sorted(x for x in set(every) if every.count(x) == 1 and not x.isdigit())]
    if len(output) != rank or len(set(output)) != len(output) or not set(output) <= {x for i in inputs for x in i}:
        raise EinsumError(f"the result of the configuration '{config}' is none of rank {rank}")
    return inputs, output


def _expand(config: str, word: str, rank: int) -> list[str]:
    before, dots, after = word.partition("...")
    hidden = rank - len(before) - len(after)
    if (before + after and not (before + after).isalpha()) or hidden < 0 or (hidden and not dots):
        raise EinsumError(
            f"'{word}' in the configuration '{config}' does not name the dimensions of a value of rank {rank}"
        )
    # numbered from the right, as NumPy aligns them
    return [*before, *(str(k) for k in reversed(range(hidden))), *after]


def _own_sums(
    b: Builder, value: ir.Value, labels: list[str], wanted: set[str], element: ir.Type
) -> tuple[ir.Value, list[str]]:
    """``value`` with each label once, and summed over the dimensions whose label nothing else has."""
    twice = next((x for x in labels if labels.count(x) > 1), None)
    while twice is not None:  # the diagonal: zeros beside it, then a sum over one of the two dimensions
        first = labels.index(twice)
        second = labels.index(twice, first + 1)
        i32 = ir.IntegerType.get_signless(32)
        rows, columns = (b.iota(b.like(value, i32), axis) for axis in (first, second))
        zeros = _zeros(b, value)
        value = _sum(b, b.select(b.compare("EQ", rows, columns), value, zeros), [second])
        labels = labels[:second] + labels[second + 1 :]
        twice = next((x for x in labels if labels.count(x) > 1), None)
    alone = [axis for axis, x in enumerate(labels) if x not in wanted]
    if alone:
        value = _sum(b, b.convert(value, element), alone)
    return value, [x for x in labels if x in wanted]


def _zeros(b: Builder, like: ir.Value) -> ir.Value:
    zero = b.convert(b.scalar(0.0, ir.F32Type.get()), b.element(like))  # complex zeros, too
    return b.spread(zero, like)


def _sum(b: Builder, value: ir.Value, axes: Sequence[int]) -> ir.Value:
    zero = b.convert(b.scalar(0.0, ir.F32Type.get()), b.element(value))
    return b.reduce(value, zero, axes, lambda inner, x, y: inner.bin("add", x, y))


def _arranged(
    b: Builder, value: ir.Value, labels: list[str], output: list[str], result: ir.RankedTensorType
) -> ir.Value:
    if labels == output:
        return value
    order = [labels.index(x) for x in output]
    return b.make("transpose", [value], result, {"permutation": ir.DenseI64ArrayAttr.get(order)})
