"""Calls of CPU programs: kinds of arrays, shapes, scalars, parameters, errors that name the argument."""
from __future__ import annotations

import gc
import re
import sys
import threading
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from runtime_tools import argument, compile_c, entry, program, result

import kc.runtime
from kc.runtime import ArgumentError, ExecutionError, LoadError, Program, dtypes

#: copies its argument, whatever its element type: `size` bytes per element, rank 2
COPY = """
void *memcpy(void *, const void *, size_t);
void kc_entry_main(void **args) {
  D2 *x = args[0], *r = args[1]; int64_t n = x->size[0] * x->size[1] * SIZE;
  *r = *x;
  r->base = r->data = _mlir_memref_to_llvm_alloc(n); r->offset = 0;
  memcpy(r->data, x->data, n);
}
"""

ADD = """
void kc_entry_main(void **args) {
  D2 *x = args[0]; D1 *y = args[1]; D2 *r = args[2]; int64_t n = x->size[0], m = x->size[1];
  float *p = _mlir_memref_to_llvm_alloc(4 * n * m), *a = x->data, *b = y->data;
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < m; j++) p[i * m + j] = a[i * x->stride[0] + j * x->stride[1]] + b[j * y->stride[0]];
  *r = (D2){p, p, 0, {n, m}, {m, 1}};
}
"""


def copier(dtype: str) -> Program:
    size = dtypes.by_name(dtype).itemsize
    return program(compile_c(COPY, f"-DSIZE={size}"), [argument("x", dtype, ("A", "B"))], [result(dtype, ("A", "B"))])


@pytest.fixture(scope="module")
def add() -> Program:
    return program(
        compile_c(ADD), [argument("x", "f32", ("N", "M")), argument("bias", "f32", ("M",))], [result("f32", ("N", "M"))]
    )


def sample(dtype: str, shape: tuple[int, ...] = (3, 5)) -> Any:
    values = np.arange(np.prod(shape)).reshape(shape) - (0 if dtype.startswith(("ui", "i1", "f8E8")) else 4)
    numpy_type = dtypes.by_name(dtype).numpy
    if dtype == "i1":
        return values % 3 == 0
    return (values % 4).astype(numpy_type) if dtype in ("ui2", "f8E8M0FNU") else values.astype(numpy_type)


@pytest.mark.parametrize("dtype", [dtype.name for dtype in dtypes.all_types()])
def test_numpy_in_numpy_out(dtype: str) -> None:
    x = sample(dtype)
    (y,) = copier(dtype)(x)
    assert type(y) is np.ndarray and y.dtype == x.dtype and y.flags.writeable
    np.testing.assert_array_equal(y.view(np.uint8), x.view(np.uint8))


@pytest.mark.parametrize("dtype", ["i4", "i2"])
def test_narrow_integers_reach_machine_code_zero_extended(dtype: str) -> None:
    """LLVM reads an i4 expecting zeros above its bits; ml_dtypes takes copies of the sign too."""
    bits = dtypes.by_name(dtype).bits
    p = program(compile_c(COPY, "-DSIZE=1"), [argument("x", dtype, ("A", "B"))], [result("ui8", ("A", "B"))])
    x = np.arange(-(1 << (bits - 1)), 1 << (bits - 1)).reshape(1, -1).astype(dtypes.by_name(dtype).numpy)
    expected = [[value % (1 << bits) for value in x[0].astype(int)]]
    assert p(x)[0].tolist() == expected
    assert p((x.view(np.uint8) | (256 - (1 << bits))).view(x.dtype))[0].tolist() == expected


@pytest.mark.parametrize(
    "dtype", [t.name for t in dtypes.all_types() if t.torch_name and not t.is_small_float] + ["f8E4M3FN", "f8E5M2"]
)
def test_torch_in_torch_out(dtype: str) -> None:
    torch = pytest.importorskip("torch")
    theirs = getattr(torch, dtypes.by_name(dtype).torch_name or "")
    x = torch.arange(15, dtype=torch.float32).reshape(3, 5).to(theirs)
    (y,) = copier(dtype)(x)
    assert type(y) is torch.Tensor and y.dtype == theirs and y.shape == x.shape
    assert torch.equal(y.view(torch.uint8), x.view(torch.uint8))
    y.view(torch.uint8).zero_()  # writable
    assert x.view(torch.uint8).any()


