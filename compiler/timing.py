"""One timing report over native and Python passes, the parser and the printer."""
from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import Any

from kc.instrumentation import Instrumentation, PassEvent


class _Node:
    """Wall time spent under one heading of the report."""

    def __init__(self, name: str):
        self.name, self.seconds = name, 0.0
        self.children: dict[Any, _Node] = {}

    def child(self, key: Any, name: str) -> _Node:
        return self.children.setdefault(key, _Node(name))


class Timing(Instrumentation):
    """Collects wall times; ``report`` shows them as MLIR does.

    ``with timing.scope("Parser")`` times something that is no pass. A group in a pipeline is a node of the tree; the
    time of a pass that runs on many ops is the sum over them.
    """

    def __init__(self) -> None:
        self._root = _Node("Total")
        self._began = time.perf_counter()
        self._pass_began = 0.0

    @contextlib.contextmanager
    def scope(self, name: str) -> Iterator[None]:
        """Time the block as a node on its own, right below the total."""
        began = time.perf_counter()
        try:
            yield
        finally:
            self._root.child(name, name).seconds += time.perf_counter() - began

    def before_pass(self, event: PassEvent) -> None:
        self._pass_began = time.perf_counter()

    def after_pass(self, event: PassEvent) -> None:
        spent = time.perf_counter() - self._pass_began
        node = self._root
        for nest in event.nests[1:]:
            node = node.child(nest.start, f"'{nest.anchor}' Pipeline")
            node.seconds += spent
        node.child(event.leaf.start, event.leaf.name).seconds += spent

    def after_failure(self, event: PassEvent, error: BaseException) -> None:
        self.after_pass(event)

    def report(self, display: str = "tree", output: str = "text") -> str:
        """The report, for ``display`` ``tree`` (as the pipeline nests) or ``list`` (by name, slowest first).

        ``output`` is ``text`` or ``json``; times in the JSON are in seconds.
        """
        total = time.perf_counter() - self._began
        rest = _Node("Rest")
        rest.seconds = max(0.0, total - sum(n.seconds for n in self._root.children.values()))
        tops = [*self._root.children.values(), rest]
        rows = _flatten(tops) if display == "tree" else _by_name(tops)
        if output == "json":
            return _json(tops if display == "tree" else None, rows, total)
        line = f"==={'-' * 73}==="
        title = "... Execution time report ..."
        shown = [line, f"{' ' * 25}{title}", line, f"  Total Execution Time: {total:.4f} seconds", ""]
        shown.append("  ----Wall Time----  ----Name----")
        for depth, name, seconds in [*rows, (0, "Total", total)]:
            percent = 100 * seconds / total if total else 0.0
            shown.append(f"  {seconds:8.4f} ({percent:5.1f}%)  {'  ' * depth}{name}")
        return "\n".join(shown) + "\n"


def _flatten(nodes: list[_Node], depth: int = 0) -> list[tuple[int, str, float]]:
    rows = []
    for node in nodes:
        rows.append((depth, node.name, node.seconds))
        rows.extend(_flatten(list(node.children.values()), depth + 1))
    return rows


def _by_name(nodes: list[_Node]) -> list[tuple[int, str, float]]:
    """Leaves only, summed by name: a group's time is that of its passes."""
    sums: dict[str, float] = {}

    def visit(node: _Node) -> None:
        if not node.children:
            sums[node.name] = sums.get(node.name, 0.0) + node.seconds
        for child in node.children.values():
            visit(child)

    for node in nodes:
        visit(node)
    return [(0, name, seconds) for name, seconds in sorted(sums.items(), key=lambda item: -item[1])]


def _json(tree: list[_Node] | None, rows: list[tuple[int, str, float]], total: float) -> str:
    import json

    def entry(name: str, seconds: float) -> dict[str, Any]:
        percentage = 100 * seconds / total if total else 0.0
        return {"wall": {"duration": round(seconds, 6), "percentage": round(percentage, 1)}, "name": name}

    def nested(node: _Node) -> dict[str, Any]:
        return {**entry(node.name, node.seconds), "passes": [nested(c) for c in node.children.values()]}

    entries = [entry(name, seconds) for _, name, seconds in rows] if tree is None else [nested(n) for n in tree]
    return json.dumps([*entries, entry("Total", total)], indent=1) + "\n"
