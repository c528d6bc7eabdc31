"""Compiled device code beside the ledger: frozen builds need no compiler of others, and what is lost is told."""

from __future__ import annotations

import importlib
import importlib.util
from pathlib import Path
from typing import Any

import pytest

import kc
from kc.agents import Ledger, LedgerError, Proposal, Verdict
from kc.agents.base import FunctionAgent
from kc.agents.ledger import prune, report
from kc.agents.realize.realized import MissingError

PROGRAM = """
func.func @main(%x: tensor<64x128xf32>) -> tensor<64x128xf32> {
  %0 = stablehlo.exponential %x : tensor<64x128xf32>
  return %0 : tensor<64x128xf32>
}
"""
LAUNCH = {"grid": [32], "arguments": ["arg0", "out0"]}
CUDA = """
extern "C" __global__ void k(const float *x, float *y) {
  int i = blockIdx.x * 256 + threadIdx.x;
  y[i] = expf(x[i]);
}
"""
TRITON = """
import triton
import triton.language as tl

@triton.jit
def k(x, y, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + i, tl.exp(tl.load(x + i)))
"""
ANSWERS = {
    "cuda": Proposal("cuda", source=CUDA, launch={**LAUNCH, "block": [256]}),
    "triton": Proposal("triton", source=TRITON, launch=LAUNCH, parameters={"constants": {"B": 256}}),
}
TARGET = "nvptx:sm_90a"


def is_there(kind: str) -> bool:
    if kind == "cuda":
        return importlib.import_module("kc.agents.realize.nvrtc").find() is not None
    return importlib.util.find_spec("triton") is not None


