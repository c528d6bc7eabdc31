"""What ops do to memory: who writes what, through views and calls, and which ops have effects beyond buffers."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from kc.agents.gates.case import callee, functions, has_body, walk

if TYPE_CHECKING:
    from kc.bindings import ir

_FOREIGN = frozenset(
    [
        "stablehlo.rng",
        "stablehlo.rng_bit_generator",
        "stablehlo.infeed",
        "stablehlo.outfeed",
        "stablehlo.send",
        "stablehlo.recv",
        "stablehlo.all_gather",
        "stablehlo.all_reduce",
        "stablehlo.all_to_all",
        "stablehlo.collective_broadcast",
        "stablehlo.collective_permute",
        "stablehlo.cross-replica-sum",
        "stablehlo.partition_id",
        "stablehlo.replica_id",
        "stablehlo.reduce_scatter",
        "stablehlo.create_token",
        "stablehlo.after_all",
        "vector.print",
        "gpu.printf",
        "cf.assert",
        "memref.dma_start",
        "memref.dma_wait",
        "affine.dma_start",
        "affine.dma_wait",
    ]
)
_FOREIGN_PREFIXES = (
    "omp.target",
    "omp.cancel",
    "torch.prim.Print",
    "torch.aten.rand",
    "torch.aten.bernoulli",
    "torch.aten.dropout",
    "gpu.host",
    "gpu.memcpy",
    "gpu.wait",
    "gpu.set_",
)

#: ops on buffers that write none of their operands
_READERS = frozenset(
    [
        "memref.load",
        "memref.dim",
        "memref.rank",
        "memref.prefetch",
        "memref.extract_strided_metadata",
        "memref.get_global",
        "vector.load",
        "vector.transfer_read",
        "vector.maskedload",
        "vector.expandload",
        "vector.gather",
        "affine.load",
        "affine.vector_load",
        "affine.prefetch",
        "memref.assume_alignment",
        "memref.distinct_objects",
        "func.return",
        "scf.yield",
        "scf.condition",
        "scf.if",
        "scf.for",
        "scf.while",
        "scf.execute_region",
        "scf.index_switch",
        "scf.parallel",
        "scf.forall",
        "scf.reduce",
        "affine.for",
        "affine.if",
        "affine.parallel",
        "affine.yield",
        "cf.br",
        "cf.cond_br",
        "cf.switch",
        "arith.select",
        "memref.alloca_scope",
        "memref.alloca_scope.return",
        "linalg.yield",
        "linalg.index",
        "gpu.return",
        "gpu.launch",
        "gpu.yield",
        "gpu.terminator",
        "omp.parallel",
        "omp.wsloop",
        "omp.loop_nest",
        "omp.yield",
        "omp.terminator",
    ]
)
#: views: the result is (a part of) the first operand
_VIEWS = frozenset(
    [
        "memref.subview",
        "memref.cast",
        "memref.reinterpret_cast",
        "memref.view",
        "memref.collapse_shape",
        "memref.expand_shape",
        "memref.transpose",
        "memref.reshape",
        "memref.memory_space_cast",
        "memref.assume_alignment",
        "memref.distinct_objects",
        "vector.type_cast",
    ]
)
#: ops that write the operand of that number and no other
_WRITERS = {
    "memref.store": 1,
    "vector.store": 1,
    "vector.transfer_write": 1,
    "memref.copy": 1,
    "affine.store": 1,
    "affine.vector_store": 1,
    "memref.atomic_rmw": 1,
    "vector.maskedstore": 0,
    "vector.scatter": 0,
    "vector.compressstore": 0,
    "memref.generic_atomic_rmw": 0,
    "memref.dealloc": 0,
}

#: where a buffer may come from: an argument of a function (name, number), or a global (name, -1)
Root = tuple[str, int]


def has_foreign_effects(name: str) -> bool:
    """Whether an op of that name does more than compute and touch buffers."""
    return name in _FOREIGN or name.startswith(_FOREIGN_PREFIXES)


def written(module: ir.Module) -> dict[Root, ir.Operation]:
    """Arguments of ``@main`` and globals that are written anywhere, through views, regions and calls, and by which op.

    What an unknown op does with its buffers counts as a write.
    """
    flow = _Flow(module)
    found: dict[Root, ir.Operation] = {}
    for op in walk(module.operation):
        for value in _written_operands(op):
            for root in flow.roots(value):
                if root[0] == "main" or root[1] < 0:
                    found.setdefault(root, op)
    return found


def _is_buffer(value: ir.Value) -> bool:
    from kc.bindings import ir

    return isinstance(value.type, (ir.MemRefType, ir.UnrankedMemRefType))


def _written_operands(op: ir.Operation) -> list[ir.Value]:
    buffers = [value for value in op.operands if _is_buffer(value)]
    if not buffers or op.name in _READERS or op.name in _VIEWS or op.name in ("func.call", "gpu.launch_func"):
        return []
    if op.name in _WRITERS:
        return [op.operands[_WRITERS[op.name]]]
    if op.name.startswith("linalg.") and "operandSegmentSizes" in op.attributes:
        inputs = next(iter(op.attributes["operandSegmentSizes"]))
        return [value for value in list(op.operands)[inputs:] if _is_buffer(value)]
    return buffers


class _Flow:
    """Where each buffer of a module may come from: a fixed point over views, regions and calls."""

    def __init__(self, module: ir.Module):
        self._roots: defaultdict[ir.Value, set[Root]] = defaultdict(set)
        self._edges: defaultdict[ir.Value, set[ir.Value]] = defaultdict(set)
        known = functions(module)
        for name, function in known.items():
            if has_body(function):
                for number, argument in enumerate(function.regions[0].blocks[0].arguments):
                    self._roots[argument].add((name, number))
        returns: dict[str, list[ir.Value]] = defaultdict(list)
        for op in walk(module.operation):
            if op.name in ("func.return", "llvm.return"):
                returns[_function_of(op)] += [v for v in op.operands if _is_buffer(v)]
        for op in walk(module.operation):
            buffers = [value for value in op.operands if _is_buffer(value)]
            if op.name == "memref.get_global":
                self._roots[op.results[0]].add((str(op.attributes["name"])[1:], -1))
            elif op.name in ("func.call", "gpu.launch_func"):
                self._call(op, known, returns)
            elif len(op.regions):
                self._regions(op, buffers)
            elif op.name in ("cf.br", "cf.cond_br", "cf.switch"):
                for block in op.successors:
                    self._link(buffers, [a for a in block.arguments if _is_buffer(a)])
            else:
                self._link(buffers, [r for r in op.results if _is_buffer(r)])
        self._settle()

    def roots(self, value: ir.Value) -> set[Root]:
        """All that ``value`` may be a view of."""
        return self._roots.get(value, set())

    def _link(self, sources: list[ir.Value], targets: list[ir.Value]) -> None:
        for source in sources:
            self._edges[source].update(targets)

    def _regions(self, op: ir.Operation, buffers: list[ir.Value]) -> None:
        """Operands and yielded values may become any block argument or result."""
        if op.name in ("func.func", "gpu.func", "llvm.func", "gpu.module", "builtin.module"):
            return
        targets = [r for r in op.results if _is_buffer(r)]
        sources = list(buffers)
        for region in op.regions:
            for block in region.blocks:
                targets += [a for a in block.arguments if _is_buffer(a)]
                if len(block.operations):
                    last = block.operations[len(block.operations) - 1].operation
                    sources += [v for v in last.operands if _is_buffer(v)]
        self._link(sources, targets)

    def _call(self, op: ir.Operation, known: dict[str, ir.Operation], returns: dict[str, list[ir.Value]]) -> None:
        target = callee(op)
        if target is None or target not in known:
            return
        body = known[target]
        if not has_body(body):
            return
        operands = [v for v in op.operands if _is_buffer(v)]
        arguments = [a for a in body.regions[0].blocks[0].arguments if _is_buffer(a)]
        for source, argument in zip(operands, arguments, strict=False):
            self._edges[source].add(argument)
        self._link(returns[target], [r for r in op.results if _is_buffer(r)])

    def _settle(self) -> None:
        work = list(self._roots)
        while work:
            value = work.pop()
            for target in self._edges.get(value, ()):
                if not self._roots[value] <= self._roots[target]:
                    self._roots[target] |= self._roots[value]
                    work.append(target)


def _function_of(op: ir.Operation) -> str:
    from kc.agents.gates.case import FUNCTIONS, symbol

    parent = op.parent
    while parent is not None and parent.operation.name not in FUNCTIONS:
        parent = parent.operation.parent
    return (symbol(parent.operation) or "") if parent is not None else ""
