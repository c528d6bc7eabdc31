"""Proposals made running parts of a program: IR of a lower level, schedules, device code, libraries, other compilers.

``realize`` turns a proposal for a region into code at some level of the ladder; ``splice`` puts that on the region's
function; ``knobs`` lists what a schedule lets one choose; ``build`` compiles a region alone, with or without a
proposal; ``pack`` makes a folder that judges a proposal on a machine with a GPU and without MLIR.
"""

from __future__ import annotations

from typing import Any

from kc import lazy

_EXPORTS = {
    "DeviceJudge": "kc.agents.realize.device_judge:DeviceJudge",
    "KnobSpace": "kc.agents.realize.knob_space:KnobSpace",
    "Realized": "kc.agents.realize.realized:Realized",
    "RealizeError": "kc.agents.realize.realized:RealizeError",
    "device_ptx": "kc.agents.realize.building:device_ptx",
    "build": "kc.agents.realize.building:build",
    "knobs": "kc.agents.realize.knob_space:knobs",
    "key": "kc.agents.realize.packing:key",
    "pack": "kc.agents.realize.packing:pack",
    "realize": "kc.agents.realize.dispatch:realize",
    "splice": "kc.agents.realize.realized:splice",
    "splice_assembly": "kc.agents.realize.realized:splice_assembly",
    "splice_ptx": "kc.agents.realize.realized:splice_ptx",
}


def __getattr__(name: str) -> Any:
    return lazy.load(__name__, _EXPORTS, name)


def __dir__() -> list[str]:
    return lazy.names(__name__, _EXPORTS)
