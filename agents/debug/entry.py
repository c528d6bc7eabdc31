"""Oracle of the llvm level: the entry point ``void kc_entry_main(void **)`` run by MLIR's own JIT.

It is another LLVM than the one that generates kc's code, and its optimiser does nothing here, so that a fault of code
generation shows as a difference to it.
"""
from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kc.agents.execution import library
from kc.agents.execution.calls import Call, Checks, Fault, Outcome
from kc.agents.execution.errors import ExecutionError
from kc.agents.execution.signature import Kind, Signature

if TYPE_CHECKING:
    from kc.bindings import ir

NAME = "kc_entry_main"


def run(module: ir.Module, signature: Signature, calls: Sequence[Call], checks: Checks) -> Iterator[Outcome]:
    """Call the entry point of ``module`` (at the llvm level); ``signature`` is that of ``@main`` before."""
    from kc.agents.execution.frame import result_area
    from kc.agents.execution.native import check_symbols
    from kc.bindings import execution_engine

    check_symbols(module)
    engine = execution_engine.ExecutionEngine(module, opt_level=0, shared_libs=[str(library.path())])
    try:
        entry = engine.raw_lookup(NAME)
    except RuntimeError as error:
        raise ExecutionError("compile", f"no machine code: {error}") from None
    if not entry:
        raise ExecutionError("compile", "no machine code: a symbol is missing")
    loaded = library.load()
    for call in calls:
        kept: list[Any] = []
        arguments = zip(signature.arguments, call.arguments, strict=True)
        pointers = [_argument(kind, np.ascontiguousarray(array), kept) for kind, array in arguments]
        areas = [result_area([kind])[0] for kind in signature.results]
        words = (ctypes.c_void_p * (len(pointers) + len(areas)))(*pointers, *map(ctypes.addressof, areas))
        cell = ctypes.c_void_p(ctypes.addressof(words))  # the engine's wrapper takes addresses of arguments
        packed = (ctypes.c_void_p * 1)(ctypes.addressof(cell))
        report = library.Report()
        loaded.kc_checked_begin(call.poison, 0, checks.allocation)
        loaded.kc_checked_call(entry, packed, checks.seconds, ctypes.byref(report))
        if report.code != library.ENDED:
            message = report.message.decode(errors="replace") or f"signal {report.signal}"
            yield Outcome(fault=Fault("signal", message))
            continue
        pairs = zip(signature.results, areas, strict=True)
        results = tuple(_read(kind, area) for kind, area in pairs)
        loaded.kc_checked_heap((ctypes.c_int64 * 4)())
        yield Outcome(results=results)


def _argument(kind: Kind, array: np.ndarray, kept: list[Any]) -> int:
    """Address of what an entry point takes for ``array``: a memref descriptor, or the scalar."""
    owned = np.array(array, kind.dtype, copy=True, order="C")
    kept.append(owned)
    if kind.form == "scalar":
        return int(owned.ctypes.data)
    strides = [s // owned.itemsize for s in owned.strides]
    words = (ctypes.c_int64 * (3 + 2 * owned.ndim))(owned.ctypes.data, owned.ctypes.data, 0, *owned.shape, *strides)
    kept.append(words)
    return ctypes.addressof(words)


def _read(kind: Kind, area: Any) -> np.ndarray:
    from kc.agents.execution.frame import read_result

    return read_result(kind, ctypes.addressof(area))
