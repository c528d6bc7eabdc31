# ruff: noqa: E501 (lines of MLIR)
"""The ops of ``type_sweep`` that are not elementwise: movement, indexing, reductions, contractions, control flow."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from stablehlo_oracle import DTYPES, tensor
from type_sweep import Case, reducer
from type_values import order, shaped, values

#: {t}: the element type. name -> (lines, shapes of the arguments of that type, shapes of the results of it)
Table = dict[str, tuple[str, list[tuple[int, ...]], list[tuple[int, ...]]]]

MOVEMENT: Table = {
    "broadcast": ("%r0 = stablehlo.broadcast %x0, sizes = [2] : (tensor<3x{t}>) -> tensor<2x3x{t}>", [(3,)], [(2, 3)]),
    "broadcast_in_dim": ("%r0 = stablehlo.broadcast_in_dim %x0, dims = [2, 0] : (tensor<1x3x{t}>) -> tensor<3x2x4x{t}>", [(1, 3)], [(3, 2, 4)]),
    "broadcast of a scalar": ("%r0 = stablehlo.broadcast_in_dim %x0, dims = [] : (tensor<{t}>) -> tensor<3x2x{t}>", [()], [(3, 2)]),
    "concatenate": ("%r0 = stablehlo.concatenate %x0, %x1, %x2, dim = 1 : (tensor<2x3x{t}>, tensor<2x0x{t}>, tensor<2x1x{t}>) -> tensor<2x4x{t}>", [(2, 3), (2, 0), (2, 1)], [(2, 4)]),
    "concatenate of nothing": ("%r0 = stablehlo.concatenate %x0, %x1, dim = 0 : (tensor<0x3x{t}>, tensor<0x3x{t}>) -> tensor<0x3x{t}>", [(0, 3), (0, 3)], [(0, 3)]),
    "reshape": ("%r0 = stablehlo.reshape %x0 : (tensor<2x6x{t}>) -> tensor<3x4x{t}>", [(2, 6)], [(3, 4)]),
    "reshape to a scalar": ("%r0 = stablehlo.reshape %x0 : (tensor<1x1x{t}>) -> tensor<{t}>", [(1, 1)], [()]),
    "transpose": ("%r0 = stablehlo.transpose %x0, dims = [2, 0, 1] : (tensor<2x3x4x{t}>) -> tensor<4x2x3x{t}>", [(2, 3, 4)], [(4, 2, 3)]),
    "reverse": ("%r0 = stablehlo.reverse %x0, dims = [0, 2] : tensor<2x3x4x{t}>", [(2, 3, 4)], [(2, 3, 4)]),
    "slice": ("%r0 = stablehlo.slice %x0 [1:6:2, 0:3] : (tensor<7x4x{t}>) -> tensor<3x3x{t}>", [(7, 4)], [(3, 3)]),
    "pad": ("%r0 = stablehlo.pad %x0, %x1, low = [1, -1], high = [-2, 3], interior = [2, 1] : (tensor<3x4x{t}>, tensor<{t}>) -> tensor<6x9x{t}>", [(3, 4), ()], [(6, 9)]),
    "pad all round": ("%r0 = stablehlo.pad %x0, %x1, low = [1, 0], high = [0, 2], interior = [0, 0] : (tensor<3x4x{t}>, tensor<{t}>) -> tensor<4x6x{t}>", [(3, 4), ()], [(4, 6)]),
    "select a row": ("%i = stablehlo.constant dense<[9, -4]> : tensor<2xi32>\n%i0 = stablehlo.slice %i [0:1] : (tensor<2xi32>) -> tensor<1xi32>\n%i1 = stablehlo.reshape %i0 : (tensor<1xi32>) -> tensor<i32>\n%r0 = stablehlo.dynamic_slice %x0, %i1, %i1, sizes = [2, 2] : (tensor<4x5x{t}>, tensor<i32>, tensor<i32>) -> tensor<2x2x{t}>", [(4, 5)], [(2, 2)]),
    "dynamic_update_slice": ("%i = stablehlo.constant dense<-3> : tensor<i64>\n%j = stablehlo.constant dense<4> : tensor<i64>\n%r0 = stablehlo.dynamic_update_slice %x0, %x1, %i, %j : (tensor<4x5x{t}>, tensor<2x2x{t}>, tensor<i64>, tensor<i64>) -> tensor<4x5x{t}>", [(4, 5), (2, 2)], [(4, 5)]),
    "dynamic_reshape": ("%s = stablehlo.constant dense<[4, 3]> : tensor<2xi32>\n%r0 = stablehlo.dynamic_reshape %x0, %s : (tensor<2x6x{t}>, tensor<2xi32>) -> tensor<4x3x{t}>", [(2, 6)], [(4, 3)]),
    "dynamic_broadcast_in_dim": ("%s = stablehlo.constant dense<[2, 3]> : tensor<2xi64>\n%r0 = stablehlo.dynamic_broadcast_in_dim %x0, %s, dims = [1] : (tensor<1x{t}>, tensor<2xi64>) -> tensor<2x3x{t}>", [(1,)], [(2, 3)]),
    "dynamic_pad": ("%l = stablehlo.constant dense<[1]> : tensor<1xi32>\n%h = stablehlo.constant dense<[-1]> : tensor<1xi32>\n%n = stablehlo.constant dense<[1]> : tensor<1xi32>\n%r0 = stablehlo.dynamic_pad %x0, %x1, %l, %h, %n : (tensor<4x{t}>, tensor<{t}>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<7x{t}>", [(4,), ()], [(7,)]),
    "real_dynamic_slice": ("%l = stablehlo.constant dense<[1]> : tensor<1xi32>\n%h = stablehlo.constant dense<[6]> : tensor<1xi32>\n%n = stablehlo.constant dense<[2]> : tensor<1xi32>\n%r0 = stablehlo.real_dynamic_slice %x0, %l, %h, %n : (tensor<7x{t}>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3x{t}>", [(7,)], [(3,)]),
    "gather": ('%i = stablehlo.constant dense<[[2, 0], [-1, 9], [1, 2]]> : tensor<3x2xi64>\n%r0 = "stablehlo.gather"(%x0, %i) <{{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 2>}}> : (tensor<4x3x{t}>, tensor<3x2xi64>) -> tensor<3x2x{t}>', [(4, 3)], [(3, 2)]),
    "dynamic_gather": ('%i = stablehlo.constant dense<[[2, 0], [-1, 9], [1, 2]]> : tensor<3x2xi64>\n%s = stablehlo.constant dense<[1, 2]> : tensor<2xi64>\n%r0 = "stablehlo.dynamic_gather"(%x0, %i, %s) <{{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0, 1], index_vector_dim = 1>}}> : (tensor<4x3x{t}>, tensor<3x2xi64>, tensor<2xi64>) -> tensor<3x2x{t}>', [(4, 3)], [(3, 2)]),
    "torch_index_select": ('%i = stablehlo.constant dense<[2, 0]> : tensor<2xi32>\n%r0 = "stablehlo.torch_index_select"(%x0, %i) <{{dim = 1 : i64, batch_dims = 0 : i64}}> : (tensor<2x3x{t}>, tensor<2xi32>) -> tensor<2x2x{t}>', [(2, 3)], [(2, 2)]),
    "scatter": ('%i = stablehlo.constant dense<[[2], [7], [-1], [0]]> : tensor<4x1xi32>\n%r0 = "stablehlo.scatter"(%x0, %i, %x1) <{{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = true}}> ({{\n^bb0(%a: tensor<{t}>, %b: tensor<{t}>):\nstablehlo.return %b : tensor<{t}>\n}}) : (tensor<4x3x{t}>, tensor<4x1xi32>, tensor<4x3x{t}>) -> tensor<4x3x{t}>', [(4, 3), (4, 3)], [(4, 3)]),
    "case": ("%i = stablehlo.constant dense<-1> : tensor<i32>\n%r0 = \"stablehlo.case\"(%i) ({{\nstablehlo.return %x0 : tensor<3x{t}>\n}}, {{\nstablehlo.return %x1 : tensor<3x{t}>\n}}) : (tensor<i32>) -> tensor<3x{t}>", [(3,), (3,)], [(3,)]),
    "if": ("%p = stablehlo.constant dense<false> : tensor<i1>\n%r0 = \"stablehlo.if\"(%p) ({{\nstablehlo.return %x0 : tensor<{t}>\n}}, {{\nstablehlo.return %x1 : tensor<{t}>\n}}) : (tensor<i1>) -> tensor<{t}>", [(), ()], [()]),
    "while": ("%c0 = stablehlo.constant dense<0> : tensor<i32>\n%c1 = stablehlo.constant dense<1> : tensor<i32>\n%c3 = stablehlo.constant dense<3> : tensor<i32>\n%r:4 = stablehlo.while(%i = %c0, %s = %x0, %u = %x1, %v = %x2) : tensor<i32>, tensor<{t}>, tensor<3x{t}>, tensor<3x{t}>\ncond {{\n%p = stablehlo.compare LT, %i, %c3 : (tensor<i32>, tensor<i32>) -> tensor<i1>\nstablehlo.return %p : tensor<i1>\n}} do {{\n%n = stablehlo.add %i, %c1 : tensor<i32>\nstablehlo.return %n, %s, %v, %u : tensor<i32>, tensor<{t}>, tensor<3x{t}>, tensor<3x{t}>\n}}\n%r0 = stablehlo.reshape %r#1 : (tensor<{t}>) -> tensor<{t}>\n%r1 = stablehlo.reshape %r#2 : (tensor<3x{t}>) -> tensor<3x{t}>", [(), (3,), (3,)], [(), (3,)]),
}  # fmt: skip

ARITHMETIC: Table = {
    "reduce add": ('%r0 = "stablehlo.reduce"(%x0, %x1) {add} {{dimensions = array<i64: 1>}} : (tensor<3x4x{t}>, tensor<{t}>) -> tensor<3x{t}>', [(3, 4), ()], [(3,)]),
    "reduce over nothing": ('%r0 = "stablehlo.reduce"(%x0, %x1) {add} {{dimensions = array<i64: 1>}} : (tensor<3x0x{t}>, tensor<{t}>) -> tensor<3x{t}>', [(3, 0), ()], [(3,)]),
    "reduce maximum": ('%r0 = "stablehlo.reduce"(%x0, %x1) {maximum} {{dimensions = array<i64: 0, 1>}} : (tensor<3x4x{t}>, tensor<{t}>) -> tensor<{t}>', [(3, 4), ()], [()]),
    "reduce minimum": ('%r0 = "stablehlo.reduce"(%x0, %x1) {minimum} {{dimensions = array<i64: 0>}} : (tensor<3x4x{t}>, tensor<{t}>) -> tensor<4x{t}>', [(3, 4), ()], [(4,)]),
    "reduce multiply": ('%r0 = "stablehlo.reduce"(%x0, %x1) {multiply} {{dimensions = array<i64: 0>}} : (tensor<3x4x{t}>, tensor<{t}>) -> tensor<4x{t}>', [(3, 4), ()], [(4,)]),
    "reduce and": ('%r0 = "stablehlo.reduce"(%x0, %x1) {and} {{dimensions = array<i64: 0>}} : (tensor<3x4x{t}>, tensor<{t}>) -> tensor<4x{t}>', [(3, 4), ()], [(4,)]),
    "reduce or": ('%r0 = "stablehlo.reduce"(%x0, %x1) {or} {{dimensions = array<i64: 1>}} : (tensor<3x4x{t}>, tensor<{t}>) -> tensor<3x{t}>', [(3, 4), ()], [(3,)]),
    "reduce xor": ('%r0 = "stablehlo.reduce"(%x0, %x1) {xor} {{dimensions = array<i64: 1>}} : (tensor<3x4x{t}>, tensor<{t}>) -> tensor<3x{t}>', [(3, 4), ()], [(3,)]),
    "reduce_window add": ('%r0 = "stablehlo.reduce_window"(%x0, %x1) {add} {{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1, 2>, padding = dense<[[1, 0], [0, 1]]> : tensor<2x2xi64>}} : (tensor<3x4x{t}>, tensor<{t}>) -> tensor<3x2x{t}>', [(3, 4), ()], [(3, 2)]),
    "reduce_window maximum": ('%r0 = "stablehlo.reduce_window"(%x0, %x1) {maximum} {{window_dimensions = array<i64: 2, 2>, base_dilations = array<i64: 1, 2>}} : (tensor<3x4x{t}>, tensor<{t}>) -> tensor<2x6x{t}>', [(3, 4), ()], [(2, 6)]),
    "reduce_window cumulative": ('%r0 = "stablehlo.reduce_window"(%x0, %x1) {add} {{window_dimensions = array<i64: 4>, padding = dense<[[3, 0]]> : tensor<1x2xi64>}} : (tensor<4x{t}>, tensor<{t}>) -> tensor<4x{t}>', [(4,), ()], [(4,)]),
    "scatter add": ('%i = stablehlo.constant dense<[[2], [2], [-1], [0]]> : tensor<4x1xi32>\n%r0 = "stablehlo.scatter"(%x0, %i, %x1) <{{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}}> {add} : (tensor<4x3x{t}>, tensor<4x1xi32>, tensor<4x3x{t}>) -> tensor<4x3x{t}>', [(4, 3), (4, 3)], [(4, 3)]),
    "scatter maximum": ('%i = stablehlo.constant dense<[[2], [2], [-1], [0]]> : tensor<4x1xi32>\n%r0 = "stablehlo.scatter"(%x0, %i, %x1) <{{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}}> {maximum} : (tensor<4x3x{t}>, tensor<4x1xi32>, tensor<4x3x{t}>) -> tensor<4x3x{t}>', [(4, 3), (4, 3)], [(4, 3)]),
    "select_and_scatter": ('%r0 = "stablehlo.select_and_scatter"(%x0, %x1, %x2) ({{\n^bb0(%p0: tensor<{t}>, %p1: tensor<{t}>):\n%p2 = stablehlo.compare GE, %p0, %p1 : (tensor<{t}>, tensor<{t}>) -> tensor<i1>\nstablehlo.return %p2 : tensor<i1>\n}}, {add}) {{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1, 1>}} : (tensor<3x3x{t}>, tensor<2x2x{t}>, tensor<{t}>) -> tensor<3x3x{t}>', [(3, 3), (2, 2), ()], [(3, 3)]),
    "map": ('%r0 = "stablehlo.map"(%x0, %x1) ({{\n^bb0(%p0: tensor<{t}>, %p1: tensor<{t}>):\n%p2 = stablehlo.multiply %p0, %p1 : tensor<{t}>\n%p3 = stablehlo.add %p2, %p1 : tensor<{t}>\nstablehlo.return %p3 : tensor<{t}>\n}}) {{dimensions = array<i64: 0, 1>}} : (tensor<2x3x{t}>, tensor<2x3x{t}>) -> tensor<2x3x{t}>', [(2, 3), (2, 3)], [(2, 3)]),
    "dot": ("%r0 = stablehlo.dot %x0, %x1 : (tensor<2x3x{t}>, tensor<3x2x{t}>) -> tensor<2x2x{t}>", [(2, 3), (3, 2)], [(2, 2)]),
    "dot_general": ("%r0 = stablehlo.dot_general %x0, %x1, batching_dims = [0] x [2], contracting_dims = [1, 2] x [0, 1] : (tensor<2x3x2x4x{t}>, tensor<3x2x2x2x{t}>) -> tensor<2x4x2x{t}>", [(2, 3, 2, 4), (3, 2, 2, 2)], [(2, 4, 2)]),
    "dot_general outer": ("%r0 = stablehlo.dot_general %x0, %x1, contracting_dims = [] x [] : (tensor<3x{t}>, tensor<2x{t}>) -> tensor<3x2x{t}>", [(3,), (2,)], [(3, 2)]),
    "dot_general over nothing": ("%r0 = stablehlo.dot_general %x0, %x1, contracting_dims = [1] x [0] : (tensor<3x0x{t}>, tensor<0x2x{t}>) -> tensor<3x2x{t}>", [(3, 0), (0, 2)], [(3, 2)]),
    "convolution": ("%r0 = stablehlo.convolution(%x0, %x1) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {{pad = [[1, 1]]}} {{batch_group_count = 1 : i64, feature_group_count = 1 : i64}} : (tensor<1x4x2x{t}>, tensor<2x2x3x{t}>) -> tensor<1x5x3x{t}>", [(1, 4, 2), (2, 2, 3)], [(1, 5, 3)]),
    "dynamic_conv": ('%p = stablehlo.constant dense<[[1, 1]]> : tensor<1x2xi64>\n%r0 = "stablehlo.dynamic_conv"(%x0, %x1, %p) <{{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, batch_group_count = 1 : i64, feature_group_count = 1 : i64}}> : (tensor<1x4x2x{t}>, tensor<2x2x3x{t}>, tensor<1x2xi64>) -> tensor<1x5x3x{t}>', [(1, 4, 2), (2, 2, 3)], [(1, 5, 3)]),
    "einsum": ('%r0 = "stablehlo.einsum"(%x0, %x1) <{{einsum_config = "ab,bc->ac"}}> : (tensor<2x3x{t}>, tensor<3x2x{t}>) -> tensor<2x2x{t}>', [(2, 3), (3, 2)], [(2, 2)]),
    "unary_einsum": ('%r0 = "stablehlo.unary_einsum"(%x0) <{{einsum_config = "ab->ba"}}> : (tensor<2x3x{t}>) -> tensor<3x2x{t}>', [(2, 3)], [(3, 2)]),
    "broadcast_add": ("%r0 = chlo.broadcast_add %x0, %x1 : (tensor<3x1x{t}>, tensor<4x{t}>) -> tensor<3x4x{t}>", [(3, 1), (4,)], [(3, 4)]),
    "broadcast_maximum": ("%r0 = chlo.broadcast_maximum %x0, %x1 : (tensor<3x1x{t}>, tensor<4x{t}>) -> tensor<3x4x{t}>", [(3, 1), (4,)], [(3, 4)]),
    "batch_norm_inference": ('%r0 = "stablehlo.batch_norm_inference"(%x0, %x1, %x2, %x3, %x4) <{{epsilon = 1.0 : f32, feature_index = 1 : i64}}> : (tensor<3x2x{t}>, tensor<2x{t}>, tensor<2x{t}>, tensor<2x{t}>, tensor<2x{t}>) -> tensor<3x2x{t}>', [(3, 2), (2,), (2,), (2,), (2,)], [(3, 2)]),
    "composite": ('%r0 = stablehlo.composite "k.add" %x0, %x1 {{decomposition = @@plus}} : (tensor<3x{t}>, tensor<3x{t}>) -> tensor<3x{t}>', [(3,), (3,)], [(3,)]),
    "fft": ("%r0 = stablehlo.fft %x0, type = FFT, length = [4] : (tensor<3x4x{t}>) -> tensor<3x4x{t}>", [(3, 4)], [(3, 4)]),
    "triangular_solve": ('%o = stablehlo.add %x0, %x1 : tensor<2x2x{t}>\n%r0 = "stablehlo.triangular_solve"(%o, %x2) <{{left_side = true, lower = true, unit_diagonal = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}}> : (tensor<2x2x{t}>, tensor<2x3x{t}>) -> tensor<2x3x{t}>', [(2, 2), (2, 2), (2, 3)], [(2, 3)]),
}  # fmt: skip
_HELPERS = {
    "composite": "func.func private @@plus(%a: tensor<3x{t}>, %b: tensor<3x{t}>) -> tensor<3x{t}> {{\n%0 = stablehlo.add %a, %b : tensor<3x{t}>\nreturn %0 : tensor<3x{t}>\n}}",
}
#: what the interpreter does not have
_KNOWN = {
    "dot_general over nothing": lambda x, y: [np.zeros((3, 2), np.float32).astype(x.dtype)],
    "batch_norm_inference": lambda x, scale, offset, mean, variance: [
        _batch_norm(*(v.astype(np.float64) for v in (x, scale, offset, mean, variance))).astype(x.dtype)
    ],
    "einsum": lambda x, y: [_matmul(x, y)],
    "unary_einsum": lambda x: [x.T],
    "real_dynamic_slice": lambda x: [x[1:6:2]],
    "torch_index_select": lambda x: [x[:, [2, 0]]],
}
_REDUCERS = ("add", "maximum", "minimum", "multiply", "and", "or", "xor")
_ULPS = {"batch_norm_inference": 1, "fft": 16, "triangular_solve": 1}


def cases(dtype: str) -> Iterator[Case]:
    regions = {op: reducer(op, dtype, at=f"{op}_") for op in _REDUCERS}
    for table, ordinary in ((MOVEMENT, False), (ARITHMETIC, True)):
        for name, (lines, shapes, results) in table.items():
            arrays = tuple(
                shaped(dtype, s, k) if ordinary else np.resize(np.roll(values(dtype), -5 * k), s)
                for k, s in enumerate(shapes)
            )
            yield Case(
                name,
                lines.format(t=dtype, **regions),
                arrays,
                tuple(tensor(s, dtype) for s in shapes),
                tuple(tensor(s, dtype) for s in results),
                1 if dtype == "f8E8M0FNU" and ordinary else _ULPS.get(name, 0),  # sums of powers of two are none
                _HELPERS.get(name, "").format(t=dtype),
                _KNOWN.get(name),
            )
    yield from _sorts(dtype)
    yield from _made(dtype)


def _batch_norm(
    x: np.ndarray, scale: np.ndarray, offset: np.ndarray, mean: np.ndarray, variance: np.ndarray
) -> np.ndarray:
    with np.errstate(all="ignore"):
        return (x - mean) / np.sqrt(variance + 1.0) * scale + offset


def _matmul(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    if x.dtype == np.bool_:
        return x @ y
    if "int" in x.dtype.name:  # wraps
        return (x.astype(np.int64) @ y.astype(np.int64)).astype(x.dtype)
    return x @ y if x.dtype.kind == "c" else (x.astype(np.float64) @ y.astype(np.float64)).astype(x.dtype)


def _sorts(dtype: str) -> Iterator[Case]:
    x = np.resize(np.roll(values(dtype), 3), (2, 19))
    t, scalar = tensor(x.shape, dtype), tensor((), dtype)
    p = tensor(x.shape, "i32")
    payload = np.arange(x.size, dtype=np.int32).reshape(x.shape)
    for direction in ("LT", "GT"):
        lines = f"""%r:2 = "stablehlo.sort"(%x0, %x1) <{{dimension = 1 : i64, is_stable = true}}> ({{
^bb0(%a: {scalar}, %b: {scalar}, %c: tensor<i32>, %d: tensor<i32>):
%p = stablehlo.compare {direction}, %a, %b : ({scalar}, {scalar}) -> tensor<i1>
stablehlo.return %p : tensor<i1>
}}) : ({t}, {p}) -> ({t}, {p})
%r0 = stablehlo.reshape %r#0 : ({t}) -> {t}
%r1 = stablehlo.reshape %r#1 : ({p}) -> {p}"""
        if np.isnan(x.astype(np.complex128)).any():
            x = shaped(dtype, x.shape)  # not an order when there are NaNs
        yield Case(f"sort {direction}", lines, (x, payload), (t, p), (t, p))
    ks, out, index = values(dtype), tensor((2, 5), dtype), tensor((2, 5), "i32")
    x = np.resize(np.roll(ks, 3), (2, 19))
    lines = f"%r0, %r1 = chlo.top_k(%x0, k = 5) : {t} -> ({out}, {index})"
    if x.dtype.kind == "c":
        return
    yield Case("top_k", lines, (x,), (t,), (out, index), expected=_top_five)


