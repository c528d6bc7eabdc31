"""Sorts on the NVIDIA road, emulated on the CPU with threads in reverse order (see ``gpu_emulator``)."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from gpu_emulator import Emulator, compile_to_outline

SHAPES = {"short": ((7,), 0), "chunk": ((3, 8), 1), "odd": ((3, 77, 2), 1), "rows": ((5, 130), 1)}


def _sort(name: str, shape: tuple[int, ...], axis: int) -> str:
    keys = "x".join(map(str, shape)) + "xf32"
    places = "x".join(map(str, shape)) + "xi32"
    return f"""
  func.func public @{name}(%k: tensor<{keys}>, %p: tensor<{places}>) -> (tensor<{keys}>, tensor<{places}>) {{
    %0:2 = "stablehlo.sort"(%k, %p) <{{dimension = {axis} : i64, is_stable = true}}> ({{
    ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>):
      %q = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %q : tensor<i1>
    }}) : (tensor<{keys}>, tensor<{places}>) -> (tensor<{keys}>, tensor<{places}>)
    return %0#0, %0#1 : tensor<{keys}>, tensor<{places}>
  }}"""


@pytest.fixture(scope="module")
def program() -> Emulator:
    text = "module {" + "".join(_sort(name, *shape) for name, shape in SHAPES.items())
    main = "func.func public @main(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> } }"
    return Emulator(compile_to_outline(text + main, front_end=True))


@pytest.mark.parametrize("name", SHAPES)
def test_stable_and_parallel(program: Emulator, name: str) -> None:
    shape, axis = SHAPES[name]
    keys = np.random.default_rng(0).integers(-9, 9, shape).astype(np.float32)
    places = np.arange(keys.size, dtype=np.int32).reshape(shape)
    program.launches.clear()
    sorted_keys, sorted_places = program(keys, places, entry=name)
    order = np.argsort(keys, axis=axis, kind="stable")
    np.testing.assert_array_equal(sorted_keys, np.take_along_axis(keys, order, axis))
    np.testing.assert_array_equal(sorted_places, np.take_along_axis(places, order, axis))
    assert name == "short" or all(threads > 1 for _, _, threads in program.launches)
    assert "d2h" not in program.copies


def test_nan_come_last(program: Emulator) -> None:
    shape, _ = SHAPES["rows"]
    keys = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
    keys[:, ::7] = np.nan  # LT says that NaN is before nothing, and nothing before it
    places = np.broadcast_to(np.arange(shape[1], dtype=np.int32), shape)
    sorted_keys, sorted_places = program(keys, places, entry="rows")
    np.testing.assert_array_equal(sorted_places, np.argsort(keys, 1, kind="stable"))
    np.testing.assert_array_equal(sorted_keys, np.take_along_axis(keys, sorted_places, 1))