def test_torch_details(add: Program) -> None:
    torch = pytest.importorskip("torch")
    x, b = torch.randn(5, 3).t(), torch.randn(5, requires_grad=True)
    torch.testing.assert_close(add(x, b)[0], x + b.detach())
    mixed = add(x, b.detach().numpy())[0]
    assert type(mixed) is torch.Tensor
    with pytest.raises(ArgumentError, match=r"argument 0 \('x'\): expected f32\[N, M\], got a tensor on device 'meta'"):
        add(torch.empty(3, 5, device="meta"), b)
    with pytest.raises(ArgumentError, match=r"sparse"):
        add(torch.eye(5).to_sparse(), b)
    with pytest.raises(ArgumentError, match=r"argument 1 \('bias'\): expected f32\[M\], got f64\[5\]"):
        add(x, b.double())
    p = copier("complex64")
    z = torch.randn(2, 2, dtype=torch.complex64)
    assert torch.equal(p(z.conj())[0], z.conj().resolve_conj()), "a lazy conjugate is computed first"
    halves = program(compile_c(COPY, "-DSIZE=4"), [argument("x", "f32", ("A", "B"))], [result("f32", ("A", "B"))])
    assert torch.equal(halves(z.conj().imag)[0], -z.imag)


@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16", "i32", "i8", "ui8", "i1", "complex64", "f8E4M3FN", "i4"])
def test_jax_in_jax_out(dtype: str) -> None:
    jax = pytest.importorskip("jax")
    x = jax.numpy.asarray(sample(dtype))
    (y,) = copier(dtype)(x)
    assert isinstance(y, jax.Array) and y.dtype == x.dtype
    np.testing.assert_array_equal(np.asarray(y).view(np.uint8), np.asarray(x).view(np.uint8))
    empty = copier(dtype)(jax.numpy.zeros((0, 5), x.dtype))[0]
    assert isinstance(empty, jax.Array) and empty.shape == (0, 5)


def test_jax_details(add: Program) -> None:
    jax = pytest.importorskip("jax")
    x = jax.numpy.ones((3, 5))
    with pytest.raises(ArgumentError, match=r"outside of jax\.jit"):
        jax.jit(lambda x: add(x, np.ones(5, np.float32)))(x)
    with pytest.raises(ArgumentError, match="PRNG key"):
        add(jax.random.key(0), x)
    wide = copier("f64")
    p = program(compile_c(COPY, "-DSIZE=8"), [argument("x", "i64", ("A", "B"))], [result("i64", ("A", "B"))])
    assert wide.entries == p.entries
    # With 64-bit types off a result that does not fit is an error and no wrong number.
    both = program(
        compile_c(MIXED), [argument("x", "f32"), argument("big", "i64")], [result("f32"), result("i64")]
    )
    y, small = both(jax.numpy.ones(2), np.array([5, -7]))
    assert small.dtype == np.int32 and small.tolist() == [5, -7] and isinstance(y, jax.Array)
    with pytest.raises(OverflowError, match="jax_enable_x64"):
        both(jax.numpy.ones(2), np.array([1 << 40]))


MIXED = """
void *memcpy(void *, const void *, size_t);
void kc_entry_main(void **args) {
  D1 *x = args[0], *y = args[1];
  void *p = _mlir_memref_to_llvm_alloc(4 * x->size[0]), *q = _mlir_memref_to_llvm_alloc(8 * y->size[0]);
  memcpy(p, x->data, 4 * x->size[0]); memcpy(q, y->data, 8 * y->size[0]);
  give1(args[2], p, x->size[0]); give1(args[3], q, y->size[0]);
}
"""


class OnlyDlpack:
    """An array of a library that kc does not know."""

    def __init__(self, array: Any) -> None:
        self._array = array

    def __dlpack__(self, **keywords: Any) -> Any:
        return self._array.__dlpack__(**keywords)

    def __dlpack_device__(self) -> Any:
        return self._array.__dlpack_device__()


