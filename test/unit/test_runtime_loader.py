"""The ELF loader: relocations, several objects, errors that name what is wrong."""
from __future__ import annotations

import re
import struct
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from runtime_tools import argument, compile_c, compile_ir, program, result

from kc.runtime import LoadError

TABLES = """
static const float table[4] = {1.5f, 2.5f, 3.5f, 4.5f};
static float counter = 10.0f;
float zeros[1000];
static float twice(float x) { return 2 * x; }
static float thrice(float x) { return 3 * x; }
static float (*const functions[2])(float) = {twice, thrice};
double sin(double);
void *memset(void *, int, size_t);
void kc_entry_main(void **args) {
  D1 *x = args[0], *r = args[1];
  int64_t n = x->size[0];
  float *p = _mlir_memref_to_llvm_alloc(4 * n), *in = x->data;
  memset(p, 0, 4 * n);
  counter += 1;
  for (int64_t i = 0; i < n; i++) {
    float s = in[i];
    switch (i % 8) {
      case 0: s = functions[0](s); break; case 1: s = functions[1](s); break; case 2: s = sin(s); break;
      case 3: s += counter; break; case 4: s -= zeros[i % 1000]; break; case 5: s = table[i % 4]; break;
      case 6: s = -s; break; default: s = s * s;
    }
    p[i] = s;
  }
  give1(r, p, n);
}
"""


def expected(x: np.ndarray, calls: int) -> np.ndarray:
    table = np.array([1.5, 2.5, 3.5, 4.5], np.float32)
    cases = [
        2 * x, 3 * x, np.sin(x.astype(np.float64)).astype(np.float32), x + np.float32(10 + calls), x,
        table[np.arange(len(x)) % 4], -x, x * x,
    ]  # fmt: skip
    return np.choose(np.arange(len(x)) % 8, cases)


@pytest.mark.parametrize(
    "flags", [(), ("-fno-pic", "-mcmodel=small"), ("-O0",), ("-fno-plt",), ("-O3", "-march=native")]
)
def test_relocations(flags: tuple[str, ...]) -> None:
    """Constants, variables, bss, tables of functions, jump tables, external functions; also code that is not PIC."""
    p = program(compile_c(TABLES, *flags), [argument("x")], [result()])
    x = np.linspace(-3, 3, 64).astype(np.float32)
    for calls in (1, 2):
        np.testing.assert_allclose(p(x)[0], expected(x, calls), rtol=1e-6)


def test_objects_refer_to_each_other() -> None:
    one = """
    float scale(float); extern float shift; __attribute__((weak)) float both(void) { return 1; }
    void kc_entry_main(void **args) {
      D1 *x = args[0], *r = args[1]; float *p = _mlir_memref_to_llvm_alloc(4);
      p[0] = scale(((float *)x->data)[0]) + shift + both(); give1(r, p, 1);
    }"""
    two = "float shift = 100; float both(void) { return 1000; } float scale(float x) { return 7 * x + both(); }"
    p = program({"one.o": compile_c(one), "two.o": compile_c(two)}, [argument("x")], [result()])
    assert p(np.float32([2]))[0].tolist() == [14 + 1000 + 100 + 1000]


def test_object_from_llvm() -> None:
    p = program(
        compile_ir(
            """
            @scale = internal constant [2 x float] [float 2.0, float 0.5]
            declare ptr @_mlir_memref_to_llvm_alloc(i64)
            declare float @expf(float)
            define void @kc_entry_main(ptr %args) {
              %x = load ptr, ptr %args
              %rp = getelementptr ptr, ptr %args, i64 1
              %r = load ptr, ptr %rp
              %dp = getelementptr i64, ptr %x, i64 1
              %d = load ptr, ptr %dp
              %v = load float, ptr %d
              %k = load float, ptr getelementptr inbounds ([2 x float], ptr @scale, i64 0, i64 1)
              %e = call float @expf(float %v)
              %m = fmul float %e, %k
              %p = call ptr @_mlir_memref_to_llvm_alloc(i64 4)
              store float %m, ptr %p
              store ptr %p, ptr %r
              %r1 = getelementptr i64, ptr %r, i64 1
              store ptr %p, ptr %r1
              %r2 = getelementptr i64, ptr %r, i64 2
              store i64 0, ptr %r2
              ret void
            }"""
        ),
        [argument("x", shape=())],
        [result(shape=())],
    )
    np.testing.assert_allclose(p(np.float32(1))[0], np.exp(1) * 0.5, rtol=1e-6)


