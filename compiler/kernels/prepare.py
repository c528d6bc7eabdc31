"""Puts a function into the form that kernel formation reads: fills for splat constants, sizes traced to arguments."""
from __future__ import annotations

from kc.bindings import ir
from kc.kernels import named
from kc.kernels.graph import outer_values, walk_nested
from kc.kernels.shapes import DYNAMIC, static_size
from kc.kernels.sizes import size_value, trace_size

_CONTROL = ("scf.for", "scf.while", "scf.if", "scf.execute_region", "scf.index_switch")
_FEW = 12  # ops that are cheaper to repeat than to keep the results of


def prepare(function: ir.Operation) -> None:
    """Rewrites ``function`` in place without changing what it computes."""
    _split_pads(function)
    _fill_splats(function)
    _trace_sizes(function)
    _sink(function)


def _split_pads(function: ir.Operation) -> None:
    """``tensor.pad`` with one value becomes a fill and a ``tensor.insert_slice``: ops with a destination."""
    from kc.bindings import arith, tensor

    for op in [inner for inner in walk_nested(function) if inner.name == "tensor.pad"]:
        block = op.regions[0].blocks[0]
        value = block.operations[len(block.operations) - 1].operation.operands[0]
        if value.owner == block or (not isinstance(value.owner, ir.Block) and value.owner.operation.block == block):
            continue  # the padding depends on where it stands
        source, shape = op.operands[0], ir.RankedTensorType(op.results[0].type)
        static = {name: [int(item) for item in ir.DenseI64ArrayAttr(op.attributes[name])]
                  for name in ("static_low", "static_high")}  # fmt: skip
        dynamic = list(op.operands)[1:]
        low_values = [dynamic.pop(0) if item == DYNAMIC else item for item in static["static_low"]]
        high_values = [dynamic.pop(0) if item == DYNAMIC else item for item in static["static_high"]]
        with ir.InsertionPoint(op), op.location:
            index = ir.IndexType.get()
            extents, sizes = [], []
            for axis, (low, high) in enumerate(zip(low_values, high_values, strict=True)):
                extent: ir.Value | int | None = static_size(source, axis)
                if extent is None:
                    extent = tensor.dim(source, arith.constant(index, axis))
                extents.append(extent)
                if shape.is_dynamic_dim(axis):
                    total = _index_value(extent)
                    for part in (low, high):
                        if part != 0:
                            total = arith.addi(total, _index_value(part))
                    sizes.append(total)
            empty = ir.Operation.create("tensor.empty", [shape], sizes).results[0]
            filled = named.fill(value, empty)
            dynamic_of = lambda items: [item for item in items if not isinstance(item, int)]  # noqa: E731
            static_of = lambda items: [item if isinstance(item, int) else DYNAMIC for item in items]  # noqa: E731
            padded = filled
            # a source that would begin where the result ends is empty, and MLIR takes its slice for out of bounds
            if all(low < size or shape.is_dynamic_dim(axis) for axis, (low, size) in enumerate(
                    zip(static["static_low"], shape.shape, strict=True))):
                padded = tensor.insert_slice(
                    source, filled, dynamic_of(low_values), dynamic_of(extents), [],
                    static_of(low_values), static_of(extents), [1] * shape.rank,
                )  # fmt: skip
        op.results[0].replace_all_uses_with(padded)
        op.erase()


def _index_value(size: ir.Value | int) -> ir.Value:
    from kc.bindings import arith

    return arith.constant(ir.IndexType.get(), size) if isinstance(size, int) else size


