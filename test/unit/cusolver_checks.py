"""cuSOLVER's custom calls on the driver of fake_cuda.c and the library of fake_cusolver.c, whose device memory is the
host's; run by test_cusolver.py in a process of its own. The functions for the CPU give the answers."""
import ctypes
import itertools
import os

import numpy as np

import kc
from kc.runtime import custom_calls, dtypes
from kc.runtime.call_frame import DeviceView
from kc.runtime.lapack.library import routine

FAKE = ctypes.CDLL(os.environ["KC_CUSOLVER_LIBRARY"])
FAKE.fake_calls.restype, FAKE.fake_stream.restype = ctypes.c_char_p, ctypes.c_void_p
CUDA = ctypes.CDLL(os.environ["KC_LIBCUDA"])
TYPES = {"s": np.float32, "d": np.float64, "c": np.complex64, "z": np.complex128}
REALS = {"s": np.float32, "d": np.float64, "c": np.float32, "z": np.float64}
NAMES = [p + n for p in "sdcz" for n in ("getrf", "geqrf", "gesvd")]
NAMES += ["sorgqr", "dorgqr", "cungqr", "zungqr", "ssyev", "dsyev", "cheev", "zheev"]
KINDS = {"float32": "f32", "float64": "f64", "complex64": "complex64", "complex128": "complex128", "int32": "i32"}
STREAM = 0x77
for name in NAMES:
    FAKE.fake_lapack(name.encode(), ctypes.cast(routine(name), ctypes.c_void_p))


def view(array):
    """The array as a custom call of a GPU program gets it."""
    made = object.__new__(DeviceView)
    made.pointer, made.dtype = array.ctypes.data, dtypes.by_name(KINDS[array.dtype.name])
    made.device, made.stream = 0, STREAM
    made.writable, made.shape, made.strides = True, array.shape, array.strides
    return made


def placed(array, columns):
    """A copy in memory; matrices of it columns-first if asked for."""
    if not columns or array.ndim < 2:
        return np.array(array, order="C")
    return np.array(np.swapaxes(array, -1, -2), order="C").swapaxes(-1, -2)


def run(target, arrays, results, expected, attributes=None, columns=True, skip=(), bound=1e-4, aliased=None):
    """Both functions give the same; those of cuSOLVER that were called are the expected ones. Gives the results.

    ``results``: shape and dtype of each; matrices are those with the rank of the first operand.
    """
    rank = arrays[0].ndim
    given = [placed(a, columns and a.ndim == rank) for a in arrays]
    aliased = columns if aliased is None else aliased
    answers = []
    for platform in ("cpu", "nvptx"):
        inputs = [placed(a, columns and a.ndim == rank) for a in given]
        outputs = [placed(np.full(s, 7, t), columns and len(s) == rank) for s, t in results]
        if aliased:
            outputs[0] = inputs[0]
        FAKE.fake_forget()
        live = CUDA.fake_live()
        pairs = (inputs, outputs) if platform == "cpu" else ([view(a) for a in inputs], [view(a) for a in outputs])
        found = custom_calls.find(target, platform)
        assert found.platform == platform
        found.function(*pairs, attributes or {})
        assert CUDA.fake_live() == live
        answers.append(outputs)
    called = FAKE.fake_calls().decode().split()
    assert sorted(set(called)) == sorted(expected.split()), (target, called)
    assert not called or FAKE.fake_stream() == STREAM
    for index, (want, got) in enumerate(zip(*answers, strict=True)):
        if index not in skip:
            np.testing.assert_allclose(got, want, atol=bound, rtol=bound)
    return answers[1]


def numbers(letter, *shape):
    rng = np.random.default_rng(0)
    made = rng.standard_normal(shape)
    return (made + 1j * rng.standard_normal(shape) if letter in "cz" else made).astype(TYPES[letter])


