"""What the gates cost: seconds per proposal on this CPU, over the kernels of the models that the ladder runs.

    python bench/gate_cost.py [--only TEXT] [--level linalg]

Every region of each model (``test/integration/{torch,jax}_models.py``, f32, dynamic batch for PyTorch) is answered
with its own IR, which passes all gates, so that every run is made; timing is off. A row gives the number of regions,
how many answers were accepted, and the median and largest seconds of a verdict; the last lines, the medians by gate.
"""
from __future__ import annotations

import argparse
import collections
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TESTS = Path(__file__).resolve().parents[1] / "test" / "integration"
sys.path.insert(0, str(TESTS))


def models(only: str) -> Iterator[tuple[str, Any]]:
    """Name of a model, and a function that compiles it with ``agents``."""
    import jax
    import torch
    from jax_models import MAKERS
    from torch_models import MODELS

    import kc.torch

    for name, model in MODELS.items():
        if only in (tag := f"torch-{name}"):
            torch.manual_seed(0)
            module, inputs, sizes = model.make().eval(), model.inputs(3), model.dynamic()
            yield tag, lambda a, m=module, x=inputs, d=sizes: kc.torch.compile(m, x, dynamic_shapes=d, agents=a)
    for name, make in MAKERS.items():
        if only in (tag := f"jax-{name}"):
            made = make()
            text = jax.jit(made.fn).lower(made.params, *made.data(3)).as_text()
            yield tag, lambda a, t=text: kc.compile(t, agents=a)


def main() -> None:
    """Print the table."""
    import kc
    from kc.agents import Agent, Observation, Proposal, Verdict

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="models whose name contains this")
    parser.add_argument("--level", default="linalg")
    given = parser.parse_args()

    class Echo(Agent):
        """Answers with what it is shown, once."""

        name, levels = "echo", (given.level,)
        budget = kc.agents.Budget(seconds=3600)

        def __init__(self) -> None:
            self.verdicts: list[Verdict] = []

        def propose(self, observation: Observation) -> Proposal | None:
            return None if observation.attempts else Proposal("replace_ir", ir=observation.ir)

        def learn(self, observation: Observation, proposal: Proposal, verdict: Verdict) -> None:
            self.verdicts.append(verdict)

    everything: list[Verdict] = []
    print(f"{'model':30} {'regions':>8} {'accepted':>8} {'median s':>9} {'largest s':>9}")
    for name, compiled in models(given.only):
        echo = Echo()
        compiled([echo])
        totals = [sum(v.seconds.values()) for v in echo.verdicts] or [0.0]
        accepted = sum(v.accepted for v in echo.verdicts)
        figures = f"{statistics.median(totals):9.2f} {max(totals):9.2f}"
        print(f"{name:30} {len(echo.verdicts):8} {accepted:8} {figures}", flush=True)
        everything += echo.verdicts
    if not everything:
        sys.exit("no model has regions there")
    print(f"{'all':30} {len(everything):8} {sum(v.accepted for v in everything):8} "
          f"{statistics.median(sum(v.seconds.values()) for v in everything):9.2f}")
    gates = collections.defaultdict(list)
    for verdict in everything:
        for gate, seconds in verdict.seconds.items():
            gates[gate].append(seconds)
    for gate, seconds in gates.items():
        print(f"  {gate:28} {statistics.median(seconds):9.3f}")
    for verdict in everything:
        if not verdict.accepted:
            print(f"  rejected: {verdict.reason}: {verdict.message[:150]}")


if __name__ == "__main__":
    main()
