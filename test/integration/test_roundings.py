"""Every conversion rounds once, to nearest even, on both roads: chains of two at values where rounding twice shows.

What is right is computed with Python's integers: NumPy and ml_dtypes round some conversions to half types twice
themselves.
"""
from __future__ import annotations

import itertools
import sys
from fractions import Fraction
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import kc

#: bits of the significand, exponents of the smallest normal and of the largest number
FORMATS = {"f64": (53, -1022, 1023), "f32": (24, -126, 127), "f16": (11, -14, 15), "bf16": (8, -126, 127)}
DTYPES = {"f64": np.float64, "f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16}
INTEGERS = ("i16", "ui16", "ui32", "i64", "ui64")
#: one conversion, and two of which the first rounds or the second does
CHAINS = [(one,) for one in FORMATS] + list(itertools.permutations(FORMATS, 2))


def rounded(value: Fraction | float, form: str) -> Fraction | float:
    """``value`` in the format ``form``: a fraction, or a float where it is no finite number or a zero."""
    if isinstance(value, float):
        return value
    digits, least, most = FORMATS[form]
    size = abs(value)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    exponent -= size < Fraction(2) ** exponent
    unit = Fraction(2) ** (max(exponent, least) - digits + 1)
    near = round(size / unit) * unit  # of Python: ties to even
    if near >= Fraction(2) ** (most + 1):
        return float("inf") if value > 0 else float("-inf")
    if near == 0:
        return 0.0 if value > 0 else -0.0
    return near if value > 0 else -near


def wanted(values: np.ndarray, chain: tuple[str, ...]) -> np.ndarray:
    """What ``values`` are after the conversions of ``chain``, as f64, which holds all of them."""
    result = []
    for value in values.tolist():
        exact = float(value) if value == 0 or (isinstance(value, float) and not np.isfinite(value)) else Fraction(value)
        for form in chain:
            exact = rounded(exact, form)
        result.append(float(exact))
    return np.array(result)


def integers(name: str) -> np.ndarray:
    """Integers close to the middle between two numbers of fewer digits, the ends of the range, and small ones."""
    dtype = np.dtype(name.replace("ui", "uint") if name[0] == "u" else name.replace("i", "int"))
    low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    found = {0, 1, low, low + 1, high - 1, high, 65519, 65520}
    for digits, _, _ in FORMATS.values():
        for top in range(digits, dtype.itemsize * 8):
            for odd in (0, 1):
                tie = (1 << top) + odd * (1 << top - digits + 1) + (1 << top - digits)
                steps = [0, *(sign << max(top - bits, 0) for bits in (top, 24, 53) for sign in (-1, 1))]
                found |= {sign * (tie + step) for step in steps for sign in (-1, 1)}
    return np.array(sorted(value for value in found if low <= value <= high), dtype)


def floats(name: str) -> np.ndarray:
    """Floats close to the middle between two numbers of a narrower format, normal and not, and the special ones."""
    found = [0.0, -0.0, np.inf, -np.inf, np.nan, 65519.998, 65520.0, 3.396e38]
    for digits, least, _ in FORMATS.values():
        for exponent in (0, 7, 15, least - 3, least):
            tie = 1 + 2.0**-digits
            steps = [0.0, *(s * 2.0**-d for d in (11, 24, 25, 40, 52) if d > digits for s in (-1, 1))]
            found += [sign * (tie + step) * 2.0**exponent for step in steps for sign in (-1, 1)]
    with np.errstate(over="ignore"):
        return np.array(found).astype(DTYPES[name])


def same(got: np.ndarray, values: np.ndarray, chain: tuple[str, ...], name: str) -> None:
    want, have = wanted(values, chain), np.asarray(got).astype(np.float64)
    wrong = ~((have == want) & (np.signbit(have) == np.signbit(want)) | (np.isnan(have) & np.isnan(want)))
    at = int(np.argmax(wrong))
    assert not wrong.any(), (
        f"{name} -> {' -> '.join(chain)}: {wrong.sum()} of {len(values)} are wrong, the first "
        f"{values[at]!r}: {have[at]!r} instead of {want[at]!r}"
    )


def program(name: str, chains: list[tuple[str, ...]]) -> str:
    """StableHLO with an argument and a result for every chain, so that each is a kernel of its own."""
    lines, results, kinds = [], [], []
    for number, chain in enumerate(chains):
        value, kind = f"%x{number}", name
        for step, form in enumerate(chain):
            lines.append(f"  %c{number}_{step} = stablehlo.convert {value} : (tensor<?x{kind}>) -> tensor<?x{form}>")
            value, kind = f"%c{number}_{step}", form
        results.append(value)
        kinds.append(f"tensor<?x{kind}>")
    arguments = ", ".join(f"%x{number}: tensor<?x{name}>" for number in range(len(chains)))
    body = "\n".join(lines)
    told = ", ".join(kinds)
    return f"func.func @main({arguments}) -> ({told}) {{\n{body}\n  return {', '.join(results)} : {told}\n}}\n"


@pytest.mark.parametrize("name", [*INTEGERS, "f64", "f32"])
def test_chains_on_the_cpu(name: str) -> None:
    values = integers(name) if name in INTEGERS else floats(name)
    chains = [chain for chain in CHAINS if chain[0] != name]
    results = kc.compile(program(name, chains))(*[values] * len(chains))
    for chain, got in zip(chains, results, strict=True):
        same(got, values, chain, name)


@pytest.mark.parametrize("name", ["i64", "ui32", "f64"])
def test_chains_on_the_nvidia_road(name: str) -> None:
    sys.path.insert(0, str(Path(__file__).parents[1] / "unit"))
    from gpu_emulator import Emulator, compile_to_outline

    values = integers(name) if name in INTEGERS else floats(name)
    chains = [("f64", "f32"), ("f32", "bf16"), ("bf16", "f32")] if name != "f64" else [("bf16", "f32"), ("f32", "f16")]
    module = compile_to_outline(program(name, chains).encode(), front_end=True, kernels=True)
    for chain, got in zip(chains, Emulator(module)(*[values] * len(chains)), strict=True):
        same(got, values, chain, name)


CASTS = [
    (op, source, half)
    for op, source in (("sitofp", "i16"), ("uitofp", "i32"), ("sitofp", "i64"), ("truncf", "f64"))
    for half in ("f16", "bf16")
]


@pytest.mark.parametrize(("op", "source", "half"), CASTS)
def test_casts_to_half_types_on_linalg(op: str, source: str, half: str) -> None:
    """What a body rounds to a half type it goes on with rounded."""
    name = "u" * (op == "uitofp") + source
    values = integers(name) if name in INTEGERS else floats(name)
    line = "affine_map<(d0) -> (d0)>"
    (got,) = kc.compile(f"""
func.func @main(%x: tensor<?x{source}>) -> tensor<?xf32> {{
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x{source}>
  %e = tensor.empty(%n) : tensor<?xf32>
  %r = linalg.generic {{indexing_maps = [{line}, {line}], iterator_types = ["parallel"]}}
      ins(%x : tensor<?x{source}>) outs(%e : tensor<?xf32>) {{
  ^bb0(%v: {source}, %o: f32):
    %h = arith.{op} %v : {source} to {half}
    %w = arith.extf %h : {half} to f32
    linalg.yield %w : f32
  }} -> tensor<?xf32>
  return %r : tensor<?xf32>
}}""")(values.view(f"i{values.itemsize}") if name in INTEGERS else values)
    same(got, values, (half, "f32"), name)
