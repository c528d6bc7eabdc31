"""The StableHLO front end: text, MLIR bytecode, portable artifacts (VHLO), files and modules in memory."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from kc.errors import CompileError, InputError, UnsupportedError

if TYPE_CHECKING:
    from kc.bindings import ir

_MAGIC = b"ML\xefR"
_PRODUCER = b"StableHLO_v"
#: characters of a path that a message shows
_SHOWN = 300
#: dialects that kc lowers from, at any level of the ladder
_KNOWN = frozenset(
    {
        "affine",
        "arith",
        "bufferization",
        "builtin",
        "cf",
        "chlo",
        "complex",
        "func",
        "gpu",
        "index",
        "interpreter",
        "linalg",
        "llvm",
        "math",
        "memref",
        "ml_program",
        "nvvm",
        "omp",
        "quant",
        "rocdl",
        "scf",
        "shape",
        "stablehlo",
        "tensor",
        "torch",
        "torch_c",
        "ub",
        "vector",
        "vhlo",
        "kc_tensor",
    }
)


def load(
    source: str | bytes | os.PathLike[str] | Any, entry: str = "main", context: ir.Context | None = None
) -> ir.Module:
    """A module from StableHLO (or MLIR of a lower level).

    ``source``: a path; MLIR text; MLIR bytecode or a portable artifact as bytes (in a file, too); or a module of kc's
    or another MLIR binding (JAX's). What is no module of kc's is parsed in ``context``, or in a new one. Locations in
    the source are kept, a file's name is in them. Raises InputError when the source is none of these, is cut short,
    does not verify, uses a dialect kc does not know, or has no function ``entry``; UnsupportedError when functions call
    each other in a circle.
    """
    from kc.bindings import ir

    if isinstance(source, ir.Module):
        module = source
    else:
        module = _parse(*_read(source), context)
    _upgrade(module)
    _check_dialects(module)
    _check_resources(module)
    _check_entry(module, entry)
    _check_calls(module)
    if "jax.uses_shape_polymorphism" in module.operation.attributes:
        from kc.frontends._jax_sizes import name_sizes

        name_sizes(module, entry)
    return module


def save_portable_artifact(module: ir.Module, version: str | None = None) -> bytes:
    """``module`` (StableHLO) as a portable artifact for StableHLO ``version`` (such as "1.0.0") and later; default:
    ours.

    Raises InputError when an op cannot be told in that version.
    """
    from kc.bindings import stablehlo_api

    chosen = version or stablehlo_api.get_current_version()
    try:
        return bytes(
            stablehlo_api.serialize_portable_artifact_str(str(module.operation.get_asm(enable_debug_info=True)), chosen)
        )
    except Exception as error:
        raise InputError(f"the module cannot be written as a StableHLO {chosen} portable artifact: {error}") from None


def _read(source: Any) -> tuple[str | bytes, str]:
    """The text or bytes of ``source`` and its name for diagnostics."""
    if isinstance(source, bytes):
        return source, "<bytes>"
    if isinstance(source, os.PathLike) or (isinstance(source, str) and _looks_like_path(source)):
        path = os.fspath(source)
        try:
            with open(path, "rb") as file:
                data = file.read()
        except OSError as error:
            shown = path if len(path) <= _SHOWN else f"{path[:_SHOWN]} …"
            raise InputError(f"cannot read '{shown}': {error.strerror or error}") from None
        except ValueError:  # of a NUL in it
            raise InputError(f"cannot read {path[:_SHOWN]!r}: that is no path") from None
        if data.startswith(_MAGIC):
            return data, path
        try:
            return data.decode(), path
        except UnicodeDecodeError:
            raise InputError(
                f"'{path}' is neither MLIR text nor MLIR bytecode (which starts with 'ML\\xefR')"
            ) from None
    if isinstance(source, str):
        return source, "-"
    return _foreign_bytecode(source)


def _looks_like_path(text: str) -> bool:
    """A one-line string without MLIR's punctuation is meant as a path, also when no such file is there."""
    return "\n" not in text and not any(c in text for c in "{}()%@=") and bool(text.strip())


def _foreign_bytecode(source: Any) -> tuple[str, str]:
    """The text of a module that belongs to another MLIR binding."""
    operation = getattr(source, "operation", None)
    if operation is None or not hasattr(operation, "get_asm"):
        kind = f"{type(source).__module__}.{type(source).__name__}"
        raise InputError(f"kc cannot read a {kind} as StableHLO: give text, bytes, a path or an MLIR module")
    return operation.get_asm(enable_debug_info=True), "-"


def _parse(data: str | bytes, name: str, context: ir.Context | None) -> ir.Module:
    from kc.context import make_context, parse_module

    context = context or make_context()
    if isinstance(data, str):
        if not data.strip():
            raise InputError(f"{name} is empty: there is no MLIR module in it")
        try:
            return parse_module(data, context, name)
        except InputError as error:
            if "sdy." not in data:
                raise
            from kc.frontends._shardy import parse_without_annotations

            plain = parse_without_annotations(data, context, name)
            if plain is not None:
                return plain
            raise InputError(
                f"{name} is in part written in Shardy's dialect (sdy), which is not StableHLO's: lower the function of "
                'JAX with jax.config.update("jax_use_shardy_partitioner", False)',
                error.diagnostics,
            ) from None
    if not data.startswith(_MAGIC):
        try:
            return parse_module(data.decode(), context, name)
        except UnicodeDecodeError:
            raise InputError(f"{name} is neither MLIR text nor MLIR bytecode (which starts with 'ML\\xefR')") from None
    portable = _PRODUCER in data[:128]
    what = "portable artifact" if portable else "MLIR bytecode"
    try:
        if portable:
            return _deserialize(data, context)
        return parse_module(data, context, name)
    except InputError as error:
        raise InputError(
            f"{name} is not valid {what}: it is cut short, damaged, or of a newer version", error.diagnostics
        ) from None


def _deserialize(data: bytes, context: ir.Context) -> ir.Module:
    from kc.bindings import ir, stablehlo_api
    from kc.context import load_dialect
    from kc.diagnostics import DiagnosticSink, capture

    for dialect in ("vhlo", "stablehlo", "chlo", "func", "quant"):
        load_dialect(context, dialect)
    sink = DiagnosticSink()
    with capture(context, sink):
        try:
            return stablehlo_api.deserialize_portable_artifact(context, data)
        except (ir.MLIRError, ValueError, RuntimeError) as error:
            raise InputError(str(error), sink.diagnostics) from None


def _upgrade(module: ir.Module) -> None:
    """VHLO (a portable artifact read as plain MLIR) to StableHLO."""
    from kc.pass_manager import run_pipeline
    from kc.rewrite import walk_ops

    if not any(op.name.startswith("vhlo.") for op in walk_ops(module.operation)):
        return
    try:
        run_pipeline(module, "builtin.module(vhlo-to-version{target=current},vhlo-legalize-to-stablehlo)")
    except CompileError as error:
        raise InputError(
            "the portable artifact cannot be brought to this version of StableHLO", error.diagnostics
        ) from None


def _check_resources(module: ir.Module) -> None:
    """Raises InputError for a constant whose contents were left out when the module was printed."""
    from kc.diagnostics import Diagnostic, location_of
    from kc.params import is_resource, lacks_contents
    from kc.rewrite import walk_ops

    for op in walk_ops(module.operation, ("stablehlo.constant", "arith.constant")):
        if is_resource(op) and lacks_contents(op):
            message = f"'{op.name}' has no contents: its dense_resource is not in the module's resources"
            hint = Diagnostic("note", location_of(op), "print the module without eliding large constants")
            raise InputError(message, [Diagnostic("error", location_of(op), message, (hint,))])


def _check_dialects(module: ir.Module) -> None:
    from kc.diagnostics import Diagnostic, location_of
    from kc.rewrite import walk_ops

    for op in walk_ops(module.operation):
        dialect = op.name.partition(".")[0]
        if dialect not in _KNOWN:
            found = Diagnostic("error", location_of(op), f"'{op.name}': kc does not lower the dialect '{dialect}'")
            raise InputError(
                "the module is not StableHLO: kc takes StableHLO, CHLO, and linalg and the dialects below it", (found,)
            )


def _check_entry(module: ir.Module, entry: str) -> None:
    functions = {}
    for view in module.body.operations:
        op = view.operation
        if op.name in ("func.func", "llvm.func") and op.regions[0].blocks:
            private = "sym_visibility" in op.attributes and str(op.attributes["sym_visibility"]) == '"private"'
            functions[str(op.attributes["sym_name"]).strip('"')] = not private
    if functions.get(entry):
        return
    public = ", ".join(f"'{name}'" for name, is_public in functions.items() if is_public)
    if entry in functions:
        raise InputError(f"function '{entry}' is private; the public functions of the module are {public or 'none'}")
    raise InputError(f"the module has no function '{entry}'; its public functions are {public or 'none'}")


def _check_calls(module: ir.Module) -> None:
    """Refuses functions that call themselves, directly or through others: nothing would end the calls."""
    from kc.diagnostics import Diagnostic, location_of
    from kc.rewrite import walk_ops

    functions = [view.operation for view in module.body.operations if view.operation.name == "func.func"]
    if not any(walk_ops(function, ["func.call"]) for function in functions):
        return
    calls = {
        str(function.attributes["sym_name"]).strip('"'): {
            str(call.attributes["callee"]).lstrip("@").strip('"'): call for call in walk_ops(function, ["func.call"])
        }
        for function in functions
    }
    callers = {name: sum(name in callees for callees in calls.values()) for name in calls}
    ready = [name for name, count in callers.items() if count == 0]
    while ready:
        for callee in calls.pop(ready.pop()):
            if callee in callers:
                callers[callee] -= 1
                if callers[callee] == 0:
                    ready.append(callee)
    while ends := [name for name, callees in calls.items() if calls.keys().isdisjoint(callees)]:
        for name in ends:  # called from a circle, but not on it
            del calls[name]
    for name, callees in calls.items():
        for callee, call in callees.items():
            if callee in calls:
                text = f"this call in '{name}' closes a circle: '{callee}' calls '{name}', itself or through others"
                hint = Diagnostic("note", None, "use stablehlo.while for what is repeated")
                found = Diagnostic("error", location_of(call), text, (hint,))
                raise UnsupportedError("kc does not compile recursive functions", (found,))