@pytest.fixture
def compiles(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Which compilers were started; gates accept everything (they have tests of their own, and there is no GPU)."""
    from kc.agents.realize import child

    run, calls = child.run_child, []

    def counted(module: str, *how: Any) -> Any:
        calls.append(module.rpartition(".")[2])
        return run(module, *how)

    monkeypatch.setattr("kc.agents.realize.compiled.run_child", counted)
    monkeypatch.setattr("kc.agents.session.converse.gates", lambda original, proposal, **how: Verdict(True))
    return calls


def gone(*how: Any) -> Any:
    raise MissingError("it is not installed: pip install 'kc[it]'")


def build(path: Path, kind: str, mode: str = "ask") -> Any:
    agent = FunctionAgent(lambda o: None if o.attempts else ANSWERS[kind], name="device", levels=("stablehlo",))
    agents = [] if mode in ("frozen", "verified") else [agent]
    return kc.compile(PROGRAM, TARGET, agents=agents, ledger=path, ledger_mode=mode)


@pytest.mark.parametrize("kind", ["cuda", "triton"])
def test_a_frozen_build_needs_no_compiler(
    kind: str, compiles: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not is_there(kind):
        pytest.skip(f"nothing here compiles {kind}")
    path = tmp_path / "made.jsonl"
    first = build(path, kind)
    assert len(compiles) == 1 and [d.accepted for d in first.session.decisions] == [True]
    (attempt,) = Ledger(path).entries()
    (file,) = (tmp_path / "made.code").iterdir()
    assert attempt.code["file"] == f"made.code/{file.name}" and attempt.code["target"] == attempt.target
    assert attempt.code["compiler"].startswith({"cuda": "nvrtc 1", "triton": "triton "}[kind])
    assert ".entry k(" in file.read_text()
    assert f"compiled: made.code/{file.name}, by {attempt.code['compiler']}" in "\n".join(report.explain([attempt]))

    monkeypatch.setattr("kc.agents.realize.compiled.run_child", gone)
    for mode in ("frozen", "replay", "ask"):  # what is known is neither judged nor compiled again
        again = build(path, kind, mode)
        own = {"agents.jsonl"} if mode == "ask" else set()  # the ledger has a new line then, at another time
        assert {k: v for k, v in again.files.items() if k not in own} == {
            k: v for k, v in first.files.items() if k not in own
        }
    frozen = build(path, kind, "frozen")
    frozen.save(tmp_path / "frozen.kca")
    again.save(tmp_path / "again.kca")
    assert (tmp_path / "frozen.kca").read_bytes() == (tmp_path / "again.kca").read_bytes()


def test_code_that_is_lost(compiles: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not is_there("cuda"):
        pytest.skip("no NVRTC")
    path = tmp_path / "made.jsonl"
    first = build(path, "cuda")
    (file,) = (tmp_path / "made.code").iterdir()
    text = file.read_bytes()
    file.write_bytes(text.replace(b"ret;", b"ret; "))
    assert build(path, "cuda", "frozen").files == first.files  # NVRTC makes the same of it, and that is checked
    from kc.agents.realize import child

    run = child.run_child
    other = lambda *how: {**(answer := run(*how)), "ptx": answer["ptx"] + "\n", "compiler": "nvrtc 99.0"}  # noqa: E731
    monkeypatch.setattr("kc.agents.realize.compiled.run_child", other)
    with pytest.raises(LedgerError, match=r"was changed: it is not what nvrtc 1.*nvrtc 99.0 makes other code"):
        build(path, "cuda", "frozen")
    monkeypatch.setattr("kc.agents.realize.compiled.run_child", gone)
    file.unlink()
    with pytest.raises(LedgerError, match=r"cannot read '.*\.ptx', which holds what nvrtc 1.*kc\[it\]"):
        build(path, "cuda", "frozen")
    monkeypatch.setattr("kc.agents.realize.compiled.run_child", other)
    replayed = build(path, "cuda", "replay")  # judged again, with the code that there is now
    assert len(Ledger(path).entries()) == 2 and list((tmp_path / "made.code").iterdir()) != [file]
    assert build(path, "cuda", "frozen").files == replayed.files != first.files


def test_verifying_compares_the_code(compiles: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever writes lines with right hashes may write files, too."""
    if not is_there("cuda"):
        pytest.skip("no NVRTC")
    import dataclasses

    from kc.agents.ledger import code
    from kc.agents.session.verifying import accepted, verify

    path = tmp_path / "made.jsonl"
    build(path, "cuda")
    ledger = Ledger(path)
    (attempt,) = ledger.entries()
    assert [found.outcome for found in verify(ledger, accepted(ledger))] == ["same"]
    kept = ledger.code(attempt)
    assert kept is not None
    forged = dataclasses.replace(kept, ptx=kept.ptx.replace("st.global.f32", "//"))
    told = code.write(str(path), forged, attempt.target)
    ledger.append(dataclasses.replace(attempt, code=told, time=""))
    (found,) = verify(ledger, accepted(ledger))
    assert found.outcome == "differs" and "is not what nvrtc" in found.message
    with pytest.raises(LedgerError, match=r"is not accepted: 'made.code/.*' is not what nvrtc"):
        build(path, "cuda", "verified")
    monkeypatch.setattr("kc.agents.realize.compiled.run_child", gone)
    (found,) = verify(ledger, accepted(ledger))
    assert found.outcome == "unknown" and "nothing here compiles its source" in found.message


def test_pruning_knows_the_files(compiles: list[str], tmp_path: Path) -> None:
    if not is_there("cuda"):
        pytest.skip("no NVRTC")
    path, folder = tmp_path / "made.jsonl", tmp_path / "made.code"
    build(path, "cuda")
    (file,) = folder.iterdir()
    stray = folder / f"{'0' * 32}.ptx"
    stray.write_text("not needed")
    (folder / "README").write_text("not ours")
    assert prune.prune(path, dry_run=True).files == (str(stray),) and stray.exists()
    assert prune.prune(path).summary() == {"code": 1}
    assert sorted(folder.iterdir()) == sorted([file, folder / "README"])
    (folder / "README").unlink()
    ledger = Ledger(path)
    (attempt,) = ledger.entries()
    ledger.take_back(attempt, ValueError("it did not do"))
    prune.prune(path)
    assert not folder.exists()


@pytest.mark.parametrize("place", ["../made.code/x.ptx", f"../x.code/{'0' * 32}.ptx", "/etc/passwd", 7, None])
def test_no_other_file_is_read(place: Any, tmp_path: Path) -> None:
    from kc.agents.ledger import code

    with pytest.raises(LedgerError, match="names no file of compiled code"):
        code.read(str(tmp_path / "made.jsonl"), {"file": place, "facts": {}})
