# ruff: noqa: E501 (lines of MLIR)
"""Sizes that are only known at run time: right results, and an error that names op and sizes where they do not fit."""

from __future__ import annotations

import numpy as np
import pytest

import kc
from kc.errors import InputError
from kc.runtime import ArgumentError, ExecutionError


def ramp(*shape: int) -> np.ndarray:
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)


def ints(*values: int) -> np.ndarray:
    return np.array(values, np.int32)


def main(body: str) -> str:
    return f"func.func @main{body}"


ADD = main("(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> { %0 = stablehlo.add %a, %b : tensor<?xf32> return %0 : tensor<?xf32> }")
DOT = main("(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>) -> tensor<?x?xf32> { %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32> return %0 : tensor<?x?xf32> }")
CONCATENATE = main("(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>) -> tensor<?x?xf32> { %0 = stablehlo.concatenate %a, %b, dim = 0 : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32> return %0 : tensor<?x?xf32> }")
RESHAPE = main("(%a: tensor<?xf32>, %s: tensor<2xi32>) -> tensor<?x?xf32> { %0 = stablehlo.dynamic_reshape %a, %s : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x?xf32> return %0 : tensor<?x?xf32> }")
BROADCAST = main("(%a: tensor<?xf32>, %s: tensor<2xi32>) -> tensor<?x?xf32> { %0 = stablehlo.dynamic_broadcast_in_dim %a, %s, dims = [1] : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x?xf32> return %0 : tensor<?x?xf32> }")
IOTA = main("(%s: tensor<1xi32>) -> tensor<4xi32> { %0 = stablehlo.dynamic_iota %s, dim = 0 : (tensor<1xi32>) -> tensor<4xi32> return %0 : tensor<4xi32> }")
SLICE = main("(%a: tensor<?xf32>) -> tensor<2xf32> { %0 = stablehlo.slice %a [1:3] : (tensor<?xf32>) -> tensor<2xf32> return %0 : tensor<2xf32> }")
REAL_SLICE = main("(%a: tensor<?xf32>, %s: tensor<1xi32>, %l: tensor<1xi32>, %t: tensor<1xi32>) -> tensor<?xf32> { %0 = stablehlo.real_dynamic_slice %a, %s, %l, %t : (tensor<?xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32> return %0 : tensor<?xf32> }")
TYPE = main('(%a: tensor<?xf32>) -> tensor<4xf32> { %0 = "stablehlo.negate"(%a) : (tensor<?xf32>) -> tensor<4xf32> return %0 : tensor<4xf32> }')
UPDATE = main("(%a: tensor<?xf32>, %b: tensor<?xf32>, %i: tensor<i32>) -> tensor<?xf32> { %0 = stablehlo.dynamic_update_slice %a, %b, %i : (tensor<?xf32>, tensor<?xf32>, tensor<i32>) -> tensor<?xf32> return %0 : tensor<?xf32> }")
GATHER = main('(%a: tensor<?x?xf32>, %i: tensor<?x1xi32>) -> tensor<?x3xf32> { %0 = "stablehlo.gather"(%a, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>}> : (tensor<?x?xf32>, tensor<?x1xi32>) -> tensor<?x3xf32> return %0 : tensor<?x3xf32> }')
SCATTER = main('(%a: tensor<?xf32>, %i: tensor<?x1xi32>, %u: tensor<?xf32>) -> tensor<?xf32> { %0 = "stablehlo.scatter"(%a, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = stablehlo.add %x, %y : tensor<f32> stablehlo.return %s : tensor<f32> }) : (tensor<?xf32>, tensor<?x1xi32>, tensor<?xf32>) -> tensor<?xf32> return %0 : tensor<?xf32> }')
WINDOW = main('(%a: tensor<?xf32>) -> tensor<4xf32> { %c = stablehlo.constant dense<0.0> : tensor<f32> %0 = "stablehlo.reduce_window"(%a, %c) <{window_dimensions = array<i64: 3>, window_strides = array<i64: 2>}> ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = stablehlo.add %x, %y : tensor<f32> stablehlo.return %s : tensor<f32> }) : (tensor<?xf32>, tensor<f32>) -> tensor<4xf32> return %0 : tensor<4xf32> }')
PAD = main("(%a: tensor<?xf32>, %v: tensor<f32>) -> tensor<?xf32> { %0 = stablehlo.pad %a, %v, low = [-2], high = [-2], interior = [0] : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32> return %0 : tensor<?xf32> }")
DYNAMIC_PAD = "(%a: tensor<?xf32>, %v: tensor<f32>, %l: tensor<1xi64>, %h: tensor<1xi64>, %n: tensor<1xi64>) -> tensor<?xf32> { %0 = stablehlo.dynamic_pad %a, %v, %l, %h, %n : (tensor<?xf32>, tensor<f32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32> return %0 : tensor<?xf32> }"
SIZES = {
    "narrowed": ("tensor<1xi64>", "%0 = stablehlo.convert %s : (tensor<1xi64>) -> tensor<1xi8>", "i8", np.array([300]), 44),
    "wrapped": ("tensor<1xi8>", "%0 = stablehlo.multiply %s, %s : tensor<1xi8>", "i8", np.array([20], np.int8), -112),
    "unsigned": ("tensor<1xui8>", "%0 = stablehlo.reshape %s : (tensor<1xui8>) -> tensor<1xui8>", "ui8", np.array([200], np.uint8), 200),
    "widened": ("tensor<1xui8>", "%0 = stablehlo.convert %s : (tensor<1xui8>) -> tensor<1xi32>", "i32", np.array([200], np.uint8), 200),
    "wrapped unsigned": ("tensor<1xui8>", "%0 = stablehlo.subtract %s, %s1 : tensor<1xui8>", "ui8", np.array([3], np.uint8), 254),
}
CONVOLUTION = main("(%a: tensor<?x?x?xf32>, %b: tensor<?x?x?xf32>) -> tensor<?x?x?xf32> { %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [1], pad = [[0, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<?x?x?xf32>, tensor<?x?x?xf32>) -> tensor<?x?x?xf32> return %0 : tensor<?x?x?xf32> }")
TRIANGULAR = main('(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>) -> tensor<?x?xf32> { %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32> return %0 : tensor<?x?xf32> }')
FFT = main("(%a: tensor<?x?xf32>) -> tensor<?x?xcomplex<f32>> { %0 = stablehlo.fft %a, type = RFFT, length = [4] : (tensor<?x?xf32>) -> tensor<?x?xcomplex<f32>> return %0 : tensor<?x?xcomplex<f32>> }")
TOP_K = main("(%a: tensor<?x?xf32>) -> (tensor<?x2xf32>, tensor<?x2xi32>) { %0:2 = chlo.top_k(%a, k = 2) : tensor<?x?xf32> -> (tensor<?x2xf32>, tensor<?x2xi32>) return %0#0, %0#1 : tensor<?x2xf32>, tensor<?x2xi32> }")
CHLO = main("(%a: tensor<?x?xf32>, %b: tensor<?xf32>) -> tensor<?x?xf32> { %0 = chlo.broadcast_add %a, %b : (tensor<?x?xf32>, tensor<?xf32>) -> tensor<?x?xf32> return %0 : tensor<?x?xf32> }")
SET_SIZE = main("(%a: tensor<8xf32>, %n: tensor<i32>) -> tensor<?xf32, #stablehlo.bounds<8>> { %0 = stablehlo.set_dimension_size %a, %n, dim = 0 : (tensor<8xf32>, tensor<i32>) -> tensor<?xf32, #stablehlo.bounds<8>> return %0 : tensor<?xf32, #stablehlo.bounds<8>> }")
BOUNDED = main("(%a: tensor<?xf32, #stablehlo.bounds<8>>) -> tensor<?xf32, #stablehlo.bounds<8>> { %0 = stablehlo.negate %a : tensor<?xf32, #stablehlo.bounds<8>> return %0 : tensor<?xf32, #stablehlo.bounds<8>> }")
CALL = "func.func private @product(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> { %0 = stablehlo.multiply %a, %b : tensor<?xf32> return %0 : tensor<?xf32> }" + main("(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> { %0 = call @product(%a, %b) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32> return %0 : tensor<?xf32> }")