def family(letter, batch, columns):
    kind, real, many = TYPES[letter], REALS[letter], bool(batch)
    info = (batch, np.int32)
    for m, n in ((6, 4), (4, 6), (5, 5), (1, 3)):
        k, a = min(m, n), numbers(letter, *batch, m, n)
        matrix, turned = (a.shape, kind), "" if columns or m == 1 else " geam"
        expected = "getrfBatched" if many and m == n else "getrf"
        results = [matrix, ((*batch, k), np.int32), info]
        run(f"lapack_{letter}getrf_ffi", [a], results, expected + turned, columns=columns)
        expected = "geqrfBatched" if many else "geqrf"
        results = [matrix, ((*batch, k), kind)]
        factors = run(f"lapack_{letter}geqrf_ffi", [a], results, expected + turned, columns=columns)
        if m >= n:
            name = "ungqr" if letter in "cz" else "orgqr"
            run(f"lapack_{letter}{name}_ffi", factors, [matrix], name + turned, columns=columns)
        for mode, name in itertools.product("ASN", ("gesdd", "gesvd")):
            u, vt = (k, k) if mode == "S" else (m, n)
            results = [matrix, ((*batch, k), real), ((*batch, m, u), kind), ((*batch, vt, n), kind), info]
            expected = "gesvd" + (" geam" if turned or m < n else "")
            if many:
                expected = "gesvdjBatched" + (" gemmStridedBatched" if mode != "N" else "")
                expected += "" if columns or (m == 1 and mode != "A") else " geam"
            _, s, left, right, _ = run(
                f"lapack_{letter}{name}_ffi", [a], results, expected,
                {"mode": ord(mode)}, columns, (0, 2, 3),
            )  # fmt: skip
            if mode != "N":  # vectors may have other signs than the CPU's
                np.testing.assert_allclose(left[..., :k] * s[..., None, :] @ right[..., :k, :], a, atol=1e-4)
                np.testing.assert_allclose(right @ right.swapaxes(-1, -2).conj(), _eye(batch, vt), atol=1e-4)
    square = numbers(letter, *batch, 5, 5)
    results = [(square.shape, kind), ((*batch, 5), real), info]
    name, turned = "heevd" if letter in "cz" else "syevd", "" if columns else " geam"
    for uplo, mode in itertools.product("LU", "VN"):
        vectors, values, _ = run(
            f"lapack_{letter}{name}_ffi", [square], results, (name[:-1] + "jBatched" if many else name) + turned,
            {"mode": ord(mode), "uplo": ord(uplo)}, columns, (0,),
        )  # fmt: skip
        if mode == "V":
            half = np.tril(square, -1) if uplo == "L" else np.triu(square, 1)
            whole = half + np.swapaxes(half, -1, -2).conj() + np.eye(5) * square.real
            np.testing.assert_allclose(whole @ vectors, vectors * values[..., None, :], atol=1e-4)


def _eye(batch, n):
    return np.broadcast_to(np.eye(n), (*batch, n, n))


for letter, batch, columns in itertools.product("sdcz", ((), (3,), (2, 2)), (True, False)):
    family(letter, batch, columns)

# big stacks go one by one
big = numbers("s", 2, 130, 130)
run("lapack_sgetrf_ffi", [big], [(big.shape, np.float32), ((2, 130), np.int32), ((2,), np.int32)], "getrf", bound=1e-2)
big = big + big.swapaxes(1, 2)
run("lapack_ssyevd_ffi", [big], [(big.shape, np.float32), ((2, 130), np.float32), ((2,), np.int32)], "syevd", skip=(0,))

tall = numbers("c", 2, 40, 9)
results = [(tall.shape, np.complex64), ((2, 9), np.float32), ((2, 40, 9), np.complex64), ((2, 9, 9), np.complex64)]
results.append(((2,), np.int32))
_, s, left, right, _ = run("lapack_cgesdd_ffi", [tall], results, "gesvd", {"mode": "S"}, skip=(0, 2, 3))
np.testing.assert_allclose(left * s[:, None] @ right, tall, atol=1e-4)

# NaN reaches the results of its matrix, and no other; infinities do where LAPACK's answer is NaN
for letter, count, n in itertools.product("sz", (1, 3), (5, 140)):
    a = numbers(letter, count, n, n)
    real = REALS[letter]
    for value in (np.nan, np.inf):
        a[-1, 3, 1] = value
        found = custom_calls.find(f"lapack_{letter}getrf_ffi", "nvptx").function
        lu, pivots, code = placed(a, True), np.empty((count, n), np.int32), np.empty(count, np.int32)
        found([view(placed(a, True))], [view(lu), view(pivots), view(code)], {})
        assert np.isnan(lu[-1]).all() if value != value else not np.isnan(lu[-1]).all()
        assert ((pivots >= 1) & (pivots <= n)).all() and not code.any() and np.isfinite(lu[:-1]).all()
        w, code = np.empty((count, n), real), np.empty(count, np.int32)
        name = f"lapack_{letter}{'heevd' if letter == 'z' else 'syevd'}_ffi"
        for uplo in "LU":
            vectors = placed(a, True)
            custom_calls.find(name, "nvptx").function(
                [view(placed(a, True))], [view(vectors), view(w), view(code)], {"uplo": uplo}
            )
            assert np.isnan(vectors[-1]).all() == np.isnan(w[-1]).all() == (uplo == "L")
            assert np.isfinite(vectors[:-1]).all() and np.isfinite(w[:-1]).all()
        u, vt = np.empty_like(a), np.empty_like(a)
        found = custom_calls.find(f"lapack_{letter}gesdd_ffi", "nvptx").function
        found([view(a)], [view(placed(a, False)), view(w), view(u), view(vt), view(code)], {"mode": "S"})
        assert all(np.isnan(r[-1]).all() and np.isfinite(r[:-1]).all() for r in (u, w, vt))
        assert code.tolist() == [0] * (count - 1) + [-4]
