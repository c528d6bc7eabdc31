"""The examples for a GPU with the verdicts that an H200 gave: accepted, in the ledger, built again byte by byte."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path

import pytest

from kc.codegen import ptx_check

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples" / "agents"

pytestmark = pytest.mark.skipif(ptx_check.find_ptxas() is None, reason="no ptxas")


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch):
    """Imports an example by name."""
    monkeypatch.syspath_prepend(str(EXAMPLES))
    monkeypatch.setenv("KC_PACKS", "")
    yield importlib.import_module
    for name in ("on_device", "gpu_online_softmax", "asm_ptx_edit", "triton_cumsum", "cublaslt_linear"):
        sys.modules.pop(name, None)


def test_online_softmax(example, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    module, common = example("gpu_online_softmax"), example("on_device")
    exe = common.show(module.PROGRAM, module.propose, tmp_path, module.SIZES)
    assert "built again from the ledger alone" in capsys.readouterr().out
    assert [row["threads"] for row in exe.manifest["kernels"]].count(512) == 1
    (decision,) = [d for d in exe.session.decisions if d.accepted]
    assert decision.attempt.judgement().timing["interval"][0] > 1


def test_triton_in_a_function(example, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("triton")
    module, common = example("triton_cumsum"), example("on_device")
    exe = common.show(module.PROGRAM, module.propose, tmp_path)
    assert "built again from the ledger alone" in capsys.readouterr().out
    assert "cumsum" in [row["name"] for row in exe.manifest["kernels"]]


def test_a_library_inside_of_a_program(example, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    module, common = example("cublaslt_linear"), example("on_device")
    exe = common.show(module.PROGRAM, module.propose, tmp_path, module.SIZES)
    assert "built again from the ledger alone" in capsys.readouterr().out
    (decision,) = [d for d in exe.session.decisions if d.accepted]
    assert decision.attempt.judgement().timing["interval"][0] > 1


def test_edited_ptx(example, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    module, common = example("asm_ptx_edit"), example("on_device")
    module.write_pack(tmp_path / "packs")
    assert not list(tmp_path.glob("packs/*/pack.json"))
    (tmp_path / "packs" / next(common.VERDICTS.glob("*.json")).stem).mkdir(parents=True)
    for old in tmp_path.glob("packs/*"):  # of a run before the verdict came
        (old / "pack.json").write_text("{}")
    exe = common.show(module.PROGRAM, module.propose, tmp_path)
    assert "built again from the ledger alone" in capsys.readouterr().out
    assert any(decision.accepted for decision in exe.session.decisions)


def test_without_a_verdict_nothing_is_taken(example, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module, common = example("asm_ptx_edit"), example("on_device")
    monkeypatch.setattr(common, "VERDICTS", tmp_path)
    exe = common.show(module.PROGRAM, module.propose, tmp_path / "out")
    assert not any(d.accepted for d in exe.session.decisions)
    assert "judged inside of its program" in (tmp_path / "out" / "ledger.jsonl").read_text()


def test_a_verdict_about_something_else_counts_for_nothing(example, tmp_path: Path) -> None:
    from kc.agents.protocol import Proposal
    from kc.agents.realize import DeviceJudge, device_ptx, key

    module = example("asm_ptx_edit")
    (ptx,) = device_ptx(module.PROGRAM).values()
    proposal = Proposal("ptx", source=module.edited(ptx))
    name = key(ptx, proposal, "asm", "nvptx:sm_90a")
    for told, accepted in ((name, True), ("0" * 64, False)):
        (tmp_path / f"{name[:16]}.json").write_text(json.dumps({"accepted": True, "reason": "accepted", "key": told}))
        assert DeviceJudge(tmp_path)(ptx, proposal, level="asm", target="nvptx:sm_90a").accepted == accepted
