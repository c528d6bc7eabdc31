"""Knobs of the CPU's schedules. Each function: (schedule as picked, kernel, machine) -> knobs, check."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kc.agents.realize.knob_space import Knob

Family = tuple[dict[str, Knob], Callable[[Any], "str | None"]]

_LANES = "elements of one vector value; more than a register holds become several registers"
_THREADS = "whether the work is spread over threads"


def _around(value: int, factors: tuple[float, ...], step: int = 1) -> tuple[int, ...]:
    """Multiples of ``step`` near ``value`` times each factor, ascending, ``value`` among them."""
    near = {max(step, round(value * factor / step) * step) for factor in factors}
    return tuple(sorted({*near, value}))


def _vectors(lanes: int) -> tuple[int, ...]:
    return tuple(n for n in (1, 2, 4, 8, 16, 32, 64) if lanes // 4 <= n <= 2 * lanes)


def _always(schedule: Any) -> str | None:
    return None


def _map(base: Any, kernel: Any, machine: Any) -> Family:
    return {
        "lanes": Knob(_vectors(base.lanes), base.lanes, _LANES),
        "unroll": Knob((1, 2, 4), base.unroll, "vectors in flight"),
        "strip": Knob((1, 4, 8, 16, 32), base.strip, "rows that share the cache lines of a transposed read"),
        "machine.parallel": Knob((False, True), base.machine.parallel, _THREADS),
    }, _always


def _rows(base: Any, kernel: Any, machine: Any) -> Family:
    return {
        "lanes": Knob(_vectors(base.lanes), base.lanes, _LANES),
        "unroll": Knob((1, 2, 4), base.unroll, "vectors in flight"),
        "machine.parallel": Knob((False, True), base.machine.parallel, _THREADS),
    }, _always


def _product(base: Any, prefix: str = "") -> Family:
    """The blocked matrix product; ``prefix`` is the path to it."""

    def legal(schedule: Any) -> str | None:
        for field in prefix.split(".")[:-1]:
            schedule = getattr(schedule, field)
        tile = schedule.tile
        if tile.rows * tile.vectors > 32:
            return f"{tile.rows} x {tile.vectors} accumulators do not fit into registers (at most 32 are built)"
        if schedule.mc % tile.rows or schedule.nc % tile.columns:
            return f"mc must be a multiple of tile.rows ({tile.rows}), nc of tile.vectors * lanes ({tile.columns})"
        return None

    rows, columns = base.tile.rows, base.tile.columns
    fields = {
        "tile.rows": Knob((4, 6, 8, 12), rows, "rows of the register tile"),
        "tile.vectors": Knob((1, 2, 3, 4), base.tile.vectors, "vectors across the register tile"),
        "tile.unroll": Knob((1, 2, 4, 8), base.tile.unroll, "k at a time"),
        "mc": Knob(tuple(sorted({24, 48, 96, 144, 192, 288, base.mc})), base.mc, "rows of a packed block"),
        "nc": Knob(_around(base.nc, (0.25, 0.5, 1, 2), 2 * columns), base.nc, "columns of a packed block"),
        "kc": Knob(_around(base.kc, (0.25, 0.5, 1, 2), 16), base.kc, "depth of a packed block"),
        "machine.parallel": Knob((False, True), base.machine.parallel, _THREADS),
    }
    return {prefix + name: knob for name, knob in fields.items()}, legal


def _thin(base: Any, kernel: Any, machine: Any) -> Family:
    return {
        "columns": Knob(_around(base.columns, (0.25, 0.5, 1, 2, 4), base.lanes), base.columns, "columns of a strip"),
        "unroll": Knob(tuple(sorted({2, 4, 8, 12, base.unroll})), base.unroll, "rows (or columns) summed at a time"),
        "machine.parallel": Knob((False, True), base.machine.parallel, _THREADS),
    }, _always


def _attention(base: Any, kernel: Any, machine: Any) -> Family:
    rows = base.tile.rows

    def legal(schedule: Any) -> str | None:
        if schedule.block % schedule.tile.rows:
            return f"block must be a multiple of tile.rows ({schedule.tile.rows})"
        return None

    return {
        "block": Knob(tuple(sorted({rows, 2 * rows, 4 * rows, 8 * rows, base.block})), base.block, "queries a block"),
        "tile.unroll": Knob((1, 2, 4, 8), base.tile.unroll, "k at a time"),
        "machine.parallel": Knob((False, True), base.machine.parallel, _THREADS),
    }, legal


FAMILIES: dict[str, Callable[[Any, Any, Any], Family]] = {
    "attention": _attention,
    "thin_product": _thin,
    "contraction": lambda base, kernel, machine: _product(base),
    "map": _map,
    "rows": _rows,
    "convolution": lambda base, kernel, machine: _product(base.product, "product."),
}
