"""The CPU road from linalg on tensors to numbers: general loops alone, and with kernels and schedules."""

from __future__ import annotations

import ctypes
import gc
import shutil
import subprocess

import ml_dtypes
import numpy as np
import pytest

import kc
from kc.context import make_context, parse_module
from kc.errors import CompileError
from kc.params import ParamTable
from kc.pipelines.run import run_phases
from kc.runtime import Program
from kc.targets import get_target

#: small enough that every loop nest of the tests is cut into chunks for threads
THREADED = {"min-work": "1", "grain": "32"}


def general(text: str, options=None) -> Program:
    """``text`` compiled without kernels: every op takes the general road."""
    module = parse_module(text, make_context())
    target = get_target("cpu")
    run_phases(module, (*target.prepare(), *target.phases()), options or {})
    return Program.from_manifest(*target.generate(module, options or {}))


def scheduled(text: str, options=None) -> Program:
    """``text`` on the whole road."""
    return kc.compile(text, options=options or {}).program


ROADS = {"general": general, "threaded": lambda text: general(text, THREADED), "scheduled": scheduled}


@pytest.fixture(params=list(ROADS))
def compiled(request):
    return ROADS[request.param]


def rand(*shape, dtype=np.float32):
    return np.random.default_rng(len(shape)).standard_normal(shape).astype(dtype)


def live_bytes() -> int:
    """Bytes that the runtime's allocator has handed out and not got back."""
    from kc.runtime.library import library

    gc.collect()
    stats = (ctypes.c_int64 * 4)()
    library().kc_allocator_stats(stats)
    return stats[0]


# ------------------------------------------------------------------------------------------------- ownership

ALIASES = """
func.func @main(%x: tensor<4x5xf32>) -> (tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5xf32>,
tensor<3xi32>) {
  %k = arith.constant dense<[7, 8, 9]> : tensor<3xi32>
  %e = tensor.empty() : tensor<4x5xf32>
  %y = linalg.negf ins(%x : tensor<4x5xf32>) outs(%e : tensor<4x5xf32>) -> tensor<4x5xf32>
  %z = linalg.negf ins(%x : tensor<4x5xf32>) outs(%x : tensor<4x5xf32>) -> tensor<4x5xf32>
  return %x, %y, %y, %z, %k : tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5xf32>, tensor<3xi32>
}
"""


def test_results_are_the_callers_own_and_arguments_are_not_written(compiled):
    program = compiled(ALIASES)
    x = rand(4, 5)
    kept = x.copy()
    before = live_bytes()
    results = program(x)
    np.testing.assert_array_equal(x, kept)
    for got, want in zip(results, (x, -x, -x, -x, np.array([7, 8, 9], np.int32)), strict=True):
        np.testing.assert_array_equal(got, want)
    addresses = [result.ctypes.data for result in results]
    assert len(set(addresses)) == 5 and x.ctypes.data not in addresses
    results[1][:] = 0
    np.testing.assert_array_equal(results[2], -x)
    del results, got
    assert live_bytes() == before


LOOP = """
func.func @main(%x: tensor<3x4xf32>, %y: tensor<3x4xf32>, %n: tensor<i64>) -> (tensor<3x4xf32>, tensor<3x4xf32>,
tensor<i64>) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %count = tensor.extract %n[] : tensor<i64>
  %i, %a, %b = scf.while (%i = %c0, %a = %x, %b = %y) : (i64, tensor<3x4xf32>, tensor<3x4xf32>)
      -> (i64, tensor<3x4xf32>, tensor<3x4xf32>) {
    %more = arith.cmpi slt, %i, %count : i64
    scf.condition(%more) %i, %a, %b : i64, tensor<3x4xf32>, tensor<3x4xf32>
  } do {
  ^bb0(%i: i64, %a: tensor<3x4xf32>, %b: tensor<3x4xf32>):
    %e = tensor.empty() : tensor<3x4xf32>
    %s = linalg.add ins(%a, %b : tensor<3x4xf32>, tensor<3x4xf32>) outs(%e : tensor<3x4xf32>) -> tensor<3x4xf32>
    %next = arith.addi %i, %c1 : i64
    scf.yield %next, %b, %s : i64, tensor<3x4xf32>, tensor<3x4xf32>
  }
  %r = tensor.from_elements %i : tensor<i64>
  return %a, %b, %r : tensor<3x4xf32>, tensor<3x4xf32>, tensor<i64>
}
"""


