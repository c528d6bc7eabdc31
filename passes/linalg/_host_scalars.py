"""Which 0-d tensors of a function the host can compute: an optimistic fixpoint over SSA values."""

from __future__ import annotations

from typing import Any

from kc.bindings import ir

_PURE = ("arith.", "math.")
#: results or regions that carry values: which operands feed which block arguments and results
CARRIERS = ("scf.for", "scf.while", "scf.if")


def is_scalar_tensor(value: Any) -> bool:
    """Whether ``value`` is a 0-d tensor of an integer, index or float type (8-bit floats are for the device)."""
    kind = value.type
    if not isinstance(kind, ir.RankedTensorType) or kind.rank != 0:
        return False
    element = kind.element_type
    if isinstance(element, ir.FloatType):
        return bool(element.width >= 16)
    return isinstance(element, (ir.IntegerType, ir.IndexType))


def terminator(block: Any) -> Any:
    """The last operation of ``block``."""
    return list(block.operations)[-1].operation


def operations(root: Any) -> list[Any]:
    """Everything nested in ``root``, outer ops first, but not the bodies of linalg ops."""
    found: list[Any] = []

    def visit(op: Any) -> ir.WalkResult:
        found.append(op.operation)
        return ir.WalkResult.SKIP if op.name.startswith("linalg.") else ir.WalkResult.ADVANCE

    for region in root.regions:
        for block in region.blocks:
            for op in block.operations:
                op.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found


def generic_operands(op: Any) -> tuple[list[Any], list[Any]]:
    """(inputs, outputs) of a ``linalg.generic``."""
    count = ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"])[0]
    operands = list(op.operands)
    return operands[:count], operands[count:]


def is_scalar_generic(op: Any) -> bool:
    """Whether ``op`` is a ``linalg.generic`` over no loops, on scalars and 0-d tensors, with a body of plain
    arithmetic.
    """
    if op.name != "linalg.generic" or len(ir.ArrayAttr(op.attributes["iterator_types"])):
        return False
    inputs, outputs = generic_operands(op)
    if not all(is_scalar_tensor(v) for v in outputs):
        return False
    if any(isinstance(v.type, ir.ShapedType) and not is_scalar_tensor(v) for v in inputs):
        return False
    body = [o.operation for o in op.regions[0].blocks[0].operations][:-1]
    return all(o.name.startswith(_PURE) and not len(o.regions) for o in body)


class HostValues:
    """The 0-d tensors that can be computed on the host: ``value in host``.

    Everything is assumed to be until an operand shows otherwise, so a loop's counter is found although it depends on
    itself.
    """

    def __init__(self, function: Any) -> None:
        self._device: set[Any] = set()
        self._ops = operations(function)
        for block in (b for region in function.regions for b in region.blocks):
            self._device.update(a for a in block.arguments if is_scalar_tensor(a))
        changed = True
        while changed:
            before = len(self._device)
            for op in self._ops:
                self._visit(op)
            changed = len(self._device) != before

    def __contains__(self, value: Any) -> bool:
        return is_scalar_tensor(value) and value not in self._device

    def carried(self, op: Any) -> list[int]:
        """Positions of the carried values (for ``scf.if``: results) of ``op`` that become scalars."""
        if op.name == "scf.while":
            return [i for i, a in enumerate(op.regions[0].blocks[0].arguments) if a in self]
        return self.returned(op)

    def returned(self, op: Any) -> list[int]:
        """Positions of the results of ``op`` (of ``scf.while``: also of its body's arguments) that become scalars."""
        return [i for i, value in enumerate(op.results) if value in self]

    def _flow(self, sources: list[Any], targets: list[Any]) -> None:
        """``targets`` take their value from ``sources``: one of these on the device puts all targets there."""
        if any(v in self._device for v in sources):
            self._device.update(v for v in targets if is_scalar_tensor(v))

    def _visit(self, op: Any) -> None:
        if op.name in ("arith.constant", "tensor.from_elements", "tensor.empty", "linalg.fill", "tensor.insert"):
            return
        if is_scalar_generic(op):
            inputs, outputs = generic_operands(op)
            arguments = list(op.regions[0].blocks[0].arguments)[len(inputs) :]
            read = inputs + [v for v, a in zip(outputs, arguments, strict=True) if list(a.uses)]
            if any(v in self._device for v in read if is_scalar_tensor(v)) and not self._only_for_the_host(op, read):
                self._device.update(op.results)
        elif op.name == "scf.for":
            block = op.regions[0].blocks[0]
            for init, argument, result, after in zip(
                list(op.operands)[3:], list(block.arguments)[1:], op.results, terminator(block).operands, strict=True
            ):
                self._flow([init, after], [argument, result])
        elif op.name == "scf.while":
            before, body = op.regions[0].blocks[0], op.regions[1].blocks[0]
            for init, argument, after in zip(op.operands, before.arguments, terminator(body).operands, strict=True):
                self._flow([init, after], [argument])
            passed = list(terminator(before).operands)[1:]
            for value, argument, result in zip(passed, body.arguments, op.results, strict=True):
                self._flow([value], [argument, result])
        elif op.name == "scf.if":
            ends = [terminator(region.blocks[0]).operands for region in op.regions if len(region.blocks)]
            for result, *values in zip(op.results, *ends, strict=True):
                self._flow(values, [result])
        else:
            self._device.update(v for v in op.results if is_scalar_tensor(v))
            for region in op.regions:
                for block in region.blocks:
                    self._device.update(a for a in block.arguments if is_scalar_tensor(a))

    def _only_for_the_host(self, op: Any, read: list[Any]) -> bool:
        """Whether only the host looks at the results, and fetching the inputs costs no more than fetching them.

        Then ``i < n`` with ``n`` on the device fetches ``n``, which a loop does once, instead of a predicate per
        iteration.
        """
        users = [use.owner.operation for value in op.results for use in value.uses]
        if not users or any(user.name != "tensor.extract" for user in users):
            return False
        fetched = {v for v in read if v in self._device}
        return len(fetched) <= len(op.results) or all(_defined_outside_loop(v, op) for v in fetched)


def _defined_outside_loop(value: Any, op: Any) -> bool:
    """Whether ``value`` is fixed while the loop around ``op`` runs."""
    loop = op.parent
    while loop is not None and loop.operation.name not in ("scf.for", "scf.while"):
        loop = loop.operation.parent
    if loop is None:
        return False
    owner = value.owner.owner if isinstance(value, ir.BlockArgument) else value.owner
    owner = owner.operation
    if isinstance(value, ir.BlockArgument) and owner == loop.operation:
        return False
    while owner is not None:
        if owner == loop.operation:
            return False
        owner = owner.parent.operation if owner.parent is not None else None
    return True
