"""The NVIDIA road's host code and general kernels, emulated on the CPU (see ``gpu_emulator``), against NumPy."""

from __future__ import annotations

import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from gpu_emulator import Emulator, compile_to_outline, random

PROGRAM = """
#s = affine_map<() -> ()>
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#col = affine_map<(d0, d1) -> (d1)>
#tr = affine_map<(d0, d1) -> (d1, d0)>
#one = affine_map<(d0) -> (d0)>
#none = affine_map<(d0) -> ()>

func.func @map(%x: tensor<?x37xf32>, %b: tensor<37xbf16>) -> tensor<?x37xbf16> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x37xf32>
  %e = tensor.empty(%n) : tensor<?x37xbf16>
  %y = linalg.generic {indexing_maps = [#id, #col, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %b : tensor<?x37xf32>, tensor<37xbf16>) outs(%e : tensor<?x37xbf16>) {
  ^bb0(%a: f32, %c: bf16, %o: bf16):
    %d = arith.mulf %c, %c : bf16
    %f = arith.addf %d, %c : bf16
    %g = arith.extf %f : bf16 to f32
    %h = arith.addf %a, %g : f32
    %r = arith.truncf %h : f32 to bf16
    linalg.yield %r : bf16
  } -> tensor<?x37xbf16>
  return %y : tensor<?x37xbf16>
}

func.func @sums(%x: tensor<?x300xf16>) -> (tensor<?xf16>, tensor<300xf32>, tensor<f64>) {
  %c0 = arith.constant 0 : index
  %h0 = arith.constant 0.0 : f16
  %f0 = arith.constant 0.0 : f32
  %d0 = arith.constant 0.0 : f64
  %n = tensor.dim %x, %c0 : tensor<?x300xf16>
  %e0 = tensor.empty(%n) : tensor<?xf16>
  %i0 = linalg.fill ins(%h0 : f16) outs(%e0 : tensor<?xf16>) -> tensor<?xf16>
  %rows = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x300xf16>) outs(%i0 : tensor<?xf16>) {
  ^bb0(%a: f16, %o: f16):
    %p = arith.mulf %a, %a : f16
    %s = arith.addf %o, %p : f16
    linalg.yield %s : f16
  } -> tensor<?xf16>
  %e1 = tensor.empty() : tensor<300xf32>
  %i1 = linalg.fill ins(%f0 : f32) outs(%e1 : tensor<300xf32>) -> tensor<300xf32>
  %cols = linalg.generic {indexing_maps = [#tr, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x300xf16>) outs(%i1 : tensor<300xf32>) {
  ^bb0(%a: f16, %o: f32):
    %w = arith.extf %a : f16 to f32
    %s = arith.addf %o, %w : f32
    linalg.yield %s : f32
  } -> tensor<300xf32>
  %e2 = tensor.empty() : tensor<f64>
  %i2 = linalg.fill ins(%d0 : f64) outs(%e2 : tensor<f64>) -> tensor<f64>
  %all = linalg.generic {indexing_maps = [#id, affine_map<(d0, d1) -> ()>], iterator_types = ["reduction", "reduction"]}
      ins(%x : tensor<?x300xf16>) outs(%i2 : tensor<f64>) {
  ^bb0(%a: f16, %o: f64):
    %w = arith.extf %a : f16 to f64
    %s = arith.addf %o, %w : f64
    linalg.yield %s : f64
  } -> tensor<f64>
  return %rows, %cols, %all : tensor<?xf16>, tensor<300xf32>, tensor<f64>
}

// The largest value and where it first is; every row of a tensor with a dynamic extent.
func.func @argmax(%x: tensor<3x?xf32>) -> (tensor<3xf32>, tensor<3xi32>) {
  %low = arith.constant 0xFF800000 : f32
  %i0 = arith.constant -1 : i32
  %e0 = tensor.empty() : tensor<3xf32>
  %e1 = tensor.empty() : tensor<3xi32>
  %f0 = linalg.fill ins(%low : f32) outs(%e0 : tensor<3xf32>) -> tensor<3xf32>
  %f1 = linalg.fill ins(%i0 : i32) outs(%e1 : tensor<3xi32>) -> tensor<3xi32>
  %r:2 = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<3x?xf32>) outs(%f0, %f1 : tensor<3xf32>, tensor<3xi32>) {
  ^bb0(%a: f32, %best: f32, %at: i32):
    %i = linalg.index 1 : index
    %w = arith.index_cast %i : index to i32
    %d = arith.addf %a, %a : f32
    %more = arith.cmpf ogt, %d, %best : f32
    %nan = arith.cmpf uno, %d, %d : f32
    %known = arith.cmpf ord, %best, %best : f32
    %both = arith.andi %nan, %known : i1
    %take = arith.ori %more, %both : i1
    %v = arith.select %take, %d, %best : f32
    %k = arith.select %take, %w, %at : i32
    linalg.yield %v, %k : f32, i32
  } -> (tensor<3xf32>, tensor<3xi32>)
  return %r#0, %r#1 : tensor<3xf32>, tensor<3xi32>
}

// A recurrence is not associative: one thread does it in order.
func.func @serial(%x: tensor<100xf32>) -> tensor<f32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %r = linalg.generic {indexing_maps = [#one, #none], iterator_types = ["reduction"]}
      ins(%x : tensor<100xf32>) outs(%f : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %h = arith.constant 0.5 : f32
    %m = arith.mulf %o, %h : f32
    %s = arith.addf %m, %a : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}

func.func @extremes(%x: tensor<4x200xi8>) -> (tensor<4xi8>, tensor<4xi8>) {
  %lo = arith.constant -128 : i8
  %hi = arith.constant 127 : i8
  %e0 = tensor.empty() : tensor<4xi8>
  %f0 = linalg.fill ins(%lo : i8) outs(%e0 : tensor<4xi8>) -> tensor<4xi8>
  %f1 = linalg.fill ins(%hi : i8) outs(%e0 : tensor<4xi8>) -> tensor<4xi8>
  %r:2 = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x200xi8>) outs(%f0, %f1 : tensor<4xi8>, tensor<4xi8>) {
  ^bb0(%a: i8, %p: i8, %q: i8):
    %u = arith.maxsi %p, %a : i8
    %v = arith.minsi %q, %a : i8
    linalg.yield %u, %v : i8, i8
  } -> (tensor<4xi8>, tensor<4xi8>)
  return %r#0, %r#1 : tensor<4xi8>, tensor<4xi8>
}

func.func @matmul(%a: tensor<5x7xf32>, %b: tensor<7x9xf32>) -> tensor<5x9xf32> {
  %zero = arith.constant dense<0.0> : tensor<5x9xf32>
  %c = linalg.matmul ins(%a, %b : tensor<5x7xf32>, tensor<7x9xf32>) outs(%zero : tensor<5x9xf32>) -> tensor<5x9xf32>
  return %c : tensor<5x9xf32>
}

// Slices in and out, at places the host and the device know.
func.func @slices(%x: tensor<6x8xf32>, %at: tensor<i32>) -> (tensor<2x3xf32>, tensor<6x8xf32>) {
  %k = tensor.extract %at[] : tensor<i32>
  %i = arith.index_cast %k : i32 to index
  %s = tensor.extract_slice %x[%i, 1] [2, 3] [1, 2] : tensor<6x8xf32> to tensor<2x3xf32>
  %y = tensor.insert_slice %s into %x[1, %i] [2, 3] [1, 1] : tensor<2x3xf32> into tensor<6x8xf32>
  return %s, %y : tensor<2x3xf32>, tensor<6x8xf32>
}

// x[at[i]] += u[i]: an index may repeat, and one out of bounds is skipped.
func.func @scatter(%x: tensor<9xf32>, %at: tensor<5xi32>, %u: tensor<5xf32>) -> tensor<9xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %c9 = arith.constant 9 : index
  %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%a = %x) -> (tensor<9xf32>) {
    %k32 = tensor.extract %at[%i] : tensor<5xi32>
    %k = arith.index_cast %k32 : i32 to index
    %in = arith.cmpi ult, %k, %c9 : index
    %n = scf.if %in -> (tensor<9xf32>) {
      %old = tensor.extract %a[%k] : tensor<9xf32>
      %v = tensor.extract %u[%i] : tensor<5xf32>
      %s = arith.addf %old, %v : f32
      %b = tensor.insert %s into %a[%k] : tensor<9xf32>
      scf.yield %b : tensor<9xf32>
    } else {
      scf.yield %a : tensor<9xf32>
    }
    scf.yield %n : tensor<9xf32>
  }
  return %r : tensor<9xf32>
}

// n times x = x * 1.5 + i; then until the device says that the sum is large enough.
func.func @loops(%x: tensor<40xf32>, %n: tensor<i32>) -> (tensor<40xf32>, tensor<i32>) {
  %c0 = arith.constant dense<0> : tensor<i32>
  %c1 = arith.constant dense<1> : tensor<i32>
  %zero = arith.constant 0.0 : f32
  %limit = arith.constant 1.0e4 : f32
  %r:2 = scf.while (%i = %c0, %a = %x) : (tensor<i32>, tensor<40xf32>) -> (tensor<i32>, tensor<40xf32>) {
    %e = tensor.empty() : tensor<i1>
    %p = linalg.generic {indexing_maps = [#s, #s, #s], iterator_types = []}
        ins(%i, %n : tensor<i32>, tensor<i32>) outs(%e : tensor<i1>) {
    ^bb0(%l: i32, %m: i32, %o: i1):
      %c = arith.cmpi slt, %l, %m : i32
      linalg.yield %c : i1
    } -> tensor<i1>
    %q = tensor.extract %p[] : tensor<i1>
    scf.condition(%q) %i, %a : tensor<i32>, tensor<40xf32>
  } do {
  ^bb0(%i: tensor<i32>, %a: tensor<40xf32>):
    %e = tensor.empty() : tensor<40xf32>
    %b = linalg.generic {indexing_maps = [#one, #none, #one], iterator_types = ["parallel"]}
        ins(%a, %i : tensor<40xf32>, tensor<i32>) outs(%e : tensor<40xf32>) {
    ^bb0(%v: f32, %k: i32, %o: f32):
      %h = arith.constant 1.5 : f32
      %f = arith.sitofp %k : i32 to f32
      %m = arith.mulf %v, %h : f32
      %w = arith.addf %m, %f : f32
      linalg.yield %w : f32
    } -> tensor<40xf32>
    %g = tensor.empty() : tensor<i32>
    %j = linalg.generic {indexing_maps = [#s, #s, #s], iterator_types = []}
        ins(%i, %c1 : tensor<i32>, tensor<i32>) outs(%g : tensor<i32>) {
    ^bb0(%l: i32, %m: i32, %o: i32):
      %c = arith.addi %l, %m : i32
      linalg.yield %c : i32
    } -> tensor<i32>
    scf.yield %j, %b : tensor<i32>, tensor<40xf32>
  }
  %t:2 = scf.while (%i = %r#0, %a = %r#1) : (tensor<i32>, tensor<40xf32>) -> (tensor<i32>, tensor<40xf32>) {
    %e = tensor.empty() : tensor<f32>
    %z = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
    %sum = linalg.generic {indexing_maps = [#one, #none], iterator_types = ["reduction"]}
        ins(%a : tensor<40xf32>) outs(%z : tensor<f32>) {
    ^bb0(%v: f32, %o: f32):
      %c = arith.addf %v, %o : f32
      linalg.yield %c : f32
    } -> tensor<f32>
    %u = tensor.extract %sum[] : tensor<f32>
    %q = arith.cmpf olt, %u, %limit : f32
    scf.condition(%q) %i, %a : tensor<i32>, tensor<40xf32>
  } do {
  ^bb0(%i: tensor<i32>, %a: tensor<40xf32>):
    %e = tensor.empty() : tensor<40xf32>
    %b = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]} ins(%a : tensor<40xf32>) outs(%e
    : tensor<40xf32>) { ^bb0(%v: f32, %o: f32): %w = arith.addf %v, %v : f32 linalg.yield %w : f32 } -> tensor<40xf32>
    %g = tensor.empty() : tensor<i32> %j = linalg.generic {indexing_maps = [#s, #s, #s], iterator_types = []}
        ins(%i, %c1 : tensor<i32>, tensor<i32>) outs(%g : tensor<i32>) {
    ^bb0(%l: i32, %m: i32, %o: i32):
      %c = arith.addi %l, %m : i32
      linalg.yield %c : i32
    } -> tensor<i32>
    scf.yield %j, %b : tensor<i32>, tensor<40xf32>
  }
  return %t#1, %t#0 : tensor<40xf32>, tensor<i32>
}

func.func @branch(%x: tensor<4xf32>, %p: tensor<i1>) -> (tensor<4xf32>, tensor<4xf32>) {
  %t = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %q = tensor.extract %p[] : tensor<i1>
  %r = scf.if %q -> (tensor<4xf32>) {
    scf.yield %x : tensor<4xf32>
  } else {
    scf.yield %t : tensor<4xf32>
  }
  return %r, %r : tensor<4xf32>, tensor<4xf32>
}
"""

