"""``stablehlo.convolution`` as one ``linalg.generic`` over padded input and kernel."""

from __future__ import annotations

from kc.bindings import ir, stablehlo_api
from kc.passes.conversion._attrs import flags, integer, ints, pairs
from kc.passes.conversion._emit import DYNAMIC, Emitter, Index, element, ranked, shape_of, tensor_type
from kc.passes.conversion._movement import pad
from kc.passes.conversion._multiply_add import multiply_add
from kc.passes.conversion._reshape import reshape
from kc.passes.conversion._scalar import unsigned_flags


def convolution(e: Emitter, op: ir.Operation, padding: list[tuple[Index, Index]] | None = None) -> ir.Value:
    """The convolution's value. Loops: batch, output space, group, features of the group | kernel space, input features.

    ``padding`` overrides the op's (``dynamic_conv``).
    """
    lhs, rhs = op.operands[0], op.operands[1]
    numbers = stablehlo_api.ConvDimensionNumbers(op.attributes["dimension_numbers"])
    space = len(numbers.input_spatial_dimensions)
    strides = ints(op, "window_strides", [1] * space)
    lhs_dilation, rhs_dilation = ints(op, "lhs_dilation", [1] * space), ints(op, "rhs_dilation", [1] * space)
    feature_groups, batch_groups = integer(op, "feature_group_count", 1), integer(op, "batch_group_count", 1)
    groups = max(feature_groups, batch_groups)
    type_ = op.results[0].type
    unsigned = unsigned_flags(op)

    lhs = _pad_input(
        e,
        lhs,
        list(numbers.input_spatial_dimensions),
        padding or pairs(op, "padding", space),
        lhs_dilation,
        integer_zero=e.const(element(lhs), 0),
    )
    reversed_axes = [
        axis
        for axis, flag in zip(numbers.kernel_spatial_dimensions, flags(op, "window_reversal", space), strict=True)
        if flag
    ]
    if reversed_axes:
        rhs = _reverse(e, rhs, reversed_axes)
    kernel = [e.dim(rhs, axis) for axis in numbers.kernel_spatial_dimensions]

    # loop numbers: result axes first (features split in group and rest when there are groups), then the reduced ones
    batch, out_space = 0, list(range(1, 1 + space))
    group = 1 + space if groups > 1 else None
    feature = 1 + space + (groups > 1)
    kernel_space = list(range(feature + 1, feature + 1 + space))
    in_feature = feature + 1 + space
    loops = in_feature + 1
    dim = ir.AffineDimExpr.get

    lhs_exprs: list[list[ir.AffineExpr]] = [[] for _ in range(ranked(lhs).rank)]
    rhs_exprs: list[list[ir.AffineExpr]] = [[] for _ in range(ranked(rhs).rank)]
    lhs_exprs[numbers.input_batch_dimension] = [dim(batch)]
    lhs_exprs[numbers.input_feature_dimension] = [dim(in_feature)]
    rhs_exprs[numbers.kernel_input_feature_dimension] = [dim(in_feature)]
    rhs_exprs[numbers.kernel_output_feature_dimension] = [dim(feature)]
    for i, (x, k) in enumerate(zip(numbers.input_spatial_dimensions, numbers.kernel_spatial_dimensions, strict=True)):
        at = dim(out_space[i]) * strides[i] if strides[i] != 1 else dim(out_space[i])
        # a kernel of extent 1 leaves the input's index alone, so that a 1x1 convolution reads as a matrix product
        lhs_exprs[x] = [at if kernel[i] == 1 else at + dim(kernel_space[i]) * rhs_dilation[i]]
        rhs_exprs[k] = [dim(kernel_space[i])]
    if group is not None:
        split = numbers.input_batch_dimension if batch_groups > 1 else numbers.input_feature_dimension
        lhs = _split(e, lhs, split, groups)
        lhs_exprs[split].insert(0, dim(group))
        rhs = _split(e, rhs, numbers.kernel_output_feature_dimension, groups)
        rhs_exprs[numbers.kernel_output_feature_dimension].insert(0, dim(group))

    out_exprs: list[list[ir.AffineExpr]] = [[] for _ in range(ranked(type_).rank)]
    extents: list[list[Index]] = [[] for _ in out_exprs]
    out_exprs[numbers.output_batch_dimension] = [dim(batch)]
    lhs_batch_axis = numbers.input_batch_dimension + (group is not None and split < numbers.input_batch_dimension)
    if batch_groups > 1:
        lhs_batch_axis = numbers.input_batch_dimension + 1
    extents[numbers.output_batch_dimension] = [e.dim(lhs, lhs_batch_axis)]
    for i, axis in enumerate(numbers.output_spatial_dimensions):
        out_exprs[axis] = [dim(out_space[i])]
        x = numbers.input_spatial_dimensions[i]
        x += group is not None and split < x
        reach = e.add(e.mul(e.sub(kernel[i], 1), rhs_dilation[i]), 1)
        room = e.add(e.sub(e.dim(lhs, x), reach), strides[i])
        extents[axis] = [e.floordiv(e.max(0, room), strides[i])]
        known = shape_of(type_)[axis]
        if known is not None:
            extents[axis] = [known]
    axis = numbers.output_feature_dimension
    out_exprs[axis] = [dim(feature)] if group is None else [dim(group), dim(feature)]
    kernel_out = numbers.kernel_output_feature_dimension
    extents[axis] = [e.dim(rhs, kernel_out)] if group is None else [groups, e.dim(rhs, kernel_out + 1)]

    flat = [x for part in extents for x in part]
    grouped = tensor_type([x if isinstance(x, int) else DYNAMIC for x in flat], element(type_))
    init = e.splat(grouped, flat, e.const(element(type_), 0))
    maps = [
        ir.AffineMap.get(loops, 0, [x for part in exprs for x in part]) for exprs in (lhs_exprs, rhs_exprs, out_exprs)
    ]
    iterators = ["parallel"] * (feature + 1) + ["reduction"] * (space + 1)
    value = e.generic([lhs, rhs], [init], maps, iterators, lambda i, a: [multiply_add(i, a, unsigned)])[0]
    if group is None:
        return value
    return reshape(e, value, type_, [e.product(part) for part in extents])


