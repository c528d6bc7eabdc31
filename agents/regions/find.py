"""Which functions of a module are regions, level by level."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from kc.bindings import ir
from kc.errors import InputError

#: of a function that is no kernel
FUNCTION = "function"


@dataclasses.dataclass(frozen=True, eq=False)
class Region:
    """One region: its level, the symbol of its function, its kind, and the function itself, which stands in a module.

    ``kind`` is that of the kernel (``contraction`` …, see ``kc.kernels``) or ``function``. A region is good until the
    module changes.
    """

    level: str
    name: str
    kind: str
    operation: ir.Operation

    @property
    def module(self) -> ir.Operation:
        """The module around it."""
        parent = self.operation.parent
        assert parent is not None
        return parent.operation


def find(module: ir.Module | ir.Operation, level: str) -> list[Region]:
    """The regions of ``module``, which stands at ``level``; what is called comes before its callers.

    At torch and stablehlo every function with a body is one. At linalg the kernels are, once kernels are formed, and
    every function before that. At loops: the functions on buffers that compute (kernels, and what schedules built for
    them), not those that only allocate and call. At llvm every function with a body but entry points.

    Raises InputError for a level at which regions are no part of the module (``asm`` is text).
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
    elif level == "llvm":
        chosen = [f for f in _functions(root, "llvm.func") if not symbol(f).startswith("kc_entry_")]
    else:
        raise InputError(
            f"no regions of a module at level '{level}': there are some at torch, stablehlo, linalg, loops, llvm"
        )
    return [Region(level, symbol(f), kind_of(f), f) for f in _callees_first(chosen)]


def symbol(op: ir.Operation) -> str:
    """The symbol that ``op`` defines."""
    return str(ir.StringAttr(op.attributes["sym_name"]).value)


def kind_of(function: ir.Operation) -> str:
    """The kind of the kernel, ``function`` for what is none."""
    if _has(function, "kc.kind"):
        return str(ir.StringAttr(function.attributes["kc.kind"]).value)
    return FUNCTION


def called(op: ir.Operation) -> list[str]:
    """The symbols that the ops inside ``op`` name, and ``op`` itself but for its own name; in order, each once."""
    found: dict[str, None] = {}

    def attribute(value: ir.Attribute) -> None:
        if isinstance(value, ir.FlatSymbolRefAttr):
            found[value.value] = None
        elif isinstance(value, ir.SymbolRefAttr):
            found[value.value[0]] = None
        elif isinstance(value, ir.ArrayAttr):
            for item in value:
                attribute(item)
        elif isinstance(value, ir.DictAttr):
            for entry in value:
                attribute(entry.attr)

    def visit(inner: ir.Operation) -> ir.WalkResult:
        for name in inner.attributes:
            attribute(inner.attributes[name])
        return ir.WalkResult.ADVANCE

    op.walk(visit, ir.WalkOrder.PRE_ORDER)
    return list(found)


def is_public(function: ir.Operation) -> bool:
    """Whether it is an entry point of the program."""
    if not _has(function, "sym_visibility"):
        return True
    return bool(ir.StringAttr(function.attributes["sym_visibility"]).value == "public")


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
