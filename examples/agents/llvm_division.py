"""Level llvm: which instructions divide integers.

x86 divides integers one by one; floats it divides in vectors. The agent finds the vector division in kc's code and lets
the floating-point unit do it. Its first try is wrong: an f32 holds 24 bits of a number, and the gates know numbers that
have more. An f64 holds them all: for 32-bit numbers the quotient, cut off, is exact. That nothing is divided by zero,
and -2^31 not by -1, kc has seen to around the division.

    python examples/agents/llvm_division.py [--timing]
"""

from __future__ import annotations

import functools
import re

import numpy as np
from _show import Shown, main, show

import kc
from kc.agents import Agent, Match, Observation, Proposal

SHAPE = (32, 1024)
KIND, SUMS = f"tensor<{SHAPE[0]}x{SHAPE[1]}xi32>", f"tensor<{SHAPE[0]}xi32>"

PROGRAM = f"""
func.func @main(%x: {KIND}, %y: {KIND}) -> {SUMS} {{
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %q = stablehlo.divide %x, %y : {KIND}
  %sum = stablehlo.reduce(%q init: %zero) applies stablehlo.add across dimensions = [1]
      : ({KIND}, tensor<i32>) -> {SUMS}
  return %sum : {SUMS}
}}
"""

DIVISION = re.compile(r" *(%\d+) = llvm\.sdiv (%\d+), (%\d+) : vector<(\d+)xi32>\n")


def divided(float_: str, match: re.Match[str]) -> str:
    """The division that ``match`` found, done in floats of this type."""
    result, left, right, lanes = match.groups()
    name, integers, floats = f"%f{result[1:]}", f"vector<{lanes}xi32>", f"vector<{lanes}x{float_}>"
    return f"""
    {name}_l = llvm.sitofp {left} : {integers} to {floats}
    {name}_r = llvm.sitofp {right} : {integers} to {floats}
    {name}_q = llvm.fdiv {name}_l, {name}_r : {floats}
    {result} = llvm.fptosi {name}_q : {floats} to {integers}
"""


class FloatDivision(Agent):
    """Divides vectors of integers as floats: in f32 if that is right, else in f64."""

    name = "float-division"
    levels = ("llvm",)
    match = Match(when=lambda o: DIVISION.search(o.ir) is not None)

    def propose(self, observation: Observation) -> Proposal | None:
        if len(observation.attempts) > 1:
            return None
        float_ = ("f32", "f64")[len(observation.attempts)]
        text = DIVISION.sub(functools.partial(divided, float_), observation.ir)
        return Proposal("replace_ir", ir=text, rationale=f"vector division in {float_}")


def run(timing: bool = False) -> Shown:
    """Show it."""
    x, y = np.random.default_rng(0).integers(-(1 << 31), 1 << 31, (2, *SHAPE)).astype(np.int32)
    return show(functools.partial(kc.compile, PROGRAM), FloatDivision(), (x, y >> 16), timing)


if __name__ == "__main__":
    main(run)
