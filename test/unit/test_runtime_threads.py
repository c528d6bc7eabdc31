"""Parallel regions, loops, barriers and reductions, in processes with teams of several sizes."""
from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CHECKS = Path(__file__).parent / "runtime_thread_checks.py"


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
@pytest.mark.parametrize(("threads", "spin"), [(1, 30), (2, 30), (5, 0), (7, 30)])
def test_threads(threads: int, spin: int) -> None:
    done = subprocess.run(
        [sys.executable, str(CHECKS)],
        env={**os.environ, "KC_NUM_THREADS": str(threads), "KC_SPIN_US": str(spin)},
        capture_output=True, text=True, timeout=120, check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    expected = re.findall(r"^def (check_\w+)", CHECKS.read_text(), re.MULTILINE)
    assert re.findall(r"^(check_\w+) passed", done.stdout, re.MULTILINE) == expected


@pytest.mark.parametrize(
    ("environment", "threads"),
    [({"KC_NUM_THREADS": "3"}, 3), ({"OMP_NUM_THREADS": "4"}, 4), ({"KC_NUM_THREADS": "2", "OMP_NUM_THREADS": "4"}, 2),
     ({"KC_NUM_THREADS": "many"}, len(os.sched_getaffinity(0))), ({}, len(os.sched_getaffinity(0)))],
)  # fmt: skip
def test_size_of_the_team(environment: dict[str, str], threads: int) -> None:
    base = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    code = "import kc.runtime; print(kc.runtime.num_threads())"
    done = subprocess.run(
        [sys.executable, "-c", code], env={**base, **environment}, stdout=subprocess.PIPE, check=True
    )
    assert int(done.stdout) == threads
