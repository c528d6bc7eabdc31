"""Which buffers a function on buffers writes, and which of its arguments may be the same buffer."""

from __future__ import annotations

from collections.abc import Sequence

from kc.agents.contract import ArgumentContract, Contract
from kc.agents.regions.find import Region
from kc.agents.regions.launches import LAUNCH, kernel_name, kernel_operands
from kc.agents.regions.symbols import lookup
from kc.bindings import ir
from kc.errors import InputError
from kc.rewrite import walk_ops

_VIEWS = frozenset({
    "memref.subview", "memref.cast", "memref.expand_shape", "memref.collapse_shape",
    "memref.reinterpret_cast", "memref.view", "memref.transpose", "memref.memory_space_cast",
})  # fmt: skip
#: op -> number of the operand that it writes
_WRITES = {"memref.store": 1, "vector.store": 1, "vector.transfer_write": 1, "memref.copy": 1, "affine.store": 1,
           "affine.vector_store": 1, "vector.maskedstore": 0, "vector.scatter": 0, "memref.atomic_rmw": 1}  # fmt: skip
#: ops that write a buffer of which they say nothing more here: both ends of the safe side
_UPDATES = frozenset({
    "memref.atomic_rmw", "memref.generic_atomic_rmw",
})  # fmt: skip
_NO_ACCESS = frozenset({
    "memref.dim", "memref.extract_strided_metadata", "memref.assume_alignment", "memref.dealloc",
})  # fmt: skip


class Withheld(InputError):
    """A region that is shown to nobody, and why."""


class Overlap(Withheld):
    """Two arguments of a region may overlap without being one buffer, and one of them is written."""


def arguments(
    region: Region, dims: Sequence[tuple[str, ...]], kernel: Contract | None = None
) -> list[ArgumentContract]:
    """The contract of each argument of a function on buffers.

    ``kernel`` is the contract of the kernel on tensors that the function computes: it tells the dimensions, and which
    arguments are written. Without it every argument that may be written is ``inout``. Raises Overlap.
    """
    function = region.operation
    count = len(function.regions[0].blocks[0].arguments)
    told = kernel.arguments if kernel is not None and len(kernel.arguments) == count else None
    if told is None:
        _, writes = accesses(region, function)
    else:
        writes = {number for number, argument in enumerate(told) if argument.writable}
        dims = [argument.dims or own for argument, own in zip(told, dims, strict=True)]
    aliases = _aliases(region, count, writes)
    shared = {*aliases, *aliases.values()}
    made = []
    for number in range(count):
        out = told is not None and told[number].out and number not in shared
        extent = None if told is None or number in writes or number in shared else told[number].range
        made.append(ArgumentContract(dims[number], extent, out, number in writes and not out, aliases.get(number)))
    return made


def accesses(region: Region, function: ir.Operation, depth: int = 8) -> tuple[set[int], set[int]]:
    """The numbers of the arguments that a function may read, and of those that it may write, calls included."""
    inside: dict[ir.Value, int] = {}
    for number, argument in enumerate(function.regions[0].blocks[0].arguments):
        if isinstance(argument.type, ir.MemRefType):
            inside[argument] = number
    reads: set[int] = set()
    writes: set[int] = set()
    for op in walk_ops(function):
        touched = {position: inside[value] for position, value in enumerate(op.operands) if value in inside}
        if not touched or op.name in _NO_ACCESS:
            continue
        if op.name in _VIEWS:
            inside[op.results[0]] = touched.get(0, next(iter(touched.values())))
            continue
        callee, first = _callee(op, region.module) if depth else (None, 0)
        if callee is not None:
            inner_reads, inner_writes = accesses(region, callee, depth - 1)
            reads |= {touched[p + first] for p in inner_reads if p + first in touched}
            writes |= {touched[p + first] for p in inner_writes if p + first in touched}
            continue
        if op.name.startswith("linalg.") and not len(op.results):
            outs = 1 if op.name in ("linalg.fill", "linalg.copy") else _outputs(op)
            first = len(op.operands) - outs
            for position, number in touched.items():
                if position >= first:
                    writes.add(number)
                    if op.name not in ("linalg.fill", "linalg.copy") and _reads_output(op, position - len(op.operands)):
                        reads.add(number)
                else:
                    reads.add(number)
            continue
        place = _WRITES.get(op.name)
        for position, number in touched.items():
            if position == place:
                writes.add(number)
                if op.name in _UPDATES:
                    reads.add(number)
            else:
                reads.add(number)
                if place is None and op.name not in _READS:
                    writes.add(number)
    return reads, writes


