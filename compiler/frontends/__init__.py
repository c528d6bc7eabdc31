"""Front ends: what a user has in hand, as a module at a level of the ladder."""
from __future__ import annotations

import dataclasses
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kc.bindings import ir


@dataclasses.dataclass
class Loaded:
    """A module and the level it stands at. Its bound parameters are in ``kc.params.ParamTable.of(module.context)``."""

    module: ir.Module
    level: str


def load(source: Any, entry: str = "main", context: ir.Context | None = None) -> Loaded:
    """A source of any kind that kc takes: StableHLO or lower MLIR as text, bytes (bytecode or portable artifact), a
    path or an ``ir.Module``; a ``torch.export.ExportedProgram``. ``context`` is where text and bytes are parsed, a new
    one by default.

    Raises InputError when it is none of these, does not parse, or has no function ``entry``.
    """
    kind = type(source)
    if kind.__module__.startswith("torch.export") and kind.__name__ == "ExportedProgram":
        from kc.frontends import torch as torch_frontend

        return torch_frontend.load(source, entry).loaded()
    from kc.errors import InputError
    from kc.frontends import stablehlo

    if not isinstance(source, (str, bytes, os.PathLike)) and not hasattr(source, "operation"):
        if callable(source):
            raise InputError("kc.compile takes a program: use kc.jit for a JAX function, kc.torch.compile for a module")
        raise InputError(f"kc.compile cannot read a {kind.__module__}.{kind.__name__} (see kc.frontends.load)")
    module = stablehlo.load(source, entry, context)
    return Loaded(module, level_of(module))


def level_of(module: ir.Module) -> str:
    """The level that ``module`` stands at: the highest one whose dialects occur in it."""
    from kc.rewrite import walk_ops

    dialects = {op.name.partition(".")[0] for op in walk_ops(module.operation)}
    stablehlo = {"stablehlo", "chlo", "vhlo", "interpreter"}
    for level, owners in (("torch", {"torch", "torch_c"}), ("stablehlo", stablehlo)):
        if dialects & owners:
            return level
    # a function may only pass on what is of StableHLO: tuples, tokens
    signatures = [str(f.operation.attributes["function_type"]) for f in module.body.operations if _is_function(f)]
    return "stablehlo" if any("tuple<" in s or "!stablehlo." in s for s in signatures) else "linalg"


def _is_function(op: ir.Operation | ir.OpView) -> bool:
    return op.operation.name == "func.func"