#: program; arguments that fit, with the result; arguments that do not, with what the error says
CASES = {
    "add": (ADD, [((ramp(3), ramp(3)), ramp(3) * 2)], [((ramp(3), ramp(5)), "stablehlo.add.* size 3.* size 5"), ((ramp(5), ramp(3)), "size 5.* size 3"), ((ramp(1), ramp(3)), "size 1.* size 3")]),
    "dot": (DOT, [((ramp(3, 4), ramp(4, 5)), ramp(3, 4) @ ramp(4, 5)), ((ramp(3, 0), ramp(0, 5)), np.zeros((3, 5), np.float32))], [((ramp(3, 4), ramp(3, 5)), "stablehlo.dot_general.* size 4.* size 3")]),
    "concatenate": (CONCATENATE, [((ramp(1, 2), ramp(2, 2)), np.concatenate([ramp(1, 2), ramp(2, 2)]))], [((ramp(3, 4), ramp(3, 5)), "stablehlo.concatenate.* size 4.* size 5")]),
    "reshape": (RESHAPE, [((ramp(6), ints(2, 3)), ramp(2, 3))], [((ramp(6), ints(2, 4)), "stablehlo.dynamic_reshape.*6 elements.*8"), ((ramp(6), ints(-2, -3)), "size -2")]),
    "broadcast": (BROADCAST, [((ramp(3), ints(2, 3)), np.stack([ramp(3)] * 2)), ((ramp(1), ints(2, 3)), np.zeros((2, 3), np.float32))], [((ramp(2), ints(2, 3)), "stablehlo.dynamic_broadcast_in_dim.* size 2.* repeated to 3")]),
    "iota": (IOTA, [((ints(4),), ints(0, 1, 2, 3))], [((ints(5),), "stablehlo.dynamic_iota.* size 5.* says 4")]),
    "slice": (SLICE, [((ramp(3),), ramp(3)[1:])], [((ramp(2),), "stablehlo.slice.* ends at 3.* size 2")]),
    "real_slice": (REAL_SLICE, [((ramp(6), ints(1), ints(5), ints(2)), ramp(6)[1:5:2])], [((ramp(6), ints(2), ints(9), ints(1)), "ends at 9.* size 6"), ((ramp(6), ints(4), ints(2), ints(1)), "from 4 to 2"), ((ramp(6), ints(1), ints(3), ints(0)), "stride 0"), ((ramp(6), ints(-1), ints(3), ints(1)), "starts at -1")]),
    "type": (TYPE, [((ramp(4),), -ramp(4))], [((ramp(3),), "stablehlo.negate.* size 3.* says 4")]),
    "update": (UPDATE, [((ramp(5), ramp(2), np.int32(4)), np.float32([0, 1, 2, 0, 1]))], [((ramp(2), ramp(5), np.int32(0)), "stablehlo.dynamic_update_slice.* size 5.* size 2")]),
    "gather": (GATHER, [((ramp(4, 3), np.int32([[1], [9]])), ramp(4, 3)[[1, 3]])], [((ramp(4, 2), np.int32([[1]])), "stablehlo.gather.* size 3.* size 2"), ((ramp(0, 3), np.int32([[1]])), "size 1.* size 0")]),
    "scatter": (SCATTER, [((ramp(4), np.int32([[0], [3], [9]]), ramp(3)), np.float32([0, 1, 2, 4]))], [((ramp(4), np.int32([[0], [3], [9]]), ramp(2)), "stablehlo.scatter.* size 3.* size 2")]),
    "window": (WINDOW, [((ramp(9),), np.float32([3, 9, 15, 21])), ((ramp(10),), np.float32([3, 9, 15, 21]))], [((ramp(11),), "stablehlo.reduce_window.* size 5.* says 4"), ((ramp(2),), "size 0.* says 4")]),
    "pad": (PAD, [((ramp(6), np.float32(1)), ramp(6)[2:4])], [((ramp(3), np.float32(1)), "stablehlo.pad.* -1 elements")]),
    "convolution": (CONVOLUTION, [((ramp(1, 3, 1), ramp(2, 1, 1)), np.float32([1, 2]).reshape(1, 2, 1))], [((ramp(1, 3, 2), ramp(2, 1, 1)), "stablehlo.convolution.* size 2.* 1 features")]),
    "triangular": (TRIANGULAR, [((np.eye(3, dtype=np.float32) * 2, ramp(3, 2)), ramp(3, 2) / 2)], [((np.eye(3, dtype=np.float32), ramp(2, 2)), "stablehlo.triangular_solve.* size 3.* size 2")]),
    "fft": (FFT, [((ramp(2, 4),), np.complex64([[6, -2 + 2j, -2], [22, -2 + 2j, -2]]))], [((ramp(2, 5),), r"stablehlo\.fft.* size 5.* takes 4")]),
    "top_k": (TOP_K, [((ramp(2, 3),), np.float32([[2, 1], [5, 4]]))], [((ramp(2, 1),), "chlo.top_k.* 2 of 1")]),
    "chlo": (CHLO, [((ramp(2, 3), ramp(3)), ramp(2, 3) + ramp(3)), ((ramp(2, 1), ramp(3)), ramp(2, 1) + ramp(3)), ((ramp(2, 3), ramp(1)), ramp(2, 3))], [((ramp(2, 2), ramp(3)), "chlo.broadcast_add.* size 3.* to 2")]),
    "set_size": (SET_SIZE, [((ramp(8), np.int32(3)), ramp(3)), ((ramp(8), np.int32(0)), ramp(0))], [((ramp(8), np.int32(9)), "stablehlo.set_dimension_size.* ends at 9.* size 8"), ((ramp(8), np.int32(-1)), "from 0 to -1")]),
    "bounded": (BOUNDED, [((ramp(3),), -ramp(3)), ((ramp(8),), -ramp(8))], [((ramp(9),), "argument 0.* size 9.* by 8")]),
    "call": (CALL, [((ramp(3), ramp(3)), ramp(3) ** 2)], [((ramp(3), ramp(2)), "stablehlo.multiply.* size 3.* size 2")]),
}


