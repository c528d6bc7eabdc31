"""The caching host allocator and what a program may do with memory."""
from __future__ import annotations

import ctypes
import gc
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from runtime_tools import argument, compile_c, program, result

from kc.runtime import ExecutionError
from kc.runtime.library import library


def stats() -> tuple[int, int, int, int]:
    """Bytes handed out, bytes kept, mappings made, requests served from kept blocks."""
    out = (ctypes.c_int64 * 4)()
    library().kc_allocator_stats(out)
    return tuple(out)  # type: ignore[return-value]


SIZES = [0, 1, 63, 64, 65, 128, 1000, 4096, 100_000, (1 << 18) - 64, 1 << 18, 3_000_000, 5 << 20, 64 << 20]


@pytest.mark.parametrize("size", SIZES)
def test_blocks_are_aligned_usable_and_reused(size: int) -> None:
    lib = library()
    first = lib.kc_alloc(size)
    assert first % 64 == 0
    ctypes.memset(first, 0xA5, size)
    other = lib.kc_alloc(size)
    assert abs(other - first) >= max(size, 1)
    ctypes.memset(other, 0x5A, size)
    assert ctypes.string_at(first, min(size, 4096)) == b"\xa5" * min(size, 4096)
    lib.kc_free(first)
    before = stats()
    assert lib.kc_alloc(size) == first
    assert stats()[2] == before[2]
    lib.kc_free(first)
    lib.kc_free(other)


def test_waste_is_bounded() -> None:
    lib = library()
    for size in range(20_000, 3_000_000, 77_777):
        before = stats()[0]
        pointer = lib.kc_alloc(size)
        assert size <= stats()[0] - before <= 1.26 * size + 128
        lib.kc_free(pointer)


def test_absurd_sizes_give_null() -> None:
    assert library().kc_alloc(-1) is None
    assert library().kc_alloc(1 << 62) is None
    library().kc_free(None)


def test_many_threads() -> None:
    """Each thread marks its blocks and finds its marks again."""
    lib = library()
    problems: list[str] = []

    def work(seed: int) -> None:
        rng = np.random.default_rng(seed)
        held: list[tuple[int, int]] = []
        for _ in range(1500):
            if len(held) > 20 or (held and rng.random() < 0.45):
                pointer, size = held.pop(int(rng.integers(len(held))))
                if ctypes.string_at(pointer, size) != bytes([seed]) * size:
                    problems.append(f"block of {size} bytes was overwritten")
                lib.kc_free(pointer)
            else:
                size = int(2 ** rng.uniform(0, 14))
                pointer = lib.kc_alloc(size)
                ctypes.memset(pointer, seed, size)
                held.append((pointer, size))
        for pointer, _ in held:
            lib.kc_free(pointer)

    before = stats()[0]
    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(1, 7)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    assert stats()[0] == before


def test_trim_returns_kept_blocks() -> None:
    lib = library()
    lib.kc_free(lib.kc_alloc(32 << 20))
    assert stats()[1] >= 32 << 20
    lib.kc_allocator_trim()
    assert stats()[1] < 32 << 20


def test_cache_has_a_limit() -> None:
    code = (
        "from kc.runtime.library import library; import ctypes\n"
        "l = library(); out = (ctypes.c_int64 * 4)()\n"
        "ps = [l.kc_alloc(4 << 20) for _ in range(10)]\n"
        "for p in ps: l.kc_free(p)\n"
        "l.kc_allocator_stats(out); print(out[1])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "KC_CACHE_BYTES": str(12 << 20)}, stdout=subprocess.PIPE,
        check=True,
    )
    assert 4 << 20 <= int(done.stdout) <= 12 << 20


@pytest.mark.parametrize("what", ["double free", "free of memory that the runtime did not allocate"])
def test_wrong_free_ends_the_process_with_a_message(what: str) -> None:
    code = "from kc.runtime.library import library; import ctypes\nl = library()\n"
    if what == "double free":
        code += "p = l.kc_alloc(100); l.kc_free(p); l.kc_free(p)"
    else:
        code += "b = ctypes.create_string_buffer(4096); l.kc_free(ctypes.addressof(b) + 1024)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == -6
    assert what in done.stderr


