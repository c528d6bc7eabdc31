"""Shardy's annotations on StableHLO: attributes that say how a partitioner may share a program out, and no more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kc.errors import InputError

if TYPE_CHECKING:
    from kc.bindings import ir

_PREFIX = "sdy."


def parse_without_annotations(text: str, context: ir.Context, name: str) -> ir.Module | None:
    """The module of ``text`` less its ``sdy.`` attributes; None when it has ops of that dialect (or does not parse).

    JAX leaves such attributes on custom calls (``sdy.sharding_rule``) of programs that no mesh is set for.
    """
    from kc.context import parse_module
    from kc.rewrite import walk_ops

    before = context.allow_unregistered_dialects
    context.allow_unregistered_dialects = True
    try:
        module = parse_module(text, context, name)
    except InputError:
        return None
    finally:
        context.allow_unregistered_dialects = before
    ops = [module.operation, *walk_ops(module.operation)]
    if any(op.name.startswith(_PREFIX) for op in ops):
        return None
    for op in ops:
        _drop(op)
    return module


def _drop(op: ir.Operation) -> None:
    from kc.bindings import ir

    for key in [key for key in op.attributes if key.startswith(_PREFIX)]:
        del op.attributes[key]
    if op.name != "func.func":
        return
    for key in ("arg_attrs", "res_attrs"):
        if key not in op.attributes:
            continue
        plain = []
        for entry in ir.ArrayAttr(op.attributes[key]):
            kept = {item.name: item.attr for item in ir.DictAttr(entry) if not item.name.startswith(_PREFIX)}
            plain.append(ir.DictAttr.get(kept, context=op.context))
        op.attributes[key] = ir.ArrayAttr.get(plain, context=op.context)
