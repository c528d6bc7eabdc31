"""Launches of GPU kernels that stand in host code, as functions of their own."""

from __future__ import annotations

from collections.abc import Container

from kc.agents.regions.symbols import free_name, symbol, symbols
from kc.bindings import ir
from kc.rewrite import walk_ops

LAUNCH = "gpu.launch_func"
#: kind of a region that is one launch
KIND = "launch"


def inline_launches(root: ir.Operation) -> list[ir.Operation]:
    """The launches in host functions that do more than compute one kernel, in order."""
    found = []
    for op in root.regions[0].blocks[0].operations:
        function = op.operation
        if function.name == "func.func" and not {"kc.impl", "kc.kernel"} & set(function.attributes):
            found += walk_ops(function, LAUNCH)
    return found


def outlined(root: ir.Operation) -> tuple[ir.Operation, list[tuple[str, ir.Operation]]]:
    """A copy of the module ``root`` where each inline launch is a call of a private function around it.

    Gives the copy and these functions with their names, in the order of ``inline_launches``.
    """
    copy = root.clone().operation
    taken = symbols(copy)
    made = []
    for launch in inline_launches(copy):
        name = free_name(f"{kernel_name(launch)}_launch", taken)
        function, leaves = outline(launch, name, ir.InsertionPoint(_holder(launch)))
        call(name, leaves, launch)
        launch.erase()
        made.append((name, function))
    return copy, made


def kernel_name(launch: ir.Operation) -> str:
    """The name of the kernel that is launched, without that of its module."""
    return str(ir.SymbolRefAttr(launch.attributes["kernel"]).value[-1])


def outline(launch: ir.Operation, name: str, point: ir.InsertionPoint) -> tuple[ir.Operation, list[ir.Value]]:
    """Make a private function that launches as ``launch`` does, at ``point``; gives it and the arguments for it.

    Sizes of the grid that follow from the arguments are computed inside.
    """
    from kc.bindings import func

    inner, leaves = _slice(launch)
    with launch.context, launch.location, point:
        function = func.FuncOp(name, ir.FunctionType.get([leaf.type for leaf in leaves], []), visibility="private")
        block = function.add_entry_block([launch.location] * len(leaves))
        values = dict(zip(leaves, block.arguments, strict=True))
        with ir.InsertionPoint(block):
            for op in (*inner, launch):
                clone = op.clone().operation
                for number, operand in enumerate(clone.operands):
                    clone.operands[number] = values.get(operand, operand)
                values.update(zip(op.results, clone.results, strict=True))
            func.ReturnOp([])
    return function.operation, leaves


def leaves_of(launch: ir.Operation) -> list[ir.Value]:
    """The arguments for a function that ``outline`` makes of ``launch``."""
    return _slice(launch)[1]


def call(name: str, operands: list[ir.Value], before: ir.Operation) -> None:
    """Insert a call of the function ``name`` without results."""
    with before.context, before.location, ir.InsertionPoint(before):
        ir.Operation.create("func.call", [], operands, {"callee": ir.FlatSymbolRefAttr.get(name)})


def _slice(launch: ir.Operation) -> tuple[list[ir.Operation], list[ir.Value]]:
    """The arithmetic on which a launch depends, in order, and what that starts from: buffers first met first."""
    leaves: dict[ir.Value, None] = {}
    order: list[ir.Operation] = []
    done: set[ir.Value] = set()

    def visit(value: ir.Value) -> None:
        if value in done or value in leaves:
            return
        op = None if isinstance(value.owner, ir.Block) else value.owner.operation
        if op is None or not _computes(op, leaves):
            leaves[value] = None
            return
        for operand in op.operands:
            visit(operand)
        done.update(op.results)
        order.append(op)

    buffers = [v for v in launch.operands if isinstance(v.type, ir.MemRefType)]
    leaves.update(dict.fromkeys(buffers))
    for value in launch.operands:
        visit(value)
    return order, list(leaves)


def _computes(op: ir.Operation, buffers: Container[ir.Value]) -> bool:
    """Whether an op is arithmetic on scalars, or asks for the extent of one of ``buffers``."""
    if op.name == "memref.dim":
        return op.operands[0] in buffers
    return op.name.startswith(("arith.", "index.")) and not len(op.regions)


def kernel_operands(launch: ir.Operation) -> range:
    """The positions of a launch's operands that are the kernel's arguments."""
    segments = list(ir.DenseI32ArrayAttr(launch.attributes["operandSegmentSizes"]))
    end = sum(segments[:-1])  # the last one is an object of asynchronous launches
    return range(end - segments[-2], end)


def keep_kernels(device: ir.Operation, names: Container[str]) -> None:
    """Erase the kernels of a device module that are not among ``names``."""
    for op in [view.operation for view in device.regions[0].blocks[0].operations]:
        kernel = {"gpu.kernel", "kernel"} & set(op.attributes)
        if kernel and "sym_name" in op.attributes and symbol(op) not in names:
            op.erase()


def _holder(op: ir.Operation) -> ir.Operation:
    """The function around ``op``."""
    while op.name != "func.func":
        parent = op.parent
        assert parent is not None
        op = parent.operation
    return op
