"""Schedules made of several kernels with temporary tensors between them."""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from kc.bindings import func, ir, memref
from kc.builder.gpu import mlir_type
from kc.builder.gpu_module import Host, memory_type
from kc.kernels.expr import Dim, Kernel, Operand
from kc.schedules.gpu.access import Extent
from kc.schedules.gpu.arguments import Arguments
from kc.schedules.gpu.features import Features

if TYPE_CHECKING:
    from kc.schedules import Schedule


@dataclasses.dataclass(frozen=True)
class Part:
    """One kernel of several. ``arguments``: for each of its operands the number of the whole kernel's operand, or -1 -
    t for temporary number t."""

    kernel: Kernel
    arguments: tuple[int, ...]


def pick_any(kernel: Kernel, features: Features, schedules: Sequence[str] | None = None) -> Schedule[Features] | None:
    """The first schedule that fits ``kernel``."""
    from kc.schedules.gpu import SCHEDULES

    for path in SCHEDULES if schedules is None else schedules:
        module, _, name = path.partition(":")
        found = getattr(importlib.import_module(module), name).pick(kernel, features)
        if found is not None:
            return found
    return None


def fits(parts: Sequence[Part], features: Features) -> bool:
    """Whether every part has a schedule."""
    return all(pick_any(part.kernel, features) is not None for part in parts)


def build_parts(
    kernel: Kernel,
    parts: Sequence[Part],
    temporaries: Sequence[Operand],
    features: Features,
    module: Any,
    extents: Sequence[Extent] = (),
    dims: Sequence[Dim] = (),
) -> None:
    """Builds every part, and ``@K__impl`` that calls them in order.

    ``extents``: of the axes of every temporary, over the loops ``dims`` of ``kernel``; needed where an axis is open.
    """
    for part in parts:
        schedule = pick_any(part.kernel, features)
        assert schedule is not None
        schedule.build(part.kernel, module)
    with module.location:
        host = Host(module, kernel)
        with host.body:
            arguments = Arguments(kernel, dims, ())
            open_sizes = [arguments.host_extent(host, extent) for extent in extents if extent.static is None]
            sizes = [size.resize("index").ssa for size in open_sizes]
            buffers = [memref.alloc(mlir_type(memory_type(operand)), sizes, []) for operand in temporaries]
            for part in parts:
                values = [
                    host.argument(number).ssa if number >= 0 else buffers[-1 - number] for number in part.arguments
                ]
                func.CallOp([], ir.FlatSymbolRefAttr.get(f"{part.kernel.name}__impl"), values)