def test_loop_that_swaps_buffers(compiled):
    program = compiled(LOOP)
    before = live_bytes()
    for count in (0, 1, 2, 7):
        x, y = rand(3, 4), rand(3, 4) + 1
        a, b, i = program(x, y, np.int64(count))
        for _ in range(count):
            x, y = y, x + y
        np.testing.assert_allclose(a, x, rtol=1e-6)
        np.testing.assert_allclose(b, y, rtol=1e-6)
        assert i == count
    del a, b, i
    assert live_bytes() == before


BRANCH = """
func.func @main(%x: tensor<5xf32>, %p: tensor<i1>) -> (tensor<5xf32>, tensor<i1>) {
  %c = tensor.extract %p[] : tensor<i1>
  %e = tensor.empty() : tensor<5xf32>
  %r = scf.if %c -> tensor<5xf32> {
    scf.yield %x : tensor<5xf32>
  } else {
    %n = linalg.exp ins(%x : tensor<5xf32>) outs(%e : tensor<5xf32>) -> tensor<5xf32>
    scf.yield %n : tensor<5xf32>
  }
  return %r, %p : tensor<5xf32>, tensor<i1>
}
"""


def test_branch_that_yields_an_argument(compiled):
    program = compiled(BRANCH)
    before = live_bytes()
    x = rand(5)
    taken, flag = program(x, np.bool_(True))
    np.testing.assert_array_equal(taken, x)
    assert flag.dtype == np.bool_ and flag
    other, flag = program(x, np.bool_(False))
    np.testing.assert_allclose(other, np.exp(x), rtol=1e-6)
    assert not flag
    del taken, other, flag
    assert live_bytes() == before


# ------------------------------------------------------------------------------------------- shapes and copies

SLICES = """
func.func @main(%x: tensor<6x8xf32>, %y: tensor<2x3xf32>, %i: tensor<i64>) -> (tensor<6x8xf32>, tensor<3x4xf32>,
tensor<8x6xf32>) {
  %at = tensor.extract %i[] : tensor<i64>
  %k = arith.index_cast %at : i64 to index
  %in = tensor.insert_slice %y into %x[%k, 1] [2, 3] [1, 2] : tensor<2x3xf32> into tensor<6x8xf32>
  %out = tensor.extract_slice %in[0, %k] [3, 4] [2, 1] : tensor<6x8xf32> to tensor<3x4xf32>
  %e = tensor.empty() : tensor<8x6xf32>
  %t = linalg.transpose ins(%in : tensor<6x8xf32>) outs(%e : tensor<8x6xf32>) permutation = [1, 0]
  return %in, %out, %t : tensor<6x8xf32>, tensor<3x4xf32>, tensor<8x6xf32>
}
"""


def test_strided_copies(compiled):
    program = compiled(SLICES)
    x, y = rand(6, 8), rand(2, 3)
    got = program(x, y, np.int64(3))
    want = x.copy()
    want[3:5, 1:7:2] = y
    for a, b in zip(got, (want, want[0:5:2, 3:7], want.T), strict=True):
        np.testing.assert_array_equal(a, b)


SUMS = """
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#col = affine_map<(d0, d1) -> (d1)>
func.func @main(%x: tensor<?x?xf32>) -> (tensor<?xf32>, tensor<?xf32>, tensor<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %em = tensor.empty(%m) : tensor<?xf32>
  %en = tensor.empty(%n) : tensor<?xf32>
  %emn = tensor.empty(%m, %n) : tensor<?x?xf32>
  %fm = linalg.fill ins(%z : f32) outs(%em : tensor<?xf32>) -> tensor<?xf32>
  %fn = linalg.fill ins(%z : f32) outs(%en : tensor<?xf32>) -> tensor<?xf32>
  %r = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x?xf32>) outs(%fm : tensor<?xf32>) {
  ^bb0(%v: f32, %a: f32):
    %0 = arith.addf %v, %a : f32
    linalg.yield %0 : f32
  } -> tensor<?xf32>
  %c = linalg.generic {indexing_maps = [#id, #col], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<?x?xf32>) outs(%fn : tensor<?xf32>) {
  ^bb0(%v: f32, %a: f32):
    %0 = arith.addf %v, %a : f32
    linalg.yield %0 : f32
  } -> tensor<?xf32>
  %s = linalg.generic {indexing_maps = [#id, #row, #col, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %r, %c : tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>) outs(%emn : tensor<?x?xf32>) {
  ^bb0(%v: f32, %a: f32, %b: f32, %o: f32):
    %0 = arith.subf %v, %a : f32
    %1 = arith.mulf %0, %b : f32
    linalg.yield %1 : f32
  } -> tensor<?x?xf32>
  return %r, %c, %s : tensor<?xf32>, tensor<?xf32>, tensor<?x?xf32>
}
"""


