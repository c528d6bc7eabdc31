"""What levels ask beyond the names of ops: functions ``check(op, on_device)`` that yield what is wrong with one op."""
from __future__ import annotations

from collections.abc import Iterator

from kc.bindings import ir


class TypeCheck:
    """Checks that an op's types are builtin or of the given dialects; remembers types that were fine."""

    def __init__(self, dialects: frozenset[str]):
        self._dialects = dialects
        self._fine: set[ir.Type] = set()

    def __call__(self, op: ir.Operation) -> Iterator[str]:
        for value_type in _types(op):
            if value_type in self._fine:
                continue
            bad = _foreign(str(value_type), self._dialects)
            if bad is None:
                self._fine.add(value_type)
            else:
                yield f"type {_short(value_type)} of '{op.name}' is illegal: no '!{bad}' types here"


def _types(op: ir.Operation) -> Iterator[ir.Type]:
    """Types of results and of block arguments: every value once."""
    for result in op.results:
        yield result.type
    for region in op.regions:
        for block in region.blocks:
            for argument in block.arguments:
                yield argument.type


def _foreign(text: str, allowed: frozenset[str]) -> str | None:
    """The first dialect in a type's text that is not allowed."""
    for part in text.split("!")[1:]:
        dialect = part.partition(".")[0]
        if dialect.isidentifier() and dialect not in allowed:
            return dialect
    return None


def _short(value_type: ir.Type) -> str:
    text = str(value_type)
    return text if len(text) <= 80 else text[:77] + "..."


def is_inside(op: ir.Operation, outer: ir.Operation) -> bool:
    """Whether ``op`` is nested in ``outer``."""
    parent = op.parent
    while parent is not None:
        if parent.operation == outer:
            return True
        parent = parent.operation.parent
    return False


def is_scheduled(op: ir.Operation) -> bool:
    """Whether a schedule built ``op``: the device module ``@K_device`` of a kernel, or a function ``{kc.impl}``."""
    if op.name == "gpu.module":
        return str(ir.StringAttr(op.attributes["sym_name"]).value).endswith("_device")
    return op.name == "func.func" and "kc.impl" in op.attributes and isinstance(op.attributes["kc.impl"], ir.UnitAttr)


def tensors_only(op: ir.Operation, on_device: bool) -> Iterator[str]:
    """No buffers and no pointers: values are tensors and scalars."""
    for value_type in _types(op):
        if isinstance(value_type, (ir.MemRefType, ir.UnrankedMemRefType)):
            yield f"'{op.name}' has the buffer type {_short(value_type)}; values are tensors here"


def no_tensors(op: ir.Operation, on_device: bool) -> Iterator[str]:
    """Bufferized: no value is a tensor any more."""
    for value_type in _types(op):
        if isinstance(value_type, (ir.RankedTensorType, ir.UnrankedTensorType)):
            yield f"'{op.name}' has the tensor type {_short(value_type)}; all is buffers here"


def llvm_types_only(op: ir.Operation, on_device: bool) -> Iterator[str]:
    """Types that translate to LLVM IR: no memref, no index."""
    for value_type in _types(op):
        if isinstance(value_type, (ir.MemRefType, ir.UnrankedMemRefType, ir.IndexType)):
            yield f"'{op.name}' has the type {_short(value_type)}, which LLVM does not have"


def kernels_are_outlined(op: ir.Operation, on_device: bool) -> Iterator[str]:
    """A kernel is a private function that returns one value per destination, which are its last tensor arguments."""
    if op.name != "func.func" or "kc.kernel" not in op.attributes:
        return
    name = op.attributes["sym_name"]
    if "sym_visibility" not in op.attributes or str(op.attributes["sym_visibility"]) != '"private"':
        yield f"kernel {name} must be private"
    kind = ir.FunctionType(ir.TypeAttr(op.attributes["function_type"]).value)
    inputs, results = list(kind.inputs), list(kind.results)
    destinations = inputs[len(inputs) - len(results) :]
    if len(results) > len(inputs) or any(a != b for a, b in zip(destinations, results, strict=False)):
        yield f"kernel {name} must take one destination of the same type per result, as its last arguments"
