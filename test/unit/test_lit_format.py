"""The fork-based lit format: a test that must fail does, and what cannot be forked falls back to lit's shell."""
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

TEST = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TEST))

import kc_lit  # noqa: E402

CODE = "func.func @f() {\n  return\n}\n"


@pytest.mark.parametrize(
    ("line", "outcome"),
    [
        ("kc-opt %s | FileCheck %s", "PASS"),
        ("kc-opt %s | FileCheck %s --check-prefix=OTHER", "FAIL"),
        ("kc-opt %s --canonicalise", "FAIL"),
        ("not kc-opt %s --canonicalise", "PASS"),
        ("not kc-opt %s", "FAIL"),
        ("not --crash kc-opt %s", "FAIL"),
        ("not --crash kc-opt %s --canonicalise", "FAIL"),
        ("kc-opt %s --canonicalise 2>&1 | FileCheck %s --check-prefix=NAME", "FAIL"),  # the first of a pipe counts too
        ("not kc-opt %s --canonicalise 2>&1 | FileCheck %s --check-prefix=NAME", "PASS"),
        ("kc-opt %s -o %t && FileCheck %s < %t", "PASS"),
        ("kc-opt %s -o %t && FileCheck %s --check-prefix=OTHER < %t", "FAIL"),
        ("kc-opt %s > %t 2> %t.err && FileCheck %s --input-file=%t", "PASS"),
        ("nosuchtool %s", "FAIL"),
        ("cat %s | grep -c 'func|.func' | grep 0", "FAIL"),
        ("(kc-opt %s | FileCheck %s) || false", "FAIL"),  # needs a real shell; lit's own refuses the parentheses
        ("X=1 kc-opt %s", "FAIL"),
    ],
)
def test_outcomes(line: str, outcome: str, tmp_path: Path) -> None:
    source = tmp_path / "case.mlir"
    source.write_text(f"// RUN: {line}\n// CHECK: func.func @f\n// OTHER: func.func @g\n// NAME: canonicalise\n{CODE}")
    (tmp_path / "lit.cfg.py").write_text(f"lit_config.load_config(config, {str(TEST / 'lit.cfg.py')!r})\n"
                                         f"config.test_source_root = {str(tmp_path)!r}\n")  # fmt: skip
    environment = {**os.environ, "KC_LIT_OUTPUT": str(tmp_path / "out")}
    environment.pop("KC_LIT_PLAIN", None)
    command = [sys.executable, "-c", "import sys; from lit.main import main; main()", "-v", str(source)]
    shown = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert f"{outcome}: kc :: case.mlir" in shown.stdout, shown.stdout + shown.stderr


@pytest.mark.parametrize(
    "line", ["kc-opt $(cat x)", "kc-opt *.mlir", "kc-opt %s; true", "A=1 kc-opt", "kc-opt & true", "kc-opt 2>&3"]
)
def test_lines_that_need_a_shell(line: str) -> None:
    assert kc_lit._parse(line) is None


def test_quotes_and_redirections() -> None:
    parsed = kc_lit._parse("not kc-opt 'a|b' \"c;d\" e='f g' <in >out 2>err && cat out")
    assert parsed is not None and len(parsed) == 2
    command = parsed[0][0]
    assert command.argv == ["kc-opt", "a|b", "c;d", "e=f g"]
    assert (command.expects, command.stdin) == (1, "in")
    assert command.stdout is not None and command.stdout[0] == "out"
    assert command.stderr is not None and command.stderr[0] == "err"


def test_a_test_that_hangs_is_stopped(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import time

    pipe = kc_lit._parse("sleep 60")
    assert pipe is not None
    told = kc_lit._run_pipe(pipe[0], {}, str(tmp_path), time.monotonic() + 0.2)
    assert told is not None and told.startswith("timeout after")
