"""Gate ``signature``: ``@main`` is what it was, and nothing else is seen, owned or remembered."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from kc.agents.gates import convention
from kc.agents.gates.case import Case, callee, functions, has_body, is_public, main_of, place, symbol, walk
from kc.agents.gates.effects import has_foreign_effects
from kc.agents.gates.reasons import Rejection

if TYPE_CHECKING:
    from kc.bindings import ir

#: beginnings of names that belong to others; in their own case: a helper may be called @cumsum, @cut_tail, @_row
_PREFIXES = re.compile(
    r"^(kc_|_kc|_[A-Z_]|_(mlir|exit|start|init|fini)|mlir|llvm[._]|omp_|kmp|cuda|cu[A-Z]|nv(vm|rtc|gpu|tx|ml)|mgpu|gpu_"
    r"|main(__?impl)?$)"
)
#: functions that compiled code calls, or may be made to call, by name
_LIBRARY = frozenset(
    [
        "malloc",
        "calloc",
        "realloc",
        "free",
        "aligned_alloc",
        "posix_memalign",
        "memalign",
        "valloc",
        "memcpy",
        "memmove",
        "memset",
        "memcmp",
        "memchr",
        "strlen",
        "strcpy",
        "strcmp",
        "memrefCopy",
        "printf",
        "puts",
        "putchar",
        "abort",
        "exit",
        "mmap",
        "munmap",
        "mprotect",
        "fork",
        "system",
        "bzero",
        "sin",
        "cos",
        "tan",
        "asin",
        "acos",
        "atan",
        "atan2",
        "sinh",
        "cosh",
        "tanh",
        "asinh",
        "acosh",
        "atanh",
        "exp",
        "exp2",
        "exp10",
        "expm1",
        "log",
        "log2",
        "log10",
        "log1p",
        "pow",
        "powi",
        "sqrt",
        "rsqrt",
        "cbrt",
        "hypot",
        "fma",
        "fmod",
        "fabs",
        "floor",
        "ceil",
        "trunc",
        "round",
        "roundeven",
        "rint",
        "nearbyint",
        "lround",
        "llround",
        "lrint",
        "llrint",
        "fmin",
        "fmax",
        "fdim",
        "copysign",
        "nextafter",
        "ldexp",
        "frexp",
        "modf",
        "scalbn",
        "scalbln",
        "ilogb",
        "logb",
        "erf",
        "erfc",
        "lgamma",
        "tgamma",
        "sincos",
        "printI64",
        "printU64",
        "printF32",
        "printF64",
        "printF16",
        "printBF16",
        "printNewline",
        "printComma",
        "printOpen",
        "printClose",
        "printString",
        "_start",
    ]
)
#: attributes of functions that say nothing about what they do
_HARMLESS = frozenset(
    {
        "sym_name",
        "function_type",
        "sym_visibility",
        "arg_attrs",
        "res_attrs",
        "no_inline",
        "dso_local",
        *convention.DEFAULTS,  # they have a check of their own
    }
)

#: attributes of functions on the device that say what kind of function it is, or what launches must keep to (which the
#: emulated machine checks), or how many registers there are
_DEVICE = frozenset(
    {
        *("kernel", "gpu.kernel", "nvvm.kernel", "rocdl.kernel", "workgroup_attributions"),
        *("nvvm.cluster_dim", "nvvm.maxntid", "nvvm.reqntid", "nvvm.minctasm", "nvvm.maxnreg"),
    }
)
#: attributes of a kernel's arguments that say how a tensor map is passed, and what the emulator holds launches to
_PASSED = frozenset({"llvm.align", "llvm.byval", "nvvm.grid_constant"})
_HELD = frozenset({"llvm.noalias", "llvm.readonly"})
#: what host code of level gpu may call, declared as kc's own schedules do
_RUNTIME = {
    "kc_gpu_tensor_map_encode":
        "(!llvm.ptr, i64, i64, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64) -> ()",
}


def check(case: Case) -> Rejection | None:
    """The first way in which the proposal is not a drop-in for the original."""
    original, proposal = main_of(case.original), main_of(case.proposal)
    assert original is not None
    if proposal is None:
        return Rejection("signature.main", "the proposal has no public function @main with a body")
    return (
        _types(original, proposal, case)
        or _argument_attributes(original, proposal)
        or _function_attributes(case, original)
        or convention.check(case)
        or _symbols(case)
        or _effects(case)
    )


def _types(original: ir.Operation, proposal: ir.Operation, case: Case) -> Rejection | None:
    if original.name != proposal.name and case.same_level:
        return Rejection("signature.types", f"@main is a '{proposal.name}', not a '{original.name}'")
    want, got = str(original.attributes["function_type"]), str(proposal.attributes["function_type"])
    if case.same_level and want != got:
        return Rejection("signature.types", f"@main has the type {got}, not {want}")
    if not case.same_level:
        from kc.agents.gates.lowered import form_of
        from kc.agents.gates.reading import read

        found = form_of(read(case.original), read(case.proposal))
        if found not in ("after", "last", "returned"):
            return Rejection("signature.types", found)
    return None


def _argument_attributes(original: ir.Operation, proposal: ir.Operation) -> Rejection | None:
    """Attributes that are not kc's must be the same (those of kc are claims: gate ``assumptions``)."""
    for name in ("arg_attrs", "res_attrs"):
        want, got = _foreign(original, name), _foreign(proposal, name)
        for number in range(max(len(want), len(got))):
            one = want[number] if number < len(want) else {}
            other = got[number] if number < len(got) else {}
            if one != other:
                what = "argument" if name == "arg_attrs" else "result"
                return Rejection("signature.arguments", f"{what} {number} of @main has attributes {other}, not {one}")
    return None