class OnlyArrayInterface:
    def __init__(self, array: Any) -> None:
        self._array = array  # keeps the memory
        self.__array_interface__ = array.__array_interface__


def test_foreign_arrays(add: Program) -> None:
    x, b = np.random.default_rng(0).standard_normal((4, 5)).astype(np.float32), np.ones(5, np.float32)
    for wrap in (OnlyDlpack, OnlyArrayInterface):
        (y,) = add(wrap(x), wrap(b))
        assert type(y) is np.ndarray
        np.testing.assert_array_equal(y, x + b)
    with pytest.raises(ArgumentError, match="not contiguous"):
        add(OnlyDlpack(np.zeros((5, 4), np.float32).T), b)
    with pytest.raises(ArgumentError, match=r"expected f32\[N, M\], got f64\[4, 5\]"):
        add(OnlyDlpack(x.astype(np.float64)), b)


def test_layouts_of_numpy_arrays(add: Program) -> None:
    """Transposed, strided, reversed, broadcast, unaligned, read-only and empty arrays."""
    rng = np.random.default_rng(1)
    big, b = rng.standard_normal((40, 40)).astype(np.float32), rng.standard_normal(5).astype(np.float32)
    unaligned = np.frombuffer(bytearray(b"x") + bytearray(big[:4, :5].tobytes()), np.uint8)[1:].view(np.float32)
    read_only = big[:3, :5].copy()
    read_only.flags.writeable = False
    inputs = [
        big[:5, :7].T[:, :5], big[::3, 1:6], big[10:2:-1, 5:0:-1], np.broadcast_to(big[0, :5], (3, 5)),
        unaligned.reshape(4, 5), read_only, np.zeros((0, 5), np.float32), big[:1, :5], np.asfortranarray(big[:6, :5]),
    ]  # fmt: skip
    for x in inputs:
        np.testing.assert_array_equal(add(x, b)[0], x + b)
        np.testing.assert_array_equal(add(x, b[::-1])[0], x + b[::-1])
    assert add(np.zeros((3, 0), np.float32), b[:0])[0].shape == (3, 0)
    assert add(big[:2, :5].view(type("Sub", (np.ndarray,), {})), b)[0].shape == (2, 5)


def expect(message: str, call: Any, index: int | None = None) -> None:
    with pytest.raises(ArgumentError, match=f"^{re.escape(message)}") as caught:
        call()
    assert caught.value.index == index
    assert isinstance(caught.value, ValueError)


def test_argument_errors(add: Program) -> None:
    x, b = np.zeros((3, 5), np.float32), np.zeros(5, np.float32)
    expect("main(x: f32[N, M], bias: f32[M]) -> (f32[N, M]) takes 2 argument(s), got 1", lambda: add(x))
    expect("argument 0 ('x'): expected f32[N, M], got f64[3, 5]", lambda: add(x.astype(np.float64), b), 0)
    expect("argument 1 ('bias'): expected f32[M], got i32[5]", lambda: add(x, b.astype(np.int32)), 1)
    expect("argument 0 ('x'): expected f32[N, M], got f32[5] (rank 1, not 2)", lambda: add(b, b), 0)
    expect(
        "argument 1 ('bias'): expected f32[M], got f32[4]: dimension 0 is 4, but 'M' is 5 in argument 0 ('x')",
        lambda: add(x, b[:4]), 1,
    )  # fmt: skip
    expect("argument 0 ('x'): expected f32[N, M], got list, which is no array", lambda: add([[1.0]], b), 0)
    expect("argument 0 ('x'): expected f32[N, M], got NoneType", lambda: add(None, b), 0)
    expect("argument 0 ('x'): expected f32[N, M], got >f4", lambda: add(x.astype(">f4"), b), 0)
    expect("argument 0 ('x'): expected f32[N, M], got <U3", lambda: add(np.array([["abc"]]), b), 0)
    expect("argument 0 ('x'): expected f32[N, M], got a masked array", lambda: add(np.ma.masked_array(x), b), 0)
    expect("argument 1 ('bias'): expected f32[M], got the Python number 1.0", lambda: add(x, 1.0), 1)
    assert add(x, b)[0].shape == (3, 5), "a refused call leaves nothing behind"


