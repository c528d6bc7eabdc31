"""Products whose factors have pitches that tensor maps cannot describe: copied to padded rows, then on tensor cores.

The copy is one pass over a factor; the ordinary units would take ten times as long as the tensor cores for the product.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from kc.kernels.expr import Apply, Contraction, Coord, Expr, Kernel, Load, Map, Operand, Output
from kc.schedules.gpu.composite import Part, build_parts
from kc.schedules.gpu.contraction import ContractionSchedule
from kc.schedules.gpu.contraction.problem import ALIGN, plain_load
from kc.schedules.gpu.features import Features
from kc.schedules.gpu.map import MapSchedule

_LEAST_WORK = 1 << 27  # multiplications that are worth a copy


@dataclasses.dataclass(frozen=True)
class PaddedContractionSchedule:
    """A copy of each factor whose rows are not a multiple of 16 bytes, then ``ContractionSchedule``."""

    features: Features

    @classmethod
    def pick(cls, kernel: Kernel, features: Features) -> PaddedContractionSchedule | None:
        """None unless padding is all that the tensor-core schedule lacks, and the product large and static."""
        if not isinstance(kernel, Contraction) or not features.hopper or any(not dim.size for dim in kernel.dims):
            return None
        if math.prod(dim.size or 1 for dim in kernel.dims) < _LEAST_WORK:
            return None
        found = padded_parts(kernel)
        if found is None or ContractionSchedule.pick(found[0][-1].kernel, features) is None:
            return None
        return cls(features) if all(MapSchedule.pick(part.kernel, features) for part in found[0][:-1]) else None

    def build(self, kernel: Contraction, module: Any) -> None:
        """Inserts the parts and ``@K__impl`` into ``module``."""
        found = padded_parts(kernel)
        assert found is not None
        build_parts(kernel, found[0], found[1], self.features, module)


def padded_parts(kernel: Contraction) -> tuple[list[Part], list[Operand]] | None:
    """Copies and the product, and the temporaries; None if no factor needs a copy, or one is not a half-type load."""
    inputs = tuple(number for number, operand in enumerate(kernel.operands) if not operand.is_out)
    given = tuple(kernel.operands[number] for number in inputs)
    parts: list[Part] = []
    temporaries: list[Operand] = []
    factors: list[Expr] = []
    for name, root in (("lhs", kernel.lhs), ("rhs", kernel.rhs)):
        node = plain_load(root)
        if node is None or node.type not in ("bf16", "f16"):
            return None
        loops = [coord.dim for coord in node.coords if coord.dim is not None]
        row = (kernel.operands[node.arg].shape or (None,))[-1]
        if row is None or not loops or any(coord.more for coord in node.coords):
            return None
        if row % ALIGN == 0 and all(coord.offset % ALIGN == 0 for coord in node.coords[-1:]):
            factors.append(root)
            continue
        sizes = [kernel.dims[loop].size or 1 for loop in loops]
        shape = (*sizes[:-1], -(-sizes[-1] // ALIGN) * ALIGN)
        position = {loop: number for number, loop in enumerate(loops)}
        coords = tuple(
            coord if coord.dim is None else dataclasses.replace(coord, dim=position[coord.dim]) for coord in node.coords
        )
        plain = tuple(Coord(number) for number in range(len(loops)))
        copy = Map(
            f"{kernel.name}_{name}",
            (*given, Operand(shape, node.type, True, 0)),
            tuple(kernel.dims[loop] for loop in loops),
            (Output(len(given), plain, Load(node.arg, coords, node.type)),),
        )
        parts.append(Part(copy, (*inputs, -1 - len(temporaries))))
        factor: Expr = Load(len(given) + len(temporaries), tuple(Coord(loop) for loop in loops), node.type)
        factors.append(factor if root is node else Apply("arith.extf", (factor,), "f32"))
        temporaries.append(Operand(shape, node.type))
    if not parts:
        return None
    base = len(given) + len(temporaries)
    outputs = tuple(dataclasses.replace(output, arg=base + number) for number, output in enumerate(kernel.outputs))
    product = dataclasses.replace(
        kernel,
        name=f"{kernel.name}_product",
        operands=(*given, *temporaries, *(kernel.operands[output.arg] for output in kernel.outputs)),
        lhs=factors[0],
        rhs=factors[1],
        outputs=outputs,
    )
    slots = tuple(-1 - number for number in range(len(temporaries)))
    parts.append(Part(product, (*inputs, *slots, *(output.arg for output in kernel.outputs))))
    return parts, temporaries
