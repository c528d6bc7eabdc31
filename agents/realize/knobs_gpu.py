"""Knobs of the GPU's schedules. Each function: (schedule as picked, kernel, features) -> knobs, check."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kc.agents.realize.knob_space import Knob

Family = tuple[dict[str, Knob], Callable[[Any], "str | None"]]

_MOST_THREADS = 1024
_THREADS_A_MULTIPROCESSOR = 2048
_STATIC_SHARED = 48 << 10  # bytes that a launch may have without asking
_WARPS = (32, 64, 96, 128, 160, 192, 224, 256, 320, 384, 448, 512, 640, 768, 896, 1024)
_VECTOR = "consecutive elements a thread, one access"


def _vectors(most: int) -> tuple[int, ...]:
    """What alignment allows: the picked vector is the widest."""
    return tuple(n for n in (1, 2, 4, 8) if n <= most)


def _always(schedule: Any) -> str | None:
    return None


def _map(base: Any, kernel: Any, features: Any) -> Family:
    return {
        "vector": Knob(_vectors(base.vector), base.vector, _VECTOR),
        "threads": Knob((64, 128, 192, 256, 384, 512, 1024), base.threads, "a block"),
    }, _always


def _map_tiled(base: Any, kernel: Any, features: Any) -> Family:
    return {"vector": Knob(_vectors(base.vector), base.vector, "elements a store")}, _always


def _rows(base: Any, kernel: Any, features: Any) -> Family:
    from kc.schedules.gpu.access import itemsize
    from kc.schedules.gpu.rows import RowsPlan

    plan = RowsPlan.of(kernel)
    assert plan is not None
    widest = max([itemsize(item.type) for item in plan.row_inputs()], default=4)

    def legal(schedule: Any) -> str | None:
        total = schedule.threads * schedule.rows
        if total > _MOST_THREADS or total % 32:
            return f"threads * rows = {total} is no block: a multiple of 32 up to {_MOST_THREADS}"
        if schedule.threads > 32 and schedule.rows > 8:
            return "at most 8 rows of more than 32 threads stand side by side (a barrier each)"
        if total * schedule.min_blocks > _THREADS_A_MULTIPROCESSOR:
            return f"{schedule.min_blocks} blocks of {total} threads do not fit on a multiprocessor"
        per_thread = -(-plan.columns // schedule.vector // schedule.threads) * schedule.vector
        words = per_thread * len(plan.row_inputs()) * max(1, widest // 4)
        if words > 256:
            return f"a thread would hold {words} words of a row; 256 are the most that registers take"
        return None

    threads = (1, 2, 4, 8, 16, *_WARPS)
    return {
        "vector": Knob(_vectors(base.vector), base.vector, _VECTOR),
        "threads": Knob(tuple(sorted({*threads, base.threads})), base.threads, "a row"),
        "rows": Knob((1, 2, 4, 8, 16, 32, 64, 128), base.rows, "side by side in a block"),
        "remat": Knob(
            (False, True) if plan.rematerialises(kernel) else (False,), base.remat, "inputs stay packed in registers"
        ),
        "min_blocks": Knob((1, 2, 3, 4, 6, 8), base.min_blocks, "that a multiprocessor must hold: bounds registers"),
    }, legal


def _rows_loop(base: Any, kernel: Any, features: Any) -> Family:
    return {
        "vector": Knob(_vectors(base.vector), base.vector, _VECTOR),
        "threads": Knob(tuple(sorted({*_WARPS, base.threads})), base.threads, "a row, which is a block"),
    }, _always


def _rows_split(base: Any, kernel: Any, features: Any) -> Family:
    length = kernel.dims[len(kernel.dims) - kernel.ncols].size
    pieces = tuple(n for n in range(2, min(length, 512) + 1) if length % n == 0)
    return {"pieces": Knob(tuple(sorted({*pieces, base.pieces})), base.pieces, "of a row")}, _always


def _columns(base: Any, kernel: Any, features: Any) -> Family:
    return {
        "vector": Knob(_vectors(base.vector), base.vector, "neighbouring rows a thread"),
        "slices": Knob((1, 2, 4, 8, 16, 32), base.slices, "of the reduced loop a block"),
    }, _always


_SIMT = ((128, 128, 8, 8, 8), (64, 64, 16, 4, 4), (32, 32, 32, 2, 2))


def _simt(base: Any, kernel: Any, features: Any) -> Family:
    from kc.schedules.gpu.access import itemsize

    size = max(4, itemsize(kernel.acc_type))

    def legal(schedule: Any) -> str | None:
        if schedule.rows % schedule.thread_rows or schedule.columns % schedule.thread_columns:
            return "rows and columns must be multiples of thread_rows and thread_columns"
        if schedule.threads != 256:
            return f"a block has rows/thread_rows * columns/thread_columns = {schedule.threads} threads, must be 256"
        shared = 2 * (schedule.rows + schedule.columns + 8) * schedule.depth * size
        if shared > _STATIC_SHARED:
            return f"the tiles take {shared} bytes of shared memory, more than {_STATIC_SHARED}"
        if any(side * schedule.depth % 256 for side in (schedule.rows, schedule.columns)):
            return "256 threads must share a tile of each factor evenly"
        if schedule.thread_rows * schedule.thread_columns * size > 512:
            return "a thread's square does not fit into registers"
        return None

    return {
        "rows": Knob((32, 64, 128), base.rows, "of the result a block"),
        "columns": Knob((32, 64, 128), base.columns, "of the result a block"),
        "depth": Knob((8, 16, 32), base.depth, "of K a step"),
        "thread_rows": Knob((2, 4, 8), base.thread_rows, "of the result a thread"),
        "thread_columns": Knob((2, 4, 8), base.thread_columns, "of the result a thread"),
    }, legal


def _contraction(base: Any, kernel: Any, features: Any) -> Family:
    from kc.schedules.gpu.contraction.config import _TILES

    tile = base.tile
    staged = tile.staging > 0

    def legal(schedule: Any) -> str | None:
        made = schedule.tile
        shape = (made.rows, made.columns, made.consumers)
        if not schedule.transposed and shape not in _TILES:
            known = ", ".join(f"{rows}x{columns} by {consumers}" for rows, columns, consumers in _TILES)
            return f"no tile of {shape[0]}x{shape[1]} by {shape[2]} warpgroups; there are {known}"
        if made.shared_bytes > features.shared:
            return f"{made.stages} stages take {made.shared_bytes} bytes of shared memory, more than {features.shared}"
        return None

    shapes = [(tile.rows, tile.columns, tile.consumers)] if base.transposed else list(_TILES)
    sides = [tuple(sorted({shape[place] for shape in shapes})) for place in range(3)]
    return {
        "tile.rows": Knob(sides[0], tile.rows, "of the result a block"),
        "tile.columns": Knob(sides[1], tile.columns, "of the result a block"),
        "tile.consumers": Knob(sides[2], tile.consumers, "warpgroups that multiply"),
        "tile.stages": Knob(tuple(range(3, 17 if base.transposed else 9)), tile.stages, "of the operand ring"),
        "tile.staging": Knob((1, 2) if staged else (tile.staging,), tile.staging, "buffers that outputs leave through"),
        "tile.raster": Knob((1, 2, 4, 8, 16, 32), tile.raster, "row blocks walked before the next column"),
    }, legal


def _attention(base: Any, kernel: Any, features: Any) -> Family:
    config = base.config

    def legal(schedule: Any) -> str | None:
        if schedule.config.shared_bytes > features.shared:
            return f"{schedule.config.shared_bytes} bytes of shared memory are more than {features.shared}"
        return None

    polynomials = (0, 2) if config.depth == 64 and config.polynomial else (0,)
    return {
        "config.ordered": Knob((False, True), config.ordered, "the two warpgroups issue their products in turn"),
        "config.polynomial": Knob(polynomials, config.polynomial, "of every 8 exponentials on the FMA units"),
    }, legal


def _window(base: Any, kernel: Any, features: Any) -> Family:
    return {"patches": Knob((False, True) if base.patches else (False,), base.patches, "through tensor cores")}, _always


FAMILIES: dict[str, Callable[[Any, Any, Any], Family]] = {
    "attention": _attention,
    "contraction": _contraction,
    "window": _window,
    "simt": _simt,
    "rows_split": _rows_split,
    "rows": _rows,
    "rows_loop": _rows_loop,
    "columns": _columns,
    "map_tiled": _map_tiled,
    "map": _map,
}
