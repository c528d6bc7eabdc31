"""Checks of the thread runtime, run by test_runtime_threads.py in processes of their own (a process has one pool).

The C code calls the OpenMP entry points in the way that LLVM's lowering of omp.parallel and omp.wsloop does.
"""
from __future__ import annotations

import os
import sys
import threading
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from runtime_tools import argument, compile_c, program, result

from kc.runtime import ExecutionError, num_threads

OPENMP = """
extern void __kmpc_fork_call(void *, int32_t, void *, ...);
extern void __kmpc_push_num_threads(void *, int32_t, int32_t);
extern int32_t __kmpc_global_thread_num(void *);
extern void __kmpc_barrier(void *, int32_t);
typedef int32_t i32; typedef int64_t i64; typedef uint64_t u64;
extern void __kmpc_for_static_init_8u(void *, i32, i32, i32 *, u64 *, u64 *, i64 *, i64, i64);
extern void __kmpc_for_static_init_4(void *, i32, i32, i32 *, i32 *, i32 *, i32 *, i32, i32);
extern void __kmpc_for_static_fini(void *, int32_t);
extern void __kmpc_dispatch_init_8u(void *, int32_t, int32_t, uint64_t, uint64_t, int64_t, int64_t);
extern int32_t __kmpc_dispatch_next_8u(void *, int32_t, int32_t *, uint64_t *, uint64_t *, int64_t *);
extern int32_t __kmpc_reduce(void *, int32_t, int32_t, uint64_t, void *, void *, void *);
extern void __kmpc_end_reduce(void *, int32_t, void *);
struct Context { int64_t n, kind, chunk; int32_t *hits; int32_t *owner; };
static void hit(struct Context *c, int64_t i, int32_t thread) {
  __atomic_fetch_add(&c->hits[i], 1, __ATOMIC_RELAXED);
  if (c->owner) c->owner[i] = thread;
}
"""

LOOPS = OPENMP + """
static void body(int32_t *gtid, int32_t *btid, struct Context *c) {
  int32_t last = 0;
  if (c->kind == 35) {
    uint64_t lo, hi; int64_t st;
    __kmpc_dispatch_init_8u(0, *gtid, 35 | 1 << 30, 1, c->n, 1, c->chunk);
    while (__kmpc_dispatch_next_8u(0, *gtid, &last, &lo, &hi, &st))
      for (uint64_t i = lo; i <= hi; i++) hit(c, i - 1, *gtid);
  } else if (c->kind == 4) {
    int32_t lo = 0, hi = c->n - 1, st = 1;
    __kmpc_for_static_init_4(0, *gtid, 34, &last, &lo, &hi, &st, 1, 0);
    for (int32_t i = lo; i <= hi; i++) hit(c, i, *gtid);
  } else {
    uint64_t lo = 0, hi = (uint64_t)c->n - 1; int64_t st = 1;
    __kmpc_for_static_init_8u(0, *gtid, c->kind, &last, &lo, &hi, &st, 1, c->chunk);
    if (c->kind == 34) {
      uint64_t count = hi - lo + 1;
      for (uint64_t k = 0; k < count; k++) hit(c, lo + k, *gtid);
    } else {
      uint64_t size = hi - lo + 1;
      for (; size && lo < (uint64_t)c->n; lo += st)
        for (uint64_t i = lo; i < lo + size && i < (uint64_t)c->n; i++) hit(c, i, *gtid);
    }
  }
  __kmpc_for_static_fini(0, *gtid);
  __kmpc_barrier(0, *gtid);
}
void kc_entry_main(void **args) {
  int64_t *x = ((D1 *)args[0])->data;
  struct Context c = {x[0], x[1], x[2]};
  c.hits = _mlir_memref_to_llvm_alloc(4 * c.n); c.owner = _mlir_memref_to_llvm_alloc(4 * c.n);
  for (int64_t i = 0; i < c.n; i++) c.hits[i] = 0;
  if (x[3]) __kmpc_push_num_threads(0, 0, x[3]);
  __kmpc_fork_call(0, 1, body, &c);
  give1(args[1], c.hits, c.n); give1(args[2], c.owner, c.n);
}
"""


def check_loops() -> None:
    p = program(compile_c(LOOPS), [argument("x", "i64")], [result("i32"), result("i32")])
    threads = num_threads()
    for n in (0, 1, 2, 3, 4, 5, 7, 64, 1001):
        for kind, chunk in ((34, 0), (4, 0), (33, 1), (33, 3), (35, 1), (35, 10)):
            for wanted in (0, 1, 3, 100):
                hits, owner = p(np.array([n, kind, chunk, wanted]))
                assert (hits == 1).all(), (n, kind, chunk, wanted, hits)
                team = min(wanted or threads, threads)
                assert ((owner >= 0) & (owner < team)).all()
                if kind in (34, 4) and n >= team:
                    assert len(np.unique(owner)) == team, "a static loop uses every thread"


MANY_LOOPS = OPENMP + """
static void body(int32_t *gtid, int32_t *btid, struct Context *c) {
  for (int64_t loop = 0; loop < 100; loop++) {
    uint64_t lo, hi; int64_t st; int32_t last;
    __kmpc_dispatch_init_8u(0, *gtid, 35, 1, c->n, 1, 1);
    while (__kmpc_dispatch_next_8u(0, *gtid, &last, &lo, &hi, &st))
      for (uint64_t i = lo; i <= hi; i++) hit(c, loop * c->n + i - 1, *gtid);
    if (c->kind) __kmpc_barrier(0, *gtid);
  }
}
void kc_entry_main(void **args) {
  int64_t *x = ((D1 *)args[0])->data;
  struct Context c = {x[0], x[1], 0};
  c.hits = _mlir_memref_to_llvm_alloc(400 * c.n);
  for (int64_t i = 0; i < 100 * c.n; i++) c.hits[i] = 0;
  __kmpc_fork_call(0, 1, body, &c);
  give1(args[1], c.hits, 100 * c.n);
}
"""


