"""Packs of a conformance suite: made, run (on the CPU here) and reported, with a harness of a few lines."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "conformance"
sys.path.insert(0, str(FOLDER))

import _pool  # noqa: E402

HARNESS = '''
import types
import numpy as np

def split_input(text): return text.split("// -----")
def split_of(path): return "dev"
def family_of(path): return path.rsplit("/", 1)[1].split(".")[0]
def first_error_line(error): return str(error).splitlines()[0]
def compare(check, actual, expected):
    return None if np.array_equal(actual, expected) else f"{actual} is not {expected}"
def prepare(text, inputs, synth, seed=0):
    expected = np.array(eval(text.split("expect ")[1].splitlines()[0]), np.float32)
    check = {"kind": "eq", "pos": 0, "two": False, "const": expected}
    return types.SimpleNamespace(
        text=text, entry="main", checks=[check], ops={}, dtypes=set(), result_types=["tensor<2xf32>"],
        args=[np.array([1, 2], np.float32)])
'''
DOUBLE = """
// expect {expected}
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {{
  %0 = stablehlo.add %x, %x : tensor<2xf32>
  return %0 : tensor<2xf32>
}}
"""


def _script(name: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(FOLDER / name), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


def test_pack_run_report(tmp_path: Path) -> None:
    suite = tmp_path / "suite"
    suite.mkdir()
    (tmp_path / "harness.py").write_text(HARNESS)
    (suite / "good.mlir").write_text(DOUBLE.format(expected=[2, 4]))
    (suite / "mixed.mlir").write_text(DOUBLE.format(expected=[2, 4]) + "// -----" + DOUBLE.format(expected=[2, 5]))
    (suite / "broken.mlir").write_text("// expect [2, 4]\nfunc.func @main(")
    pack, outcome = tmp_path / "pack.tar.xz", tmp_path / "outcome.json"
    made = _script("pack.py", tmp_path / "harness.py", suite, "--out", pack, "--target", "cpu", "--jobs", 1)
    assert made.returncode == 0, made.stderr
    with tarfile.open(pack) as archive:
        programs = [name for name in archive.getnames() if name.startswith("blobs/")]
    assert len(programs) == 1  # three times the same one
    ran = _script("run_pack.py", pack, "--json", outcome, "--jobs", 1)
    assert ran.returncode == 1, ran.stderr
    found = {(os.path.basename(c["file"]), c["case"]): c["status"] for c in json.loads(outcome.read_text())}
    assert found == {
        ("good.mlir", 0): "pass",
        ("mixed.mlir", 0): "pass",
        ("mixed.mlir", 1): "fail",
        ("broken.mlir", 0): "unsupported",
    }
    report = _script("report.py", outcome).stdout
    assert "| **all files** | 3 | 1 | 1 | 1 | 33.3 |" in report
    assert "| fail | mixed.mlir[1] | [2. 4.] is not [2. 5.] |" in report


def test_a_job_that_kills_or_hangs_its_process_costs_that_job_alone(tmp_path: Path) -> None:
    child = tmp_path / "child.py"
    child.write_text(
        f"import os, sys, time\nsys.path.insert(0, {str(FOLDER)!r})\nimport _pool\n"
        "def work(job):\n"
        "    if job['do'] == 'abort': print('LLVM ERROR: no', flush=True); os.abort()\n"
        "    if job['do'] == 'hang': time.sleep(60)\n"
        "    return {'status': 'fine', _pool.RETIRE: job['do'] == 'retire', 'process': os.getpid()}\n"
        "_pool.serve(int(sys.argv[1]), work)\n"
    )
    jobs = [{"do": word} for word in ("work", "abort", "retire", "hang", "work", "work")]
    answers = [answer for _, answer in _pool.run([sys.executable, str(child)], jobs, 1, 4)]
    assert [answer["status"] for answer in answers] == ["fine", "crash", "fine", "timeout", "fine", "fine"]
    assert answers[1]["error"] == "SIGABRT: LLVM ERROR: no"
    processes = [answer.get("process") for answer in answers]
    assert len({*processes} - {None}) == 3
    assert processes[4] == processes[5] != processes[2] != processes[0]
