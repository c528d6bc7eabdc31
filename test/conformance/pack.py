"""Compile a conformance suite into one file, to be run on a machine that has the GPU but not the compiler.

    python test/conformance/pack.py HARNESS SUITE_DIR... --out PACK [--target nvptx:sm_90a] [--split dev]
                                    [--filter REGEX] [--jobs 2] [--synth] [--base OLD_PACK]
    python test/conformance/run_pack.py PACK --json OUT.json      there: kc.runtime, NumPy and ml_dtypes suffice
    python test/conformance/report.py OUT.json                    pass counts by family

HARNESS is the file of the suite's harness (``stablehlo_suite.py``): its functions cut the files, prepare the modules
and compare the results. It travels in the pack. Every case is compiled in a child process; what does not compile is in
the pack as an outcome of its own (``unsupported``, ``crash``, ``timeout``), so that the report counts every file.

A pack is a ``tar.xz`` of ``cases.json``, ``harness.py`` and ``blobs/SHA256``, each content once. ``--synth`` gives
files without any check seeded inputs and the reference interpreter's answer. ``--base`` takes the cases that this run
has not made (``--filter`` does not select them, or it was broken off) from an older pack. The pack is written every 300
cases, so that a run that is broken off leaves one.
"""

from __future__ import annotations

import argparse
import base64
import collections
import hashlib
import importlib.util
import io
import json
import os
import re
import sys
import tarfile
import tempfile
import time
import zlib
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import _pool  # noqa: E402 - beside this file


