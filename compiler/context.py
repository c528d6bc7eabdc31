"""Contexts and modules: every dialect registered, none loaded before it is met, threads off."""
from __future__ import annotations

import importlib
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from kc.bindings import ir, passmanager, stablehlo_api, torch_api
from kc.errors import CompileError, InputError

if TYPE_CHECKING:
    from kc.diagnostics import DiagnosticSink


# Dialects that this MLIR holds but cannot register by themselves: a pass that makes their ops loads them.
_LOADED_BY = {
    "chlo": "builtin.module(func.func(convert-torch-to-stablehlo))",
    "tm_tensor": "builtin.module(func.func(convert-torch-to-tmtensor))",
    "torch_c": "builtin.module(torch-func-backend-type-conversion)",
    "vhlo": "builtin.module(stablehlo-legalize-to-vhlo)",
}


def make_context(*, dialects: Iterable[str] = (), allow_unregistered: bool = False) -> ir.Context:
    """A context that knows upstream MLIR, StableHLO (with CHLO and VHLO) and torch.

    Dialects are loaded when a parser or a pass needs them. CHLO, VHLO and torch's conversion dialects, which the
    bindings cannot register, and kc's own, which are made in Python, are loaded by ``parse_module`` when the source
    mentions them, by the pass manager when a Python pass names them in ``Pass.dialects``, and here when named in
    ``dialects``.
    """
    context = ir.Context(load_on_create_dialects=[])
    stablehlo_api.register_dialect(context, False)
    torch_api.register_dialect(context, False)
    context.allow_unregistered_dialects = allow_unregistered
    for name in dialects:
        load_dialect(context, name)
    return context


def load_dialect(context: ir.Context, name: str) -> None:
    """Load a dialect, native or kc's own, into ``context``; nothing happens if it is loaded already.

    Raises InputError when no dialect has that name.
    """
    if context.is_dialect_loaded(name):
        return
    path = kc_dialects().get(name)
    if path is not None:
        module, _, attribute = path.partition(":")
        load_dialect(context, "irdl")  # in which a dialect made in Python is described to MLIR
        with context, ir.Location.unknown(context):
            getattr(importlib.import_module(module), attribute).load()
    elif name == "interpreter":
        stablehlo_api.register_interpreter_dialect(context)
    elif name in _LOADED_BY:
        with context, ir.Location.unknown(context):
            scratch = ir.Module.parse("func.func @f() { return }")
            passmanager.PassManager.parse(_LOADED_BY[name]).run(scratch.operation)
    else:
        try:
            context.get_dialect_descriptor(name)  # not context.dialects[name]: that imports a Python module
        except (IndexError, ValueError, RuntimeError):
            raise InputError(f"no dialect is named '{name}'") from None


def special_dialects() -> list[str]:
    """Dialects that a context does not list before they are loaded: kc's own and those that a pass must load."""
    return sorted({*kc_dialects(), *_LOADED_BY, "interpreter"})


def kc_dialects() -> dict[str, str]:
    """kc's own dialects: name -> ``module:Class``."""
    from kc.dialects import DIALECTS

    return DIALECTS


def load_mentioned_dialects(context: ir.Context, source: str | bytes) -> None:
    """Load those special dialects whose name occurs in ``source`` (text or bytecode)."""
    for name in special_dialects():
        if name.encode() in source if isinstance(source, bytes) else name in source:
            load_dialect(context, name)


def parse_module(
    source: str | bytes, context: ir.Context, source_name: str = "-", sink: DiagnosticSink | None = None
) -> ir.Module:
    """Parse MLIR text or bytecode and verify it.

    ``source_name`` is the file name that diagnostics show. Where it is the path of a file that holds just ``source``,
    the locations in the module carry it too (MLIR names text that it is handed ``-``). Diagnostics go to ``sink``
    when given. Raises InputError with the diagnostics when the source does not parse or does not verify.
    """
    from kc.diagnostics import DiagnosticSink, capture

    if sink is None:
        sink = DiagnosticSink({source_name: source} if isinstance(source, str) else {}, rename={"-": source_name})
    before = len(sink.diagnostics)
    load_mentioned_dialects(context, source)
    _remember(context, source_name, source)
    with capture(context, sink):
        try:
            if _is_file_with(source_name, source):
                return ir.Module.parseFile(source_name, context=context)
            return ir.Module.parse(source, context=context)
        except (ir.MLIRError, ValueError) as error:
            found = sink.diagnostics[before:]
            reason = "" if found else f": {error}"
            raise InputError(f"{source_name} is not a valid MLIR module{reason}", found, sources=sink.sources) from None


def sources_of(context: ir.Context) -> dict[str, str]:
    """The texts that were parsed in ``context``, by the file name that locations carry: ``sources`` of an error."""
    return {name: text for name, text in getattr(context, "__dict__", {}).get("kc_sources", {}).items() if text}


def forget_sources(context: ir.Context) -> None:
    """Forget the texts that were parsed in ``context``, before it is used for others."""
    for key in ("kc_sources", "kc_source_name"):
        getattr(context, "__dict__", {}).pop(key, None)


def _remember(context: ir.Context, name: str, source: str | bytes) -> None:
    """Keep the text with the context, so that what a pass says later is shown with its source line and file name.

    Two texts that both carry the name ``-`` in one context cannot be told apart: then neither is kept. Nor is text
    above 4 MiB.
    """
    if isinstance(source, bytes) or len(source) > 4 << 20 or not hasattr(context, "__dict__"):
        return
    known: dict[str, str] = context.__dict__.setdefault("kc_sources", {})
    for key in {name, "-"}:
        if known.setdefault(key, source) != source:
            known[key] = ""
    context.__dict__["kc_source_name"] = name if known["-"] else "-"


def _is_file_with(path: str, source: str | bytes) -> bool:
    """Whether ``path`` is a regular file that holds exactly ``source``."""
    try:
        if not os.path.isfile(path):
            return False
        with open(path, "rb") as file:
            return file.read() == (source.encode() if isinstance(source, str) else source)
    except (OSError, ValueError):
        return False


def verify(op: ir.Operation | ir.Module, what: str = "module") -> None:
    """Run MLIR's verifier; raises CompileError with its diagnostics."""
    from kc.diagnostics import DiagnosticSink, capture

    sink = DiagnosticSink()
    with capture(op.context, sink):
        try:
            valid = op.operation.verify()
        except ir.MLIRError:
            valid = False
    if not valid:
        raise CompileError(f"the {what} does not verify", sink.diagnostics)


def load_all_dialects(context: ir.Context) -> None:
    """Load every native dialect: Python code may then build any op (10 to 30 ms the first time)."""
    context.load_all_available_dialects()
    for name in _LOADED_BY:
        load_dialect(context, name)
