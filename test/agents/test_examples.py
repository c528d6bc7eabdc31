"""The examples in examples/agents run, their answers are accepted, and a frozen build is the same without them."""

from __future__ import annotations

import functools
import importlib
import platform
import sys
from pathlib import Path
from types import ModuleType

import pytest

from kc.agents.gates.judge import judge

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "agents"
#: example -> (level, answers that are rejected before one is accepted)
EXAMPLES = {
    "torch_attention": ("torch", 0),
    "stablehlo_powers": ("stablehlo", 1),
    "linalg_gated_epilogue": ("linalg", 0),
    "loops_vector_argmax": ("loops", 0),
    "llvm_division": ("llvm", 1),
    "asm_byte_differences": ("asm", 1),
}


@pytest.fixture
def example(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module of an example, its differential tests cut short: gates are tested elsewhere."""
    monkeypatch.syspath_prepend(str(FOLDER))
    monkeypatch.setattr("kc.agents.session.converse.gates", functools.partial(judge, budget=2.0))
    if request.param == "torch_attention":
        pytest.importorskip("torch")
    if request.param.startswith("asm_") and platform.machine() != "x86_64":
        pytest.skip("assembly for x86-64")
    for name in (request.param, "_show"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return importlib.import_module(request.param)


@pytest.mark.parametrize(("example", "level", "rejected"), [(n, *e) for n, e in EXAMPLES.items()], indirect=["example"])
def test_example(example: ModuleType, level: str, rejected: int, capsys: pytest.CaptureFixture[str]) -> None:
    shown = example.run()
    session = shown.executable.session
    assert not session.remarks
    accepted = [decision for decision in session.decisions if decision.accepted]
    assert [decision.level for decision in accepted] == [level]
    outcomes = [attempt.outcome for attempt in session.ledger.attempts(accepted[0].identity)]
    assert outcomes == ["rejected"] * rejected + ["accepted"]
    assert shown.frozen_is_identical
    assert shown.plain.files != shown.executable.files
    printed = capsys.readouterr().out
    assert "frozen rebuild: byte for byte the same" in printed and "accepted" in printed and "µs before" in printed


def test_every_example_is_listed() -> None:
    found = {path.stem for path in FOLDER.glob("*_*.py") if path.stem.partition("_")[0] in
             ("torch", "stablehlo", "linalg", "loops", "llvm", "asm")} - {"asm_ptx_edit"}  # fmt: skip
    assert found == set(EXAMPLES)
