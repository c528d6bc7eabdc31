"""The thread runtime under LLVM's own lowering of the omp dialect (the C of runtime_thread_checks.py imitates it)."""
from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from runtime_tools import argument, program, result

from kc.runtime import Program

#: result[i] += i for each i in [first, last) by step; then result[n] = sum of all i, by a reduction
MODULE = """
omp.declare_reduction @sum : {type} init {{ ^bb0(%x: {type}): %0 = llvm.mlir.constant(0 : {type}) : {type}
  omp.yield(%0 : {type}) }} combiner {{ ^bb0(%a: {type}, %b: {type}): %0 = llvm.add %a, %b : {type}
  omp.yield(%0 : {type}) }}
llvm.func @_mlir_memref_to_llvm_alloc(i64) -> !llvm.ptr
llvm.func @kc_entry_main(%args: !llvm.ptr) {{
  %c1 = llvm.mlir.constant(1 : i64) : i64
  %zero = llvm.mlir.constant(0 : {type}) : {type}
  %x = llvm.load %args : !llvm.ptr -> !llvm.ptr
  %xd = llvm.getelementptr %x[1] : (!llvm.ptr) -> !llvm.ptr, i64
  %bounds = llvm.load %xd : !llvm.ptr -> !llvm.ptr
  %first = llvm.load %bounds : !llvm.ptr -> {type}
  %lastp = llvm.getelementptr %bounds[1] : (!llvm.ptr) -> !llvm.ptr, {type}
  %last = llvm.load %lastp : !llvm.ptr -> {type}
  %stepp = llvm.getelementptr %bounds[2] : (!llvm.ptr) -> !llvm.ptr, {type}
  %step = llvm.load %stepp : !llvm.ptr -> {type}
  %np = llvm.getelementptr %args[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %r = llvm.load %np : !llvm.ptr -> !llvm.ptr
  %bytes = llvm.mlir.constant(8008 : i64) : i64
  %p = llvm.call @_mlir_memref_to_llvm_alloc(%bytes) : (i64) -> !llvm.ptr
  "llvm.intr.memset"(%p, %byte, %bytes) <{{isVolatile = false}}> : (!llvm.ptr, i8, i64) -> ()
  %total = llvm.getelementptr %p[1000] : (!llvm.ptr) -> !llvm.ptr, {type}
  omp.parallel {{
    omp.wsloop {schedule} reduction(@sum %total -> %sum : !llvm.ptr) {{
      omp.loop_nest (%i) : {type} = (%first) to (%last) step (%step) {{
        %at = llvm.getelementptr %p[%i] : (!llvm.ptr, {type}) -> !llvm.ptr, {type}
        %old = llvm.load %at : !llvm.ptr -> {type}
        %new = llvm.add %old, %i : {type}
        llvm.store %new, %at : {type}, !llvm.ptr
        %s = llvm.load %sum : !llvm.ptr -> {type}
        %t = llvm.add %s, %i : {type}
        llvm.store %t, %sum : {type}, !llvm.ptr
        omp.yield
      }}
    }}
    omp.terminator
  }}
  llvm.store %p, %r : !llvm.ptr, !llvm.ptr
  %r1 = llvm.getelementptr %r[1] : (!llvm.ptr) -> !llvm.ptr, i64
  llvm.store %p, %r1 : !llvm.ptr, !llvm.ptr
  %r2 = llvm.getelementptr %r[2] : (!llvm.ptr) -> !llvm.ptr, i64
  %none = llvm.mlir.constant(0 : i64) : i64
  llvm.store %none, %r2 : i64, !llvm.ptr
  %r3 = llvm.getelementptr %r[3] : (!llvm.ptr) -> !llvm.ptr, i64
  %n = llvm.mlir.constant(1001 : i64) : i64
  llvm.store %n, %r3 : i64, !llvm.ptr
  %r4 = llvm.getelementptr %r[4] : (!llvm.ptr) -> !llvm.ptr, i64
  llvm.store %c1, %r4 : i64, !llvm.ptr
  llvm.return
}}
""".replace("  %zero = llvm.mlir.constant(0 : {type}) : {type}\n", "  %byte = llvm.mlir.constant(0 : i8) : i8\n")


def build(integer: str, schedule: str) -> Program:
    from kc.bindings import ir
    from kc.codegen import emit, llvm_ir
    from kc.context import make_context

    module = ir.Module.parse(MODULE.format(type=integer, schedule=schedule), make_context())
    data = emit.host_object(llvm_ir.translate(module.operation))
    return program(data, [argument("bounds", integer, (3,))], [result(integer, (1001,))])


@pytest.mark.parametrize("integer", ["i64", "i32"])
@pytest.mark.parametrize(
    "schedule", ["", "schedule(static)", "schedule(dynamic)", "schedule(guided)", "schedule(dynamic, nonmonotonic)"]
)
def test_loops_from_mlir(integer: str, schedule: str) -> None:
    p = build(integer, schedule)
    for first, last, step in ((0, 1000, 1), (0, 0, 1), (5, 6, 1), (3, 998, 7), (10, 5, 1), (0, 2, 1), (999, 1000, 50)):
        expected = np.zeros(1001, np.int64)
        touched = np.arange(first, last, step)
        expected[touched] = touched
        expected[1000] = touched.sum()
        got = p(np.array([first, last, step], np.int64 if integer == "i64" else np.int32))[0]
        np.testing.assert_array_equal(got, expected)
