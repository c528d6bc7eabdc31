"""Ops on LLVM's pointers: loads, stores, addresses, atomics; and LLVM's structs."""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from kc.agents.execution.errors import ExecutionError
from kc.agents.execution.grid.nodes import Node
from kc.agents.execution.grid.registry import op
from kc.agents.execution.grid.scalars import unsigned
from kc.agents.execution.grid.storage import load_at, store_at, update
from kc.agents.execution.grid.types import Type, type_of

if TYPE_CHECKING:
    from kc.agents.execution.grid.warp import Warp

Array = np.ndarray
_DYNAMIC_GEP = -(1 << 31)


def _extents(kind: Type) -> tuple[int, ...]:
    return tuple(int(e or 0) for e in kind.shape)


def _aligned(warp: Warp, node: Node, addresses: Array, kind: Type, mask: Array) -> None:
    wanted = node.attributes.get("alignment") or (kind.bytes & -kind.bytes)
    bad = mask & (addresses % wanted != 0)
    if bad.any():
        lane = int(np.flatnonzero(bad)[0])
        warp.who.tell(warp.findings, "bounds", "alignment", kind.text, 0, kind.bytes, lane,
                      f"accesses {kind.bytes} bytes at an address that is not a multiple of {wanted}")


def _number(kind: Type, node: Node) -> Type:
    if kind.form not in ("number", "pointer"):
        raise ExecutionError("unsupported", f"{node.name} of {kind.text} at {node.place}", node.name)
    return kind


@op("llvm.load")
def _llvm_load(warp: Warp, node: Node, values: list[Any], mask: Array) -> Array:
    kind, addresses = _number(node.types[0], node), warp.spread(values[0])
    _aligned(warp, node, addresses, kind, mask)
    return load_at(warp, addresses, kind, _extents(kind), mask, bool(node.attributes.get("ordering")))


@op("llvm.store")
def _llvm_store(warp: Warp, node: Node, values: list[Any], mask: Array) -> tuple[()]:
    kind, addresses = _number(node.operand_types[0], node), warp.spread(values[1])
    _aligned(warp, node, addresses, kind, mask)
    store_at(warp, addresses, warp.spread(values[0]), mask, bool(node.attributes.get("ordering")))
    return ()


def size_of(kind: Type) -> int:
    """Size of a value in memory, with padding."""
    if kind.form in ("number", "pointer"):
        return kind.bytes
    return sum(size_of(p) for p in kind.parts)


@op("llvm.getelementptr")
def _gep(warp: Warp, node: Node, values: list[Any], mask: Array) -> Array:
    kind = type_of(node.attributes["elem_type"])
    dynamic = iter(values[1:])
    address = values[0]
    for number, constant in enumerate(node.attributes["rawConstantIndices"]):
        index = next(dynamic).astype(np.int64) if constant == _DYNAMIC_GEP else constant
        if number == 0:
            address = address + index * size_of(kind)
            continue
        if kind.form == "struct" and kind.text.startswith("!llvm.array"):
            kind = kind.parts[0] if kind.parts else type_of("i8")
            address = address + index * size_of(kind)
        else:
            raise ExecutionError("unsupported", f"llvm.getelementptr into {kind.text} at {node.place}", node.name)
    return np.asarray(address, np.int64)


@op("llvm.alloca")
def _alloca(warp: Warp, node: Node, values: list[Any], mask: Array) -> Array:
    kind = type_of(node.attributes["elem_type"])
    return warp.local(int(values[0].max()) * size_of(kind), f"stack ({node.place})")


@op("llvm.mlir.addressof")
def _addressof(warp: Warp, node: Node, values: list[Any], mask: Array) -> Array:
    return np.array([warp.global_named(node.attributes["global_name"], node.types[0].space).base])


@op("llvm.mlir.zero", "llvm.mlir.undef", "llvm.mlir.poison", "ub.poison")
def _zero(warp: Warp, node: Node, values: list[Any], mask: Array) -> Any:
    def make(kind: Type) -> Any:
        if kind.form == "struct":
            return tuple(make(p) for p in kind.parts)
        return np.zeros((1, *_extents(_number(kind, node))), kind.dtype)

    return make(node.types[0])


_RMW = ("xchg", "add", "sub", "and", "nand", "or", "xor", "max", "min", "umax", "umin", "fadd", "fsub", "fmax", "fmin",
        "uinc_wrap", "udec_wrap")
_RMW_OPS = {
    "add": "arith.addi", "sub": "arith.subi", "and": "arith.andi", "or": "arith.ori", "xor": "arith.xori",
    "max": "arith.maxsi", "min": "arith.minsi", "umax": "arith.maxui", "umin": "arith.minui", "fadd": "arith.addf",
    "fsub": "arith.subf", "fmax": "arith.maxnumf", "fmin": "arith.minnumf",
}


def _wraps_up(a: Array, b: Array) -> Array:
    return np.where(unsigned(a) >= unsigned(b), 0, a + 1).astype(a.dtype)


def _wraps_down(a: Array, b: Array) -> Array:
    return np.where((a == 0) | (unsigned(a) > unsigned(b)), b, a - 1).astype(a.dtype)


_WRAPS: dict[str, Callable[[Array, Array], Array]] = {
    "xchg": lambda a, b: b, "uinc_wrap": _wraps_up, "udec_wrap": _wraps_down,
}


def _ordering(node: Node, name: str = "ordering") -> str:
    code = node.attributes.get(name, 2)
    order = {0: "not_atomic", 1: "unordered", 2: "monotonic", 4: "acquire", 5: "release", 6: "acq_rel", 7: "seq_cst"}
    return order.get(code, "monotonic") if isinstance(code, int) else str(code)


@op("llvm.atomicrmw")
def _atomicrmw(warp: Warp, node: Node, values: list[Any], mask: Array) -> Array:
    from kc.agents.execution.grid.scalars import SCALARS

    code = node.attributes["bin_op"]
    name = _RMW[code] if isinstance(code, int) and code < len(_RMW) else str(code)
    if name not in ("xchg", "uinc_wrap", "udec_wrap") and name not in _RMW_OPS:
        raise ExecutionError("unsupported", f"llvm.atomicrmw {name} at {node.place}", node.name)
    combine = _WRAPS.get(name) or (lambda a, b: SCALARS[_RMW_OPS[name]](node, a, b))
    return update(warp, node, warp.spread(values[0]), warp.spread(values[1]), _scalar(node.operand_types[1]), combine,
                  mask, _ordering(node))


@op("llvm.cmpxchg")
def _cmpxchg(warp: Warp, node: Node, values: list[Any], mask: Array) -> tuple[Any, ...]:
    expected, new = warp.spread(values[1]), warp.spread(values[2])
    kind = _scalar(node.operand_types[1])
    old = np.zeros(warp.lanes, kind.dtype)
    for lane in np.flatnonzero(mask):

        def swap(a: Array, b: Array, wanted: Any = expected[lane]) -> Array:
            return np.where(a == wanted, b, a)

        only = np.arange(warp.lanes) == lane
        ordering = _ordering(node, "success_ordering")
        old[lane] = update(warp, node, warp.spread(values[0]), new, kind, swap, only, ordering)[lane]
    return old, old == expected


def _scalar(kind: Type) -> Type:
    """As the element of a memref, which is what ``load_at`` asks for."""
    return Type(kind.form, kind.text, kind.dtype, element=kind.element, lanes=_extents(kind))


