"""Agents for the lit tests of the pass agents{…}."""

import re

import kc
from kc.agents import Agent, Observation, Proposal


class Double(Agent):
    """Writes 2 * x as x + x."""

    name = "double"
    levels = ("stablehlo",)

    def propose(self, observation: Observation) -> Proposal | None:
        if observation.attempts or "stablehlo.multiply" not in observation.ir:
            return None
        return Proposal(
            "replace_ir", ir=re.sub(r"stablehlo.multiply (%\w+), %\w+", r"stablehlo.add \1, \1", observation.ir)
        )


@kc.agent(level="stablehlo")
def triple(observation: Observation) -> dict | None:  # type: ignore[type-arg]
    """Writes 2 * x as x + x + x, which no gate lets pass."""
    if observation.attempts:
        return None
    wrong = r"stablehlo.add \1, \1 : tensor<4xf32>\n %r = stablehlo.add %t, \1"
    text = re.sub(r"%1 = stablehlo.multiply (%\w+), %\w+", "%t = " + wrong, observation.ir)
    return {"kind": "replace_ir", "ir": text.replace("return %1", "return %r")}


@kc.agent(level=("stablehlo", "linalg"), match="nothing*")
def choosy(observation: Observation) -> None:
    """Matches nothing."""