@pytest.mark.parametrize("name", CASES)
def test_sizes_that_fit_and_that_do_not(name: str) -> None:
    text, good, bad = CASES[name]
    program = kc.compile(text)
    for arguments, message in bad:
        with pytest.raises(ExecutionError, match=message):
            program(*arguments)
    for arguments, expected in good:  # also after an error
        result = program(*arguments)[0]
        assert result.shape == expected.shape
        np.testing.assert_array_equal(result, expected)


def test_branches_of_different_sizes() -> None:
    """Folding the branches into a select must not read one tensor by the size of the other."""
    text = main(
        '(%a: tensor<?xf32>, %b: tensor<?xf32>, %k: tensor<i32>) -> tensor<?xf32> { %0 = "stablehlo.case"(%k) ({ stablehlo.return %a : tensor<?xf32> }, { stablehlo.return %b : tensor<?xf32> }) : (tensor<i32>) -> tensor<?xf32> return %0 : tensor<?xf32> }'
    )
    program = kc.compile(text)
    for index, expected in ((0, ramp(2)), (1, ramp(3) + 10), (7, ramp(3) + 10)):
        np.testing.assert_array_equal(program(ramp(2), ramp(3) + 10, np.int32(index))[0], expected)


def test_check_in_a_branch_not_taken() -> None:
    text = main(
        '(%a: tensor<?xf32>, %b: tensor<?xf32>, %p: tensor<i1>) -> tensor<?xf32> { %0 = "stablehlo.if"(%p) ({ %s = stablehlo.add %a, %b : tensor<?xf32> stablehlo.return %s : tensor<?xf32> }, { stablehlo.return %b : tensor<?xf32> }) : (tensor<i1>) -> tensor<?xf32> return %0 : tensor<?xf32> }'
    )
    program = kc.compile(text)
    np.testing.assert_array_equal(program(ramp(2), ramp(3), np.bool_(False))[0], ramp(3))
    with pytest.raises(ExecutionError, match=r"stablehlo\.add"):
        program(ramp(2), ramp(3), np.bool_(True))


