"""Which op a value comes from: the nodes of a module on buffers or of level llvm, and what each is computed from.

A node is an op that computes a value or touches memory; ops without a value of their own that can be shown (views,
pointers, structs) are looked through. Edges through memory are known when the module runs.
"""
from __future__ import annotations

import json
from typing import Any

from kc.bindings import ir
from kc.diagnostics import location_of
from kc.rewrite import walk_ops

#: attribute of an op that is a node: its number; attribute of the module: ``nodes``, and for each result of ``@main``
#: the nodes that it is (``returned``), as JSON
NODE, NODES = "kc.node", "kc.nodes"
#: loops: nodes whose values are what they count
LOOPS = ("scf.for", "scf.parallel")
_BRANCHES = {"cf.br", "cf.cond_br", "cf.switch", "llvm.br", "llvm.cond_br", "llvm.switch"}
CONSTANTS = (
    "arith.constant", "llvm.mlir.constant", "llvm.mlir.zero", "llvm.mlir.undef", "llvm.mlir.poison", "ub.poison"
)
FUNCTIONS = ("func.func", "llvm.func", "gpu.func")
#: which of the operand groups of a launch are handed to the kernel
_KERNEL = 11
#: dialects whose ops touch memory, and words in the names of those that write
_MEMORY = ("memref", "vector", "llvm", "gpu", "nvgpu", "nvvm")
_STORES = ("store", "scatter", "write", "copy", "rmw", "memcpy", "memmove", "memset", "cmpxchg", "call")