_READS = frozenset({
    "memref.load", "vector.load", "vector.transfer_read", "affine.load", "affine.vector_load",
    "vector.maskedload", "vector.gather", "memref.prefetch",
})  # fmt: skip


def _callee(op: ir.Operation, module: ir.Operation) -> tuple[ir.Operation | None, int]:
    """The function that a call or a launch runs, if it is in ``module``, and which operand is its first argument."""
    if op.name == "func.call":
        found, first = lookup(module, ir.FlatSymbolRefAttr(op.attributes["callee"]).value), 0
    elif op.name == LAUNCH:
        device = lookup(module, str(ir.SymbolRefAttr(op.attributes["kernel"]).value[0]))
        found = None if device is None else lookup(device, kernel_name(op))
        first = kernel_operands(op).start
    else:
        return None, 0
    return (found, first) if found is not None and len(found.regions[0].blocks) else (None, 0)


def _outputs(op: ir.Operation) -> int:
    if "operandSegmentSizes" in op.attributes:
        return int(list(ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"]))[1])
    return 1


def _reads_output(op: ir.Operation, from_end: int) -> bool:
    """Whether a linalg op reads the output that is operand ``from_end`` counted from the end (-1: the last)."""
    block = op.regions[0].blocks[0] if len(op.regions) and len(op.regions[0].blocks) else None
    return block is None or bool(list(list(block.arguments)[from_end].uses))


def _aliases(region: Region, count: int, writes: set[int]) -> dict[int, int]:
    """Argument -> earlier argument that is the very same buffer in some call. Raises Overlap for other sharing."""
    found: dict[int, int] = {}
    for call in walk_ops(region.module, "func.call"):
        if ir.FlatSymbolRefAttr(call.attributes["callee"]).value != region.name:
            continue
        operands = list(call.operands)
        for number in range(count):
            for other in range(number):
                if not {number, other} & writes or not isinstance(operands[number].type, ir.MemRefType):
                    continue
                if not isinstance(operands[other].type, ir.MemRefType):
                    continue
                if operands[number] == operands[other]:
                    found.setdefault(number, other)
                elif _may_overlap(operands[number], operands[other]):
                    message = f"arguments {other} and {number} of '@{region.name}' may overlap, and one is written"
                    raise Overlap(message)
    return found


def _may_overlap(one: ir.Value, other: ir.Value) -> bool:
    """Whether two different values may be views of overlapping memory.

    Views of one arena (``memref.view`` at different places, see ``kc-plan-memory``) that are alive at once are apart.
    """
    first, second = _root(one), _root(other)
    if first[0] != second[0]:
        # two arguments of an entry point may be one array of the user's, but nothing writes those
        return not (_is_known(first[0]) and _is_known(second[0]))
    return first[1] is None or second[1] is None or first[1] == second[1]


def _root(value: ir.Value) -> tuple[ir.Value, ir.Value | None]:
    """The buffer that ``value`` is a view of, and the ``memref.view`` of an arena on the way, if there is one."""
    piece = None
    while not isinstance(value.owner, ir.Block) and value.owner.operation.name in _VIEWS:
        if value.owner.operation.name == "memref.view":
            piece = value
        value = value.owner.operation.operands[0]
    return value, piece


def _is_known(buffer: ir.Value) -> bool:
    """Whether no other value is this buffer: it is allocated here, is a global, or an argument of a function."""
    if isinstance(buffer.owner, ir.Block):
        return buffer.owner.owner.operation.name == "func.func"
    return buffer.owner.operation.name in ("memref.alloc", "memref.alloca", "memref.get_global")