def test_unresolved_symbols_are_named() -> None:
    source = """void missing_one(void); extern int missing_two;
    void kc_entry_main(void **a) { missing_one(); missing_two++; }"""
    with pytest.raises(LoadError, match="'missing_one', 'missing_two'"):
        program(compile_c(source))


def test_process_symbols_stay_out_of_reach() -> None:
    """Only the runtime's table resolves: getpid is in the process, but not for programs."""
    with pytest.raises(LoadError, match="'getpid'"):
        program(compile_c("int getpid(void); void kc_entry_main(void **a) { getpid(); }"))


def test_duplicate_definition() -> None:
    one = compile_c("void kc_entry_main(void **a) {} int f(void) { return 1; }")
    two = compile_c("int f(void) { return 2; }")
    with pytest.raises(LoadError, match=r"'two.o'.*'f' is defined twice \(also in 'one.o'\)"):
        program({"one.o": one, "two.o": two})


def test_missing_entry_point() -> None:
    with pytest.raises(LoadError, match="do not define 'kc_entry_main'"):
        program(compile_c("void other(void **a) {}"))


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("static _Thread_local int x = 3; void kc_entry_main(void **a) { x++; }", "thread-local"),
        ("__attribute__((constructor)) void f(void) {} void kc_entry_main(void **a) {}", "static constructors"),
        ("static void g(void){} static void *r(void){return g;} void f(void) __attribute__((ifunc(\"r\"))); "
         "void kc_entry_main(void **a) { f(); }", "indirect function"),
    ],
)  # fmt: skip
def test_unsupported_contents(source: str, message: str) -> None:
    with pytest.raises(LoadError, match=message):
        program(compile_c(source))


def test_other_machine_and_not_elf() -> None:
    data = bytearray(compile_c("void kc_entry_main(void **a) {}"))
    struct.pack_into("<H", data, 18, 183)  # e_machine: AArch64
    with pytest.raises(LoadError, match="another machine"):
        program(bytes(data))
    with pytest.raises(LoadError, match="not an ELF file"):
        program(b"#!/bin/sh\n" + bytes(100))


def test_every_truncation_is_an_error() -> None:
    data = compile_c(TABLES)
    for size in range(0, len(data), 61):
        with pytest.raises(LoadError):
            program(data[:size], [argument("x")], [result()])


def test_damaged_objects_do_not_crash() -> None:
    """Bytes of the section and symbol tables replaced: an error or a working program, never a crash."""
    data = compile_c(TABLES)
    rng = np.random.default_rng(7)
    (section_headers,) = struct.unpack_from("<Q", data, 40)
    for _ in range(300):
        damaged = bytearray(data)
        for _ in range(3):
            start = section_headers if rng.random() < 0.7 else 0
            damaged[int(rng.integers(start, len(data)))] = int(rng.integers(256))
        try:
            program(bytes(damaged), [argument("x")], [result()])
        except LoadError as error:
            assert str(error)


def test_text_is_not_writable_and_data_not_executable() -> None:
    before = _mappings()
    p = program(compile_c(TABLES), [argument("x")], [result()])
    new = [line for line in _mappings() if line not in before]
    assert p.entries == ("main",)
    rights = [line.split()[1] for line in new]
    assert any(right.startswith("r-x") for right in rights)
    assert not any("w" in right and "x" in right for right in rights)