class Nodes:
    """The nodes of one module, numbered in order of the text."""

    def __init__(self, module: ir.Operation):
        self.module = module
        self.ops: list[ir.Operation] = []
        self._numbers: dict[ir.Operation, int] = {}
        self._calls: dict[str, list[ir.Operation]] = {}
        self._bodies: dict[str, ir.Operation] = {}
        for op in walk_ops(module):
            if op.name in FUNCTIONS:
                self._bodies[ir.StringAttr(op.attributes["sym_name"]).value] = op
            elif op.name in ("func.call", "llvm.call") and "callee" in op.attributes:
                self._calls.setdefault(ir.FlatSymbolRefAttr(op.attributes["callee"]).value, []).append(op)
            elif op.name == "gpu.launch_func":
                self._calls.setdefault(str(op.attributes["kernel"]).rpartition("@")[2], []).append(op)
            if self._counts(op):
                self._numbers[op] = len(self.ops)
                self.ops.append(op)

    def number(self, op: ir.Operation) -> int | None:
        """The number of an op that is a node."""
        return self._numbers.get(op)

    def write(self) -> None:
        """Leave the nodes on the module, and its number on each op."""
        # what is asked first: an op's hash changes with its attributes
        told = {"nodes": [self._told(op) for op in self.ops], "returned": self._returned()}
        for number, op in enumerate(self.ops):
            op.attributes[NODE] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), number)
        self.module.attributes[NODES] = ir.StringAttr.get(json.dumps(told))

    def _returned(self) -> list[list[int]]:
        found: list[list[int]] = []
        main = self._bodies.get("main")
        for op in walk_ops(main, ("func.return", "llvm.return")) if main is not None else ():
            for at, operand in enumerate(op.operands):
                sources: set[int] = set()
                self._collect(operand, sources, set())
                if at == len(found):
                    found.append([])
                found[at] = sorted({*found[at], *sources})
        return found

    def _counts(self, op: ir.Operation) -> bool:
        if any(shown(result.type) for result in op.results) or op.name in LOOPS:
            return True
        dialect, _, name = op.name.partition(".")
        return dialect in _MEMORY and any(part in name for part in _STORES)

    def _told(self, op: ir.Operation) -> dict[str, Any]:
        where = _place(op)
        counted = op.name in LOOPS and len(op.regions[0].blocks[0].arguments)
        element = str(op.regions[0].blocks[0].arguments[0].type) if counted else _type(op)
        found: dict[str, Any] = {"op": op.name, "place": where, "type": element}
        if op.name in CONSTANTS:
            found["constant"] = str(op.attributes["value"]) if "value" in op.attributes else op.name
            return found
        sources: set[int] = set()
        bounds = 3 if op.name == "scf.for" else len(op.operands)  # what goes round is no part of how it counts
        for operand in list(op.operands)[:bounds]:
            self._collect(operand, sources, set())
        if op.name not in LOOPS:
            for result in op.results:
                self._inside(result, sources, set())
        control: set[int] = set()
        self._control(op, control)
        number = self._numbers[op]
        found["sources"] = sorted(sources - {number})
        found["control"] = sorted(control - sources - {number})
        return found

    # ---- where values come from

    def _collect(self, value: ir.Value, found: set[int], seen: set[ir.Value]) -> None:
        """Add the nodes that ``value`` is, or is made of."""
        if value in seen:
            return
        seen.add(value)
        owner = value.owner
        if isinstance(owner, ir.Block):
            self._argument(ir.BlockArgument(value), owner, found, seen)
            return
        op = owner.operation
        number = self._numbers.get(op)
        if number is not None and shown(value.type) and op.name not in LOOPS:
            found.add(number)
            return
        for operand in op.operands:
            self._collect(operand, found, seen)
        self._inside(value, found, seen)

    def _inside(self, value: ir.Value, found: set[int], seen: set[ir.Value]) -> None:
        """Add what ops inside of the op that defines ``value`` give it."""
        op, at = value.owner.operation, ir.OpResult(value).result_number
        if op.name in ("func.call", "llvm.call") and "callee" in op.attributes:
            body = self._bodies.get(ir.FlatSymbolRefAttr(op.attributes["callee"]).value)
            for inner in walk_ops(body, ("func.return", "llvm.return")) if body is not None else ():
                if at < len(inner.operands):
                    self._collect(inner.operands[at], found, seen)
            return
        for region in op.regions:
            for block in region.blocks:
                ops = list(block.operations)
                last = ops[-1].operation if ops else None
                if last is None or not last.name.endswith(("yield", "condition", "reduce", "return")):
                    continue
                operands = list(last.operands)[1:] if last.name == "scf.condition" else list(last.operands)
                if at < len(operands):
                    self._collect(operands[at], found, seen)
                if last.name == "scf.condition":
                    self._collect(last.operands[0], found, seen)

    def _argument(self, argument: ir.BlockArgument, block: ir.Block, found: set[int], seen: set[ir.Value]) -> None:
        parent, at = block.owner.operation, argument.arg_number
        if parent.name in FUNCTIONS and block == parent.regions[0].blocks[0]:
            name = ir.StringAttr(parent.attributes["sym_name"]).value
            for call in self._calls.get(name, ()):
                given = _arguments(call)
                if at < len(given):
                    self._collect(given[at], found, seen)
            return
        for value in self._given(parent, block, at):
            if isinstance(value, int):
                found.add(value)
            else:
                self._collect(value, found, seen)

    def _given(self, parent: ir.Operation, block: ir.Block, at: int) -> list[Any]:
        """Values that become argument ``at`` of a block, and numbers of loops that count it."""
        if parent.name in LOOPS:
            if at == 0 or parent.name == "scf.parallel":
                return [self._numbers[parent]]
            yielded = list(list(block.operations)[-1].operands)
            return [parent.operands[2 + at], yielded[at - 1]]
        if parent.name == "scf.while":
            before, after = (region.blocks[0] for region in parent.regions)
            if block == before:
                return [parent.operands[at], list(list(after.operations)[-1].operands)[at]]
            return [list(list(before.operations)[-1].operands)[1 + at]]
        given: list[Any] = []
        for region in parent.regions:
            for other in region.blocks:
                ops = list(other.operations)
                if ops and ops[-1].operation.name in _BRANCHES:
                    given += _handed(ops[-1].operation, block, at)
        return given or list(parent.operands)[at : at + 1]

    def _control(self, op: ir.Operation, found: set[int]) -> None:
        """Add the nodes that say whether, and how often, ``op`` runs."""
        parent = op.parent
        while parent is not None and parent.name not in (*FUNCTIONS, "builtin.module"):
            parent = parent.operation
            if parent.name in LOOPS:
                found.add(self._numbers[parent])
            elif parent.name == "scf.while":
                condition = list(parent.regions[0].blocks[0].operations)[-1]
                self._collect(condition.operands[0], found, set())
            else:
                for operand in list(parent.operands)[:1]:
                    self._collect(operand, found, set())
            parent = parent.parent
        if op.name.startswith("llvm.") and op.parent is not None:
            self._branches(op, found)

    def _branches(self, op: ir.Operation, found: set[int]) -> None:
        """Where a block of many ends up: the conditions of the branches that lead to it directly."""
        block = op.block
        for region in op.parent.operation.regions:
            for other in region.blocks:
                ops = list(other.operations)
                last = ops[-1].operation if ops else None
                if last is not None and last.name in ("llvm.cond_br", "llvm.switch") and block in list(last.successors):
                    self._collect(last.operands[0], found, set())


