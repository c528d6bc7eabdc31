"""Which loops of host code can run on the device, and which of their iterations are independent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from kc.bindings import ir
from kc.passes.gpu._launch import Extent
from kc.passes.gpu._memory import VIEWS, is_host_memory, root_of

_LOOPS = ("scf.for", "scf.while", "scf.parallel")
_DEVICE_PREFIXES = ("arith.", "math.", "complex.", "index.", "ub.", "affine.apply", "affine.min", "affine.max")
_DEVICE_OPS = VIEWS | {
    "memref.load",
    "memref.store",
    "memref.dim",
    "scf.for",
    "scf.while",
    "scf.if",
    "scf.parallel",
    "scf.reduce",
    "scf.reduce.return",
    "scf.yield",
    "scf.condition",
    "scf.index_switch",
    "scf.execute_region",
}


def _inside(op: Any) -> Iterator[Any]:
    """``op`` and everything nested in it, outer ops first."""
    yield op
    for region in op.regions:
        for block in region.blocks:
            for inner in block.operations:
                yield from _inside(inner.operation)


def _is_scalar(kind: Any) -> bool:
    return isinstance(kind, (ir.IndexType, ir.IntegerType, ir.FloatType, ir.ComplexType))


def _defined_in(value: Any, op: Any) -> bool:
    """Whether ``value`` is made inside the regions of ``op``."""
    owner = value.owner.owner if isinstance(value, ir.BlockArgument) else value.owner
    owner = owner.operation
    if owner == op:
        return isinstance(value, ir.BlockArgument)
    while owner.parent is not None:
        owner = owner.parent.operation
        if owner == op:
            return True
    return False


def runs_on_device(op: Any) -> bool:
    """Whether host code should hand ``op`` to the device: it touches device memory, and nothing in it needs the
    host.
    """
    if op.name not in (*_LOOPS, "scf.if") or not all(_is_scalar(value.type) for value in op.results):
        return False
    touches = False
    for inner in _inside(op):
        if inner.name not in _DEVICE_OPS and not inner.name.startswith(_DEVICE_PREFIXES):
            return False
        if inner.name in ("memref.load", "memref.store"):
            buffer = inner.operands[0 if inner.name == "memref.load" else 1]
            if is_host_memory(buffer):
                return False
            touches = touches or inner.name == "memref.store" or op.name != "scf.if"
        if any(_is_memory(value) and is_host_memory(value) for value in inner.operands):
            return False
    return touches


def _is_memory(value: Any) -> bool:
    return isinstance(value.type, (ir.MemRefType, ir.UnrankedMemRefType))


def bounds(loop: Any) -> list[tuple[Extent, Extent, Extent]]:
    """(lower, upper, step) for every variable of ``loop``, ints where they are constants."""
    operands = list(loop.operands)
    if loop.name == "scf.for":
        return [(_known(operands[0]), _known(operands[1]), _known(operands[2]))]
    count = ir.DenseI32ArrayAttr(loop.attributes["operandSegmentSizes"])[0]
    return [(_known(operands[d]), _known(operands[count + d]), _known(operands[2 * count + d])) for d in range(count)]


def _known(value: Any) -> Extent:
    if not isinstance(value, ir.BlockArgument) and value.owner.operation.name == "arith.constant":
        return int(ir.IntegerAttr(value.owner.operation.attributes["value"]).value)
    return value


def independent_nest(op: Any) -> list[Any]:
    """The loops from ``op`` inwards, perfectly nested, whose iterations are independent; their bounds are known at
    ``op``.
    """
    found: list[Any] = []
    loop = op
    while loop is not None and _is_independent(loop):
        invariant = [v for v in loop.operands if not any(_defined_in(v, outer) for outer in found)]
        if len(invariant) != len(list(loop.operands)):
            break
        found.append(loop)
        loop = _only_inner(loop)
    return found


def _only_inner(loop: Any) -> Any:
    """The loop that is all of ``loop``'s body but for arithmetic before it."""
    ops = [o.operation for o in loop.regions[0].blocks[0].operations][:-1]
    if not ops or ops[-1].name not in ("scf.for", "scf.parallel"):
        return None
    pure = all(o.name.startswith(_DEVICE_PREFIXES) or o.name in VIEWS or o.name == "memref.dim" for o in ops[:-1])
    return ops[-1] if pure else None


def _is_independent(loop: Any) -> bool:
    if len(loop.results):
        return False
    if loop.name == "scf.parallel":
        return True
    if loop.name != "scf.for":
        return False
    variable = loop.regions[0].blocks[0].arguments[0]
    accesses: list[tuple[Any, Any, list[Any], bool]] = []  # root, buffer, indices, is a store
    for inner in _inside(loop):
        if inner.name in ("memref.load", "memref.store"):
            stores = inner.name == "memref.store"
            buffer, *at = list(inner.operands)[1 if stores else 0 :]
            accesses.append((root_of(buffer), buffer, at, stores))
    for root in [a[0] for a in accesses if a[3]]:
        same = [a for a in accesses if a[0] == root]
        first = same[0]
        if any(a[1] != first[1] for a in same) or _defined_in(first[1], loop):
            return False
        if not any(
            _is_one_to_one(index, variable, loop) and all(a[2][position] == index for a in same)
            for position, index in enumerate(first[2])
        ):
            return False
    return True


def _is_one_to_one(index: Any, variable: Any, loop: Any) -> bool:
    """Whether ``index`` takes different values for different values of ``variable``."""
    if index == variable:
        return True
    if isinstance(index, ir.BlockArgument):
        return False
    op = index.owner.operation
    if op.name not in ("arith.addi", "arith.subi"):
        return False
    operands = list(op.operands)
    for mine, other in (operands, operands[::-1]):
        if _is_one_to_one(mine, variable, loop) and not _defined_in(other, loop):
            return True
    return False


def inline(loops: Sequence[Any], variables: Sequence[Any]) -> None:
    """Move the body of a nest to the ambient insertion point with ``variables`` in place of the loops' own."""
    here = ir.InsertionPoint.current
    values = list(variables)
    for position, loop in enumerate(loops):
        block = loop.regions[0].blocks[0]
        arguments = list(block.arguments)
        for argument in arguments:
            argument.replace_all_uses_with(values.pop(0))
        ops = [o.operation for o in block.operations][:-1]
        inner = loops[position + 1] if position + 1 < len(loops) else None
        for op in ops:
            if inner is None or op != inner:
                op.detach_from_parent()
                here.insert(op)