large = np.full((2, 3, 3), 3e38, np.float32) * np.eye(3, dtype=np.float32)  # the sum is infinite, no number is
run("lapack_sgetrf_ffi", [large], [(large.shape, np.float32), ((2, 3), np.int32), ((2,), np.int32)], "getrfBatched")

# singular matrices; XLA's names
a = numbers("d", 2, 5, 5)
a[0, :, 2] = 0
matrix, ints, reals = (a.shape, np.float64), ((2, 5), np.int32), ((2, 5), np.float64)
_, _, info = run("lapack_dgetrf_ffi", [a], [matrix, ints, ((2,), np.int32)], "getrfBatched", aliased=False)
assert info.tolist() == [3, 0]
for columns, turned in ((False, " geam"), (True, "")):
    run("LuDecomposition", [a], [matrix, ints, ints], "getrfBatched" + turned, columns=columns)
    factors = run("Qr", [a], [matrix, reals], "geqrfBatched" + turned, columns=columns)
    run("ProductOfElementaryHouseholderReflectors", factors, [matrix], "orgqr" + turned, columns=columns)
    for lower in "01":
        options = {"backend_config": f"{lower},1,100,1e-6"}
        run("Eigh", [a], [matrix, reals], "syevjBatched" + turned, options, columns, (0,))
tall = numbers("d", 2, 7, 3)
orders = [(tall.shape, np.float64), ((2, 3), np.int32), ((2, 7), np.int32)]
run("LuDecomposition", [tall], orders, "getrf geam", columns=False)
FAKE.fake_info(4)  # no convergence
vectors, values = np.empty_like(a), np.empty((2, 5))
custom_calls.find("Eigh", "nvptx").function([view(a)], [view(vectors), view(values)], {"backend_config": "1"})
assert np.isnan(vectors).all() and np.isnan(values).all()
FAKE.fake_info(0)

# nothing to do
for batch, m, n in (((0,), 3, 3), ((2,), 0, 3), ((2,), 3, 0)):
    empty, k = np.zeros((*batch, m, n), np.float32), min(m, n)
    matrix, info = (empty.shape, np.float32), (batch, np.int32)
    run("lapack_sgetrf_ffi", [empty], [matrix, ((*batch, k), np.int32), info], "")
    run("lapack_sgeqrf_ffi", [empty], [matrix, ((*batch, k), np.float32)], "")
    results = [matrix, ((*batch, k), np.float32), ((*batch, m, m), np.float32), ((*batch, n, n), np.float32), info]
    _, _, left, right, codes = run("lapack_sgesdd_ffi", [empty], results, "", {"mode": "A"}, skip=(2, 3, 4))
    np.testing.assert_array_equal(left, _eye(batch, m))
    np.testing.assert_array_equal(right, _eye(batch, n))
    assert not codes.any()
q = numbers("s", 2, 4, 3)
run("lapack_sorgqr_ffi", [q, q[:, 0, :0]], [(q.shape, np.float32)], "")

# what is refused
for wrong, message in (
    (np.asfortranarray(q), "no form that cuSOLVER takes"),
    (np.ones((2, 4, 3), np.int32), "cuSOLVER has no routine for i32"),
):
    try:
        custom_calls.find("Qr", "nvptx").function([view(wrong)], [view(wrong), view(np.ones((2, 3), np.float32))], {})
        raise AssertionError("did not fail")
    except ValueError as error:
        assert message in str(error), error
FAKE.fake_status(2)
try:
    run("Qr", [q], [(q.shape, np.float32), ((2, 3), np.float32)], "")
    raise AssertionError("did not fail")
except kc.runtime.ExecutionError as error:
    assert "cublasSgeqrfBatched failed: no memory (2)" in str(error), error
FAKE.fake_status(0)

# a whole program
source = """
func.func @main(%a: tensor<2x4x3xf32>) -> (tensor<2x4x3xf32>, tensor<2x3xf32>) {
  %0:2 = stablehlo.custom_call @Qr(%a) : (tensor<2x4x3xf32>) -> (tensor<2x4x3xf32>, tensor<2x3xf32>)
  return %0#0, %0#1 : tensor<2x4x3xf32>, tensor<2x3xf32>
}"""
for got, want in zip(kc.compile(source, "nvptx:sm_90a")(q), kc.compile(source)(q), strict=True):
    np.testing.assert_allclose(got, want, atol=1e-5)
assert "geqrfBatched" in FAKE.fake_calls().decode()
print("passed")
