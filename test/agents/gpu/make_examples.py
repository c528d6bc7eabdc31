"""Compile the examples for a GPU into a folder that ``run_examples.py`` takes to a machine with one.

    python test/agents/gpu/make_examples.py FOLDER [EXAMPLE ...]

For each example: ``original.kca`` and ``proposal.kca`` (the whole program, without and with the proposal, whatever a
judge would say) and ``packs/KEY`` (the region alone, to be judged).
"""
from __future__ import annotations

import importlib
import os
import shutil
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "examples" / "agents"))

EXAMPLES = ("gpu_online_softmax", "asm_ptx_edit", "triton_cumsum", "cublaslt_linear")


def make(name: str, folder: Path) -> None:
    """Everything of one example."""
    import kc
    from kc.agents.protocol import Proposal, Verdict
    from kc.agents.realize.building import build_asm
    from kc.agents.session import Session
    from kc.pipelines.roads import road
    from kc.targets import get_target

    module = importlib.import_module(name)
    target = get_target("nvptx:sm_90a")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    kc.compile(module.PROGRAM, target.spec).save(folder / "original.kca")
    if hasattr(module, "write_pack"):
        (ptx,) = importlib.import_module("kc.agents.realize").device_ptx(module.PROGRAM, target.spec).values()
        made: Any = build_asm(module.PROGRAM, Proposal("ptx", source=module.edited(ptx)), target.spec)[0]
        module.write_pack(folder / "packs")
    else:
        session = Session(
            [module.propose], road(target), target=target, judge=lambda *a, **k: Verdict(True), program=name
        )
        with session:
            made = kc.compile(module.PROGRAM, target.spec, agents=[session])
        assert any(decision.accepted for decision in session.decisions), session.remarks
        os.environ["KC_PACKS"] = str(folder / "packs")
        (folder / "packs").mkdir()
        if hasattr(module, "SIZES"):
            import json

            (folder / "packs" / "sizes.json").write_text(json.dumps(module.SIZES))
        kc.compile(module.PROGRAM, target.spec, agents=[module.propose], ledger=str(folder / "ledger.jsonl"))
    made.save(folder / "proposal.kca")


if __name__ == "__main__":
    for each in sys.argv[2:] or EXAMPLES:
        make(each, Path(sys.argv[1]) / each)
