"""The identity of a kernel: a hash of its canonical IR, the target and the options it is compiled with."""
from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from kc.bindings import ir

_NAMELESS = "kernel"
_PRESENTATION = ("kc.kernel", "kc.kind", "kc.impl", "sym_visibility")


def canonical_text(func_op: Any) -> str:
    """The kernel's IR without names: its symbol, value names and locations do not matter, its body does."""
    operation = func_op.operation
    parts = [
        f"{name}={operation.attributes[name]}"
        for name in sorted(operation.attributes)
        if name not in ("sym_name", *_PRESENTATION)
    ]
    clone = operation.clone()
    try:
        for name in (*_PRESENTATION, "arg_attrs", "res_attrs"):
            if name in clone.attributes and name not in ("sym_visibility",):
                del clone.attributes[name]
        clone.attributes["sym_name"] = ir.StringAttr.get(_NAMELESS, context=operation.context)
        text = clone.get_asm(print_generic_op_form=True, enable_debug_info=False, use_local_scope=True)
    finally:
        clone.erase()
    return "\n".join([*parts, text])


def identity(func_op: Any, target: str, options: Mapping[str, Any] | None = None) -> str:
    """64 hex digits that name the kernel: SHA-256 of its canonical IR, ``target`` text and ``options`` (JSON values).
    """
    payload = json.dumps([canonical_text(func_op), target, dict(options or {})], sort_keys=True)
    return hashlib.sha256(payload.encode()).hexdigest()
