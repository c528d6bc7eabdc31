"""To how many bytes the buffers of a region's arguments are aligned in every call.

What is relied on: kc's allocators (64 bytes on the CPU, 256 on a GPU), and that the runtime takes no array on a GPU
that does not start at a multiple of 16 bytes. An array that a caller gives to a program for the CPU may start at any
element: nothing is told of it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from kc.agents.regions.axes import SCALAR
from kc.agents.regions.calls import caller_of, calls_of, is_called
from kc.agents.regions.find import Region
from kc.agents.regions.forms import Forms
from kc.agents.regions.symbols import is_public
from kc.bindings import ir
from kc.conditions import Residue, residue

#: bytes at multiples of which an allocation starts (``kc_runtime.h``, ``cuda_program.cpp``)
_HOST, _DEVICE = 64, 256
#: what the runtime asks of an array on a GPU (``kc.runtime.call``)
_GPU_ARGUMENT = 16
_SAME = frozenset({"memref.cast", "memref.expand_shape", "memref.collapse_shape", "tensor.cast"})
#: uses of a tensor that give it to somebody whole: it gets a buffer of its own
_WHOLE = frozenset({"func.call", "func.return", "tensor.dim"})


def alignment_facts(region: Region, target: str) -> list[str]:
    """``align(argN,BYTES)`` for arguments of which more is known than that their elements are aligned."""
    function = region.operation
    calls = calls_of(function, region.module) if region.level in ("linalg", "loops", "gpu") else []
    callers = [caller_of(call) for call in calls]
    on_gpu = target.startswith("nvptx")
    if not calls or any(caller is None for caller in callers) or (region.level == "linalg" and not on_gpu):
        return []
    found = []
    for number, argument in enumerate(function.regions[0].blocks[0].arguments):
        if not isinstance(argument.type, (ir.RankedTensorType, ir.MemRefType)) or not _plain(argument.type):
            continue
        bytes_ = 0
        for call, caller in zip(calls, callers, strict=True):
            assert caller is not None
            bytes_ = math.gcd(bytes_, _of(call.operands[number], caller, region.module, on_gpu))
        if bytes_ > 8:  # an element says as much
            found.append(f"align(arg{number},{bytes_})")
    return found


def _plain(kind: ir.Type) -> bool:
    """Whether a type is a tensor, or a buffer that starts where its memory does."""
    return isinstance(kind, ir.RankedTensorType) or "strided<" not in str(kind)


def _of(value: ir.Value, caller: ir.Operation, module: ir.Operation, on_gpu: bool) -> int:
    """Bytes to which a buffer, or the buffer that a tensor becomes, is aligned; 1 where nothing is known."""
    while not isinstance(value.owner, ir.Block) and value.owner.name in _SAME:
        value = value.owner.operation.operands[0]
    allocation = _DEVICE if on_gpu else _HOST
    if isinstance(value.owner, ir.Block):
        entry = value.owner == caller.regions[0].blocks[0] and is_public(caller)
        return _GPU_ARGUMENT if entry and on_gpu and not is_called(caller, module) else 1
    op = value.owner.operation
    if op.name == "memref.alloc":
        return allocation
    if op.name == "memref.view":
        base = _of(op.operands[0], caller, module, on_gpu)
        return math.gcd(base, *_offset(op.operands[1], caller, module))
    if op.name == "tensor.empty" and _given_whole([value]):
        return _GPU_ARGUMENT
    if op.name == "func.call" and isinstance(value.type, ir.RankedTensorType):
        position = next(number for number, result in enumerate(op.results) if result == value)
        into = op.operands[len(op.operands) - len(op.results) + position] if op.operands else None
        empty = into is not None and not isinstance(into.owner, ir.Block) and into.owner.name == "tensor.empty"
        return _GPU_ARGUMENT if into is not None and empty and _given_whole([value, into]) else 1
    return 1


def _offset(value: ir.Value, caller: ir.Operation, module: ir.Operation) -> Residue:
    """What is known of where a view starts in its buffer, in bytes."""
    if not isinstance(value.owner, ir.Block) and value.owner.name == "arith.constant":
        return 0, int(ir.IntegerAttr(value.owner.operation.attributes["value"]).value)
    return residue(Forms(caller, module).of(value, SCALAR), {})


def _given_whole(values: Sequence[ir.Value]) -> bool:
    """Whether no part of a tensor, nor it as a part of another, is used: only calls and results take it."""
    return all(use.owner.name in _WHOLE for value in values for use in value.uses)
