"""Which loops of host code can run on the device, and which of their iterations are independent."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from kc.bindings import ir
from kc.passes.gpu._launch import Extent
from kc.passes.gpu._memory import VIEWS, buffer_of, is_host_memory
from kc.passes.gpu._updates import Access, Update, find_stores, find_updates

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


class Plan(NamedTuple):
    """How a nest runs on the device: a thread for each combination of iterations of ``groups``.

    Loops of a group run over the same numbers; a thread takes one of them, in all of the group's loops. It runs the
    other loops as they are. What makes iterations independent that meet in a place: ``updates`` are to be done
    atomically, and of ``stores`` to one place only the last is to happen.
    """

    groups: list[list[Any]]
    updates: list[Update]
    stores: list[Any]

    @property
    def loops(self) -> list[Any]:
        """One loop of every group."""
        return [group[0] for group in self.groups]


def _alone(loops: Iterable[Any]) -> list[list[Any]]:
    return [[loop] for loop in loops]


#: on the loops of a nest: no two iterations write the same place; iterations have nothing to do with each other
UNIQUE, INDEPENDENT = "kc.unique", "kc.independent"
#: threads that an order of the iterations must give, and turns that a thread may take, for it to be kept
_ENOUGH, _FEW = 128, 256


def plan(op: Any) -> Plan | None:
    """The plan for the loop ``op``; None when only one thread can run it.

    In order of preference: the outermost loops are independent, or said to be (and loops further in can be shared out
    too: the columns of a scan of rows); loops further in are independent over all iterations of those around them (the
    columns of a scatter of rows), give threads enough and the ones around them are short; every write is an update
    that can be atomic, or a store of which the last can be told; a mark says that no two iterations write the same
    place (it comes late, so that a program which says so wrongly gets the right result where that costs little). Then
    come loops further in, whatever they give. So float additions, which commute only up to rounding, are done in order
    where that costs little.
    """
    if op.name not in ("scf.for", "scf.parallel"):
        return None
    accesses = _accesses(op)
    chain = _chain(op, {a.root for a in accesses if a.stores})
    if INDEPENDENT in op.attributes:
        leading = _marked(chain, INDEPENDENT)
    else:
        leading = list(itertools.takewhile(lambda loop: _is_independent(loop, _accesses(loop), loop), chain))
    shared = _shared_out(op, accesses, leading)
    if leading:
        return Plan([*_alone(leading), *shared], [], [])
    inner: list[Any] = []
    start = next((k for k, loop in enumerate(chain) if _is_independent(loop, accesses, op)), None)
    if start is not None:
        inner = list(itertools.takewhile(lambda loop: _is_independent(loop, accesses, op), chain[start:]))
    updates = find_updates(accesses) if chain else None
    stores = find_stores(accesses) if chain and not updates else None
    in_order = bool(inner) and trips(inner, _ENOUGH) >= _ENOUGH and trips(chain[:start], _FEW + 1) <= _FEW
    if updates and (not in_order or all(update.is_exact for update in updates)):
        return Plan(_alone(chain), updates, [])
    if stores and not in_order:
        return Plan(_alone(chain), [], stores)
    said = bool(chain) and UNIQUE in op.attributes and not in_order
    if said and not any(_reads_elsewhere(accesses, a) for a in accesses if a.stores):
        return Plan(_alone(_marked(chain, UNIQUE)), [], [])
    groups = _alone(inner) or shared
    return Plan(groups, [], []) if groups else None


def _shared_out(op: Any, accesses: Sequence[Access], leading: Sequence[Any]) -> list[list[Any]]:
    """Groups of loops inside ``op``, but the ``leading`` ones, of which a thread can take one iteration each.

    A group is all loops whose variables are the indices, at one position, of every access to the buffers that ``op``
    writes. What happens at different values of them then happens in different places.
    """
    written = {a.root for a in accesses if a.stores}
    inside = [a for a in accesses if a.root in written]
    buffers = {a.root: a.buffer for a in inside}
    if not inside or any(a.buffer != buffers[a.root] or _defined_in(a.buffer, op) for a in inside):
        return []
    groups: list[list[Any]] = []
    for position in range(min(len(a.at) for a in inside)):
        loops: list[Any] = []
        for access in inside:
            loop = _loop_of(access.at[position], op)
            if loop is None or loop in leading or any(loop in group for group in groups):
                break
            if loop not in loops:
                loops.append(loop)
        else:
            if loops and _is_group(op, loops):
                groups.append(loops)
    return groups


def _loop_of(index: Any, op: Any) -> Any:
    """The ``scf.for`` without results in (or at) ``op`` whose variable ``index`` is."""
    if not isinstance(index, ir.BlockArgument) or index.arg_number != 0:
        return None
    loop = index.owner.owner.operation
    return loop if loop.name == "scf.for" and not len(loop.results) and _defined_in(index, op) else None


def _is_group(op: Any, loops: Sequence[Any]) -> bool:
    """Whether ``loops`` run over the same numbers, known before ``op``, and none of them in another one."""
    first = bounds(loops[0])
    if any(_defined_in(value, op) for bound in first for value in bound if not isinstance(value, int)):
        return False
    if any(bounds(loop) != first for loop in loops[1:]):
        return False
    return not any(loop != other and _is_in(loop, other) for loop in loops for other in loops)


def _is_in(loop: Any, other: Any) -> bool:
    return _defined_in(loop.regions[0].blocks[0].arguments[0], other)


def _marked(chain: Sequence[Any], mark: str) -> list[Any]:
    return list(itertools.takewhile(lambda loop: mark in loop.attributes, chain))


def _reads_elsewhere(accesses: Sequence[Access], written: Access) -> bool:
    """Whether something else than the place that is written is read of the buffer that ``written`` writes."""
    return any(a.root == written.root and (a.buffer != written.buffer or a.at != written.at) for a in accesses)


def _accesses(loop: Any) -> list[Access]:
    found = []
    for inner in _inside(loop):
        if inner.name in ("memref.load", "memref.store"):
            stores = inner.name == "memref.store"
            buffer, *at = list(inner.operands)[1 if stores else 0 :]
            found.append(Access(inner, buffer_of(buffer), buffer, at, stores))
    return found


def _chain(op: Any, written: set[Any]) -> list[Any]:
    """The loops from ``op`` inwards, perfectly nested but for arithmetic and loads, whose bounds are known before
    ``op``.
    """
    found: list[Any] = []
    loop = op
    while loop is not None and not len(loop.results) and not any(_defined_in(v, op) for v in loop.operands):
        found.append(loop)
        loop = _only_inner(loop, written)
    return found


def _only_inner(loop: Any, written: set[Any]) -> Any:
    """The loop that is all of ``loop``'s body but for arithmetic, and loads of what is not ``written``, before it."""
    ops = [o.operation for o in loop.regions[0].blocks[0].operations][:-1]
    if not ops or ops[-1].name not in ("scf.for", "scf.parallel"):
        return None
    for op in ops[:-1]:
        reads = op.name == "memref.load" and buffer_of(op.operands[0]) not in written
        if not (reads or op.name.startswith(_DEVICE_PREFIXES) or op.name in VIEWS or op.name == "memref.dim"):
            return None
    return ops[-1]


