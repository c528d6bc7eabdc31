"""Exports: a rewrite library that replays what was accepted, and FlashInfer-Bench JSON that is read back."""
from __future__ import annotations

import ast
import dataclasses
import json
import os
import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import kc
from kc.agents import Agent, Ledger, Observation, Proposal, Verdict
from kc.agents.export import flashinfer, rewrites
from kc.agents.export.checks import check_lines
from kc.agents.export.library import MARK, RewriteLibrary
from kc.agents.export.matching import key
from kc.errors import InputError

BEFORE = """module {
  func.func @main(%x: tensor<?xf32> {kc.dims = ["N"]}, %y: tensor<?xf32> {kc.dims = ["N"]}) -> tensor<?xf32> attributes {kc.allow = ["nsz"], kc.sizes = {N = array<i64: 1, 40>}} {
    %0 = stablehlo.subtract %x, %y : tensor<?xf32>
    return %0 : tensor<?xf32>
  }
}
"""  # noqa: E501
AFTER = """module {
  func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
    %0 = stablehlo.negate %y : tensor<?xf32>
    %1 = stablehlo.add %x, %0 : tensor<?xf32>
    return %1 : tensor<?xf32>
  }
}
"""
TIMED = Verdict(True, errors={"ulp": 1.0}, runs=9, timing={"original_us": 4.0, "proposal_us": 2.0, "speedup": 2.0})


class Someone(Agent):
    name, levels = "someone", ("stablehlo",)


def observation(ir: str = BEFORE, identity: str = "a" * 64, level: str = "stablehlo", **fields: Any) -> Observation:
    name, at = fields.pop("name", "sub"), "before:stablehlo-normalize"
    return Observation(level, at, name, "function", identity, ir, **fields)


@pytest.fixture
def ledger() -> Ledger:
    made = Ledger()
    proposal = Proposal("replace_ir", ir=AFTER, rationale="an addition\nis enough")
    made.record(observation(), Someone(), proposal, TIMED)
    no = Verdict(False, "parse", "parse.text")
    made.record(observation(identity="b" * 64, name="other"), Someone(), proposal, no)
    made.record(observation(identity="c" * 64, name="kept"), Someone(), Proposal("keep"), Verdict(True))
    return made


def test_a_library_is_written_and_read_back(ledger: Ledger, tmp_path: Path) -> None:
    written, skipped = rewrites.export(ledger, ledger.entries(), str(tmp_path))
    assert not skipped
    assert sorted(str(p.relative_to(tmp_path)) for p in written) == [
        "Inputs/sub-aaaaaaaa-someone.mlir", "lit.cfg.py", "sub-aaaaaaaa-someone.mlir",
    ]  # fmt: skip
    text = (tmp_path / "sub-aaaaaaaa-someone.mlir").read_text()
    for words in ("by someone 1.", "// Because: an addition\n// is enough", "// Measured: 4 µs → 2 µs (2x)", "// RUN: ",
                  "// CHECK-NEXT: %[[V2:[A-Za-z0-9_]+]] = stablehlo.negate %[[V1]]"):  # fmt: skip
        assert words in text, text
    agent = RewriteLibrary(tmp_path)
    assert agent.levels == ("stablehlo",) and agent.name == f"rewrites-{tmp_path.name}"
    proposal = agent.propose(observation())
    assert proposal is not None and proposal.ir == AFTER and proposal.rationale == "an addition\nis enough"
    assert agent.propose(observation(level="linalg")) is None
    tried = ({"proposal": proposal.to_json(), "verdict": {}},)
    assert agent.propose(dataclasses.replace(observation(), attempts=tried)) is None
    version = agent.version
    (tmp_path / "Inputs" / "sub-aaaaaaaa-someone.mlir").write_text(AFTER + "\n")
    assert RewriteLibrary(tmp_path).version != version


def test_regions_match_whatever_their_contract() -> None:
    plain = BEFORE.replace('kc.allow = ["nsz"], ', "").replace('{kc.dims = ["N"]}', "")
    renamed = BEFORE.replace("%x", "%left").replace("%0", "%difference")
    assert key(BEFORE) == key(plain) == key(renamed)
    assert key(BEFORE) != key(BEFORE.replace("%x, %y :", "%y, %x :"))
    assert key(BEFORE) != key(BEFORE.replace("f32", "f64"))