def _foreign(function: ir.Operation, name: str) -> list[dict[str, str]]:
    from kc.bindings import ir

    if name not in function.attributes:
        return []
    return [
        {entry.name: str(entry.attr) for entry in ir.DictAttr(a) if not entry.name.startswith("kc.")}
        for a in function.attributes[name]
    ]


def _function_attributes(case: Case, original: ir.Operation) -> Rejection | None:
    """No attribute of functions or of the module that the original does not have with that value."""
    known = {name: str(original.attributes[name]) for name in original.attributes}
    for name, function in functions(case.proposal).items():
        for attribute in function.attributes:
            value = str(function.attributes[attribute])
            if attribute in _HARMLESS or (attribute.startswith("kc.") and (name == "main" or case.ours)):
                continue
            if known.get(attribute) == value:
                continue
            if "::" in name and attribute in _DEVICE:
                continue
            return Rejection("signature.attributes", f"function @{name} has the attribute '{attribute} = {value}'")
        if name != "main":
            for number, entries in enumerate(_all_of(function, "res_attrs")):
                if entries:
                    message = f"result {number} of @{name} has attributes {entries}: claims that nobody checks"
                    return Rejection("signature.attributes", message)
            for number, entries in enumerate(_all_of(function, "arg_attrs")):
                passed = _PASSED.issuperset(entries) if "llvm.byval" in entries else _HELD.issuperset(entries)
                if entries and not ("::" in name and passed and _is_pointer(function, number)):
                    return Rejection(
                        "signature.attributes",
                        f"argument {number} of @{name} has attributes {entries}: claims that nobody checks",
                    )
    attributes = case.original.operation.attributes
    module = {name: str(attributes[name]) for name in attributes}
    for attribute in case.proposal.operation.attributes:
        value = str(case.proposal.operation.attributes[attribute])
        if module.get(attribute) != value and attribute not in ("gpu.container_module", "sym_name"):
            return Rejection("signature.attributes", f"the module has the attribute '{attribute} = {value}'")
    return None


def _is_pointer(function: ir.Operation, number: int) -> bool:
    return has_body(function) and str(function.regions[0].blocks[0].arguments[number].type).startswith("!llvm.ptr")


def _all_of(function: ir.Operation, name: str) -> list[dict[str, str]]:
    """The attributes of each argument (``arg_attrs``) or result (``res_attrs``)."""
    from kc.bindings import ir

    if name not in function.attributes:
        return []
    return [{entry.name: str(entry.attr) for entry in ir.DictAttr(a)} for a in function.attributes[name]]


