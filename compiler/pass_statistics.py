"""What each pass did, in numbers: how often it ran, the ops before and after, and what a Python pass counted itself.

The counters inside MLIR's own passes are compiled out of the MLIR that kc uses; the op counts cover those passes.
"""
from __future__ import annotations

from typing import TYPE_CHECKING

from kc.instrumentation import Instrumentation, PassEvent

if TYPE_CHECKING:
    from kc.bindings import ir


class PassStatistics(Instrumentation):
    """Collects the numbers; ``report`` shows them."""

    def __init__(self) -> None:
        #: (heading, pass, position in the pipeline) -> name of a number -> its value
        self._rows: dict[tuple[str, str, int], dict[str, int]] = {}
        self._before = 0

    def before_pass(self, event: PassEvent) -> None:
        self._before = count_ops(event.op)

    def after_pass(self, event: PassEvent) -> None:
        heading = " > ".join(nest.anchor for nest in event.nests)
        row = self._rows.setdefault((heading, event.leaf.name, event.leaf.start), {})
        numbers = {"runs": 1, "ops-before": self._before, "ops-after": count_ops(event.op), **event.counts}
        for name, value in numbers.items():
            row[name] = row.get(name, 0) + value

    def report(self, display: str = "pipeline") -> str:
        """The report: ``pipeline`` keeps the order and nesting of the pipeline, ``list`` sums by pass name."""
        line = f"==={'-' * 73}==="
        shown = [line, f"{' ' * 25}... Pass statistics report ...", line]
        if display == "list":
            sums: dict[str, dict[str, int]] = {}
            for (_, name, _), row in self._rows.items():
                into = sums.setdefault(name, {})
                for key, value in row.items():
                    into[key] = into.get(key, 0) + value
            for name in sorted(sums):
                shown += [name, *(f"  (S) {value:6d} {key}" for key, value in sums[name].items())]
            return "\n".join(shown) + "\n"
        heading = ""
        for (above, name, _), row in self._rows.items():
            if above != heading:
                shown.append(f"'{above}' Pipeline")
                heading = above
            shown += [f"  {name}", *(f"    (S) {value:6d} {key}" for key, value in row.items())]
        return "\n".join(shown) + "\n"


def count_ops(op: ir.Operation) -> int:
    """The number of ops inside ``op``, itself included."""
    count = 0

    def visit(_: ir.Operation) -> ir.WalkResult:
        nonlocal count
        count += 1
        return advance

    from kc.bindings import ir as bindings

    advance = bindings.WalkResult.ADVANCE
    op.walk(visit)
    return count