FMOD = """
#one = affine_map<(d0) -> (d0)>
func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>, %u: tensor<?xf64>, %v: tensor<?xf64>) -> (tensor<?xf32>,
tensor<?xf64>) { %c0 = arith.constant 0 : index %n = tensor.dim %x, %c0 : tensor<?xf32> %e = tensor.empty(%n) :
tensor<?xf32> %f = tensor.empty(%n) : tensor<?xf64> %r:2 = linalg.generic {indexing_maps = [#one, #one, #one, #one,
#one, #one], iterator_types = ["parallel"]}
      ins(%x, %y, %u, %v : tensor<?xf32>, tensor<?xf32>, tensor<?xf64>, tensor<?xf64>)
      outs(%e, %f : tensor<?xf32>, tensor<?xf64>) {
  ^bb0(%a: f32, %b: f32, %c: f64, %d: f64, %o: f32, %p: f64):
    %s = arith.remf %a, %b : f32
    %t = arith.remf %c, %d : f64
    linalg.yield %s, %t : f32, f64
  } -> (tensor<?xf32>, tensor<?xf64>)
  return %r#0, %r#1 : tensor<?xf32>, tensor<?xf64>
}
"""


@pytest.fixture(scope="module")
def program() -> Emulator:
    return Emulator(compile_to_outline(PROGRAM))


