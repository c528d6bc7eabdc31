"""Level asm on the CPU: one instruction for what LLVM says in five.

The sum of absolute differences of bytes is what `psadbw` computes, sixteen bytes at a time (Intel's manual, volume 2);
kc widens every difference to 32 bits before it adds. The agent writes the function anew. Its first try counts rows in
%ebx, which belongs to the caller: the result would be right, and the program around it would break some day. The
gates follow every way through the text and say so; the second try has another register.

    python examples/agents/asm_byte_differences.py [--timing]
"""

from __future__ import annotations

import functools

import numpy as np
from _show import Shown, main, show

import kc
from kc.agents import Agent, Match, Observation, Proposal

ROWS, BYTES = 64, 1024
KIND, SUMS = f"tensor<{ROWS}x{BYTES}xui8>", f"tensor<{ROWS}xi32>"

PROGRAM = f"""
func.func @main(%x: {KIND}, %y: {KIND}) -> {SUMS} {{
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %most = stablehlo.maximum %x, %y : {KIND}
  %least = stablehlo.minimum %x, %y : {KIND}
  %difference = stablehlo.subtract %most, %least : {KIND}
  %wide = stablehlo.convert %difference : ({KIND}) -> tensor<{ROWS}x{BYTES}xi32>
  %sum = stablehlo.reduce(%wide init: %zero) applies stablehlo.add across dimensions = [1]
      : (tensor<{ROWS}x{BYTES}xi32>, tensor<i32>) -> {SUMS}
  return %sum : {SUMS}
}}
"""

#: a buffer is passed as MLIR passes it: two pointers, an offset, sizes, strides. Six words go in registers, so x is in
#: rsi, and the second pointers of y and of the sums are the third and the tenth word on the stack
CODE = f"""
\t.text
\t.globl main
\t.p2align 4
\t.type main, @function
main:
\tmovq 24(%rsp), %rdx            # y
\tmovq 80(%rsp), %rdi            # sums
\tmovl ${ROWS}, %ROWS
.Lrow:
\tpxor %xmm0, %xmm0
\tpxor %xmm1, %xmm1
\tmovl ${BYTES // 32}, %eax
.Lbytes:
\tmovdqu (%rsi), %xmm2
\tmovdqu (%rdx), %xmm3
\tmovdqu 16(%rsi), %xmm4
\tmovdqu 16(%rdx), %xmm5
\tpsadbw %xmm3, %xmm2
\tpsadbw %xmm5, %xmm4
\tpaddq %xmm2, %xmm0
\tpaddq %xmm4, %xmm1
\taddq $32, %rsi
\taddq $32, %rdx
\tdecl %eax
\tjne .Lbytes
\tpaddq %xmm1, %xmm0             # two sums of eight bytes each
\tpshufd $238, %xmm0, %xmm1
\tpaddq %xmm1, %xmm0
\tmovd %xmm0, (%rdi)
\taddq $4, %rdi
\tdecl %ROWS
\tjne .Lrow
\tretq
.Lend:
\t.size main, .Lend-main
"""


class ByteDifferences(Agent):
    """Answers with `psadbw`, counting in one register or in another."""

    name = "byte-differences"
    levels = ("asm",)
    match = Match(when=lambda o: "pmaxub" in o.ir and "pminub" in o.ir)

    def propose(self, observation: Observation) -> Proposal | None:
        if len(observation.attempts) > 1:
            return None
        code = CODE.replace("%ROWS", ("%ebx", "%ecx")[len(observation.attempts)])
        return Proposal("replace_ir", ir=code, rationale="psadbw adds absolute differences of bytes")


def run(timing: bool = False) -> Shown:
    """Show it."""
    x, y = np.random.default_rng(0).integers(0, 256, (2, ROWS, BYTES)).astype(np.uint8)
    return show(functools.partial(kc.compile, PROGRAM), ByteDifferences(), (x, y), timing)


if __name__ == "__main__":
    main(run)