def load_harness(path: Path) -> Any:
    """The harness as a module."""
    spec = importlib.util.spec_from_file_location("kc_conformance_harness", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def encode_array(array: Any) -> dict[str, Any]:
    """An array as JSON: dtype by name, shape, bytes."""
    import numpy as np

    data = np.ascontiguousarray(array)
    raw = data.tobytes()
    return {"dtype": data.dtype.name, "shape": list(np.shape(array)), "data": base64.b64encode(raw).decode()}


# ------------------------------------------------------------------------------------------------- the child process


class Maker:
    """Prepares and compiles the cases of one file; keeps the chunks of the file it saw last."""

    def __init__(self, harness: Path, target: str, synth: bool) -> None:
        self.harness, self.target, self.synth = load_harness(harness), target, synth
        self._file = ""
        self._chunks: list[str] = []

    def __call__(self, job: dict[str, Any]) -> dict[str, Any]:
        path, number = job["file"], job["case"]
        if path != self._file:
            self._file, self._chunks = path, self.harness.split_input(Path(path).read_text())
        seed = int(hashlib.sha256(os.path.basename(path).encode()).hexdigest()[:8], 16)
        try:
            case = self.harness.prepare(self._chunks[number], "args", self.synth, seed=seed)
        except Exception as error:
            return {"status": "harness", "error": self.harness.first_error_line(error)}
        made: dict[str, Any] = {"ops": dict(case.ops), "dtypes": sorted(case.dtypes)}
        expected = None
        if case.text is None or not (case.checks or self.synth):
            return {**made, "status": "noref", "error": ""}
        if not case.checks:
            expected = self.harness.synth_expected(case)
            if expected is None:
                return {**made, "status": "noref", "error": "the interpreter has no answer for the inputs made up"}
        return {**made, **self._compiled(case, expected)}

    def _compiled(self, case: Any, expected: Any) -> dict[str, Any]:
        import kc

        began = time.perf_counter()
        try:
            executable = kc.compile(case.text, target=self.target, entry=case.entry)
        except Exception as error:
            return {"status": "unsupported", "error": self.harness.first_error_line(error)}
        seconds = time.perf_counter() - began
        return {
            "status": "compiled",
            "error": "",
            "compile_s": seconds,
            "manifest": executable.manifest,
            "files": {name: _packed(data) for name, data in executable.files.items()},
            "args": [encode_array(a) for a in case.args],
            "results": len(case.result_types),
            "checks": [
                {**check, "const": None if check["const"] is None else encode_array(check["const"])}
                for check in case.checks
            ],
            "expected": None if expected is None else [encode_array(a) for a in expected],
        }


def _packed(data: Any) -> str:
    return base64.b64encode(zlib.compress(bytes(memoryview(data).cast("B")), 1)).decode()


# ------------------------------------------------------------------------------------------------------- the packer


def select_files(harness: Any, folders: list[str], split: str) -> list[str]:
    """The suite's files in ``folders`` (or files named one by one) of a split, sorted."""
    paths: list[str] = []
    for folder in folders:
        if os.path.isfile(folder):
            paths.append(folder)
        for root, _, names in os.walk(folder):
            paths += [os.path.join(root, name) for name in names if name.endswith(".mlir")]
    return sorted(p for p in paths if split == "all" or harness.split_of(p) == split)


class Pack:
    """A pack being written."""

    def __init__(self, harness: bytes) -> None:
        self.harness = harness
        self.cases: list[dict[str, Any]] = []
        self.blobs: dict[str, bytes] = {}

    def add(self, case: dict[str, Any]) -> None:
        """A case as a child made it; its files become blobs."""
        files = {name: zlib.decompress(base64.b64decode(text)) for name, text in case.pop("files", {}).items()}
        if files:
            case["files"] = {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
            self.blobs.update(zip(case["files"].values(), files.values(), strict=True))
        self.cases.append(case)

    def with_base(self, base: Path | None) -> Pack:
        """This pack and the cases of the pack ``base`` that it has not."""
        merged = Pack(self.harness)
        merged.cases, merged.blobs = list(self.cases), dict(self.blobs)
        if base is None:
            return merged
        done = {(case["file"], case["case"]) for case in self.cases}
        with tarfile.open(base) as archive:
            members = {info.name: archive.extractfile(info) for info in archive if info.isfile()}
            data = {name: file.read() for name, file in members.items() if file is not None}
        for case in json.loads(data["cases.json"]):
            if (case["file"], case["case"]) not in done:
                merged.cases.append(case)
                merged.blobs.update((digest, data[f"blobs/{digest}"]) for digest in case.get("files", {}).values())
        return merged

    def write(self, path: Path) -> None:
        """Write the pack; first under another name, so that a broken-off run leaves no half of one."""
        self.cases.sort(key=lambda case: (case["file"], case["case"]))
        members = {"harness.py": self.harness, "cases.json": json.dumps(self.cases).encode()}
        # programs that came one after the other are alike: xz finds that when they are stored in that order
        used = [digest for case in self.cases for digest in case.get("files", {}).values()]
        members.update({f"blobs/{digest}": self.blobs[digest] for digest in dict.fromkeys(used)})
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
            with tarfile.open(fileobj=file, mode="w:xz", preset=3) as archive:
                for name, content in members.items():
                    info = tarfile.TarInfo(name)
                    info.size = len(content)
                    archive.addfile(info, io.BytesIO(content))
            os.replace(file.name, path)


def main() -> int:
    """See the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("harness", type=Path)
    parser.add_argument("suites", nargs="+", metavar="SUITE_DIR")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--target", default="nvptx:sm_90a")
    parser.add_argument("--split", choices=("dev", "held", "all"), default="dev")
    parser.add_argument("--filter", default="", help="only files whose path has a match of this expression")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--timeout", type=float, default=120, help="seconds for one case")
    parser.add_argument("--synth", action="store_true")
    parser.add_argument("--base", type=Path)
    args = parser.parse_args()

    harness = load_harness(args.harness)
    files = [f for f in select_files(harness, args.suites, args.split) if re.search(args.filter, f)]
    jobs: list[dict[str, Any]] = [
        {"file": file, "case": case}
        for file in files
        for case in range(len(harness.split_input(Path(file).read_text())))
    ]
    pack = Pack(args.harness.read_bytes())
    command = [sys.executable, str(HERE / "pack.py"), "--child", str(args.harness), args.target, str(int(args.synth))]
    seen: collections.Counter[str] = collections.Counter()
    began = time.monotonic()
    for job, answer in _pool.run(command, jobs, args.jobs, args.timeout):
        pack.add({**job, "family": harness.family_of(job["file"]), **answer})
        seen[answer["status"]] += 1
        if seen.total() % 100 == 0:
            print(f"{seen.total()}/{len(jobs)} {time.monotonic() - began:.0f} s {dict(seen)}", flush=True)
        if seen.total() % 300 == 0:
            pack.with_base(args.base).write(args.out)
    pack = pack.with_base(args.base)
    pack.write(args.out)
    print(f"{args.out}: {args.out.stat().st_size / 2**20:.1f} MiB, {len(pack.cases)} cases, {dict(seen)}")
    for case in pack.cases:
        if case["status"] not in ("compiled", "noref"):
            print(f"{case['status']:12} {os.path.basename(case['file'])}[{case['case']}]: {case['error'][:200]}")
    return 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        _pool.serve(int(sys.argv[5]), Maker(Path(sys.argv[2]), sys.argv[3], sys.argv[4] == "1"))
        sys.exit(0)
    sys.exit(main())