@pytest.mark.parametrize("shape", [(7, 33), (1, 1), (0, 5), (5, 0), (130, 257)])
def test_dynamic_shapes(compiled, shape):
    x = rand(*shape)
    rows, columns, mixed = compiled(SUMS)(x)
    exact = x.astype(np.float64)
    np.testing.assert_allclose(rows, exact.sum(1), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(columns, exact.sum(0), rtol=1e-5, atol=1e-5)
    want = (exact - exact.sum(1, keepdims=True)) * exact.sum(0)
    np.testing.assert_allclose(mixed, want, rtol=1e-4, atol=1e-4 * max(1.0, float(np.abs(want).max(initial=0))))


def test_reductions_keep_nan_and_infinity(compiled):
    x = rand(4, 40)
    x[0, 3], x[1, 7], x[2, 9], x[2, 10] = np.nan, np.inf, np.inf, -np.inf
    rows, _, _ = compiled(SUMS)(x)
    assert np.isnan(rows[0]) and rows[1] == np.inf and np.isnan(rows[2]) and np.isfinite(rows[3])


MAXIMUM = SUMS.replace("arith.addf", "arith.maximumf").replace("constant 0.0 : f32", "constant 0xFF800000 : f32")


def test_maximum_propagates_nan_and_orders_zeros(compiled):
    x = -np.abs(rand(6, 40))
    x[0, 3], x[1, :], x[2, 39], x[3, 5] = np.nan, -0.0, 0.0, np.inf
    x[4, :] = -np.inf
    rows, columns, _ = compiled(MAXIMUM)(x)
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(rows, x.max(1))
        np.testing.assert_array_equal(columns, x.max(0))
    assert np.signbit(rows[1]) and not np.signbit(rows[2])


OVERWRITE = """
func.func @main(%x: tensor<64x8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>],
      iterator_types = ["parallel", "parallel"]} ins(%x : tensor<64x8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%v: f32, %o: f32):
    linalg.yield %v : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}
"""


def test_a_parallel_loop_that_overwrites_is_not_shared():
    x = rand(64, 8)
    for _ in range(20):
        np.testing.assert_array_equal(general(OVERWRITE, THREADED)(x)[0], x[-1])


# --------------------------------------------------------------------------------------------- element types


def _elementwise(kind: str, op: str, inputs: int = 2) -> str:
    names = ", ".join(f"%a{i}" for i in range(inputs))
    block = ", ".join(f"%v{i}: {kind}" for i in range(inputs))
    maps = ", ".join(["affine_map<(d0) -> (d0)>"] * (inputs + 1))
    args = ", ".join(f"%a{i}: tensor<37x{kind}>" for i in range(inputs))
    types = ", ".join([f"tensor<37x{kind}>"] * inputs)
    return f"""
func.func @main({args}) -> tensor<37x{kind}> {{
  %e = tensor.empty() : tensor<37x{kind}>
  %r = linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel"]}}
      ins({names} : {types}) outs(%e : tensor<37x{kind}>) {{
  ^bb0({block}, %o: {kind}):
    %r = {op} : {kind}
    linalg.yield %r : {kind}
  }} -> tensor<37x{kind}>
  return %r : tensor<37x{kind}>
}}
"""


@pytest.mark.parametrize(
    "kind,dtype",
    [("f64", np.float64), ("f32", np.float32), ("f16", np.float16), ("bf16", ml_dtypes.bfloat16)],
)
def test_float_arithmetic_rounds_as_ieee(compiled, kind, dtype):
    a, b = rand(37).astype(dtype), (rand(1, 37)[0] + 3).astype(dtype)
    a[:4] = [np.inf, -np.inf, np.nan, -0.0]
    wide = np.float64 if kind == "f64" else np.float32
    with np.errstate(all="ignore"):
        for op, want in (
            ("arith.addf %v0, %v1", a.astype(wide) + b.astype(wide)),
            ("arith.divf %v0, %v1", a.astype(wide) / b.astype(wide)),
            ("arith.maximumf %v0, %v1", np.maximum(a.astype(wide), b.astype(wide))),
            ("arith.negf %v0", -a.astype(wide)),
        ):
            (got,) = compiled(_elementwise(kind, op))(a, b)
            assert got.dtype == dtype
            np.testing.assert_array_equal(got.astype(np.float64), want.astype(dtype).astype(np.float64), err_msg=op)
            assert np.signbit(got[3].astype(np.float64)) == np.signbit(want[3]), op


@pytest.mark.parametrize(
    "kind,dtype", [("i64", np.int64), ("i32", np.int32), ("i16", np.int16), ("i8", np.int8), ("i1", np.bool_)]
)
def test_integers(compiled, kind, dtype):
    generator = np.random.default_rng(1)
    a = generator.integers(0, 2, 37).astype(bool) if kind == "i1" else generator.integers(-128, 128, 37).astype(dtype)
    b = generator.integers(0, 2, 37).astype(bool) if kind == "i1" else generator.integers(1, 127, 37).astype(dtype)
    (got,) = compiled(_elementwise(kind, "arith.xori %v0, %v1"))(a, b)
    assert got.dtype == dtype
    np.testing.assert_array_equal(got, a ^ b)
    if kind != "i1":
        (got,) = compiled(_elementwise(kind, "arith.muli %v0, %v1"))(a, b)
        np.testing.assert_array_equal(got, a * b)


def test_complex(compiled):
    a = (rand(37) + 1j * rand(1, 37)[0]).astype(np.complex64)
    b = (rand(1, 1, 37)[0, 0] - 2j).astype(np.complex64)
    (got,) = compiled(_elementwise("complex<f32>", "complex.mul %v0, %v1"))(a, b)
    np.testing.assert_allclose(got, a * b, rtol=1e-5)


# ------------------------------------------------------------------------------- entries, parameters, scalars


def test_several_entries_and_scalars(compiled):
    program = compiled(
        """
func.func @main(%x: tensor<f32>, %n: i32) -> (tensor<f32>, i32) {
  %e = tensor.empty() : tensor<f32>
  %r = linalg.negf ins(%x : tensor<f32>) outs(%e : tensor<f32>) -> tensor<f32>
  %m = arith.addi %n, %n : i32
  return %r, %m : tensor<f32>, i32
}
func.func @other() -> tensor<2xi64> {
  %c = arith.constant dense<[5, 6]> : tensor<2xi64>
  return %c : tensor<2xi64>
}
func.func @nothing(%x: tensor<3xf32>) {
  return
}
"""
    )
    value, twice = program.run("main", np.float32(2.5), np.int32(21))
    assert value == -2.5 and twice == 42
    np.testing.assert_array_equal(program.run("other")[0], [5, 6])
    assert program.run("nothing", rand(3)) == ()


def test_big_constants_are_parameters():
    weights = np.arange(512, dtype=np.float32)
    text = ", ".join(f"{v:.1f}" for v in weights)
    source = f"""
func.func @main(%x: tensor<512xf32>) -> tensor<512xf32> {{
  %w = arith.constant dense<[{text}]> : tensor<512xf32>
  %e = tensor.empty() : tensor<512xf32>
  %r = linalg.add ins(%x, %w : tensor<512xf32>, tensor<512xf32>) outs(%e : tensor<512xf32>) -> tensor<512xf32>
  return %r : tensor<512xf32>
}}
"""
    executable = kc.compile(source)
    assert [p["shape"] for p in executable.manifest["params"]] == [[512]]
    assert executable.manifest["entries"]["main"]["args"][1] == {
        "name": "arg1", "dtype": "f32", "shape": [512], "kind": "param", "param": 0,
    }  # fmt: skip
    assert all(len(executable.files[name]) < 10000 for name in executable.manifest["objects"])
    x = rand(512)
    np.testing.assert_array_equal(executable(x)[0], x + weights)


def test_a_parameter_nobody_gave():
    text = "func.func @main(%w: tensor<4xf32> {kc.param = 3 : i64}) -> tensor<4xf32> { return %w : tensor<4xf32> }"
    with pytest.raises(CompileError, match="is parameter 3, which nobody has given"):
        general(text)


def test_calls_of_unknown_functions_fail_when_compiled():
    text = """
func.func private @mystery(f32) -> f32
func.func @main(%x: f32) -> f32 {
  %r = call @mystery(%x) : (f32) -> f32
  return %r : f32
}
"""
    with pytest.raises(
        CompileError, match="the generated code calls mystery, which neither the program nor kc's runtime"
    ):
        general(text)


def test_parameter_table():
    table = ParamTable()
    first = table.add_constant(np.float32([1, 2]).tobytes(), "f32", (2,))
    assert table.add_constant(np.float32([1, 2]).tobytes(), "f32", (2,)) == first
    assert table.add_constant(np.float32([1, 2]).tobytes(), "i32", (2,)) != first
    half = table[table.add(np.array([1, 2], ml_dtypes.bfloat16))]
    assert (half.dtype, half.shape, half.nbytes) == ("bf16", (2,), 4)
    assert table[table.add(np.array([True]))].dtype == "i1"
    with pytest.raises(ValueError, match="4 bytes for f64"):
        table.add(np.float32([1]), dtype="f64")
    with pytest.raises(ValueError, match="cannot be parameters"):
        table.add(np.array(["text"]))


# -------------------------------------------------------------------------------------------------- cost, size


def test_long_programs_compile_in_linear_time():
    import time

    def chain(count: int) -> float:
        lines = ["func.func @main(%x0: tensor<64xf32>) -> tensor<64xf32> {", "%e = tensor.empty() : tensor<64xf32>"]
        for i in range(count):
            lines.append(
                f"%x{i + 1} = linalg.add ins(%x{i}, %x{max(0, i - 1)} : tensor<64xf32>, tensor<64xf32>) "
                "outs(%e : tensor<64xf32>) -> tensor<64xf32>"
            )
        lines.append(f"return %x{count} : tensor<64xf32>\n}}")
        module = parse_module("\n".join(lines), make_context())
        target = get_target("cpu")
        started = time.process_time()
        run_phases(module, target.phases()[:3])
        return time.process_time() - started

    chain(10)
    small, large = chain(150), chain(600)
    assert large < 8 * small + 0.5, (small, large)


@pytest.mark.parametrize("source", [SUMS, ALIASES, LOOP, BRANCH, SLICES])
def test_every_phase_leaves_its_level(source):
    kc.compile(source, options={"verify_levels": True, **THREADED})


def test_cross_compiled_object():
    executable = kc.compile(ALIASES, target="cpu:aarch64-linux-gnu")
    assert executable.manifest["triple"] == "aarch64-linux-gnu"
    for name in executable.manifest["objects"]:
        assert executable.files[name][:4] == b"\x7fELF" and executable.files[name][18:20] == b"\xb7\x00"
    assert "ret" in executable.stage("asm")


@pytest.mark.skipif(not shutil.which("cc"), reason="no C compiler")
def test_shared_library_alone(tmp_path):
    """A C program that knows only the header and the library."""
    executable = kc.compile(SUMS, options=THREADED)
    forms = executable.forms()
    (tmp_path / "libsums.so").write_bytes(forms["shared-library"]())
    (tmp_path / "sums.h").write_text(forms["header"]())
    (tmp_path / "main.c").write_text(
        """
#include <stdio.h>
#include <stdlib.h>
#include "sums.h"
int main(void) {
  float data[6] = {1, 2, 3, 4, 5, 6};
  kc_f32_2d x = {data, data, 0, {2, 3}, {3, 1}}, mixed;
  kc_f32_1d rows, columns;
  void *args[] = {&x, &rows, &columns, &mixed};
  kc_entry_main(args);
  printf("%g %g %g %g %g %g\\n", rows.aligned[0], rows.aligned[1], columns.aligned[0], columns.aligned[2],
         mixed.aligned[0], mixed.aligned[5]);
  free(rows.base), free(columns.base), free(mixed.base);
  return 0;
}
"""
    )
    command = ["cc", "-Wall", "-Werror", "main.c", "-L.", "-lsums", "-Wl,-rpath,.", "-o", "main"]
    subprocess.run(command, cwd=tmp_path, check=True)
    done = subprocess.run(["./main"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "6 15 5 9 -25 -81\n"


def test_target_names():
    assert get_target("cpu:aarch64-linux-gnu").triple == "aarch64-linux-gnu"
    assert get_target("cpu:znver3").processor == "znver3"
    assert get_target("cpu:triple=x86_64-linux-gnu;cpu=x86-64-v3;O1").opt == "O1"
    assert get_target("cpu").is_host and not get_target("cpu:generic").is_host
    for text, message in (
        ("cup", "did you mean 'cpu'"),
        ("cpu:vector=8", "has no option 'vector'"),
        ("cpu:O2;opt=O1", "is given twice"),
        ("cpu:opt=O7", "no optimisation level 'O7'"),
    ):
        with pytest.raises(kc.errors.InputError, match=message):
            get_target(text)
