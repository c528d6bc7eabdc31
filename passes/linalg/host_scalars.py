"""``kc-host-scalars``: what the host can compute stays on the host, as scalars."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any, ClassVar

from kc.bindings import ir
from kc.pass_base import Pass, PassContext
from kc.passes.linalg._host_scalars import (
    CARRIERS,
    HostValues,
    generic_operands,
    is_scalar_generic,
    is_scalar_tensor,
    operations,
    terminator,
)
from kc.passes.linalg.splat_to_fill import fill, splat_scalar


@dataclasses.dataclass(frozen=True)
class HostScalars(Pass):
    """Turns arithmetic on 0-d tensors that the host can do into scalar ``arith``.

    A 0-d tensor is the host's when it is a constant, ``tensor.from_elements`` of a scalar, a ``linalg.generic`` over
    no loops of such tensors, or carried through ``scf.for``, ``scf.while`` or ``scf.if`` by such values only (an
    optimistic fixpoint: a counter depends on itself). Loops then carry scalars. A 0-d ``linalg.generic`` of device
    values is done on the host as well where only ``tensor.extract`` reads its result and that saves transfers.

    A ``linalg.generic`` takes a host value as a scalar operand (a constant: in its body), so that it becomes a kernel's
    argument; a host value that is needed as a tensor is made with ``linalg.fill``. What is left on the device and
    extracted by the host, the predicate of a data-dependent loop, becomes a copy later.

    ::

        %r = scf.while (%i = %c0) : (tensor<i32>) { %p = linalg.generic.. %i, %n; %q = tensor.extract %p[] ..
        // becomes
        %r = scf.while (%i = %zero) : (i32) { %q = arith.cmpi slt, %i, %n_scalar : i32 ..
    """

    name: ClassVar[str] = "kc-host-scalars"
    anchor: ClassVar[str] = "func.func"
    level: ClassVar[str] = "linalg"

    def run(self, op: ir.Operation, ctx: PassContext) -> None:
        host = HostValues(op)
        ops = operations(op)
        generics = [o for o in ops if is_scalar_generic(o) and all(v in host for v in o.results)]
        # positions first: rewriting changes the types that the analysis looks at
        carried = [(o, host.carried(o), host.returned(o)) for o in ops if o.name in CARRIERS]
        for generic in generics:
            _inline(generic)
        for carrier, positions, returned in reversed(carried):
            if positions or returned:
                _carry_scalars(carrier, positions, returned)
        for constant in operations(op):
            _make_scalar(constant)
        _fold_extracts(op)
        for generic in [o for o in operations(op) if o.name == "linalg.generic"]:
            _take_scalars(generic)
        _fold_extracts(op)
        for left in [o for o in operations(op) if o.name == "tensor.from_elements" and is_scalar_tensor(o.results[0])]:
            _fill(left)


def _create(name: str, results: Iterable[Any], operands: Iterable[Any], loc: Any, attributes: Any = None) -> Any:
    op = ir.Operation.create(name, results=list(results), operands=list(operands), attributes=attributes, loc=loc)
    return op.results[0]


def _extract(tensor: Any, loc: Any) -> Any:
    return _create("tensor.extract", [tensor.type.element_type], [tensor], loc)


def _wrap(scalar: Any, loc: Any) -> Any:
    return _create("tensor.from_elements", [ir.RankedTensorType.get([], scalar.type, loc=loc)], [scalar], loc)


def _inline(op: Any) -> None:
    """A 0-d ``linalg.generic`` as scalar ops between ``tensor.extract`` and ``tensor.from_elements``."""
    block = op.regions[0].blocks[0]
    inputs, outputs = generic_operands(op)
    with ir.InsertionPoint(op):
        for value, argument in zip(inputs + outputs, block.arguments, strict=True):
            if list(argument.uses):
                argument.replace_all_uses_with(_extract(value, op.location) if is_scalar_tensor(value) else value)
    end = terminator(block)
    for inner in [o.operation for o in block.operations][:-1]:
        inner.move_before(op)
    with ir.InsertionPoint(op):
        for value, result in zip(list(end.operands), list(op.results), strict=True):
            result.replace_all_uses_with(_wrap(value, op.location))
    op.erase()


def _carry_scalars(op: Any, positions: list[int], returned: list[int]) -> None:
    """Carry scalars at ``positions`` of a loop's values; give them back at ``returned`` (for ``scf.if``: from the
    branches).
    """
    loc = op.location
    operands = list(op.operands)
    first = 3 if op.name == "scf.for" else 0
    with ir.InsertionPoint(op):
        if op.name != "scf.if":
            for i in positions:
                operands[first + i] = _extract(operands[first + i], loc)
        kinds = [value.type.element_type if i in returned else value.type for i, value in enumerate(op.results)]
        attributes = {name: op.attributes[name] for name in op.attributes}
        new = ir.Operation.create(
            op.name, results=kinds, operands=operands, attributes=attributes, regions=len(op.regions), loc=loc
        )
    for old_region, new_region in zip(op.regions, new.regions, strict=True):
        for block in list(old_region.blocks):
            block.append_to(new_region)
    blocks = [region.blocks[0] for region in new.regions if len(region.blocks)]
    if op.name == "scf.for":
        _scalar_arguments(blocks[0], positions, 1)
        _scalar_ends(blocks[0], positions, 0)
    elif op.name == "scf.while":
        _scalar_arguments(blocks[0], positions, 0)
        _scalar_ends(blocks[0], returned, 1)  # scf.condition: the predicate comes first
        _scalar_arguments(blocks[1], returned, 0)
        _scalar_ends(blocks[1], positions, 0)
    else:
        for block in blocks:
            _scalar_ends(block, returned, 0)
    with ir.InsertionPoint.after(new):
        for i, (before, after) in enumerate(zip(list(op.results), list(new.results), strict=True)):
            before.replace_all_uses_with(_wrap(after, loc) if i in returned else after)
    op.erase()


def _scalar_arguments(block: Any, positions: list[int], first: int) -> None:
    with ir.InsertionPoint.at_block_begin(block):
        for i in positions:
            argument = block.arguments[first + i]
            argument.set_type(argument.type.element_type)
            wrapped = _wrap(argument, argument.location)
            argument.replace_all_uses_except(wrapped, wrapped.owner.operation)


def _scalar_ends(block: Any, positions: list[int], first: int) -> None:
    end = terminator(block)
    with ir.InsertionPoint(end):
        for i in positions:
            end.operands[first + i] = _extract(end.operands[first + i], end.location)


def _make_scalar(op: Any) -> None:
    """A 0-d constant or ``linalg.fill`` as ``tensor.from_elements`` of its scalar."""
    if not len(op.results) or not is_scalar_tensor(op.results[0]):
        return
    with ir.InsertionPoint(op):
        if op.name == "arith.constant":
            scalar = splat_scalar(op)
            if scalar is None:
                return
        elif op.name in ("linalg.fill", "tensor.insert") and len(op.operands) == 2:
            scalar = op.operands[0]
        else:
            return
        op.results[0].replace_all_uses_with(_wrap(scalar, op.location))
    op.erase()


def _fold_extracts(function: Any) -> None:
    """``tensor.extract`` of ``tensor.from_elements`` is the element."""
    for op in [o for o in operations(function) if o.name == "tensor.extract" and is_scalar_tensor(o.operands[0])]:
        tensor = op.operands[0]
        if not isinstance(tensor, ir.BlockArgument) and tensor.owner.operation.name == "tensor.from_elements":
            op.results[0].replace_all_uses_with(tensor.owner.operation.operands[0])
            op.erase()
    for op in reversed(operations(function)):
        if op.name == "tensor.from_elements" and not list(op.results[0].uses):
            op.erase()


def _take_scalars(op: Any) -> None:
    """Give a ``linalg.generic`` the host values among its inputs as scalars, constants in its body."""
    block = op.regions[0].blocks[0]
    for i, value in enumerate(generic_operands(op)[0]):
        if not is_scalar_tensor(value) or isinstance(value, ir.BlockArgument):
            continue
        producer = value.owner.operation
        if producer.name != "tensor.from_elements":
            continue
        scalar = producer.operands[0]
        source = None if isinstance(scalar, ir.BlockArgument) else scalar.owner.operation
        if source is not None and source.name == "arith.constant":
            inner = source.clone(ip=ir.InsertionPoint.at_block_begin(block))
            block.arguments[i].replace_all_uses_with(inner.results[0])
        op.operands[i] = scalar


def _fill(op: Any) -> None:
    """A host value that is needed as a tensor: filled on the device, which does not wait for anything."""
    result, scalar, loc = op.results[0], op.operands[0], op.location
    if not list(result.uses):
        op.erase()
        return
    with ir.InsertionPoint(op):
        filled = fill(scalar, result.type, loc)
    result.replace_all_uses_with(filled)
    op.erase()