def _pad_input(
    e: Emitter,
    lhs: ir.Value,
    axes: list[int],
    padding: list[tuple[Index, Index]] | list[tuple[int, int]],
    dilation: list[int],
    integer_zero: ir.Value,
) -> ir.Value:
    rank = ranked(lhs).rank
    low: list[Index] = [0] * rank
    high: list[Index] = [0] * rank
    interior: list[Index] = [0] * rank
    for axis, (lo, hi), step in zip(axes, padding, dilation, strict=True):
        low[axis], high[axis], interior[axis] = lo, hi, step - 1
    shape: list[int] = []
    for n, lo, hi, k in zip(shape_of(lhs), low, high, interior, strict=True):
        if n is None or not isinstance(lo, int) or not isinstance(hi, int) or not isinstance(k, int):
            untouched = (lo, hi, k) == (0, 0, 0)
            shape.append(DYNAMIC if n is None or not untouched else n)
        else:
            shape.append(max(0, n + max(n - 1, 0) * k) + lo + hi)
    return pad(e, lhs, integer_zero, tensor_type(shape, element(lhs)), low, high, interior)


def _reverse(e: Emitter, value: ir.Value, axes: list[int]) -> ir.Value:
    extents = e.dims(value)
    return e.tabulate(
        value.type,
        extents,
        lambda i, at: i.extract(value, [i.sub(i.sub(extents[d], 1), x) if d in axes else x for d, x in enumerate(at)]),
    )


def _split(e: Emitter, value: ir.Value, axis: int, groups: int) -> ir.Value:
    """``axis`` of extent ``groups * n`` as two axes (groups, n)."""
    extents = e.dims(value)
    extents[axis : axis + 1] = [groups, e.floordiv(extents[axis], groups)]
    type_ = tensor_type([x if isinstance(x, int) else DYNAMIC for x in extents], element(value))
    return reshape(e, value, type_, extents)
