"""Level torch: attention that was written out becomes one op again.

The model computes its probabilities as ``exp(log_softmax(scores))``, which kc's search for attention does not know: it
makes three kernels of it, and the scores go through memory. The agent finds the pieces in the region's ops and answers
with PyTorch's composite, ``aten.scaled_dot_product_attention``.

    python examples/agents/torch_attention.py [--timing]
"""

from __future__ import annotations

import functools
import math
import re
from typing import Any

import torch
from _show import Shown, main, show

import kc
import kc.torch
from kc.agents import Agent, Observation, Proposal

HEADS, LENGTH, DEPTH = 2, 128, 16


class WrittenOut(torch.nn.Module):
    """Attention, one step at a time."""

    def forward(self, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
        scores = query @ key.transpose(-1, -2) / math.sqrt(DEPTH)
        return torch.log_softmax(scores, -1).exp() @ value


class Composite(Agent):
    """Replaces a region that is nothing but attention over its three arguments."""

    name = "attention-composite"
    levels = ("torch",)
    #: the steps of attention, in order; what stands between are constants and lists
    steps = ("permute", "matmul", "div.Scalar", "amax", "sub.Tensor", "exp", "sum.dim_IntList", "log", "sub.Tensor",
             "exp", "matmul")  # fmt: skip

    def propose(self, observation: Observation) -> Proposal | None:
        found = tuple(op["name"].removeprefix("torch.aten.") for op in observation.ops if ".aten." in op["name"])
        if found != self.steps or observation.attempts:
            return None
        header = re.search(r"func.func @main\(.*?\) -> (!torch.vtensor<\S+>).*\{\n", observation.ir)
        divisor = re.search(r"torch.constant.float ([0-9.e+-]+)", observation.ir)
        assert header and divisor  # attention has both
        kind, scale = header[1], 1 / float(divisor[1])
        return Proposal(
            "replace_ir",
            ir=f"""module {{
  {header[0]}
    %none = torch.constant.none
    %dropout = torch.constant.float 0.0
    %causal = torch.constant.bool false
    %grouped = torch.constant.bool false
    %scale = torch.constant.float {scale!r}
    %0 = torch.aten.scaled_dot_product_attention %arg0, %arg1, %arg2, %none, %dropout, %causal, %scale, %grouped
        : {kind}, {kind}, {kind}, !torch.none, !torch.float, !torch.bool, !torch.float, !torch.bool -> {kind}
    return %0 : {kind}
  }}
}}""",
            rationale="matmul, log-softmax, exp, matmul over the three arguments are attention",
        )


@functools.cache
def exported() -> torch.export.ExportedProgram:
    """The model as PyTorch exports it."""
    return torch.export.export(WrittenOut(), tuple(inputs()))


def compile(**agents: Any) -> kc.Executable:
    """The model's program."""
    return kc.torch.compile(exported(), (), **agents).executable


def inputs() -> torch.Tensor:
    """Query, key and value."""
    return torch.randn(3, 1, HEADS, LENGTH, DEPTH, generator=torch.Generator().manual_seed(0))


def run(timing: bool = False) -> Shown:
    """Show it."""
    return show(compile, Composite(), tuple(x.numpy() for x in inputs()), timing)


if __name__ == "__main__":
    main(run)