def _is_independent(loop: Any, accesses: Sequence[Access], within: Any) -> bool:
    """Whether iterations of ``loop`` touch different places, over all that happens ``within`` a loop around it."""
    if loop.name == "scf.parallel" and loop == within:
        return True
    if loop.name != "scf.for":
        return False
    variable = loop.regions[0].blocks[0].arguments[0]
    for root in {a.root for a in accesses if a.stores}:
        same = [a for a in accesses if a.root == root]
        first = same[0]
        if any(a.buffer != first.buffer for a in same) or _defined_in(first.buffer, within):
            return False
        if not any(
            _is_one_to_one(index, variable, within) and all(a.at[position] == index for a in same)
            for position, index in enumerate(first.at)
        ):
            return False
    return True


def _is_one_to_one(index: Any, variable: Any, within: Any) -> bool:
    """Whether ``index`` takes different values for different values of ``variable``, whatever else happens
    ``within``.
    """
    if index == variable:
        return True
    if isinstance(index, ir.BlockArgument):
        return False
    op = index.owner.operation
    if op.name not in ("arith.addi", "arith.subi"):
        return False
    operands = list(op.operands)
    for mine, other in (operands, operands[::-1]):
        if _is_one_to_one(mine, variable, within) and not _defined_in(other, within):
            return True
    return False


def trips(loops: Sequence[Any], unknown: int) -> int:
    """Iterations of the loops together; ``unknown`` when that is not known."""
    total = 1
    for lower, upper, step in (bound for loop in loops for bound in bounds(loop)):
        if not (isinstance(lower, int) and isinstance(upper, int) and isinstance(step, int)):
            return unknown
        total *= max(0, -((lower - upper) // step))
    return total


def move_nest(op: Any, groups: Sequence[Sequence[Any]], variables: Sequence[Any]) -> None:
    """Move the nest ``op`` to the ambient insertion point, with one iteration in place of each loop of ``groups``."""
    op.detach_from_parent()
    ir.InsertionPoint.current.insert(op)
    values = list(variables)
    for loops in groups:
        count = len(loops[0].regions[0].blocks[0].arguments)
        for loop in loops:
            block = loop.regions[0].blocks[0]
            for argument, value in zip(list(block.arguments), values[:count], strict=True):
                argument.replace_all_uses_with(value)
            for inner in [o.operation for o in block.operations][:-1]:
                inner.move_before(loop)
            loop.erase()
        values = values[count:]
