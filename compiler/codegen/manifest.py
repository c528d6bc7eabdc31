"""The manifest of an artifact: what the runtime must know to load and call the code (see ``kc.artifact``)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from kc.bindings import ir
from kc.codegen import elf
from kc.codegen.llvm_ir import PREFIX, functions
from kc.errors import CompileError
from kc.params import ParamTable

if TYPE_CHECKING:
    from collections.abc import Mapping

VERSION = 1

# fmt: off
_LIBM = (
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "ceil", "copysign", "cos", "cosh", "erf",
    "erfc", "exp", "exp10", "exp2", "expm1", "fabs", "fdim", "floor", "fma", "fmax", "fmin", "fmod", "frexp", "hypot",
    "ldexp",
    "lgamma", "log", "log10", "log1p", "log2", "logb", "modf", "nearbyint", "nextafter", "pow", "remainder", "rint",
    "round", "roundeven", "scalbn", "sin", "sincos", "sinh", "sqrt", "tan", "tanh", "tgamma", "trunc",
)
#: what generated host code may call: the same names as in runtime/src/symbols.cpp (a test compares)
RUNTIME_SYMBOLS = frozenset({
    *_LIBM, *(f"{name}f" for name in _LIBM),
    "_mlir_memref_to_llvm_alloc", "_mlir_memref_to_llvm_aligned_alloc", "_mlir_memref_to_llvm_free", "memrefCopy",
    "memcpy", "memmove", "memset", "memcmp", "kc_raise", "kc_fail_check", "kc_custom_call", "kc_random_state",
    "kc_replica_id", "kc_partition_id", "kc_num_replicas", "kc_num_partitions", "kc_all_gather", "kc_all_reduce",
    "kc_all_to_all", "kc_broadcast", "kc_permute", "kc_send", "kc_recv", "kc_infeed", "kc_outfeed", "kc_run_parallel",
    "kc_print",
    "kc_gpu_launch", "kc_gpu_tensor_map_encode", "kc_gpu_memcpy_d2h", "kc_gpu_memcpy_h2d", "kc_gpu_memcpy_d2d",
    "kc_gpu_memset",
    "__kmpc_fork_call", "__kmpc_push_num_threads", "__kmpc_global_thread_num", "__kmpc_barrier",
    "__kmpc_for_static_init_4", "__kmpc_for_static_init_4u", "__kmpc_for_static_init_8", "__kmpc_for_static_init_8u",
    "__kmpc_for_static_fini", "__kmpc_dispatch_init_4u", "__kmpc_dispatch_init_8u", "__kmpc_dispatch_next_4u",
    "__kmpc_dispatch_next_8u", "__kmpc_dispatch_fini_4u", "__kmpc_dispatch_fini_8u", "__kmpc_dispatch_deinit",
    "__kmpc_critical", "__kmpc_end_critical", "__kmpc_reduce", "__kmpc_end_reduce", "__kmpc_reduce_nowait",
    "__kmpc_end_reduce_nowait",
    "__truncsfhf2", "__truncdfhf2", "__extendhfsf2", "__truncsfbf2", "__truncdfbf2",
    "__divti3", "__modti3", "__udivti3", "__umodti3",
})
# fmt: on


def describe(module: ir.Module, *, target: str, triple: str, cpu: str) -> dict[str, Any]:
    """A manifest with the entry points of ``module`` (at the llvm level) and no files yet."""
    entries: dict[str, Any] = {}
    calls: dict[int, Any] = {}
    for function in functions(module.operation):
        if "kc.custom_call" in function.attributes:
            call = json.loads(ir.StringAttr(function.attributes["kc.custom_call"]).value)
            calls[call["number"]] = call
        if "kc.signature" in function.attributes:
            name = ir.StringAttr(function.attributes["sym_name"]).value.removeprefix(PREFIX)
            entries[name] = json.loads(ir.StringAttr(function.attributes["kc.signature"]).value)
    grid = {
        key: ir.IntegerAttr(module.operation.attributes[f"mhlo.{key}"]).value
        for key in ("num_partitions", "num_replicas")  # as JAX says for how many processes the program is
        if f"mhlo.{key}" in module.operation.attributes
    }
    return {
        **grid,
        "version": VERSION,
        "target": target,
        "triple": triple,
        "cpu": cpu,
        "entries": entries,
        "objects": [],
        "kernels": [],
        "params": [],
        "stages": [],
        **({"custom_calls": [calls.get(number) for number in range(max(calls) + 1)]} if calls else {}),
    }


def add_params(manifest: dict[str, Any], files: dict[str, bytes], module: ir.Module) -> None:
    """Put the parameters that the entries use into ``files`` and renumber them 0 … n-1 in ``manifest``."""
    table = ParamTable.of(module.context)
    numbers: dict[int, int] = {}
    for entry in manifest["entries"].values():
        for argument in entry["args"]:
            if argument["kind"] != "param":
                continue
            number = argument["param"]
            if number not in table:
                raise CompileError(f"argument '{argument['name']}' is parameter {number}, which nobody has given")
            if number not in numbers:
                param = table[number]
                numbers[number] = len(numbers)
                file = f"params/{numbers[number]}.bin"
                files[file] = param.tobytes()
                manifest["params"].append({"file": file, "dtype": param.dtype, "shape": list(param.shape)})
            argument["param"] = numbers[number]


def check_externals(files: Mapping[str, bytes], module: ir.Module) -> None:
    """Raise ``CompileError`` when an ELF object needs a symbol that neither another object nor the runtime has."""
    tables = [elf.symbols(data) for data in files.values() if elf.is_elf64(data)]
    defined = {name for table in tables for name in table.defined}
    missing = sorted({name for table in tables for name in table.undefined} - defined - RUNTIME_SYMBOLS)
    if missing:
        raise CompileError(
            f"the generated code calls {', '.join(missing)}, which neither the program nor kc's runtime defines; "
            "an operation was lowered to a library call that kc does not have"
        )
