"""Run a pack (see ``pack.py``) and write what became of every case.

    python test/conformance/run_pack.py PACK [--json OUT.json] [--jobs N] [--timeout S] [--filter REGEX]

Needs kc.runtime (of an installed kc, or of this checkout with its libkc_runtime.so built), NumPy and ml_dtypes; no
MLIR and no LLVM. Cases run in child processes, several at a time on one GPU; one that ends or hangs its process, or
loses the CUDA context, costs that case alone. Outcomes: those of the harness (``pass``, ``fail``, ``crash``,
``timeout`` …) and ``error``, a program that the runtime refused to load or that raised. The exit code is 1 unless
everything passed.
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import re
import sys
import tarfile
import tempfile
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parent / "integration" / "gpu"))

import _pool  # noqa: E402 - beside this file
from pack import load_harness  # noqa: E402
from report import render  # noqa: E402
from run_artifacts import find_kc  # noqa: E402


def decode_array(data: dict[str, Any]) -> Any:
    """The inverse of ``pack.encode_array``."""
    import ml_dtypes
    import numpy as np

    name = data["dtype"]
    dtype = np.dtype(getattr(ml_dtypes, name)) if hasattr(ml_dtypes, name) else np.dtype(name)
    return np.frombuffer(base64.b64decode(data["data"]), dtype).reshape(data["shape"]).copy()


def judge(harness: Any, case: dict[str, Any], results: list[Any]) -> str | None:
    """What is wrong with ``results``, None if nothing; the rules are the harness' own (``worker_main``)."""
    if len(results) != case["results"]:
        return f"{len(results)} results, expected {case['results']}"
    if case["expected"] is not None:
        for actual, expected in zip(results, case["expected"], strict=True):
            wrong: str | None = harness.compare({"kind": "synth"}, actual, decode_array(expected))
            if wrong:
                return wrong
        return None
    exact = {"kind": "close", "max_ulp": 0, "min_ulp": 0}
    for check in case["checks"]:
        expected = None if check["const"] is None else decode_array(check["const"])
        if check["two"]:
            returned = results[check["pos"] + 1]
            if expected is None:
                expected = returned
            elif wrong := harness.compare(exact, returned, expected):
                return f"expected operand came back changed: {wrong}"
        if wrong := harness.compare(check, results[check["pos"]], expected):
            return wrong
    return None


class Runner:
    """The child: runs case number ``job["at"]`` of the unpacked folder."""

    def __init__(self, folder: Path) -> None:
        find_kc()
        from kc.runtime.library import library

        library()  # a runtime that does not load ends the run here, not every case of it
        self.folder = folder
        self.harness = load_harness(folder / "harness.py")
        self.cases = json.loads((folder / "cases.json").read_text())

    def __call__(self, job: dict[str, Any]) -> dict[str, Any]:
        import numpy as np

        import kc.runtime

        case = self.cases[job["at"]]
        files = {name: (self.folder / "blobs" / digest).read_bytes() for name, digest in case["files"].items()}
        began = time.perf_counter()
        try:
            program = kc.runtime.Program.from_manifest(case["manifest"], files)
            program.prepare()
            loaded = time.perf_counter()
            results = [np.asarray(r) for r in program(*(decode_array(a) for a in case["args"]))]
            ran = time.perf_counter()
        except Exception as error:
            # the fault may have taken the context with it, and then every later case in this process would fail
            return {"status": "error", "error": f"{type(error).__name__}: {str(error)[:400]}", _pool.RETIRE: True}
        times = {"load_s": round(loaded - began, 5), "exec_s": round(ran - loaded, 5)}
        try:
            wrong = judge(self.harness, case, results)
        except Exception as error:
            wrong = f"comparison: {self.harness.first_error_line(error)}"
        return {"status": "fail" if wrong else "pass", "error": wrong or "", **times}


def unpack(pack: Path, folder: Path) -> None:
    """Unpack a pack into ``folder``."""
    with tarfile.open(pack) as archive:
        archive.extractall(folder, filter="data")


def main() -> int:
    """See the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pack", type=Path)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--jobs", type=int, default=min(12, os.cpu_count() or 1))
    parser.add_argument("--timeout", type=float, default=60)
    parser.add_argument("--filter", default="")
    args = parser.parse_args()
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        unpack(args.pack, folder)
        cases = json.loads((folder / "cases.json").read_text())
        chosen = [at for at, case in enumerate(cases) if re.search(args.filter, case["file"])]
        jobs = [{"at": at} for at in chosen if cases[at]["status"] == "compiled"]
        command = [sys.executable, str(HERE / "run_pack.py"), "--child", name]
        for job, answer in _pool.run(command, jobs, args.jobs, args.timeout):
            cases[job["at"]].update(answer)
    kept = ("file", "case", "family", "status", "error", "compile_s", "load_s", "exec_s")
    outcome = []
    for at in chosen:
        kernels = cases[at].get("manifest", {}).get("kernels", ())
        serial = [kernel["name"] for kernel in kernels if kernel["threads"] == 1]
        outcome.append({**{key: cases[at][key] for key in kept if key in cases[at]}, "serial_kernels": serial})
    if args.json:
        args.json.write_text(json.dumps(outcome))
    print(render(outcome))
    print(f"{len(jobs)} programs run in {time.monotonic() - began:.0f} s")
    return int(any(case["status"] not in ("pass", "noref") for case in outcome))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        _pool.serve(int(sys.argv[3]), Runner(Path(sys.argv[2])))
        sys.exit(0)
    sys.exit(main())
