"""When two regions are the same for a rewrite: the same module but for its contract, names of values and locations."""
from __future__ import annotations

import functools
import hashlib


@functools.lru_cache(maxsize=1024)
def key(text: str) -> str:
    """A hash of a region's module without the contract on its ``@main``. Raises InputError when it does not parse."""
    from kc.bindings import ir
    from kc.context import make_context, parse_module

    module = parse_module(text, make_context(allow_unregistered=True), "region")
    for op in module.body.operations:
        _bare(op.operation)
    with module.context, ir.Location.unknown():
        shown = module.operation.get_asm(enable_debug_info=False)
    return hashlib.blake2b(shown.encode(), digest_size=16).hexdigest()


def _bare(function: object) -> None:
    """Take the contract's attributes off a function and its arguments."""
    from kc.agents.contract import ARGUMENT_ATTRIBUTES, FUNCTION_ATTRIBUTES
    from kc.bindings import ir

    assert isinstance(function, ir.Operation)
    for name in FUNCTION_ATTRIBUTES:
        if name in function.attributes:
            del function.attributes[name]
    if "arg_attrs" not in function.attributes:
        return
    given = [{e.name: e.attr for e in ir.DictAttr(a)} for a in ir.ArrayAttr(function.attributes["arg_attrs"])]
    kept = [{n: a for n, a in entries.items() if n not in ARGUMENT_ATTRIBUTES} for entries in given]
    with function.context:
        if any(kept):
            function.attributes["arg_attrs"] = ir.ArrayAttr.get([ir.DictAttr.get(k) for k in kept])
        else:
            del function.attributes["arg_attrs"]