def _fill_splats(function: ir.Operation) -> None:
    """Splat tensor constants become fills: a kernel can then write them, and none has to be read from memory."""
    from kc.bindings import arith, tensor

    for op in [inner for inner in walk_nested(function) if inner.name == "arith.constant"]:
        shape = op.results[0].type
        if not isinstance(shape, ir.RankedTensorType):
            continue
        # before the attribute is read: the bindings cannot hand out complex elements
        if not isinstance(shape.element_type, (ir.FloatType, ir.IntegerType, ir.IndexType)):
            continue
        attribute = op.attributes["value"]
        if not isinstance(attribute, ir.DenseElementsAttr) or not attribute.is_splat:
            continue
        if not list(op.results[0].uses):
            op.erase()
            continue
        with ir.InsertionPoint(op), op.location:
            value = arith.constant(shape.element_type, attribute.get_splat_value())
            empty = tensor.EmptyOp(list(shape.shape), shape.element_type).result
            filled = named.fill(value, empty)
        op.results[0].replace_all_uses_with(filled)
        op.erase()


def _trace_sizes(function: ir.Operation) -> None:
    """``tensor.dim`` of a destination-style op's result becomes the size of its destination, as far back as that
    goes.
    """
    for op in [inner for inner in walk_nested(function) if inner.name == "tensor.dim"]:
        axis_op = op.operands[1].owner
        if isinstance(axis_op, ir.Block) or axis_op.operation.name != "arith.constant":
            continue
        axis = int(ir.IntegerAttr(axis_op.operation.attributes["value"]).value)
        found = trace_size(op.operands[0], axis)
        if isinstance(found, tuple):
            if found[0] != op.operands[0]:
                op.operands[0] = found[0]
            continue
        op.results[0].replace_all_uses_with(size_value(op.operands[0], axis, op))
        op.erase()


def _sink(function: ir.Operation) -> None:
    """Fills, empty tensors and index patterns that a loop or branch uses from outside are repeated inside of it."""
    for op in [inner for inner in walk_nested(function) if inner.name in _CONTROL]:
        for region in op.regions:
            for block in region.blocks:
                _sink_into(block)


def _sink_into(block: ir.Block) -> None:
    inside: set[ir.Value] = set()
    copies: dict[ir.Value, ir.Value] = {}
    for op in [view.operation for view in block.operations]:
        if op.name not in _CONTROL:
            for value in outer_values(op):
                if value not in inside and value not in copies and _is_made_of_nothing(value, block):
                    _copy(value, block, copies)
            for inner in walk_nested(op):
                for number, operand in enumerate(inner.operands):
                    if operand in copies:
                        inner.operands[number] = copies[operand]
        inside.update(op.results)


def _is_made_of_nothing(value: ir.Value, block: ir.Block) -> bool:
    if isinstance(value.owner, ir.Block) or not isinstance(value.type, ir.RankedTensorType):
        return False
    op = value.owner.operation
    if op.block == block:
        return False
    if op.name == "tensor.empty":
        return True
    if op.name == "linalg.fill":
        source = op.operands[0]
        constant = not isinstance(source.owner, ir.Block) and source.owner.operation.name == "arith.constant"
        return constant and _is_made_of_nothing(op.operands[1], block)
    if op.name == "linalg.generic" and len(op.results) == 1 and len(op.operands) == 1 and _is_cheap(op):
        return _is_made_of_nothing(op.operands[0], block)
    return False


def _is_cheap(generic: ir.Operation) -> bool:
    """Whether the body is a few ops on indices: to read a tensor in it (``tensor.extract``) is work of its own."""
    body = list(generic.regions[0].blocks[0].operations)
    return len(body) <= _FEW and all(not inner.name.startswith(("tensor.", "scf.")) for inner in body)


def _copy(value: ir.Value, block: ir.Block, copies: dict[ir.Value, ir.Value]) -> None:
    op = value.owner.operation
    for operand in op.operands:
        if operand not in copies and _is_made_of_nothing(operand, block):
            _copy(operand, block, copies)
    clone = op.clone(ip=ir.InsertionPoint.at_block_begin(block) if not copies else _after_last(copies)).operation
    for number, operand in enumerate(op.operands):
        if operand in copies:
            clone.operands[number] = copies[operand]
    copies[value] = clone.results[0]


def _after_last(copies: dict[ir.Value, ir.Value]) -> ir.InsertionPoint:
    return ir.InsertionPoint.after(list(copies.values())[-1].owner)
