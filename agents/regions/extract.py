"""A region as a module of its own: ``@main``, the private functions and globals that it needs, and its contract."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kc.agents.regions.find import Region
from kc.agents.regions.launches import LAUNCH, keep_kernels, kernel_name
from kc.agents.regions.symbols import called, lookup, rename
from kc.bindings import ir
from kc.rewrite import walk_ops

if TYPE_CHECKING:
    from kc.agents.contract import Contract

MAIN = "main"
#: of a kernel: what kind of one it is
KIND = "kc.kind"
#: of a module that holds device modules
_CONTAINER = "gpu.container_module"
#: attributes that say what the function is in its program, not what it computes
_OF_PROGRAM = frozenset({"kc.kernel", "kc.impl", "kc.brief", "kc.answer", "no_inline", "sym_visibility"})
#: those of them that say how LLVM compiles the function: at level llvm it is timed as it is in the program
_OF_CODE = frozenset({"kc.impl", "kc.brief"})
_OF_ARGUMENT = frozenset({"kc.param", "kc.donated", "kc.name", "jax.arg_info", "bufferization.writable"})
_OF_ENTRY = frozenset({"kc.signature", "jax.uses_shape_polymorphism"})


def extract(region: Region, contract: Contract) -> str:
    """The text of a module that holds the region as its one public function ``@main``, with ``contract`` written on it.

    Locations are left out, so that equal regions give equal text.
    """
    module = ir.Module.create(loc=ir.Location.unknown(region.operation.context))
    names = _names(region)
    launched = {kernel_name(launch) for launch in walk_ops(region.operation, LAUNCH)}
    with region.operation.context, ir.InsertionPoint(module.body):
        for position, (old, new) in enumerate(names.items()):
            source = region.operation if position == 0 else lookup(region.module, old)
            assert source is not None
            clone = source.clone().operation
            clone.attributes["sym_name"] = ir.StringAttr.get(new)
            if clone.name == "gpu.module":
                keep_kernels(clone, launched)
            if clone.name.endswith(".func"):
                _strip(clone, main=position == 0, kernel=position == 0 and region.level == "linalg")
        if _CONTAINER in region.module.attributes:
            module.operation.attributes[_CONTAINER] = ir.UnitAttr.get()
    moved = {old: new for old, new in names.items() if old != new}
    if moved:
        rename(module.operation, moved)
    contract.write(next(iter(module.body.operations)))
    return str(module.operation.get_asm(enable_debug_info=False))


def identity(level: str, text: str, target: str, options: Mapping[str, Any] | None = None) -> str:
    """64 hex digits that name a region: SHA-256 of its level, text (see ``extract``), target and options."""
    payload = json.dumps([level, text, target, dict(options or {})], sort_keys=True)
    return hashlib.sha256(payload.encode()).hexdigest()


def _names(region: Region) -> dict[str, str]:
    """The region's symbol and those it needs, in the order in which they are met -> their names in the new module."""
    names = {region.name: MAIN}
    stack = [region.operation]
    taken = {MAIN}
    while stack:
        for name in called(stack.pop()):
            found = None if name in names else lookup(region.module, name)
            if found is None:
                continue
            new = name
            while new in taken:
                new += "_"
            names[name] = new
            taken.add(new)
            stack.append(found)
    return names


def _strip(function: ir.Operation, main: bool, kernel: bool) -> None:
    """Take off what speaks of the program around the function; all but ``@main`` become private.

    ``kernel``: ``kc.kind`` stays, which says that the last arguments are the results' destinations.
    """
    of_code = _OF_CODE if main and function.name == "llvm.func" else frozenset()
    for name in [name for name in function.attributes if name not in of_code]:
        if name in _OF_PROGRAM or name in _OF_ENTRY or (name == KIND and not kernel):
            del function.attributes[name]
    for key in ("arg_attrs", "res_attrs"):
        if key in function.attributes:
            given = [{e.name: e.attr for e in ir.DictAttr(a)} for a in ir.ArrayAttr(function.attributes[key])]
            kept = [{n: a for n, a in entries.items() if n not in _OF_ARGUMENT} for entries in given]
            if any(kept):
                function.attributes[key] = ir.ArrayAttr.get([ir.DictAttr.get(k) for k in kept])
            else:
                del function.attributes[key]
    if main:
        if function.name == "llvm.func":
            function.attributes["linkage"] = ir.Attribute.parse("#llvm.linkage<external>")
    elif function.name == "func.func":
        function.attributes["sym_visibility"] = ir.StringAttr.get("private")
