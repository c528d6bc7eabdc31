"""What the examples for a GPU have in common: propose here, judge on the device, build here.

Where there is no GPU, gates write a *pack* of each proposal into the folder that ``KC_PACKS`` names: both programs,
inputs and what has to come out. ``python -m kc.agents.realize.there packs/KEY packs/KEY.json`` judges it on a machine
with a GPU, which needs neither MLIR nor a compiler. A verdict that came back makes the next build accept the proposal,
and stands in the ledger. The verdicts that an H200 gave on the examples are in ``verdicts``.
"""
from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import kc
from kc.agents.base import Agent

TARGET = "nvptx:sm_90a"
#: verdicts on the examples' proposals, as an H200 gave them: KEY.json
VERDICTS = Path(__file__).parent / "verdicts"


def show(program: str, agent: Agent, folder: Path, sizes: dict[str, int] | None = None) -> Any:
    """Propose, take the device's verdict, build, and build again from the ledger alone; says what happens.

    ``sizes``: at which the region is timed.
    """
    packs, ledger = folder / "packs", folder / "ledger.jsonl"
    packs.mkdir(parents=True, exist_ok=True)
    (packs / "sizes.json").write_text(json.dumps(sizes or {}))
    for verdict in VERDICTS.glob("*.json"):
        shutil.copy(verdict, packs)
    os.environ["KC_PACKS"] = str(packs)
    exe = kc.compile(program, TARGET, agents=[agent], ledger=str(ledger))
    report(exe)
    waiting = [path.parent for path in packs.glob("*/pack.json") if not has_verdict(path.parent)]
    if waiting:
        print("on a machine with a GPU, run")
        for pack in waiting:
            print(f"  python -m kc.agents.realize.there {pack} {pack}.json")
        return exe
    frozen = kc.compile(program, TARGET, ledger=str(ledger), ledger_mode="frozen")
    assert frozen.files == exe.files
    print("built again from the ledger alone, with the same bytes")
    return exe


def has_verdict(pack: Path) -> bool:
    """Whether the verdict on what is, or would be, packed into this folder is there already."""
    beside = f"{pack.name}.json"
    return any(path.exists() for path in (pack / "verdict.json", pack.parent / beside, VERDICTS / beside))


def report(exe: Any) -> None:
    """Say what became of each region that an agent answered."""
    for decision in exe.session.decisions:
        attempt = decision.attempt
        if attempt is None or attempt.proposal is None or attempt.proposal["kind"] == "keep":
            continue
        verdict = attempt.judgement()
        print(decision)
        print(f"  {verdict.reason}: {verdict.message}" if verdict.message else f"  {verdict.reason}")
        for name, value in (verdict.timing or {}).items():
            print(f"  {name}: {value}")
        if verdict.accepted:
            print("  judged on the machine named above, and taken from its recorded verdict: nothing is measured here")
        print(f"  ledger: attempt {attempt.hash} for region {attempt.identity[:16]}…")
    for remark in exe.session.remarks:
        print("remark:", remark)
