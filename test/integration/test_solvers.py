"""cholesky and triangular_solve against NumPy in higher precision: all flags, types, sizes around the blocks, and
shapes that are known only at run time."""
import itertools

import ml_dtypes
import numpy as np
import pytest

import kc

TYPES = {
    "f32": np.float32, "f64": np.float64, "f16": np.float16, "bf16": ml_dtypes.bfloat16,
    "complex<f32>": np.complex64, "complex<f64>": np.complex128,
}  # fmt: skip
EPSILON = {"f32": 2**-23, "f64": 2**-52, "f16": 2**-10, "bf16": 2**-7, "complex<f32>": 2**-23, "complex<f64>": 2**-52}


def numbers(seed, shape, mlir_type):
    rng = np.random.default_rng(seed)
    made = rng.standard_normal(shape)
    if "complex" in mlir_type:
        made = made + 1j * rng.standard_normal(shape)
    return made.astype(TYPES[mlir_type])


def exact(array):
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def shaped(shape, mlir_type, dynamic=False):
    return f"tensor<{''.join(('?' if dynamic else str(n)) + 'x' for n in shape)}{mlir_type}>"


def solve_program(a, b, mlir_type, flags, dynamic=False):
    left, lower, unit, transpose = flags
    types = f"{shaped(a, mlir_type, dynamic)}, {shaped(b, mlir_type, dynamic)}"
    result = shaped(b, mlir_type, dynamic)
    return kc.compile(f"""
func.func @main(%a: {shaped(a, mlir_type, dynamic)}, %b: {result}) -> {result} {{
  %0 = "stablehlo.triangular_solve"(%a, %b) <{{left_side = {str(left).lower()}, lower = {str(lower).lower()},
    transpose_a = #stablehlo<transpose {transpose}>, unit_diagonal = {str(unit).lower()}}}> : ({types}) -> {result}
  return %0 : {result}
}}""")


def operator(a, flags):
    """The matrix that the op solves with, in double precision."""
    _, lower, unit, transpose = flags
    made = np.tril(exact(a)) if lower else np.triu(exact(a))
    if unit:
        made = made - made * np.eye(a.shape[-1]) + np.eye(a.shape[-1])
    if transpose != "NO_TRANSPOSE":
        made = np.swapaxes(made, -1, -2)
    return made.conj() if transpose == "ADJOINT" else made


def check_solution(exe, a, b, flags, mlir_type):
    (x,) = exe(a, b)
    assert x.dtype == b.dtype and x.shape == b.shape
    matrix = operator(a, flags)
    with np.errstate(invalid="ignore", over="ignore"):
        left = matrix @ exact(x) if flags[0] else exact(x) @ matrix
        scale = np.abs(matrix) @ np.abs(exact(x)) if flags[0] else np.abs(exact(x)) @ np.abs(matrix)
    # Higham, "Accuracy and Stability of Numerical Algorithms", theorem 8.5: a small residual, element by element
    assert (np.abs(left - exact(b)) <= 4 * a.shape[-1] * EPSILON[mlir_type] * scale + 1e-300).all()


FLAGS = list(itertools.product((True, False), (True, False), (True, False), ("NO_TRANSPOSE", "TRANSPOSE", "ADJOINT")))


@pytest.mark.parametrize("flags", FLAGS[::2], ids=str)
def test_triangular_solve_flags(flags):
    mlir_type = "complex<f32>"
    a, b = numbers(0, (2, 5, 5), mlir_type) + 4 * np.eye(5, dtype=np.complex64), numbers(1, (2, 5, 5), mlir_type)
    other = np.triu(np.full((5, 5), np.nan), 1) if flags[1] else np.tril(np.full((5, 5), np.nan), -1)
    a = (a + other).astype(np.complex64)  # the other triangle is not read
    exe = solve_program(a.shape, b.shape, mlir_type, flags)
    (x,) = exe(a, b)
    assert not np.isnan(x).any()
    clean = np.where(np.isnan(a), 0, a)
    check_solution(exe, clean, b, flags, mlir_type)


@pytest.mark.parametrize("mlir_type", TYPES)
def test_triangular_solve_types(mlir_type):
    flags = (True, False, False, "TRANSPOSE")
    a = numbers(0, (7, 7), mlir_type) * TYPES[mlir_type](0.25) + np.eye(7).astype(TYPES[mlir_type]) * 2
    a, b = a.astype(TYPES[mlir_type]), numbers(1, (7, 3), mlir_type)
    check_solution(solve_program(a.shape, b.shape, mlir_type, flags), a, b, flags, mlir_type)


@pytest.mark.parametrize("flags", [FLAGS[0], FLAGS[5], FLAGS[10], FLAGS[19]], ids=str)
def test_triangular_solve_sizes(flags):
    """One program for all sizes: one block or several, whole or not, none; long sums."""
    exe = solve_program((0, 0), (0, 0), "f64", flags, dynamic=True)
    for n, m in ((1, 1), (31, 3), (32, 2), (33, 1), (64, 5), (100, 7), (450, 40), (3, 0), (0, 3)):
        a = numbers(n, (n, n), "f64") / max(1, n) + 2 * np.eye(n)
        check_solution(exe, a, numbers(m, (n, m) if flags[0] else (m, n), "f64"), flags, "f64")


