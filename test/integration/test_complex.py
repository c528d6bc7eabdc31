"""Functions of complex numbers against NumPy in higher precision, and at the edges against C99, annex G."""

from __future__ import annotations

import numpy as np
import pytest

import kc

INF, NAN = float("inf"), float("nan")



def log1p(z: np.ndarray) -> np.ndarray:
    """NumPy's own loses digits near 0."""
    near = np.where(np.abs(z) < 0.01, z, 0)
    return np.where(np.abs(z) < 0.01, sum(-((-near) ** k) / k for k in range(1, 12)), np.log(1 + z))


_STABLEHLO = {
    "abs": np.abs,
    "cosine": np.cos,
    "exponential": np.exp,
    "exponential_minus_one": np.expm1,
    "log": np.log,
    "log_plus_one": log1p,
    "sine": np.sin,
    "sqrt": np.sqrt,
    "tan": np.tan,
    "tanh": np.tanh,
}
_CHLO = {"acos": np.arccos, "asinh": np.arcsinh, "atanh": np.arctanh, "cosh": np.cosh, "sinh": np.sinh}


def program(names: list[str], part: str) -> str:
    """A function that gives the values of all ``names`` at its argument."""
    lines, results, types = [], [], []
    source = f"tensor<?xcomplex<{part}>>"
    for i, name in enumerate(names):
        target = f"tensor<?x{part}>" if name == "abs" else source
        kind = f"({source}) -> {target}" if name == "abs" else source
        if name in _CHLO:
            lines.append(f"%{i} = chlo.{name} %x : {source} -> {source}")
        else:
            lines.append(f"%{i} = stablehlo.{name} %x : {kind}")
        results.append(f"%{i}")
        types.append(target)
    body = "\n".join(lines)
    return f"""func.func @main(%x: {source}) -> ({", ".join(types)}) {{
      {body}
      return {", ".join(results)} : {", ".join(types)}
    }}"""


def samples(dtype: type) -> np.ndarray:
    rng = np.random.default_rng(0)
    small = np.exp(rng.uniform(-30, 3, 2000)) * np.exp(1j * rng.uniform(-np.pi, np.pi, 2000))
    unit = np.exp(1j * rng.uniform(-np.pi, np.pi, 500)) * (1 + rng.uniform(-1e-3, 1e-3, 500))
    return np.concatenate([small, unit]).astype(dtype)


@pytest.mark.parametrize("name", [*_STABLEHLO, *_CHLO])
def test_functions(name: str):
    dtype = np.complex64 if name in ("abs", "log", "sine") else np.complex128
    z = samples(dtype)
    (actual,) = kc.compile(program([name], "f32" if dtype is np.complex64 else "f64"))(z)
    expected = (_STABLEHLO | _CHLO)[name](z.astype(complex if dtype is np.complex64 else np.clongdouble))
    error = np.abs(actual - expected) / np.abs(expected)
    assert error.max() <= 4 * np.finfo(dtype).eps, (z[error.argmax()], actual[error.argmax()], expected[error.argmax()])


def test_edges():
    at = {
        "abs": [(complex(INF, NAN), INF), (complex(NAN, -INF), INF), (2e38 + 1.5e38j, 2.5e38), (3e-45j, 3e-45)],
        "exponential": [
            (complex(-INF, NAN), 0),
            (complex(INF, 0.0), complex(INF, 0)),
            (complex(89, np.pi / 2), complex(-1.962472e31, INF)),
            (complex(1, -0.0), complex(np.e, -0.0)),
        ],
        "exponential_minus_one": [(complex(-0.0, 0.0), complex(-0.0, 0.0)), (1e-20j, 1e-20j), (1e-30 + 0j, 1e-30)],
        "log": [
            (0j, complex(-INF, 0)),
            (complex(-0.0, -0.0), complex(-INF, -np.pi)),
            (complex(-1, -0.0), complex(0, -np.pi)),
        ],
        "log_plus_one": [(complex(-1, 0), complex(-INF, 0)), (complex(1e-30, 1e-30), complex(1e-30, 1e-30))],
        "sqrt": [
            (complex(-4, 0.0), 2j),
            (complex(-4, -0.0), complex(0, -2)),
            (complex(NAN, INF), complex(INF, INF)),
            (complex(-0.0, -0.0), complex(0, -0.0)),
            (complex(3e38, 3e38), complex(1.9029766e19, 7.8823882e18)),
        ],
        "tanh": [(complex(INF, NAN), complex(1, 0)), (complex(200, 0.5), complex(1, 0)), (1e-38 + 0j, 1e-38)],
        "sine": [(complex(1, -0.0), complex(np.sin(1), -0.0)), (1e-30 + 1e-30j, 1e-30 + 1e-30j)],
        "cosh": [(complex(INF, 0.0), complex(INF, 0)), (complex(0.0, -0.0), complex(1, -0.0))],
        "acos": [(complex(3, -0.0), 1.7627472j), (complex(3, 0.0), complex(0, -1.7627472))],
        "atanh": [(complex(-0.0, 1), complex(-0.0, np.pi / 4)), (complex(2, -0.0), complex(0.54930615, -np.pi / 2))],
    }
    for name, pairs in at.items():
        points = np.array([z for z, _ in pairs], np.complex64)
        (results,) = kc.compile(program([name], "f32"))(points)
        for z, actual, expected in zip(points, results, [value for _, value in pairs], strict=True):
            parts = [(actual.real, complex(expected).real)]
            parts += [] if name == "abs" else [(actual.imag, complex(expected).imag)]
            for got, want in parts:
                np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-7, err_msg=f"{name} at {z}")
                assert want != 0 or abs(got) > 0 or np.signbit(got) == np.signbit(want), (name, z, actual)


