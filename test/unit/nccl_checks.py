"""Collectives of GPU programs on the drivers of fake_cuda.c and fake_nccl.c, run by test_nccl.py in its own process.

The programs have no kernels of their own: what they do is done by the runtime.
"""
from __future__ import annotations

import ctypes
import os
import sys

import numpy as np
import pytest

import kc

LIBRARY = os.environ["KC_NCCL_LIBRARY"]
nccl = None if LIBRARY == "none" else ctypes.CDLL(LIBRARY)
SUM = """({^bb0(%a: tensor<f32>, %b: tensor<f32>):
  %s = stablehlo.add %a, %b : tensor<f32>
  stablehlo.return %s : tensor<f32>})"""
PAIR = "replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>"
SOURCE = f"""
func.func @main(%x: tensor<4xf32>) -> (tensor<8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {{
  %g = "stablehlo.all_gather"(%x) {{all_gather_dim = 0 : i64, {PAIR}}} : (tensor<4xf32>) -> tensor<8xf32>
  %r = "stablehlo.all_reduce"(%x) {SUM} {{{PAIR}}} : (tensor<4xf32>) -> tensor<4xf32>
  %b = "stablehlo.collective_broadcast"(%x) {{{PAIR}}} : (tensor<4xf32>) -> tensor<4xf32>
  %p = "stablehlo.collective_permute"(%x) {{source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}}
    : (tensor<4xf32>) -> tensor<4xf32>
  %t = "stablehlo.all_to_all"(%x) {{
    split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, {PAIR}}}
    : (tensor<4xf32>) -> tensor<4xf32>
  return %g, %r, %b, %p, %t : tensor<8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}}
func.func @nothing(%x: tensor<4xf32>) {{
  return
}}
"""
X = [np.arange(4, dtype=np.float32), np.arange(4, dtype=np.float32) + 10]


def check(exe: kc.Executable, **options: object) -> None:
    for k, (g, r, b, p, t) in enumerate(exe.run_parallel([(x,) for x in X], timeout=20, **options)):
        np.testing.assert_array_equal(g, np.concatenate([X[1], X[0]]))
        np.testing.assert_array_equal(r, X[0] + X[1])
        np.testing.assert_array_equal(b, X[1])
        np.testing.assert_array_equal(p, X[0] if k == 1 else 0 * X[0])
        np.testing.assert_array_equal(t, np.concatenate([X[1], X[0]]).reshape(2, 2, 2)[:, 1 - k].reshape(-1))


RUN = """
func.func @f(%x: tensor<2xf32>) -> (tensor<4xf32>, tensor<2xf32>) {
  %g = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}
    : (tensor<2xf32>) -> tensor<4xf32>
  %t = stablehlo.create_token : !stablehlo.token
  %i:2 = "stablehlo.infeed"(%t) : (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)
  return %g, %i#0 : tensor<4xf32>, tensor<2xf32>
}
func.func @feed() -> tensor<2xf32> {
  %c = stablehlo.constant dense<[7.0, 8.0]> : tensor<2xf32>
  return %c : tensor<2xf32>
}
func.func @main(%x: tensor<2xf32>, %y: tensor<2xf32>) -> (tensor<4xf32>, tensor<2xf32>, tensor<4xf32>, tensor<2xf32>) {
  %r:4 = "interpreter.run_parallel"(%x, %y) {programs = [[@f], [@f]], infeed = [@feed, @feed]}
    : (tensor<2xf32>, tensor<2xf32>) -> (tensor<4xf32>, tensor<2xf32>, tensor<4xf32>, tensor<2xf32>)
  return %r#0, %r#1, %r#2, %r#3 : tensor<4xf32>, tensor<2xf32>, tensor<4xf32>, tensor<2xf32>
}
"""


def main() -> None:
    run = kc.compile(RUN, "nvptx:sm_90a")  # the op of the reference interpreter: all its processes are on one GPU
    for got, want in zip(run(X[0][:2], X[1][:2]), [[0, 1, 10, 11], [7, 8]] * 2, strict=True):
        np.testing.assert_array_equal(got, want)
    exe = kc.compile(SOURCE, "nvptx:sm_90a")
    if nccl is None:  # no library: copies, on two GPUs and on one
        check(exe)
        check(exe, devices=[0, 0])
        return
    for _ in range(20):
        check(exe)
    assert nccl.fake_nccl_inits() == 1 + 1, "communicators are kept: one for (1, 0), one for all"
    assert nccl.fake_nccl_calls() == 20 * 2 * 5
    check(exe, devices=[1, 1])  # two processes on one GPU: NCCL cannot, the runtime copies
    assert nccl.fake_nccl_calls() == 20 * 2 * 5
    with pytest.raises(kc.runtime.ExecutionError, match=r"deadlock: .* stablehlo.all_gather at line 3, column 8"):
        exe.run_parallel([(x,) for x in X], entry=["main", "nothing"])
    nccl.fake_nccl_fail(1)
    with pytest.raises(kc.runtime.ExecutionError, match=r"column 8: NCCL: fake failure"):
        exe.run_parallel([(x,) for x in X])
    nccl.fake_nccl_fail(0)
    assert nccl.fake_nccl_aborts() == 2
    check(exe)  # a new communicator


main()
sys.stdout.write("passed\n")
