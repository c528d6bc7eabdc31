"""Names for dimensions of the original that its contract leaves open: those that its own body ties to others.

A destination without ``kc.dims`` would be drawn at sizes of its own, which the original itself cannot take.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from kc.agents.gates.reading import Reading

if TYPE_CHECKING:
    from kc.bindings import ir


def named(reading: Reading, main: ir.Operation) -> Reading:
    """``reading`` of the original with names for the open dimensions that its body says are equal to others.

    ``unnamed`` has the arguments some of whose dimensions nothing ties to a size.
    """
    from kc.agents.regions.axes import classes, open_axes
    from kc.agents.regions.dims import dimensions

    arguments = reading.contract.arguments
    bare = [
        number
        for number, kind in enumerate(reading.arguments)
        if None in kind.shape and not (number < len(arguments) and arguments[number].dims)
    ]
    if not bare or main.name != "func.func" or len(arguments) != len(reading.arguments):
        return reading
    values = list(main.regions[0].blocks[0].arguments)
    union = classes(main)
    axes = open_axes(values)
    roots = [union.find(axis) for axis in axes]
    loose = {axis[0] for axis, root in zip(axes, roots, strict=True) if roots.count(root) == 1}
    dims = dimensions(main)
    completed = tuple(
        dataclasses.replace(argument, dims=dims[number]) if number in bare else argument
        for number, argument in enumerate(arguments)
    )
    contract = dataclasses.replace(reading.contract, arguments=completed)
    unnamed = tuple(number for number in bare if values[number] in loose)
    return dataclasses.replace(reading, contract=contract, unnamed=unnamed)


def complaint(reading: Reading, message: str) -> str:
    """That the original fails where a size has no name, in words."""
    numbers = ", ".join(map(str, reading.unnamed))
    word = "arguments" if len(reading.unnamed) > 1 else "argument"
    shape = reading.arguments[reading.unnamed[0]].shape
    example = ", ".join(f'"{"MNKPQR"[k % 6] if n is None else n}"' for k, n in enumerate(shape))
    return (
        f"the original does not pass its own test: {message}; nothing tells the open sizes of {word} {numbers}: name "
        f"them with kc.dims ({{kc.dims = [{example}]}}), equal names for equal sizes"
    )
