"""The op of a rejected proposal at which it departs from its original.

``find(failure, tester, drawer)`` makes one run of both, on the counter-example and on ordinary calls, with each step
recorded (``kc.agents.execution.trace``), and searches backwards from the element that differs (``search``). It runs in
the sandbox, adds nothing to a proposal that passes, never changes a verdict, and gives None where it finds nothing.
"""

from __future__ import annotations

from kc.agents.gates.diverging.ask import Divergence, find, unplaced

__all__ = ["Divergence", "find", "unplaced"]