def test_unload_gives_memory_back() -> None:
    data = compile_c(TABLES)

    def executable_mappings() -> int:
        return sum(1 for line in _mappings() if re.search(r" r-xp .* 00:00 0\s*$", line))

    program(data, [argument("x")], [result()])
    count = executable_mappings()
    for _ in range(20):
        program(data, [argument("x")], [result()])
    assert executable_mappings() <= count + 1


def _mappings() -> list[str]:
    with open("/proc/self/maps", encoding="ascii", errors="replace") as file:
        return file.read().splitlines()


HALF = """
float __truncsfhf2(float); float __truncdfbf2(double); float __truncsfbf2(float); float __truncdfhf2(double);
float __extendhfsf2(float);
void kc_entry_main(void **args) {
  D1 *x = args[0], *r = args[1]; int64_t n = x->size[0]; double *in = x->data;
  uint16_t *p = _mlir_memref_to_llvm_alloc(10 * n);
  for (int64_t i = 0; i < n; i++) {
    union { float f; uint16_t h[2]; } u;
    u.f = __truncsfhf2((float)in[i]); p[5 * i] = u.h[0];
    u.f = __truncdfhf2(in[i]); p[5 * i + 1] = u.h[0];
    u.f = __extendhfsf2(u.f); p[5 * i + 2] = u.h[1];
    u.f = __truncsfbf2((float)in[i]); p[5 * i + 3] = u.h[0];
    u.f = __truncdfbf2(in[i]); p[5 * i + 4] = u.h[0];
  }
  give1(r, p, 5 * n);
}
"""


def test_sixteen_bit_float_routines() -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    p = program(compile_c(HALF), [argument("x", "f64")], [result("ui16")])
    rng = np.random.default_rng(3)
    special = [0, -0.0, np.inf, -np.inf, np.nan, 65504, 65520, 65519.99, 1e-8, 6e-8, 2.98e-8, 3e-8, 6.1e-5, 3.4e38]
    x = np.concatenate([special, rng.standard_normal(4000) * 10.0 ** rng.uniform(-46, 39, 4000)])
    with np.errstate(over="ignore"):
        single = x.astype(np.float32)
        got = p(x)[0].reshape(-1, 5)
        from_single, from_double = single.astype(np.float16), x.astype(np.float16)
        bf_single = single.astype(ml_dtypes.bfloat16)
    nan = np.isnan(x)
    assert np.isnan(got[nan].view(np.float16)[:, :2]).all()
    got, from_single, from_double, bf_single = got[~nan], from_single[~nan], from_double[~nan], bf_single[~nan]
    np.testing.assert_array_equal(got[:, 0], from_single.view(np.uint16))
    np.testing.assert_array_equal(got[:, 1], from_double.view(np.uint16))
    np.testing.assert_array_equal(got[:, 2], from_double.astype(np.float32).view(np.uint16).reshape(-1, 2)[:, 1])
    np.testing.assert_array_equal(got[:, 3], bf_single.view(np.uint16))
    # From double there is one rounding: at most half a bf16 step from the exact value.
    finite = np.abs(x[~nan]) < 3.38e38
    exact = x[~nan][finite]
    wide = (got[finite, 4].astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    step = np.maximum(2.0 ** (np.floor(np.log2(np.maximum(np.abs(exact), 1e-300))) - 7), 2.0**-133)
    assert (np.abs(wide - exact) <= step / 2).all()


@pytest.mark.parametrize("target", ["cpu", "nvptx"])
def test_what_code_generation_counts_on_is_there(target: str) -> None:
    """``kc.codegen`` refuses calls outside of its list; everything in that list has to resolve here."""
    from kc.codegen.manifest import RUNTIME_SYMBOLS

    quads = (f'asm(".pushsection .data\\n.quad {name}\\n.popsection");' for name in sorted(RUNTIME_SYMBOLS))
    references = "\n".join(quads)
    p = program(compile_c(references + "void kc_entry_main(void **a) {}"), target=target)
    assert p.target == target
    with pytest.raises(LoadError, match="'kc_nothing'"):
        program(compile_c(references.replace("kc_raise", "kc_nothing") + "void kc_entry_main(void **a) {}"))
