"""Floats of 8, 6 and 4 bits and narrow integers on the CPU: every pattern, every tie, against ml_dtypes."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from kc.context import make_context, parse_module
from kc.passes.llvm.expand_small_floats import FORMATS
from kc.pipelines.run import run_phases
from kc.runtime import Program
from kc.targets import get_target


def run(source: str, *arrays: np.ndarray) -> np.ndarray:
    module = parse_module(source, make_context())
    target = get_target("cpu")
    run_phases(module, target.phases())
    (result,) = Program.from_manifest(*target.generate(module, {})).run("main", *arrays)
    return result


def elementwise(source: str, result: str, body: str) -> str:
    return f"""
func.func @main(%x: tensor<?x{source}>) -> tensor<?x{result}> {{
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x{source}>
  %e = tensor.empty(%n) : tensor<?x{result}>
  %r = linalg.generic {{indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]}} ins(%x : tensor<?x{source}>) outs(%e : tensor<?x{result}>) {{
  ^bb0(%v: {source}, %o: {result}):
    {body}
    linalg.yield %r : {result}
  }} -> tensor<?x{result}>
  return %r : tensor<?x{result}>
}}
"""


def dtype_of(name: str) -> np.dtype:
    return np.dtype(getattr(ml_dtypes, f"float{name[1]}_{name[2:].lower()}"))


def patterns(name: str) -> np.ndarray:
    """Every value of a format, by the number of its bits."""
    return np.arange(1 << FORMATS[name].bits, dtype=np.uint8).view(dtype_of(name))


def same(got: np.ndarray, want: np.ndarray) -> None:
    """Equal values with equal signs of zero; NaNs match NaNs whatever their payload."""
    got, want = got.astype(np.float64), want.astype(np.float64)
    nan = np.isnan(want)
    np.testing.assert_array_equal(np.isnan(got), nan)
    np.testing.assert_array_equal(got[~nan], want[~nan])
    np.testing.assert_array_equal(np.signbit(got[~nan]), np.signbit(want[~nan]))


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_every_pattern_widens(name):
    values = patterns(name)
    same(run(elementwise(name, "f32", f"%r = arith.extf %v : {name} to f32"), values), values.astype(np.float32))


@pytest.mark.parametrize("name", sorted(FORMATS))
@pytest.mark.parametrize("source", ["f64", "f32"])
def test_rounding(name, source):
    wide = {"f64": np.float64, "f32": np.float32}[source]
    finite = patterns(name).astype(np.float64)
    finite = np.unique(finite[np.isfinite(finite)])
    ties = ((finite[1:] + finite[:-1]) / 2).astype(wide)
    edge = finite[-1] + (finite[-1] - finite[-2]) / 2  # where overflow begins
    with np.errstate(over="ignore"):
        special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, edge, -edge, 2 * finite[-1], 1e-30, -1e-30, 1e30], wide)
    values = np.concatenate(
        [finite, ties, np.nextafter(ties, wide(np.inf)), np.nextafter(ties, wide(-np.inf)), special,
         np.nextafter(special, wide(0))]
    ).astype(wide)  # fmt: skip
    got = run(elementwise(source, name, f"%r = arith.truncf %v : {source} to {name}"), values)
    assert got.dtype == dtype_of(name)
    same(got, rounded(values.astype(np.float64), name))
    if source == "f32" and not FORMATS[name].unsigned:  # ml_dtypes rounds f64 twice, and denormals to powers roughly
        with np.errstate(over="ignore"):
            same(got, values.astype(dtype_of(name)))


def rounded(values: np.ndarray, name: str) -> np.ndarray:
    """``values`` (f64) to the nearest value of the format, ties to the even pattern: looked up, not computed."""
    form = FORMATS[name]
    if form.unsigned:  # powers of two; the larger one at a tie; only what is positive is one
        mantissa, exponent = np.frexp(values)
        power = np.where(mantissa >= 0.75, exponent, exponent - 1).astype(np.float64)
        valid = (values > 0) & np.isfinite(values) & (power < 128)
        return np.where(valid, np.exp2(np.clip(power, -127, 127)), np.nan)
    table = patterns(name)[: form.sign].astype(np.float64)
    table = table[np.isfinite(table)]
    ties = np.append((table[1:] + table[:-1]) / 2, table[-1] + (table[-1] - table[-2]) / 2)
    magnitude = np.abs(values)
    index = np.searchsorted(ties, magnitude, side="left")
    at_tie = (index < len(ties)) & (ties[np.minimum(index, len(ties) - 1)] == magnitude)
    index = np.where(at_tie & (index % 2 == 1), index + 1, index)
    overflow = {"ieee": np.inf, "none": table[-1]}.get(form.special, np.nan)
    result = np.append(table, overflow)[np.minimum(index, len(table))]
    nan = np.copysign(0.0, -values) if form.special == "none" else np.nan
    result = np.where(np.isnan(values), nan, np.copysign(result, values))
    return np.where(result == 0, 0.0, result) if form.special == "fnuz" else result


@pytest.mark.parametrize("name", ["f8E4M3FN", "f8E5M2", "f6E2M3FN", "f4E2M1FN"])
def test_arithmetic_and_constants(name):
    dtype = dtype_of(name)
    values = patterns(name)[: FORMATS[name].sign - FORMATS[name].sign // 8]
    body = f"%c = arith.constant 1.5 : {name}\n    %p = arith.mulf %v, %c : {name}\n    %r = arith.negf %p : {name}"
    want = -(values.astype(np.float32) * np.float32(1.5)).astype(dtype)
    same(run(elementwise(name, name, body), values), want)


def test_four_bit_integers():
    values = np.arange(-8, 8, dtype=np.int32)
    narrow = run(elementwise("i32", "i4", "%r = arith.trunci %v : i32 to i4"), values)
    np.testing.assert_array_equal(narrow.astype(np.int32), values)
    back = run(elementwise("i4", "i32", "%r = arith.extsi %v : i4 to i32"), values.astype(ml_dtypes.int4))
    np.testing.assert_array_equal(back, values)


@pytest.mark.parametrize("half", ["bf16", "f16"])
@pytest.mark.parametrize("rows", ["?", "3"])
def test_a_power_rounds_every_product(half: str, rows: str) -> None:
    """x^15: without rounding in between, the last digits are others than those the program asks for."""
    import kc

    t = f"tensor<{rows}x700x{half}>"
    program = kc.compile(f"""
func.func @main(%x: {t}) -> {t} {{
  %2 = stablehlo.multiply %x, %x : {t}
  %3 = stablehlo.multiply %2, %x : {t}
  %6 = stablehlo.multiply %3, %3 : {t}
  %12 = stablehlo.multiply %6, %6 : {t}
  %15 = stablehlo.multiply %12, %3 : {t}
  return %15 : {t}
}}""")
    dtype = ml_dtypes.bfloat16 if half == "bf16" else np.float16
    x = np.random.default_rng(0).uniform(0.7, 1.4, (3, 700)).astype(dtype)
    cube = x * x * x
    np.testing.assert_array_equal(program(x)[0], (cube * cube) * (cube * cube) * cube)
