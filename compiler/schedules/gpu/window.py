"""Convolutions as matrix products: directly on the ordinary units, or on tensor cores from a tensor of patches.

A convolution is a contraction whose image is read at sums of loops (``2 * oh + kh``). The SIMT schedule reads factors
element by element and takes such coordinates as they are. Tensor maps cannot, so for bf16 and f16 the image is first
laid out as a matrix of patches (each row what one output position sees, in the filter's order), which the
tensor-core schedule multiplies.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from kc.kernels.expr import Apply, Contraction, Coord, Expr, Kernel, Load, Map, Operand, Output, Window
from kc.kernels.rebuild import FreeDims, rename
from kc.schedules.gpu.composite import Part, build_parts, pick_any
from kc.schedules.gpu.contraction import ContractionSchedule
from kc.schedules.gpu.contraction.problem import plain_load
from kc.schedules.gpu.features import Features
from kc.schedules.gpu.map import MapSchedule
from kc.schedules.gpu.simt import SimtSchedule

_MOST_BYTES = 4 << 30  # of the patches
_LEAST_DEPTH = 32  # summed elements that are worth the patches


@dataclasses.dataclass(frozen=True)
class WindowSchedule:
    """``patches``: through a tensor of patches and tensor cores, else directly."""

    patches: bool
    features: Features

    @classmethod
    def pick(cls, kernel: Kernel, features: Features) -> WindowSchedule | None:
        """None for poolings, and for convolutions without loops of their own in both factors (depthwise)."""
        if not isinstance(kernel, Window):
            return None
        product = as_contraction(kernel)
        if product is None:
            return None
        parts = patch_parts(product) if features.hopper else None
        if (
            parts
            and isinstance(pick_any(parts[0][1].kernel, features), ContractionSchedule)
            and MapSchedule.pick(parts[0][0].kernel, features)
        ):
            return cls(True, features)
        return cls(False, features) if SimtSchedule.pick(product, features) else None

    def build(self, kernel: Window, module: Any) -> None:
        """Inserts the parts and ``@K__impl`` into ``module``."""
        product = as_contraction(kernel)
        assert product is not None
        if self.patches:
            found = patch_parts(product)
            assert found is not None
            build_parts(kernel, found[0], found[1], self.features, module)
            return
        schedule = SimtSchedule.pick(product, self.features)
        assert schedule is not None
        schedule.build(product, module)


def as_contraction(kernel: Window) -> Contraction | None:
    """``kernel`` as a contraction; None if it is not a sum of products, or one factor has no loop of its own."""
    multiply = {"arith.addf": "arith.mulf", "arith.addi": "arith.muli"}.get(kernel.reduce)
    body = kernel.body
    if not isinstance(body, Apply) or body.op != multiply or len(body.args) != 2:
        return None
    free = FreeDims()
    left, right = free(body.args[0]), free(body.args[1])
    if not set(kernel.window) <= (left & right) or not set(kernel.out) <= (left | right):
        return None
    batch = tuple(loop for loop in kernel.out if loop in left and loop in right)
    m = tuple(loop for loop in kernel.out if loop in left and loop not in right)
    n = tuple(loop for loop in kernel.out if loop in right and loop not in left)
    if not m or not n:
        return None
    return Contraction(
        kernel.name,
        kernel.operands,
        kernel.dims,
        batch,
        m,
        n,
        kernel.window,
        body.args[0],
        body.args[1],
        kernel.init,
        kernel.acc_type,
        kernel.outputs,
    )


def patch_parts(product: Contraction) -> tuple[list[Part], list[Operand]] | None:
    """The patches' kernel and the product's, and the temporary; None if a factor is not a half-type load."""
    image, filters = plain_load(product.lhs), plain_load(product.rhs)
    if image is None or filters is None or image.type not in ("bf16", "f16") or any(not d.size for d in product.dims):
        return None
    depth = math.prod(product.dims[loop].size or 1 for loop in product.k)
    # summed loops as the filter has them in memory: both factors then walk them as one
    order = [coord.dim for coord in filters.coords if coord.dim is not None and coord.dim in product.k]
    loops = [*product.batch, *product.m, *order]
    size = 2 * math.prod(product.dims[loop].size or 1 for loop in loops)
    if depth < _LEAST_DEPTH or size > _MOST_BYTES or len(loops) != len(product.batch) + len(product.m) + len(product.k):
        return None
    inputs = tuple(number for number, operand in enumerate(product.operands) if not operand.is_out)
    given = tuple(product.operands[number] for number in inputs)
    shape = tuple(product.dims[loop].size for loop in loops)
    patches = Operand(shape, image.type, True, 0)
    names = {loop: number for number, loop in enumerate(loops)}
    first = Map(
        f"{product.name}_patches",
        (*given, patches),
        tuple(product.dims[loop] for loop in loops),
        (Output(len(given), tuple(Coord(number) for number in range(len(loops))), rename(image, names)),),
    )

    matrix: Expr = Load(len(given), tuple(Coord(loop) for loop in loops), image.type)
    if product.lhs is not image:
        matrix = Apply("arith.extf", (matrix,), "f32")
    results = tuple(
        Output(len(given) + 1 + number, output.coords, output.expr) for number, output in enumerate(product.outputs)
    )
    second = dataclasses.replace(
        product,
        name=f"{product.name}_product",
        lhs=matrix,
        k=tuple(order),
        outputs=results,
        operands=(*given, Operand(shape, image.type), *(product.operands[output.arg] for output in product.outputs)),
    )
    return [Part(first, (*inputs, -1)), Part(second, (*inputs, -1, *(output.arg for output in product.outputs)))], [
        patches
    ]