def test_bounds_of_dimensions() -> None:
    p = Program.from_manifest(
        {
            "version": 1, "target": "cpu", "objects": ["a.o"],
            "entries": {
                "main": entry(
                    [argument("x", "f32", ("B", 4))], [result("f32", ("B", 4))],
                    dims={"B": {"min": 2, "max": 16, "multiple": 2}},
                )
            },
        },
        {"a.o": compile_c(COPY, "-DSIZE=4")},
    )  # fmt: skip
    assert p(np.ones((6, 4), np.float32))[0].shape == (6, 4)
    for size, message in ((0, "at least 2 and at most 16"), (18, "at least 2 and at most 16"), (5, "a multiple of 2")):
        expect(
            f"argument 0 ('x'): expected f32[B, 4], got f32[{size}, 4]: 'B' must be {message}",
            lambda size=size: p(np.ones((size, 4), np.float32)), 0,
        )  # fmt: skip
    expect(
        "argument 0 ('x'): expected f32[B, 4], got f32[2, 5] (dimension 1)", lambda: p(np.ones((2, 5), np.float32)), 0
    )


SCALARS = """
void kc_entry_main(void **args) {
  double value = *(double *)args[0]; int32_t count = *(int32_t *)args[1]; D0 *z = args[2];
  *(double *)args[3] = value * count;
  D0 *r = args[4]; r->base = r->data = _mlir_memref_to_llvm_alloc(4); r->offset = 0;
  *(float *)r->data = *(float *)z->data + count;
}
"""


def test_scalars_and_rank_zero() -> None:
    p = program(
        compile_c(SCALARS),
        [argument("v", "f64", (), scalar=True), argument("n", "i32", (), scalar=True), argument("z", "f32", ())],
        [result("f64", (), scalar=True), result("f32", ())],
    )
    numbers = (np.float64(1.5), np.int32(4), np.float32(2))
    for v, n, z in ((1.5, 4, 2.0), numbers, tuple(map(np.asarray, numbers))):
        product, total = p(v, n, z)
        assert product == 6.0 and product.dtype == np.float64
        assert total.shape == () and total == 6.0 and total.dtype == np.float32
    expect("argument 1 ('n'): expected i32[], got the Python float 1.5", lambda: p(1.0, 1.5, 2.0), 1)
    expect("argument 1 ('n'): expected i32[], got 2147483648, which it cannot hold", lambda: p(1.0, 1 << 31, 2.0), 1)
    expect("argument 1 ('n'): expected i32[], got the Python bool True", lambda: p(1.0, True, 2.0), 1)
    expect("argument 0 ('v'): expected f64[], got f32[]", lambda: p(np.float32(1), 1, 2.0), 0)
    expect("argument 2 ('z'): expected f32[], got f32[1] (rank 1, not 0)", lambda: p(1.0, 1, np.ones(1, np.float32)), 2)


PARAMS = """
void kc_entry_main(void **args) {
  D1 *x = args[0], *w = args[1], *b = args[2]; int64_t n = x->size[0];
  float *p = _mlir_memref_to_llvm_alloc(4 * n);
  for (int64_t i = 0; i < n; i++) p[i] = ((float *)x->data)[i] * ((float *)w->data)[i] + ((int32_t *)b->data)[0];
  give1(args[3], p, n);
}
"""


def test_parameters() -> None:
    w = np.array([2, 3, 4], np.float32)
    args = [
        argument("x", "f32", (3,)),
        {**argument("w", "f32", (3,)), "kind": "param", "param": 1},
        {**argument("b", "i32", (1,)), "kind": "param", "param": 0},
    ]
    params = [{"file": "b", "dtype": "i32", "shape": [1]}, {"file": "w", "dtype": "f32", "shape": [3]}]
    files = {"w": w, "b": np.array([10], np.int32).tobytes()}
    p = program(compile_c(PARAMS), args, [result("f32", (3,))], files=files, params=params)
    assert p(np.ones(3, np.float32))[0].tolist() == [12, 13, 14]
    w[0] = 100  # the buffer is used in place
    assert p(np.ones(3, np.float32))[0].tolist() == [110, 13, 14]
    assert [spec.name for spec in p.signature().inputs] == ["x"]
    with pytest.raises(LoadError, match=r"parameter 1 \(w\) has 8 bytes, expected 12"):
        program(compile_c(PARAMS), args, [result()], files={**files, "w": bytes(8)}, params=params)
    with pytest.raises(LoadError, match="the program's file 'w' is missing"):
        program(compile_c(PARAMS), args, [result()], files={"b": bytes(4)}, params=params)
    with pytest.raises(LoadError, match="there is no parameter 1"):
        program(compile_c(PARAMS), args, [result()], files=files, params=params[:1])


