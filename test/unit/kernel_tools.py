"""Helpers of the kernel tests: an evaluation of linalg that shares nothing with ``kc.kernels``.

The module is bufferized and lowered by upstream passes only and run by LLVM's JIT.
"""
from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np

from kc.bindings import execution_engine, ir, linalg, passmanager
from kc.rewrite import walk_ops

_TO_LOOPS = (
    "canonicalize,cse,convert-elementwise-to-linalg,"
    "one-shot-bufferize{bufferize-function-boundaries=1 allow-return-allocs-from-loops=1"
    " function-boundary-type-conversion=identity-layout-map},canonicalize,convert-bufferization-to-memref"
)
_TO_LLVM = (
    "convert-linalg-to-loops,"
    "arith-emulate-unsupported-floats{source-types=bf16 target-type=f32},func.func(math-extend-to-supported-types),"
    "expand-strided-metadata,lower-affine,convert-scf-to-cf,arith-expand{include-bf16=1},convert-math-to-llvm,"
    "convert-math-to-libm,convert-arith-to-llvm,convert-index-to-llvm,finalize-memref-to-llvm,convert-cf-to-llvm,"
    "convert-func-to-llvm,convert-ub-to-llvm,canonicalize,cse,reconcile-unrealized-casts"
)

DTYPES: dict[str, Any] = {
    "f64": np.float64, "f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16,
    "i64": np.int64, "i32": np.int32, "i16": np.int16, "i8": np.int8, "i1": np.bool_, "index": np.int64,
}  # fmt: skip


def _descriptor(array: np.ndarray) -> ctypes.Structure:
    rank = array.ndim
    fields: list[tuple[str, Any]] = [
        ("allocated", ctypes.c_void_p), ("aligned", ctypes.c_void_p), ("offset", ctypes.c_int64)
    ]  # fmt: skip
    if rank:
        fields += [("sizes", ctypes.c_int64 * rank), ("strides", ctypes.c_int64 * rank)]
    structure = type("Descriptor", (ctypes.Structure,), {"_fields_": fields})
    values: list[Any] = [array.ctypes.data, array.ctypes.data, 0]
    if rank:
        strides = [stride // array.itemsize for stride in array.strides]
        values += [(ctypes.c_int64 * rank)(*array.shape), (ctypes.c_int64 * rank)(*strides)]
    return structure(*values)


def _result(rank: int) -> ctypes.Structure:
    return _descriptor(np.empty((1,) * rank, np.int8))


def run_linalg(module_text: str, function: str, arguments: Sequence[Any]) -> list[np.ndarray]:
    """Runs ``function`` of a module at the linalg level on NumPy arrays (and Python scalars) and returns its results.

    The arguments are copied first: nothing the program writes is seen by the caller.
    """
    module = ir.Module.parse(module_text)
    func = next(op for op in module.body.operations if ir.StringAttr(op.attributes["sym_name"]).value == function)
    func.operation.attributes["llvm.emit_c_interface"] = ir.UnitAttr.get()
    if "sym_visibility" in func.operation.attributes:
        del func.operation.attributes["sym_visibility"]
    types = ir.FunctionType(ir.TypeAttr(func.operation.attributes["function_type"]).value)
    result_types = [ir.RankedTensorType(item) for item in types.results]
    ranks = [item.rank for item in result_types]
    dtypes = [DTYPES[str(item.element_type)] for item in result_types]
    with ir.Location.unknown():
        passmanager.PassManager.parse(f"builtin.module({_TO_LOOPS})").run(module.operation)
        for copy in walk_ops(module.operation, ["memref.copy"]):  # a strided memref.copy needs a runtime library
            with ir.InsertionPoint(copy):
                linalg.copy(copy.operands[0], outs=[copy.operands[1]])
            copy.erase()
        passmanager.PassManager.parse(f"builtin.module({_TO_LLVM})").run(module.operation)
    engine = execution_engine.ExecutionEngine(module, opt_level=1)
    arrays = [np.array(a, order="C") if isinstance(a, np.ndarray) else a for a in arguments]
    inputs = [_descriptor(a) if isinstance(a, np.ndarray) else ctypes.c_int64(int(a)) for a in arrays]
    packed: list[Any] = []
    keep: list[Any] = []
    single = None
    if len(ranks) == 1:
        single = _result(ranks[0])
        packed.append(ctypes.pointer(ctypes.pointer(single)))
    elif ranks:
        fields = [(f"r{i}", type(_result(rank))) for i, rank in enumerate(ranks)]
        single = type("Results", (ctypes.Structure,), {"_fields_": fields})()
        packed.append(ctypes.pointer(ctypes.pointer(single)))
    for item in inputs:
        if isinstance(item, ctypes.Structure):
            keep.append(ctypes.pointer(item))
            packed.append(ctypes.pointer(keep[-1]))
        else:
            packed.append(ctypes.pointer(item))
    void = (ctypes.c_void_p * len(packed))(*(ctypes.cast(p, ctypes.c_void_p) for p in packed))
    entry = engine.raw_lookup(f"_mlir_ciface_{function}")
    if not entry:
        raise RuntimeError("the module has unresolved symbols")
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(entry)(ctypes.cast(void, ctypes.c_void_p))
    descriptors = [single] if len(ranks) == 1 else [getattr(single, f"r{i}") for i in range(len(ranks))]
    return [_read(d, rank, dtype) for d, rank, dtype in zip(descriptors, ranks, dtypes, strict=True)]


def _read(descriptor: Any, rank: int, dtype: Any) -> np.ndarray:
    itemsize = np.dtype(dtype).itemsize
    shape = tuple(descriptor.sizes) if rank else ()
    strides = tuple(stride * itemsize for stride in descriptor.strides) if rank else ()
    extent = 1 + sum((n - 1) * s // itemsize for n, s in zip(shape, strides, strict=True)) if all(shape) else 0
    if extent == 0:
        return np.empty(shape, dtype)
    start = descriptor.aligned + descriptor.offset * itemsize
    raw = np.frombuffer((ctypes.c_char * (extent * itemsize)).from_address(start), dtype)
    return np.array(np.lib.stride_tricks.as_strided(raw, shape, strides))


def random_array(rng: np.random.Generator, shape: Sequence[int], element: str) -> np.ndarray:
    """Values in about [-2, 2] for floats, small integers or bits otherwise."""
    if element == "i1":
        return rng.integers(0, 2, shape).astype(np.bool_)
    if element.startswith("i"):  # not negative: some are indices
        return rng.integers(0, 4, shape).astype(DTYPES[element])
    return rng.standard_normal(shape).astype(DTYPES[element])
