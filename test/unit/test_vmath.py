"""Mathematical functions against float64 (for f32) and mpmath (for f64): the stated bounds, and edges."""
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
import scipy.special

import kc

#: function -> (bound in ulp for f32, for f64, reference in float64, reference in mpmath)
FUNCTIONS: dict[str, tuple[float, float, Callable[..., Any], Callable[..., Any]]] = {
    "exp": (1, 1, np.exp, mpmath.exp),
    "exp2": (2, 1.1, np.exp2, lambda x: mpmath.power(2, x)),
    "expm1": (2, 2, np.expm1, mpmath.expm1),
    "log": (1, 1, np.log, mpmath.log),
    "log2": (2, 1, np.log2, lambda x: mpmath.log(x) / mpmath.log(2)),
    "log10": (2, 2, np.log10, mpmath.log10),
    "log1p": (2, 2, np.log1p, mpmath.log1p),
    "tanh": (2, 2, np.tanh, mpmath.tanh),
    "erf": (3, 2, scipy.special.erf, mpmath.erf),
    "erfc": (4, 5, scipy.special.erfc, mpmath.erfc),
    "sin": (0.51, 1, np.sin, mpmath.sin),
    "cos": (0.51, 1, np.cos, mpmath.cos),
    "tan": (0.51, 3, np.tan, mpmath.tan),
    "atan": (0.51, 2, np.arctan, mpmath.atan),
    "asin": (0.51, 2, np.arcsin, mpmath.asin),
    "acos": (0.51, 2, np.arccos, mpmath.acos),
    "sinh": (0.51, 3, np.sinh, mpmath.sinh),
    "cosh": (0.51, 3, np.cosh, mpmath.cosh),
    "asinh": (0.51, 3, np.arcsinh, mpmath.asinh),
    "acosh": (0.51, 3, np.arccosh, mpmath.acosh),
    "atanh": (0.51, 3, np.arctanh, mpmath.atanh),
    "cbrt": (0.51, 1, np.cbrt, lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x))),
    "rsqrt": (2, 2, lambda x: 1 / np.sqrt(x), lambda x: 1 / mpmath.sqrt(x)),
}
#: beyond this magnitude mpmath takes too long, or the result is an infinity anyway
LIMITED = {"exp", "exp2", "expm1", "sinh", "cosh", "tanh", "erf", "erfc"}


@functools.cache
def compiled(name: str, element: str, operands: int = 1) -> Any:
    """A program that applies ``math.<name>`` to vectors of any length."""
    kind = f"tensor<?x{element}>"
    inputs = ", ".join(f"%a{i}" for i in range(operands))
    types = ", ".join([kind] * operands)
    maps = ", ".join(["affine_map<(d0) -> (d0)>"] * (operands + 1))
    blocks = ", ".join(f"%x{i}: {element}" for i in range(operands))
    values = ", ".join(f"%x{i}" for i in range(operands))
    return kc.compile(f"""
    func.func @main({", ".join(f"%a{i}: {kind}" for i in range(operands))}) -> {kind} {{
      %c0 = arith.constant 0 : index
      %n = tensor.dim %a0, %c0 : {kind}
      %e = tensor.empty(%n) : {kind}
      %r = linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel"]}}
          ins({inputs} : {types}) outs(%e : {kind}) {{
      ^bb0({blocks}, %o: {element}):
        %y = math.{name} {values} : {element}
        linalg.yield %y : {element}
      }} -> {kind}
      return %r : {kind}
    }}""", target="cpu")


def apply(name: str, *arrays: np.ndarray) -> np.ndarray:
    element = {"float32": "f32", "float64": "f64"}[arrays[0].dtype.name]
    result: np.ndarray = compiled(name, element, len(arrays))(*arrays)[0]
    return result


def samples(dtype: type, count: int) -> np.ndarray:
    """Edge values, random bit patterns, and values of moderate size."""
    rng = np.random.default_rng(7)
    info = np.finfo(dtype)
    edges = [0.0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 0.5, -0.5, 2, -2, info.max, -info.max, info.tiny, -info.tiny,
             info.smallest_subnormal, -info.smallest_subnormal, 0.55, 0.625, 0.92, 3.93, 22, 88.7, 88.73, -87.4, -103.9,
             -104, 127.99, 128, -149, -150, 709.7, 709.8, -708.5, -745.1, -745.2, 1e22, 1e30]
    bits = np.uint32 if dtype is np.float32 else np.uint64
    patterns = rng.integers(0, np.iinfo(bits).max, count, dtype=bits).view(dtype)
    middle = (rng.standard_normal(count) * np.exp(rng.uniform(-6, 4, count))).astype(dtype)
    unit = rng.uniform(-1, 1, count).astype(dtype)
    with np.errstate(all="ignore"):
        return np.concatenate([np.array(edges).astype(dtype), patterns, middle, unit])