def relative(got: np.ndarray, want: np.ndarray) -> float:
    """Largest absolute error over the largest magnitude, both in float64."""
    wide = want.astype(np.float64)
    return float(np.abs(got.astype(np.float64) - wide).max(initial=0) / max(np.abs(wide).max(initial=0), 1e-30))


@pytest.mark.parametrize("rows", [0, 1, 6])
def test_map_with_a_dynamic_extent(program: Emulator, rows: int) -> None:
    rng = np.random.default_rng(rows)
    x, b = random(rng, (rows, 37)), random(rng, (37,), ml_dtypes.bfloat16)
    (y,) = program(x, b, entry="map")
    wide = b.astype(np.float32)
    narrow = (
        (wide * wide + wide).astype(ml_dtypes.bfloat16).astype(np.float32)
    )  # one rounding where the value is stored
    assert y.shape == (rows, 37)
    np.testing.assert_array_equal(y, (x + narrow).astype(ml_dtypes.bfloat16))


@pytest.mark.parametrize("rows", [0, 5])
def test_reductions(program: Emulator, rows: int) -> None:
    x = random(np.random.default_rng(1), (rows, 300), np.float16)
    got = program(x, entry="sums")
    wide = x.astype(np.float64)
    assert relative(got[0], (wide**2).sum(1)) < 2**-11  # accumulated in f32, rounded once
    assert relative(got[1], wide.sum(0)) < 1e-6
    assert got[2] == pytest.approx(wide.sum(), abs=1e-9)