BORROWED = """
static const float table[4] = {1, 2, 3, 4};
void kc_entry_main(void **args) {
  D1 *x = args[0];
  *(D1 *)args[1] = *x;
  give1(args[2], (void *)table, 4); ((D1 *)args[2])->base = (void *)0xdeadbeef;
  float *p = _mlir_memref_to_llvm_alloc(4 * 8);
  for (int i = 0; i < 8; i++) p[i] = i;
  give1(args[3], p, 8); give1(args[4], p, 8);
  give1(args[5], 0, 0);
}
"""


def test_results_that_are_no_buffers_of_their_own() -> None:
    """An argument, a constant, one buffer twice, and an empty array without a buffer: the caller gets copies."""
    p = program(compile_c(BORROWED), [argument("x")], [result() for _ in range(5)])
    x = np.arange(5, dtype=np.float32)
    for _ in range(3):
        same, table, one, two, empty = p(x)
        assert same.tolist() == x.tolist() and table.tolist() == [1, 2, 3, 4] and empty.shape == (0,)
        assert not np.shares_memory(same, x) and not np.shares_memory(one, two)
        table[:] = 0
        one[:] = 7
        assert two.tolist() == list(range(8))
        del same, table, one, two
        gc.collect()


VIEWS = """
void kc_entry_main(void **args) {
  float *p = _mlir_memref_to_llvm_alloc(4 * 64);
  for (int i = 0; i < 64; i++) p[i] = i;
  *(D2 *)args[0] = (D2){p, p, 3, {4, 5}, {10, 2}};
}
"""


def test_strided_result_with_an_offset() -> None:
    p = program(compile_c(VIEWS), [], [result("f32", (4, 5))])
    expected = np.arange(64)[3:][np.add.outer(10 * np.arange(4), 2 * np.arange(5))]
    y = p()[0]
    np.testing.assert_array_equal(y, expected)
    del y
    torch = pytest.importorskip("torch")
    q = program(compile_c(VIEWS.replace("args[0]", "args[1]")), [argument("x")], [result("f32", (4, 5))])
    np.testing.assert_array_equal(q(torch.zeros(1))[0].numpy(), expected)


FAILING = """
void kc_entry_main(void **args) {
  D1 *x = args[0]; float *p = _mlir_memref_to_llvm_alloc(4); *p = 1;
  if (((float *)x->data)[0] < 0) { kc_raise("negative input"); kc_raise("a consequence"); }
  give1(args[1], p, 1);
}
"""


def test_failure_inside_the_program() -> None:
    p = program(compile_c(FAILING), [argument("x")], [result()])
    for _ in range(3):
        with pytest.raises(ExecutionError, match=r"^negative input$"):
            p(np.float32([-1]))
        assert p(np.float32([1]))[0].tolist() == [1]


FLUSH = """
void kc_entry_main(void **args) {
  D1 *x = args[0]; float *p = _mlir_memref_to_llvm_alloc(4);
  *p = ((volatile float *)x->data)[0] * 0.5f; give1(args[1], p, 1);
}
"""


def test_denormals_survive_the_callers_settings() -> None:
    torch = pytest.importorskip("torch")
    p = program(compile_c(FLUSH), [argument("x")], [result()])
    tiny = np.float32([1e-40])
    torch.set_flush_denormal(True)
    try:
        half = p(tiny)[0].view(np.int32)[0]
        assert float(torch.tensor([1e-40]) * 0.5) == 0, "the caller's own setting is back"
    finally:
        torch.set_flush_denormal(False)
    assert half == tiny.view(np.int32)[0] // 2 != 0


