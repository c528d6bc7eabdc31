"""``kc translate``: one form of a program to another."""
from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kc.errors import InputError
from kc.tools.commands import _common

if TYPE_CHECKING:
    from kc import Executable

FORMS = ("mlir", "bytecode", "stablehlo-artifact", "llvm-ir", "assembly", "object", "shared-library", "ptx")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommand's arguments."""
    _common.add_source(parser)
    _common.add_target(parser)
    parser.add_argument("--to", choices=FORMS, required=True, help="the form to write")
    _common.add_output(parser)


def run(args: argparse.Namespace) -> None:
    """Translate and write."""
    _common.write(args.output, emit(_common.read_source(args.source), args.to, args.target, args.entry, {}))


def emit(source: Any, form: str, target: str, entry: str, options: Mapping[str, str]) -> bytes | str:
    """``source`` in another form; raises InputError when the target has no such form."""
    from kc import api, frontends

    if form in ("mlir", "bytecode", "stablehlo-artifact"):
        loaded = frontends.load(source, entry)
        if form == "mlir":
            return f"{loaded.module}"
        if form == "bytecode":
            return bytecode(loaded.module)
        from kc.frontends import stablehlo

        return stablehlo.save_portable_artifact(loaded.module)
    return form_of(api.compile(source, target, entry, options=options), form, target)


def form_of(executable: Executable, form: str, target: str) -> bytes | str:
    """What was compiled for ``target``, in a form; raises InputError when the target has no such form."""
    if form == "llvm-ir":
        return executable.stage("llvm-ir")
    forms = executable.forms()
    if form not in forms:
        raise InputError(f"target {target} has no {form}; it has {', '.join(sorted(forms))}")
    return forms[form]()


def bytecode(module: Any) -> bytes:
    """The module as MLIR bytecode."""
    import io

    buffer = io.BytesIO()
    module.operation.write_bytecode(buffer)
    return buffer.getvalue()
