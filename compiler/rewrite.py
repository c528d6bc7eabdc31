"""Checked rewriting: the raw bindings crash the process on ordinary mistakes (a value count that is off, an erased op
that still has users, a converter whose function was freed); here each of them is a Python exception.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Iterable, Sequence, Union

from kc.bindings import ir

if TYPE_CHECKING:
    OpLike = Union[ir.Operation, ir.OpView]
    New = Union[ir.Value, ir.Operation, ir.OpView, Sequence[ir.Value]]


class RewriteError(Exception):
    """A rewrite was used in a way that would break the IR."""


def walk_ops(op: OpLike | ir.Module, names: str | Iterable[str] | None = None) -> list[ir.Operation]:
    """A snapshot of the ops inside ``op`` (itself excluded), outermost first; only those named in ``names``.

    Collect first, act after: acting inside MLIR's walk loses the type of exceptions, and an op erased under it crashes.
    Do not use an op of the list after you erased it or an op around it.
    """
    root = op.operation
    wanted = {names} if isinstance(names, str) else None if names is None else set(names)
    found: list[ir.Operation] = []

    def visit(inner: ir.Operation) -> ir.WalkResult:
        inner = inner.operation
        if (wanted is None or inner.name in wanted) and inner != root:
            found.append(inner)
        return ir.WalkResult.ADVANCE

    root.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found


def values_of(new: New) -> list[ir.Value]:
    """The values of an op, a value, or a sequence of values."""
    if isinstance(new, ir.Value):
        return [new]
    if isinstance(new, (ir.Operation, ir.OpView)):
        return list(new.operation.results)
    return list(new)


def check_replacement(op: OpLike, new: New) -> list[ir.Value]:
    """The values that are to replace the results of ``op``; raises RewriteError when count or types do not agree."""
    operation, values = op.operation, values_of(new)
    results = list(operation.results)
    if len(values) != len(results):
        raise RewriteError(
            f"'{operation.name}' has {len(results)} results, but {len(values)} values were given to replace them"
        )
    for index, (result, value) in enumerate(zip(results, values, strict=True)):
        if result.type != value.type:
            raise RewriteError(
                f"result {index} of '{operation.name}' has type {result.type}, its replacement has {value.type}"
            )
    return values


def check_unused(op: OpLike) -> None:
    """Raises RewriteError when a result of ``op`` still has uses, or a block inside it is used from outside."""
    for index, result in enumerate(op.operation.results):
        user = next(iter(result.uses), None)
        if user is not None:
            raise RewriteError(
                f"'{op.operation.name}' cannot be erased: its result {index} is still used by '{user.owner.name}'"
            )


def replace_op(op: OpLike, new: New) -> None:
    """Replace all uses of the results of ``op`` by ``new`` (values or an op with as many results) and erase ``op``."""
    values = check_replacement(op, new)
    operation = op.operation
    for result, value in zip(list(operation.results), values, strict=True):
        if result == value:
            raise RewriteError(f"'{operation.name}' cannot be replaced by its own result")
        result.replace_all_uses_with(value)
    operation.erase()


def erase_op(op: OpLike) -> None:
    """Erase an op whose results have no uses."""
    check_unused(op)
    op.operation.erase()