def test_entries() -> None:
    source = "void kc_entry_one(void **a) { *(int32_t *)a[0] = 1; } void other(void **a) { *(int32_t *)a[0] = 2; }"
    results = [result("i32", (), scalar=True)]
    p = Program.from_manifest(
        {
            "version": 1, "objects": ["a.o"],
            "entries": {"one": entry([], results), "two": entry([], results, symbol="other")},
        },
        {"a.o": compile_c(source)},
    )  # fmt: skip
    assert p.entries == ("one", "two") and p.run("one") == (1,) and p.run("two") == (2,)
    expect("there is no entry 'main'; this program has one, two", p)
    expect("there is no entry 'three'; this program has one, two", lambda: p.run("three"))
    assert "one() -> (i32[])" in repr(p)


@pytest.mark.parametrize(
    ("manifest", "message"),
    [
        ({"version": 2}, "manifest version 2; this runtime reads version 1"),
        ({"target": "amdgcn"}, "target 'amdgcn'"),
        ({"triple": "aarch64-unknown-linux-gnu"}, "made for aarch64-unknown-linux-gnu; this machine is x86_64"),
        ({"features": "+avx2,+amx-bf16,-avx"}, "lacks: amx-bf16"),
        ({"entries": {}}, "no entry points"),
        ({"entries": {"main": entry([argument("x", "f33")], [])}}, "argument 0: unknown element type 'f33'"),
        ({"entries": {"main": entry([argument("x", "f32", (1.5,))], [])}}, "dimension 1.5 is no size, name or null"),
        ({"entries": {"main": entry([argument("x", "f32", (-1,))], [])}}, "dimension -1 is no size, name or null"),
    ],
)  # fmt: skip
def test_manifest_errors(manifest: dict[str, Any], message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kc.runtime.cpu.flags", lambda: frozenset(("avx", "avx2")))
    with pytest.raises(LoadError, match=re.escape(message)):
        program(compile_c("void kc_entry_main(void **a) {}"), **manifest)


def test_calls_from_several_threads(add: Program) -> None:
    problems = []

    def work(seed: int) -> None:
        rng = np.random.default_rng(seed)
        for _ in range(200):
            x = rng.standard_normal((int(rng.integers(1, 9)), 6)).astype(np.float32)
            b = rng.standard_normal(6).astype(np.float32)
            if not np.array_equal(add(x, b)[0], x + b):
                problems.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []


def test_many_shapes_of_results(add: Program) -> None:
    """More shapes than any table of the runtime keeps."""
    b = np.ones(3, np.float32)
    for n in range(1, 700):
        assert add(np.full((n, 3), n, np.float32), b)[0].sum() == 3 * n * (n + 1)


def test_result_outlives_the_program() -> None:
    p = program(compile_c(COPY, "-DSIZE=4"), [argument("x", "f32", ("A", "B"))], [result("f32", ("A", "B"))])
    (y,) = p(np.ones((2, 2), np.float32))
    del p
    gc.collect()
    assert y.tolist() == [[1, 1], [1, 1]]


def test_bfloat_without_ml_dtypes(monkeypatch: pytest.MonkeyPatch) -> None:
    """torch callers do not need ml_dtypes; NumPy callers are told about it."""
    torch = pytest.importorskip("torch")
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    monkeypatch.delitem(dtypes.by_name("bf16").__dict__, "numpy", raising=False)
    p = copier("bf16")
    assert p(torch.ones(2, 2, dtype=torch.bfloat16))[0].dtype == torch.bfloat16
    with pytest.raises(ImportError, match="ml_dtypes"):
        assert dtypes.by_name("bf16").numpy
    assert ml_dtypes.bfloat16 is not None


def test_public_names() -> None:
    assert all(getattr(kc.runtime, name) is not None for name in kc.runtime.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        kc.runtime.nothing  # noqa: B018


def test_llvms_features_of_this_cpu_are_found_here() -> None:
    """The names of LLVM and of /proc/cpuinfo go together: code for this CPU runs on it."""
    binding = pytest.importorskip("llvmlite.binding")
    from kc.runtime import cpu

    cpu.check_runs_here(binding.get_process_triple(), binding.get_host_cpu_features().flatten())