def test_size_that_changes_in_a_loop() -> None:
    text = main("""(%a: tensor<?xf32>, %n: tensor<i32>) -> tensor<?xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0:2 = stablehlo.while(%x = %a, %i = %zero) : tensor<?xf32>, tensor<i32> cond {
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %y = stablehlo.concatenate %x, %a, dim = 0 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    %z = stablehlo.add %y, %y : tensor<?xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %z, %j : tensor<?xf32>, tensor<i32>
  }
  return %0#0 : tensor<?xf32>
}""")
    expected = ramp(2)
    for _ in range(3):
        expected = np.concatenate([expected, ramp(2)]) * 2
    np.testing.assert_array_equal(kc.compile(text)(ramp(2), np.int32(3))[0], expected)


def test_size_from_data() -> None:
    text = main("""(%a: tensor<8xi32>) -> tensor<?xi32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %count = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8xi32>, tensor<i32>) -> tensor<i32>
  %limit = stablehlo.reshape %count : (tensor<i32>) -> tensor<1xi32>
  %start = stablehlo.constant dense<0> : tensor<1xi32>
  %stride = stablehlo.constant dense<1> : tensor<1xi32>
  %y = stablehlo.real_dynamic_slice %a, %start, %limit, %stride : (tensor<8xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xi32>
  %w = stablehlo.add %y, %y : tensor<?xi32>
  return %w : tensor<?xi32>
}""")
    program = kc.compile(text)
    np.testing.assert_array_equal(program(ints(1, 0, 1, 0, 1, 0, 1, 0))[0], ints(2, 0, 2, 0))
    assert program(ints(*[0] * 8))[0].shape == (0,)
    with pytest.raises(ExecutionError, match="ends at 16 in dimension 0, which has size 8"):
        program(ints(*[2] * 8))


