"""What the shadow memory saw in one call, in words."""
from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

from kc.agents.execution.calls import Finding
from kc.agents.execution.library import NONE, Found, Site

if TYPE_CHECKING:
    from kc.agents.execution.frame import Frame

_SORTS = ("bounds", "beyond", "uninitialised", "read-only", "freed", "race")
#: field of ``Outcome`` for each sort
_FIELDS = {
    "bounds": "bounds", "beyond": "beyond", "uninitialised": "uninitialised", "read-only": "writes", "freed": "bounds",
    "race": "races",
}
_VERBS = ("reads", "writes", "updates")
_ROOM = 1024


class Watch:
    """The shadow memory of a program whose instrumented code names ``sites``."""

    def __init__(self, library: ctypes.CDLL, sites: list[dict[str, Any]], limit: int):
        self._library, self._sites, self._limit = library, sites, limit
        self._table = (Site * max(1, len(sites)))(*(Site(s["mode"], s["bytes"], s["lanes"]) for s in sites))

    def begin(self, frame: Frame) -> None:
        """Tell of the sites and the buffers of a call, after ``kc_checked_begin``."""
        self._library.kc_checked_sites(len(self._sites), self._table, _ROOM)
        for position, buffer in frame.buffers():
            address, size, valid = buffer.block()
            self._library.kc_checked_argument(
                position, address, size, frame.read_only(position), frame.initialised(position),
                None if valid is None else valid.ctypes.data,
            )

    def end(self) -> dict[str, tuple[Finding, ...]]:
        """The findings, as fields of ``Outcome``."""
        room = (Found * _ROOM)()
        count = min(_ROOM, self._library.kc_checked_findings(room, _ROOM))
        fields: dict[str, list[Finding]] = {}
        for found in room[:count]:
            finding = self._finding(found)
            kept = fields.setdefault(_FIELDS[finding.kind], [])
            if len(kept) < self._limit:
                kept.append(finding)
        return {name: tuple(findings) for name, findings in fields.items()}

    def _finding(self, found: Found) -> Finding:
        sort, site = _SORTS[found.sort], self._sites[found.site]
        other = self._sites[found.other_site] if found.other_site >= 0 else None
        buffer = self._buffer(found)
        iteration = tuple(i for i in found.iteration if i != NONE)
        other_iteration = tuple(i for i in found.other_iteration if i != NONE)
        what = (
            f"{site['op']} at {site['place']} {_VERBS[site['mode']]} {found.size} bytes at offset {found.offset} "
            f"of {buffer}"
        )
        end = {
            "bounds": "where no element of it lies",
            "beyond": "by an index outside of its dimension",
            "uninitialised": "which nobody wrote",
            "read-only": "which may only be read",
            "freed": "which is freed",
        }.get(sort)
        if other is not None:
            end = f"as does {other['op']} at {other['place']} in another iteration ({iteration} and {other_iteration})"
        return Finding(
            sort, site["op"], site["place"], buffer, found.offset, found.size, iteration,
            other["op"] if other else "", other["place"] if other else "", other_iteration if other else (),
            f"{what}, {end}",
        )

    def _buffer(self, found: Found) -> str:
        made = f" ({self._sites[found.block_site]['place']})" if found.block_site >= 0 else ""
        if found.block_kind == 0:
            return f"argument {found.block_number}"
        if found.block_kind == 3:
            return f"the global{made}"
        if found.block_kind < 0:
            return "no known buffer"
        return f"allocation {found.block_number}{made}"
