"""Which functions of a module are regions, level by level."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import TYPE_CHECKING

from kc.agents.regions.launches import KIND as LAUNCH_KIND
from kc.agents.regions.launches import LAUNCH, inline_launches, outlined
from kc.agents.regions.symbols import called, symbol
from kc.answers import ASM
from kc.bindings import ir
from kc.errors import InputError
from kc.rewrite import walk_ops

if TYPE_CHECKING:
    from kc.targets.base import Target

#: of a function that is no kernel
FUNCTION = "function"
#: of a function at the llvm level: the types of the arguments of the function on buffers that it was, as a list; each
#: buffer's arguments are MLIR's: pointer, aligned pointer, offset, sizes, strides
BUFFERS = "kc.buffers"


@dataclasses.dataclass(frozen=True, eq=False)
class Region:
    """One region: its level, the symbol of its function, its kind, the function itself and the module around it.

    ``kind`` is that of the kernel (``contraction`` …, see ``kc.kernels``) or ``function``. A region is good until the
    module changes. ``launch``: the launch in host code that is the region; ``operation`` then is a function around it
    in a copy of the module.
    """

    level: str
    name: str
    kind: str
    operation: ir.Operation
    #: held as it was given: ops do not keep a module alive
    program: ir.Module | ir.Operation
    launch: ir.Operation | None = None
    #: at asm, where ``operation`` is the device module: its PTX
    text: str = ""

    @property
    def module(self) -> ir.Operation:
        """The module around ``operation``."""
        return self.program.operation


def find(module: ir.Module | ir.Operation, level: str, target: Target | None = None) -> list[Region]:
    """The regions of ``module``, which stands at ``level``; what is called comes before its callers.

    At torch and stablehlo every function with a body is one. At linalg the kernels are, once kernels are formed, and
    every function before that. At loops: the functions on buffers that compute (kernels, and what schedules built for
    them), not those that only allocate and call. At gpu: host functions that compute one kernel by launching device
    code, and launches in other host code. At llvm: functions that come from ones on buffers; ``kc.buffers`` on them
    lists the types of these.

    At asm, of a module at the llvm level: for an x86-64 CPU the functions that are regions at llvm; for GPUs the device
    modules, whose text ``target`` makes.

    Raises InputError for a level that does not exist.
    """
    root = module.operation
    if level in ("torch", "stablehlo"):
        chosen = list(_functions(root, "func.func"))
    elif level == "linalg":
        bodies = [f for f in _functions(root, "func.func") if not _has(f, "kc.impl") or _is_kernel(f)]
        kernels = [f for f in bodies if _is_kernel(f)]
        # a kernel that has an implementation already is not computed by its body: see Region at level loops
        chosen = [f for f in kernels if not _has(f, "kc.impl")] if kernels else bodies
    elif level == "loops":
        chosen = list(_computing(root))
    elif level == "gpu":
        chosen = [f for f in _computing(root) if walk_ops(f, LAUNCH)]
        return [Region(level, symbol(f), kind_of(f), f, module) for f in chosen] + _launches(root)
    elif level == "llvm" or (level == "asm" and getattr(target, "architecture", "") == "x86_64"):
        chosen = [f for f in _functions(root, "llvm.func") if _has(f, BUFFERS) and not _has(f, ASM)]
    elif level == "asm":
        devices = [op.operation for op in root.regions[0].blocks[0].operations if op.operation.name == "gpu.module"]
        return [
            Region(level, symbol(d), "device", d, module, text=_text(d, target)) for d in devices if target is not None
        ]
    else:
        raise InputError(f"there are no regions at level '{level}'")
    return [Region(level, symbol(f), kind_of(f), f, module) for f in _callees_first(chosen)]


def _launches(root: ir.Operation) -> list[Region]:
    """The launches of kernels in host code that does more, each as a function in a copy of the module."""
    launches = inline_launches(root)
    if not launches:
        return []
    copy, functions = outlined(root)
    return [
        Region("gpu", name, LAUNCH_KIND, function, copy, launch)
        for launch, (name, function) in zip(launches, functions, strict=True)
    ]


def _text(device: ir.Operation, target: Target | None) -> str:
    """The text of a device module: what stands on it already, or what the target makes of it."""
    from kc.codegen import llvm_ir

    if "kc.ptx" in device.attributes:
        return str(ir.StringAttr(device.attributes["kc.ptx"]).value)
    make = getattr(target, "ptx", None)
    if make is None:
        raise InputError(f"target '{target.name if target else ''}' has no text of device modules")
    return str(make(llvm_ir.translate(device)))


def kind_of(function: ir.Operation) -> str:
    """The kind of the kernel, ``function`` for what is none."""
    if _has(function, "kc.kind"):
        return str(ir.StringAttr(function.attributes["kc.kind"]).value)
    return FUNCTION


def _functions(root: ir.Operation, name: str) -> Iterator[ir.Operation]:
    """The functions with a body directly inside ``root``."""
    for op in root.regions[0].blocks[0].operations:
        operation = op.operation
        if operation.name == name and len(operation.regions[0].blocks):
            yield operation


def _computing(root: ir.Operation) -> Iterator[ir.Operation]:
    """Functions on buffers without results that functions beside the schedules' own call: kernels and their code."""
    functions = {symbol(f): f for f in _functions(root, "func.func")}
    inner = {name for name, f in functions.items() if _has(f, "kc.impl") and not _is_kernel(f)}
    from_outside = {name for caller, f in functions.items() if caller not in inner for name in called(f)}
    for name, function in functions.items():
        if name in from_outside if name in inner else _is_kernel(function):
            yield function


def _callees_first(functions: list[ir.Operation]) -> list[ir.Operation]:
    """``functions`` so that what is called comes before what calls it, else in their order."""
    named = {symbol(f): f for f in functions}
    done: dict[str, ir.Operation] = {}
    open_: set[str] = set()

    def visit(name: str) -> None:
        if name in done or name in open_ or name not in named:
            return
        open_.add(name)
        for other in called(named[name]):
            visit(other)
        done[name] = named[name]

    for name in named:
        visit(name)
    return list(done.values())


def _has(op: ir.Operation, name: str) -> bool:
    return name in op.attributes


def _is_kernel(function: ir.Operation) -> bool:
    return _has(function, "kc.kernel")
