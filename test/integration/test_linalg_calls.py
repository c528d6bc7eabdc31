"""jax.numpy.linalg and jax.scipy.linalg through LAPACK's custom calls, against NumPy in double precision."""
import numpy as np
import pytest

import kc

jax = pytest.importorskip("jax")
pytest.importorskip("scipy")
jnp, jsl = jax.numpy, jax.scipy.linalg


@pytest.fixture(autouse=True)
def double_precision():
    with jax.enable_x64(True):
        yield


def numbers(seed, *shape, dtype=np.float64):
    rng = np.random.default_rng(seed)
    made = rng.standard_normal(shape)
    return (made + 1j * rng.standard_normal(shape) if np.issubdtype(dtype, np.complexfloating) else made).astype(dtype)


def near(got, want, dtype=np.float64):
    bound = 1e-10 if np.finfo(dtype).eps < 1e-10 else 2e-4
    got = np.asarray(got)
    assert got.shape == want.shape
    np.testing.assert_allclose(got, want, atol=bound * max(1, np.abs(want).max(initial=0)), rtol=bound)


def t(a):
    return np.swapaxes(np.asarray(a), -1, -2)


def h(a):
    return t(a).conj()


DTYPES = [np.float64, np.complex64, np.float32, np.complex128]


@pytest.mark.parametrize("dtype", DTYPES)
def test_orthogonal_factors(dtype):
    """QR, SVD and the symmetric eigenvalues: the factors multiply to the matrix and are orthogonal."""
    a = numbers(0, 2, 6, 4, dtype=dtype)
    s = numbers(1, 2, 5, 5, dtype=dtype)
    s = (s + h(s)).astype(dtype)

    def all_of(a, s):
        return (
            jnp.linalg.qr(a), jnp.linalg.qr(a, mode="complete"), jnp.linalg.svd(a, full_matrices=False),
            jnp.linalg.svd(a.mT), jnp.linalg.svd(a, compute_uv=False), jnp.linalg.eigh(s),
        )  # fmt: skip

    (q, r), (q2, r2), (u, w, vt), (u2, w2, vt2), w3, (values, vectors) = kc.jit(all_of)(a, s)
    near(np.asarray(q) @ np.asarray(r), a, dtype)
    near(np.asarray(q2) @ np.asarray(r2), a, dtype)
    near(h(q2) @ np.asarray(q2), np.broadcast_to(np.eye(6), (2, 6, 6)), dtype)
    near(np.asarray(u) * np.asarray(w)[:, None] @ np.asarray(vt), a, dtype)
    near(np.asarray(u2) * np.asarray(w2)[:, None] @ np.asarray(vt2)[:, :4], t(a), dtype)
    near(w3, np.linalg.svd(a.astype(np.complex128), compute_uv=False), dtype)
    near(values, np.linalg.eigvalsh(s.astype(np.complex128)), dtype)
    near(s @ np.asarray(vectors), np.asarray(vectors) * np.asarray(values)[:, None], dtype)


@pytest.mark.parametrize("dtype", DTYPES[:2])
def test_general_matrices(dtype):
    """LU and what stands on it, eigenvalues, Schur and Hessenberg forms, tridiagonal systems."""
    a, b = numbers(0, 2, 5, 5, dtype=dtype), numbers(1, 2, 5, 3, dtype=dtype)
    d = [numbers(k, 5, dtype=dtype) for k in (2, 3, 4)]

    def all_of(a, b, dl, d, du):
        return (
            jnp.linalg.inv(a), jnp.linalg.det(a), jnp.linalg.slogdet(a), jnp.linalg.solve(a, b), jnp.linalg.eig(a),
            jsl.lu(a[0]), jsl.schur(a[0]), jsl.hessenberg(a[0], calc_q=True), jnp.linalg.pinv(b),
            jax.lax.linalg.tridiagonal_solve(dl, d + 5, du, b[0]), jsl.qr(b[0], pivoting=True, mode="economic"),
        )  # fmt: skip

    got = kc.jit(all_of)(a, b, *d)
    inverse, det, (sign, logdet), x, (values, vectors), (p, low, up), (schur, z), (hess, q) = got[:8]
    pseudo, y, (qq, r, order) = got[8:]
    wide = a.astype(np.complex128 if np.issubdtype(dtype, np.complexfloating) else np.float64)
    near(inverse, np.linalg.inv(wide), dtype)
    near(det, np.linalg.det(wide), dtype)
    near(np.asarray(sign) * np.exp(np.asarray(logdet)), np.linalg.det(wide), dtype)
    near(x, np.linalg.solve(wide, b), dtype)
    near(a @ np.asarray(vectors), np.asarray(vectors) * np.asarray(values)[:, None], dtype)
    near(np.asarray(p) @ np.asarray(low) @ np.asarray(up), a[0], dtype)
    near(np.asarray(z) @ np.asarray(schur) @ h(z), a[0], dtype)
    near(np.asarray(q) @ np.asarray(hess) @ h(q), a[0], dtype)
    near(pseudo, np.linalg.pinv(b), dtype)
    matrix = np.diag(d[1] + 5) + np.diag(d[0][1:], -1) + np.diag(d[2][:-1], 1)
    near(matrix @ np.asarray(y), b[0], dtype)
    near(np.asarray(qq) @ np.asarray(r), b[0][:, np.asarray(order)], dtype)


