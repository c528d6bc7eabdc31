"""``analyze``: what a kernel function computes, as one of the ``Kernel`` classes."""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from kc.bindings import ir
from kc.kernels import expr as E
from kc.kernels.classify import Draft, classify
from kc.kernels.reader import Reader
from kc.kernels.shapes import element_type, static_size
from kc.kernels.structured import ZERO, Lin, Unreadable, plain_dim


def operand_of(value: ir.Value, is_out: bool = False, result: int | None = None) -> E.Operand:
    """The ``Operand`` that describes a kernel argument."""
    if isinstance(value.type, ir.ShapedType):
        rank = ir.ShapedType(value.type).rank
        shape = tuple(static_size(value, axis) for axis in range(rank))
        return E.Operand(shape, element_type(value), is_out, result)
    return E.Operand(None, str(value.type), is_out, result)


def analyze(func_op: Any) -> E.Kernel:
    """Reads kernel function ``func_op`` (``func.func {kc.kernel}`` of linalg on tensors, destinations last).

    The kernel's outputs equal the function's results for all inputs, NaN and infinities included, up to the order in
    which reductions are summed and, in ``Attention``, up to roundings to bf16/f16 between score and probabilities.
    ``General`` is returned, never an error, for whatever no family can say. """
    func = func_op.operation
    name = ir.StringAttr(func.attributes["sym_name"]).value
    if len(func.regions[0].blocks) != 1:
        return E.General(name, (), "control flow between blocks")
    block = func.regions[0].blocks[0]
    arguments = list(block.arguments)
    ops = [view.operation for view in block.operations]
    results = list(ops[-1].operands)
    first_out = len(arguments) - len(results)
    operands = tuple(
        operand_of(arg, i >= first_out, i - first_out if i >= first_out else None) for i, arg in enumerate(arguments)
    )
    numbers = {arg: i for i, arg in enumerate(arguments)}
    reader = Reader(ops[:-1], numbers.get)
    try:
        return classify(draft(reader, name, operands, results, range(first_out, len(arguments))))
    except Unreadable as error:
        return E.General(name, operands, str(error))


def draft(reader: Reader, name: str, operands: tuple[E.Operand, ...], results: Sequence[ir.Value],
          out_args: Iterable[int]) -> Draft:  # fmt: skip
    """The results as expressions over one space; raises Unreadable if they have none in common."""
    ranks = [ir.RankedTensorType(value.type).rank for value in results]
    wide = [sum(reader.extents.size(v, axis) != 1 for axis in range(r)) for v, r in zip(results, ranks, strict=True)]
    outputs: dict[int, tuple[Lin, ...]] = {}
    space: list[int] = []
    for position in sorted(range(len(results)), key=lambda i: -wide[i]):
        value = results[position]
        if not outputs:
            coords = tuple(reader.new_dim(value, axis) for axis in range(ranks[position]))
            space = [dim for dim in map(plain_dim, coords) if dim is not None]
        else:
            coords = _into_space(reader, value, ranks[position], space)
        outputs[position] = coords
    done = tuple(
        E.Output(arg, reader.coords(value, outputs[i]), reader.element(value, outputs[i]))
        for i, (arg, value) in enumerate(zip(out_args, results, strict=True))
    )
    return Draft(name, operands, tuple(space), done, reader.dim, reader.same_extent)


def _into_space(reader: Reader, value: ir.Value, rank: int, space: Sequence[int]) -> tuple[Lin, ...]:
    """Coordinates of a further output in the space of the first: its axes matched to dims of equal extent, in order."""
    coords: list[Lin] = []
    start = 0
    for axis in range(rank):
        if reader.extents.size(value, axis) == 1:
            coords.append(ZERO)
            continue
        for position in range(start, len(space)):
            if reader.extents.same((value, axis), reader.dims[space[position]]):
                coords.append((((space[position], 1),), 0))
                start = position + 1
                break
        else:
            raise Unreadable("outputs over different loops")
    return tuple(coords)