def test_triangular_solve_is_accurate_for_bad_matrices():
    """Substitution, and not an inverse: the residual stays small though the condition number is 1e24."""
    flags = (True, True, False, "NO_TRANSPOSE")
    a = numbers(0, (48, 48), "f64") * np.logspace(0, -24, 48)[:, None] + np.diag(np.logspace(0, -24, 48))
    check_solution(solve_program((48, 48), (48, 2), "f64", flags), a, numbers(1, (48, 2), "f64"), flags, "f64")


def test_triangular_solve_of_a_singular_matrix_is_not_finite():
    flags = (True, True, False, "NO_TRANSPOSE")
    a = np.tril(numbers(0, (4, 4), "f32"))
    a[2, 2] = 0
    (x,) = solve_program((4, 4), (4, 1), "f32", flags)(a, np.ones((4, 1), np.float32))
    assert np.isfinite(x[:2]).all() and not np.isfinite(x[2:]).any()


def cholesky_program(shape, mlir_type, lower, dynamic=False):
    type_ = shaped(shape, mlir_type, dynamic)
    return kc.compile(f"""
func.func @main(%a: {type_}) -> {type_} {{
  %0 = stablehlo.cholesky %a, lower = {str(lower).lower()} : {type_}
  return %0 : {type_}
}}""")


def definite(seed, shape, mlir_type):
    a = exact(numbers(seed, shape, mlir_type))
    made = a @ np.swapaxes(a, -1, -2).conj() / max(1, shape[-1]) + np.eye(shape[-1])
    return made.astype(TYPES[mlir_type])


def check_factor(factor, a, lower, mlir_type):
    assert factor.dtype == a.dtype and factor.shape == a.shape
    f = exact(factor)
    np.testing.assert_array_equal(f, np.tril(f) if lower else np.triu(f))
    f = f if lower else np.swapaxes(f, -1, -2).conj()
    difference = np.abs(f @ np.swapaxes(f, -1, -2).conj() - exact(a))
    bound = np.abs(f) @ np.abs(np.swapaxes(f, -1, -2))  # Higham, theorem 10.3
    assert (difference <= 4 * (a.shape[-1] + 1) * EPSILON[mlir_type] * bound).all()


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("mlir_type", TYPES)
def test_cholesky_types(mlir_type, lower):
    a = definite(0, (2, 6, 6), mlir_type)
    exe = cholesky_program(a.shape, mlir_type, lower)
    check_factor(exe(a)[0], a, lower, mlir_type)
    junk = np.triu(np.full((6, 6), np.nan), 1) if lower else np.tril(np.full((6, 6), np.nan), -1)
    check_factor(exe((a + junk).astype(a.dtype))[0], a, lower, mlir_type)  # the other triangle is not read


@pytest.mark.parametrize("lower", [True, False])
def test_cholesky_sizes(lower):
    exe = cholesky_program((0, 0), "f64", lower, dynamic=True)
    for n in (0, 1, 31, 32, 33, 64, 100, 450):
        a = definite(n, (n, n), "f64")
        check_factor(exe(a)[0], a, lower, "f64")


def test_cholesky_of_what_is_not_positive_definite_is_nan():
    exe = cholesky_program((3, 3), "f32", True)
    a = np.diag([1.0, -1.0, 1.0]).astype(np.float32)
    a[2, 0] = a[2, 1] = 0.5
    (factor,) = exe(a)
    assert factor[0, 0] == 1 and np.isnan(factor[1, 1])


def test_a_product_subtracted_in_place_with_many_terms():
    """C - A·B in the place of C: more terms than a block of the contraction takes, so that sums have to wait."""
    exe = kc.compile("""
func.func @main(%c: tensor<8x40xf32>, %a: tensor<8x900xf32>, %b: tensor<900x40xf32>) -> tensor<8x40xf32> {
  %zero = arith.constant 0.0 : f32
  %from = arith.constant 0 : index
  %one = arith.constant 1 : index
  %to = arith.constant 3 : index
  %e = tensor.empty() : tensor<8x40xf32>
  %r = scf.for %i = %from to %to step %one iter_args(%x = %c) -> tensor<8x40xf32> {
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x40xf32>) -> tensor<8x40xf32>
    %p = linalg.matmul ins(%a, %b : tensor<8x900xf32>, tensor<900x40xf32>) outs(%f : tensor<8x40xf32>)
      -> tensor<8x40xf32>
    %s = linalg.map ins(%x, %p : tensor<8x40xf32>, tensor<8x40xf32>) outs(%x : tensor<8x40xf32>)
      (%y: f32, %z: f32, %o: f32) { %d = arith.subf %y, %z : f32
        linalg.yield %d : f32 }
    scf.yield %s : tensor<8x40xf32>
  }
  return %r : tensor<8x40xf32>
}""")
    c, a, b = numbers(0, (8, 40), "f32"), numbers(1, (8, 900), "f32"), numbers(2, (900, 40), "f32")
    np.testing.assert_allclose(exe(c, a, b)[0], exact(c) - 3 * (exact(a) @ exact(b)), atol=1e-3)
