"""The CPU road from kernels to machine code on large programs: time that grows with their length, and right results."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

import kc
from kc.context import make_context, parse_module
from kc.pipelines.run import run_phases
from kc.runtime import Program
from kc.targets import get_target

KERNELS = """
func.func private @scale(%x: tensor<16xf32>, %out: tensor<16xf32>) -> tensor<16xf32> attributes {kc.kernel} {
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]} ins(%x : tensor<16xf32>) outs(%out : tensor<16xf32>) {
  ^bb0(%a: f32, %b: f32):
    %1 = arith.addf %a, %a : f32
    linalg.yield %1 : f32
  } -> tensor<16xf32>
  return %0 : tensor<16xf32>
}
func.func private @add(%x: tensor<16xf32>, %y: tensor<16xf32>, %out: tensor<16xf32>) -> tensor<16xf32>
    attributes {kc.kernel} {
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]} ins(%x, %y : tensor<16xf32>, tensor<16xf32>) outs(%out : tensor<16xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %1 = arith.addf %a, %b : f32
    linalg.yield %1 : f32
  } -> tensor<16xf32>
  return %0 : tensor<16xf32>
}
"""
T = "tensor<16xf32>"


@pytest.fixture(autouse=True)
def _no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KC_CACHE", "0")


def build(text: str) -> tuple[Program, float]:
    """The program of kernels and a ``main`` that calls them, and the CPU seconds that the compiler's process took."""
    target = get_target("cpu")
    module = parse_module(text, make_context())
    phases = target.phases()
    first = next(i for i, phase in enumerate(phases) if phase.name == "cpu-bufferize")
    started = time.process_time()
    run_phases(module, phases[first:], {})
    manifest, files = target.generate(module, {})
    return Program.from_manifest(manifest, files), time.process_time() - started


def readers(count: int) -> str:
    """``count`` calls that read one argument, each of whose results is a result of the program."""
    lines = [f"func.func @main(%x: {T}) -> ({', '.join([T] * count)}) {{"]
    for i in range(count):
        lines.append(f"  %e{i} = tensor.empty() : {T}")
        lines.append(f"  %v{i} = call @scale(%x, %e{i}) : ({T}, {T}) -> {T}")
    names = ", ".join(f"%v{i}" for i in range(count))
    return "\n".join([*lines, f"  return {names} : {', '.join([T] * count)}", "}", KERNELS])


def alive(count: int) -> str:
    """``count`` buffers that all live until the last is made, and are then used up one by one."""
    lines = [f"func.func @main(%x: {T}, %v0: {T}) -> {T} {{"]
    for i in range(1, count):
        lines.append(f"  %e{i} = tensor.empty() : {T}")
        lines.append(f"  %v{i} = call @add(%x, %v{i - 1}, %e{i}) : ({T}, {T}, {T}) -> {T}")
    last = f"%v{count - 1}"
    for i in reversed(range(1, count - 1)):
        lines.append(f"  %f{i} = tensor.empty() : {T}")
        lines.append(f"  %s{i} = call @add({last}, %v{i}, %f{i}) : ({T}, {T}, {T}) -> {T}")
        last = f"%s{i}"
    return "\n".join([*lines, f"  return {last} : {T}", "}", KERNELS])


def test_many_readers_and_results_take_linear_time() -> None:
    build(readers(2))
    _, small = build(readers(100))
    program, large = build(readers(800))
    assert large < 8 * small * 2.5 + 0.5, (small, large)  # 64 times as long if it were quadratic
    x = np.arange(16, dtype=np.float32)
    results = program.run("main", x)
    assert len(results) == 800
    assert all(np.array_equal(result, 2 * x) for result in results)


def test_thousands_of_live_buffers() -> None:
    program, seconds = build(alive(2500))
    assert seconds < 60, seconds
    x, v = np.arange(16, dtype=np.float32), np.full(16, 3, np.float32)
    (result,) = program.run("main", x, v)
    wanted = sum(v.astype(np.float64) + i * x for i in range(1, 2500))
    np.testing.assert_allclose(result, wanted, rtol=2500 * 6e-8)


@pytest.mark.parametrize("brief", ["0", "16384"])
def test_places_beyond_32_bits(brief: str) -> None:
    rows, columns = 320, 7_864_320  # the last row begins at element 2,508,718,080; only touched pages take memory
    text = f"""
    func.func @main(%x: tensor<{rows}x{columns}xi8>, %i: tensor<i32>, %j: tensor<i32>, %r: tensor<3x1xi32>)
        -> (tensor<1x8xi8>, tensor<2x8xi8>, tensor<3x8xi8>) {{
      %0 = stablehlo.dynamic_slice %x, %i, %j, sizes = [1, 8]
        : (tensor<{rows}x{columns}xi8>, tensor<i32>, tensor<i32>) -> tensor<1x8xi8>
      %1 = stablehlo.slice %x [{rows - 2}:{rows}, {columns - 8}:{columns}]
        : (tensor<{rows}x{columns}xi8>) -> tensor<2x8xi8>
      %2 = stablehlo.add %1, %1 : tensor<2x8xi8>
      %3 = stablehlo.slice %x [0:{rows}, {columns - 8}:{columns}] : (tensor<{rows}x{columns}xi8>) -> tensor<{rows}x8xi8>
      %4 = "stablehlo.gather"(%3, %r) <{{dimension_numbers = #stablehlo.gather<offset_dims = [1],
          collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>}}>
        : (tensor<{rows}x8xi8>, tensor<3x1xi32>) -> tensor<3x8xi8>
      return %0, %2, %4 : tensor<1x8xi8>, tensor<2x8xi8>, tensor<3x8xi8>
    }}"""
    ir: Any = kc.lower(text, to="llvm-ir", options={"brief": brief})
    assert "mul i32" not in ir and "mul nsw i32" not in ir
    try:
        x = np.zeros((rows, columns), np.int8)
    except MemoryError:
        pytest.skip("no 2.5 GB of address space")
    count = np.arange(1, 9, dtype=np.int8)
    x[rows - 1, -8:], x[rows - 2, -8:] = count, -count
    exe = kc.compile(text, options={"brief": brief})
    one, two, three = exe(x, np.int32(rows - 1), np.int32(columns - 8), np.array([[319], [0], [318]], np.int32))
    assert np.array_equal(one[0], count)
    assert np.array_equal(two, [-2 * count, 2 * count])
    assert np.array_equal(three, [count, 0 * count, -count])
