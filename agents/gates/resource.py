"""Gate ``resource``, its static part: recursion, stack memory, and types too large for any region."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kc.agents.gates.case import Case, callee, functions, place, walk
from kc.agents.gates.ranges import Ranges
from kc.agents.gates.reasons import Rejection

if TYPE_CHECKING:
    from kc.bindings import ir

_ALLOCAS = ("memref.alloca", "llvm.alloca")
_LOOPS = (
    "scf.for",
    "scf.while",
    "scf.parallel",
    "scf.forall",
    "affine.for",
    "affine.parallel",
    "omp.loop_nest",
    "linalg.generic",
)
#: bytes that one alloca may take
_STACK = 1 << 20
#: bytes that those in a loop may take together: lowering gives none of them back before the return
_STACK_OF_LOOPS = 1 << 14
#: loops with bounds, and whether only their first argument counts (what else ``scf.for`` has, it carries); ``scf.if``
#: counts nothing
_COUNTED = {"scf.for": True, "affine.for": True, "scf.parallel": False, "affine.parallel": False, "scf.if": False}
#: elements of a value's type, and how many times more than the largest of the original
_ELEMENTS, _TIMES = 1 << 26, 256
_SHAPE = re.compile(r"(?:tensor|memref|vector)<((?:\d+x)+)")


def check(case: Case) -> Rejection | None:
    """The first construct whose need of resources has no bound."""
    return _recursion(case.proposal) or _stack(case) or _types(case)


def _recursion(module: ir.Module) -> Rejection | None:
    calls = {
        name: [c for op in walk(body) if (c := _target(op)) is not None] for name, body in functions(module).items()
    }
    state: dict[str, int] = {}

    def circle(start: str) -> str | None:
        stack = [(start, iter(calls[start]))]
        state[start] = 1
        while stack:
            name, rest = stack[-1]
            target = next(rest, None)
            if target is None:
                state[name] = 2
                stack.pop()
            elif state.get(target) == 1:
                return target
            elif target in calls and target not in state:
                state[target] = 1
                stack.append((target, iter(calls[target])))
        return None

    for name in calls:
        if name not in state and (found := circle(name)) is not None:
            return Rejection("resource.recursion", f"@{found} calls itself, directly or through others")
    return None


def _target(op: ir.Operation) -> str | None:
    if op.name in ("func.call", "llvm.call", "gpu.launch_func"):
        return callee(op)
    if op.name == "stablehlo.composite":
        return str(op.attributes["decomposition"])[1:]
    return None


def _stack(case: Case) -> Rejection | None:
    ranges: Ranges | None = None
    for op in walk(case.proposal.operation):
        if op.name not in _ALLOCAS:
            continue
        ranges = ranges or Ranges(case.proposal, case.contract)
        size = _bytes(op, ranges) if op.name == "memref.alloca" else None
        if _in_loop(op):
            times = _iterations(op, ranges)
            if size is None or times is None or size * times > _STACK_OF_LOOPS:
                how_much = "" if size is None or times is None else f", {size * times:,} bytes in all"
                message = f"takes stack memory in a loop{how_much}; it is given back only at the return"
                return Rejection("resource.stack", f"{place(op)} {message}", op=op.name)
        elif op.name == "memref.alloca" and (size is None or size > _STACK):
            how_much = "as much stack memory as a size without bound" if size is None else f"{size:,} bytes of stack"
            return Rejection(
                "resource.stack", f"{place(op)} takes {how_much}; at most {_STACK:,} are fine", op=op.name
            )
    return None


def _iterations(op: ir.Operation, ranges: Ranges) -> int | None:
    """Most times that loops with known bounds run an op; None where another loop is among them."""
    times, parent = 1, op.parent
    while parent is not None and parent.operation.name not in ("func.func", "gpu.func", "memref.alloca_scope"):
        outer = parent.operation
        counted = _COUNTED.get(outer.name)
        if counted is None:
            return None
        arguments = outer.regions[0].blocks[0].arguments
        for value in list(arguments)[: 1 if counted else len(arguments)]:
            known = ranges.of(value)
            if known is None:
                return None
            times *= max(0, known[1] - known[0] + 1)
        parent = outer.parent
    return times


def _bytes(op: ir.Operation, ranges: Ranges) -> int | None:
    """Most bytes that an alloca takes; None without a bound."""
    from kc.bindings import ir

    kind = ir.MemRefType(op.results[0].type)
    total = _element_bytes(str(kind.element_type))
    dynamic = iter(op.operands)
    for axis in range(kind.rank):
        if kind.is_dynamic_dim(axis):
            extent = ranges.of(next(dynamic))
            if extent is None:
                return None
            total *= max(0, extent[1])
        else:
            total *= kind.get_dim_size(axis)
    return total


def _element_bytes(element: str) -> int:
    lanes = 1
    match = re.match(r"vector<((?:\d+x)+)", element)
    if match:
        for extent in match[1].split("x")[:-1]:
            lanes *= int(extent)
    bits = re.search(r"(\d+)>?$", element)
    return lanes * max(1, (int(bits[1]) if bits else 64) // 8)


def _in_loop(op: ir.Operation) -> bool:
    """Whether an op may run more than once before its function returns."""
    inner, parent = op, op.parent
    while parent is not None:
        outer = parent.operation
        if outer.name == "memref.alloca_scope":
            return False
        if outer.name in _LOOPS:
            return True
        if len(outer.regions) and any(len(region.blocks) > 1 for region in outer.regions) and _in_cycle(inner):
            return True
        if outer.name in ("func.func", "llvm.func", "gpu.func"):
            return False
        inner, parent = outer, outer.parent
    return False


def _in_cycle(op: ir.Operation) -> bool:
    """Whether control can come back to the op's block."""
    home = op.block
    seen: list[ir.Block] = []
    work = _successors(home)
    while work:
        block = work.pop()
        if block == home:
            return True
        if block not in seen:
            seen.append(block)
            work += _successors(block)
    return False


def _successors(block: ir.Block) -> list[ir.Block]:
    return list(block.operations[len(block.operations) - 1].operation.successors) if len(block.operations) else []


def _types(case: Case) -> Rejection | None:
    """Values whose type alone asks for far more than the original's."""
    largest = max((n for op in walk(case.original.operation) for n in _elements(op)), default=1)
    limit = max(_ELEMENTS, _TIMES * largest)
    for op in walk(case.proposal.operation):
        for count in _elements(op):
            if count > limit:
                return Rejection("resource.allocation", f"{place(op)} has a result of {count:,} elements", op=op.name)
    return None


def _elements(op: ir.Operation) -> list[int]:
    counts = []
    for result in op.results:
        match = _SHAPE.match(str(result.type))
        if match:
            total = 1
            for extent in match[1].split("x")[:-1]:
                total *= int(extent)
            counts.append(total)
    return counts
