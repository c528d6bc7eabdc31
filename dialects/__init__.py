"""kc's own dialects, defined in Python: name -> "module:Class", loaded on first use. Keep it alphabetical.

Such a module has no ``from __future__ import annotations``: MLIR's dialect classes read annotations as types.
"""
from __future__ import annotations

DIALECTS: dict[str, str] = {
    "kc_transform": "kc.dialects.kc_transform:KcTransform",
}
