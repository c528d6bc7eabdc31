"""Spreading the items of a kernel (rows, tiles) over threads."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from kc.builder.cpu import CpuBuilder, Index
from kc.kernels.expr import Kernel
from kc.schedules.cpu.machine import Machine
from kc.schedules.cpu.space import argument_types

#: work (elements touched) that one chunk should have at least, and below which threads do not pay
GRAIN = 1 << 14
MIN_WORK = 1 << 17


def build_chunked(builder: CpuBuilder, kernel: Kernel, machine: Machine,
                  count: Callable[[Sequence[Any]], tuple[Index, Index]],
                  body: Callable[[Sequence[Any], Index, Index], None]) -> None:
    """``@K__impl``, which calls ``@K__chunk(arguments, first, last)`` for ranges of items, in parallel when it pays.

    ``count(arguments)`` gives the number of items and the work of one; ``body`` builds the chunk function.
    """
    types = argument_types(kernel)
    chunk = f"{kernel.name}__chunk"
    with builder.function(chunk, [*types, "index", "index"]) as arguments:
        body(arguments[:-2], arguments[-2], arguments[-1])
    with builder.function(f"{kernel.name}__impl", types) as arguments:
        items, work = count(arguments)

        def whole() -> None:
            builder.call(chunk, [*arguments, builder.index(0), builder.index(items)])

        def spread() -> None:
            size = builder.max(builder.ceildiv(GRAIN, builder.max(work, 1)), 1)

            def one(number: Any) -> None:
                first = builder.mul(number, size)
                last = builder.min(builder.add(first, size), items)
                builder.call(chunk, [*arguments, builder.index(first), builder.index(last)])

            builder.parallel(builder.ceildiv(items, size), one)

        total = builder.mul(items, work)
        if not machine.parallel or (isinstance(total, int) and total < MIN_WORK):
            whole()
        elif isinstance(total, int):
            spread()
        else:
            builder.when(builder.compare("ult", total, MIN_WORK), whole, spread)