def _top_five(x: np.ndarray) -> list[np.ndarray]:
    """The largest in IEEE's total order (NaN above infinity, -0 below 0), of equals the first."""
    if x.dtype.kind == "b" or "int" in x.dtype.name:
        keys = np.array([[int(v) for v in row] for row in x], object)
    else:
        keys = order(x, zeros=False)
    picked = np.array([sorted(range(row.size), key=lambda k, row=row: -row[k])[:5] for row in keys], np.int32)
    return [np.take_along_axis(x, picked, 1), picked]


def _made(dtype: str) -> Iterator[Case]:
    """What has no operand of the type: iota and constants."""
    for shape, dim in (((3, 4), 0), ((2, 2), 1), ((0, 3), 0)):
        t = tensor(shape, dtype)
        yield Case(f"iota {shape}", f"%r0 = stablehlo.iota dim = {dim} : {t}", (), (), (t,))
        s = f"%s = stablehlo.constant dense<{list(shape)}> : tensor<2xi64>\n"
        lines = s + f"%r0 = stablehlo.dynamic_iota %s, dim = {dim} : (tensor<2xi64>) -> {t}"
        yield Case(f"dynamic_iota {shape}", lines, (), (), (t,))
    x = values(dtype)
    for name, array in (("splat", x[-1:].reshape(())), ("all values", x), ("three", x[-3:]), ("one", x[:1])):
        literal = _dense(array, dtype)
        t = tensor(array.shape if name != "splat" else (4,), dtype)
        yield Case(f"constant {name}", f"%r0 = stablehlo.constant dense<{literal}> : {t}", (), (), (t,))
    t = tensor((3,), dtype)
    zero = "(0.0, 0.0)" if "complex" in dtype else "false" if dtype == "i1" else "0" if "i" in dtype else "1.0"
    kind = "" if dtype == "i1" else f" : {dtype}"
    if "complex" not in dtype:
        lines = f'%r0 = "chlo.constant_like"(%x0) <{{value = {zero}{kind}}}> : ({t}) -> {t}'
        yield Case("constant_like", lines, (shaped(dtype, (3,)),), (t,), (t,))
    yield Case("chlo.constant", f"%r0 = chlo.constant dense<{zero}> : {t}", (), (), (t,))


def _dense(array: np.ndarray, dtype: str) -> str:
    """The literal of a constant: decimal, and by its bits where that does not say it."""
    flat = array.reshape(-1)
    if dtype == "i1":
        words = ["true" if v else "false" for v in flat]
    elif flat.dtype.kind == "c":
        part = "f32" if dtype == "complex<f32>" else "f64"
        pieces = [_dense(np.ascontiguousarray(p), part)[1:-1].split(", ") for p in (flat.real, flat.imag)]
        words = [f"({re}, {im})" for re, im in zip(*pieces, strict=True)]
    elif "int" in flat.dtype.name:
        words = [str(int(v)) for v in flat]
    else:
        wide = flat.astype(np.float64)
        bits = [int(b) for b in flat.view(f"u{flat.itemsize}")]
        words = [
            repr(float(w)) if np.isfinite(w) else f"0x{b:0{2 * flat.itemsize}X}"
            for w, b in zip(wide, bits, strict=True)
        ]
    assert np.dtype(DTYPES[dtype]) == array.dtype
    return f"[{', '.join(words)}]" if array.ndim else words[0]