@pytest.mark.parametrize("name", SIZES)
def test_size_computed_in_its_own_type(name: str) -> None:
    """Shape arithmetic is followed through ops that compute what indices would, and no others."""
    argument, op, kind, value, size = SIZES[name]
    body = f"%s1 = stablehlo.constant dense<5> : {argument} {op} %1 = stablehlo.dynamic_iota %0, dim = 0 : (tensor<1x{kind}>) -> tensor<?xi32>"
    program = kc.compile(main(f"(%s: {argument}) -> tensor<?xi32> {{ {body} return %1 : tensor<?xi32> }}"))
    if size < 0:
        with pytest.raises(ExecutionError, match=f"dynamic_iota.*size {size} is asked for"):
            program(value)
    else:
        assert np.array_equal(program(value)[0], np.arange(size, dtype=np.int32))


def test_sizes_beyond_counting() -> None:
    """Products of sizes that wrap to few elements are errors, as are padding and slices that no array can have."""
    large = 2**62 + 1
    for body, arguments in (
        ("(%a: tensor<?xf32>, %s: tensor<2xi64>) -> tensor<?x?xf32> { %0 = stablehlo.dynamic_reshape %a, %s : (tensor<?xf32>, tensor<2xi64>) -> tensor<?x?xf32> return %0 : tensor<?x?xf32> }", [ramp(4), np.array([4, large])]),
        ("(%s: tensor<2xi64>) -> tensor<?x?xf32> { %0 = stablehlo.dynamic_iota %s, dim = 0 : (tensor<2xi64>) -> tensor<?x?xf32> return %0 : tensor<?x?xf32> }", [np.array([2**32, 2**32])]),
        ("() -> tensor<?x?xf32> { %s = stablehlo.constant dense<4294967296> : tensor<2xi64> %0 = stablehlo.dynamic_iota %s, dim = 0 : (tensor<2xi64>) -> tensor<?x?xf32> return %0 : tensor<?x?xf32> }", []),
        ("(%a: tensor<?xf32>) -> tensor<?xf32> { %s = stablehlo.constant dense<-3> : tensor<1xi64> %t = stablehlo.constant dense<2> : tensor<1xi64> %0 = stablehlo.real_dynamic_slice %a, %s, %t, %t : (tensor<?xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32> return %0 : tensor<?xf32> }", [ramp(4)]),
        (DYNAMIC_PAD, [ramp(3), np.float32(0), np.array([0]), np.array([large]), np.array([0])]),
        (DYNAMIC_PAD, [ramp(3), np.float32(0), np.array([0]), np.array([0]), np.array([large])]),
        (DYNAMIC_PAD, [ramp(3), np.float32(0), np.array([0]), np.array([0]), np.array([-1])]),
        ('(%a: tensor<?xf32>, %i: tensor<?x1xi32>, %s: tensor<1xi32>) -> tensor<?xf32> { %0 = "stablehlo.dynamic_gather"(%a, %i, %s) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}> : (tensor<?xf32>, tensor<?x1xi32>, tensor<1xi32>) -> tensor<?xf32> return %0 : tensor<?xf32> }', [ramp(4), np.zeros((2, 1), np.int32), ints(2)]),
    ):
        with pytest.raises(ExecutionError, match=r"at -:.* (possible|asked for|starts at -3|which the result lacks)"):
            kc.compile(main(body))(*arguments)


