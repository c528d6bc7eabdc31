"""The start-up budget, in CPU time relative to a bare Python, so that a slow or loaded machine does not matter."""
from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

RUNS = 7
SOURCE = """
func.func @f(%a: i32) -> i32 {
  %c = arith.constant 0 : i32
  %b = arith.addi %a, %c : i32
  return %b : i32
}
"""


def cpu_seconds(command: list[str]) -> float:
    """User and system time of a command: the least of several runs, which is the one least disturbed."""
    # bytecode must be kept from the first run on: an installed package has it
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    times = []
    for _ in range(RUNS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True, capture_output=True, env=environment)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
    return min(times)


def test_kc_opt_starts_within_budget(tmp_path: Path) -> None:
    """120 ms where ``python -c pass`` takes 25, with a third on top for the noise of shared machines."""
    source = tmp_path / "small.mlir"
    source.write_text(SOURCE)
    run = "from kc.tools.kc_opt import entry; entry()"
    bare = cpu_seconds([sys.executable, "-c", "pass"])
    kc_opt = cpu_seconds([sys.executable, "-c", run, "--canonicalize", str(source)])
    assert kc_opt / bare < 120 / 25 * 4 / 3, f"kc-opt {kc_opt * 1e3:.0f} ms, bare Python {bare * 1e3:.0f} ms"


def test_import_kc_costs_little() -> None:
    bare = cpu_seconds([sys.executable, "-c", "pass"])
    with_kc = cpu_seconds([sys.executable, "-c", "import kc"])
    assert with_kc < 2.5 * bare, f"import kc {with_kc * 1e3:.0f} ms, bare Python {bare * 1e3:.0f} ms"
