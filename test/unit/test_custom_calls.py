"""Custom calls: registered Python and C functions, layouts, errors, artifacts."""
import ctypes
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import kc
from kc.errors import UnsupportedError
from kc.runtime import ExecutionError, LoadError, custom_calls

CALL = """
func.func @main(%x: tensor<4x3xf32>, %s: tensor<2xui32>) -> tensor<4x3xf32> {
  %0 = stablehlo.custom_call @test.NAME(%x, %s) {OPTIONS} : (tensor<4x3xf32>, tensor<2xui32>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}"""
COLUMNS = (
    "operand_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>], "
    "result_layouts = [dense<[0, 1]> : tensor<2xindex>]"
)
X, S = np.arange(12, dtype=np.float32).reshape(4, 3), np.array([3, 2**32 - 1], np.uint32)


@pytest.fixture
def registered():
    """Registers functions for the time of a test."""
    names = set()

    def add(name, function):
        custom_calls.register(name, function, replace=True)
        names.add(name)

    yield add
    for name in names:
        custom_calls.unregister(name)


def compiled(name, options=""):
    return kc.compile(CALL.replace("NAME", name).replace("OPTIONS", options))


@pytest.mark.parametrize("options", ["", COLUMNS])
def test_python_function(registered, options):
    seen = {}

    def double(inputs, outputs, attributes):
        seen.update(attributes=attributes, strides=inputs[0].strides, writable=inputs[0].flags.writeable)
        outputs[0][...] = 2 * inputs[0] + inputs[1][0] + (inputs[1][1] > 2**31)

    registered("test.double", double)
    config = 'api_version = 4 : i32, backend_config = {f = 1.5 : f32, l = [1 : i32, "a"], u = 250 : ui8}'
    exe = compiled("double", ", ".join(filter(None, (config, options))))
    x = X.copy()
    np.testing.assert_array_equal(exe(x, S)[0], 2 * X + 4)
    assert seen["attributes"] == {"f": 1.5, "l": [1, "a"], "u": 250}
    assert seen["strides"] == ((4, 16) if options else (12, 4))
    assert not seen["writable"]
    np.testing.assert_array_equal(x, X)


def test_alias_leaves_the_callers_array_alone(registered):
    def add_one(inputs, outputs, attributes):
        assert inputs[0].ctypes.data == outputs[0].ctypes.data
        outputs[0] += 1

    registered("test.add_one", add_one)
    alias = (
        "output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, "
        "operand_tuple_indices = []>]"
    )
    x = X.copy()
    np.testing.assert_array_equal(compiled("add_one", alias)(x, S)[0], X + 1)
    np.testing.assert_array_equal(x, X)


def test_calls_in_a_loop_see_each_others_results(registered):
    calls = []

    def next_(inputs, outputs, attributes):
        calls.append(int(inputs[0]))
        outputs[0][...] = inputs[0] * 2
        outputs[1][...] = inputs[0] < 100

    registered("test.next", next_)
    exe = kc.compile("""
func.func @main(%x: tensor<i64>) -> tensor<i64> {
  %true = stablehlo.constant dense<true> : tensor<i1>
  %0:2 = stablehlo.while(%a = %x, %p = %true) : tensor<i64>, tensor<i1>
    cond { stablehlo.return %p : tensor<i1> }
    do {
      %1:2 = stablehlo.custom_call @test.next(%a) : (tensor<i64>) -> (tensor<i64>, tensor<i1>)
      stablehlo.return %1#0, %1#1 : tensor<i64>, tensor<i1>
    }
  return %0#0 : tensor<i64>
}""")
    assert exe(np.int64(3))[0] == 384
    assert calls == [3, 6, 12, 24, 48, 96, 192]


@pytest.mark.parametrize("type_", ["i1", "i4", "ui8", "bf16", "f16", "f64", "complex<f32>", "complex<f64>", "f8E4M3FN"])
def test_types_and_empty_arrays(registered, type_):
    def copy(inputs, outputs, attributes):
        for given, made in zip(inputs, outputs, strict=True):
            made[...] = given

    registered("test.copy", copy)
    types = f"tensor<2x3x{type_}>, tensor<0x3x{type_}>, tensor<{type_}>"
    exe = kc.compile(f"""
func.func @main(%a: tensor<2x3x{type_}>, %b: tensor<0x3x{type_}>, %c: tensor<{type_}>) -> ({types}) {{
  %0:3 = stablehlo.custom_call @test.copy(%a, %b, %c) : ({types}) -> ({types})
  return %0#0, %0#1, %0#2 : {types}
}}""")
    dtype = exe.program.signature().results[0].dtype.numpy
    a = np.array([[0, 1, 0], [1, 1, 0]]).astype(dtype)
    for want, got in zip((a, a[:0], a[0, 1]), exe(a, a[:0], a[0, 1]), strict=True):
        assert got.dtype == want.dtype and got.shape == want.shape
        np.testing.assert_array_equal(np.asarray(got, complex), np.asarray(want, complex))