def _symbols(case: Case) -> Rejection | None:
    """Only @main is public, every function has a body, no name is taken from others, nothing is remembered."""
    owned = {symbol(op.operation) for op in case.original.body.operations}
    externals = {name for name, function in functions(case.original).items() if not has_body(function)}
    for op in case.proposal.body.operations:
        operation = op.operation
        name = symbol(operation)
        if name is None:
            return Rejection(
                "signature.symbols", f"{place(operation)} stands at the top of the module without a symbol"
            )
        if operation.name in ("func.func", "llvm.func"):
            if not has_body(operation):
                if name in externals or _is_runtime(case, operation):
                    continue
                return Rejection("signature.external", f"function @{name} has no body")
            if name != "main" and is_public(operation):
                return Rejection("signature.symbols", f"function @{name} is public; only @main may be")
        elif operation.name in ("memref.global", "llvm.mlir.global"):
            found = _global(operation, name)
            if found:
                return found
        elif operation.name not in ("gpu.module", *_tops(case)):
            return Rejection("signature.symbols", f"{place(operation)} stands at the top of the module")
        if name != "main" and name not in owned and is_reserved(name) and not _is_runtime(case, operation):
            return Rejection(
                "signature.reserved", f"the name @{name} belongs to the compiler, its runtime or the C library"
            )
    for op in walk(case.proposal.operation):  # those inside of device modules
        if op.name in ("memref.global", "llvm.mlir.global") and op.parent.operation.name == "gpu.module":
            found = _global(op, symbol(op) or "")
            if found and "workgroup" not in str(op) and "addr_space = 3" not in str(op):
                return found
    return None


def _is_runtime(case: Case, function: ir.Operation) -> bool:
    """Whether a declaration is that of a runtime function which regions of its level may call."""
    wanted = _RUNTIME.get(symbol(function) or "") if case.level == "gpu" else None
    return wanted is not None and str(function.attributes["function_type"]) == wanted and not has_body(function)


def _tops(case: Case) -> set[str]:
    return {op.operation.name for op in case.original.body.operations}


def is_reserved(name: str) -> bool:
    """Whether a function of that name could take the place of one that compiled code calls."""
    bare = name[:-1] if name.endswith(("f", "l")) else name
    return bool(_PREFIXES.match(name)) or name in _LIBRARY or bare in _LIBRARY


def _global(op: ir.Operation, name: str) -> Rejection | None:
    from kc.bindings import ir

    value: Any = None
    for attribute in ("initial_value", "value"):
        if attribute in op.attributes:
            value = op.attributes[attribute]
    if "constant" not in op.attributes or value is None or isinstance(value, ir.UnitAttr):
        return Rejection(
            "signature.state", f"global @{name} is not a constant: it would last from one call to the next"
        )
    return None


def _effects(case: Case) -> Rejection | None:
    """No effects but on buffers; calls lead to functions with a body only."""
    known = functions(case.proposal)
    outside = {str(op) for op in _foreign_calls(case.original)}
    for op in walk(case.proposal.operation):
        if op.name in ("func.call", "llvm.call", "gpu.launch_func", "stablehlo.composite"):
            target = callee(op) if op.name != "stablehlo.composite" else str(op.attributes["decomposition"])[1:]
            if target is None:
                return Rejection("signature.effects", f"{place(op)} calls through a pointer", op=op.name)
            names = [target] if target in known else [n for n in known if n.endswith(f"::{target}")]
            declared = names and (names[0] in functions(case.original) or _is_runtime(case, known[names[0]]))
            if not names or not (has_body(known[names[0]]) or declared):
                return Rejection(
                    "signature.external", f"{place(op)} calls @{target}, which has no body here", op=op.name
                )
        elif op.name == "stablehlo.custom_call":
            if str(op.attributes["call_target_name"]) not in outside:
                return Rejection(
                    "signature.effects",
                    f"{place(op)} calls {op.attributes['call_target_name']}, which nobody here knows",
                    op=op.name,
                )
        elif op.name not in case.original_ops and has_foreign_effects(op.name):
            return Rejection("signature.effects", f"{place(op)} has effects beyond its results and buffers", op=op.name)
    return None


def _foreign_calls(module: ir.Module) -> list[Any]:
    return [op.attributes["call_target_name"] for op in walk(module.operation) if op.name == "stablehlo.custom_call"]
