"""A judge for regions that only another machine can run: verdicts are made there and read here.

    judge = DeviceJudge("packs")
    session = Session([agent], phases, target=target, ledger=ledger, judge=judge)

A proposal that needs a device is realized and packed into ``packs/KEY``. Where there is a ``packs/KEY.json`` (or
``packs/KEY/verdict.json``), that is the verdict; ``python -m kc.agents.realize.there packs/KEY packs/KEY.json`` on the
device makes it. Else the proposal is rejected with a message that says so. All others go through the gates here.
``kc.compile`` uses one where the environment variable ``KC_PACKS`` names the folder.
"""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from kc.agents.protocol import Gate, Proposal, ProtocolError, Verdict
from kc.agents.realize.dispatch import realize
from kc.agents.realize.packing import key, pack
from kc.agents.realize.realized import RealizeError


class DeviceJudge:
    """``folder``: where packs are. ``sizes``: of named dimensions, for timing (else those in the folder's
    ``sizes.json``, else typical ones). ``faster``: accept only what is."""

    def __init__(
        self, folder: str | os.PathLike[str], sizes: Mapping[str, int] | None = None, *, faster: bool = True
    ) -> None:
        self.folder, self.sizes, self.faster = Path(folder), sizes, faster
        told = self.folder / "sizes.json"
        if sizes is None and told.exists():
            self.sizes = json.loads(told.read_text())

    def __call__(self, original: str, proposal: Proposal, *, level: str, target: str, **how: Any) -> Verdict:
        if proposal.kind == "keep":
            return Verdict(True)
        name = key(original, proposal, level, target)
        place = self.folder / name[:16]
        for answer in (place / "verdict.json", place.with_suffix(".json")):
            if answer.exists():
                return self.read(json.loads(answer.read_text()), name)
        if level != "asm":
            try:
                made = realize(original, proposal, level, target)
            except ProtocolError as error:
                return Verdict(False, "parse", "parse.message", str(error))
            except RealizeError as error:
                return Verdict(False, cast(Gate, error.gate), error.reason, str(error))
            if made.needs == "cpu":
                from kc.agents.gates.judge import judge

                return judge(original, proposal, level=level, target=target, **how)
        if level != "asm":
            if not (place / "pack.json").exists():
                pack(original, proposal, place, level, target, sizes=self.sizes)
        elif not (place / "pack.json").exists():
            return _unjudged(
                "PTX is judged inside of its program: kc.agents.realize.pack(program, proposal, "
                f"'{place}', level='asm') writes what a device needs for that"
            )
        return _unjudged(f"it has to be judged on a device: python -m kc.agents.realize.there {place} {place}.json")

    def read(self, data: Mapping[str, Any], name: str) -> Verdict:
        """A verdict that came from a device, for the proposal with key ``name``."""
        if data.get("key") != name:
            return Verdict(False, "resource", "resource.device", "the device's verdict is about something else")
        fields = {"accepted", "gate", "reason", "message", "witness", "errors", "timing", "runs"}
        verdict = Verdict.from_json({k: v for k, v in data.items() if k in fields})
        if verdict.gate == "timing" and not self.faster:
            return dataclasses.replace(verdict, accepted=True, gate=None, reason="accepted", message=verdict.message)
        return verdict


def _unjudged(message: str) -> Verdict:
    return Verdict(False, "resource", "resource.device", message)