def test_nothing_stands_where_a_known_size_ends() -> None:
    """An operand of unknown size that can only be empty: MLIR takes its slice, which begins at the end, for an error."""
    joined = kc.compile(main("(%a: tensor<2xf32>, %b: tensor<?xf32>) -> tensor<2xf32> { %0 = stablehlo.concatenate %a, %b, dim = 0 : (tensor<2xf32>, tensor<?xf32>) -> tensor<2xf32> return %0 : tensor<2xf32> }"))
    np.testing.assert_array_equal(joined(ramp(2), ramp(0))[0], ramp(2))
    with pytest.raises(ExecutionError, match="result has size 3, its type says 2"):
        joined(ramp(2), ramp(1))
    padded = kc.compile(main("(%a: tensor<?xf32>, %v: tensor<f32>) -> tensor<2xf32> { %0 = stablehlo.pad %a, %v, low = [2], high = [0], interior = [0] : (tensor<?xf32>, tensor<f32>) -> tensor<2xf32> return %0 : tensor<2xf32> }"))
    np.testing.assert_array_equal(padded(ramp(0), np.float32(7))[0], [7, 7])
    tensor_pad = kc.compile(main("(%a: tensor<?xf32>) -> tensor<2xf32> { %c = arith.constant 7.0 : f32 %0 = tensor.pad %a low[2] high[0] { ^bb0(%i: index): tensor.yield %c : f32 } : tensor<?xf32> to tensor<2xf32> return %0 : tensor<2xf32> }"))
    np.testing.assert_array_equal(tensor_pad(ramp(0))[0], [7, 7])


