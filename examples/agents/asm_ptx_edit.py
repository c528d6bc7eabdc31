"""Edited PTX for a region at level asm: the compiler's own kernel with cheaper instructions.

The region is the PTX of a kernel that computes Mish, x * tanh(log(1 + exp(x))), with functions that are right to a few
units in the last place. For a GPU the contract allows approximations within a bound (``approx``), so the agent takes
quotients that round within two units (``div.full``) in the place of those that round exactly (``div.rn``).

    python examples/agents/asm_ptx_edit.py FOLDER
"""
from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from on_device import TARGET, has_verdict, show

import kc
from kc.agents.protocol import Proposal
from kc.agents.realize import device_ptx, key, pack

#: at which the region is timed
SIZES = {"d0": 16384}

PROGRAM = """
func.func @main(%x: tensor<?x4096xf32>) -> tensor<?x4096xf32> {
  %e = stablehlo.exponential %x : tensor<?x4096xf32>
  %l = stablehlo.log_plus_one %e : tensor<?x4096xf32>
  %t = stablehlo.tanh %l : tensor<?x4096xf32>
  %y = stablehlo.multiply %x, %t : tensor<?x4096xf32>
  return %y : tensor<?x4096xf32>
}
"""


def edited(ptx: str) -> str:
    """The PTX with other quotients."""
    return re.sub(r"\bdiv\.rn\.f32\b", "div.full.f32", ptx)


@kc.agents.agent(level="asm", name="cheap-quotients", match=lambda o: "div.rn.f32" in o.ir)
def propose(observation: Any) -> dict[str, Any] | None:
    """The edit, once."""
    if observation.attempts:
        return None
    return {"kind": "ptx", "source": edited(observation.ir), "assumes": ["approx"]}


def write_pack(packs: Path) -> None:
    """The pack of the edit, unless there is a verdict on it: PTX is judged inside of its program."""
    (ptx,) = device_ptx(PROGRAM, TARGET).values()
    proposal = Proposal("ptx", source=edited(ptx), assumes=("approx",))
    place = packs / key(ptx, proposal, "asm", TARGET)[:16]
    if not has_verdict(place):
        pack(PROGRAM, proposal, place, "asm", TARGET, sizes=SIZES)


if __name__ == "__main__":
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
    write_pack(folder / "packs")
    show(PROGRAM, propose, folder)