def test_powers_of_zero_and_roots():
    text = """func.func @main(%x: tensor<5xcomplex<f64>>, %y: tensor<5xcomplex<f64>>)
        -> (tensor<5xcomplex<f64>>, tensor<5xcomplex<f64>>) {
      %0 = stablehlo.power %x, %y : tensor<5xcomplex<f64>>
      %1 = stablehlo.cbrt %x : tensor<5xcomplex<f64>>
      return %0, %1 : tensor<5xcomplex<f64>>, tensor<5xcomplex<f64>>
    }"""
    x = np.array([0, 0, 1j, 2 - 1j, -8])
    y = np.array([0, 0.5 + 1j, 2, -1 + 3j, 1])
    powers, roots = kc.compile(text)(x, y)
    np.testing.assert_allclose(powers, [1, 0, -1, (2 - 1j) ** (-1 + 3j), -8], rtol=1e-14, atol=1e-14)
    np.testing.assert_allclose(roots, [0, 0, 1j ** (1 / 3), (2 - 1j) ** (1 / 3), 1 + 1j * 3**0.5], rtol=1e-15)


def test_bits():
    c64, c128 = "tensor<2x2xcomplex<f32>>", "tensor<2xcomplex<f64>>"
    text = f"""func.func @main(%x: {c64}, %y: {c128}) -> ({c64}, {c128}, {c64}) {{
      %0 = stablehlo.bitcast_convert %x : ({c64}) -> {c64}
      %1 = stablehlo.bitcast_convert %x : ({c64}) -> {c128}
      %2 = stablehlo.bitcast_convert %y : ({c128}) -> {c64}
      return %0, %1, %2 : {c64}, {c128}, {c64}
    }}"""
    rng = np.random.default_rng(0)
    x = (rng.standard_normal((2, 2)) + 1j * rng.standard_normal((2, 2))).astype(np.complex64)
    y = rng.standard_normal(2) + 1j * rng.standard_normal(2)
    same, wide, narrow = kc.compile(text)(x, y)
    assert same.tobytes() == x.tobytes() and wide.tobytes() == x.tobytes() and narrow.tobytes() == y.tobytes()
    assert wide.dtype == np.complex128 and wide.shape == (2,) and narrow.shape == (2, 2)


def test_atan2():
    source = "tensor<?xcomplex<f64>>"
    text = f"""func.func @main(%y: {source}, %x: {source}) -> {source} {{
      %0 = stablehlo.atan2 %y, %x : {source}
      return %0 : {source}
    }}"""
    angle = kc.compile(text)
    rng = np.random.default_rng(0)
    y, x = rng.standard_normal((2, 2000)) + 1j * rng.standard_normal((2, 2000))
    (actual,) = angle(y, x)
    wide, one = y.astype(np.clongdouble), np.clongdouble(1j)
    expected = -one * np.log((x + one * wide) / np.sqrt(wide * wide + x.astype(np.clongdouble) ** 2))
    assert (np.abs(actual - expected) / np.abs(expected)).max() <= 1e-15
    # on the right a small quotient is its own angle; near the poles the imaginary part is a logarithm
    right = np.where(x.real > 0, x, -x)
    np.testing.assert_allclose(angle(y * 1e-200, right)[0], y * 1e-200 / right, rtol=1e-14)
    np.testing.assert_array_equal(angle(y * 2.0**1000, x * 2.0**1000)[0], actual)
    np.testing.assert_allclose(angle(1j * x * (1 + 2.0**-40), x)[0].imag, 20.5 * np.log(2), rtol=1e-4)
    # real numbers: the angle of (x, y), on the side of the cut that the sign of zero names
    real = np.array([0, -0.0, 1, -1, 2, -3, 0.5, -1e-30]), np.array([-2.5, -2.5, 0, 0, -1, -4, 3, -1.0])
    np.testing.assert_allclose(angle(*(v.astype(complex) for v in real))[0], np.arctan2(*real), rtol=1e-15)


@pytest.mark.parametrize("part", ["f32", "f64"])
def test_divide(part: str):
    dtype = np.complex64 if part == "f32" else np.complex128
    source = f"tensor<?xcomplex<{part}>>"
    text = f"""func.func @main(%x: {source}, %y: {source}) -> {source} {{
      %0 = stablehlo.divide %x, %y : {source}
      return %0 : {source}
    }}"""
    divide = kc.compile(text)
    rng = np.random.default_rng(0)
    x, y = (samples(dtype)[rng.permutation(2500)] for _ in range(2))
    expected = x.astype(np.clongdouble) / y.astype(np.clongdouble)
    error = np.abs(divide(x, y)[0] - expected) / np.abs(expected)
    assert error.max() <= 2 * np.finfo(dtype).eps
    big, small = float(np.finfo(dtype).max), float(np.finfo(dtype).tiny)
    pairs = [  # dividend, divisor, quotient
        (complex(big, big), complex(big, big), 1),
        (complex(small, -small), complex(small, small), -1j),
        (complex(big, -big), complex(INF, INF), complex(0, -0.0)),
        (complex(INF, 1), complex(1, 1), complex(INF, -INF)),
        (complex(0, 0), complex(-2, 0), complex(0, -0.0)),
        (complex(0, 0), complex(0, 0), complex(NAN, NAN)),
        (complex(NAN, 1), complex(INF, 0), complex(NAN, NAN)),
    ]
    x, y, expected = (np.array(v, dtype) for v in zip(*pairs, strict=True))
    (actual,) = divide(x, y)
    np.testing.assert_array_equal(actual, expected)
    zeros = expected == 0
    np.testing.assert_array_equal(np.signbit(actual.imag[zeros]), np.signbit(expected.imag[zeros]))
