"""Pass counts by family from what ``run_pack.py`` wrote.

    python test/conformance/report.py OUT.json
"""

from __future__ import annotations

import argparse
import collections
import json
import os
from pathlib import Path
from typing import Any

#: from good to bad; a file's outcome is the worst of its cases
OUTCOMES = ("noref", "pass", "unsupported", "fail", "error", "timeout", "crash", "harness", "compiled")
_COMPARABLE = tuple(name for name in OUTCOMES if name != "noref")


def by_file(cases: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """File -> its worst case."""
    worst: dict[str, dict[str, Any]] = {}
    for case in cases:
        known = worst.get(case["file"])
        if known is None or OUTCOMES.index(case["status"]) > OUTCOMES.index(known["status"]):
            worst[case["file"]] = case
    return worst


def render(cases: list[dict[str, Any]]) -> str:
    """Markdown: totals, a row per family (the worst first), and every case that did not pass."""
    rows: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    for case in by_file(cases).values():
        rows["**all files**"][case["status"]] += 1
        rows[case["family"]][case["status"]] += 1
    rows["**all cases**"].update(case["status"] for case in cases)
    columns = [name for name in OUTCOMES if any(row[name] for row in rows.values())]
    lines = [f"| family | files | {' | '.join(columns)} | pass % |", "| --- |" + " ---: |" * (len(columns) + 2)]

    def comparable(row: collections.Counter[str]) -> int:
        return sum(row[name] for name in _COMPARABLE)

    def order(item: tuple[str, collections.Counter[str]]) -> tuple[bool, int, str]:
        family, row = item
        return not family.startswith("**"), row["pass"] - comparable(row), family

    for family, row in sorted(rows.items(), key=order):
        total = comparable(row)
        share = f"{100 * row['pass'] / total:.1f}" if total else "-"
        lines.append(
            f"| {family} | {row.total()} | {' | '.join(str(row[name] or '') for name in columns)} | {share} |"
        )
    bad = [case for case in cases if case["status"] not in ("pass", "noref")]
    lines += ["", "| outcome | case | why |", "| --- | --- | --- |"] if bad else []
    for case in sorted(bad, key=lambda c: (-OUTCOMES.index(c["status"]), c["file"], c["case"])):
        why = case["error"][:220].replace("|", "\\|").replace("\n", " ")
        lines.append(f"| {case['status']} | {os.path.basename(case['file'])}[{case['case']}] | {why} |")
    return "\n".join(lines)


def main() -> None:
    """See the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("outcome", type=Path)
    print(render(json.loads(parser.parse_args().outcome.read_text())))


if __name__ == "__main__":
    main()