def _handed(branch: ir.Operation, block: ir.Block, at: int) -> list[ir.Value]:
    """The operands of a branch that become argument ``at`` of ``block``."""
    operands, successors = list(branch.operands), list(branch.successors)
    if branch.name.endswith(".br"):
        return operands[at : at + 1] if successors[0] == block else []
    counts: list[int] = []
    if branch.name.endswith("cond_br"):
        _, *counts = list(ir.DenseI32ArrayAttr(branch.attributes["operandSegmentSizes"]))
    else:
        counts = [len(successor.arguments) for successor in successors]
    start, found = len(operands) - sum(counts), []
    for successor, count in zip(successors, counts, strict=True):
        if successor == block:
            found += operands[start + at : start + at + 1]
        start += count
    return found


def _arguments(call: ir.Operation) -> list[ir.Value]:
    """What a call, or a launch, hands over."""
    operands = list(call.operands)
    if call.name != "gpu.launch_func":
        return operands
    sizes = list(ir.DenseI32ArrayAttr(call.attributes["operandSegmentSizes"]))
    start = sum(sizes[:_KERNEL])
    return operands[start : start + sizes[_KERNEL]]


def shown(kind: ir.Type) -> bool:
    """Whether values of a type are recorded: numbers of up to 64 bits, and vectors of them."""
    if isinstance(kind, ir.VectorType):
        return not kind.scalable and shown(kind.element_type)
    if isinstance(kind, ir.ComplexType):
        return width_of(kind.element_type) in (32, 64)
    return 0 < width_of(kind) <= 64


def width_of(kind: ir.Type) -> int:
    """Bits of a number; 0 for what is none."""
    if isinstance(kind, ir.IndexType):
        return 64
    if isinstance(kind, ir.IntegerType):
        return int(ir.IntegerType(kind).width)
    if isinstance(kind, ir.FloatType):
        return int(ir.FloatType(kind).width)
    return 0


def _type(op: ir.Operation) -> str:
    """The element type of what a node computes, or touches."""
    for value in (*op.results, *op.operands):
        kind: Any = value.type
        if isinstance(kind, (ir.MemRefType, ir.VectorType)):
            kind = kind.element_type
        if isinstance(kind, (ir.MemRefType, ir.VectorType)):
            kind = kind.element_type
        if shown(kind):
            return str(kind)
    return ""


def _place(op: ir.Operation) -> str:
    """Line and column of an op, or of the op around it that has them."""
    at: Any = op
    while at is not None and at.name not in (*FUNCTIONS, "builtin.module"):
        where = location_of(at.operation)
        if where is not None and where.line:
            return f"{where.line}:{where.col}"
        at = at.operation.parent
    return ""