@pytest.mark.parametrize("length", [0, 1, 31, 32, 33, 500])
def test_reduction_that_picks_an_element(program: Emulator, length: int) -> None:
    x = random(np.random.default_rng(2), (3, length))
    if length > 100:
        x[0, [77, 300]] = x[0].max() + 1  # twice: the first one counts
        x[1, [90, 91, 400]] = np.nan  # a NaN is larger than all
    values, places = program(x, entry="argmax")
    want = np.argmax(x, 1) if length else np.full(3, -1)
    np.testing.assert_array_equal(places, want)
    np.testing.assert_array_equal(values, 2 * x[np.arange(3), want] if length else np.full(3, -np.inf))


def test_reduction_in_order(program: Emulator) -> None:
    x = random(np.random.default_rng(2), (100,))
    (value,) = program(x, entry="serial")
    want = np.float32(0)
    for element in x:
        want = want * np.float32(0.5) + element
    assert value == pytest.approx(want, rel=1e-6)


def test_two_reductions_at_once(program: Emulator) -> None:
    x = np.random.default_rng(3).integers(-128, 128, (4, 200)).astype(np.int8)
    high, low = program(x, entry="extremes")
    np.testing.assert_array_equal(high, x.max(1))
    np.testing.assert_array_equal(low, x.min(1))


