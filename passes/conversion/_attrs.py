"""Reading StableHLO's attributes."""

from __future__ import annotations

from kc.bindings import ir


def ints(op: ir.Operation, name: str, default: list[int] | None = None) -> list[int]:
    """An ``array<i64: ...>`` or ``dense<...> : tensor<Nxi64>`` attribute; ``default`` where it is absent."""
    if name not in op.attributes:
        if default is None:
            raise KeyError(f"'{op.name}' has no attribute '{name}'")
        return default
    attr = op.attributes[name]
    if isinstance(attr, ir.DenseI64ArrayAttr):
        return list(ir.DenseI64ArrayAttr(attr))
    return [int(v) for v in ir.DenseIntElementsAttr(attr)]


def pairs(op: ir.Operation, name: str, rank: int) -> list[tuple[int, int]]:
    """A ``tensor<Nx2xi64>`` attribute (padding); zeros where it is absent."""
    flat = ints(op, name, [0] * (2 * rank))
    return list(zip(flat[::2], flat[1::2], strict=True))


def integer(op: ir.Operation, name: str, default: int | None = None) -> int:
    if name not in op.attributes and default is not None:
        return default
    return ir.IntegerAttr(op.attributes[name]).value


def flags(op: ir.Operation, name: str, count: int) -> list[bool]:
    """An ``array<i1: ...>`` attribute; all False where it is absent."""
    return [bool(b) for b in ir.DenseBoolArrayAttr(op.attributes[name])] if name in op.attributes else [False] * count


def boolean(op: ir.Operation, name: str) -> bool:
    return name in op.attributes and bool(ir.BoolAttr(op.attributes[name]).value)
