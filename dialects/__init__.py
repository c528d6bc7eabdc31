"""kc's own dialects, defined in Python: name -> "module:Class", loaded on first use. Keep it alphabetical."""
from __future__ import annotations

DIALECTS: dict[str, str] = {
}
