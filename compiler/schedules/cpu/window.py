"""Convolutions, as contractions whose image factor is gathered while it is packed."""
from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

from kc.kernels.expr import Apply, Contraction, Kernel, Output, Window
from kc.kernels.rebuild import FreeDims, rename, rename_coord
from kc.schedules.cpu.contraction import ContractionSchedule
from kc.schedules.cpu.machine import Machine


@dataclasses.dataclass(frozen=True)
class ConvolutionSchedule:
    """An implicit matrix product: sums over the window and the input channels.

    With channels last, rows are image positions and columns output channels; otherwise rows are output channels and
    columns image positions, one image at a time (all images when one has few positions). Nothing is materialised but
    the panels of the product.
    """

    product: ContractionSchedule

    @classmethod
    def pick(cls, kernel: Kernel, features: Machine) -> ConvolutionSchedule | None:
        """Fits windows that sum products, except depthwise ones (whose product would have one column)."""
        if not isinstance(kernel, Window):
            return None
        contraction = as_contraction(kernel)
        product = None if contraction is None else ContractionSchedule.pick(contraction, features)
        return None if product is None else cls(product)

    def build(self, kernel: Kernel, module: Any) -> None:
        """See ``kc.schedules.Schedule``."""
        assert isinstance(kernel, Window)
        contraction = as_contraction(kernel)
        assert contraction is not None
        self.product.build(contraction, module)


def as_contraction(kernel: Window) -> Contraction | None:
    """The convolution as a contraction, its dims ordered batch, rows, columns, sums; None if it is none."""
    body = kernel.body
    multiply = {"arith.addf": "arith.mulf", "arith.addi": "arith.muli"}.get(kernel.reduce)
    if not isinstance(body, Apply) or body.op != multiply or len(kernel.outputs) == 0:
        return None
    image, weights = body.args
    free = FreeDims()
    in_image, in_weights, summed = free(image), free(weights), set(kernel.window)
    if not summed <= in_image & in_weights or (in_image | in_weights) - summed != set(kernel.out):
        return None
    order = [coord.dim for coord in kernel.outputs[0].coords if coord.dim is not None]
    order += [dim for dim in kernel.out if dim not in order]
    shared = [dim for dim in order if dim in in_image and dim in in_weights]
    channels = [dim for dim in order if dim not in in_image]
    places = [dim for dim in order if dim not in in_weights]
    if not channels or not places:
        return None
    if order[-1] in channels:
        batch, m, n, lhs, rhs = shared, places, channels, image, weights
    else:
        before = order.index(channels[0])
        outer = [dim for dim in places if order.index(dim) < before]
        if _small(kernel, [dim for dim in places if dim not in outer]):
            outer = []
        batch, m, n = [*shared, *outer], channels, [dim for dim in places if dim not in outer]
        lhs, rhs = weights, image
    new = {old: number for number, old in enumerate([*batch, *m, *n, *kernel.window])}
    outputs = tuple(Output(o.arg, tuple(rename_coord(c, new) for c in o.coords), rename(o.expr, new))
                    for o in kernel.outputs)
    groups = [tuple(new[dim] for dim in group) for group in (batch, m, n, kernel.window)]
    dims = tuple(kernel.dims[old] for old in new)
    return Contraction(kernel.name, kernel.operands, dims, groups[0], groups[1], groups[2], groups[3],
                       rename(lhs, new), rename(rhs, new), rename(kernel.init, new), kernel.acc_type, outputs)


def _small(kernel: Window, places: list[int]) -> bool:
    """Whether an image leaves much of its last tile of columns empty, and sums are long enough for scalar stores."""
    def product(dims: Sequence[int]) -> int | None:
        sizes = [kernel.dims[dim].size for dim in dims]
        return None if None in sizes else math.prod(size for size in sizes if size is not None)

    columns, depth = product(places), product(kernel.window)
    return columns is not None and depth is not None and columns < 256 and columns % 16 != 0 and depth >= 256