@pytest.mark.skipif(shutil.which("lit") is None and not (Path(sys.executable).parent / "lit").exists(), reason="no lit")
def test_the_tests_of_a_library_run(ledger: Ledger, tmp_path: Path) -> None:
    """They pass through the gates; test_check_lines_hold_and_tell_apart has one that fails."""
    rewrites.export(ledger, ledger.entries(), str(tmp_path))
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    command = [sys.executable, "-c", "from lit.main import main; main()", "-v", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200, env={**os.environ, "PATH": path})
    assert done.returncode == 0 and "Passed: 1" in done.stdout, done.stdout


def test_a_library_takes_part_in_a_compilation(ledger: Ledger, tmp_path: Path) -> None:
    rewrites.export(ledger, ledger.entries(), str(tmp_path / "lib"))
    program = BEFORE.replace("?", "8").replace('{kc.dims = ["N"]}', "")
    fixed = ledger.region("a" * 64)
    assert fixed is not None
    (file,) = (tmp_path / "lib").glob("*.mlir")
    file.write_text(file.read_text().replace("?", "8"))
    after = next((tmp_path / "lib" / "Inputs").iterdir())
    after.write_text(after.read_text().replace("?", "8"))
    exe = kc.compile(program, agents=[f"stablehlo={tmp_path / 'lib'}"], ledger=str(tmp_path / "ledger.jsonl"))
    assert [d.accepted for d in exe.session.decisions] == [True], exe.session.remarks
    exe.save(tmp_path / "a.kca")
    shutil.rmtree(tmp_path / "lib")
    again = kc.compile(program, ledger=str(tmp_path / "ledger.jsonl"), ledger_mode="frozen")
    again.save(tmp_path / "b.kca")
    assert (tmp_path / "a.kca").read_bytes() == (tmp_path / "b.kca").read_bytes()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda line: line.replace('"kind"', '"sort"'), "the proposal is none"),
        (lambda line: line[:-3], "stands no object with level and proposal"),
        (lambda line: line.replace("sub-aaaaaaaa-someone.mlir", "../x.mlir"), "is no name of a file in Inputs/"),
        (lambda line: line.replace("sub-aaaaaaaa-someone.mlir", "none.mlir"), "cannot read"),
        (lambda line: "//", "is no library of rewrites"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_library_is_told(ledger: Ledger, tmp_path: Path, change: Any, message: str) -> None:
    rewrites.export(ledger, ledger.entries(), str(tmp_path))
    test = tmp_path / "sub-aaaaaaaa-someone.mlir"
    lines = [change(line) if line.startswith(MARK) else line for line in test.read_text().splitlines()]
    test.write_text("\n".join(lines))
    with pytest.raises(InputError, match=message):
        RewriteLibrary(tmp_path)
    with pytest.raises(InputError, match="no such folder"):
        RewriteLibrary(tmp_path / "none")


def test_what_cannot_be_exported_is_told(tmp_path: Path) -> None:
    made = Ledger()
    wrong = Proposal("replace_ir", ir="module {}")
    made.record(observation(), Someone(), wrong, TIMED)
    made.record(observation("ptx text", "d" * 64, "asm"), Someone(), wrong, TIMED)
    written, skipped = rewrites.export(made, made.entries(), str(tmp_path))
    assert not written and len(skipped) == 2
    assert "cannot be applied again" in skipped[0][1] and "no MLIR" in skipped[1][1]


@pytest.mark.parametrize("form", [rewrites, flashinfer])
def test_an_export_of_nothing_makes_no_folder(form: Any, tmp_path: Path) -> None:
    assert form.export(Ledger(), [], str(tmp_path / "out")) == ([], [])
    assert not (tmp_path / "out").exists()


def test_check_lines_hold_and_tell_apart() -> None:
    text = """module {
  func.func @main(%arg0: tensor<2x3xf32>) -> tensor<6xf32> {
    %0 = tensor.collapse_shape %arg0 [[0, 1]] : tensor<2x3xf32> into tensor<6xf32>
    return %0 : tensor<6xf32>
  }
}"""
    lines = list(check_lines(text))
    assert lines == [
        "// CHECK-LABEL: func.func @main(",
        "// CHECK-SAME: %[[V0:[A-Za-z0-9_]+]]:",
        "// CHECK-NEXT: %[[V1:[A-Za-z0-9_]+]] = tensor.collapse_shape %[[V0]] {{[[][[]}}0, 1]] : "
        "tensor<2x3xf32> into tensor<6xf32>",
        "// CHECK-NEXT: return %[[V1]] : tensor<6xf32>",
    ]
    filecheck = shutil.which("FileCheck") or str(Path(sys.executable).parent / "filecheck")
    import tempfile

    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
        file.write("\n".join(lines))
        file.flush()
        for shown, code in ((text, 0), (text.replace("%arg0", "%z"), 0), (text.replace("[[0, 1]]", "[[0], [1]]"), 1)):
            done = subprocess.run([filecheck, file.name], input=shown, text=True, capture_output=True)
            assert bool(done.returncode) == bool(code), done.stderr


# ---------------------------------------------------------------- FlashInfer-Bench

MATMUL = """module {
  func.func @main(%x: tensor<?x8xf32> {kc.dims = ["M", "K"]}, %y: tensor<8x4xf32>, %s: f32) -> tensor<?x4xf32> attributes {kc.sizes = {M = array<i64: 1, 40>}, kc.facts = ["M % 4 == 0", "align(arg0,64)"]} {
    %z = arith.constant 0.0 : f32
    %c0 = arith.constant 0 : index
    %m = tensor.dim %x, %c0 : tensor<?x8xf32>
    %e = tensor.empty(%m) : tensor<?x4xf32>
    %f = linalg.fill ins(%s : f32) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
    %r = linalg.matmul ins(%x, %y : tensor<?x8xf32>, tensor<8x4xf32>) outs(%f : tensor<?x4xf32>) -> tensor<?x4xf32>
    return %r : tensor<?x4xf32>
  }
}
"""  # noqa: E501


def check_definition(data: dict[str, Any]) -> None:
    """The rules of flashinfer_bench/data/definition.py."""
    assert set(data) <= {
        "name", "op_type", "axes", "inputs", "outputs", "reference", "tags", "description", "constraints",
    }  # fmt: skip
    assert not set(data["inputs"]) & set(data["outputs"])
    for axis in data["axes"].values():
        assert axis == {"type": "var"} or (axis["type"] == "const" and axis["value"] >= 0)
    for spec in (*data["inputs"].values(), *data["outputs"].values()):
        assert spec["dtype"] in flashinfer.DTYPES.values()
        assert spec["shape"] is None or all(axis in data["axes"] for axis in spec["shape"])
    tree = ast.parse(data["reference"])
    assert any(isinstance(node, ast.FunctionDef) and node.name == "run" for node in tree.body)
    for constraint in data["constraints"]:
        ast.parse(constraint, mode="eval")


def check_solution(data: dict[str, Any], definition: dict[str, Any]) -> None:
    """The rules of flashinfer_bench/data/solution.py."""
    assert set(data) == {"name", "definition", "author", "spec", "sources", "description"}
    assert data["definition"] == definition["name"] and data["spec"]["language"] == "python"
    paths = [source["path"] for source in data["sources"]]
    file, _, function = data["spec"]["entry_point"].partition("::")
    assert len(set(paths)) == len(paths) and file in paths and function == "run"
    assert all(".." not in path and not path.startswith("/") and source["content"] for path, source in
               zip(paths, data["sources"], strict=True))  # fmt: skip


def test_flashinfer_bench_round_trip(tmp_path: Path) -> None:
    made = Ledger()
    timed = dataclasses.replace(TIMED, timing={**(TIMED.timing or {}), "sizes": {"M": 12}})
    after = MATMUL.replace("linalg.matmul", "linalg.matmul {again}")
    proposal = Proposal("replace_ir", ir=after, assumes=("reassoc",), rationale="because")
    seen = observation(MATMUL, level="linalg", name="main_k0")
    made.record(seen, Someone(), proposal, timed)
    cuda = Proposal("cuda", source="__global__ void k() {}", launch={"entry": "k"})
    made.record(dataclasses.replace(seen, identity="b" * 64), Someone(), cuda, dataclasses.replace(TIMED, timing=None))
    wide = dataclasses.replace(seen, identity="c" * 64, ir=MATMUL.replace("f32", "f64"))
    made.record(wide, Someone(), proposal, timed)
    written, skipped = flashinfer.export(made, made.entries(), str(tmp_path))
    assert len(written) == 6 and len(skipped) == 1 and "no dtype for 'tensor<?x8xf64>'" in skipped[0][1]

    (path,) = (tmp_path / "definitions" / "function").glob("*aaaaaaaa.json")
    definition = json.loads(path.read_text())
    check_definition(definition)
    assert definition["axes"] == {"M": {"type": "var"}, "d8": {"type": "const", "value": 8},
                                  "d4": {"type": "const", "value": 4}}  # fmt: skip
    assert definition["inputs"]["arg2"] == {"shape": None, "dtype": "float32"}
    assert definition["outputs"] == {"result0": {"shape": ["M", "d4"], "dtype": "float32"}}
    assert definition["constraints"] == ["M % 4 == 0"]

    (path,) = (tmp_path / "solutions" / "someone" / "function" / definition["name"]).iterdir()
    solution = json.loads(path.read_text())
    check_solution(solution, definition)
    assert flashinfer.read(path) == proposal

    (line,) = (tmp_path / "traces" / "someone" / "function" / f"{definition['name']}.jsonl").read_text().splitlines()
    trace = json.loads(line)
    assert trace["definition"] == definition["name"] and trace["solution"] == solution["name"]
    assert trace["workload"]["axes"] == {"M": 12} and set(trace["workload"]["inputs"]) == set(definition["inputs"])
    evaluation = trace["evaluation"]
    assert evaluation["status"] == "PASSED" and evaluation["correctness"]["max_relative_error"] == 2.0**-23
    assert evaluation["performance"] == {"latency_ms": 0.002, "reference_latency_ms": 0.004, "speedup_factor": 2.0}

    (other,) = (tmp_path / "solutions" / "someone" / "function").glob("*bbbbbbbb/*.json")
    assert flashinfer.read(other) == cuda
    sources = {source["path"]: source["content"] for source in json.loads(other.read_text())["sources"]}
    assert sources["kernel.cu"] == cuda.source
    untimed = next((tmp_path / "traces").rglob("*bbbbbbbb.jsonl"))
    assert json.loads(untimed.read_text())["evaluation"] is None


def test_exported_references_and_solutions_run(tmp_path: Path) -> None:
    import numpy as np

    made = Ledger()
    after = MATMUL.replace("%z = arith.constant 0.0 : f32\n", "")
    seen = observation(MATMUL, level="linalg", name="main_k0")
    attempt = made.record(seen, Someone(), Proposal("replace_ir", ir=after), TIMED)
    region = made.region("a" * 64)
    assert region is not None
    definition = flashinfer.definition(region)
    scope: dict[str, Any] = {}
    exec(definition["reference"], scope)
    x, y = np.ones((3, 8), np.float32), np.full((8, 4), 2, np.float32)
    assert np.array_equal(scope["run"](x, y, np.float32(5)), np.full((3, 4), 21, np.float32))
    for source in flashinfer.solution(attempt, definition)["sources"]:
        (tmp_path / source["path"]).write_text(source["content"])
    run = runpy.run_path(str(tmp_path / "main.py"))["run"]
    assert np.array_equal(run(x, y, np.float32(5)), np.full((3, 4), 21, np.float32))


def test_only_solutions_of_kc_are_read(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    for text, words in (
        ('{"sources": [{"path": "main.cu", "content": "x"}]}', "was not written by kc"), ("[]", "is no Solution"),
        ('{"sources": [{"path": "proposal.json", "content": "{}"}]}', "the proposal is none"), ("{", "is no Solution"),
    ):  # fmt: skip
        path.write_text(text)
        with pytest.raises(InputError, match=words):
            flashinfer.read(path)
    with pytest.raises(InputError, match="is no Solution"):
        flashinfer.read(tmp_path / "none.json")
