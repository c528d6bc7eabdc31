"""rng_bit_generator against XLA, bit for bit; rng against its distributions."""
import ml_dtypes
import numpy as np
import pytest

import kc

jax = pytest.importorskip("jax")
stats = pytest.importorskip("scipy.stats")

PHILOX, THREEFRY, DEFAULT = "RNG_PHILOX", "RNG_THREE_FRY", "RNG_DEFAULT"
CASES = [
    (DEFAULT, np.uint8, (5, 3)), (PHILOX, np.uint32, (33, 3)), (PHILOX, np.uint64, (5,)), (PHILOX, np.uint64, ()),
    (PHILOX, np.uint16, (0,)), (THREEFRY, np.uint32, ()), (THREEFRY, np.uint32, (3, 5, 7)),
    (THREEFRY, np.uint32, (3, 4)), (THREEFRY, np.uint64, (3, 5)), (THREEFRY, np.uint16, (7,)),
    (THREEFRY, np.uint32, (0, 3)),
]  # fmt: skip


def test_bits_are_those_of_xla():
    with jax.enable_x64(True):

        def all_of(key):
            return [
                jax.lax.rng_bit_generator(key, shape, dtype, getattr(jax.lax.RandomAlgorithm, algorithm))
                for algorithm, dtype, shape in CASES
            ]

        ours, theirs = kc.jit(all_of), jax.jit(all_of)
        for key in ([2**64 - 1, 2**64 - 3], [0x123456789ABCDEF0, 0xFEDCBA9876543210]):
            key = np.array(key, np.uint64)
            for (state, bits), (want_state, want_bits) in zip(ours(key), theirs(key), strict=True):
                np.testing.assert_array_equal(np.asarray(state), np.asarray(want_state))
                np.testing.assert_array_equal(np.asarray(bits), np.asarray(want_bits))


def test_philox_with_a_counter_of_128_bits():
    """Known answers of Random123 (kat_vectors, philox4x32 10), and the carry into the upper half."""
    exe = kc.compile("""
func.func @main(%s: tensor<3xui64>) -> (tensor<3xui64>, tensor<8xui32>) {
  %0, %1 = stablehlo.rng_bit_generator %s, algorithm = PHILOX : (tensor<3xui64>) -> (tensor<3xui64>, tensor<8xui32>)
  return %0, %1 : tensor<3xui64>, tensor<8xui32>
}""")
    state, bits = exe(np.zeros(3, np.uint64))
    assert [hex(b) for b in bits[:4]] == ["0x6627e8d5", "0xe169c58d", "0xbc57ac4c", "0x9b00dbd8"]
    assert list(state) == [0, 2, 0]
    ones = np.full(3, 2**64 - 1, np.uint64)
    state, bits = exe(ones)
    assert [hex(b) for b in bits[:4]] == ["0x408f276d", "0x41c83b0e", "0xa20bc7c6", "0x6d5451fd"]
    assert list(state) == [2**64 - 1, 1, 0]


def rng(type_, distribution, shape, dynamic=False):
    result = f"tensor<{''.join(('?' if dynamic else str(n)) + 'x' for n in shape)}{type_}>"
    sizes = f"tensor<{len(shape)}xi64>"
    return kc.compile(f"""
func.func @main(%a: tensor<{type_}>, %b: tensor<{type_}>, %shape: {sizes}) -> {result} {{
  %0 = stablehlo.rng %a, %b, %shape, distribution = {distribution}
    : (tensor<{type_}>, tensor<{type_}>, {sizes}) -> {result}
  return %0 : {result}
}}""")


FLOATS = {"f64": np.float64, "f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16}
SHAPE = np.array([100, 200])


@pytest.mark.parametrize("type_", FLOATS)
def test_distributions_of_floats(type_):
    """Kolmogorov-Smirnov; the seed is fixed, so that what passes once passes always."""
    kc.runtime.seed(2)
    dtype = FLOATS[type_]
    (x,) = rng(type_, "UNIFORM", SHAPE)(np.array(-2, dtype), np.array(5, dtype), SHAPE)
    assert x.dtype == dtype and x.shape == (100, 200) and (x >= dtype(-2)).all() and (x < dtype(5)).all()
    assert stats.kstest(x.astype(np.float64).ravel(), "uniform", args=(-2, 7)).pvalue > 0.01
    (x,) = rng(type_, "NORMAL", SHAPE, dynamic=True)(np.array(-2, dtype), np.array(5, dtype), SHAPE)
    x = x.astype(np.float64)
    assert x.shape == (100, 200) and stats.kstest(x.ravel(), "norm", args=(-2, 5)).pvalue > 0.01
    neighbours = np.corrcoef(x.ravel()[:-1], x.ravel()[1:])[0, 1]
    assert abs(neighbours) < 0.03


@pytest.mark.parametrize(
    ("type_", "low", "high"),
    [("i32", -3, 4), ("ui8", 10, 250), ("i8", -128, 127), ("i64", -(2**62), 2**62), ("i4", -8, 7)],
)
def test_distributions_of_integers(type_, low, high):
    kc.runtime.seed(3)
    exe = rng(type_, "UNIFORM", (20000,))
    dtype = exe.program.signature().results[0].dtype.numpy
    (x,) = exe(np.array(low).astype(dtype), np.array(high).astype(dtype), np.array([20000]))
    x = x.astype(np.int64)
    assert low <= x.min() and x.max() < high
    if high - low < 256:
        counts = np.bincount(x - low, minlength=high - low)
        assert len(counts) == high - low and stats.chisquare(counts).pvalue > 0.01
    else:
        assert stats.kstest(x.astype(np.float64), "uniform", args=(low, high - low)).pvalue > 0.01


def test_the_state_goes_on_and_a_seed_starts_it_anew():
    exe = rng("f32", "UNIFORM", (5,))
    other = rng("f32", "UNIFORM", (5,))
    call = (np.float32(0), np.float32(1), np.array([5]))
    kc.runtime.seed(1)
    first, second, third = exe(*call)[0], exe(*call)[0], other(*call)[0]
    assert len({*first, *second, *third}) == 15
    kc.runtime.seed(1)
    np.testing.assert_array_equal(other(*call)[0], first)
    kc.runtime.seed(2)
    assert (exe(*call)[0] != first).all()