def test_dynamic_shapes(registered):
    def repeat(inputs, outputs, attributes):
        outputs[0][...] = inputs[0][:, None]

    registered("test.repeat", repeat)
    exe = kc.compile("""
func.func @main(%x: tensor<?xf32>, %shape: tensor<2xi64>) -> tensor<?x?xf32> {
  %0 = stablehlo.custom_call @test.repeat(%x, %shape) {indices_of_shape_operands = dense<[1]> : tensor<1xi64>}
    : (tensor<?xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}""")
    x = np.arange(5, dtype=np.float32)
    np.testing.assert_array_equal(exe(x, np.array([5, 2]))[0], np.stack([x, x], 1))


def test_an_exception_is_the_cause_of_the_error(registered):
    def fail(inputs, outputs, attributes):
        raise ZeroDivisionError("not today")

    registered("test.fail", fail)
    exe = compiled("fail")
    with pytest.raises(ExecutionError, match=r"'test.fail' at -:3:8: ZeroDivisionError: not today") as caught:
        exe(X, S)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)

    def interrupt(inputs, outputs, attributes):
        raise KeyboardInterrupt

    registered("test.fail", interrupt)
    with pytest.raises(KeyboardInterrupt):
        compiled("fail")(X, S)


def test_a_function_may_run_programs(registered):
    inner = kc.compile("func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> { return %x : tensor<2xf32> }")

    def outer(inputs, outputs, attributes):
        with pytest.raises(kc.runtime.ArgumentError):
            inner(np.zeros(3, np.float32))
        outputs[0][...] = inner(np.full(2, 7, np.float32))[0][0]

    registered("test.outer", outer)
    np.testing.assert_array_equal(compiled("outer")(X, S)[0], np.full((4, 3), 7))


def test_unknown_names_are_told_at_compile_time_and_at_load_time(registered, tmp_path):
    registered("test.known", lambda inputs, outputs, attributes: outputs[0].fill(1))
    with pytest.raises(UnsupportedError, match=r"no function of this name is registered for cpu(.|\n)*'test\.known'"):
        compiled("knwon")
    exe = compiled("known")
    exe.save(tmp_path / "a.kca")
    custom_calls.unregister("test.known")
    try:
        with pytest.raises(LoadError, match=r"custom call 'test.known' at -:3:8: no function of this name"):
            kc.runtime.load(tmp_path / "a.kca")
    finally:
        registered("test.known", lambda inputs, outputs, attributes: outputs[0].fill(5))
    np.testing.assert_array_equal(kc.runtime.load(tmp_path / "a.kca")(X, S)[0], np.full((4, 3), 5))


def test_names_that_kc_takes_itself_are_told_too():
    with pytest.raises(UnsupportedError, match=r"no function of this name(.|\n)*nearest thing that works: 'Sharding'"):
        kc.compile(CALL.replace("test.NAME", "Shardng").replace("OPTIONS", ""))
    with pytest.raises(UnsupportedError, match="kc knows calls of this name, but none of this form"):
        kc.compile(CALL.replace("test.NAME", "Sharding").replace("OPTIONS", ""))


def test_declared_names_compile(monkeypatch):
    monkeypatch.setattr(custom_calls, "_declared", set())
    custom_calls.declare("test.elsewhere")
    exe = compiled("elsewhere")
    assert exe.manifest["custom_calls"][0]["target"] == "test.elsewhere"
    with pytest.raises(LoadError, match=r"test\.elsewhere"):
        exe(X, S)


def test_a_shared_library_cannot_call(registered):
    registered("test.shared", print)
    with pytest.raises(UnsupportedError, match="calls kc_custom_call of kc's runtime, which a shared library does not"):
        compiled("shared").forms()["shared-library"]()


def test_tuples_and_tokens(registered):
    """They are flattened and dropped before the call is made."""

    def both(inputs, outputs, attributes):
        assert len(inputs) == len(outputs) == 2
        outputs[0][...], outputs[1][...] = inputs[0] * 2, inputs[1] + 1

    registered("test.both", both)
    pair = "tuple<tensor<3xf32>, tensor<2xi32>>"
    exe = kc.compile(f"""
func.func @main(%x: tensor<3xf32>, %y: tensor<2xi32>, %t: !stablehlo.token) -> (tensor<3xf32>, tensor<2xi32>) {{
  %p = stablehlo.tuple %x, %y : {pair}
  %0 = stablehlo.custom_call @test.both(%p) : ({pair}) -> {pair}
  %a = stablehlo.get_tuple_element %0[0] : ({pair}) -> tensor<3xf32>
  %b = stablehlo.get_tuple_element %0[1] : ({pair}) -> tensor<2xi32>
  %1:3 = stablehlo.custom_call @test.both(%a, %b, %t) {{has_side_effect = true}}
    : (tensor<3xf32>, tensor<2xi32>, !stablehlo.token) -> (tensor<3xf32>, tensor<2xi32>, !stablehlo.token)
  return %1#0, %1#1 : tensor<3xf32>, tensor<2xi32>
}}""")
    x, y = exe(np.ones(3, np.float32), np.array([1, 2], np.int32))
    np.testing.assert_array_equal(x, [4, 4, 4])
    np.testing.assert_array_equal(y, [3, 4])