def test_batch_norms_of_unknown_size() -> None:
    text = main("""(%x: tensor<?x?xf32>, %s: tensor<?xf32>, %o: tensor<?xf32>) -> (tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>) {
  %0:3 = "stablehlo.batch_norm_training"(%x, %s, %o) <{epsilon = 0.0 : f32, feature_index = 1 : i64}> : (tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>) -> (tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>)
  return %0#0, %0#1, %0#2 : tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>
}""")
    x = np.random.default_rng(1).standard_normal((5, 3)).astype(np.float32)
    scale, offset = ramp(3) + 1, ramp(3)
    normal, mean, variance = kc.compile(text)(x, scale, offset)
    wide = x.astype(np.float64)
    np.testing.assert_allclose(mean, wide.mean(0), rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(variance, wide.var(0), rtol=1e-5)
    np.testing.assert_allclose(normal, (wide - wide.mean(0)) / wide.std(0) * scale + offset, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", CASES)
def test_specialised(name: str) -> None:
    """A program per set of shapes gives what the general one gives, errors included."""
    text, good, bad = CASES[name]
    program = kc.compile(text, shapes="specialise")
    for arguments, message in bad[:1]:
        with pytest.raises(ExecutionError, match=message):
            program(*arguments)
    for arguments, expected in good[:1]:
        np.testing.assert_array_equal(program(*arguments)[0], expected)
        made = program.specialisations[tuple(a.shape for a in arguments)]
        assert "?" not in made.stage("stablehlo").partition("->")[0]


def test_specialisation_is_told_and_guarded(caplog: pytest.LogCaptureFixture) -> None:
    from kc.specialise import SpecialisingExecutable

    program = kc.compile(ADD, shapes="specialise")
    assert isinstance(program, SpecialisingExecutable)
    with caplog.at_level("INFO", "kc.specialise"):
        program(ramp(3), ramp(3))
        program(ramp(3), ramp(3))
    assert [record.getMessage() for record in caplog.records] == ["compiled for argument shapes [3], [3]"]
    special = program.specialise([(3,), (3,)])
    assert special is program.specialisations[(3,), (3,)]
    with pytest.raises(ArgumentError, match=r"expected f32\[3\]"):
        special(ramp(4), ramp(4))
    program._limit = 1
    np.testing.assert_array_equal(program(ramp(4), ramp(4))[0], ramp(4) * 2)
    assert list(program.specialisations) == [((3,), (3,))]
    with pytest.raises(InputError, match="shapes is 'dynamic' or 'specialise', not 'static'"):
        kc.compile(ADD, shapes="static")
    with pytest.raises(InputError, match="does not fit"):
        program.specialise([(3, 3), (3,)])


def test_a_failed_check_leaks_nothing() -> None:
    """Leaving in the middle of a program frees what it has allocated."""
    import ctypes

    from kc.runtime.library import library

    text = main("""(%a: tensor<100000xi32>) -> tensor<?xi32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %sorted = "stablehlo.sort"(%a) <{dimension = 0 : i64}> ({
  ^bb0(%x: tensor<i32>, %y: tensor<i32>):
    %c = stablehlo.compare GT, %x, %y : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<100000xi32>) -> tensor<100000xi32>
  %limit = stablehlo.slice %sorted [0:1] : (tensor<100000xi32>) -> tensor<1xi32>
  %start = stablehlo.constant dense<0> : tensor<1xi32>
  %stride = stablehlo.constant dense<1> : tensor<1xi32>
  %y = stablehlo.real_dynamic_slice %sorted, %start, %limit, %stride : (tensor<100000xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xi32>
  return %y : tensor<?xi32>
}""")
    program = kc.compile(text)
    stats = (ctypes.c_int64 * 4)()
    live = []
    for _ in range(3):
        with pytest.raises(ExecutionError, match="ends at 100001"):
            program(np.full(100000, 100001, np.int32))
        library().kc_allocator_stats(stats)
        live.append(stats[0])
    assert live[0] == live[1] == live[2]
    assert program(np.full(100000, 3, np.int32))[0].tolist() == [3, 3, 3]
