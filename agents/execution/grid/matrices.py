"""Tensor cores by warp: ldmatrix, stmatrix, and mma.sync of 16-bit floats (PTX ISA, "Matrix fragments")."""
from __future__ import annotations

import re
from typing import Any

import ml_dtypes
import numpy as np

from kc.agents.execution.errors import ExecutionError
from kc.agents.execution.grid.groups import WARP, divergent
from kc.agents.execution.grid.nodes import Node
from kc.agents.execution.grid.registry import op
from kc.agents.execution.grid.warp import Warp

Array = np.ndarray
_LANE = np.arange(WARP)
_GROUP, _PAIR = _LANE // 4, _LANE % 4 * 2
#: of one 8 x 8 matrix: the row and the two columns that a lane holds
_ROWS, _COLUMNS = np.repeat(_GROUP[:, None], 2, 1), _PAIR[:, None] + np.arange(2)


def _warps(warp: Warp, node: Node, mask: Array) -> list[Array]:
    """The positions of the lanes of each warp that is here, by lane number; tells of warps that are not whole."""
    divergent(warp, node, mask, node.name)
    found = []
    for group in np.unique(warp.group[mask]):
        lanes = warp.position[group * WARP : group * WARP + WARP]
        if (lanes < 0).any() or not mask[np.maximum(lanes, 0)].all():
            raise ExecutionError("unsupported", f"{node.name} at {node.place} in a warp that is not whole", node.name)
        found.append(lanes)
    return found


def _rows(warp: Warp, node: Node, addresses: Array, lanes: Array, number: int) -> Array:
    """A mask of the lanes whose addresses count: of 8 rows for each matrix, 16 bytes each."""
    here = np.zeros(warp.lanes, np.bool_)
    here[lanes[: 8 * number]] = True
    bad = here & (addresses % 16 != 0)
    if bad.any():
        warp.who.tell(warp.findings, "bounds", "alignment", "", 0, 16, int(np.flatnonzero(bad)[0]),
                      "takes a row whose address is not a multiple of 16")
    return here


def _plain(node: Node) -> int:
    if "m = 8, n = 8" not in str(node.attributes.get("shape", "m = 8, n = 8")):
        message = f"{node.name} of shape {node.attributes['shape']} at {node.place}"
        raise ExecutionError("unsupported", message, node.name)
    return int(node.attributes["num"]) if "num" in node.attributes else len(node.operands) - 1


@op("nvvm.ldmatrix")
def _ldmatrix(warp: Warp, node: Node, values: list[Any], mask: Array) -> Any:
    number, addresses = _plain(node), warp.spread(values[0])
    turned = "col" in str(node.attributes["layout"])
    parts = [np.zeros((warp.lanes, 2), np.uint16) for _ in range(number)]
    for lanes in _warps(warp, node, mask):
        here = _rows(warp, node, addresses, lanes, number)
        raw = warp.memory.load(warp.who, addresses, 16, here)[lanes].view(np.uint16)  # (lanes, 8)
        # a row goes to other lanes than the one that names its address: what that one wrote must be ordered, too
        turned_by_one = addresses.copy()
        turned_by_one[lanes[: 8 * number]] = addresses[np.roll(lanes[: 8 * number], 1)]
        warp.memory.load(warp.who, turned_by_one, 16, here)
        for matrix, part in enumerate(parts):
            rows = raw[8 * matrix : 8 * matrix + 8]
            part[lanes] = (rows.T if turned else rows)[_ROWS, _COLUMNS]
    words = tuple(np.ascontiguousarray(part).view(np.int32).reshape(warp.lanes) for part in parts)
    return words if node.types[0].form == "struct" else words[0]


@op("nvvm.stmatrix")
def _stmatrix(warp: Warp, node: Node, values: list[Any], mask: Array) -> tuple[()]:
    number, addresses = _plain(node), warp.spread(values[0])
    turned = "col" in str(node.attributes["layout"])
    for lanes in _warps(warp, node, mask):
        here = _rows(warp, node, addresses, lanes, number)
        raw = np.zeros((warp.lanes, 8), np.uint16)
        for matrix, value in enumerate(values[1:]):
            rows = np.zeros((8, 8), np.uint16)
            rows[_ROWS, _COLUMNS] = np.ascontiguousarray(warp.spread(value)[lanes]).view(np.uint16).reshape(WARP, 2)
            raw[lanes[8 * matrix : 8 * matrix + 8]] = rows.T if turned else rows
        warp.memory.store(warp.who, addresses, raw.view(np.uint8).reshape(warp.lanes, 16), here)
    return ()


def _fragment(
    values: list[Array], lanes: Array, rows: Array, columns: Array, shape: tuple[int, int], kind: Any
) -> Array:
    """The matrix that registers of a warp hold: (lanes, elements) lie at ``rows``, ``columns``."""
    held = [np.ascontiguousarray(v[lanes]).reshape(WARP, -1) for v in values]
    flat = np.concatenate([v.view(kind).reshape(WARP, -1) for v in held], axis=1)
    made = np.zeros(shape, np.float64)
    made[rows, columns] = flat.astype(np.float64)
    return made


@op("nvvm.mma.sync")
def _mma(warp: Warp, node: Node, values: list[Any], mask: Array) -> Any:
    """``m16n8k16`` (and ``k8``) of f16 or bf16, the sum rounded once."""
    a = node.attributes
    shape = re.search(r"m = (\d+), n = (\d+), k = (\d+)", str(a["shape"]))
    given = str(a.get("multiplicandAPtxType", ""))
    first, second, third = warp.groups(node, values)
    half = first[0].dtype == np.float16 or ("f16" in given and "bf16" not in given)
    kind: Any = np.float16 if half else None
    if "bf16" in given:
        kind = ml_dtypes.bfloat16
    result = node.types[0].parts[0] if node.types[0].parts else None
    sizes = tuple(map(int, shape.groups())) if shape else ()
    if kind is None or sizes not in ((16, 8, 16), (16, 8, 8)) or result is None or result.dtype is None:
        raise ExecutionError("unsupported", f"{node.name} {a['shape']} {given} at {node.place}", node.name)
    deep = sizes[2] // 8
    # registers of A: rows 0-7, rows 8-15, then the same of the next eight columns; of B: eight rows of k each
    rows_a = np.concatenate([_ROWS + 8 * (r % 2) for r in range(2 * deep)], axis=1)
    columns_a = np.concatenate([_COLUMNS + 8 * (r // 2) for r in range(2 * deep)], axis=1)
    rows_b = np.concatenate([_COLUMNS + 8 * r for r in range(deep)], axis=1)
    columns_b = np.concatenate([_ROWS for _ in range(deep)], axis=1)
    rows_c, columns_c = np.concatenate([_ROWS, _ROWS + 8], axis=1), np.concatenate([_COLUMNS, _COLUMNS], axis=1)
    narrow = result.dtype == np.float16
    out = np.zeros((warp.lanes, 4), result.dtype)
    a_, b_, c_ = ([warp.spread(v) for v in group] for group in (first, second, third))
    for lanes in _warps(warp, node, mask):
        left = _fragment(a_, lanes, rows_a, columns_a, (16, 8 * deep), kind)
        right = _fragment(b_, lanes, rows_b, columns_b, (8 * deep, 8), kind)
        total = _fragment(c_, lanes, rows_c, columns_c, (16, 8), result.dtype)
        out[lanes] = (left @ right + total).astype(result.dtype)[rows_c, columns_c]
    if narrow:
        return tuple(np.ascontiguousarray(out[:, 2 * i : 2 * i + 2]) for i in range(2))
    return tuple(out[:, i] for i in range(4))