GREEDY = """
void kc_entry_main(void **args) {
  D1 *x = args[0], *r = args[1];
  float *p = _mlir_memref_to_llvm_alloc(((int64_t *)x->data)[0]); p[0] = 1; give1(r, p, 1);
}
"""


def test_exhausted_memory_is_an_error_of_the_call() -> None:
    p = program(compile_c(GREEDY), [argument("bytes", "i64")], [result()])
    for size in (1 << 60, -5):
        with pytest.raises(ExecutionError, match=f"out of memory: the program asked for {size} bytes"):
            p(np.array([size]))
    assert p(np.array([4]))[0].tolist() == [1]


def test_results_return_their_memory() -> None:
    p = program(compile_c(GREEDY), [argument("bytes", "i64")], [result()])
    size = np.array([3 << 20])
    p(size)
    before = stats()
    for _ in range(50):
        p(size)
    after = stats()
    assert after[0] == before[0]
    assert after[2] == before[2], "a call that repeats maps no new memory"
    held = p(size)[0]
    assert stats()[0] > before[0]
    view = held[:1]
    del held
    assert stats()[0] > before[0], "a view keeps the buffer"
    del view
    assert stats()[0] == before[0]


LAYOUTS = """
typedef struct { void *base; void *data; int64_t offset; int64_t size[3]; int64_t stride[3]; } D3;
void kc_entry_main(void **args) {
  D1 *x = args[0], *layout = args[1]; int64_t *w = layout->data; /* sizes, from: offset, strides; to: offset, strides */
  int32_t *p = _mlir_memref_to_llvm_alloc(4 * x->size[0]);
  for (int64_t i = 0; i < x->size[0]; i++) p[i] = -1;
  D3 from = {x->data, x->data, w[3], {w[0], w[1], w[2]}, {w[4], w[5], w[6]}};
  D3 to = {p, p, w[7], {w[0], w[1], w[2]}, {w[8], w[9], w[10]}};
  Unranked source = {3, &from}, target = {3, &to};
  memrefCopy(4, &source, &target);
  give1(args[2], p, x->size[0]);
}
"""


def test_copies_between_layouts() -> None:
    p = program(compile_c(LAYOUTS), [argument("x", "i32"), argument("layout", "i64", (11,))], [result("i32")])
    rng = np.random.default_rng(5)
    x = np.arange(4000, dtype=np.int32)
    for _ in range(300):
        sizes = rng.integers(0, 6, 3) if rng.random() < 0.8 else np.array([2, 3, 4])
        words = list(sizes)
        for _ in range(2):
            order, step, strides = rng.permutation(3), int(rng.integers(1, 3)), [0, 0, 0]
            for axis in order:
                strides[axis] = step
                step *= max(int(sizes[axis]), 1) + int(rng.integers(0, 2))
            words += [int(rng.integers(0, 9)), *strides]
        expected = np.full_like(x, -1)
        index = np.indices(sizes).reshape(3, -1)
        expected[words[7] + np.array(words[8:]) @ index] = x[words[3] + np.array(words[4:7]) @ index]
        np.testing.assert_array_equal(p(x, np.array(words))[0], expected)


@pytest.mark.parametrize("framework", ["torch", "jax"])
def test_results_of_frameworks_return_their_memory(framework: str) -> None:
    pytest.importorskip(framework)
    p = program(compile_c(FILL), [argument("x")], [result(), result(shape=())])
    if framework == "torch":
        import torch

        x: Any = torch.zeros(500_000)
    else:
        import jax

        x = jax.numpy.zeros(500_000)
    for y in p(x):
        assert type(y) is type(x)
    del y
    gc.collect()
    before = stats()
    for _ in range(20):
        vector, number = p(x)
        assert float(number) == 7 and vector.shape == (500_000,) and float(vector[-1]) == 7
    del vector, number
    gc.collect()
    after = stats()
    assert after[0] == before[0]
    assert after[2] - before[2] <= 1, "blocks are reused"


FILL = """
void kc_entry_main(void **args) {
  D1 *x = args[0]; int64_t n = x->size[0]; float *p = _mlir_memref_to_llvm_alloc(4 * n);
  for (int64_t i = 0; i < n; i++) p[i] = 7;
  give1(args[1], p, n);
  D0 *r = args[2]; r->base = r->data = _mlir_memref_to_llvm_alloc(4); r->offset = 0; *(float *)r->data = 7;
}
"""