def check_f32(result: np.ndarray, exact: np.ndarray, bound: float) -> None:
    """``result`` within ``bound`` ulp of ``exact``; NaN, infinities and the sign of zero the same."""
    with np.errstate(all="ignore"):
        rounded = exact.astype(np.float32)
    assert not np.any(np.isnan(result) != np.isnan(rounded))
    finite = np.isfinite(result) & np.isfinite(rounded)
    others = ~finite & ~np.isnan(rounded)
    assert np.all((result == rounded)[others])
    zero = finite & (rounded == 0) & (result == 0)
    assert np.all(np.signbit(result[zero]) == np.signbit(rounded[zero]))
    unit = np.spacing(np.abs(rounded[finite])).astype(np.float64)
    error = np.abs(result[finite].astype(np.float64) - exact[finite]) / unit
    worst = int(error.argmax())
    assert error[worst] <= bound, f"{error[worst]} ulp: {result[finite][worst]} for {exact[finite][worst]}"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_f32(name: str) -> None:
    bound, _, reference, _ = FUNCTIONS[name]
    x = samples(np.float32, 60000)
    with np.errstate(all="ignore"):
        exact = reference(x.astype(np.float64))
    check_f32(apply(name, x), exact, bound)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_f64(name: str) -> None:
    _, bound, reference, exactly = FUNCTIONS[name]
    x = samples(np.float64, 250)
    result = apply(name, x)
    with np.errstate(all="ignore"):
        near = reference(x)
    with mpmath.workprec(200):
        for argument, value, expected in zip(x, result, near, strict=True):
            if not np.isfinite(expected) or not np.isfinite(value) or expected == value == 0:
                assert np.isnan(value) if np.isnan(expected) else value == expected, argument
                assert np.isnan(value) or np.signbit(value) == np.signbit(expected), argument
                continue
            if name in LIMITED and abs(argument) > 1e5:
                assert value == expected, argument
                continue
            unit = float(np.spacing(abs(expected)))
            error = abs(mpmath.mpf(float(value)) - exactly(mpmath.mpf(float(argument)))) / unit
            # a denormal of the wrong rounding is one unit off whatever the function
            assert error <= max(bound, 1), (argument, value, float(error))


def test_powf() -> None:
    edges = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 0.5, -0.5, 2, -2, 3, -3, 1e-45, 3e38, 2.5, 1e10])
    rng = np.random.default_rng(3)
    x = np.concatenate([np.repeat(edges, len(edges)), np.exp(rng.uniform(-20, 20, 50000))]).astype(np.float32)
    y = np.concatenate([np.tile(edges, len(edges)), rng.standard_normal(50000) * 4]).astype(np.float32)
    with np.errstate(all="ignore"):
        exact = np.power(x.astype(np.float64), y.astype(np.float64))
    check_f32(apply("powf", x, y), exact, 0.51)


def test_atan2() -> None:
    edges = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 1e-45, -1e-45, 3e38, -3e38])
    rng = np.random.default_rng(3)
    y = np.concatenate([np.repeat(edges, len(edges)), rng.standard_normal(50000)]).astype(np.float32)
    x = np.concatenate([np.tile(edges, len(edges)), rng.standard_normal(50000)]).astype(np.float32)
    exact = np.arctan2(y.astype(np.float64), x.astype(np.float64))
    check_f32(apply("atan2", y, x), exact, 0.51)


@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_huge_arguments(name: str) -> None:
    """The reduction is exact up to the largest f32, near multiples of pi/2 too."""
    rng = np.random.default_rng(5)
    x = np.exp2(rng.uniform(29, 128, 20000)).astype(np.float32)
    k = np.arange(1, 20001) * 97.0
    near = (k * (np.pi / 2)).astype(np.float32)
    x = np.concatenate([x[np.isfinite(x)], near, -near])
    check_f32(apply(name, x), getattr(np, name)(x.astype(np.float64)), 0.51)