def test_without_scipy_lapack_says_so(monkeypatch):
    from kc.runtime.lapack import library

    library.routine.cache_clear()
    for module in ("scipy.linalg", "scipy.linalg.cython_lapack"):
        monkeypatch.setitem(sys.modules, module, None)
    exe = kc.compile("""
func.func @main(%a: tensor<3x3xf32>) -> tensor<3x3xf32> {
  %0:2 = stablehlo.custom_call @Qr(%a) : (tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<3xf32>)
  return %0#0 : tensor<3x3xf32>
}""")
    with pytest.raises(ExecutionError, match=r"LAPACK's sgeqrf comes from SciPy.*pip install 'kc\[linalg\]'"):
        exe(np.eye(3, dtype=np.float32))


def test_names_are_taken_once(registered):
    registered("test.once", print)
    with pytest.raises(ValueError, match="registered for cpu already"):
        custom_calls.register("test.once", print)
    with pytest.raises(ValueError, match="no platform 'tpu'"):
        custom_calls.register("test.other", print, "tpu")


C_CODE = r"""
#include "kc_custom_call.h"
#include <stdio.h>
void xla_scale(void *out, const void **in) {
  for (int i = 0; i < 12; ++i) ((float *)out)[i] = ((const float *)in[0])[i] * (float)((const uint32_t *)in[1])[0];
}
int32_t kc_where(const kc_call *call) {
  const kc_buffer *x = &call->operands[0], *y = &call->results[0];
  if (x->rank != 2 || x->type_code != 2 || x->type_bits != 32) {
    snprintf(call->message, call->message_size, "rank %d of %s", (int)x->rank, call->attributes);
    return 1;
  }
  int rows = x->dims[0], columns = x->dims[1], fast_rows = x->minor_to_major[0] == 0;
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j)
      ((float *)y->data)[fast_rows ? j * rows + i : i * columns + j] = 10 * i + j;
  return call->attributes[0] != '{';
}
"""


@pytest.fixture(scope="module")
def c_library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("c")
    (folder / "calls.c").write_text(C_CODE)
    include = Path(__file__).parents[2] / "compiler" / "runtime" / "src"
    subprocess.run(
        ["cc", "-shared", "-fPIC", f"-I{include}", "-o", folder / "libcalls.so", folder / "calls.c"], check=True
    )
    return str(folder / "libcalls.so")


def test_c_functions(c_library):
    custom_calls.register_c("test.xla", (c_library, "xla_scale"), abi="xla", replace=True)
    custom_calls.register_c("test.kc", ctypes.CDLL(c_library).kc_where, replace=True)
    try:
        np.testing.assert_array_equal(compiled("xla")(X, S)[0], 3 * X)
        places = 10 * np.arange(4)[:, None] + np.arange(3)
        config = "api_version = 4 : i32, backend_config = {a = 1 : i64}"
        for options in (config, f"{config}, {COLUMNS}"):
            np.testing.assert_array_equal(compiled("kc", options)(X, S)[0], places)
        with pytest.raises(ExecutionError, match=r"custom call 'test\.kc' failed: it returned 1"):
            compiled("kc", 'backend_config = "a text"')(X, S)
    finally:
        custom_calls.unregister("test.xla")
        custom_calls.unregister("test.kc")
    with pytest.raises(LoadError, match="no_such_symbol"):
        custom_calls.register_c("test.missing", (c_library, "no_such_symbol"))


def test_a_gpu_program_tells_that_it_calls_the_host(registered, capsys, tmp_path):
    from kc.tools.kc import main

    registered("test.hosted", print)
    source = tmp_path / "a.mlir"
    source.write_text(CALL.replace("NAME", "hosted").replace("OPTIONS", ""))
    assert main(["census", str(source), "--target=nvptx"]) == 0
    assert "note: 'stablehlo.custom_call @test.hosted' runs on the host" in capsys.readouterr().out
    assert main(["census", str(source)]) == 0
    assert "note" not in capsys.readouterr().out
    source.write_text(CALL.replace("NAME", "nobodys").replace("OPTIONS", ""))
    assert main(["census", str(source), "--target=nvptx"]) == 1
    told = capsys.readouterr().out
    assert "no function of this name" in told and "runs on the host" not in told


def test_calls_of_gpu_programs(tmp_path):
    """On a driver of our own: copies to the host, device pointers, errors, C functions."""
    here = Path(__file__).parent
    driver = tmp_path / "libfakecuda.so"
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-w", here / "fake_cuda.c", "-o", driver], check=True)
    done = subprocess.run(
        [sys.executable, here / "custom_calls_on_gpu.py"],
        env={**os.environ, "KC_LIBCUDA": str(driver)}, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.stdout == "all passed\n", done.stdout + done.stderr
