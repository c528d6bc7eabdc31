"""What the examples for a GPU have in common: propose here, judge on the device, build here.

Where there is no GPU, gates write a *pack* of each proposal into the folder that ``KC_PACKS`` names: both programs,
inputs and what has to come out. ``python -m kc.agents.realize.there PACK PACK/verdict.json`` judges it on a machine
with a GPU, which needs neither MLIR nor a compiler. Verdicts that came back make the next build accept the proposal,
and stand in the ledger.
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
    packs = folder / "packs"
    packs.mkdir(parents=True, exist_ok=True)
    if sizes:
        (packs / "sizes.json").write_text(json.dumps(sizes))
    os.environ["KC_PACKS"] = str(packs)
    first = kc.compile(program, TARGET, agents=[agent], ledger=str(folder / "asked.jsonl"))
    report("proposed", first)
    if not bring_verdicts(packs):
        print("no verdict yet: on a machine with a GPU, run")
        for pack in sorted(packs.glob("*/pack.json")):
            print(f"  python -m kc.agents.realize.there {pack.parent} {pack.parent}/verdict.json")
        return first
    ledger = str(folder / "ledger.jsonl")
    second = kc.compile(program, TARGET, agents=[agent], ledger=ledger)
    report("judged", second)
    frozen = kc.compile(program, TARGET, ledger=ledger, ledger_mode="frozen")
    assert frozen.files == second.files
    print("built again from the ledger alone, with the same bytes")
    return second


def report(what: str, exe: Any) -> None:
    """Say what became of each region that an agent answered."""
    for decision in exe.session.decisions:
        attempt = decision.attempt
        if attempt is None or attempt.proposal is None or attempt.proposal["kind"] == "keep":
            continue
        verdict = attempt.judgement()
        print(f"{what}: {decision}")
        print(f"  {verdict.reason}: {verdict.message}" if verdict.message else f"  {verdict.reason}")
        for name, value in (verdict.timing or {}).items():
            print(f"  {name}: {value}")
    for remark in exe.session.remarks:
        print("remark:", remark)


def bring_verdicts(packs: Path) -> int:
    """Put the verdicts that came with the examples into the packs that they are about; how many there were."""
    count = 0
    for pack in (path.parent for path in packs.glob("*/pack.json")):
        known = VERDICTS / f"{pack.name}.json"
        if known.exists():
            shutil.copy(known, pack / "verdict.json")
            count += 1
    return count
