"""Level stablehlo: an algebraic rewrite, its first try wrong.

``x ** 2`` is ``x * x``, rounded the same. ``x ** 0.5`` looks like ``sqrt(x)``, and is not: the power of -0 is +0, that
of -inf is +inf. The agent learns so from the verdict's counter-example, and leaves that part alone.

    python examples/agents/stablehlo_powers.py [--timing]
"""

from __future__ import annotations

import functools
import re

import numpy as np
from _show import Shown, main, show

import kc
from kc.agents import Agent, Observation, Proposal

KIND = "tensor<64x64xf32>"

PROGRAM = f"""
func.func @main(%x: {KIND}, %y: {KIND}) -> {KIND} {{
  %two = stablehlo.constant dense<2.0> : {KIND}
  %half = stablehlo.constant dense<0.5> : {KIND}
  %0 = stablehlo.power %x, %two : {KIND}
  %1 = stablehlo.power %y, %half : {KIND}
  %2 = stablehlo.add %0, %1 : {KIND}
  return %2 : {KIND}
}}
"""


class Powers(Agent):
    """Writes powers with simple exponents as what they are."""

    name = "powers"
    levels = ("stablehlo",)
    #: exponent -> how the power is written, ``\\1`` being the base
    rules = ((2.0, r"stablehlo.multiply \1, \1"), (0.5, r"stablehlo.sqrt \1"))

    def propose(self, observation: Observation) -> Proposal | None:
        rules = self.rules[: len(self.rules) - len(observation.attempts)]  # what failed last is left out
        text, named = observation.ir, []
        for exponent, written in rules:
            constant = re.escape(f"stablehlo.constant dense<{exponent:.6e}>")
            for name in re.findall(rf"(%\w+) = {constant}", observation.ir):
                text, count = re.subn(rf"stablehlo.power (%\w+), {name}\b", written, text)
                named += [f"power {exponent}"] * count
        return Proposal("replace_ir", ir=text, rationale=", ".join(named)) if named else None


def run(timing: bool = False) -> Shown:
    """Show it."""
    x, y = np.abs(np.random.default_rng(0).standard_normal((2, 64, 64))).astype(np.float32)
    return show(functools.partial(kc.compile, PROGRAM), Powers(), (x, y), timing)


if __name__ == "__main__":
    main(run)