def check_many_dynamic_loops() -> None:
    """More loops in one region than may be in flight, with and without barriers between them."""
    p = program(compile_c(MANY_LOOPS), [argument("x", "i64")], [result("i32")])
    for n in (1, 3, 20):
        for barrier in (0, 1):
            for _ in range(10):
                assert (p(np.array([n, barrier]))[0] == 1).all()


BARRIERS = OPENMP + """
static void body(int32_t *gtid, int32_t *btid, int32_t *cells, int32_t *wrong, int64_t team) {
  int32_t me = __kmpc_global_thread_num(0);
  if (me != *gtid) __atomic_fetch_add(wrong, 1, __ATOMIC_RELAXED);
  for (int32_t step = 1; step <= 200; step++) {
    cells[16 * me] = step;
    __kmpc_barrier(0, *gtid);
    for (int64_t t = 0; t < team; t++) if (cells[16 * t] != step) __atomic_fetch_add(wrong, 1, __ATOMIC_RELAXED);
    __kmpc_barrier(0, *gtid);
  }
}
void kc_entry_main(void **args) {
  int64_t *x = ((D1 *)args[0])->data;
  int32_t cells[16 * 300] = {0}, *wrong = _mlir_memref_to_llvm_alloc(4);
  *wrong = 0;
  __kmpc_fork_call(0, 3, body, cells, wrong, x[0]);
  give1(args[1], wrong, 1);
}
"""


def check_barriers() -> None:
    p = program(compile_c(BARRIERS), [argument("x", "i64")], [result("i32")])
    for _ in range(5):
        assert p(np.array([num_threads()]))[0].tolist() == [0]


REDUCTION = OPENMP + """
static void inner(int32_t *gtid, int32_t *btid, int64_t *count) {
  if (__kmpc_global_thread_num(0) == 0) __atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
  else __atomic_fetch_add(count, 1000000, __ATOMIC_RELAXED);
}
static void body(int32_t *gtid, int32_t *btid, int64_t *out) {
  int64_t mine = 0, nested = 0; int32_t last = 0;
  uint64_t lo = 0, hi = 9999; int64_t st = 1;
  __kmpc_for_static_init_8u(0, *gtid, 34, &last, &lo, &hi, &st, 1, 0);
  for (uint64_t k = 0, count = hi - lo + 1; k < count; k++) mine += lo + k;
  __kmpc_fork_call(0, 1, inner, &nested);
  if (__kmpc_global_thread_num(0) != *gtid) nested += 1000000;
  if (__kmpc_reduce(0, *gtid, 0, 0, 0, 0, 0) == 1) { out[0] += mine; out[1] += nested; __kmpc_end_reduce(0, *gtid, 0); }
  if (out[0] != 49995000) out[2] = 1;
}
void kc_entry_main(void **args) {
  int64_t *out = _mlir_memref_to_llvm_alloc(24); out[0] = out[1] = out[2] = 0;
  __kmpc_fork_call(0, 1, body, out);
  give1(args[0], out, 3);
}
"""


def check_reduction_and_nesting() -> None:
    """Nested regions run serially, one thread each, and leave the thread number alone."""
    p = program(compile_c(REDUCTION), [], [result("i64")])
    for _ in range(200):
        assert p()[0].tolist() == [49995000, num_threads(), 0]


def check_several_callers() -> None:
    """Python threads that call at once: one has the pool, the others run serially; all are right."""
    p = program(compile_c(LOOPS), [argument("x", "i64")], [result("i32"), result("i32")])
    problems = []

    def call() -> None:
        for n in range(300):
            hits, _ = p(np.array([n, 35 if n % 2 else 34, 2, 0]))
            if not (hits == 1).all():
                problems.append(n)

    callers = [threading.Thread(target=call) for _ in range(4)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert problems == []


RAISING = OPENMP + """
static void body(int32_t *gtid, int32_t *btid, int64_t *who) {
  if (*gtid == *who) kc_raise("index 7 is out of range");
}
void kc_entry_main(void **args) {
  __kmpc_fork_call(0, 1, body, ((D1 *)args[0])->data);
  give1(args[1], _mlir_memref_to_llvm_alloc(4), 1);
}
"""


def check_errors_in_regions() -> None:
    p = program(compile_c(RAISING), [argument("x", "i64")], [result("i32")])
    for who in range(num_threads()):
        for _ in range(20):
            try:
                p(np.array([who]))
            except ExecutionError as error:
                assert str(error) == "index 7 is out of range"
            else:
                raise AssertionError(f"the error of thread {who} was lost")
    p(np.array([-1]))


def check_fork() -> None:
    """A forked child has none of the pool's threads and makes its own."""
    p = program(compile_c(LOOPS), [argument("x", "i64")], [result("i32"), result("i32")])
    p(np.array([100, 34, 0, 0]))
    child = os.fork()
    if child == 0:
        hits, owner = p(np.array([100, 34, 0, 0]))
        os._exit(0 if (hits == 1).all() and len(np.unique(owner)) == num_threads() else 1)
    deadline = time.time() + 20
    while time.time() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            assert status == 0, status
            return
        time.sleep(0.01)
    os.kill(child, 9)
    raise AssertionError("the forked child hangs")


if __name__ == "__main__":
    assert num_threads() == int(os.environ["KC_NUM_THREADS"])
    for name, check in list(globals().items()):
        if name.startswith("check_"):
            check()
            print(name, "passed", flush=True)