def test_bad_matrices():
    """Singular matrices, NaN, no rows: as NumPy or JAX on XLA has it, and always an end."""
    singular = np.ones((3, 3))
    broken = np.full((3, 3), np.nan)

    def all_of(s, n, e):
        return (
            jnp.linalg.det(s), jnp.linalg.slogdet(s), jnp.linalg.pinv(s), jnp.linalg.svd(n, compute_uv=False),
            jnp.linalg.eigvals(n), jnp.linalg.cholesky(-s), jnp.linalg.eigvalsh(n), jnp.linalg.inv(e),
            jnp.linalg.det(e), jnp.linalg.qr(e)[0],
        )  # fmt: skip

    got = kc.jit(all_of)(singular, broken, np.ones((0, 0)))
    assert got[0] == 0 and got[1][0] == 0 and got[1][1] == -np.inf
    near(got[2], np.full((3, 3), 1 / 9))
    for found in got[3:7]:
        assert np.isnan(np.asarray(found)).any()
    assert np.isnan(np.asarray(got[3])).all() and np.isnan(np.asarray(got[4])).all()
    assert np.asarray(got[7]).shape == (0, 0) and got[8] == 1 and np.asarray(got[9]).shape == (0, 0)


def test_tridiagonal_eigenvectors():
    """By inverse iteration, whose systems are singular."""
    d, e = numbers(0, 6), numbers(1, 5)
    values, vectors = map(np.asarray, kc.jit(lambda d, e: jsl.eigh_tridiagonal(d, e))(d, e))
    matrix = np.diag(d) + np.diag(e, 1) + np.diag(e, -1)
    near(values, np.linalg.eigvalsh(matrix))
    near(matrix @ vectors, vectors * values)
    near(vectors.T @ vectors, np.eye(6))


def test_dynamic_batch():
    """A batch of unknown size; the calls then have operands that tell their results' shapes."""
    a = numbers(0, 4, 3, 3)
    definite = a @ t(a) + np.eye(3)
    factor = kc.jit(lambda a: (jnp.linalg.cholesky(a), jnp.linalg.eigvalsh(a)), polymorphic_shapes=("b, _, _",))
    solve = kc.jit(jnp.linalg.solve, polymorphic_shapes=("b, _, _", "b, _, _"))
    for batch in (4, 1):
        near(solve(a[:batch], a[:batch, ::-1]), np.linalg.solve(a[:batch], a[:batch, ::-1]))
        low, values = factor(definite[:batch])
        near(low, np.linalg.cholesky(definite[:batch]))
        near(values, np.linalg.eigvalsh(definite[:batch]))


def test_xla_names():
    """The calls that JAX makes on TPUs, which GPU programs have; row-major."""
    a = numbers(0, 2, 5, 3, dtype=np.float32)
    exe = kc.compile("""
func.func @main(%a: tensor<2x5x3xf32>, %s: tensor<2x3x3xf32>) -> (tensor<2x5x3xf32>, tensor<2x3xi32>, tensor<2x5xi32>,
    tensor<2x5x3xf32>, tensor<2x5x3xf32>, tensor<2x3x3xf32>, tensor<2x3xf32>) {
  %0:3 = stablehlo.custom_call @LuDecomposition(%a)
    : (tensor<2x5x3xf32>) -> (tensor<2x5x3xf32>, tensor<2x3xi32>, tensor<2x5xi32>)
  %1:2 = stablehlo.custom_call @Qr(%a) : (tensor<2x5x3xf32>) -> (tensor<2x5x3xf32>, tensor<2x3xf32>)
  %2 = stablehlo.custom_call @ProductOfElementaryHouseholderReflectors(%1#0, %1#1)
    : (tensor<2x5x3xf32>, tensor<2x3xf32>) -> tensor<2x5x3xf32>
  %3:2 = stablehlo.custom_call @Eigh(%s) {backend_config = "1,1,100,1e-6"}
    : (tensor<2x3x3xf32>) -> (tensor<2x3x3xf32>, tensor<2x3xf32>)
  return %0#0, %0#1, %0#2, %1#0, %2, %3#0, %3#1 : tensor<2x5x3xf32>, tensor<2x3xi32>, tensor<2x5xi32>,
    tensor<2x5x3xf32>, tensor<2x5x3xf32>, tensor<2x3x3xf32>, tensor<2x3xf32>
}""")
    s = a[:, :3] + t(a[:, :3])
    lu, _, rows, packed, q, vectors, values = exe(a, s)
    low = np.tril(lu, -1) + np.eye(5, 3)
    near(low @ np.triu(lu[:, :3]), np.stack([x[p] for x, p in zip(a, rows, strict=True)]), np.float32)
    near(q @ np.triu(packed[:, :3]), a, np.float32)
    near(s @ vectors, vectors * values[:, None], np.float32)


def test_approximate_top_k():
    """JAX's call of XLA's approximate top-k: exact, and its comparison does not become a public function."""
    x = numbers(0, 3, 50, dtype=np.float32)
    jitted = kc.jit(lambda x: jax.lax.approx_max_k(x, 4))
    values, order = map(np.asarray, jitted(x))
    np.testing.assert_array_equal(order, np.argsort(-x, axis=1)[:, :4])
    np.testing.assert_array_equal(values, np.take_along_axis(x, order, 1))
    assert list(jitted.compiled(x).manifest["entries"]) == ["main"]
