"""Agents: who may look at a region and propose something better, and the gates that a proposal has to pass.

The hook points stand: ``kc.compile(..., agents=[hook])`` calls every hook before and after each phase
(``kc.pipelines.run.HookPoint``). The protocol, the gates and the ledger are the next piece of work.
"""