def test_named_contraction(program: Emulator) -> None:
    rng = np.random.default_rng(4)
    a, b = random(rng, (5, 7)), random(rng, (7, 9))
    (c,) = program(a, b, entry="matmul")
    assert relative(c, a.astype(np.float64) @ b.astype(np.float64)) < 1e-6


def test_slices(program: Emulator) -> None:
    x = random(np.random.default_rng(5), (6, 8))
    taken, put = program(x, np.array(3, np.int32), entry="slices")
    want = x.copy()
    want[1:3, 3:6] = x[3:5, 1:7:2]
    np.testing.assert_array_equal(taken, x[3:5, 1:7:2])
    np.testing.assert_array_equal(put, want)


def test_updates_run_on_the_device(program: Emulator) -> None:
    rng = np.random.default_rng(6)
    x, u, at = random(rng, (9,)), random(rng, (5,)), np.array([2, 8, 2, 9, -1], np.int32)
    program.copies.clear()
    (y,) = program(x, at, u, entry="scatter")
    want = x.copy()
    for k, v in zip(at, u, strict=True):
        if 0 <= k < 9:
            want[k] += v
    np.testing.assert_array_equal(y, want)
    assert "d2h" not in program.copies


def test_loops(program: Emulator) -> None:
    x = np.abs(random(np.random.default_rng(7), (40,)))
    program.copies.clear()
    y, count = program(x, np.array(4, np.int32), entry="loops")
    want, turns = x.copy(), 4
    for i in range(4):
        want = want * np.float32(1.5) + np.float32(i)
    tests = 1
    while want.sum() < 1e4:
        want, turns, tests = want * 2, turns + 1, tests + 1
    np.testing.assert_allclose(y, want, rtol=1e-6)
    assert count == turns
    # the limit of the counted loop once, then one predicate per turn of the other
    assert program.copies.count("d2h") == 1 + tests
    assert "h2d" not in program.copies


def test_branch_on_a_device_value(program: Emulator) -> None:
    x = random(np.random.default_rng(8), (4,))
    for flag in (True, False):
        first, second = program(x, np.array(flag), entry="branch")
        want = x if flag else np.array([1, 2, 3, 4], np.float32)
        np.testing.assert_array_equal(first, want)
        np.testing.assert_array_equal(second, want)


def test_remainder_is_exact() -> None:
    program = Emulator(compile_to_outline(FMOD))
    rng = np.random.default_rng(9)
    count = 4000
    arrays = []
    for dtype, word in ((np.float32, np.uint32), (np.float64, np.uint64)):
        bits = rng.integers(0, np.iinfo(word).max, (2, count), dtype=word, endpoint=True).view(
            dtype
        )  # any number at all
        special = np.array(
            [0, -0.0, 1, -1, np.inf, -np.inf, np.nan, np.finfo(dtype).tiny, 5e-324, np.finfo(dtype).max], dtype
        )
        grid = np.array(np.meshgrid(special, special)).reshape(2, -1)
        near = (rng.standard_normal((2, count)) * 10.0 ** rng.integers(-8, 8, (2, count))).astype(dtype)
        arrays += list(np.concatenate([bits, grid, near], axis=1))
    with np.errstate(all="ignore"):
        want = np.fmod(arrays[0], arrays[1]), np.fmod(arrays[2], arrays[3])
    got = program(*arrays)
    for mine, theirs in zip(got, want, strict=True):
        np.testing.assert_array_equal(mine, theirs)
        there = ~np.isnan(theirs)
        np.testing.assert_array_equal(np.signbit(mine)[there], np.signbit(theirs)[there])
